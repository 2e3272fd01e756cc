"""The class's table: everybody's results and rating, from all games together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from knightfall.arena.standings import pair_statistics
from knightfall.arena.store import Run
from knightfall.course.classroom.lessons import Lessons
from knightfall.course.classroom.roster import Student
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.ratings import Pairs, Ratings

ANCHORS = ("AB_Improved", "Minimax")
"""Opponents whose rating is 0, if they take part: the best players of the course and successor."""

Key = tuple[str, bool]
"""A name, and whether it is a student's: a student may be called as an opponent is."""


@dataclass(frozen=True, slots=True)
class Met:
    """A pair of games: `outcome` is 2 if `a` won the one that it began, plus 1 if the other.

    One that is `repeated` move for move counts only in the table of games.
    """

    a: Key
    b: Key
    outcome: int
    opening: str
    repeated: bool = False

    @property
    def won(self) -> int:
        """Return how many of the two games `a` won."""
        return self.outcome // 2 + self.outcome % 2


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
    """Return the table of finished runs: everybody's own, and those among classmates."""
    met = [one for run in own.values() for one in _pairs(run, classmates=False)]
    met += [one for run in among for one in _pairs(run, classmates=True)]
    return table_of(met, students, lessons)


def table_of(
    met: Sequence[Met], students: Sequence[Student], lessons: Mapping[str, Lessons]
) -> ClassTable:
    """Return the table of pairs in which students met opponents and classmates."""
    by_name = {student.name: student for student in students}
    rows: dict[Key, Row] = {}
    for key in dict.fromkeys(key for one in met for key in (one.a, one.b)):
        name, student = key
        rows[key] = Row(name)
        if student:
            rows[key] = Row(name, by_name[name], lessons=lessons.get(name))
    for one in met:
        row, other = rows[one.a], rows[one.b]
        if one.b[1] and not one.repeated:
            row.among = _counted(row.among, one.won)
            other.among = _counted(other.among, 2 - one.won)
        elif not one.b[1]:
            won, lost = row.against.get(other.name, (0, 0))
            row.against[other.name] = won + one.won, lost + 2 - one.won
            if not one.repeated:
                row.pairs = _counted(row.pairs, one.won)
                other.pairs = _counted(other.pairs, 2 - one.won)
    return _rated(rows, [one for one in met if not one.repeated])


def _rated(rows: dict[Key, Row], met: Sequence[Met]) -> ClassTable:
    number = {key: place for place, key in enumerate(rows)}
    # Where nobody played there is one player of whom nothing is known.
    ratings = bradley_terry.of_pairs(max(1, len(rows)), _as_pairs(met, number))
    anchors = [key for key in rows if not key[1] and key[0].rpartition(":")[2] in ANCHORS]
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


def _pairs(run: Run, *, classmates: bool) -> list[Met]:
    """Return the pairs of a run of students against opponents, or against classmates."""
    plan = run.plan
    names = [entrant.name for entrant in plan.entrants]
    _, scores, firsts, repeats = run.outcomes()
    found = []
    for number, (score, first) in enumerate(zip(scores.tolist(), firsts.tolist(), strict=True)):
        round, place = divmod(number, len(plan.matches))
        match = plan.matches[place]
        opening = plan.order(match.series)[round // plan.repeats]
        a, b = (names[match.a], True), (names[match.b], classmates)
        found.append(Met(a, b, 2 * first + (score - first), opening, bool(repeats[number])))
    return found


def _as_pairs(met: Sequence[Met], number: Mapping[Key, int]) -> Pairs:
    """Return pairs as ratings want them."""
    openings = {fen: place for place, fen in enumerate(dict.fromkeys(one.opening for one in met))}
    table = np.array(
        [(number[one.a], number[one.b], one.outcome, openings[one.opening]) for one in met],
        np.int64,
    ).reshape(-1, 4)
    return Pairs(a=table[:, 0], b=table[:, 1], outcome=table[:, 2], opening=table[:, 3])
