"""A submission at play, inside the process that it has to itself.

That process has a scratch copy of the submission's folder for its working folder, and asks for the
moves of one game and one side: one player object, one state, one stream of random numbers.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import random
import sys
from contextlib import suppress
from pathlib import Path
from timeit import default_timer
from types import ModuleType
from typing import Any, SupportsFloat

from knightfall.containment import limit_processor
from knightfall.course.clocks import counted_clock, wall_clock
from knightfall.course.crashes import Telling, describe
from knightfall.course.old_names import put_back, put_back_into_numpy
from knightfall.course.paths import folder
from knightfall.course.reference import Reference, parse_reference
from knightfall.course.score_player import ScorePlayer
from knightfall.course.seat_board import SeatBoard
from knightfall.course.submission import checked
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side

RESIGNED = "resigned: it answered"
"""How the detail of a game begins that was given up, as opposed to an answer that was none."""

WITH_MOVES = ("2017a", "early", "oldest")
"""The generations whose players get the list of legal moves as well."""

LONGEST_ANSWER = 60

MOST_PLIES = 128
"""More than a game of the successor has: each of its moves has random numbers of its own."""

PATIENT = 10.0
"""Seconds of processor time in which a score must have its opinions of a position."""


class Session:
    """A submission, loaded, with its player."""

    def __init__(self, reference: Reference, time: int, *, counted: bool = False) -> None:
        self._time, self._counted = time / 1000.0, counted
        self.submission = checked(reference)
        self._here = Path.cwd()
        if not (self._here / self.submission.file.name).is_file():
            raise KnightfallError(f"{reference}: its process has no copy of it to work with")
        self._game: SeatBoard | None = None
        self._agent: Any = None
        self._clock = wall_clock(self._time)
        with self._telling():
            random.seed(0)
            self._module = self._load()
            self._player = self._make(reference)

    # -- loading -------------------------------------------------------------------------------

    def _load(self) -> ModuleType:
        """Import the file under its own name, the course's modules before all others."""
        place = str(folder(self.submission.generation))
        sys.path[:0] = [place, str(self._here)]
        sys.argv = [self.submission.file.name]
        sys.dont_write_bytecode = True
        put_back()
        if self.submission.uses_numpy:
            with suppress(ImportError):
                importlib.import_module("numpy")
        put_back_into_numpy()
        importlib.invalidate_caches()
        name = self.submission.file.stem
        if name.isidentifier() and name not in sys.modules:
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(
            "game_agent", self._here / self.submission.file.name
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["game_agent"] = module
        spec.loader.exec_module(module)
        return module

    def _make(self, reference: Reference) -> Any:
        """The player, as the course's tournament makes it."""
        name = reference.name or self.submission.default
        kind = self._named(name)
        if self.submission.generation == "successor":
            return kind  # made anew for the side that it plays
        if name in self.submission.scores or inspect.isfunction(kind):
            return ScorePlayer(kind)
        wanted: dict[str, Any] = {}
        score = None
        if reference.score:
            score = self._named(reference.score)
        elif not self.submission.competition:
            score = getattr(self._module, "custom_score", None)
        if score is not None:
            wanted["score_fn"] = score
        if self.submission.generation in WITH_MOVES:
            wanted.update(method="alphabeta", iterative=True)
        taken = _parameters(kind)
        player = kind(**{key: value for key, value in wanted.items() if key in taken})
        if reference.score and "score_fn" not in taken:
            player.score = score
        return player

    def _named(self, name: str) -> Any:
        found = getattr(self._module, name, None)
        if found is None:
            found = getattr(importlib.import_module("sample_players"), name, None)
        if found is None:
            raise KnightfallError(f"{self.submission.file.name} defines no {name!r}")
        return found

    # -- playing -------------------------------------------------------------------------------

    def move(self, position: Position, seed: int) -> str:
        """The name of the cell that the player moves to; an `AgentFailure` for anything else."""
        if self.submission.generation == "successor":
            raise AgentFailure(
                "crash",
                f"{self.submission.file.name} plays the successor's game on 11×9, not "
                f"{position.board.width}×{position.board.height}",
            )
        if self._game is None:
            _seed_all(seed, position.to_move)
            self._game = SeatBoard(self._player, position.to_move)
        limit_processor(self._time / 1000.0 if not self._counted else None)
        board = self._game.board(position)
        legal = board.get_legal_moves()
        copy = board.copy()
        self._clock = counted_clock(self._time) if self._counted else wall_clock(self._time)
        with self._telling():
            if self.submission.generation in WITH_MOVES:
                answer = self._player.get_move(copy, legal, self._time_left)
            else:
                answer = self._player.get_move(copy, self._time_left)
        late = self._clock[1]()
        if late > 0:
            raise AgentFailure(
                "timeout",
                f"{self.submission.file.name} answered {late:.3g} ms after its {self._time:g} ms",
            )
        return self._judged(answer, legal, position)

    def _time_left(self) -> float:
        # Whoever keeps it from an earlier move asks about the present one, as in the course.
        return self._clock[0]()

    def act(self, state: tuple[int, int, Any], seed: int) -> int:
        """The action that a player of the successor puts last, in a fork of this process."""
        from knightfall.course import successor_moves

        if self.submission.generation != "successor":
            raise KnightfallError(f"{self.submission.file.name} does not play the successor's game")
        now = importlib.import_module("isolation").Isolation(*state)
        side: Side = "w" if now.player() == 0 else "b"
        with self._telling():
            if self._agent is None:
                _seed_all(seed, side)
                self._agent = self._player(player_id=now.player())
        name, here = self.submission.file.name, self._here
        return successor_moves.ask(
            self._agent,
            now,
            self._time,
            name,
            lambda error: describe(error, here, name),
            begin=lambda: _seed_all(MOST_PLIES * seed + now.ply_count, side),
            counted=self._counted,
        )

    def opinions(self, position: Position) -> dict[str, float | None]:
        """What the score says of each legal move, once it is made; None for what is no number."""
        score = getattr(self._player, "score", None)
        if not callable(score):
            raise AgentFailure("crash", f"{self.submission.file.name}: its player has no score")
        limit_processor(PATIENT)
        game = SeatBoard(self._player, position.to_move)
        found: dict[str, float | None] = {}
        for name in position.legal_moves:
            cell = position.board.cell(name)
            with self._telling():
                after = game.board(position)
                after.apply_move((position.board.row(cell), position.board.column(cell)))
                value = score(after, self._player)
            number = isinstance(value, SupportsFloat) and value == value
            found[name] = float(value) if number else None
        return found

    def _judged(self, answer: Any, legal: list[Any], position: Position) -> str:
        board, targets = position.board, position.targets(position.to_move)
        cells = {(board.row(cell), board.column(cell)): cell for cell in targets}
        try:
            place = legal.index(answer)  # equal, as the course asks: (2.0, 3) is (2, 3)
            return board.name(cells[tuple(legal[place])])
        except Exception:  # whatever its == does
            pass
        name = self.submission.file.name
        if answer is None or _is_resignation(answer):
            raise AgentFailure("forfeit", f"{name} {RESIGNED} {_shown(answer)}")
        raise AgentFailure(
            "forfeit", f"{name} answered {_shown(answer)}, which is none of its legal moves"
        )

    def _telling(self) -> Telling:
        return Telling(self._here, self.submission.file.name)


def _parameters(kind: Any) -> set[str]:
    """What a class can be made with, by name."""
    try:
        found = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return set()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found):
        return {"score_fn", "method", "iterative"}
    return {one.name for one in found if one.kind is not inspect.Parameter.POSITIONAL_ONLY}


def _is_resignation(answer: Any) -> bool:
    try:
        return bool(answer == (-1, -1))
    except Exception:
        return False


def _shown(answer: Any) -> str:
    try:
        return f"{answer!r:.{LONGEST_ANSWER}}"
    except BaseException:
        return "something that cannot be printed"


def _seed_all(seed: int, side: Side) -> None:
    """Begin the random numbers of a game; the two seats do not share them."""
    number = 2 * seed + (side == "b")
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number % 2**32)


# -- for agents ------------------------------------------------------------------------------

_sessions: dict[tuple[str, int, bool], Session] = {}
_at_home: list[bool] = []


def settle() -> None:
    """Say that this process is a submission's own, and its working folder the scratch copy."""
    _at_home[:] = [True]


def is_at_home() -> bool:
    """Whether submissions may be loaded and asked here."""
    return bool(_at_home)


def ready(text: str, time: int, *, counted: bool) -> None:
    """Have a submission loaded, here if this process is its own; elsewhere it is only read."""
    if is_at_home():
        _session(text, time, counted)
    else:
        checked(parse_reference(text))


def ask(text: str, time: int, position: Position, seed: int, *, counted: bool) -> tuple[str, float]:
    """The submission's move, in its own process, and the seconds that it took."""
    session = _session(text, time, counted)
    start = default_timer()
    move = session.move(position, seed)
    return move, default_timer() - start


def act(text: str, time: int, state: tuple[int, int, Any], seed: int, *, counted: bool) -> int:
    """Return the action of a submission for the successor, in its own process."""
    return _session(text, time, counted).act(state, seed)


def opinions(text: str, time: int, position: Position, counted: bool) -> dict[str, float | None]:
    """What a submission's score says of the moves in a position, in its own process."""
    return _session(text, time, counted).opinions(position)


def _session(text: str, time: int, counted: bool) -> Session:
    key = text, time, counted
    if key not in _sessions:
        _sessions[key] = Session(parse_reference(text), time, counted=counted)
    return _sessions[key]
