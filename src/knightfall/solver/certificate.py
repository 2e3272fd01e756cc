"""Certificates: a proof on paper that the second player wins from free placement.

`verify.py` says what a certificate looks like and checks it, without any of our code.  Here one is
made: for every first placement an answer, for every move after that an answer, and so on down to
positions the verifier can search by itself.  Among winning answers the one is taken after which
the first player's defeat takes the fewest positions to prove, so that the proof stays short.
On a board with an even side none of this is needed: the second player mirrors (`reflection.py`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write
from knightfall.kernel.geometry import bitset, geometry
from knightfall.solver.engine import OutOfBudget, check_threads
from knightfall.solver.proof_table import DTYPE, PLIES
from knightfall.solver.winloss import who_wins

HEADING = "knightfall certificate 1\nboard {}x{}\nwinner second\n"
SMALL = 500
"""Positions whose search takes no more nodes than this are left to the verifier."""

CHEAP, DEARER = 64, 4
"""What an answer may cost to prove at first, and by how much more if none is that cheap."""

Place = tuple[int, int, int]
"""The open cells as a word, the first player's cell and the second's; the first is to move."""

MIRROR = "method mirror"
"""The only line of a proof by reflection."""

MapCalls = Callable[
    [Callable[[], "Callable[[int], ProvenReply]"], Sequence[int]],
    "Iterable[tuple[int, ProvenReply]]",
]
"""Such as `parallel_map`: calls the function that a setup returns, in any order and process."""

OnProgress = Callable[[float], None]
"""Hears how much of the work is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class ProvenReply:
    """The second player's answer to a move, and what follows."""

    move: int
    answer: int
    place: Place
    """What the two moves lead to."""
    below: tuple[ProvenReply, ...] | None
    """Answers to all the first player can do next; None if the verifier is to find out."""


@dataclass(frozen=True)
class Certificate:
    """A proof that the second player wins on a board."""

    board: Board
    answers: tuple[ProvenReply, ...] | None
    """One to each first placement, up to mirror images; None if the second player mirrors."""

    @property
    def method(self) -> str:
        """How it proves: by "answers" or by "mirror"."""
        return "mirror" if self.answers is None else "answers"

    @property
    def lines(self) -> list[str]:
        """What stands between heading and checksum: the answers, or how to find them."""
        if self.answers is None:
            return [MIRROR]
        return list(self._lines(self.answers, 0, set()))

    def _lines(self, answers: Iterable[ProvenReply], depth: int, told: set[Place]) -> Iterator[str]:
        for one in answers:
            line = f"{' ' * depth}{self.board.name(one.move)} {self.board.name(one.answer)}"
            if one.place in told:
                yield f"{line} ="
                continue
            told.add(one.place)
            if one.below is None:
                yield f"{line} ?"
                continue
            yield line
            yield from self._lines(one.below, depth + 1, told)

    @property
    def text(self) -> str:
        """The whole file."""
        heading = HEADING.format(self.board.width, self.board.height)
        return sealed(heading + "".join(f"{line}\n" for line in self.lines))

    def write(self, file: Path) -> None:
        """Write the file: all of it or, whatever happens meanwhile, none of it."""
        atomic_write(file, self.text)


def sealed(text: str) -> str:
    """The text with its checksum as the last line."""
    return f"{text}sha256 {hashlib.sha256(text.encode('ascii')).hexdigest()}\n"


def certify(
    board: Board,
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
    map_calls: MapCalls | None = None,
) -> Certificate:
    """Prove that the second player wins, by reflection if a side of the board is even."""
    check_threads(threads)
    if board.cells % 2 == 0:
        return Certificate(board, None)
    return written_out(board, threads=threads, on_progress=on_progress, map_calls=map_calls)


def written_out(
    board: Board,
    *,
    threads: int = 1,
    small: int = SMALL,
    on_progress: OnProgress | None = None,
    map_calls: MapCalls | None = None,
) -> Certificate:
    """Prove it answer by answer; if the second player does not win, a `KnightfallError` says so.

    Each thread sees to one first placement after the other, or `map_calls` does, if it is given.
    The certificate is the same for any number of threads or workers.
    """
    check_threads(threads)
    placements = sorted({board.canonical(cell)[0] for cell in range(board.cells)})
    progress = _Progress(len(placements), on_progress)
    if map_calls is not None:
        found: dict[int, ProvenReply] = {}
        for place, answer in map_calls(partial(placement_prover, board, small), placements):
            found[place] = answer
            progress.add(1.0)
        return Certificate(board, tuple(found[place] for place in range(len(placements))))
    builders = [_Builder(board, small, progress) for _ in placements]
    pool = ThreadPoolExecutor(threads, thread_name_prefix="knightfall-certificate")
    try:
        answers = pool.map(_Builder.placement, builders, placements)
        return Certificate(board, tuple(answers))
    finally:  # after Ctrl-C, or when one of them has failed, the others need not go on
        for builder in builders:
            builder.stop()
        pool.shutdown(cancel_futures=True)


def placement_prover(board: Board, small: int) -> Callable[[int], ProvenReply]:
    """Return a function that finds the answer to a first placement, and what follows."""
    return _Builder(board, small, _Progress(1, None)).placement


class _Progress:
    """What the threads have done so far, together."""

    def __init__(self, placements: int, on_progress: OnProgress | None) -> None:
        self.placements, self.on_progress = placements, on_progress
        self.done = 0.0
        self.lock = threading.Lock()

    def add(self, share: float) -> None:
        """A share of one placement's work is done; none of it is not worth telling."""
        if share == 0:
            return
        with self.lock:
            self.done += share / self.placements
            if self.on_progress is not None:
                self.on_progress(min(1.0, self.done))


class _Builder:
    """Finds the answers to one first placement."""

    def __init__(self, board: Board, small: int, progress: _Progress) -> None:
        self.board, self.small, self.progress = board, small, progress
        self.boards = geometry(board)
        self.states = np.zeros(1, DTYPE)
        # No position is so large that the table is asked, or reflection: the verifier knows
        # neither, and what a proof costs must not depend on what was asked before.
        self.states["upper"] = PLIES
        self.stopped = False

    def stop(self) -> None:
        """Have whatever is going on end with `OutOfBudget`."""
        self.stopped = True
        self.boards["limit"] = 0

    def placement(self, cell: int) -> ProvenReply:
        """The answer to a first placement."""
        everywhere = range(self.board.cells)
        found = self._answer(bitset(everywhere), cell, everywhere)
        if found is None:
            raise KnightfallError(
                f"on {self.board.width}×{self.board.height} the first player wins, by placing on "
                f"{self.board.name(cell)}: there is nothing to certify"
            )
        answer, place, nodes = found
        return ProvenReply(cell, answer, place, self._below(place, nodes, 1.0))

    def _below(
        self, place: Place, nodes: int, share: float = 0.0
    ) -> tuple[ProvenReply, ...] | None:
        """The answers to all the first player can do in a position that took so many nodes.

        They are a share of the placement's work.
        """
        open, first, second = place
        moves = [cell for cell in self.board.knight[first] if open >> cell & 1]
        if nodes <= self.small or not moves:
            self.progress.add(share)
            return None if moves else ()
        below = []
        for move in moves:
            found = self._answer(open, move, self.board.knight[second])
            assert found is not None, "the first player was to lose this"
            answer, place, nodes = found
            below.append(ProvenReply(move, answer, place, self._below(place, nodes)))
            self.progress.add(share / len(moves))
        return tuple(below)

    def _answer(self, open: int, move: int, ways: Iterable[int]) -> tuple[int, Place, int] | None:
        """The winning answer that is cheapest to prove, what it leads to, and at what cost.

        None if no answer wins.  Answers are tried at a low price first, because a losing one may
        be very expensive to see through.
        """
        open &= ~(1 << move)
        left = [(cell, (open & ~(1 << cell), move, cell)) for cell in ways if open >> cell & 1]
        price = CHEAP
        while left:
            best, too_dear = None, []
            for answer, place in left:
                first_wins, nodes = self._ask(place, price)
                if first_wins == 0:
                    best, price = (answer, place, nodes), nodes
                elif first_wins < 0:
                    too_dear.append((answer, place))
            if best is not None:
                return best
            left, price = too_dear, price * DEARER
        return None

    def _ask(self, place: Place, price: int) -> tuple[int, int]:
        """1 if the first player wins, 0 if the second does, −1 if `price` nodes do not tell it.

        And how many nodes it took.
        """
        self.states["nodes"] = 0
        self.boards["limit"] = price
        if self.stopped:  # asked only now: whoever stops us sets this before the limit
            raise OutOfBudget
        answer = int(who_wins(self.boards, self.states, *place))
        if self.stopped:
            raise OutOfBudget
        return answer, int(self.states["nodes"][0])
