"""Reports of class, trial and check: each figure stands under its heading in every format."""

from __future__ import annotations

import csv
import io
import random
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from arena_helpers import ENGINE, VERSIONS, play_on
from printed_table import html_rows, printed_rows

from knightfall.arena.plan import Entrant, Plan, tournament_matches
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.store import Store
from knightfall.course.checker.check_report import CHECKS, Examination, Outcome
from knightfall.course.classroom import class_page
from knightfall.course.classroom.class_games import Conditions
from knightfall.course.classroom.class_page import frequent_failures
from knightfall.course.classroom.class_report import ClassReport, Met, table_of
from knightfall.course.classroom.game_lessons import Blunder, Lessons, Misunderstanding, Opinion
from knightfall.course.classroom.near_identical import Likeness
from knightfall.course.classroom.roster import Student
from knightfall.course.generations import generation_named
from knightfall.course.submission import Submission
from knightfall.course.trial.game_judging import Judged, Resignations
from knightfall.course.trial.submission_tournament import TrialReport
from knightfall.display.numbers import interval, percent, plus_minus
from knightfall.oracle.grade import WinsKept
from knightfall.position import Position
from knightfall.statistics.rates import Share

OPPONENTS = ("Random", "MM_Open", "AB_Improved")
LOST = {"timeout": "timeouts", "resigned": "resigned", "illegal answer": "illegal answers",
        "crash": "crashes"}  # fmt: skip
"""The reasons for a loss other than having no move, and their headings."""

FEN = "4/1N2/2n1/4 w"


def submission(name: str, generation: str) -> Submission:
    return Submission(
        Path(f"/handed/{name}/game_agent.py"), generation_named(generation), f"{name} says so", (),
        ("custom_score",), frozenset({"custom_score"}),
    )  # fmt: skip


def examined(name: str, right: int) -> Examination:
    outcomes = tuple(
        Outcome(check.id, "ok" if at < right else "wrong", f"outcome {at}")
        for at, check in enumerate(CHECKS)
    )
    return Examination(name, "2017b", "why", outcomes)


def handed_in(name: str, generation: str, right: int) -> Student:
    page = name.lower()
    found = submission(name, generation)
    return Student(name, Path(f"/handed/{name}"), page, found, examination=examined(name, right))


STUDENTS = [handed_in("Ann", "2017b", 9), handed_in("Bob", "2017a", 11)]


def unusual(*times: int) -> dict[str, tuple[int, str]]:
    return {
        kind: (number, f"first {kind} in {number}")
        for kind, number in zip(LOST, times, strict=True)
    }


WHOLE = Blunder(
    Position.from_fen(FEN).play("c1").play("a3").fen, "Random", 3, "d3", 4, "a2", 6, 1,
    opening=FEN, moves="c1.a3.d3.b1", decisive=True,
)  # fmt: skip
"""A blunder in a game whose moves are known."""

LESSONS = {
    "Ann": Lessons(
        61, 83, 0.02, 0.51, unusual(1, 2, 3, 4), resigned=8, resigned_won=3, tries=20, saved=7,
        blunders=(Blunder(FEN, "MM_Open", 17, "d1", 5, "a2", 7, 3), WHOLE),
        opinion=Opinion(33.5, 71, 0.42, Misunderstanding(FEN, "d1", 2.5, 3, "a2", -1.25, 6, 1.7)),
    ),
    "Bob": Lessons(40, 97, 0.03, 0.47, unusual(5, 6, 0, 7), opinion=Opinion(20.0, 64, 0.44)),
}  # fmt: skip


def class_report(output: Path, *, successor: bool = False) -> ClassReport:
    """Return a class's report in which all figures differ."""
    rng = random.Random(4)
    met = []
    for student in STUDENTS:
        for opponent, won in zip(OPPONENTS, (0.8, 0.6, 0.3), strict=True):
            for number in range(23):
                wins = [rng.random() < won for _ in range(2)]
                outcome = 2 * wins[0] + wins[1]
                fen = f"opening {number}"
                met.append(Met((student.name, True), (opponent, False), outcome, fen))
    for number, outcome in enumerate((0, 1, 3, 3, 3, 2, 0)):
        met.append(Met(("Ann", True), ("Bob", True), outcome, f"opening {number}"))
    broken = Student("Cleo", Path("/handed/Cleo"), "cleo", problem="no file")
    return ClassReport(
        "Week 3", table_of(met, STUDENTS, LESSONS), [broken], [Likeness("Ann", "Bob", 0.83)],
        Conditions(OPPONENTS, pairs=23, classmates=1, time=120_000, counted=False,
                   successor=successor),
        (0.3, 1.7), 5, output,
    )  # fmt: skip


@pytest.fixture
def report(tmp_path: Path) -> ClassReport:
    return class_report(tmp_path)


# -- the class -------------------------------------------------------------------------------


def test_the_class_s_table_stands_under_its_headings(report: ClassReport) -> None:
    told = report.to_dict()
    titles = ("Student", "Elo", "Won", "95 %", "kept", "lost off board", "check")
    assert printed_rows(str(report), *titles) == [
        {
            "column 1": str(place),
            "Student": one["name"],
            "Elo": plus_minus(one["elo"], one["elo_error"]),
            "Won": percent(one["won"]),
            "95 %": interval(one["low"], one["high"]),
            "kept": percent(one["lessons"]["kept"] / one["lessons"]["choices"]),
            "lost off board": str(sum(times for times, _ in one["lessons"]["unusual"].values())),
            "check": one["check"]["passed"],
        }
        for place, one in enumerate(told["students"], start=1)
    ]


def test_what_json_says_of_a_class_is_what_was_counted(report: ClassReport) -> None:
    told = report.to_dict()
    assert [told[key] for key in ("class", "clock", "time_ms", "pairs", "load", "cores")] == [
        "Week 3", "wall", 120.0, 23, [0.3, 1.7], 5,
    ]  # fmt: skip
    assert told["elo_zero"] == "AB_Improved"
    rows = {row.name: row for row in [*report.table.students, *report.table.opponents]}
    assert sorted(one["name"] for one in told["students"]) == ["Ann", "Bob"]
    for one in told["students"]:
        row, found = rows[one["name"]], rows[one["name"]].estimate
        assert (one["elo"], one["elo_error"]) == (row.elo, row.error)
        assert (one["won"], one["low"], one["high"]) == (found.score, found.low, found.high)
        assert one["generation"] == {"Ann": "2017b", "Bob": "2017a"}[one["name"]]
        assert one["why"] == f"{one['name']} says so"
        assert one["page"] == f"students/{one['name'].lower()}.html"
        assert one["check"]["passed"] == {"Ann": "9 of 14", "Bob": "11 of 14"}[one["name"]]
        assert one["against"] == {name: list(games) for name, games in row.against.items()}
        assert sum(won for won, _ in one["against"].values()) == round(138 * one["won"])
    assert {one["name"]: one["among"] for one in told["students"]} == {
        "Ann": [2, 2, 3],
        "Bob": [3, 2, 2],
    }
    for one in told["opponents"]:
        assert (one["elo"], one["elo_error"]) == (rows[one["name"]].elo, rows[one["name"]].error)
    (alike,), (broken,) = told["alike"], told["not_played"]
    assert (alike["a"], alike["b"], alike["share"]) == ("Ann", "Bob", 0.83)
    assert (broken["name"], broken["problem"]) == ("Cleo", "no file")
    lines = str(report).split("\n")
    assert lines[0] == "Week 3: 2 submissions"
    assert lines[1].startswith("120 ms a move by the wall clock, one game to a core at a time; ")
    late = "Bob lost 5 of 138 games to the clock"
    (verdict,) = (line for line in lines if line.startswith("Elo above AB_Improved, ± 95 %. "))
    assert f"± 95 %. No verdict: {late}. Such results" in verdict
    assert "look at: Ann and Bob: 83 % of their own code is the same" in lines
    assert "not played: Cleo: no file" in lines
    assert "load 0.3 before and 1.7 after on 5 cores" in str(report)


COLUMNS = [
    "place", "student", "elo", "elo error", "won %", "won % low", "won % high", "games",
    "wins kept %", "heuristic right %", "timeouts", "resigned", "illegal answers", "crashes",
    "checks passed", "generation", "generation known by", "file",
]  # fmt: skip


def sheet(report: ClassReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report.csv(), newline="")))


def test_the_sheet_s_columns_are_what_they_are_called(report: ClassReport) -> None:
    rows = sheet(report)
    against = [row.name for row in report.table.opponents]
    assert list(rows[0]) == [*COLUMNS, *(f"won against {name}" for name in against), "problem"]
    for place, (one, row) in enumerate(zip(report.to_dict()["students"], rows, strict=False)):
        lessons = one["lessons"]
        opinion = lessons["opinion"]
        assert row == {
            "place": str(place + 1),
            "student": one["name"],
            "elo": str(round(one["elo"], 1)),
            "elo error": str(round(one["elo_error"], 1)),
            "won %": str(round(100 * one["won"], 2)),
            "won % low": str(round(100 * one["low"], 2)),
            "won % high": str(round(100 * one["high"], 2)),
            "games": "138",
            "wins kept %": str(round(100 * lessons["kept"] / lessons["choices"], 2)),
            "heuristic right %": str(round(100 * opinion["right"] / opinion["of"], 2)),
            **{LOST[kind]: str(times) for kind, (times, _) in lessons["unusual"].items()},
            "checks passed": one["check"]["passed"],
            "generation": one["generation"],
            "generation known by": one["why"],
            "file": f"/handed/{one['name']}/game_agent.py",
            **{f"won against {name}": str(won) for name, (won, _) in one["against"].items()},
            "problem": "",
        }
        assert len(set(row.values())) >= len(row) - 1, "some could be exchanged unnoticed"
    last = rows[-1]
    assert {key: value for key, value in last.items() if value} == {
        "student": "Cleo",
        "problem": "no file",
    }


def test_the_sheet_of_the_successor_leaves_out_what_is_not_solved(tmp_path: Path) -> None:
    whole = sheet(class_report(tmp_path))
    solved = ("wins kept %", "heuristic right %")
    for row, every in zip(sheet(class_report(tmp_path, successor=True)), whole, strict=True):
        assert row == {key: value for key, value in every.items() if key not in solved}


PAGE = ("Place", "Student", "Elo", "Won", "95 %", "Wins kept", "Heuristic right", *LOST.values(),
        "Check", "Generation")  # fmt: skip


def test_the_class_s_page_stands_under_its_headings(report: ClassReport) -> None:
    told = report.to_dict()
    page = report.page()
    assert html_rows(page, *PAGE) == [
        {
            "Place": str(place),
            "Student": one["name"],
            "Elo": plus_minus(one["elo"], one["elo_error"]),
            "Won": percent(one["won"]),
            "95 %": interval(one["low"], one["high"]),
            "Wins kept": percent(one["lessons"]["kept"] / one["lessons"]["choices"]),
            "Heuristic right": percent(
                one["lessons"]["opinion"]["right"] / one["lessons"]["opinion"]["of"]
            ),
            **{LOST[kind]: str(times) for kind, (times, _) in one["lessons"]["unusual"].items()},
            "Check": one["check"]["passed"],
            "Generation": one["generation"],
        }
        for place, one in enumerate(told["students"], start=1)
    ]
    for one in told["students"]:
        assert f'<a href="{one["page"]}">{one["name"]}</a>' in page
        assert f'<span title="{one["why"]}">{one["generation"]}</span>' in page
    rates = {row.name: row.estimate.score for row in report.table.opponents}
    assert html_rows(page, "Opponent", "Elo", "Won") == [
        {
            "Opponent": one["name"],
            "Elo": plus_minus(one["elo"], one["elo_error"]),
            "Won": percent(rates[one["name"]]),
        }
        for one in told["opponents"]
    ]
    assert "3 submissions, 2 of which played." in page
    assert "23 openings against each" in page
    assert html_rows(page, "Student", "What is wrong") == [
        {"Student": "Cleo", "What is wrong": "no file"}
    ]
    alike = html_rows(page, "Student", "Student", "What is the same")
    assert alike == [
        {
            "Student": "Ann",
            "Student 2": "Bob",
            "What is the same": "83 % of their own code is the same",
        }
    ]
    told_apart = "Elo above AB_Improved, ± 95 %. No verdict: Bob lost 5 of 138 games to the clock."
    assert told_apart in text_of(page)
    assert text_of(page).find("The same as a spreadsheet: class.csv.") > text_of(page).find(
        told_apart
    )


def test_the_successor_s_page_has_no_columns_of_the_solver(tmp_path: Path) -> None:
    titles = [title for title in PAGE if title not in ("Wins kept", "Heuristic right")]
    rows = html_rows(class_report(tmp_path, successor=True).page(), *titles)
    whole = html_rows(class_report(tmp_path).page(), *PAGE)
    for row, every in zip(rows, whole, strict=True):
        assert row == {key: value for key, value in every.items() if key in row}


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", page).split())


def test_a_student_s_page_tells_its_own_figures(report: ClassReport) -> None:
    report.write()
    (ann,) = (row for row in report.table.students if row.name == "Ann")
    page = (report.output / "students" / "ann.html").read_text("utf-8")
    assert html_rows(page, "Opponent", "Won", "Lost") == [
        {"Opponent": name, "Won": str(won), "Lost": str(lost)}
        for name, (won, lost) in ann.against.items()
    ]
    assert html_rows(page, "", "Games", "First example") == [
        {"column 1": kind, "Games": str(times), "First example": f"first {kind} in {times}"}
        for kind, times in zip(LOST, (1, 2, 3, 4), strict=True)
    ]
    place = report.table.students.index(ann) + 1
    text, found = text_of(page), ann.estimate
    for sentence in (
        f"Rating {plus_minus(ann.elo, ann.error)} Elo (AB_Improved is 0), {place}",
        f" of 2. Won {percent(found.score)} ({interval(found.low, found.high)} %) of 138 games",
        "Against a classmate: 8 won, 6 lost.",
        "Resigned 8 games: 5 lost and 3 won by the solver.",
        "Resigning cost about 2.8 games: AB_Improved, continuing from there against the same "
        f"opponent (4 tries each), wins {percent(7 / 20)}.",
        f"Winning moves were played in {percent(61 / 83)} (",
        "of the positions in which some moves won and some lost: 61 of 83.",
        "Random moves would have won in 51.0 %.",
        "Against MM_Open, ply 17: d1 loses in 6 plies, a2 wins in 8 plies, as do 2 more.",
        f"custom_score would have chosen a winning move in {percent(33.5 / 71)} of 71 positions",
        "random moves win in 42.0 %.",
        "custom_score values d1 +2.50 and a2 −1.25. The difference is 1.7 standard deviations",
        "But d1 loses in 4 plies, and a2 wins in 7 plies.",
        f"game_agent.py, generation 2017b: Ann says so. {report.clock} 23 openings against each "
        "opponent, each played from both seats and the same for all students. Moves were judged",
        "9 of 14 checks passed.",
    ):
        assert sentence in text, sentence


def test_the_only_script_of_the_page_is_the_one_that_its_policy_allows(report: ClassReport) -> None:
    page = report.page()
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert {part.strip() for part in policy.split(";")} == {
        "default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
        f"script-src 'sha256-{digest}'",
    }  # fmt: skip
    assert "http" not in re.sub(r'xmlns="[^"]*"|http-equiv', "", page)


def test_the_chart_counts_each_student_in_the_range_of_the_rating(report: ClassReport) -> None:
    (said,) = re.findall(r"<title>Students by rating: (.*?)</title>", report.page())
    bars = [re.fullmatch(r"(\d+) from (\S+) to (\S+)", bar) for bar in said.split("; ")]
    assert all(bars)
    counted = [[int(one.replace("−", "-")) for one in bar.groups()] for bar in bars if bar]
    elos = [row.elo for row in report.table.students]
    assert [sum(low <= elo < high for elo in elos) for _, low, high in counted] == [
        number for number, _, _ in counted
    ]
    assert sum(number for number, _, _ in counted) == len(elos)


def test_the_most_frequent_failures_are_counted_by_student(report: ClassReport) -> None:
    wrong = Counter(
        f"Check “{check.name}”"
        for right in (9, 11)  # of Ann and of Bob
        for check in CHECKS[right:]
    )
    lost = Counter(
        f"Games lost: {kind}"
        for lessons in LESSONS.values()
        for kind, (times, _) in lessons.unusual.items()
        if times
    )
    every = wrong + lost
    found = frequent_failures(report)
    assert len(found) == 5
    assert {one.name: len(one.students) for one in found}.items() <= every.items()
    assert sorted(every.values())[-5:] == [len(one.students) for one in found] == [2] * 5
    text = text_of(report.page())
    assert f"{found[0].name}: 2 of 3" in text
    most = {one.name: one for one in frequent_failures(report, 99)}
    assert {name: len(one.students) for name, one in most.items()} == dict(every)
    assert most["Games lost: crash"].causes == {"first crash in 4": 1, "first crash in 7": 1}


def test_three_causes_of_a_failure_are_told(
    report: ClassReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    causes = Counter({"late": 3, "silent": 2, "wrong": 1})
    (student, *_) = frequent_failures(report)[0].students
    failure = class_page.Failure("Slow", True, [student], causes)
    monkeypatch.setattr(class_page, "frequent_failures", lambda report: [failure])
    assert f"Slow, a warning: 1 of 3 late (3); silent (2); wrong. {student.name}" in text_of(
        report.page()
    )
    causes["fourth"] = 1
    assert f"late (3); silent (2); wrong …. {student.name}" in text_of(report.page())


def test_mistakes_link_to_their_game_on_the_playable_page(report: ClassReport) -> None:
    report.board_page = "https://example.org/?a=1&b=2"
    page = report.page()
    (one,) = re.findall(r"<details>.*?</details>", page, re.DOTALL)  # Bob made none
    assert "Ann: 22 won positions lost" in text_of(one)
    links = [unescape(link) for link in re.findall(r'href="([^"]+)#([^"]+)"', one)[0][:1]]
    assert links == ["https://example.org/?a=1&b=2"]
    looked_at, played = (
        parse_qs(unescape(link), keep_blank_values=True)
        for link in re.findall(r'href="[^"]+#([^"]+)"', one)
    )
    assert looked_at == {
        "fen": [FEN], "moves": ["c1.a3"], "lines": ["c1.a3.d3.b1_c1.a3.a2"],
        "note": ["c1.a3.d3:loses in 5 plies"],
    }  # fmt: skip
    assert played == {
        "fen": [WHOLE.fen], "moves": [""], "vs": ["perfect"], "you": ["w"], "challenge": ["1"],
    }  # fmt: skip
    report.board_page = "board.html"
    report.write()
    student = (report.output / "students" / "ann.html").read_text()
    assert student.count('href="../board.html#') == 2 * (2 + 1)  # and the misunderstanding
    report.board_page = ""
    assert "Play it yourself" not in report.page()


def test_pages_and_sheet_are_written_where_they_are_looked_for(report: ClassReport) -> None:
    report.write()
    assert (report.output / "index.html").read_text("utf-8") == report.page()
    written = (report.output / "class.csv").read_bytes().decode("utf-8")
    assert written == report.csv()
    for name in ("ann", "bob"):
        page = (report.output / "students" / f"{name}.html").read_text("utf-8")
        assert f"<h1>{name.capitalize()}</h1>" in page


# -- one submission's tournament ---------------------------------------------------------------


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[TrialReport]:
    names = ("Improved", "Student", "Random")
    entrants = tuple(Entrant(f"random(seed={at})", name) for at, name in enumerate(names))
    options = {"protocol": "2017b", "tests": 2}
    plan = Plan("tournament", entrants, tournament_matches(2, 1), 6, board="4x5", options=options)
    judged = [
        Judged(WinsKept(90, 50, 7, Share(31, 43), 0.01, 0.52), Resignations(9, 2, 36, 13),
               unusual(1, 2, 3, 4)),
        Judged(WinsKept(91, 51, 8, Share(22, 44), 0.02, 0.48), Resignations(7, 3, 28, 5),
               unusual(5, 6, 7, 8)),
    ]  # fmt: skip
    with Store.open(tmp_path / "s.sqlite") as store:
        run = store.begin(plan, ENGINE, VERSIONS)
        play_on(run, plan.total)
        yield TrialReport(
            submission("Ann", "2017b"), "AlphaBetaPlayer", TournamentReport(run), judged,
            counted=False, load=(0.3, 1.7), cores=5,
        )  # fmt: skip


def test_a_trial_s_tables_stand_under_their_headings(trial: TrialReport) -> None:
    judged = trial.to_dict()["judged"]
    shown = str(trial)
    assert printed_rows(shown, *LOST.values(), rows=2) == [
        {
            "column 1": one["name"],
            **{LOST[kind]: str(lost["games"]) for kind, lost in one["lost_by"].items()},
        }
        for one in judged
    ]
    assert "As the course counted: 6 timeouts, 18 forfeits." in shown
    for kind, number in (("timeout", 1), ("illegal answer", 3), ("crash", 4)):
        assert f"first {kind}: first {kind} in {number}" in shown
    assert printed_rows(shown, "wins kept", "of", "rate", "95 %", "at random") == [
        {
            "column 1": one["name"],
            "wins kept": str(one["keeps"]["kept"]["count"]),
            "of": str(one["keeps"]["kept"]["of"]),
            "rate": percent(one["keeps"]["kept"]["rate"]),
            "95 %": interval(one["keeps"]["kept"]["low"], one["keeps"]["kept"]["high"], unit=" %"),
            "at random": percent(one["keeps"]["at_random"]),
        }
        for one in judged
    ]
    titles = ("resigned", "was lost", "was won", "saved", "cost")
    assert printed_rows(shown, *titles, rows=2) == [
        {
            "column 1": one["name"],
            "resigned": str(one["resigned"]["games"]),
            "was lost": str(one["resigned"]["games"] - one["resigned"]["won_by_the_solver"]),
            "was won": str(one["resigned"]["won_by_the_solver"]),
            "saved": percent(one["resigned"]["saved"] / one["resigned"]["tries"]),
            "cost": f"{one['resigned']['cost']:.1f} games",
        }
        for one in judged
    ]


def test_what_json_says_of_a_trial_is_what_was_judged(trial: TrialReport) -> None:
    told = trial.to_dict()
    assert (told["classes"], told["scores"]) == ([], ["custom_score"])
    saved = "games that AB_Improved won, continuing from there against the same opponent, 4 tries"
    assert saved in str(trial)
    plain = ("file", "generation", "why", "player", "clock", "load", "cores")
    assert [told[key] for key in plain] == [
        "/handed/Ann/game_agent.py", "2017b", "Ann says so", "AlphaBetaPlayer", "wall",
        [0.3, 1.7], 5,
    ]  # fmt: skip
    for one, judged in zip(told["judged"], trial.judged, strict=True):
        gone = judged.resigned
        assert one["resigned"] == {
            "games": gone.games,
            "won_by_the_solver": gone.won,
            "tries": gone.tries,
            "saved": gone.saved,
            "cost": gone.games * gone.saved / gone.tries,
        }
        assert one["keeps"] == judged.keeping.to_dict()
        assert {kind: (lost["games"], lost["first"]) for kind, lost in one["lost_by"].items()} == (
            judged.unusual
        )
    assert [one["name"] for one in told["judged"]] == ["Improved", "Student"]
    assert str(trial).split("\n")[:3] == [
        "Ann/game_agent.py",
        "generation 2017b: Ann says so",
        "by the wall clock, one game to a core at a time; load 0.3 before and 1.7 after on 5 cores",
    ]


# -- one submission examined -------------------------------------------------------------------


def test_each_check_stands_beside_its_own_outcome() -> None:
    marks = ["ok", "wrong", "warning", "skipped", *(["ok"] * 10)]
    outcomes = tuple(
        Outcome(check.id, mark, f"outcome {at}", (f"reason {at}",), f"wanted {at}", f"given {at}")
        for at, (check, mark) in enumerate(zip(CHECKS, marks, strict=True))
    )
    found = Examination("game_agent.py", "2017b", "it says so", outcomes, "hello", 1234)
    signs = {"ok": "✓", "wrong": "✗", "warning": "!", "skipped": "–"}
    lines = str(found).split("\n")
    assert lines[:2] == ["game_agent.py", "generation 2017b: it says so"]
    for check, mark, line, one in zip(
        CHECKS, marks, lines[3:17], found.to_dict()["checks"], strict=True
    ):
        at = CHECKS.index(check)
        assert line.split("  ")[0] == f"{signs[mark]} {check.name}"
        assert line.endswith(f"  outcome {at}")
        assert (one["id"], one["short"]) == (check.id, f"outcome {at}")
        assert (one["expected"], one["got"]) == (f"wanted {at}", f"given {at}")
    for at in (1, 2):
        begin = lines.index(f"{signs[marks[at]]} {CHECKS[at].name}: outcome {at}")
        assert lines[begin + 1 : begin + 4] == [
            f"  reason {at}",
            f"  expected: wanted {at}",
            f"  got:      given {at}",
        ]
    assert lines[-1] == "11 of 14 checks passed, 1 failed, 1 not tried, 1 warning"
    told = found.to_dict()
    plain = ("path", "generation", "why", "ok", "printed", "printed_bytes")
    assert [told[key] for key in plain] == [
        "game_agent.py", "2017b", "it says so", False, "hello", 1234,
    ]  # fmt: skip
    assert "During the checks it printed 1,234 bytes, beginning with: hello" in str(found)
