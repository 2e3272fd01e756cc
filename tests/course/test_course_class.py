"""``knightfall course class``: a whole class plays, and each student gets a page."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import pytest
from cli_runner import answer, refused, run
from handed_in import RIGHT_2017B, changed
from hypothesis import given
from hypothesis import strategies as st
from submissions import FIRST, OLDEST_BOARD, SEARCH, in_2017a, in_2017b, write

import knightfall as kf
from knightfall.arena.plan import PairRecord, enter
from knightfall.arena.store import Run, Store
from knightfall.course.classroom import class_games, classroom
from knightfall.course.classroom.class_games import circle, in_protocol
from knightfall.course.classroom.class_report import ClassReport
from knightfall.course.classroom.classroom import hold_class
from knightfall.course.classroom.game_lessons import from_json, opinion, to_dict
from knightfall.course.classroom.near_identical import comparison_page, near_identical
from knightfall.course.classroom.roster import file_name, read_class
from knightfall.course.trial import successor_games
from knightfall.course.trial.game_judging import Choice
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.solver.solve import Solver

OPEN = "len(game.get_legal_moves(player))"
RENAMED = re.sub(r"\b(value|best|choice|own|moves)\b", r"\1_of_mine", SEARCH).replace(
    '"""A deepening alpha-beta as students wrote it."""', "# all my own work\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "class"


def held(folder: Path, **more: object) -> ClassReport:
    """Rate a class with the fewest possible games."""
    options = {
        "pairs": 1, "classmates": 2, "time": "12ms", "opponents": ["Random", "MM_Open"],
        "workers": 0, "progress": False, **more,
    }  # fmt: skip
    return hold_class(str(folder), **options)  # type: ignore[arg-type]


def played(folder: Path) -> Counter[str]:
    """Return the number of pairs that each agent has in the store, in all runs."""
    found: Counter[str] = Counter()
    with Store.open(f"{folder}-report/games.sqlite", read_only=True) as store:
        for one in store.runs():
            for name in one.names:
                found[name] += one.played
    return found


# -- how much is left ------------------------------------------------------------------------


def test_the_time_left_is_that_of_the_games_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the estimate against a sum over the games that are left, for 3 workers."""
    now, starting = [100.0], class_games.STARTING
    monkeypatch.setattr(class_games.time, "monotonic", lambda: now[0])
    ann, bob, cleo = (
        f"course({write(folder / name, SEARCH)}, 12ms)" for name in ("ann", "bob", "cleo")
    )
    match = SimpleNamespace(
        total=10,
        plan=SimpleNamespace(kind="match", entrants=enter([ann, cleo, "random"])),
        games=lambda: [  # seconds of ann: 3 and 5, of cleo: 2
            SimpleNamespace(first=0, second=2, microseconds_w=3e6, microseconds_b=1),
            SimpleNamespace(first=2, second=0, microseconds_w=1, microseconds_b=5e6),
            SimpleNamespace(first=2, second=1, microseconds_w=1, microseconds_b=2e6),
        ],
    )
    league = SimpleNamespace(
        total=7, plan=SimpleNamespace(kind="league", entrants=enter([ann, bob])), games=lambda: []
    )
    done = [4, 1]
    estimate = class_games._Ahead([match, league], done, 3)  # type: ignore[list-item]
    # A game of the match takes 3 s on average, and a start; in the league two submissions play:
    # ann, and bob, who has not played yet and counts as an average one.
    match_game, league_game = 3 + starting, 4 + 3 + 2 * starting
    assert estimate.seconds() == pytest.approx((2 * 6 * match_game + 2 * 6 * league_game) / 3)
    done[:] = [10, 3]  # games of about 23 s, which took only half of that
    now[0] += (2 * 6 * match_game + 2 * 2 * league_game) / 3 / 2
    assert estimate.seconds() == pytest.approx(2 * 4 * league_game / 3 / 2)
    # If nothing is known of the games, the rate so far counts, as soon as there is one.
    done[:] = [0, 0]
    match.games = lambda: []
    unknown = class_games._Ahead([match, league], done, 3)  # type: ignore[list-item]
    assert unknown.seconds() is None
    done[:] = [4, 1]
    now[0] += 50
    assert unknown.seconds() == pytest.approx(50 / 5 * (6 + 6))


# -- reading of submissions ------------------------------------------------------------------


def test_everybody_is_listed_with_what_is_wrong(folder: Path) -> None:
    write(folder / "student 10", SEARCH)
    write(folder / "student 9", SEARCH)
    write(folder / "broken", "def custom_score(:\n")
    (folder / "empty").mkdir()
    (folder / "late.zip").write_bytes(b"PK")
    (folder / "single.py").write_text(SEARCH)
    (folder / ".git").mkdir()
    (folder / "notes.txt").write_text("nothing")
    write(folder / "later", "class CustomPlayer:\n    def get_action(self, s): pass\n",
          "my_custom_player.py")  # fmt: skip
    found = read_class(str(folder))
    assert [student.name for student in found] == [
        "broken", "empty", "late.zip", "later", "single", "student 9", "student 10"
    ]  # fmt: skip
    told = {student.name: student.problem for student in found}
    assert told["broken"].startswith("game_agent.py, line 1: SyntaxError")
    assert "holds no submission" in told["empty"]
    assert "unpack it" in told["late.zip"]
    assert "11×9" in told["later"]
    assert not told["single"]
    assert len({student.page.casefold() for student in found}) == len(found)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_excludes_its_student_only(folder: Path) -> None:
    write(folder / "good", SEARCH)
    write(folder / "other", SEARCH + "\n# another\n")
    write(folder / os.fsdecode(b"\xff\n"), SEARCH)
    done = run(
        "course", "class", str(folder), "--pairs", "1", "--against", "Random", "--workers", "0"
    )
    assert "not played: \ufffd\\x0a: its name is not valid UTF-8: rename the file" in done.stdout
    with open(f"{folder}-report/class.csv", encoding="utf-8", newline="") as file:
        assert [row["student"] for row in csv.DictReader(file)][-1] == "\ufffd\\x0a"


def test_pages_are_called_after_their_students(folder: Path) -> None:
    expected = {
        "Müller, Änne": "Müller_Änne", "Мария": "Мария", "李 小龙": "李_小龙", "..": "student",
        "a/../b": "a_.._b", "x" * 300: "x" * 180, "ä" * 200: "ä" * 90, "<b>&?#%": "b",
        "Mu\u0308ller": "Müller", "bad\udce4name": "bad_name", ".hidden": "hidden",
    }  # fmt: skip
    assert {name: file_name(name) for name in expected} == expected
    for name in ("Müller, Änne", "MÜLLER; ÄNNE", "Mu\u0308ller, A\u0308nne!"):
        write(folder / name, in_2017b(FIRST + f"  # {name}"))
    report = held(folder, classmates=0, opponents=["Random"])
    index = (report.output / "index.html").read_text()
    links = re.findall(r'href="(students/[^"]+)"', index)
    assert len(set(links)) == 3
    assert "students/M%C3%BCller_%C3%84nne.html" in links
    for link in links:
        assert link.isascii()
        assert (report.output / unquote(link)).is_file()
    assert "1 opening against each" in index


def test_folders_that_are_no_class_are_refused(folder: Path) -> None:
    assert "does not exist" in refused("course", "class", str(folder))
    folder.mkdir()
    assert "holds no submissions" in refused("course", "class", str(folder))
    (folder / "game_agent.py").write_text(SEARCH)
    assert "one submission" in refused("course", "class", str(folder))
    assert "is not a folder" in refused("course", "class", str(folder / "game_agent.py"))
    (folder / "game_agent.py").rename(folder / "me.py")
    assert "must be wall or ticks" in refused("course", "class", str(folder), "--clock", "sun")
    assert "'nobody'" in refused("course", "class", str(folder), "--against", "nobody")
    (folder / "me.py").write_text("x = 1\n")
    assert "none of 1 submission can be used" in refused("course", "class", str(folder))


def test_opponents_are_those_of_the_classs_protocol(folder: Path) -> None:
    write(folder / "ann", in_2017a(FIRST))
    given = ["AB_Open", "AB_Open(depth=4)", "AB_Center", "2017b:AB_Open", "greedy(open)"]
    assert in_protocol(given, read_class(str(folder))) == (
        *("2017a:AB_Open", "2017a:AB_Open(depth=4)", "AB_Center", "2017b:AB_Open", "greedy(open)"),
    )
    write(folder / "ben", in_2017b(FIRST))
    assert in_protocol(given, read_class(str(folder))) == tuple(given)


def test_generations_are_told_and_can_be_corrected(folder: Path) -> None:
    needs_rows = in_2017a("game.__class__.__mro__ and game.hash\nreturn legal_moves[0]")
    write(folder / "ann", in_2017a("return legal_moves[0]"))
    write(folder / "ann", OLDEST_BOARD, "isolation.py")
    write(folder / "ben=x", needs_rows)
    write(folder / "cec", SEARCH)
    found = {one.name: one.submission for one in read_class(str(folder))}
    assert [one and one.generation.name for one in found.values()] == ["oldest", "2017a", "2017b"]
    corrected = read_class(str(folder), generations=["ben=x=early", "ann=2017a"])
    assert [one.submission and one.submission.generation.name for one in corrected] == [
        "2017a", "early", "2017b"
    ]  # fmt: skip
    assert corrected[1].reference.generation == "early"
    everybody = read_class(str(folder), generations=["oldest", "cec=2017b"])
    assert [one.generation for one in everybody] == ["oldest", "oldest", "2017b"]
    bad = ["course", "class", str(folder), "--generation"]
    assert "did you mean 'cec'" in refused(*bad, "cecil=oldest")
    assert "unknown generation '2018'" in refused(*bad, "cec=2018")
    report = held(folder, generations=["ben=x=early"])
    rows = list(csv.DictReader((report.output / "class.csv").read_text().splitlines()))
    assert {row["student"]: (row["generation"], row["generation known by"]) for row in rows} == {
        "ann": ("oldest", "isolation.py beside it keeps rows in __board_state__"),
        "ben=x": ("early", "as you say"),
        "cec": ("2017b", "get_move takes game and time_left"),
    }
    assert "keeps rows in __board_state__" in (report.output / "index.html").read_text()
    page = (report.output / "students" / "ann.html").read_text()
    assert "generation oldest: isolation.py beside it keeps rows" in page


@pytest.fixture(scope="module")
def various(tmp_path_factory: pytest.TempPathFactory) -> ClassReport:
    """Rate a class whose submissions are right, prune badly, crash, have a clock of their own, and
    never move.
    """
    top = tmp_path_factory.mktemp("various")
    folder = top / "class"
    write(folder / "ann", RIGHT_2017B)
    write(folder / "ben", changed(RIGHT_2017B, ("best <= alpha", "False")))
    write(folder / "cec", in_2017b("return legal_moves[99]"))
    waits = "import time\nstart = time.time()\nwhile time.time() < start + 0.005: pass\n"
    write(folder / "dan", in_2017b(waits + FIRST))
    write(folder / "eve", in_2017b("return None"))
    return held(folder, output=str(top / "out"))


def test_who_never_moves_is_listed_apart_with_its_line(various: ClassReport) -> None:
    assert sorted(row.name for row in various.table.students) == ["ann", "ben", "dan"]
    assert "not ranked: eve: never made a move: answered None in 4 of 4 games\n" in str(various)
    assert "in get_move: return None" in str(various)
    index = (various.output / "index.html").read_text()
    assert '<a href="students/eve.html">eve</a>' in index
    page = (various.output / "students" / "eve.html").read_text()
    assert "never made a move: answered None in 4 of 4 games" in page
    assert "in get_move: return None" in page
    assert "<svg" in page
    for word in ("resign", "Resign", "Elo", "lost position"):
        assert word not in page
    rows = list(csv.DictReader((various.output / "class.csv").read_text().splitlines()))
    assert [(row["place"], row["elo"]) for row in rows if row["student"] == "eve"] == [("", "")]


def test_who_cannot_be_ranked_has_a_page_that_says_why(folder: Path) -> None:
    """A file that cannot be read, one that cannot be loaded, and one that finishes no game."""
    write(folder / "ann", SEARCH)
    write(folder / "ben", "def custom_score(:\n")
    write(folder / "cec", in_2017b("raise ValueError('<script>')"))
    write(folder / "dan", in_2017b(FIRST, "import tensorglow"))
    (folder / "eve & co.zip").write_bytes(b"PK")
    old = folder.parent / "out" / "students" / "ben.html"
    old.parent.mkdir(parents=True)
    old.write_text("of last week, when it played")
    report = held(folder, output=str(folder.parent / "out"), board_page="board.html")
    problems = {one["name"]: one["problem"] for one in report.to_dict()["not_played"]}
    pages = {
        one["name"]: (report.output / one["page"]).read_text()
        for one in report.to_dict()["not_played"]
    }
    assert sorted(pages) == ["ben", "cec", "dan", "eve & co.zip"]
    index = (report.output / "index.html").read_text()
    for one in report.to_dict()["not_played"]:
        name = escape(one["name"])
        assert f'<td><a href="{quote(one["page"])}">{name}</a></td>' in index
        assert f"<h1>{name}</h1>" in pages[one["name"]]
        assert escape(problems[one["name"]]) in pages[one["name"]]
        assert "ann" not in pages[one["name"]].partition("<body>")[2].replace("cannot", "")
        assert "<script" not in pages[one["name"]]
    assert "line 1: SyntaxError" in pages["ben"]
    assert "is an archive: unpack it" in pages["eve & co.zip"]
    assert "No module named &#x27;tensorglow" in pages["dan"]
    assert "<h3>file loads: " in pages["dan"]
    assert "finishes none of 4 games: crash: game_agent.py, line 13" in pages["cec"]
    # The failed check has the position, the lines of the student's file, and links to the board.
    assert "<h3>alphabeta: get_move: raises ValueError</h3>" in pages["cec"]
    assert "<svg" in pages["cec"]
    assert 'href="../board.html#fen=' in pages["cec"]
    assert "raise ValueError(&#x27;&lt;script&gt;&#x27;)" in pages["cec"]


def test_a_class_in_which_nobody_moves_says_so(folder: Path) -> None:
    write(folder / "ann", in_2017b("return None"))
    report = held(folder)
    assert not report.table.students
    assert "not ranked: ann: never made a move" in str(report)


# -- near-identical submissions --------------------------------------------------------------


def test_renamed_copies_are_pointed_out_and_independent_work_is_not(folder: Path) -> None:
    write(folder / "ann", SEARCH)
    write(folder / "ben", RENAMED)
    write(folder / "cec", SEARCH.replace("range(1, 50)", "range(1, 60)") + "\n\nX = [1, 2]\n")
    write(folder / "dan", in_2017b(FIRST))
    write(folder / "eve", in_2017a(FIRST))
    write(folder / "fay", SEARCH)
    found = {(one.a, one.b): one for one in near_identical(read_class(str(folder)))}
    assert found["ann", "fay"].same.startswith("the same file")
    assert "but for names" in found["ann", "ben"].same
    assert found["ann", "cec"].share >= 0.7
    assert not found["ann", "cec"].same
    assert not [couple for couple in found if {"dan", "eve"} & set(couple)]
    # Side by side: lines that differ only in names stand in one row, and both are marked.
    original = SEARCH.split("\n")
    renamed = [re.sub(r"\b(value|best|choice|own|moves)\b", r"\1_of_mine", it) for it in original]
    rows = code_rows(comparison_page(found["ann", "ben"]))
    assert [left for left, _ in rows if left[0]] == list(enumerate_lines(original, rows, 0))
    couples = {(left[1], right[1]) for left, right in rows if left[2] and right[2]}
    renamings = {(one, other) for one, other in zip(original, renamed, strict=True) if one != other}
    assert {pair for pair in renamings if '"""' not in pair[0]} <= couples
    assert len(renamings) > 15
    assert not any(left[2] for left, _ in rows if left[1] == original[1])  # the docstring
    rows = code_rows(comparison_page(found["ann", "cec"]))
    (extra,) = (row for row in rows if row[1][1] == "X = [1, 2]")
    assert extra[0][1] == ""
    assert not extra[1][2]
    shared = sum(left[2] for left, _ in rows)
    assert shared == sum(right[2] for _, right in rows) > 0.7 * sum(map(bool, original))


Cell = tuple[str, str, bool]
"""The number of a line, its text, and whether it is marked."""


def code_rows(page: str) -> list[tuple[Cell, Cell]]:
    """Return the rows of a page with two programs side by side."""
    cell = r"<td>(\d*)</td><td( class=\"same\")?>(.*?)</td>"
    return [
        tuple((number, unescape(said), bool(same)) for number, same, said in re.findall(cell, row))
        for row in re.findall(r"<tr>(<td>.*?)</tr>", page)
    ]  # type: ignore[misc]


def enumerate_lines(lines: list[str], rows: list[tuple[Cell, Cell]], side: int) -> Iterator[Cell]:
    """Yield the cells that a column must have: every line once, in order."""
    marks = iter([row[side][2] for row in rows if row[side][0]])
    for number, line in enumerate(lines[: -1 if lines[-1] == "" else None], start=1):
        yield str(number), line, next(marks)


def test_what_the_class_has_in_common_is_no_likeness(folder: Path) -> None:
    """Check that submissions with the same search and different scores are not reported as
    near-identical.
    """
    scores = [OPEN, f"{OPEN} ** 2", f"-{OPEN}", f"max(1, {OPEN})", f"{OPEN} if game.width else 0",
              f"sum([{OPEN}])", f"({OPEN}, 1)[0]", f"abs({OPEN}) / 2"]  # fmt: skip
    for number, score in enumerate(scores):
        write(folder / f"s{number}", SEARCH.replace("float(own - 2 *", f"float({score} - 2 *"))
    assert near_identical(read_class(str(folder))) == []


@given(st.integers(1, 40), st.integers(0, 45))
def test_everybody_meets_as_many_classmates(people: int, wanted: int) -> None:
    couples = [
        frozenset((one, other)) for one, met in enumerate(circle(people, wanted)) for other in met
    ]
    assert len(set(couples)) == len(couples)
    assert all(len(couple) == 2 for couple in couples)
    times = Counter(one for couple in couples for one in couple)
    expected = min(wanted, people - 1)
    odd = wanted % 2 and people % 2 and wanted < people - 1
    assert all(times[one] in {expected, expected - bool(odd)} for one in range(people))


# -- the whole -------------------------------------------------------------------------------


def test_a_class_gets_its_pages(folder: Path) -> None:
    write(folder / "ann <b>", SEARCH)
    write(folder / "=ben", in_2017b(FIRST))
    write(folder / "cec", in_2017b("raise ValueError('<script>')"))
    write(folder / "dan", in_2017b(FIRST, "import tensorglow"))
    found = answer("course", "class", "class", "--pairs", "1", "--time", "12ms", "--against",
                   "Random", "--against", "MM_Open", "--workers", "0", "--json")  # fmt: skip
    assert {row["name"] for row in found["students"]} == {"ann <b>", "=ben"}
    problems = {one["name"]: one["problem"] for one in found["not_played"]}
    assert "none of 4 games: crash: game_agent.py, line 13" in problems["cec"]
    assert "No module named 'tensorglow'" in problems["dan"]
    top = Path(found["output"])
    index = (top / "index.html").read_text()
    assert "ann &lt;b&gt;" in index
    assert "&lt;script&gt;" in index
    assert "<b>" not in index
    assert index.count("<script") == 1  # ours, which sorts the table
    pages = {row["name"]: (top / row["page"]).read_text() for row in found["students"]}
    assert "=ben" not in pages["ann <b>"]  # a page shows no other student's name
    assert "The heuristic without a search" in pages["ann <b>"]
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", pages["ann <b>"])  # it needs no network
    (there,) = top.glob("board.html")
    for name, link in re.findall(
        r'<a href="((?:\.\./)?board\.html)#([^"]+)"', index + pages["=ben"]
    ):
        assert name in ("board.html", "../board.html")
        words = parse_qs(unescape(link), keep_blank_values=True)
        Position.from_fen(words["fen"][0])
    assert "Play it yourself" in index
    assert "knight-board" in there.read_text()
    sheet = list(csv.reader((top / "class.csv").open(newline="")))
    assert {row[1] for row in sheet[1:]} == {"ann <b>", "'=ben", "cec", "dan"}
    assert {len(row) for row in sheet} == {len(sheet[0])}


def test_what_is_wrong_with_a_search_is_told_on_the_students_page(various: ClassReport) -> None:
    ranked = {row["name"]: row["check"] for row in various.to_dict()["students"]}
    assert ranked["ann"] == {"passed": "14 of 14", "complaints": []}
    assert ranked["ben"]["passed"] == "13 of 14"
    (line,) = ranked["ben"]["complaints"]
    assert line.startswith("wrong: alphabeta: pruning: does not prune")
    assert line in (various.output / "students" / "ben.html").read_text()
    assert "does not prune" not in (various.output / "students" / "ann.html").read_text()
    assert "13 of 14" in (various.output / "index.html").read_text()
    rows = csv.DictReader((various.output / "class.csv").read_text().splitlines())
    passed = {row["student"]: row["checks passed"] for row in rows}
    assert [passed[name] for name in ("ann", "ben", "cec")] == ["14 of 14", "13 of 14", ""]
    assert "check: wrong: interface" in str(various)


def test_a_clock_of_its_own_is_told(various: ClassReport) -> None:
    said = "reads other clocks than time_left(); each such call costs a tick, too"
    assert f"dan {said}" in str(various)
    assert f"ben {said}" not in str(various)
    assert f"dan {said}" in (various.output / "index.html").read_text()
    assert said in (various.output / "students" / "dan.html").read_text()
    assert said not in (various.output / "students" / "ben.html").read_text()


def test_results_are_those_of_the_stored_games(various: ClassReport) -> None:
    won: Counter[tuple[str, str]] = Counter()
    with Store.open(various.output / "games.sqlite", read_only=True) as store:
        whole = {one.names: one.id for one in store.runs()}  # the longer run of a plan comes last
        for id in whole.values():
            run = store.run(id)
            for game in run.games():
                names = [run.plan.entrants[number].name for number in (game.first, game.second)]
                winner = names[0] if game.winner == "w" else names[1]
                won[winner, names[0] if winner == names[1] else names[1]] += 1
    ranked = [row.name for row in various.table.students]
    for row in various.table.students:
        assert set(row.against) == {"Random", "MM_Open"}
        for opponent, (wins, losses) in row.against.items():
            assert (wins, losses) == (won[row.name, opponent], won[opponent, row.name])
        lost, split, both = row.among
        assert 2 * both + split == sum(won[row.name, other] for other in ranked)
        assert 2 * lost + split == sum(won[other, row.name] for other in ranked)
        assert sum(row.among) == 2
    assert ranked[-1] == "dan"
    assert various.table.students[0].elo > various.table.students[-1].elo


def test_only_what_is_handed_in_again_is_played_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The checks of each class would take longer than its games.
    monkeypatch.setattr(classroom, "examine_each", lambda students, show: list(students))
    for name in ("ann", "ben", "cec", "dan"):
        write(folder / name, in_2017b(FIRST + f"  # {name}"))
    first = held(folder, opponents=["Random"])
    before = played(folder)
    assert str(held(folder, opponents=["Random"])) == str(first)
    assert played(folder) == before
    write(folder / "ben", in_2017b("return game.get_legal_moves()[-1]"))
    held(folder, opponents=["Random"])
    fresh = played(folder) - before
    assert fresh == {"ben": 1 + 2, "ann": 1, "cec": 1, "Random": 1}  # not with each other again
    # One that is new joins between its neighbours in the circle, and plays its own games only.
    before = played(folder)
    write(folder / "bert", in_2017b(FIRST + "  # bert"))
    grown = held(folder, opponents=["Random"]).to_dict()
    assert played(folder) - before == {"bert": 1 + 2, "ben": 1, "cec": 1, "Random": 1}
    at_once = held(folder, opponents=["Random"], output="at once").to_dict()
    assert grown["students"] == at_once["students"]  # as if all had been handed in together


def test_an_interrupted_class_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ann", "ben"):
        write(folder / name, in_2017b(FIRST + f"  # {name}"))
    whole = held(folder, output="whole").to_dict()
    append, stored = Run.append, []

    def breaks_off(run: Run, records: Sequence[PairRecord]) -> None:
        if len(stored) == 3:
            raise KeyboardInterrupt
        stored.append(1)
        append(run, records)

    monkeypatch.setattr(Run, "append", breaks_off)
    few = ["class", "--pairs", "1", "--classmates", "2", "--time", "12ms", "--against", "Random",
           "--against", "MM_Open", "--workers", "0", "--json"]  # fmt: skip
    broken = run("course", "class", *few)
    assert broken.exit_code == 130
    assert "repeat the command to continue" in broken.stderr
    monkeypatch.setattr(
        Run, "append", lambda run, records: stored.append(1) or append(run, records)
    )
    resumed = answer("course", "class", *few)
    assert len(stored) == 2 * 2 + 1  # no pair was played twice
    for found in (whole, resumed):
        del found["output"], found["load"]
    assert json.loads(json.dumps(whole)) == resumed


@pytest.mark.slow
def test_who_does_not_answer_is_out_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightfall.agents.remote_player.COUNTED", 0.5)
    write(folder / "ann", in_2017b(FIRST))
    write(folder / "hangs", in_2017b("while True: pass"))
    later = "if game.move_count > 8:\n    while True: pass\n"
    write(folder / "hangs later", in_2017b(later + FIRST))
    report = held(folder, classmates=1, opponents=["Random"])
    problems = {student.name: student.problem for student in report.broken}
    assert problems["hangs"] == "asked for a move, it did not answer within 0.5 s"
    assert "does not answer in" in problems["hangs later"]
    assert [row.name for row in report.table.students] == ["ann"]


# -- lessons ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> ClassReport:
    """Rate a class of one student, whose score counts the opponent's moves as good."""
    top = tmp_path_factory.mktemp("learnt")
    folder = top / "class"
    bad = SEARCH.replace("own - 2 * len(", "len(").replace("range(1, 50)", "range(1, 2)")
    write(folder / "ann", bad)
    return held(folder, output=str(top / "out"), pairs=2, classmates=0)


def test_blunders_are_blunders(learnt: ClassReport) -> None:
    lessons = learnt.table.students[0].lessons
    assert lessons is not None
    assert len(lessons.blunders) > 3
    assert lessons.choices - lessons.kept >= len(lessons.blunders)
    for one in lessons.blunders:
        position = Position.from_fen(one.fen)
        won = kf.solve(position, progress=False)
        assert won.winner == position.to_move
        assert won.plies == one.won_in + 1  # the better move is the quickest
        assert one.better in (won.winning_moves or ())
        after = kf.solve(position.play(one.move), progress=False)
        assert (after.winner, after.plies) == (after.position.to_move, one.lost_in)
        position = Position.from_fen(one.opening)
        moves = one.moves.split(".")
        for move in moves[: one.ply - 1]:
            position = position.play(move)
        assert (position.fen, moves[one.ply - 1]) == (one.fen, one.move)
        assert one.decisive == is_decisive(position, moves[one.ply - 1 :])
    order = [(not one.decisive, len(Position.from_fen(one.fen).open)) for one in lessons.blunders]
    assert order == sorted(order)
    assert lessons.blunders[0].decisive


def is_decisive(position: Position, moves: list[str]) -> bool:
    """Return whether the side to move loses in the end, and never again has a won position."""
    side, position = position.to_move, position.play(moves[0])
    for move in moves[1:]:
        if position.to_move == side and kf.solve(position, progress=False).winner == side:
            return False
        position = position.play(move)
    return position.winner != side


def test_the_misunderstanding_is_the_score_s_own(learnt: ClassReport) -> None:
    """Compare the scores in a lesson with the same formula computed on our own board."""
    lessons = learnt.table.students[0].lessons
    assert lessons is not None
    assert lessons.opinion is not None
    one = lessons.opinion.deepest
    assert one is not None
    position = Position.from_fen(one.fen)

    def moves_of_the_other(move: str) -> float:
        after = position.play(move)
        return float(len(after.targets(after.to_move)))

    assert one.liked_score == moves_of_the_other(one.liked)
    assert one.better_score == moves_of_the_other(one.better)
    assert one.liked_score > one.better_score
    winning = kf.solve(position, distance=False, progress=False).winning_moves
    assert winning is not None
    assert one.better in winning
    assert one.liked not in winning
    assert lessons.opinion.right / lessons.opinion.of < lessons.opinion.chance


def test_ties_count_in_part_and_infinite_beliefs_are_the_deepest() -> None:
    fens = ["N5n/7/7/7/7/7/7 w", "7/7/2N4/7/4n2/7/7 w", "7/1N5/7/7/4n2/7/7 w"]
    position, other, third = (Position.from_fen(fen) for fen in fens)

    def asked(place: Position, *values: float) -> tuple[Choice, dict[str, float]]:
        moves = place.legal_moves[: len(values)]
        choice = Choice(place, 1, moves[0], (moves[0],))
        return choice, dict(zip(moves, values, strict=True))

    truth = Solver.of(position.board)
    tied = opinion([asked(position, 1.0, 1.0)], truth)
    assert (tied.right, tied.of, tied.chance, tied.deepest) == (0.5, 1, 0.5, None)
    found = opinion(
        [asked(other, 0.0, 1.0, 0.0), asked(third, 0.0, 9.0, 0.0), asked(position, 2.0, 1.0)], truth
    )
    assert found.right == 1.0
    assert found.deepest is not None
    assert found.deepest.fen == third.fen
    sure = opinion([asked(other, 0.0, float("inf"), 0.0), asked(third, 0.0, 9.0, 0.0)], truth)
    assert sure.deepest is not None
    assert (sure.deepest.fen, sure.deepest.gap) == (other.fen, float("inf"))


def test_lessons_survive_a_file_and_damage_is_refused(learnt: ClassReport) -> None:
    lessons = learnt.table.students[0].lessons
    assert lessons is not None
    assert lessons.opinion is not None
    assert lessons.opinion.deepest is not None
    deepest = replace(lessons.opinion.deepest, gap=float("inf"), better_score=float("-inf"))
    lessons = replace(lessons, opinion=replace(lessons.opinion, deepest=deepest))
    text = json.dumps(to_dict(lessons))
    assert from_json(text) == lessons
    for wrong in ('"kept": -1', '"kept": "x"', '"kept": 1, "more": 2'):
        with pytest.raises(KnightfallError):
            from_json(re.sub(r'"kept": \d+', wrong, text))
    with pytest.raises(KnightfallError):
        from_json(text.replace(lessons.blunders[0].fen, "nonsense"))
    with pytest.raises(KnightfallError):
        from_json(text.replace('"gap": "inf"', '"gap": "much"'))


def test_damaged_lessons_are_found_out_anew(folder: Path) -> None:
    write(folder / "ann", in_2017b(FIRST))
    first = held(folder)
    for file in Path("class-report/lessons").iterdir():
        file.write_text("{")
    assert held(folder).to_dict()["students"] == first.to_dict()["students"]


# -- the successor's class ---------------------------------------------------------------------

ACTS = """
import random
from sample_players import MinimaxPlayer

class CustomPlayer(MinimaxPlayer):
    def get_action(self, state):
        BODY
"""
BODIES = {
    "Ann": "for depth in range(1, 50): self.queue.put(self.minimax(state, depth))",
    "Ben": "self.queue.put(random.choice(state.actions()))",
    "Cec": "self.queue.put(state.actions()[0])",
    "Dan": "{}[0]",
}


def on_11x9(folder: Path) -> list[str]:
    """Write a class of the successor and return the command that rates it."""
    for name, body in BODIES.items():
        write(folder / name, ACTS.replace("BODY", body), "my_custom_player.py")
    return ["course", "class", str(folder), "--pairs", "1", "--time", "12ms", "--classmates", "2",
            "--workers", "0"]  # fmt: skip


@pytest.fixture(scope="module")
def successor_class(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the JSON report on the successor's class, played without interruption."""
    top = tmp_path_factory.mktemp("successor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNIGHTFALL_DATA_DIR", str(top / "data"))
        patch.chdir(top)
        told = run(*on_11x9(top / "class"), "--json", "--output", str(top / "whole"))
    assert told.exit_code == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found  # on a busy machine there are lines of progress in the other stream


def test_a_class_of_the_successor(successor_class: dict[str, Any]) -> None:
    found = successor_class
    assert {row["name"] for row in found["opponents"]} == {"Random", "Greedy", "Minimax"}
    assert found["students"][0]["name"] == "Ann"
    assert {row["name"] for row in found["students"]} == {"Ann", "Ben", "Cec"}
    (dan,) = found["not_played"]
    assert "none of 6 games: crash: my_custom_player.py, line 7" in dan["problem"]
    for row in found["students"]:
        assert {sum(games) for games in row["against"].values()} == {2}
        assert sum(row["among"]) >= 1
    top = Path(found["output"])
    index, page = (top / "index.html").read_text(), (top / "students" / "Ann.html").read_text()
    for text in (index, (top / "class.csv").read_text(), page):
        assert "Wins kept" not in text
        assert "heuristic" not in text.lower()
    assert "the solver does not support boards of 99 cells" in index
    assert "each method call on the state costs 0.015 ms" in page
    # Results equal those of the stored games: wins of one side are losses of the other.
    lines = [json.loads(line) for line in (top / "games.jsonl").read_text().splitlines()]
    assert len(lines) == len({line["key"] for line in lines}) == 4 * 6 + 4 * 2


@pytest.mark.slow
def test_the_successor_s_class_goes_on(
    successor_class: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = on_11x9(folder)
    games = successor_games.play
    played: list[object] = []

    def breaks_off(game: successor_games.SuccessorGame) -> successor_games.Result:
        if len(played) == 10:
            raise KeyboardInterrupt
        played.append(game)
        return games(game)

    monkeypatch.setattr(successor_games, "play", breaks_off)
    broken = run(*words)
    assert broken.exit_code == 130
    assert "repeat the command to continue" in broken.stderr
    kept = Path("class-report/games.jsonl")
    kept.write_text(kept.read_text()[:-9])  # as after a power failure
    played.clear()
    monkeypatch.setattr(successor_games, "play", lambda game: played.append(game) or games(game))
    resumed = answer(*words, "--json")
    assert len(played) == 32 - 9
    apart = ("output", "load", "folder")
    whole, resumed = (
        {key: value for key, value in found.items() if key not in apart}
        for found in (successor_class, resumed)
    )
    assert whole == resumed
    played.clear()
    write(folder / "Cec", ACTS.replace("BODY", BODIES["Ben"]), "my_custom_player.py")
    answer(*words, "--json")
    assert len(played) == 6 + 2 * 2  # only the games of Cec
    played.clear()
    write(folder / "Bea", ACTS.replace("BODY", BODIES["Ben"]), "my_custom_player.py")
    answer(*words, "--json")
    assert len(played) == 6 + 2 * 2  # only the games of Bea, who is new
    played.clear()
    answer(*words, "--json")
    assert played == []


def test_the_two_games_do_not_mix(folder: Path) -> None:
    on_11x9(folder)
    write(folder / "old", in_2017b(FIRST))
    problems = {student.name: student.problem for student in read_class(str(folder))}
    assert problems.pop("old") == ""
    assert all("need a folder of their own" in problem for problem in problems.values())


def test_a_class_of_the_successor_chooses_its_opponents_by_name(folder: Path) -> None:
    written = "class CustomPlayer:\n    def get_action(self, state):\n        pass\n"
    write(folder / "ann", written, "my_custom_player.py")
    assert in_protocol(["Random"], read_class(str(folder))) == ("Random",)


# -- files that change while the class plays ---------------------------------------------------


EDITS = """
import os
HERE = {folder!r}
def edit():
    with open(os.path.join(HERE, "evil", "game_agent.py"), "a") as file:
        file.write("# edited\\n")
    with open(os.path.join(HERE, "good", "game_agent.py"), "w") as file:
        file.write("raise SystemExit\\n")
edit()
"""


@pytest.mark.usefixtures("no_sandbox")
def test_a_submission_that_edits_files_changes_nothing(folder: Path) -> None:
    """Compare with the same class, in which the submission edits nothing."""
    tame = in_2017b(FIRST)
    write(folder / "evil", tame)
    write(folder / "good", tame + "\n\n# another\n")
    expected = held(folder, classmates=1, opponents=["Random"], output="expected").to_dict()
    text = EDITS.format(folder=str(folder)) + tame.replace(
        FIRST.strip(), f"edit()\n        {FIRST.strip()}"
    )
    assert "        edit()" in text
    (folder / "evil" / "game_agent.py").write_text(text)
    report = held(folder, classmates=1, opponents=["Random"])
    assert (folder / "good" / "game_agent.py").read_text() == "raise SystemExit\n"
    assert not report.broken
    (said,) = report.edited
    assert "and 1 more file were edited during the run" in said
    found = report.to_dict()
    for name in ("evil", "good"):
        mine, same = (
            next(row for row in rows["students"] if row["name"] == name)
            for rows in (found, expected)
        )
        assert mine["elo"] == same["elo"], name
    assert (report.output / "index.html").is_file()


def test_a_submission_that_the_parser_refuses_says_so(folder: Path) -> None:
    write(folder / "minus", "x = " + "-" * 900_000 + "1\n")
    write(folder / "good", in_2017b(FIRST))
    (found,) = (one for one in read_class(str(folder)) if one.name == "minus")
    assert "nested too deeply for Python's parser" in found.problem
