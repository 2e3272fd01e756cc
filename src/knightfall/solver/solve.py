"""Exact solution of any position: the winner, the winning moves, the length of the game.

Before both knights are placed there are few positions, which are enumerated in Python; after that
the compiled engine searches.  If a player wins by reflection (`reflection.py`), the winner is known
without a search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from knightfall.board import Board
from knightfall.display.numbers import clock, count, duration, percent
from knightfall.display.progress import progress as shown_progress
from knightfall.display.report import Displayable, Part
from knightfall.display.table import facts
from knightfall.errors import KnightfallError
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.kernel.interrupt import run_interruptibly
from knightfall.kernel.rules import NO_LIMIT
from knightfall.picture import player
from knightfall.position import Position, Side, other
from knightfall.solver.atlas import Entry, canonical, lookup
from knightfall.solver.engine import TABLE_MB, Engine, Limits, OutOfBudget
from knightfall.solver.reflection import loses_by_reflection, mirror_move

UNKNOWN = "unknown"


@dataclass(frozen=True, repr=False)
class Solution(Displayable):
    """The solution of a `position`, or the part of it that was found within the budget.

    `winner` wins by any of the `winning_moves`, after `plies` moves by best play, of which `pv` is
    a line.  `nodes` and `seconds` were spent, none if the answer is `from_atlas`; `interrupted`
    says whether Ctrl-C ended the search.

    `winner`, `winning_moves` and `plies` are None if the budget ended before they were known.  Then
    `known_wins` has the winning moves found so far, and `at_least` is a lower bound of the plies.
    """

    position: Position
    winner: Side | None
    winning_moves: tuple[str, ...] | None
    plies: int | None
    pv: tuple[str, ...]
    nodes: int
    seconds: float
    at_least: int = 0
    known_wins: tuple[str, ...] = ()
    from_atlas: bool = False
    by_reflection: bool = False
    """Whether the winner is known by reflection: it mirrors each move in the board's centre."""
    interrupted: bool = False
    distance: bool = True
    """Whether the length of the game was asked for."""

    def in_one_line(self) -> str:
        """See `Displayable`."""
        won = UNKNOWN if self.winner is None else f"the {player(self.winner)}"
        plies = "" if self.plies is None else f" after {count(self.plies, 'ply', 'plies')}"
        return f"winner of {self.position.fen}: {won}{plies}"

    def parts(self) -> Iterator[Part]:
        """Yield the report: a table of facts."""
        rows = {"winner": UNKNOWN if self.winner is None else f"the {player(self.winner)}"}
        if self.distance or self.plies is not None:
            rows["plies"] = self._plies()
        rows["moves"] = self._moves()
        if self.pv:
            rows["line"] = " ".join(self.pv)
        if self.from_atlas and not self.nodes:
            rows["source"] = "the atlas"
        elif self.by_reflection:
            rows["source"] = "reflection: the winner mirrors each move in the board's centre"
        if not self.from_atlas or self.nodes:
            rows["nodes"] = f"{self.nodes:,}"
        rows["time"] = duration(self.seconds)
        yield facts(rows)

    def _plies(self) -> str:
        if self.plies is not None:
            return f"{self.plies}"
        if self.at_least:
            return f"at least {self.at_least}"
        if self.by_reflection and not self.nodes:
            return "unknown (not searched for without --time or --nodes)"
        return UNKNOWN

    def _moves(self) -> str:
        moves, winning = len(self.position.legal_moves), self.winning_moves
        if winning is None and self.known_wins:
            return f"{' '.join(self.known_wins)} (which others win is unknown)"
        if winning is None:
            return "which moves win is unknown"
        if winning:
            return f"{' '.join(winning)} ({len(winning)} of {moves} win)"
        return f"none of {moves} wins" if moves else "none: the game is over"

    def to_dict(self) -> dict[str, Any]:
        """Return the solution as plain values; unknown ones are None."""
        winning = self.winning_moves
        return {
            "winner": self.winner,
            "winning_moves": None if winning is None else list(winning),
            "plies": self.plies,
            "pv": list(self.pv),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "at_least": self.at_least,
            "known_wins": list(self.known_wins),
            "from_atlas": self.from_atlas,
            "by_reflection": self.by_reflection,
        }


@dataclass
class SolveProgress:
    """The progress of a solve; `Solution` explains the results, which are set as they are found."""

    nodes: int = 0
    seconds: float = 0.0
    fill: float = 0.0
    stage: str = ""
    at_least: int = 0
    """A lower bound of the plies that the game lasts."""
    known_wins: set[str] = field(default_factory=set)
    winner: Side | None = None
    winning_moves: tuple[str, ...] | None = None
    plies: int | None = None
    pv: tuple[str, ...] = ()
    from_atlas: bool = False
    by_reflection: bool = False

    def __str__(self) -> str:
        parts = [self.stage]
        if self.winner is not None:
            parts.append(f"the {player(self.winner)} wins")
        if self.at_least:
            parts.append(f"not before ply {self.at_least}")
        speed = self.nodes / max(self.seconds, 1e-9)
        parts += [
            count(self.nodes, "node"),
            f"{speed / 1e6:.0f} million a second",
            f"table {percent(self.fill, 0)} full",
            clock(self.seconds),
        ]
        return " · ".join(parts)


PROGRESS_EVERY = 0.25
LONGEST = 10**8
"""The longest time limit in seconds: three years."""

MOST_CELLS = 49
"""Openings of larger boards take hours or days: they are not searched without a budget."""


OnProgress = Callable[[SolveProgress], None]
Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


def _interruptible(
    method: Callable[Concatenate[Solver, Parameters], Answer],
) -> Callable[Concatenate[Solver, Parameters], Answer]:
    """Let Ctrl-C end a method of an interruptible solver, which cannot be used afterwards."""

    @wraps(method)
    def ask(solver: Solver, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        if not solver.interruptible:
            return method(solver, *args, **kwargs)
        found: list[Answer] = []
        run_interruptibly(lambda: found.append(method(solver, *args, **kwargs)), solver.engine.stop)
        return found[0]

    return ask


@dataclass
class Solver:
    """Solves positions of one board with the atlas (if `use_atlas`) and an engine."""

    engine: Engine
    use_atlas: bool = True
    interruptible: bool = False
    """Whether Ctrl-C ends a call; calls from the main thread then run in another thread."""
    limits: Limits = field(default_factory=Limits)
    progress: SolveProgress = field(default_factory=SolveProgress)
    root: Position | None = None
    """The position whose progress is reported."""
    _seen: dict[tuple[str, tuple[int, int]], bool | int] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Board) -> Self:
        """Return an interruptible solver with its own engine, to judge games and agents.

        The agents' engines are separate, so judging does not add proofs to them.
        """
        return cls(Engine(board), interruptible=True)

    @_interruptible
    def wins(self, position: Position) -> bool:
        """Return whether the side to move wins."""
        moves = position.legal_moves
        if not moves or loses_by_reflection(position):
            return False
        if mirror_move(position) is not None:
            return True
        if not position.placed:
            return any(not self.wins(position.play(move)) for move in moves)
        entry = self.entry(position)
        if entry is not None:
            return entry.mover_wins
        return bool(self._cached("wins", position, lambda: self.engine.wins(position, self.limits)))

    @_interruptible
    def winning_moves(
        self, position: Position, tick: Callable[[], None] = lambda: None
    ) -> tuple[str, ...]:
        """Return the winning moves in board order; none in a lost position.

        `tick` is called as each move is decided.
        """
        entry = self.entry(position)
        if entry is not None:
            return entry.winning_moves
        if loses_by_reflection(position) or (position.placed and not self.wins(position)):
            return ()
        found = []
        for move in position.legal_moves:
            if not self.wins(position.play(move)):
                found.append(move)
                if position == self.root:
                    self.progress.known_wins.add(move)
            tick()
        return tuple(found)

    @_interruptible
    def plies(self, position: Position) -> int:
        """Return the length of the game if the winner plays for the quickest win and the loser
        resists longest.
        """
        moves = position.legal_moves
        if not moves:
            return 0
        if not position.placed:
            # Placements that are mirror images are searched once; see `_cached`.
            lengths = [self.plies(position.play(move)) for move in moves]
            wins = [length for length in lengths if length % 2 == 0]
            return 1 + (min(wins) if wins else max(lengths))
        entry = self.entry(position)
        if entry is not None:
            return entry.plies
        return int(self._cached("plies", position, lambda: self._count(position)))

    def _count(self, position: Position) -> int:
        plies = 1 if self.wins(position) else 0
        while not self.engine.ends_within(position, plies, self.limits):
            plies += 2
            if position == self.root:
                self.progress.at_least = plies
        return plies

    def lasts(self, position: Position, plies: int) -> bool:
        """Return whether the game lasts exactly `plies`; one bound of its length must be known.

        If the side to move loses, the game must be known to last at least `plies`; if it wins, at
        most `plies`.
        """
        entry = self.entry(position) if position.placed else None
        if entry is not None or not position.placed or not position.legal_moves:
            return self.plies(position) == plies
        engine, limits = self.engine, self.limits
        if plies % 2 == 0:  # the mover loses
            return engine.ends_within(position, plies, limits)
        # The mover wins, and must not win sooner.
        return plies == 1 or not engine.ends_within(position, plies - 2, limits)

    def entry(self, position: Position) -> Entry | None:
        """Return the atlas's entry of a position, if the atlas is used and has one."""
        return lookup(position) if self.use_atlas else None

    def _cached(
        self, question: str, position: Position, ask: Callable[[], bool | int]
    ) -> bool | int:
        """Return the answer to a question, computed once for all mirror images of an opening."""
        key = canonical(position)
        if key is None:
            return ask()
        if (question, key) not in self._seen:
            self._seen[question, key] = ask()
        return self._seen[question, key]

    def line(self, position: Position, plies: int) -> tuple[str, ...]:
        """Return the principal variation of a game of `plies`, with the first of equal moves."""
        moves = []
        while plies > 0:
            for move in position.legal_moves:
                after = position.play(move)
                if plies % 2 == 1:  # the winner moves
                    good = not self.wins(after) and self.lasts(after, plies - 1)
                else:
                    good = self.lasts(after, plies - 1)
                if good:
                    break
            else:
                raise AssertionError(f"{position}: no move of a game of {plies} plies")
            moves.append(move)
            position, plies = after, plies - 1
        return tuple(moves)


def solve(
    position: Position | str,
    *,
    distance: bool = True,
    atlas: bool = True,
    threads: int = 1,
    table_mb: int = TABLE_MB,
    nodes: int | None = None,
    seconds: float | None = None,
    progress: bool | OnProgress = True,
) -> Solution:
    """Solve a position.  On Ctrl-C return the part of the solution that is known.

    On boards of more than 49 cells, if the winner of a placement is known by reflection, nothing
    else is searched without a budget: it would take days.

    Args:
        position: A position or a FEN.
        distance: Whether to find the length of the game and a line of best play; finding only the
            winner and the winning moves is faster.
        atlas: Whether to look in the atlas first.
        threads: Number of threads that search.
        table_mb: Size of the table of proofs, in MB.
        nodes: Most nodes to search.
        seconds: Most time to search, in seconds.
        progress: Whether to show the progress, or a function called with a `SolveProgress`.

    Example:
        >>> solution = kf.solve("5/5/1N3/3n1/5 w")
        >>> solution.winner, solution.plies, solution.winning_moves
        ('b', 16, ())
    """
    start = time.perf_counter()
    if isinstance(position, str):
        position = Position.from_fen(position)
    if nodes is not None and nodes < 1:
        raise KnightfallError(f"nodes={nodes} must be at least 1")
    if seconds is not None and not 0 < seconds < LONGEST:
        raise KnightfallError(f"seconds={seconds} must be more than 0 and less than {LONGEST}")
    engine = Engine(position.board, threads=threads, table_mb=table_mb)
    limits = Limits(nodes or NO_LIMIT, None if seconds is None else start + seconds)
    solver = Solver(engine, use_atlas=atlas, limits=limits, root=position)
    found, interrupted, failures = solver.progress, False, list[BaseException]()

    def work() -> None:
        try:
            _work(solver, position, distance)
        except OutOfBudget:
            pass
        except BaseException as error:
            failures.append(error)

    enable_keyboard_interrupt()
    worker = threading.Thread(target=work, name="knightfall-solver", daemon=True)
    worker.start()
    try:
        with _progress_or_callback(progress) as report_progress:
            while worker.is_alive():
                worker.join(PROGRESS_EVERY)
                if worker.is_alive():
                    found.nodes, found.fill = engine.nodes, engine.fill
                    found.seconds = time.perf_counter() - start
                    report_progress(found)
    except KeyboardInterrupt:
        engine.stop()
        worker.join()
        interrupted = True
    if failures:
        raise failures[0]
    return Solution(
        position=position,
        winner=found.winner,
        winning_moves=found.winning_moves,
        plies=found.plies,
        pv=found.pv,
        nodes=engine.nodes,
        seconds=time.perf_counter() - start,
        at_least=found.plies or found.at_least,
        known_wins=tuple(m for m in position.legal_moves if m in found.known_wins),
        from_atlas=found.from_atlas,
        by_reflection=found.by_reflection,
        interrupted=interrupted,
        distance=distance,
    )


@contextmanager
def _progress_or_callback(wanted: bool | OnProgress) -> Iterator[OnProgress]:
    """Yield a function for progress: a displayed line (True), the given one, or one that does
    nothing (False).
    """
    if wanted is not True:
        yield wanted or (lambda state: None)
        return
    with shown_progress() as shown:
        yield lambda state: shown.say(str(state))


def _work(solver: Solver, position: Position, distance: bool) -> None:
    """Fill in the results one after the other, so that those found so far stay if time is up."""
    found, mover = solver.progress, position.to_move
    found.from_atlas = solver.entry(position) is not None
    found.stage = "who wins"
    mirror = mirror_move(position)
    if mirror is not None:
        found.known_wins.add(mirror)
    if position.legal_moves and not found.from_atlas:
        found.by_reflection = mirror is not None or loses_by_reflection(position)
    if position.placed or found.by_reflection:
        found.winner = mover if solver.wins(position) else other(mover)
    if found.by_reflection and not position.placed:
        found.winning_moves = None if mirror else ()
        if solver.limits == Limits() and position.board.cells > MOST_CELLS:
            return
    found.winning_moves = solver.winning_moves(position)
    found.known_wins.update(found.winning_moves)
    found.winner = mover if found.winning_moves else other(mover)
    if distance:
        found.stage = "how long"
        found.plies = solver.plies(position)
        found.stage = "best play"
        found.pv = solver.line(position, found.plies)
    elif found.winning_moves:
        found.pv = found.winning_moves[:1]
