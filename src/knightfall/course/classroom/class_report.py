"""The table of a class, and the report on it: text, pages, spreadsheet, JSON, files with grades."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.arena.report_statistics import pair_statistics
from knightfall.arena.results import no_verdict, too_late
from knightfall.arena.store import Run
from knightfall.course.checker.check_report import Mark
from knightfall.course.checker.grades import (
    GAMES,
    Grade,
    GradedTest,
    Points,
    graded_checks,
    gradescope,
    junit,
    summary_of,
)
from knightfall.course.classroom.class_games import Conditions
from knightfall.course.classroom.class_page import (
    COMPARISONS,
    LOST,
    MOST_COMPARISONS,
    PAGES,
    SHEET,
    UNSOLVED,
    class_page,
)
from knightfall.course.classroom.game_lessons import Lessons
from knightfall.course.classroom.game_lessons import to_dict as lessons_dict
from knightfall.course.classroom.near_identical import Likeness, comparison_page
from knightfall.course.classroom.roster import Student
from knightfall.course.classroom.student_page import student_page, unranked_page
from knightfall.course.submission import Submission
from knightfall.course.trial.game_judging import KINDS, OWN_CLOCK
from knightfall.display.numbers import count, for_json, interval, percent, plus_minus
from knightfall.display.printable import csv_cell, printable
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.ratings import Pairs, Ratings
from knightfall.user_files import original_paths
from knightfall.user_folders import atomic_write

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
    best_first = sorted(rows.values(), key=lambda row: (-round(row.elo, 6), row.name))
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


INDEX = "index.html"

MOST_NAMED = 12
"""Maximum number of nearly identical pairs that are named in the text."""


@dataclass(repr=False)
class ClassReport(Displayable):
    """The report on a class: its table, the submissions that did not play, and similar ones."""

    name: str
    table: ClassTable
    broken: list[Student]
    alike: list[Likeness]
    conditions: Conditions
    load: tuple[float | None, float | None]
    cores: int
    output: Path
    edited: list[str] = field(default_factory=list)
    """Sentences on the files that were edited while the class played."""
    board_page: str = ""
    """The address of the playable page, to which boards link; "" for no links."""
    grades: list[str] = field(default_factory=list)
    """The names of the files for grading tools that were written into the output folder."""

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        yield Heading(f"{self.name}: {count(len(self.table.students), 'submission')}")
        yield self.clock
        yield ""
        rows = Table(
            ["", "Student", "Elo", "Won", "95 %", "kept", "lost off board", "check"], labels=2
        )
        for place, row in enumerate(self.table.students, start=1):
            rows.add(
                str(place),
                row.name,
                plus_minus(row.elo, row.error),
                percent(row.estimate.score),
                interval(row.estimate.low, row.estimate.high),
                percent(row.lessons.keeping.rate),
                str(sum(map(row.lessons.times, KINDS))),
                row.student.tally,
            )
        yield rows.drop_empty_columns("kept")
        yield ""
        yield f"{self.zero} {self.neighbours}"
        if self.conditions.successor:
            yield UNSOLVED
        yield from self.own_clocks()
        for student in self.broken:
            status = "not ranked" if student.never_moved else "not played"
            yield f"{status}: {student.name}: {student.problem}"
            yield from (f"  check: {line}" for line in student.complaints)
            if student.never_moved and student.never_moved.line:
                yield f"  the answer comes from {student.never_moved.line}"
        for one in self.alike[:MOST_NAMED]:
            yield f"look at: {one.a} and {one.b}: {one.words}"
        if len(self.alike) > MOST_NAMED:
            yield f"look at: {len(self.alike) - MOST_NAMED:,} more, which the page lists"
        yield from self.edited
        yield ""
        yield f"pages: {self.output / INDEX}"
        yield from (f"grades: {self.output / name}" for name in self.grades)

    def own_clocks(self) -> Iterator[str]:
        """Yield a line for each submission that reads Python's clocks besides `time_left`."""
        names = [row.name for row in self.table.students if row.lessons.own_clock]
        yield from (f"{name} {OWN_CLOCK}." for name in names)

    @property
    def clock(self) -> str:
        """Return a sentence that describes the clock."""
        if self.conditions.counted:
            return f"{self.conditions.clock}, so the results repeat exactly."
        before, after = self.load
        busy = ""
        if before is not None and after is not None:
            busy = f"; load {before:.1f} before and {after:.1f} after on {self.cores} cores"
        return f"{self.conditions.clock}, one game to a core at a time{busy}."

    @property
    def zero(self) -> str:
        """Return a sentence that says what a rating of 0 means."""
        if self.table.anchor:
            return f"Elo above {self.table.anchor}, ± 95 %."
        return "Elo around the mean, ± 95 %."

    @property
    def neighbours(self) -> str:
        """Return a sentence: how many neighbours in the ranking differ, or why that is unknown."""
        late = [row.late for row in self.table.students if row.late]
        if late and not self.conditions.counted:
            return no_verdict(late, ticks=True)
        pairs = list(pairwise(self.table.students))
        apart = sum(self.table.told_apart(better, worse) for better, worse in pairs)
        return f"Neighbours in the ranking with a real difference: {apart} of {len(pairs)}."

    # -- JSON, spreadsheet, pages ----------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        return {
            "class": self.name,
            "clock": "ticks" if self.conditions.counted else "wall",
            "time_ms": self.conditions.time / 1000,
            "pairs": self.conditions.pairs,
            "load": list(self.load),
            "cores": self.cores,
            "elo_zero": self.table.anchor or "mean",
            "students": [_row_dict(row) for row in self.table.students],
            "opponents": [
                {"name": row.name, "elo": for_json(row.elo), "elo_error": for_json(row.error)}
                for row in self.table.opponents
            ],
            "not_played": [
                {
                    "name": one.name,
                    "problem": one.problem,
                    "page": f"{PAGES}/{one.page}.html",
                    "check": _check_dict(one),
                    "never_moved": one.never_moved and asdict(one.never_moved),
                }
                for one in self.broken
            ],
            "edited": self.edited,
            "alike": [
                {"a": one.a, "b": one.b, "share": one.share, "same": one.same} for one in self.alike
            ],
            "output": str(self.output),
            "grades": self.grades,
        }

    def csv(self) -> str:
        """Return the spreadsheet: a row for each submission, those that did not play last."""
        rows: list[dict[str, Any]] = []
        against = {row.name: f"won against {row.name}" for row in self.table.opponents}
        for place, row in enumerate(self.table.students, start=1):
            won = {title: row.against.get(name, (0, 0))[0] for name, title in against.items()}
            rows.append(dict(zip(_COLUMNS, [place, *_cells(row)], strict=True)) | won)
        rows += [{"student": one.name, "problem": one.problem} for one in self.broken]
        left_out = _SOLVED if self.conditions.successor else ()
        columns = [name for name in _COLUMNS if name not in left_out]
        page = StringIO()
        writer = csv.DictWriter(page, [*columns, *against.values(), "problem"], "", "ignore")
        writer.writeheader()
        for cells in rows:
            writer.writerow({name: csv_cell(cell) for name, cell in cells.items()})
        return page.getvalue()

    def write(self) -> None:
        """Write all pages and the spreadsheet into the output folder, replacing older ones."""
        page = self.board_page
        from_there = page if not page or "://" in page else f"../{page}"
        for row in self.table.students:
            written = student_page(self.table, row, self.conditions, self.clock, from_there)
            self._write(f"{PAGES}/{row.student.page}.html", written)
        for student in self.broken:
            written = unranked_page(student, self.clock, from_there)
            self._write(f"{PAGES}/{student.page}.html", written)
        compared = [one for one in self.alike if one.programs][:MOST_COMPARISONS]
        for number, one in enumerate(compared, start=1):
            self._write(f"{COMPARISONS}/{number}.html", comparison_page(one))
        for old in (self.output / COMPARISONS).glob("[0-9]*.html"):
            if old.stem.isdecimal() and int(old.stem) > len(compared):
                old.unlink()  # of an earlier report
        self._write(SHEET, self.csv())
        self._write(INDEX, self.page())

    def _write(self, name: str, content: str) -> None:
        atomic_write(self.output / name, content)

    def page(self) -> str:
        """Return the page with the class's table, for the teacher."""
        return class_page(self)


def _check_dict(student: Student) -> dict[str, Any] | None:
    if student.examination is None:
        return None
    return {"passed": student.examination.tally, "complaints": student.complaints}


_SOLVED = ("wins kept %", "heuristic right %")
"""Columns that need an exact solver."""

_COLUMNS = (
    "place", "student", "elo", "elo error", "won %", "won % low", "won % high", "games",
    "wins kept %", "heuristic right %", *LOST, "checks passed", "generation",
    "generation known by", "file",
)  # fmt: skip


def _cells(row: StudentRow) -> list[Any]:
    """Return a student's row of the spreadsheet, without the rank."""
    estimate, lessons, found = row.estimate, row.lessons, row.submission
    solved = (lessons.keeping.rate, lessons.opinion_rate)
    return [
        row.name,
        *(round(value, 1) for value in (row.elo, row.error)),
        *(round(100 * value, 2) for value in (estimate.score, estimate.low, estimate.high)),
        row.games,
        *("" if rate is None else round(100 * rate, 2) for rate in solved),
        *(lessons.times(kind) for kind in KINDS),
        row.student.tally,
        found.generation.name,
        found.why,
        original_paths(str(found.file)),
    ]


def _row_dict(row: StudentRow) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "name": row.name,
        "generation": row.submission.generation.name,
        "why": row.submission.why,
        "page": f"{PAGES}/{row.student.page}.html",
        "check": _check_dict(row.student),
        "elo": for_json(row.elo),
        "elo_error": for_json(row.error),
        "won": estimate.score,
        "low": estimate.low,
        "high": estimate.high,
        "pairs": list(row.pairs),
        "among": list(row.among),
        "against": {name: list(games) for name, games in row.against.items()},
        "lessons": lessons_dict(row.lessons),
    }


GRADESCOPE, JUNIT = "gradescope", "junit.xml"
"""The folder with a results.json for each student, and the file with the suites of all."""


def write_grades(report: ClassReport, formats: Sequence[str], points: Points) -> list[str]:
    """Write the grades in some formats into the output folder; return the names written."""
    every = list(grades(report, points))
    written = []
    if "gradescope" in formats:
        for page, grade in every:
            atomic_write(report.output / GRADESCOPE / f"{page}.json", gradescope(grade))
        written.append(f"{GRADESCOPE}/")
    if "junit" in formats:
        text = junit([grade for _, grade in every], report.name)
        atomic_write(report.output / JUNIT, text)
        written.append(JUNIT)
    return written


def grades(report: ClassReport, points: Points) -> Iterator[tuple[str, Grade]]:
    """Yield the name of each student's page, and the student's grade; unranked students last."""
    for row in report.table.students:
        yield row.student.page, _grade(row.student, row, points)
    for student in report.broken:
        yield student.page, _grade(student, None, points)


def _grade(student: Student, row: StudentRow | None, points: Points) -> Grade:
    """Return a grade; `row` is None if the student is not ranked."""
    found = student.examination
    tests = [_plays(student), *(graded_checks(found, points) if found else ())]
    for name, most in points.games.items():
        share = None if row is None else shares(row)[name]
        if row is None or share is not None:  # on 11×9 no solver counts won positions
            tests.append(_graded_share(name, share, most))
    summary, seconds = student.problem, None
    if found is not None:
        summary, seconds = summary_of(found), found.seconds
    ranks = () if row is None else tuple(_ranks(row))
    return Grade(student.name, printable(summary), tuple(tests), points.visibility, seconds, ranks)


def _ranks(row: StudentRow) -> Iterator[tuple[str, float]]:
    """Yield the names and values of a student's line on a leaderboard."""
    yield "Games won %", round(100 * row.estimate.score, 2)
    if row.lessons.keeping.rate is not None:
        yield "Wins kept %", round(100 * row.lessons.keeping.rate, 2)
    yield "Elo", round(row.elo, 1)


def _plays(student: Student) -> GradedTest:
    """Return a test without points: whether the submission plays."""
    said = printable(student.problem) or "it played its games"
    return GradedTest("plays", "wrong" if student.problem else "ok", said, 0, 0, said)


def shares(row: StudentRow) -> dict[str, float | None]:
    """Return the shares of a student's games that points can be given for, by name."""
    lost = sum(row.lessons.times(kind) for kind in ("timeout", "illegal answer", "crash"))
    played = sum(sum(games) for games in row.against.values())
    return {
        "won": row.estimate.score,
        "finished": 1 - lost / played,
        "kept": row.lessons.keeping.rate,
    }


def _graded_share(name: str, share: float | None, most: float) -> GradedTest:
    said = f"{percent(share)} of {GAMES[name]}" if share is not None else "it is not ranked"
    score = round(most * (share or 0), 4)
    mark: Mark = "wrong" if share is None else "ok"
    return GradedTest(f"games: {name}", mark, said, score, most, said)
