"""The kind of agent ``student(…)``: a search as students of the course wrote theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Self

from knightfall.agents.base import Clock, CompiledSearch
from knightfall.agents.kinds import SearchAgent
from knightfall.search.habits import CHOICES, WORDS, Habits, read_habits

STUDENTS_TIME = 25_000
"""Microseconds that explain most of what students published of their 150 ms of 2017: their machines
were slower, and so was their Python."""


@dataclass(frozen=True)
class StudentAgent(SearchAgent):
    """An agent with the habits of a student's; its time is one of them, for no clock measures it.

    A budget of depth makes it search to that depth at once.
    """

    kind = "student"
    summary = "as students of the course wrote theirs: resigns when every line it sees is lost"
    example = "student(improved, time=25ms)"
    budgets = ("depth", "time")
    words = tuple(WORDS)
    keys = ("time", *CHOICES)
    method = "student"

    habits: Habits = field(default_factory=Habits)

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        return self.habits.words()

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent`."""
        habits = read_habits(given)
        if habits.time is None and self.budget.depth is None:
            habits = replace(habits, time=STUDENTS_TIME)
        return replace(self, habits=habits)

    @classmethod
    def clock(cls, options: tuple[str, ...]) -> Clock | None:
        """See `Agent`: its time is counted in steps."""
        return None

    @property
    def search(self) -> CompiledSearch:
        """The search, and what each of its steps cost in plain Python."""
        from knightfall.studies.costs import student_costs

        costs = student_costs(self.habits.board, self.heuristic)
        style = self.habits.style(at_once=self.budget.depth is not None)
        settings = (style, self.habits.nanoseconds, *astuple(costs))
        return CompiledSearch(self.method, self.budget, settings)
