"""The agent kind ``course(PATH…)``: plays an unmodified submission of the course."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from timeit import default_timer
from typing import TYPE_CHECKING, Any, Self

from knightfall.agents.base import Agent, TimeControl, read_seed
from knightfall.agents.remote_player import COUNTED, PATIENCE, RemotePlayer
from knightfall.board import Board
from knightfall.course.submission import Reference, checked, find_file, parse_reference, sources
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.host_process import LONGEST_TEXT, PrivateCopy, Reader, check_answer
from knightfall.isolation.limits import SUBMISSION_MEMORY, limit_memory
from knightfall.isolation.scratch_folder import scratch_of
from knightfall.position import Position, Side
from knightfall.search.budget import Budget, Report, parse_budget
from knightfall.untrusted_input import Real, Text, Whole

if TYPE_CHECKING:
    from knightfall.course.submission_player import Session

TIME = 150_000
"""Microseconds per move, the same in every generation.  (The oldest board's own default is 200 ms,
but nearly all repositories with that board play with 150 ms.)"""

_TEXT = re.compile(r"\s*course(?::\s*(.*\S)|\s*\((.*)\))?:?\s*", re.DOTALL)

# A path may contain commas and parentheses, so options are parsed from the end of the text.
_OPTION = re.compile(r",\s*(time|clock|seed|generation)\s*=\s*([^,=()]*?)\s*$")


@dataclass(frozen=True)
class CourseAgent(Agent):
    """An agent that plays a submission; `heuristic` holds the submission's `Reference` as text.

    By default time is counted in `ticks`: each call of `time_left()` costs a fixed number of
    microseconds, so that games repeat.  With a time budget the agent plays by the wall clock.
    """

    kind = "course"
    summary = "a submission of the course as it was handed in: game_agent.py, my_custom_player.py"
    example = "course(game_agent.py#AlphaBetaPlayer(custom_score_2), time=150ms)"
    argument = ""
    budgets = ("time",)
    default = Budget(time=TIME)
    reads_itself = True
    in_python = True

    ticks: int | None = None

    # -- the agent's string ----------------------------------------------------------------

    @classmethod
    def read(cls, text: str) -> Agent:
        """Parse ``course:PATH#Class(score)`` or ``course(PATH…, clock=ticks)`` into an agent.

        The default clock is ``ticks``; if only a time is given, it is the wall clock, as for every
        other agent.  The generation is stored with the path: reading the submission needs both.
        """
        path, options = _peeled(text)
        if not path:
            raise KnightfallError(
                f"agent {text!r} needs a file or folder first, as in {cls.example}"
            )
        clock = options.get("clock", "wall" if "time" in options else "ticks")
        if clock not in ("wall", "ticks"):
            raise KnightfallError(f"agent {text!r}: clock={clock} must be wall or ticks")
        budget = parse_budget({"time": options["time"]}) if "time" in options else cls.default
        counted = clock == "ticks"
        if "generation" in options:
            path += f", generation={options['generation']}"
        return cls(
            str(parse_reference(path)),
            Budget() if counted else budget,
            ticks=budget.time if counted else None,
            seed=read_seed(options["seed"]) if "seed" in options else 0,
        )

    @classmethod
    def split(cls, text: str) -> tuple[str, tuple[str, ...]]:
        """See `Agent`."""
        path, options = _peeled(text)
        return path, tuple(f"{key}={value}" for key, value in options.items())

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        if self.ticks is not None:
            yield from (str(Budget(time=self.ticks)), "clock=ticks")

    # -- properties ------------------------------------------------------------------------

    @property
    def reference(self) -> Reference:
        """Return the parsed reference: the submission's path, class, score and generation."""
        return parse_reference(self.heuristic)

    @property
    def time(self) -> int:
        """Return the microseconds per move, in ticks or by the wall clock."""
        return self.ticks or self.budget.time or self.default.time or 0

    @classmethod
    def clock(cls, options: tuple[str, ...]) -> TimeControl | None:
        """See `Agent`."""
        found = super().clock(options)
        return found._replace(clock="ticks") if found and "clock=ticks" in options else found

    @property
    def time_is_counted(self) -> bool:
        """See `Agent`."""
        return self.ticks is not None

    @property
    def files(self) -> tuple[str, ...]:
        """See `Agent`."""
        return (self.reference.path,)

    def sources(self) -> Iterable[str]:
        """See `Agent`."""
        return sources(self.files[0])

    has_users_code = True
    is_process_local = False
    users_functions = ()

    @property
    def remembers_game(self) -> bool:
        """See `Agent`."""
        return True

    @property
    def needs_core(self) -> bool:
        """See `Agent`."""
        return self.timed

    @property
    def beside(self) -> Path:
        """See `Agent`."""
        return find_file(self.files[0])

    def absolute(self) -> Self:
        """See `Agent`."""
        return replace(self, heuristic=str(self.reference.absolute()))

    def relocated(self, moved: Callable[[str, bool], str]) -> Self:
        """See `Agent`."""
        path = moved(self.reference.path, False)
        return replace(self, heuristic=str(replace(self.reference, path=path)))

    def private_copy(self) -> PrivateCopy:
        """See `Agent`; a submission always gets a copy of its folder, without those around it.

        The generation is named, because the course's board may lie in the folder above.
        """
        file, named = self.beside, self.reference
        with suppress(KnightfallError):  # the submission's own process reports what is wrong
            generation = checked(named).generation.name
            named = replace(named, generation=generation)
        folder = os.path.realpath(scratch_of(file))
        named = replace(named, path=os.path.join(folder, file.name))
        text = str(replace(self, heuristic=str(named)))
        return PrivateCopy(folder, text, {folder: str(file.parent)}, folder)

    # -- in a tournament -------------------------------------------------------------------

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`; `threshold` is ignored, because the submission decides when to stop."""
        if self.ticks is not None:
            return replace(self, ticks=limit)
        return replace(self, budget=Budget(time=limit))

    def of_generation(self, generation: str) -> Self:
        """See `Agent`; a generation named in the agent's own string takes precedence."""
        if self.reference.generation:
            return self
        named = parse_reference(f"{self.heuristic}, generation={generation}")
        return replace(self, heuristic=str(named))

    def check(self) -> None:
        """Raise `KnightfallError` for a missing file, invalid Python or a missing class."""
        found = checked(self.reference)
        if found.generation.on_11x9:
            raise KnightfallError(
                f"{found.file} is written for the 11×9 game of the course's successor; to play "
                "it, use knightfall course run"
            )

    def trial_load(self) -> Iterator[str]:
        """Load the submission; yield a message if several classes could play and one was chosen.

        Raise `KnightfallError` if loading fails.
        """
        try:
            self.host.prepare()
        except AgentFailure as failure:
            raise KnightfallError(f"the submission cannot be loaded: {failure}") from None
        finally:
            self.host.end_game()
        if not self.reference.name:
            found = checked(self.reference)
            yield from (f"{found.file}: {line}" for line in found.choice())

    def notes(self) -> Iterator[str]:
        """Yield the submission's generation and the evidence for it."""
        with suppress(KnightfallError):  # an unreadable submission loses its games
            found = checked(self.reference)
            yield f"generation {found.generation}: {found.why}"

    # -- playing ---------------------------------------------------------------------------

    def prepare(self, board: Board | None = None) -> Self:
        """Load the submission in its own process; in any other process only check its source."""
        if _in_own_process:
            self._session()
        else:
            checked(self.reference)
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        if not _in_own_process:
            report: Report = self.host.analyse(position)
            return report
        session, start = self._session(), default_timer()
        move = session.move(position, self.seed)
        seconds = default_timer() - start
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))

    # -- in the submission's own process ---------------------------------------------------

    def load(self) -> None:
        """See `Agent`; marks this process as the submission's own and limits its memory."""
        limit_memory(SUBMISSION_MEMORY)
        _in_own_process.append(True)
        self.prepare()

    def _session(self) -> Session:
        """Return the loaded submission of this agent."""
        from knightfall.course.submission_player import session

        return session(self.heuristic, self.time, self.time_is_counted)

    def warm_up(self, board: Board | None = None) -> None:
        """See `Agent`."""
        self.prepare(board)

    def new_game(self, seed: int, side: Side) -> Any:
        """See `Agent`; random numbers are seeded at the first move of the game."""
        return replace(self, seed=seed)

    def loaded_files(self) -> list[str]:
        """Return an empty list: `sources` finds the files without loading the submission."""
        return []

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """See `Agent`; also answers the requests for action, opinions, line and clocks."""
        asked, found = question["ask"], self._session()
        if asked == "action":
            board, ply, (first, second) = question["state"]
            return {"action": found.act((board, ply, (first, second)), question["seed"])}
        position = Position.from_fen(question["fen"])
        if asked == "opinions":
            return {"opinions": found.opinions(position)}
        if asked == "line":
            return {"line": found.answer_line(position, question["seed"])}
        if asked == "clocks":
            return {"clocks": found.asks_other_clocks(position)}
        return super().answer(question)


_in_own_process: list[bool] = []
"""Not empty in a submission's own process, in which its code may run."""


def course_agent(reference: Reference, time: int, counted: bool) -> CourseAgent:
    """Return the agent of a submission with `time` microseconds a move, as ticks if `counted`."""
    if counted:
        return CourseAgent(str(reference), ticks=time)
    return CourseAgent(str(reference), Budget(time=time))


SPARE = 2.5
"""Seconds that a request may take beyond a move's limit, which the player's process enforces."""


class RemoteSubmission(RemotePlayer):
    """A submission in a separate process, with the requests that only submissions support."""

    def act(self, state: tuple[int, int, Any]) -> int:
        """Return the player's action in a position of the successor course's 11×9 game.

        The player's process enforces the time limit.  The action may be illegal.
        """
        question = {"ask": "action", "state": state, "seed": self._seed}
        limit = (self._limit or PATIENCE) + SPARE
        return int(self.ask(question, limit, _reading("action", Whole(-1000, 1000))))

    def opinions(self, position: Position) -> dict[str, float | None]:
        """Return the submission's score after each legal move; None if it is not a number."""
        said = dict.fromkeys(position.legal_moves, (None, Real))
        read = _reading("opinions", said)
        found = self.ask({"ask": "opinions", "fen": position.fen}, COUNTED, read)
        return {move: None if value is None else float(value) for move, value in found.items()}

    def answer_line(self, position: Position, seed: int) -> str:
        """Return the line of the submission's code that returned its move; "" if unknown."""
        question = {"ask": "line", "fen": position.fen, "seed": seed}
        return str(self.ask(question, COUNTED, _reading("line", Text(LONGEST_TEXT))))

    def asks_other_clocks(self, position: Position) -> bool:
        """Return whether the player, timed in ticks, reads Python's clocks besides `time_left`."""
        question = {"ask": "clocks", "fen": position.fen}
        return self.ask(question, COUNTED, _reading("clocks", bool)) is True


def _reading(key: str, expected: Any) -> Reader[Any]:
    """Return a function that checks the type of an answer's field `key` and returns the field."""

    def read(answer: dict[str, Any]) -> Any:
        check_answer({key: expected}, answer)
        return answer[key]

    return read


def _peeled(text: str) -> tuple[str, dict[str, str]]:
    """Split an agent's string into the submission's reference and the options after it."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise KnightfallError(
            f"agent {text!r} cannot be read: submissions look like {CourseAgent.example} or "
            "course:game_agent.py"
        )
    inside, with_options = match[1] or match[2] or "", match[1] is None
    found: list[tuple[str, str]] = []
    while with_options and (option := _OPTION.search(inside)):
        found.append((option[1], option[2]))
        inside = inside[: option.start()]
    for key, _ in found:
        if [name for name, _ in found].count(key) > 1:
            raise KnightfallError(f"agent 'course({inside}, …)': {key} is given twice")
    return inside.strip(), dict(reversed(found))
