"""Grades: points, and Gradescope's results.json and JUnit XML held against their specifications."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_runner import refused, run
from handed_in import RIGHT_2017B, changed, hand_in
from test_printed_class import class_report

from knightfall.course.checker.check_report import CHECKS, Examination, Outcome
from knightfall.course.checker.grades import Points, grade_of, gradescope, junit, read_points
from knightfall.course.classroom.class_report import write_grades
from knightfall.course.trial.game_judging import NeverMoved
from knightfall.errors import KnightfallError

EXAMPLE = Path(__file__).parents[2] / "examples" / "autograder"

HOSTILE = "\x1b[31m\x00 ]]> <b>&amp; \ud800 \ufffe \x85 ♞ " + "é" * 10
"""Text that no XML or JSON may have as it is."""

MARKS = ["ok", "wrong", "warning", "skipped", *(["ok"] * 9), "wrong"]


def examined() -> Examination:
    """Return an examination with all marks and hostile texts, without running anything."""
    outcomes = tuple(
        Outcome(check.id, mark, f"{HOSTILE} {at}", (HOSTILE,), HOSTILE, HOSTILE, HOSTILE, "fen")
        for at, (check, mark) in enumerate(zip(CHECKS, MARKS, strict=True))
    )
    return Examination("x", "2017b", HOSTILE, outcomes, seconds=1.25)


# -- points ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[checks]\nalfabeta-pruning = 3", "further; did you mean 'alphabeta-pruning'?"),
        ("[games]\ndraws = 3", "unknown name 'draws' in [games]"),
        ("[checks]\nload = '3'", "\"checks.load\" must be a number from 0 to 1000, not '3'"),
        ("[checks]\nload = true", "not True"),
        ("[checks]\nload = -1", "from 0 to 1000, not -1"),
        ("[checks]\nload = nan", "not nan"),
        ("[checks]\nload = 1e999", "not inf"),
        (f"[checks]\nload = {10**400}", "too long to show"),
        ("[checks]\nload = 2017-05-31", "must be a number"),
        ("warning = 2", '"warning" must be a number from 0 to 1, not 2'),
        ("visibility = 'seen'", "must be one of visible, hidden"),
        ("check = 1", "unknown name 'check'"),
        ("checks = 3", '"checks" must be an object'),
        ("other =", "this is not TOML"),
        ("other = 1\nother = 2", "this is not TOML"),
    ],
)
def test_bad_points_are_refused_in_one_line(written: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "points.toml"
    file.write_text(written)
    with pytest.raises(KnightfallError) as error:
        read_points(str(file))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert str(file) in str(error.value)


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    hand_in("x = 1\n", tmp_path)
    check = ["course", "check", str(tmp_path)]
    assert "choose gradescope or junit; did you mean 'junit'?" in refused(
        *check, "--format", "junk"
    )
    assert "choose a --format too" in refused(*check, "--points", "points.toml")
    assert "--json and --format junit: choose one" in refused(*check, "--format", "junit", "--json")
    missing = ["--format", "junit", "--points", str(tmp_path / "none.toml")]
    assert "none.toml': No such file" in refused(*check, *missing)
    for command in (check, ["course", "class", str(tmp_path)]):
        (tmp_path / "p.toml").write_text("[checks]\npruning = 1")
        bad = ["--format", "gradescope", "--points", str(tmp_path / "p.toml")]
        assert "unknown name 'pruning' in [checks]" in refused(*command, *bad)
    page = ["course", "class", str(tmp_path), "--page", "javascript:alert(1)"]
    assert "must begin with https:// or http://" in refused(*page)


def test_points_of_the_marks_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "points.toml"
    file.write_text("warning = 0.25\nnot_tried = 0.5\nother = 3\n[checks]\nscores = 8\nload = 0\n")
    grade = grade_of(examined(), read_points(str(file)), "ann")
    # load gives none, interface is wrong, scores has a warning, and the next was not tried
    assert [test.score for test in grade.tests[:4]] == [0, 0, 2, 1.5]
    assert grade.score == 2 + 1.5 + 9 * 3
    assert grade.most == 8 + 12 * 3
    assert (grade_of(examined(), Points(), "ann").score, len(CHECKS)) == (11, 14)


def test_the_example_names_checks_that_exist() -> None:
    points = read_points(str(EXAMPLE / "points.toml"))
    unlisted = {check.id for check in CHECKS} - points.checks.keys()
    most = sum(points.checks.values()) + sum(points.games.values()) + points.other * len(unlisted)
    assert most == 115


# -- Gradescope --------------------------------------------------------------------------------

VISIBLE = ("hidden", "after_due_date", "after_published", "visible")
TEXTS = ("text", "html", "simple_format", "md", "ansi")


def number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def text(value: Any) -> bool:
    return isinstance(value, str)


OF_A_TEST: dict[str, Callable[[Any], bool]] = {
    "score": number, "max_score": number, "status": ("passed", "failed").__contains__,
    "name": text, "name_format": TEXTS.__contains__, "number": text, "output": text,
    "output_format": TEXTS.__contains__, "tags": lambda value: all(map(text, value)),
    "visibility": VISIBLE.__contains__, "extra_data": lambda value: isinstance(value, dict),
}  # fmt: skip
"""The keys of a test that Gradescope's specification names, and what their values must be."""

OF_A_RANK: dict[str, Callable[[Any], bool]] = {
    "name": text, "value": lambda value: number(value) or text(value),
    "order": ("asc", "desc").__contains__,
}  # fmt: skip

OF_RESULTS: dict[str, Callable[[Any], bool]] = {
    "score": number, "execution_time": number, "output": text, "output_format": TEXTS.__contains__,
    "test_output_format": TEXTS.__contains__, "test_name_format": TEXTS.__contains__,
    "visibility": VISIBLE.__contains__, "stdout_visibility": VISIBLE.__contains__,
    "extra_data": lambda value: isinstance(value, dict),
    "tests": lambda value: all(keeps(OF_A_TEST, one) for one in value),
    "leaderboard": lambda value: all(keeps(OF_A_RANK, one) for one in value),
}  # fmt: skip


def keeps(keys: dict[str, Callable[[Any], bool]], value: Any) -> bool:
    return isinstance(value, dict) and all(key in keys and keys[key](value[key]) for key in value)


def checked_results(written: str) -> dict[str, Any]:
    """Return the value of a results.json; fail if Gradescope's specification does not allow it."""
    found = json.loads(written, parse_constant=pytest.fail)
    assert keeps(OF_RESULTS, found)
    # A score is required at the top or in each test, and a test without one has no points.
    assert "score" in found or (found["tests"] and all("score" in one for one in found["tests"]))
    return dict(found)


def test_results_are_what_gradescope_reads() -> None:
    grade = grade_of(examined(), Points(warning=0.5, visibility="after_due_date"), "ann")
    found = checked_results(gradescope(replace(grade, leaderboard=(("Elo", -12.5),))))
    assert [one["status"] for one in found["tests"]] == [
        "failed" if mark in ("wrong", "skipped") else "passed" for mark in MARKS
    ]
    assert [one["name"] for one in found["tests"]] == [check.name for check in CHECKS]
    assert sum(one["score"] for one in found["tests"]) == grade.score == 10.5
    assert sum(one["max_score"] for one in found["tests"]) == 14
    assert (found["visibility"], found["execution_time"]) == ("after_due_date", 1.25)
    assert found["leaderboard"] == [{"name": "Elo", "value": -12.5, "order": "desc"}]
    output = found["tests"][1]["output"]
    assert r"\x1b[31m\x00 ]]> <b>&amp; \ud800 \ufffe \x85 ♞" in output
    assert "  expected: " in output
    assert "\n" in output
    assert all(c.isprintable() or c == "\n" for c in output)


# -- JUnit -------------------------------------------------------------------------------------

SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}
"""What the JUnit schema of Jenkins' xUnit plug-in says of each element: attributes that it must and
may have, and the elements in it."""


def checked_junit(written: str) -> ElementTree.Element:
    """Return the root of a JUnit file; fail if the schema, or a sum in it, is not kept."""
    root = ElementTree.fromstring(written)
    assert root.tag in ("testsuites", "testsuite")
    for element in root.iter():
        must, may, children = SCHEMA[element.tag]
        assert must <= element.attrib.keys() <= must | may, element.tag
        assert {child.tag for child in element} <= children, element.tag
        assert re.fullmatch(r"[0-9]*\.?[0-9]*", element.get("time", ""))
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        counted = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": sum(case.find("error") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        assert {name: int(suite.get(name, "0")) for name in counted} == counted
    return root


def test_junit_xml_keeps_the_schema() -> None:
    grade = grade_of(examined(), Points(), HOSTILE)
    written = junit([grade, replace(grade, name="bob", seconds=None)], HOSTILE)
    assert written.isascii()
    root = checked_junit(written)
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "time")} == {
        "tests": "28", "failures": "4", "errors": "0", "time": "1.250",
    }  # fmt: skip
    first, second = root
    assert second.get("name") == "bob"
    assert {one.get("name"): one.get("value") for one in first.iter("property")} | {
        "summary": ""
    } == {"summary": "", "points": "11", "of": "14"}
    for case, check, mark in zip(first.iter("testcase"), CHECKS, MARKS, strict=True):
        assert case.get("name") == check.name
        kinds = {"ok": [], "wrong": ["failure"], "warning": ["system-out"], "skipped": ["skipped"]}
        assert [one.tag for one in case] == kinds[mark]
        for one in case:
            assert r"\x1b[31m\x00 ]]> <b>&amp; \ud800 \ufffe" in (one.text or "")


def test_the_schema_is_kept_by_pytest_and_notices_mistakes(tmp_path: Path) -> None:
    """Validate what pytest writes with the same schema, and refuse files with mistakes."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\n"
        "@pytest.mark.skip('why')\ndef test_c(): pass\n@pytest.fixture\ndef bad(): 1 / 0\n"
        "def test_d(bad): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
               "--rootdir=.", "-c", os.devnull, "--junitxml=out.xml", "test_it.py"]  # fmt: skip
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, check=False)
    root = checked_junit((tmp_path / "out.xml").read_text())
    assert {child.tag for case in root.iter("testcase") for child in case} == {
        "failure", "skipped", "error",
    }  # fmt: skip
    good = junit([grade_of(examined(), Points(), "ann")], "x")
    for old, new in (
        ('failures="2"', 'failures="3"'),
        ('errors="0"', ""),
        ("<failure", "<wrong"),
        ('<testcase classname="ann" name="interface"', '<testcase classname="ann"'),
        ("<properties>", "<properties><testcase name='x'/>"),
    ):
        with pytest.raises((AssertionError, KeyError, ElementTree.ParseError)):
            checked_junit(good.replace(old, new))


# -- commands ----------------------------------------------------------------------------------


def test_check_prints_either_format(tmp_path: Path) -> None:
    hand_in(changed(RIGHT_2017B, ("best <= alpha", "False")), tmp_path)
    (tmp_path / "points.toml").write_text("other = 0\n[checks]\nalphabeta-pruning = 5\nload = 2\n")
    shown = run("course", "check", str(tmp_path), "--format", "gradescope",
                "--points", str(tmp_path / "points.toml"))  # fmt: skip
    assert shown.exit_code == 1
    found = checked_results(shown.stdout)
    earned = {one["name"]: one["score"] for one in found["tests"] if one["max_score"]}
    assert earned == {"file loads": 2, "alphabeta: pruning": 0}
    assert "13 of 14 checks passed, 1 failed" in found["output"]
    shown = run("course", "check", str(tmp_path), "--format", "junit")
    assert shown.exit_code == 1
    (suite,) = checked_junit(shown.stdout)
    (failed,) = (case for case in suite.iter("testcase") if case.find("failure") is not None)
    assert (failed.get("name"), suite.get("name")) == ("alphabeta: pruning", tmp_path.name)


def test_a_class_writes_grades_with_games_and_ranks(tmp_path: Path) -> None:
    report = class_report(tmp_path)
    report.broken[0] = replace(
        report.broken[0], never_moved=NeverMoved(4, ("None",), "4/1N2/2n1/4 w", "")
    )
    points = Points(games={"won": 20, "finished": 10, "kept": 8}, other=2)
    assert write_grades(report, ["junit", "gradescope"], points) == ["gradescope/", "junit.xml"]
    told = {one["name"]: one for one in report.to_dict()["students"]}
    unfinished = {"Ann": 1 + 3 + 4, "Bob": 5 + 0 + 7}  # timeouts, illegal answers and crashes
    for name, one in told.items():
        written = (tmp_path / "gradescope" / f"{name.lower()}.json").read_text()
        found = checked_results(written)
        scores = {test["name"]: test["score"] for test in found["tests"]}
        kept = one["lessons"]["kept"] / one["lessons"]["choices"]
        assert scores["plays"] == 0
        assert scores["games: won"] == pytest.approx(20 * one["won"], abs=1e-4)
        assert scores["games: finished"] == pytest.approx(10 * (1 - unfinished[name] / 138), 1e-4)
        assert scores["games: kept"] == pytest.approx(8 * kept, abs=1e-4)
        passed = int(one["check"]["passed"].split()[0])
        games = sum(score for test, score in scores.items() if test.startswith("games"))
        assert sum(scores.values()) == pytest.approx(2 * passed + games)
        ranks = {rank["name"]: rank["value"] for rank in found["leaderboard"]}
        assert ranks["Elo"] == round(one["elo"], 1)
        assert ranks["Games won %"] == round(100 * one["won"], 2)
        assert ranks["Wins kept %"] == round(100 * kept, 2)
        assert next(iter(told.keys() - {name})) not in written  # no other student's name
    cleo = checked_results((tmp_path / "gradescope" / "cleo.json").read_text())
    assert [test["status"] for test in cleo["tests"]] == ["failed"] * 4
    assert cleo["tests"][0]["output"] == "no file"
    assert "leaderboard" not in cleo
    suites = checked_junit((tmp_path / "junit.xml").read_text())
    assert [suite.get("name") for suite in suites] == [*told, "Cleo"]


# -- the example -------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_example_autograder_grades(tmp_path: Path) -> None:
    """Run the script that Gradescope runs, in a folder of its own, and without a submission."""
    (tmp_path / "source").mkdir()
    (tmp_path / "submission").mkdir()
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    shutil.copy(EXAMPLE / "points.toml", tmp_path / "source")
    for program in ("python", "knightfall"):
        (tmp_path / "venv" / "bin" / program).symlink_to(Path(sys.executable).parent / program)
    grade = {**os.environ, "AUTOGRADER": str(tmp_path)}
    results = tmp_path / "results" / "results.json"
    for file in ("run_autograder", "setup.sh"):
        assert os.access(EXAMPLE / file, os.X_OK)
    subprocess.run([EXAMPLE / "run_autograder"], env=grade, check=False)
    assert checked_results(results.read_text()) == {
        "score": 0,
        "output": f"knightfall: {str(tmp_path / 'submission')!r} holds no submission: neither "
        "game_agent.py, my_custom_player.py, competition_agent.py nor another file with a class "
        "that has get_move or get_action\n",
    }
    hand_in("def custom_score(:\n", tmp_path / "submission")
    subprocess.run([EXAMPLE / "run_autograder"], env=grade, check=False)
    found = checked_results(results.read_text())
    assert found["tests"][0]["max_score"] == 2
    assert "syntax error in game_agent.py, line 1" in found["tests"][0]["output"]
