"""Play a submission's moves inside its own process, and find the lines that its answers come from.

The working folder of that process is a scratch copy of the submission's folder.  The process plays
one side of one game: one player object, one state, one stream of random numbers.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import linecache
import os
import random
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, SupportsFloat

from knightfall.course.board_common import lay_out
from knightfall.course.generations import Generation
from knightfall.course.import_context import (
    CountedClock,
    WallClock,
    count_all_clocks,
    load_module,
    running,
)
from knightfall.course.scores import ScorePlayer
from knightfall.course.submission import Reference, checked, parse_reference
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.limits import limit_processor_time, seed_random
from knightfall.position import Position, Side

# -- errors ------------------------------------------------------------------------------------


def describe(error: BaseException, here: Path, name: str) -> str:
    """Return a one-line description of an error with its last line in the submission's files."""
    top = os.path.join(str(here), "")
    where = name
    if isinstance(error, SyntaxError) and str(error.filename).startswith(top):
        where = f"{str(error.filename)[len(top) :]}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        for frame in reversed(frames):
            if frame.filename.startswith(top):
                inside = f", in {frame.name}" if frame.name != "<module>" else ""
                where = f"{frame.filename[len(top) :]}, line {frame.lineno}{inside}"
                break
    try:
        said = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
        said = without_addresses(said)
    except BaseException:
        said = "it cannot be printed"
    return f"{where}: {type(error).__name__}{f': {said:.300}' if said else ''}"


def without_addresses(said: str) -> str:
    """Remove object addresses, which differ from run to run, from a text."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", said)


# -- answers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Returned:
    """The source line that returned an answer; `ended` if its function ended without `return`."""

    file: str
    line: int
    function: str
    text: str
    ended: bool

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}, in {self.function}"
        return f"{where}, which ends without return" if self.ended else f"{where}: {self.text}"


def find_return(work: Callable[[], Any], folder: Path) -> tuple[Any, Returned | None]:
    """Run `work` and return its answer, with the line in `folder` that the answer came from.

    If a function passes on another's result (`return self.search(game)`), the inner one counts.
    The line is None if no function of a file in `folder` returned the answer.
    """
    top = os.path.join(str(folder), "")
    inner: dict[int, _Return] = {}  # calling frame → last return to it
    outermost: list[_Return] = []

    def note(frame: FrameType, event: str, value: Any) -> None:
        if event != "return" or not frame.f_code.co_filename.startswith(top):
            return
        found = _Return(frame.f_code, frame.f_lineno, value, inner.pop(id(frame), None))
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename.startswith(top):
            inner[id(caller)] = found
        else:
            outermost[:] = [found]

    sys.setprofile(note)
    try:
        answer = work()
    finally:
        sys.setprofile(None)
    if not outermost or outermost[0].value is not answer:
        return answer, None
    found = outermost[0]
    statement = _return_statement(found)
    while (
        statement is not None
        and isinstance(statement.value, ast.Call)
        and found.inner is not None
        and found.inner.value is answer
    ):
        found = found.inner
        statement = _return_statement(found)
    file, line = found.code.co_filename, found.line
    text = linecache.getline(file, line).strip()
    return answer, Returned(file[len(top) :], line, found.code.co_name, text, statement is None)


@dataclass(frozen=True, slots=True)
class _Return:
    """A return event of a traced function; `inner` is that of the last function it called."""

    code: CodeType
    line: int
    value: Any
    inner: _Return | None


def _return_statement(found: _Return) -> ast.Return | None:
    """Return the `return` statement that contains the last executed line; None if there is none."""
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(Path(found.code.co_filename).read_bytes())):
            if isinstance(node, ast.Return) and node.lineno <= found.line <= (node.end_lineno or 0):
                return node
    return None


# -- boards ------------------------------------------------------------------------------------


class SeatBoard:
    """Creates the course boards for a player's moves in a game; tracks who visited which cell.

    Visits are known only from the positions that were passed to `board`.
    """

    def __init__(self, player: Any, side: Side) -> None:
        opponent = importlib.import_module("sample_players").RandomPlayer()
        self._players = (player, opponent) if side == "w" else (opponent, player)
        self._kind = importlib.import_module("isolation").Board
        self._owners: dict[int, int] = {}

    def board(self, position: Position) -> Any:
        """Return the course board of a position, for the player to move."""
        board = self._kind(*self._players, position.board.width, position.board.height)
        knights = position.white, position.black
        for number, cell in enumerate(knights, start=1):
            if cell is not None:
                self._owners.setdefault(cell, number)  # visited by the knight on it
        turn = self._players if position.to_move == "w" else self._players[::-1]
        lay_out(board, sum(1 << cell for cell in position.open), knights, turn, self._owners)
        return board


# -- players and moves -------------------------------------------------------------------------


MINIMAX_DEPTH = 3
"""Plies that the tournament's minimax players look ahead, in every generation."""

LONGEST_ANSWER = 60

PROFILED = 4
"""Factor by which the time limit is extended under a profiler."""
MOST_PLIES = 128
"""More plies than a game of the successor has; game seeds are multiplied by it, so that each
move has a different random seed."""

PATIENT = 10.0
"""Limit in seconds of processor time for scoring all moves of a position."""


class Session:
    """A loaded submission with its player object."""

    def __init__(self, reference: Reference, time: int, *, counted: bool = False) -> None:
        self._time, self._counted = time / 1000.0, counted
        self.submission = checked(reference)
        self._here = Path.cwd()
        if not (self._here / self.submission.file.name).is_file():
            raise KnightfallError(
                f"submission {reference}: its file is not in the working folder {self._here}"
            )
        self._game: SeatBoard | None = None
        self._agent: Any = None
        self._clock = self._fresh_clock(0.0)
        if counted:
            if self.submission.generation.on_11x9:
                importlib.import_module("knightfall.course.successor_moves")  # by the real clock
            count_all_clocks()
        with self._running():
            random.seed(0)
            self._module = load_module(
                self._here / self.submission.file.name, self.submission.generation
            )
            self._player = self._make(reference)

    # -- loading -------------------------------------------------------------------------------

    def _make(self, reference: Reference) -> Any:
        """Create the player as the course's tournament does."""
        name = reference.name or self.submission.default
        kind = self._named(name)
        if self.submission.generation.on_11x9:
            return kind  # instantiated later, for the side that it plays
        if name in self.submission.scores or inspect.isfunction(kind):
            return ScorePlayer(kind)
        generation = self.submission.generation
        if reference.score:
            return make_player(kind, generation, score=self._named(reference.score))
        usual = getattr(self._module, "custom_score", None)
        return make_player(kind, generation, usual=None if self.submission.competition else usual)

    def _named(self, name: str) -> Any:
        found = getattr(self._module, name, None)
        if found is None:
            found = getattr(importlib.import_module("sample_players"), name, None)
        if found is None:
            raise KnightfallError(f"{self.submission.file.name} defines no {name!r}")
        return found

    # -- playing -------------------------------------------------------------------------------

    def move(self, position: Position, seed: int) -> str:
        """Return the name of the cell the player moves to.

        Raise `AgentFailure` if it crashes, is late or answers anything but a legal move.
        """
        if self.submission.generation.on_11x9:
            raise AgentFailure(
                "crash",
                f"{self.submission.file.name} plays the successor's game on 11×9, not "
                f"{position.board.width}×{position.board.height}",
            )
        if self._game is None:
            seed_random(seed, position.to_move)
            self._game = SeatBoard(self._player, position.to_move)
        limit_processor_time(self._time / 1000.0 if not self._counted else None)
        board = self._game.board(position)
        legal = board.get_legal_moves()
        copy = board.copy()
        self._clock = self._fresh_clock(self._time)
        with self._running():
            answer = self._asked(copy, legal)
        late = self._clock.late()
        if late > 0:
            raise AgentFailure(
                "timeout",
                f"{self.submission.file.name} answered {late:.3g} ms after its {self._time:g} ms",
            )
        return self._judged(answer, legal, position)

    def _time_left(self) -> float:
        # A player that kept this function from an earlier move gets the current move's time, as in
        # the course.
        return self._clock.left()

    def _fresh_clock(self, limit: float) -> WallClock | CountedClock:
        if not self._counted:
            return WallClock(limit)
        before = getattr(self, "_clock", None)
        return CountedClock(limit, before.passed if isinstance(before, CountedClock) else 0.0)

    def act(self, state: tuple[int, int, Any], seed: int) -> int:
        """Run an 11×9 player in a fork; return the last action that it puts into its queue.

        Raise `AgentFailure` for a crash, a timeout or an illegal action.
        """
        from knightfall.course import successor_moves

        if not self.submission.generation.on_11x9:
            raise KnightfallError(
                f"{self.submission.file.name} is written for 7×7: it has no get_action, which the "
                "11×9 game calls"
            )
        now = importlib.import_module("isolation").Isolation(*state)
        side: Side = "w" if now.player() == 0 else "b"
        with self._running():
            if self._agent is None:
                seed_random(seed, side)
                self._agent = self._player(player_id=now.player())
        name, here = self.submission.file.name, self._here
        puts, wrong = successor_moves.all_puts(
            self._agent,
            now,
            self._time,
            lambda error: describe(error, here, name),
            begin=lambda: seed_random(MOST_PLIES * seed + now.ply_count, side),
            counted=self._counted,
        )
        if not puts and wrong:
            raise AgentFailure("crash", wrong)
        if not puts:
            raise AgentFailure("timeout", f"{name} put no action within {self._time:g} ms")
        self._agent.context, action, _ = puts[-1]
        if action not in now.actions():
            raise AgentFailure("forfeit", f"{name} put {action!r:.60}, which is no legal action")
        return int(action)

    def opinions(self, position: Position) -> dict[str, float | None]:
        """Return the student's score of each legal move's position; None if it is not a number."""
        score = getattr(self._player, "score", None)
        if not callable(score):
            raise AgentFailure("crash", f"{self.submission.file.name}: the player has no score")
        limit_processor_time(PATIENT)
        game = SeatBoard(self._player, position.to_move)
        found: dict[str, float | None] = {}
        for name in position.legal_moves:
            cell = position.board.cell(name)
            with self._running():
                after = game.board(position)
                after.apply_move((position.board.row(cell), position.board.column(cell)))
                value = score(after, self._player)
            number = isinstance(value, SupportsFloat) and value == value
            found[name] = float(value) if number else None
        return found

    def answer_line(self, position: Position, seed: int) -> str:
        """Return the source line that returned an illegal move; "" if the player's move is legal.

        The player runs under a profiler, which is slow, so by the wall clock it gets more time.
        """
        limit_processor_time(PATIENT)
        seed_random(seed, position.to_move)
        board = SeatBoard(self._player, position.to_move).board(position)
        legal = board.get_legal_moves()
        self._clock = self._fresh_clock(self._time if self._counted else PROFILED * self._time)
        with self._running():
            answer, line = find_return(lambda: self._asked(board.copy(), legal), self._here)
        try:
            return "" if line is None or answer in legal else str(line)
        except Exception:  # the answer's own == may raise
            return str(line)

    def asks_other_clocks(self, position: Position) -> bool:
        """Return whether the player, timed in ticks, reads Python's clocks during a move."""
        with suppress(AgentFailure):
            self.move(position, 0)
        return isinstance(self._clock, CountedClock) and self._clock.asked_elsewhere > 0

    def _asked(self, game: Any, legal: list[Any]) -> Any:
        """Call the player's `get_move` with the arguments of its generation."""
        if self.submission.generation.gives_moves:
            return self._player.get_move(game, legal, self._time_left)
        return self._player.get_move(game, self._time_left)

    def _judged(self, answer: Any, legal: list[Any], position: Position) -> str:
        """Return the name of the answered cell; raise `AgentFailure` if the move is not legal."""
        board, targets = position.board, position.targets(position.to_move)
        cells = {(board.row(cell), board.column(cell)): cell for cell in targets}
        try:
            place = legal.index(answer)  # compared with ==, as in the course: (2.0, 3) is (2, 3)
            return board.name(cells[tuple(legal[place])])
        except Exception:  # the answer's own == may raise
            pass
        name = self.submission.file.name
        if answer is None or _is_resignation(answer):
            raise AgentFailure("forfeit", f"{name} resigned: it answered {_shown(answer)}")
        raise AgentFailure(
            "forfeit", f"{name} answered {_shown(answer)}, which is none of its legal moves"
        )

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Run the block on the submission's clock; turn an error into an `AgentFailure`."""
        clock = self._clock
        try:
            with running(clock.seconds if isinstance(clock, CountedClock) else None):
                yield
        except KnightfallError:
            raise
        except BaseException as error:
            crash = describe(error, self._here, self.submission.file.name)
            raise AgentFailure("crash", crash) from None


def make_player(
    kind: Any,
    generation: Generation,
    *,
    score: Any = None,
    usual: Any = None,
    method: str = "alphabeta",
    search_depth: int | None = None,
) -> Any:
    """Create a player as the course's tournament of a generation does.

    The constructor gets only those of the tournament's arguments that it accepts.  `score` becomes
    the player's score in any case, `usual` only if the constructor accepts `score_fn`.  The
    tournament sets `search_depth` only for `minimax` before 2017b.
    """
    wanted: dict[str, Any] = {}
    if score is not None or usual is not None:
        wanted["score_fn"] = usual if score is None else score
    if generation.gives_moves:
        wanted.update(method=method, iterative=method == "alphabeta")
        if method == "minimax":
            wanted["search_depth"] = MINIMAX_DEPTH
    if search_depth is not None:
        wanted["search_depth"] = search_depth
    taken = parameters(kind)
    player = kind(**{key: value for key, value in wanted.items() if key in taken})
    if score is not None and "score_fn" not in taken:
        player.score = score
    return player


def parameters(kind: Any) -> set[str]:
    """Return the names of the arguments that a class's constructor accepts."""
    try:
        found = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return set()
    names = {one.name for one in found if one.kind is not inspect.Parameter.POSITIONAL_ONLY}
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found):
        names |= {"score_fn", "method", "iterative", "search_depth", "timeout"}
    return names


def _is_resignation(answer: Any) -> bool:
    try:
        return bool(answer == (-1, -1))
    except Exception:
        return False


def _shown(answer: Any) -> str:
    try:
        return without_addresses(repr(answer))[:LONGEST_ANSWER]
    except BaseException:
        return "something that cannot be printed"


@cache
def session(text: str, time: int, counted: bool) -> Session:
    """Load a submission once and return its session; call this only in the submission's process."""
    return Session(parse_reference(text), time, counted=counted)
