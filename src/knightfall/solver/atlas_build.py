"""Building an atlas: solves every class of openings, and writes a line of a journal for each.

The journal makes a build resumable: a class is written as soon as it is solved, and the next build
begins with the classes in the journal.  An incomplete line, after a kill, is ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from knightfall.board import Board
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.kernel.interrupt import run_interruptibly
from knightfall.position import Position
from knightfall.solver.atlas import (
    BYTES,
    USER_FILE,
    first_moves,
    is_possible_entry,
    position_of,
    read_atlas,
    representatives,
)
from knightfall.solver.engine import Engine
from knightfall.solver.solve import Solver
from knightfall.untrusted_input import read_bytes
from knightfall.user_folders import atomic_write, data_folder, locked

Cells = tuple[int, int]
_journal_line = re.compile(
    rf'\[([0-9]{{1,2}}), ([0-9]{{1,2}}), "([0-9a-f]{{{2 * BYTES}}})"\]', re.ASCII
)
MapCalls = Callable[
    [Callable[[], Callable[[Cells], tuple[bytes, int]]], Sequence[Cells]],
    Iterable[tuple[int, tuple[bytes, int]]],
]
"""A function like `parallel_map`: it calls the function that a setup returns for each item, in any
order and process."""

OnProgress = Callable[[int, int], None]
"""A function that is called with the number of classes done and of all classes."""


class Builder:
    """Solves the classes of one board, in this process or by a map over several."""

    def __init__(self, board: Board, *, folder: Path | None = None) -> None:
        self.board = board
        self.nodes = 0
        """Positions searched so far."""
        self.journal = (folder or data_folder() / "atlas") / f"{name_of(board)}.journal"
        self.classes = representatives(board)

    def build(
        self, on_progress: OnProgress | None = None, map_calls: MapCalls | None = None
    ) -> bytes:
        """Solve the missing classes and return the board's entries; the journal may be deleted
        then.

        The classes are solved by `map_calls`, if it is given, else one after the other.
        """
        enable_keyboard_interrupt()
        done = self.resumed()
        missing = [cells for cells in self.classes if cells not in done]
        if on_progress:
            on_progress(len(done), len(self.classes))
        if missing:
            self.journal.parent.mkdir(parents=True, exist_ok=True)
        setup = partial(class_solver, self.board)
        solved = map_calls(setup, missing) if map_calls else enumerate(map(setup(), missing))
        for place, (entry, nodes) in solved:
            self.nodes += nodes
            done[missing[place]] = entry
            self._append_to_journal(missing[place], entry)
            if on_progress:
                on_progress(len(done), len(self.classes))
        return b"".join(done[cells] for cells in self.classes)

    def resumed(self) -> dict[Cells, bytes]:
        """Return the classes that an earlier build has solved, from the journal."""
        done: dict[Cells, bytes] = {}
        if not self.journal.exists():
            return done
        known = set(self.classes)
        for line in read_bytes(self.journal).decode("utf-8", "replace").split("\n"):
            found = _journal_line.fullmatch(line)
            if found is None:
                continue
            cells, data = (int(found[1]), int(found[2])), bytes.fromhex(found[3])
            if cells in known and is_possible_entry(self.board, cells, data):
                done[cells] = data
        return done

    def _append_to_journal(self, cells: Cells, entry: bytes) -> None:
        # The line break comes first: after a kill in the middle of a line, the next line is still
        # readable.
        with self.journal.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([*cells, entry.hex()]))
            file.flush()
            os.fsync(file.fileno())


def class_solver(board: Board) -> Callable[[Cells], tuple[bytes, int]]:
    """Return a function that solves a class, and returns its entry and the nodes searched."""
    engine = Engine(board)
    solver = Solver(engine, use_atlas=False)

    def solve(cells: Cells) -> tuple[bytes, int]:
        before, found = engine.nodes, list[bytes]()
        run_interruptibly(lambda: found.append(solve_opening(solver, board, cells)), engine.stop)
        return found[0], engine.nodes - before

    return solve


def solve_opening(solver: Solver, board: Board, cells: Cells) -> bytes:
    """Return the three bytes of an opening's entry (see `atlas.py`)."""
    position = position_of(board, *cells)
    moves = [board.name(cell) for cell in first_moves(board, cells)]
    if not moves:
        return bytes([0, 0, 0])
    after = {move: position.play(move) for move in moves}
    winning = solver.winning_moves(position)
    plies = solver.plies(position)
    if winning:
        best = next(move for move in winning if solver.lasts(after[move], plies - 1))
    else:
        best = hardest_move(solver, position, plies)
    mask = sum(1 << moves.index(move) for move in winning)
    return bytes([plies, mask, moves.index(best)])


def hardest_move(solver: Solver, position: Position, plies: int) -> str:
    """Return the move of a lost position that is hardest to answer; `plies` is the game's length.

    That is a move that resists longest, and of these the first to which the fewest replies win.
    """
    choices: list[tuple[int, str]] = []
    for move in position.legal_moves:
        after = position.play(move)
        if solver.lasts(after, plies - 1):
            choices.append((len(solver.winning_moves(after)), move))
    fewest = min(count for count, _ in choices)
    return next(move for count, move in choices if count == fewest)


def name_of(board: Board) -> str:
    """Return a board's name in the atlas, such as '4x7'."""
    return f"{board.width}x{board.height}"


def save(file: Path, name: str, entries: bytes) -> None:
    """Add a board to an atlas file, or replace it there, atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file):
        held = read_atlas(file) if file.exists() else {}
        held[name] = entries.hex()
        ordered = sorted(held.items(), key=lambda item: [int(side) for side in item[0].split("x")])
        atomic_write(file, json.dumps(dict(ordered), indent=0) + "\n", sync=True)


def user_file() -> Path:
    """Return the file of the user's own atlas, which supplements knightfall's."""
    return data_folder() / "atlas" / USER_FILE
