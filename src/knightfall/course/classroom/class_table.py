"""The class's table: results and ratings of all students and opponents, from all games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from knightfall.arena.report_statistics import pair_statistics
from knightfall.arena.results import too_late
from knightfall.arena.store import Run
from knightfall.course.classroom.game_lessons import Lessons
from knightfall.course.classroom.roster import Student
from knightfall.course.submission import Submission
from knightfall.display.numbers import count
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.ratings import Pairs, Ratings

ANCHORS = ("AB_Improved", "Minimax")
"""Opponents whose rating is set to 0: the best players of the course and of its successor."""

Key = tuple[str, bool]
"""A name, and whether it is a student's: a student may have the name of an opponent."""


@dataclass(frozen=True, slots=True)
class Met:
    """A pair of games; `outcome` is 2 for a win of `a` as first player plus 1 for one as second.

    A pair that `repeated` an earlier one move for move counts only in the table of games.
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
    """A row of the table: one of the course's opponents, or a student (`StudentRow`)."""

    name: str
    elo: float = 0.0
    error: float = 0.0
    pairs: tuple[int, int, int] = (0, 0, 0)
    """Pairs with 0, 1 and 2 wins between students and opponents."""

    @property
    def estimate(self) -> MatchEstimate:
        """Return the share of games won, with its interval."""
        return pair_statistics(self.pairs)


@dataclass(kw_only=True)
class StudentRow(Row):
    """A student's row; `pairs` and `estimate` are those against the course's opponents."""

    student: Student
    lessons: Lessons
    among: tuple[int, int, int] = (0, 0, 0)
    """Pairs with 0, 1 and 2 wins against classmates."""
    against: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Games won and lost against each of the course's opponents."""

    @property
    def submission(self) -> Submission:
        """Return the student's submission, which is never None here: only readable ones play."""
        assert self.student.submission is not None
        return self.student.submission

    @property
    def games(self) -> int:
        """Return the number of games against the course's opponents."""
        return 2 * sum(self.pairs)

    @property
    def late(self) -> str:
        """Return a sentence if the student lost too many games by exceeding the time, else ""."""
        late = self.lessons.times("timeout")
        if not too_late(late, self.games):
            return ""
        return f"{self.name} lost {late:,} of {count(self.games, 'game')} to the clock"


@dataclass
class ClassTable:
    """The rows of the students and of the course's opponents, best first, and their ratings."""

    students: list[StudentRow]
    opponents: list[Row]
    anchor: str
    """The opponent whose rating is 0; "" if the mean rating is 0."""
    ratings: Ratings
    number: dict[str, int]
    """Each student's number in the ratings, by name."""

    def told_apart(self, one: StudentRow, other: StudentRow) -> bool:
        """Return whether the difference of two students' ratings exceeds its 95 % error."""
        gap, error = self.ratings.difference(self.number[one.name], self.number[other.name])
        return bool(abs(gap) > error)


def table_of(
    met: Sequence[Met], students: Sequence[Student], lessons: Mapping[str, Lessons]
) -> ClassTable:
    """Return the table of all pairs of games, of students against opponents and classmates."""
    by_name = {student.name: student for student in students}
    rows: dict[Key, Row] = {}
    for key in dict.fromkeys(key for one in met for key in (one.a, one.b)):
        name, is_student = key
        rows[key] = Row(name)
        if is_student:
            rows[key] = StudentRow(name, student=by_name[name], lessons=lessons[name])
    for one in met:
        row, other = rows[one.a], rows[one.b]
        assert isinstance(row, StudentRow)
        if isinstance(other, StudentRow):
            if not one.repeated:
                row.among = _counted(row.among, one.won)
                other.among = _counted(other.among, 2 - one.won)
            continue
        won, lost = row.against.get(other.name, (0, 0))
        row.against[other.name] = won + one.won, lost + 2 - one.won
        if not one.repeated:
            row.pairs = _counted(row.pairs, one.won)
            other.pairs = _counted(other.pairs, 2 - one.won)
    return _rated(rows, [one for one in met if not one.repeated])


def _rated(rows: dict[Key, Row], met: Sequence[Met]) -> ClassTable:
    """Rate all rows from the pairs of games and sort them."""
    number = {key: place for place, key in enumerate(rows)}
    # The ratings need at least one player, even if no games were played.
    ratings = bradley_terry.of_pairs(max(1, len(rows)), _as_pairs(met, number))
    anchors = [key for key in rows if not key[1] and key[0].rpartition(":")[2] in ANCHORS]
    if anchors:
        ratings = ratings.anchored(number[anchors[0]])
    for key, row in rows.items():
        row.elo = float(ratings.elo[number[key]])
        row.error = ratings.error(number[key])
    best_first = sorted(rows.values(), key=lambda row: (-row.elo, row.name))
    return ClassTable(
        students=[row for row in best_first if isinstance(row, StudentRow)],
        opponents=[row for row in best_first if not isinstance(row, StudentRow)],
        anchor=anchors[0][0] if anchors else "",
        ratings=ratings,
        number={key[0]: place for key, place in number.items() if key[1]},
    )


def _counted(pairs: tuple[int, int, int], won: int) -> tuple[int, int, int]:
    lost, split, both = pairs
    return lost + (won == 0), split + (won == 1), both + (won == 2)


def pairs_met(own: Iterable[Run], among: Iterable[Run]) -> list[Met]:
    """Return all pairs of games: against the course's opponents, and among classmates."""
    met = [one for run in own for one in _pairs(run, classmates=False)]
    return met + [one for run in among for one in _pairs(run, classmates=True)]


def _pairs(run: Run, *, classmates: bool) -> list[Met]:
    """Return the pairs of a run, against opponents or against classmates."""
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
    """Return the pairs as arrays for `bradley_terry.of_pairs`."""
    openings = {fen: place for place, fen in enumerate(dict.fromkeys(one.opening for one in met))}
    table = np.array(
        [(number[one.a], number[one.b], one.outcome, openings[one.opening]) for one in met],
        np.int64,
    ).reshape(-1, 4)
    return Pairs(a=table[:, 0], b=table[:, 1], outcome=table[:, 2], opening=table[:, 3])
