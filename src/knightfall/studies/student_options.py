"""How a student wrote an agent: the parts in which the course's agents differed, as a value.

Written in a string, a part is a word of its own or ``name=value``; what is left out is the first
of its choices::

    student(improved, time=25ms, legal, last, leaves=loop, ends=score, board=early)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self

from knightfall.agents.base import Clock, CompiledSearch
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
"""What each part may be; the first is what it is unless said otherwise."""

WORDS = MappingProxyType(
    {word: part for part in ("search", "lost", "ties") for word in CHOICES[part]}
)
"""The choices that need no name before them."""

NO_TIME_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class StudentOptions:
    """What a student's agent does when it searches.

    * `search`: alpha-beta, or minimax without pruning.
    * `lost`: what it does when every line it sees is lost, and when its time is up before it has a
      move: it forfeits, answers a legal move, or keeps that of the last depth that had one.
    * `ties`: which of equal moves it takes.
    * `leaves`: scored in a call of their own, or in the loop of their parent.
    * `ends`: who notices at a leaf that the game is over: the board, only the heuristic's own
      value, or a heuristic that takes it for over as soon as either player is stuck.
    * `board`: the later one (a flat list) or the early one, whose copies are dear.
    * `order`: of the moves, shuffled or fixed; the early board's is fixed unless said otherwise.
    * `time`: of a move in microseconds, added up by what each step costs in plain Python on that
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
            object.__setattr__(self, "order", _usual_order(self.board))

    @property
    def nanoseconds(self) -> int:
        """The time of a move."""
        return NO_TIME_LIMIT if self.time is None else 1000 * self.time

    def style(self, *, at_once: bool) -> int:
        """The flags of the compiled search (`student_search`)."""
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
        """The parts that are not as usual, as they are written."""
        if self.time is not None:
            yield str(Budget(time=self.time))
        usual = StudentOptions(board=self.board)
        for part in (one.name for one in fields(self) if one.name in CHOICES):
            choice = getattr(self, part)
            expected = CHOICES["board"][0] if part == "board" else getattr(usual, part)
            if choice != expected:
                yield choice if choice in WORDS else f"{part}={choice}"


def _usual_order(board: str) -> str:
    return "fixed" if board == "early" else "shuffled"


def read_student_options(given: Mapping[str, str]) -> StudentOptions:
    """Return the options of ``{"time": "25ms", "legal": "", "board": "early"}``."""
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
                f"{written!r} is no habit of a student's agent{nearest(choice or key, accepted)} "
                f"(there are {', '.join(accepted)})"
            )
        if part in found:
            raise KnightfallError(f"{part} is given twice: {found[part]} and {choice}")
        found[part] = choice
    return replace(StudentOptions(), **{"order": "", **found})


# -- the kind of agent -----------------------------------------------------------------------------

STUDENTS_TIME = 25_000
"""Microseconds that explain most of what students published of their 150 ms of 2017: their machines
were slower, and so was their Python."""


@dataclass(frozen=True)
class StudentAgent(SearchAgent):
    """An agent that searches as a student's does; its time is an option, for no clock measures it.

    A budget of depth makes it search to that depth at once.
    """

    kind = "student"
    summary = "as students of the course wrote theirs: resigns when every line it sees is lost"
    example = "student(improved, time=25ms)"
    budgets = ("depth", "time")
    words = tuple(WORDS)
    keys = ("time", *CHOICES)

    student_options: StudentOptions = field(default_factory=StudentOptions)

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        return self.student_options.words()

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent`."""
        found = read_student_options(given)
        if found.time is None and self.budget.depth is None:
            found = replace(found, time=STUDENTS_TIME)
        return replace(self, student_options=found)

    @classmethod
    def clock(cls, options: tuple[str, ...]) -> Clock | None:
        """See `Agent`: its time is counted in steps."""
        return None

    @property
    def search(self) -> CompiledSearch:
        """The search, and what each of its steps cost in plain Python."""
        from knightfall.search.run_search import Search
        from knightfall.studies.costs import student_costs
        from knightfall.studies.student_search import student

        costs = student_costs(self.student_options.board, self.heuristic)
        style = self.student_options.style(at_once=self.budget.depth is not None)
        options = (style, self.student_options.nanoseconds, *astuple(costs))
        return CompiledSearch(Search(student, options=options), self.budget)
