"""The kind of agent ``student(…)``: a search as students of the course wrote theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Self

from knightfall.agents.base import Clock, CompiledSearch
from knightfall.agents.kinds import SearchAgent
from knightfall.studies.student_options import CHOICES, WORDS, StudentOptions, read_student_options

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
