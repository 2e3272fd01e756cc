"""The class's table: everybody's results and rating, from all games together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from knightfall.arena.results.standings import pair_statistics
from knightfall.arena.store.run import Run
from knightfall.course.classroom.lessons import Lessons
from knightfall.course.classroom.roster import Student
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.ratings import Pairs, Ratings

ANCHOR = "AB_Improved"
"""Whose rating is 0, if it takes part: the course's own best player."""


@dataclass
class Row:
    """Somebody in the table: a student, or an opponent of the course's."""

    name: str
    student: Student | None = None
    elo: float = 0.0
    error: float = 0.0
    pairs: tuple[int, int, int] = (0, 0, 0)
    """Against the course's opponents (an opponent's: against everybody): LL, WL and WW."""
    among: tuple[int, int, int] = (0, 0, 0)
    """Against classmates."""
    against: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Games won and lost against each of the course's opponents."""
    lessons: Lessons | None = None

    @property
    def late(self) -> int:
        """Return how many games against the course's opponents were lost to the clock."""
        return 0 if self.lessons is None else self.lessons.times("timeout")

    @property
    def estimate(self) -> MatchEstimate:
        """The share of games won against the course's opponents, with its interval."""
        return pair_statistics(self.pairs)


@dataclass
class ClassTable:
    """The students, best first, the course's opponents, best first, and their ratings."""

    students: list[Row]
    opponents: list[Row]
    anchor: str
    """Whose rating is 0; "" if it is the mean."""
    ratings: Ratings
    number: dict[str, int]
    """Everybody's number in the ratings, by name."""

    def told_apart(self, better: Row, worse: Row) -> bool:
        """Whether a difference is more than its 95 % error."""
        gap, error = self.ratings.difference(self.number[better.name], self.number[worse.name])
        return bool(gap > error)


def class_table(
    own: Mapping[str, Run],
    among: Sequence[Run],
    students: Sequence[Student],
    lessons: Mapping[str, Lessons],
) -> ClassTable:
    """The table of finished runs."""
    by_name = {student.name: student for student in students}
    rows: dict[tuple[str, bool], Row] = {}  # a student may be called as an opponent is
    pairs = _Collected()
    for name, run in own.items():
        row = rows[name, True] = Row(name, by_name[name], lessons=lessons.get(name))
        against = [entrant.name for entrant in run.plan.entrants]
        for match, outcome, opening, repeated in _pairs(run):
            opponent = against[run.plan.matches[match].b]
            other = rows.setdefault((opponent, False), Row(opponent))
            won = outcome // 2 + outcome % 2
            before = row.against.get(opponent, (0, 0))
            row.against[opponent] = before[0] + won, before[1] + 2 - won
            if not repeated:
                row.pairs = _counted(row.pairs, won)
                other.pairs = _counted(other.pairs, 2 - won)
                pairs.add((name, True), (opponent, False), outcome, opening)
    for run in among:
        names = [entrant.name for entrant in run.plan.entrants]
        for match, outcome, opening, repeated in _pairs(run):
            a, b = (
                names[number] for number in (run.plan.matches[match].a, run.plan.matches[match].b)
            )
            won = outcome // 2 + outcome % 2
            if not repeated:
                rows[a, True].among = _counted(rows[a, True].among, won)
                rows[b, True].among = _counted(rows[b, True].among, 2 - won)
                pairs.add((a, True), (b, True), outcome, opening)
    return _rated(rows, pairs)


def _rated(rows: dict[tuple[str, bool], Row], pairs: _Collected) -> ClassTable:
    number = {key: place for place, key in enumerate(rows)}
    ratings = bradley_terry.of_pairs(len(rows), pairs.as_pairs(number))
    anchors = [key for key in rows if not key[1] and key[0].rpartition(":")[2] == ANCHOR]
    if anchors:
        ratings = ratings.anchored(number[anchors[0]])
    for key, row in rows.items():
        row.elo = float(ratings.elo[number[key]])
        row.error = ratings.error(number[key])
    best_first = sorted(rows.values(), key=lambda row: (-row.elo, row.name))
    return ClassTable(
        students=[row for row in best_first if row.student is not None],
        opponents=[row for row in best_first if row.student is None],
        anchor=anchors[0][0] if anchors else "",
        ratings=ratings,
        number={key[0]: place for key, place in number.items() if key[1]},
    )


def _counted(pairs: tuple[int, int, int], won: int) -> tuple[int, int, int]:
    lost, split, both = pairs
    return lost + (won == 0), split + (won == 1), both + (won == 2)


def _pairs(run: Run) -> list[tuple[int, int, str, bool]]:
    """Each pair's match, its outcome for the first of it, its opening, and whether it repeats."""
    plan = run.plan
    _, scores, firsts, repeats = run.outcomes()
    found = []
    for number, (score, first) in enumerate(zip(scores.tolist(), firsts.tolist(), strict=True)):
        round, place = divmod(number, len(plan.matches))
        opening = plan.order(plan.matches[place].series)[round // plan.repeats]
        found.append((place, 2 * first + (score - first), opening, bool(repeats[number])))
    return found


class _Collected:
    """Pairs between people, as ratings want them."""

    def __init__(self) -> None:
        self._rows: list[tuple[tuple[str, bool], tuple[str, bool], int, str]] = []

    def add(self, a: tuple[str, bool], b: tuple[str, bool], outcome: int, opening: str) -> None:
        self._rows.append((a, b, outcome, opening))

    def as_pairs(self, number: Mapping[tuple[str, bool], int]) -> Pairs:
        openings = {fen: place for place, fen in enumerate(dict.fromkeys(r[3] for r in self._rows))}
        table = np.array(
            [(number[a], number[b], outcome, openings[fen]) for a, b, outcome, fen in self._rows],
            np.int64,
        ).reshape(-1, 4)
        return Pairs(a=table[:, 0], b=table[:, 1], outcome=table[:, 2], opening=table[:, 3])
