"""The options of a student's agent: the ways in which the course's agents differed.

In a string, an option is a single word or ``name=value``; the default is the first choice::

    student(improved, time=25ms, legal, last, leaves=loop, ends=score, board=early)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self

from knightfall.agents.base import CompiledSearch, TimeControl
from knightfall.agents.kinds import SearchAgent
from knightfall.errors import KnightfallError, nearest
from knightfall.search.budget import Budget, parse_budget

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "search": ("alphabeta", "minimax"),
        "lost": ("forfeits", "legal", "keeps"),
        "ties": ("first", "last"),
        "leaves": ("call", "loop"),
        "ends": ("board", "score", "either"),
        "board": ("later", "early"),
        "order": ("shuffled", "fixed"),
    }
)
"""The choices of each option; the first is the default."""

WORDS = MappingProxyType(
    {word: part for part in ("search", "lost", "ties") for word in CHOICES[part]}
)
"""The choices that may be written without the option's name."""

NO_TIME_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class StudentOptions:
    """The options of a student agent: how it searches, mistakes included.

    * `search`: alpha-beta, or minimax without pruning.
    * `lost`: what the agent does when every line is lost, or its time is up before it has a
      move: it forfeits, plays some legal move, or keeps the move of the last depth that had one.
    * `ties`: which of equal moves it takes.
    * `leaves`: scored in a call of their own, or in the loop of their parent.
    * `ends`: how a leaf detects the end of the game: by the board, only by the heuristic's own
      value, or by a heuristic that regards the game as over if either player is stuck.
    * `board`: the later one (a flat list), or the early one, which is slow to copy.
    * `order`: of the moves, shuffled or fixed; by default fixed on the early board.
    * `time`: per move in microseconds, counted by the cost of each step in plain Python on that
      board; without it only the depth ends a search.
    """

    search: str = "alphabeta"
    lost: str = "forfeits"
    ties: str = "first"
    leaves: str = "call"
    ends: str = "board"
    board: str = "later"
    order: str = ""
    time: int | None = None

    def __post_init__(self) -> None:
        if not self.order:
            usual = "fixed" if self.board == "early" else "shuffled"
            object.__setattr__(self, "order", usual)

    @property
    def nanoseconds(self) -> int:
        """Return the time per move in nanoseconds."""
        return NO_TIME_LIMIT if self.time is None else 1000 * self.time

    def style(self, *, at_once: bool) -> int:
        """Return the options as bits for the compiled search (`student_search.STYLE`)."""
        from knightfall.studies import student_search

        chosen = (
            (self.search == "minimax", student_search.MINIMAX),
            (at_once, student_search.AT_ONCE),
            (self.ties == "last", student_search.LAST),
            (self.leaves == "loop", student_search.IN_LOOP),
            (self.ends == "score", student_search.SCORE_ENDS),
            (self.ends == "either", student_search.EITHER_ENDS),
            (self.order == "shuffled", student_search.SHUFFLED),
            (self.lost == "legal", student_search.LEGAL),
            (self.lost == "keeps", student_search.KEEPS),
        )
        return sum(flag for holds, flag in chosen if holds)

    def words(self) -> Iterator[str]:
        """Yield the options that differ from the defaults, as an agent string writes them."""
        if self.time is not None:
            yield str(Budget(time=self.time))
        usual = StudentOptions(board=self.board)
        for part in (one.name for one in fields(self) if one.name in CHOICES):
            choice = getattr(self, part)
            expected = CHOICES["board"][0] if part == "board" else getattr(usual, part)
            if choice != expected:
                yield choice if choice in WORDS else f"{part}={choice}"


def read_student_options(given: Mapping[str, str]) -> StudentOptions:
    """Parse options such as ``{"time": "25ms", "legal": "", "board": "early"}``."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key == "time":
            found["time"] = parse_budget({"time": value}).time
            continue
        part, choice = (WORDS[key], key) if key in WORDS and not value else (key, value)
        if part not in CHOICES or choice not in CHOICES[part]:
            accepted = CHOICES.get(part) or [*WORDS, *(f"{name}=" for name in CHOICES)]
            written = f"{key}={value}" if value else key
            raise KnightfallError(
                f"unknown student option {written!r}{nearest(choice or key, accepted)} "
                f"(known: {', '.join(accepted)})"
            )
        if part in found:
            raise KnightfallError(
                f"student option {part!r} is given twice: {found[part]} and {choice}"
            )
        found[part] = choice
    return replace(StudentOptions(), **{"order": "", **found})


# -- the kind of agent -----------------------------------------------------------------------------

STUDENTS_TIME = 25_000
"""Microseconds per move that reproduce most published results. The students had 150 ms in 2017,
with slower machines and a slower Python.
"""


@dataclass(frozen=True)
class StudentAgent(SearchAgent):
    """An agent that searches like a student's; its time is counted in steps, not by a clock.

    With a depth in its budget it searches to that depth directly.
    """

    kind = "student"
    summary = "as students of the course wrote theirs: resigns when every line it sees is lost"
    example = "student(improved, time=25ms)"
    budgets = ("depth", "time")
    words = tuple(WORDS)
    keys = ("time", *CHOICES)

    student_options: StudentOptions = field(default_factory=StudentOptions)

    def options(self) -> Iterator[str]:
        """See `Agent.options`."""
        return self.student_options.words()

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent.with_options`."""
        found = read_student_options(given)
        if found.time is None and self.budget.depth is None:
            found = replace(found, time=STUDENTS_TIME)
        return replace(self, student_options=found)

    @classmethod
    def clock(cls, options: tuple[str, ...]) -> TimeControl | None:
        """Return None: the agent needs no clock, because its time is counted in steps."""
        return None

    @property
    def search(self) -> CompiledSearch:
        """Return the compiled search with the costs of its steps in plain Python."""
        from knightfall.search.run_search import Search
        from knightfall.studies.node_costs import student_costs
        from knightfall.studies.student_search import student

        costs = student_costs(self.student_options.board, self.heuristic)
        style = self.student_options.style(at_once=self.budget.depth is not None)
        options = (style, self.student_options.nanoseconds, *astuple(costs))
        return CompiledSearch(Search(student, options=options), self.budget)
