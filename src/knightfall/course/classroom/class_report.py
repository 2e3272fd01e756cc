"""The report on a class: as text, as pages, as a spreadsheet and as JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from knightfall.arena.results import no_verdict
from knightfall.course.classroom.class_games import Conditions
from knightfall.course.classroom.class_table import ClassTable, StudentRow
from knightfall.course.classroom.game_lessons import to_dict as lessons_dict
from knightfall.course.classroom.roster import Likeness, Student
from knightfall.course.classroom.student_page import STYLE, never_moved_page, student_page, table
from knightfall.course.trial.game_judging import KINDS, OWN_CLOCK
from knightfall.display.numbers import count, for_json, interval, percent, plus_minus
from knightfall.display.printable import csv_cell
from knightfall.display.report import Displayable, Heading, Part, document, text
from knightfall.display.table import Table
from knightfall.user_files import original_paths
from knightfall.user_folders import atomic_write

INDEX, SHEET, PAGES = "index.html", "class.csv", "students"

UNSOLVED = "Moves were not judged: the solver does not support boards of 99 cells."
"""The note on the report of a class of the successor."""


@dataclass
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
                _tally(row.student),
            )
        yield rows.drop_empty_columns("kept")
        yield ""
        yield f"{self.zero} {self._neighbours()}"
        if self.conditions.successor:
            yield UNSOLVED
        yield from self._own_clocks()
        for student in self.broken:
            status = "not ranked" if student.never_moved else "not played"
            yield f"{status}: {student.name}: {student.problem}"
            yield from (f"  check: {line}" for line in _complaints(student))
            if student.never_moved and student.never_moved.line:
                yield f"  the answer comes from {student.never_moved.line}"
        for one in self.alike:
            yield f"look at: {one.a} and {one.b}: {one.words}"
        yield from self.edited
        yield ""
        yield f"pages: {self.output / INDEX}"

    def _own_clocks(self) -> Iterator[str]:
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

    def _neighbours(self) -> str:
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
        }

    def csv(self) -> str:
        """Return the spreadsheet: a row for each submission, those that did not play last."""
        page = StringIO()
        writer = csv.writer(page)
        against = [row.name for row in self.table.opponents]
        kept = [at for at, name in enumerate(_COLUMNS)
                if not (self.conditions.successor and name in _SOLVED)]  # fmt: skip
        columns = [_COLUMNS[at] for at in kept]
        writer.writerow([*columns, *(f"won against {name}" for name in against), "problem"])
        for place, row in enumerate(self.table.students, start=1):
            every = [place, *_cells(row)]
            cells = [every[at] for at in kept]
            cells += [row.against.get(name, (0, 0))[0] for name in against]
            writer.writerow([csv_cell(cell) for cell in [*cells, ""]])
        for student in self.broken:
            empty = [""] * (len(columns) - 2 + len(against))
            writer.writerow(
                [csv_cell(cell) for cell in ["", student.name, *empty, student.problem]]
            )
        return page.getvalue()

    def write(self) -> None:
        """Write all pages and the spreadsheet into the output folder, replacing older ones."""
        (self.output / PAGES).mkdir(parents=True, exist_ok=True)
        for row in self.table.students:
            page = student_page(self.table, row, self.conditions, self.clock)
            atomic_write(self.output / PAGES / f"{row.student.page}.html", page)
        for student in self.broken:
            if student.never_moved is not None:
                page = never_moved_page(student, self.clock)
                atomic_write(self.output / PAGES / f"{student.page}.html", page)
        atomic_write(self.output / SHEET, self.csv())
        atomic_write(self.output / INDEX, self.page())

    def page(self) -> str:
        """Return the page with the class's table, for the teacher."""
        return document(text(self.name), "".join(self._body()), STYLE)

    def _body(self) -> Iterator[str]:
        yield f"<h1>{text(self.name)}</h1>\n"
        handed_in = len(self.table.students) + len(self.broken)
        yield (
            f"<p>{count(handed_in, 'submission')}, {len(self.table.students)} of which played. "
            f"{text(self.clock)} {count(self.conditions.pairs, 'opening')} against each of the "
            f"course’s opponents, from both seats. {text(self.zero)} {text(self._neighbours())} "
            f'The same as a spreadsheet: <a href="{SHEET}">{SHEET}</a>.</p>\n'
        )
        solved = [] if self.conditions.successor else ["Wins kept", "Heuristic right"]
        yield table(
            ["", "Student", "Elo", "Won", "95 %", *solved, *_LOST, "Check", "Generation"],
            (self._cells(place, row) for place, row in enumerate(self.table.students, start=1)),
            "class",
        )
        columns = UNSOLVED
        if solved:
            columns = (
                "Wins kept: how often a winning move was played where some moves win and some "
                "lose, by an exact solver. Heuristic right: how often the score alone would choose "
                "a winning move there."
            )
        yield (
            f'<p class="soft">Won: of the games against the course’s opponents. {columns} Check: '
            "the number of passed checks of <code>course check</code>; the student’s page lists "
            "the others. Point at a generation to see the evidence for it.</p>\n"
        )
        yield from (f"<p>{text(line)}</p>\n" for line in self._own_clocks())
        if self.alike:
            yield "<h2>Nearly identical</h2>\n"
            yield table(
                ["Student", "Student", "What is the same"],
                ((text(one.a), text(one.b), text(one.words)) for one in self.alike),
                "words",
            )
            yield (
                '<p class="soft">Compared without names, texts, comments and layout, and without '
                "code that half of the class has. This is a reason to look at them, not a proof of "
                "copying.</p>\n"
            )
        if self.broken:
            yield "<h2>Not ranked</h2>\n"
            rows = (
                (_linked(one), "<br>".join(map(text, (one.problem, *_complaints(one)))))
                for one in self.broken
            )
            yield table(["Student", "What is wrong"], rows, "words")
        yield "<h2>The course’s opponents</h2>\n"
        yield table(
            ["Opponent", "Elo", "Won"],
            (
                (text(row.name), plus_minus(row.elo, row.error), percent(row.estimate.score))
                for row in self.table.opponents
            ),
        )

    def _cells(self, place: int, row: StudentRow) -> Sequence[str]:
        solved = [percent(row.lessons.keeping.rate), percent(row.lessons.opinion_rate)]
        found = row.submission
        return [
            str(place),
            f'<a href="{PAGES}/{quote(row.student.page)}.html">{text(row.name)}</a>',
            plus_minus(row.elo, row.error),
            percent(row.estimate.score),
            interval(row.estimate.low, row.estimate.high),
            *([] if self.conditions.successor else solved),
            *(str(row.lessons.times(kind)) for kind in KINDS),
            _tally(row.student),
            f'<span title="{text(found.why)}">{text(found.generation.name)}</span>',
        ]


def _linked(student: Student) -> str:
    """Return an unranked student's name, as a link if there is a page about it."""
    name = text(student.name)
    return f'<a href="{PAGES}/{student.page}.html">{name}</a>' if student.never_moved else name


def _tally(student: Student) -> str:
    """Return the number of checks passed, such as "13 of 14"; "" if it was not checked."""
    return student.examination.tally if student.examination else ""


def _complaints(student: Student) -> list[str]:
    return student.examination.complaints if student.examination else []


def _check_dict(student: Student) -> dict[str, Any] | None:
    if student.examination is None:
        return None
    return {"passed": student.examination.tally, "complaints": _complaints(student)}


_LOST = ("timeouts", "resigned", "illegal answers", "crashes")
"""The headings of `KINDS`."""

_SOLVED = ("wins kept %", "heuristic right %")
"""Columns that need an exact solver."""

_COLUMNS = (
    "place", "student", "elo", "elo error", "won %", "won % low", "won % high", "games",
    "wins kept %", "heuristic right %", *_LOST, "checks passed", "generation",
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
        _tally(row.student),
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
