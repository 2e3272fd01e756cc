"""Points for checks and games, and the files that grading tools read: results.json and JUnit XML.

A file in TOML says how many points each check gives; without one, each gives one point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from knightfall.course.checker.check_report import BY_ID, Examination, Mark, Outcome, explained
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, nearest
from knightfall.untrusted_input import Between, OneOf, check, parse_toml, read_text

FORMATS = ("gradescope", "junit")
"""The names of the formats: Gradescope's results.json, and JUnit XML."""

GAMES = {
    "won": "games won against the course's opponents",
    "finished": "games without a timeout, an illegal answer or a crash",
    "kept": "won positions kept won",
}
"""The shares of a submission's games that a points file may reward."""

# -- points ------------------------------------------------------------------------------------

MOST = 1000

_POINTS = Between(0, MOST)
_SHARE = Between(0, 1)
_FILE = {
    "visibility?": OneOf(("visible", "hidden", "after_due_date", "after_published")),
    "warning?": _SHARE,
    "not_tried?": _SHARE,
    "other?": _POINTS,
    "checks?": {str: _POINTS},
    "games?": {str: _POINTS},
}


@dataclass(frozen=True)
class Points:
    """How many points each check and each share of the games gives."""

    checks: Mapping[str, float] = field(default_factory=dict)
    """Points by the check's id."""
    other: float = 1
    """Points of each check that is not in `checks`."""
    warning: float = 1
    """The share of a check's points that remains after a warning."""
    not_tried: float = 0
    """The share of a check's points that is given if it was not tried."""
    games: Mapping[str, float] = field(default_factory=dict)
    """Points by the names of `GAMES`; each is multiplied by the share."""
    visibility: str = "visible"
    """When students see the results in Gradescope: one of its four words."""

    def most(self, id: str) -> float:
        """Return the points of a check that is passed."""
        return self.checks.get(id, self.other)

    def share(self, mark: Mark) -> float:
        """Return the share of a check's points that an outcome with this mark gets."""
        return {"ok": 1, "warning": self.warning, "skipped": self.not_tried, "wrong": 0}[mark]


def read_points(path: str) -> Points:
    """Read a points file; raise `KnightfallError` for a bad value or an unknown name."""
    text = read_text(path)
    try:
        found = parse_toml(text)
        check(_FILE, found)
        for table, known in (("checks", BY_ID), ("games", GAMES)):
            for name in found.get(table, {}):
                if name not in known:
                    raise KnightfallError(
                        f"unknown name {name[:40]!r} in [{table}]; known: {', '.join(known)}"
                        f"{nearest(name, known)}"
                    )
    except KnightfallError as error:
        raise KnightfallError(f"points file {path!r}: {error}") from None
    return Points(**found)


def points_of(formats: Sequence[str], path: str | None) -> Points:
    """Return the points of a file, or the usual ones; raise `KnightfallError` for a bad format."""
    for format in formats:
        if format not in FORMATS:
            raise KnightfallError(
                f"unknown format {format!r}: choose {' or '.join(FORMATS)}"
                f"{nearest(format, FORMATS)}"
            )
    if path is not None and not formats:
        raise KnightfallError(f"--points {path}: choose a --format too, {' or '.join(FORMATS)}")
    return read_points(path) if path is not None else Points()


# -- grades ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GradedTest:
    """A check, or a share of the games, with its points; `output` explains it in lines."""

    name: str
    mark: Mark
    short: str
    score: float
    most: float
    output: str = ""


@dataclass(frozen=True)
class Grade:
    """All points of one submission."""

    name: str
    summary: str
    """What was checked, in one line."""
    tests: tuple[GradedTest, ...]
    visibility: str = "visible"
    seconds: float | None = None
    """The time that the checks took."""
    leaderboard: tuple[tuple[str, float], ...] = ()
    """Names and values by which submissions are ranked, the larger the better."""

    @property
    def score(self) -> float:
        """Return the sum of all points."""
        return round(sum(test.score for test in self.tests), 4)

    @property
    def most(self) -> float:
        """Return the sum of all points that could be reached."""
        return round(sum(test.most for test in self.tests), 4)


def graded_checks(found: Examination, points: Points) -> tuple[GradedTest, ...]:
    """Return the checks of an examination with their points."""
    return tuple(_graded(outcome, points) for outcome in found.outcomes)


def _graded(outcome: Outcome, points: Points) -> GradedTest:
    most = points.most(outcome.id)
    short = printable(" ".join(outcome.short.split()))
    score = round(most * points.share(outcome.mark), 4)
    lines = [short, *(line.rstrip() for line in explained(outcome))]
    name = BY_ID[outcome.id].name
    return GradedTest(name, outcome.mark, short, score, most, printable("\n".join(lines), "\n"))


def grade_of(found: Examination, points: Points, name: str) -> Grade:
    """Return the grade of one submission by its checks alone."""
    tests = graded_checks(found, points)
    return Grade(name, summary_of(found), tests, points.visibility, found.seconds)


def summary_of(found: Examination) -> str:
    """Return a line with the generation, the evidence for it, and the numbers of checks."""
    return printable(f"generation {found.generation}: {found.why}; {found.totals}")


# -- Gradescope --------------------------------------------------------------------------------


def gradescope(grade: Grade) -> str:
    """Return the content of Gradescope's results.json.

    Gradescope adds up the scores of the tests itself.  All texts are plain text.
    """
    found: dict[str, Any] = {
        "output": grade.summary,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": grade.visibility,
        "tests": [
            {
                "name": test.name,
                "score": test.score,
                "max_score": test.most,
                "status": "passed" if test.mark in ("ok", "warning") else "failed",
                "output": test.output,
            }
            for test in grade.tests
        ],
    }
    if grade.seconds is not None:
        found["execution_time"] = round(grade.seconds, 3)
    if grade.leaderboard:
        found["leaderboard"] = [
            {"name": name, "value": value, "order": "desc"} for name, value in grade.leaderboard
        ]
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


# -- JUnit -------------------------------------------------------------------------------------

_ELEMENTS: dict[Mark, str] = {"wrong": "failure", "skipped": "skipped", "warning": "system-out"}
"""The element of a test case for each mark; a passed check has none."""


def junit(grades: Sequence[Grade], name: str) -> str:
    """Return JUnit XML with a suite for each submission, as Jenkins and GitLab read it."""
    suites = [_suite(grade) for grade in grades]
    root = ElementTree.Element("testsuites", {"name": printable(name), **_totals(grades)})
    root.extend(suites)
    ElementTree.indent(root)
    written = ElementTree.tostring(root, "us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'


def _suite(grade: Grade) -> ElementTree.Element:
    name = printable(grade.name)
    skipped = sum(test.mark == "skipped" for test in grade.tests)
    suite = ElementTree.Element(
        "testsuite", {"name": name, **_totals([grade]), "skipped": str(skipped)}
    )
    properties = ElementTree.SubElement(suite, "properties")
    said = {"summary": grade.summary, "points": f"{grade.score:g}", "of": f"{grade.most:g}"}
    for key, value in {**said, **{name: f"{value:g}" for name, value in grade.leaderboard}}.items():
        ElementTree.SubElement(properties, "property", name=key, value=value)
    for test in grade.tests:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=test.name)
        if test.mark in _ELEMENTS:
            element = ElementTree.SubElement(case, _ELEMENTS[test.mark])
            element.text = test.output
            if test.mark != "warning":
                element.set("message", test.short)
            if test.mark == "wrong":
                element.set("type", "check")
    return suite


def _totals(grades: Iterable[Grade]) -> dict[str, str]:
    """Return the attributes that both a suite and the whole file have."""
    grades = list(grades)
    marks = [test.mark for grade in grades for test in grade.tests]
    found = {"tests": str(len(marks)), "failures": str(marks.count("wrong")), "errors": "0"}
    times = [grade.seconds for grade in grades if grade.seconds is not None]
    return {**found, "time": f"{sum(times):.3f}"} if times else found
