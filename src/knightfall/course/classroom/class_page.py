"""The page of a class, for the teacher: the table, charts, frequent failures and mistakes."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from knightfall.course.checker.check_report import BY_ID, Outcome
from knightfall.course.classroom.roster import Student
from knightfall.course.classroom.student_page import (
    STYLE,
    blunder_figure,
    example,
    opponent_marks,
    table,
)
from knightfall.course.trial.game_judging import KINDS
from knightfall.display.numbers import count, interval, percent, plus_minus, signed
from knightfall.display.report import document, text

if TYPE_CHECKING:
    from knightfall.course.classroom.class_report import ClassReport, ClassTable, StudentRow

UNSOLVED = "Moves were not judged: the solver does not support boards of 99 cells."
"""The note on the report of a class of the successor."""

LOST = ("timeouts", "resigned", "illegal answers", "crashes")
"""The headings of `KINDS`."""

PAGES, COMPARISONS, SHEET = "students", "alike", "class.csv"

FAILURES, BOARDS = 5, 2
"""Maximum numbers of failures, and of boards for each student, on the page."""

_STYLE = """
body { max-width: 78rem; } p, .boards, .example { max-width: 62rem; }
.class td:nth-child(2) { white-space: normal; min-width: 8rem; max-width: 15rem; }
.words a { white-space: nowrap; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid; }
th[aria-sort] button::after { content: " ▾"; }
th[aria-sort=ascending] button::after { content: " ▴"; }
th button:hover { text-decoration: underline; }
.class th:first-child, .class td:first-child { text-align: right; }
details { margin: 0.6em 0; } summary { cursor: pointer; } details .boards { margin-top: 0.6em; }
"""

# Sorts a table by a column.  Columns in which every entry begins with a number are sorted by it.
_SCRIPT = """
const signs = { "−": "-", "∞": "Infinity", ",": "" };
const read = (cell) => cell.textContent.trim().replace(/[−∞,]/g, (sign) => signs[sign]);
const blank = (value) => value === "" || value === "–";
for (const table of document.querySelectorAll("table.class")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const rows = [...table.tBodies[0].rows].map((row) => [read(row.cells[column]), row]);
      const numbers = rows.every(([value]) => blank(value) || !isNaN(parseFloat(value)));
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : numbers && column > 0;
      const compare = numbers
        ? (a, b) => Math.sign(parseFloat(a) - parseFloat(b)) || 0
        : (a, b) => a.localeCompare(b);
      rows.sort(([a], [b]) => blank(a) - blank(b) || (down ? compare(b, a) : compare(a, b)));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}
"""


def class_page(report: ClassReport) -> str:
    """Return the page of a class; it needs no other file and loads nothing."""
    page = document(text(report.name), "".join(_body(report)), STYLE + _STYLE)
    seen = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        f"script-src 'sha256-{seen}'"
    )
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{tag}', 1)
    return (
        page.removesuffix("</body>\n</html>\n") + f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _body(report: ClassReport) -> Iterator[str]:
    found, successor = report.table, report.conditions.successor
    yield f"<h1>{text(report.name)}</h1>\n"
    handed_in = len(found.students) + len(report.broken)
    yield (
        f"<p>{count(handed_in, 'submission')}, {len(found.students)} of which played. "
        f"{text(report.clock)} {count(report.conditions.pairs, 'opening')} against each of the "
        f"course’s opponents, from both seats. {text(report.zero)} {text(report.neighbours)} "
        f'The same as a spreadsheet: <a href="{SHEET}">{SHEET}</a>.</p>\n'
    )
    solved = [] if successor else ["Wins kept", "Heuristic right"]
    yield table(
        ["Place", "Student", "Elo", "Won", "95 %", *solved, *LOST, "Check", "Generation"],
        (_cells(place, row, successor) for place, row in enumerate(found.students, start=1)),
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
        f'<p class="soft">A click on a heading sorts by that column. Won: of the games against the '
        f"course’s opponents. {columns} Check: the number of passed checks of <code>course check"
        "</code>; the student’s page lists the others. Point at a generation to see the evidence "
        "for it.</p>\n"
    )
    yield from (f"<p>{text(line)}</p>\n" for line in report.own_clocks())
    if len(found.students) > 1:
        yield f"<h2>Ratings</h2>\n{distribution(found)}"
    yield from _failures(report)
    yield from _mistakes(report)
    yield from _alike(report)
    if report.broken:
        yield "<h2>Not ranked</h2>\n"
        rows = (
            (_linked(one), "<br>".join(map(text, (one.problem, *one.complaints))))
            for one in report.broken
        )
        yield table(["Student", "What is wrong"], rows, "words")
    yield "<h2>The course’s opponents</h2>\n"
    yield table(
        ["Opponent", "Elo", "Won"],
        (
            (text(row.name), plus_minus(row.elo, row.error), percent(row.estimate.score))
            for row in found.opponents
        ),
    )


def _cells(place: int, row: StudentRow, successor: bool) -> Sequence[str]:
    solved = [percent(row.lessons.keeping.rate), percent(row.lessons.opinion_rate)]
    found = row.submission
    return [
        str(place),
        _linked(row.student),
        plus_minus(row.elo, row.error),
        percent(row.estimate.score),
        interval(row.estimate.low, row.estimate.high),
        *([] if successor else solved),
        *(str(row.lessons.times(kind)) for kind in KINDS),
        row.student.tally,
        f'<span title="{text(found.why)}">{text(found.generation.name)}</span>',
    ]


def _linked(student: Student) -> str:
    """Return a student's name as a link to the student's page."""
    return f'<a href="{PAGES}/{quote(student.page)}.html">{text(student.name)}</a>'


# -- ratings -----------------------------------------------------------------------------------

_WIDTH, _EDGE, _TOP, _BASE, _HEIGHT = 520, 36, 24, 130, 246
_STEPS = (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)
_BARS = 10
"""Maximum number of bars."""


def distribution(found: ClassTable) -> str:
    """Return a chart of how many students have ratings in each range, with the opponents' marks."""
    elos = [row.elo for row in found.students]
    every = [row.elo for row in (*found.students, *found.opponents)]
    step = next(
        (
            one
            for one in _STEPS
            if math.floor(max(every) / one) - math.floor(min(every) / one) < _BARS
        ),
        math.ceil((max(every) - min(every)) / _BARS) + 1,
    )
    first, last = math.floor(min(every) / step), math.floor(max(every) / step)
    bars = Counter(math.floor(elo / step) for elo in elos)
    wide = (_WIDTH - 2 * _EDGE) / (last - first + 1)
    high = (_BASE - _TOP) / max(bars.values())

    def x(elo: float) -> float:
        return _EDGE + (elo / step - first) * wide

    said = "; ".join(
        f"{bars[at]} from {signed(at * step)} to {signed((at + 1) * step)}" for at in sorted(bars)
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12" fill="currentColor">',
        f"<title>Students by rating: {said}</title>",
    ]
    for at, number in sorted(bars.items()):
        top = _BASE - number * high
        parts.append(
            f'<rect x="{x(at * step) + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" '
            f'height="{number * high:.1f}" fill="#2f6fc4"/>'
            f'<text x="{x((at + 0.5) * step):.1f}" y="{top - 6:.1f}" text-anchor="middle">'
            f"{number}</text>"
        )
    for at in range(first, last + 2):
        parts.append(
            f'<path d="M{x(at * step):.1f} {_BASE}v5" stroke="currentColor"/>'
            f'<text x="{x(at * step):.1f}" y="{_BASE + 18}" text-anchor="middle">'
            f"{signed(at * step)}</text>"
        )
    line = _BASE + 36
    parts += [
        f'<path d="M{_EDGE} {_BASE}H{_WIDTH - _EDGE}M{_EDGE} {line}H{_WIDTH - _EDGE}" '
        'stroke="currentColor" stroke-opacity=".3"/>',
        *opponent_marks(found, x, line),
        "</svg>",
    ]
    return (
        f'<figure class="wide">{"".join(parts)}</figure>\n<p class="soft">Bars: the number of '
        "students whose rating in Elo is in that range. Marks: the course’s opponents.</p>\n"
    )


# -- failures ----------------------------------------------------------------------------------


@dataclass
class Failure:
    """A failed check, or a way to lose games, with the students that it concerns."""

    name: str
    warning: bool = False
    students: list[Student] = field(default_factory=list)
    causes: Counter[str] = field(default_factory=Counter)
    example: Outcome | None = None
    """The first outcome with a position, else the first one; None for lost games."""
    example_of: str = ""
    """The name of the student whose outcome the example is."""


def frequent_failures(report: ClassReport, most: int = FAILURES) -> list[Failure]:
    """Return the failures that concern the most students; a warning comes after a failure."""
    found: dict[str, Failure] = {}
    for student in (*(row.student for row in report.table.students), *report.broken):
        for outcome in student.examination.outcomes if student.examination else ():
            if outcome.mark not in ("wrong", "warning"):
                continue
            warning = outcome.mark == "warning"
            name = BY_ID[outcome.id].name
            one = found.setdefault(f"{name} {warning}", Failure(f"Check “{name}”", warning))
            one.students.append(student)
            one.causes[outcome.short] += 1
            if one.example is None or (outcome.fen and not one.example.fen):
                one.example, one.example_of = outcome, student.name
    for row in report.table.students:
        for kind in KINDS:
            times, detail = row.lessons.unusual.get(kind, (0, ""))
            if times:
                one = found.setdefault(kind, Failure(f"Games lost: {kind}"))
                one.students.append(row.student)
                one.causes[detail] += 1
    ordered = sorted(found.values(), key=lambda one: (-len(one.students), one.warning))
    return ordered[:most]


def _failures(report: ClassReport) -> Iterator[str]:
    failures = frequent_failures(report)
    if not failures:
        return
    everyone = len(report.table.students) + len(report.broken)
    yield "<h2>The most frequent failures</h2>\n"
    for one in failures:
        warning = ", a warning" if one.warning else ""
        yield f"<h3>{text(one.name)}{warning}: {len(one.students)} of {everyone}</h3>\n"
        causes = [
            f"{text(cause)} ({times})" if times > 1 else text(cause)
            for cause, times in one.causes.most_common(3)
        ]
        more = " …" if len(one.causes) > 3 else ""
        names = ", ".join(_linked(each) for each in one.students)
        yield f'<p>{"; ".join(causes)}{more}. <span class="soft">{names}</span></p>\n'
        if one.example is not None:
            yield f'<p class="soft">For instance {text(one.example_of)}:</p>\n'
            yield example(one.example, report.board_page)


# -- mistakes and likeness ---------------------------------------------------------------------


def _mistakes(report: ClassReport) -> Iterator[str]:
    decided = {
        row.name: [one for one in row.lessons.blunders if one.decisive]
        for row in report.table.students
    }
    rows = [row for row in report.table.students if decided[row.name]]
    if not rows:
        return
    yield (
        "<h2>Decisive mistakes</h2>\n<p>For each student the mistakes that decided a lost game, "
        "the latest in their games first. The hollow arrow was played, the solid one wins.</p>\n"
    )
    for row in rows:
        shown = decided[row.name][:BOARDS]
        figures = "".join(blunder_figure(one, report.board_page) for one in shown)
        missed = row.lessons.keeping.of - row.lessons.keeping.count
        yield (
            f"<details><summary>{text(row.name)}: {count(missed, 'won position')} lost</summary>\n"
            f'<div class="boards">\n{figures}</div>\n<p>More on the page of '
            f"{_linked(row.student)}.</p></details>\n"
        )


def _alike(report: ClassReport) -> Iterator[str]:
    if not report.alike:
        return
    yield "<h2>Nearly identical</h2>\n"
    rows = []
    for number, one in enumerate(report.alike, start=1):
        link = f' <a href="{COMPARISONS}/{number}.html">side by side</a>' if one.programs else ""
        if number > MOST_COMPARISONS:
            link = ""
        rows.append((text(one.a), text(one.b), f"{text(one.words)}{link}"))
    yield table(["Student", "Student", "What is the same"], rows, "words")
    yield (
        '<p class="soft">Compared without names, texts, comments and layout, and without '
        "code that half of the class has. This is a reason to look at them, not a proof of "
        "copying.</p>\n"
    )


MOST_COMPARISONS = 100
"""Maximum number of pairs that are shown side by side."""
