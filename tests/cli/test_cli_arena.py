"""``knightfall tournament``, ``match``, ``league`` and ``runs show``: output and errors."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import processes
import pytest
from cli_runner import run

from knightfall.arena.play import play_pair
from knightfall.arena.results import results
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import of_pairs, rate_interval

RUN = [sys.executable, "-c", "from knightfall.cli import main; main()"]
PATIENCE = 120
QUICK = ["--workers", "0"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KNIGHTFALL_QUIET", "1")
    return tmp_path


def told(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


# -- whose agent is it? ------------------------------------------------------------------------

FEN = "5/5/2N2/5/n4 w"
NAMING = {
    "match": ["match", "{}", "random", "--pairs", "1", "--board", "4x4", *QUICK],
    "league": ["league", "{}", "{}", "random", "--pairs", "1", "--board", "4x4", *QUICK],
    "tournament": [
        *("tournament", "--test", "{}", "--against", "random", "--pairs", "1", "--board", "4x4"),
        *QUICK,
    ],
    "play": ["play", "--against", "{}", FEN],
    "watch": ["watch", "{}", "{}", FEN],
    "analyse": ["analyse", FEN, "--agent", "{}"],
    "grade": ["grade", "{}", "--openings", "1", "--board", "4x4"],
}


def whose(command: str, agent: str, *more: str) -> str:
    """Run a command with an agent; return the lines on stderr that name a study."""
    result = run(*(word.replace("{}", agent) for word in NAMING[command]), *more)
    assert result.exit_code == 0, result.stderr
    return "".join(line for line in result.stderr.splitlines(True) if "study" in line)


@pytest.mark.parametrize("command", NAMING)
def test_a_name_left_to_students_says_whose_agent_it_plays(command: str) -> None:
    assert whose(command, "AB_Custom_2") == (
        "AB_Custom_2 plays the heuristic of the lookahead study, "
        "id(center_pull, nodes=2500, plain); "
        "AB_Custom_2(mine.py:score) plays your own\n"
    )
    assert whose(command, "AB_Custom_2", "--json") == ""


def test_names_that_say_it_themselves_need_no_notice() -> None:
    for agent in ("aggressive:AB_Custom", "AB_Custom(open)", "AB_Improved", "Student(open)"):
        assert whose("analyse", agent) == ""
    assert "id(lookahead_mobility, nodes=9, plain)" in whose("analyse", "AB_Custom(nodes=9)")


def test_whose_agent_it_is_is_told_of_the_name_and_not_of_the_same_agent_spelt_out(
    tmp_path: Path,
) -> None:
    spelt = "id(center_pull, nodes=2500, plain)"
    store = str(tmp_path / "s.sqlite")
    of = ["match", "--pairs", "1", "--board", "4x4", *QUICK, "--store", store]
    assert (
        "AB_Custom_2 plays the heuristic of the lookahead study"
        in run(*of, "AB_Custom_2", spelt).stderr
    )
    assert "study" not in run(*of, spelt, spelt).stderr


# -- tournament ------------------------------------------------------------------------------

SMALL = [
    "tournament",
    *("--test", "greedy(improved)", "--test", "minimax(open, depth=2)"),
    *("--against", "Random", "--against", "greedy(center)"),
    *("--pairs", "4", "--seed", "6"),
    *QUICK,
]


def test_a_tournament_counts_what_was_played(data: Path) -> None:
    report = told(*SMALL)
    with Store.open(data / "arena.sqlite") as store:
        plan = store.run(1).plan
        counts = {(m.a, m.b): [0, 0] for m in plan.matches}
        classes = {0: [0, 0, 0], 1: [0, 0, 0]}
        for task in plan.tasks():
            match = plan.matches[task.number % len(plan.matches)]
            score = play_pair(task).score
            counts[match.a, match.b][0] += score
            counts[match.a, match.b][1] += 2 - score
            classes[match.a][score] += 1
    assert report["table"] == [[counts[a, b] for a in (0, 1)] for b in (2, 3)]
    for test, row in enumerate(report["tests"]):
        lost, split, won = classes[test]
        assert row["pairs"] == [lost, split, won]
        assert row["rate"] == pytest.approx((2 * won + split) / 16)
        assert (row["low"], row["high"]) == rate_interval((lost, 0, split, 0, won))
        assert row["won"] + row["lost"] == row["games"] == 16
        assert row["losses"].get("no moves", 0) == row["lost"]
    assert report["tests"][0]["elo"] == 0
    (difference,) = report["differences"]
    gap = report["tests"][1]["rate"] - report["tests"][0]["rate"]
    assert difference["points"] == pytest.approx(100 * gap)
    assert difference["low"] < difference["points"] < difference["high"]


def test_the_table_reads_like_the_courses() -> None:
    text = run(*SMALL).stdout
    assert "Won | Lost" in text
    assert re.search(r"Random +\d+ \| \d+ +\d+ \| \d+", text)
    assert re.search(r"Win rate +\d+\.\d % +\d+\.\d %", text)
    assert "95 % interval" in text
    assert "Against greedy(improved), from the same openings, in points of the win rate:" in text
    assert "nan" not in text


def test_a_heuristic_is_not_credited_with_the_gain_of_a_search() -> None:
    tests = ["--test", "AB_Improved", "--test", "improved", "--test", "id(improved, nodes=2500)"]
    tests += ["--test", "id(main, nodes=40)", "--test", "perfect(nodes=50)"]
    report = told("tournament", *tests, "--against", "Random", "--pairs", "3", *QUICK)
    assert report["tests"][1]["agent"] == report["tests"][0]["agent"]
    assert [one["same"] for one in report["differences"]] == [True, False, False, False]
    differs = ["", "in search only", "in search and budget, too", ""]
    assert [one["differs"] for one in report["differences"]] == differs
    text = run("tournament", *tests, "--against", "Random", "--pairs", "3", *QUICK).stdout
    lines = text[text.index("Against AB_Improved") :].splitlines()[1:5]
    assert lines[0].endswith("the same agent")
    assert lines[1].startswith("id(improved, nodes=2500)")
    assert lines[1].endswith("differs in search only")
    assert lines[2].endswith("differs in search and budget, too")
    assert "differs" not in lines[3]
    header = text[: text.index("Random")]
    assert header.count("other search") == 2
    assert "other search and budget" in header


def test_heuristics_that_search_alike_go_by_their_names() -> None:
    tests = ["--test", "AB_Improved", "--test", "open", "--test", "center"]
    text = run("tournament", *tests, "--against", "Random", "--pairs", "1", *QUICK).stdout
    assert re.search(r"Opponent +AB_Improved +open +center", text)
    assert "other" not in text[: text.index("Random")]


DECIDED = [
    "tournament",
    *("--test", "minimax(open, depth=1)", "--test", "alphabeta(improved, depth=4)"),
    *("--test", "minimax(open, depth=1, seed=5)"),
    *("--against", "Random", "--against", "greedy(center)"),
    *QUICK,
]


def test_a_tournament_goes_on_until_it_is_decided(data: Path) -> None:
    report = told(*DECIDED)
    course = told(*DECIDED, "--course-only")
    assert course["pairs"] == course["planned"] == 3 * 2 * 5
    assert report["course_table"] == course["table"]
    assert course["course_table"] is None
    assert report["finished"]
    assert 3 * 2 * 20 <= report["pairs"] < 3 * 2 * 2352
    better, level = report["differences"]
    assert better["real"]
    assert better["points"] > 0
    assert not level["real"]  # the seed only breaks ties
    assert level["high"] - level["low"] <= 4
    assert report["outcome"]["verdict"] == "1 better, 1 cannot be told apart"
    # The results of all games equal those of a run of that length; the intervals are wider.
    fixed = told(*DECIDED, "--pairs", str(report["pairs"] // 6))
    assert fixed["table"] == report["table"]
    for one, other in zip(report["differences"], fixed["differences"], strict=True):
        assert one["points"] == other["points"]
        assert one["high"] - one["low"] > 1.2 * (other["high"] - other["low"])
    text = run(*DECIDED).stdout
    games = 2 * report["pairs"] // 3
    assert f"Beside it the share won of all {games:,}." in text
    assert "In the course's 20 games you would have seen" in text
    assert f"the truth is {better['points']:+.1f} points" in text.replace("−", "-")
    assert "Each comparison is decided, or its difference known to within 2 points." in text
    # The run is stored, so it is shown again at once, and the list of runs has its outcome.
    assert run(*DECIDED).stdout == text
    assert "1 better" in run("runs").stdout


def test_a_fixed_length_that_decides_nothing_says_which_command_would(data: Path) -> None:
    tests = ["--test", "id(open, nodes=30)", "--test", "id(improved, nodes=30)"]
    text = run("tournament", *tests, "--against", "Random", "--course-only", *QUICK).stdout
    found = re.search(r"about ([\d,]+) pairs against each opponent: (knightfall .*)", text)
    assert found, text
    assert found[2].endswith(f"--pairs {int(found[1].replace(',', ''))}")
    assert "--against Random" in found[2]


def test_the_same_command_shows_the_run_again_and_show_does_too() -> None:
    first = run(*SMALL)
    second = run(*SMALL)
    assert second.stdout == first.stdout
    assert "was played before" in second.stderr
    assert run("runs", "show").stdout == first.stdout
    assert run("runs", "show", "1").stdout == first.stdout
    again = run(*SMALL, "--again")
    assert again.stdout == first.stdout.replace("run 1", "run 2")
    assert run("runs", "show", "last").stdout == again.stdout


def test_reports_explain_their_terms_once() -> None:
    pair, role = "pair: two games from one opening", "hunter: can take escape cells"
    match = ["match", "greedy(open)", "random", "--pairs", "2", *QUICK]
    for args, terms in (
        (SMALL, (pair, role)),
        (match, (pair, "nElo: normalized Elo", "LOS: likelihood of superiority", role)),
        ([*match, "--sprt", "0,50"], ("LLR: log-likelihood ratio", pair, role)),
        (["league", "greedy(open)", "random", "--pairs", "2", *QUICK], (role,)),
    ):
        shown = run(*args).stdout
        assert [shown.count(term) for term in terms] == [1] * len(terms), shown


def test_the_default_tournament_is_the_courses() -> None:
    report = told("tournament", "--pairs", "1", "--budget", "nodes=20", *QUICK)
    assert report["planned"] == 6 * 7
    assert report["protocol"] == "2017b"
    assert report["opponents"][0] == "Random"
    assert report["tests"][0]["name"] == "AB_Improved"
    assert report["tests"][1]["agent"] == "id(lookahead_mobility, nodes=20, plain)"


def test_the_earlier_protocol_says_what_was_repeated() -> None:
    args = ["--protocol", "2017a", "--test", "minimax(open, depth=1, seed=3)"]
    args += ["--against", "greedy(center, seed=4)", *QUICK]
    result = run("tournament", *args)
    assert "10 games were repeated move for move" in result.stdout
    report = told("tournament", *args)
    assert report["repeats"] == 5
    assert report["tests"][0]["games"] == 10


def test_names_are_those_of_the_protocol_and_a_mixture_says_so() -> None:
    args = ["tournament", "--protocol", "2017a", "--test", "greedy(open)", "--num-matches", "1"]
    same = told(*args, "--against", "AB_Open", *QUICK)
    assert same["mixture"] == []
    assert same["tests"][0]["games"] == 4
    mixed = run(*args, "--against", "AB_Open", "--against", "2017b:AB_Open", *QUICK)
    said = "2017b:AB_Open is an agent of 2017b, id(open, nodes=2500, plain); in 2017a it is"
    assert said in mixed.stderr
    assert f"Mixed protocols: {said}" in mixed.stdout
    assert "Mixed protocols" in run("runs", "show").stdout


def test_a_time_limit_is_heeded() -> None:
    args = ["tournament", "--test", "improved", "--against", "Random", "--num-matches", "1", *QUICK]
    short = told(*args, "--time-limit", "12ms")
    long = told(*args, "--time-limit", "120ms", "--timer-threshold", "0ms")
    assert short["tests"][0]["agent"] == "id(improved, time=2ms, plain)"
    assert long["tests"][0]["agent"] == "id(improved, time=120ms, plain)"
    assert short["tests"][0]["mean_nodes"] < long["tests"][0]["mean_nodes"]
    assert short["tests"][0]["mean_microseconds"] < long["tests"][0]["mean_microseconds"]


# -- match -----------------------------------------------------------------------------------


def test_a_match_tells_elo_and_pairs(data: Path) -> None:
    report = told("match", "minimax(improved, depth=2)", "greedy(open)", "--pairs", "30", *QUICK)
    with Store.open(data / "arena.sqlite") as store:
        pairs = results(store.run(1)).matches[0].pairs
    verdict = of_pairs((pairs[0], 0, pairs[1], 0, pairs[2]))
    assert report["counts"] == list(pairs)
    for key in ("elo", "elo_error", "nelo", "nelo_error", "los", "low", "high", "score"):
        assert report[key] == getattr(verdict, key)
    assert report["llr"] is None
    text = run("runs", "show").stdout
    assert f"Pairs [LL, WL, WW] {list(pairs)}" in text
    assert "LOS" in text
    assert "LLR" not in text


def test_a_sequential_test_ends_with_a_verdict() -> None:
    args = ["match", "alphabeta(improved, depth=5)", "random", "--sprt", "0,100", *QUICK]
    report = told(*args)
    assert report["verdict"] == "H1"
    assert report["llr"] >= report["upper"]
    assert report["pairs"] < 60
    text = run(*args).stdout
    assert "LLR" in text
    assert "Passed after" in text
    swapped = run("match", "random", "alphabeta(improved, depth=5)", "--sprt", "0,100", *QUICK)
    assert "Failed after" in swapped.stdout


def test_too_few_pairs_decide_nothing_and_say_so() -> None:
    args = ["match", "greedy(improved)", "greedy(open)", "--pairs", "3", *QUICK]
    assert "cannot tell" in run(*args).stdout
    undecided = run(*args[:3], "--pairs", "5", "--sprt", "0,5", *QUICK)
    assert "Not decided after 5 pairs" in undecided.stdout


def test_an_agent_may_meet_itself() -> None:
    report = told("match", "greedy(improved)", "greedy(improved)", "--pairs", "5", *QUICK)
    assert report["counts"] == [0, 5, 0]
    assert report["elo"] == 0
    assert [row["name"] for row in report["agents"]] == [
        "greedy(improved) #1",
        "greedy(improved) #2",
    ]


def test_a_match_says_where_more_than_the_heuristic_differs() -> None:
    both = ["match", "greedy(improved)", "alphabeta(open, depth=2)", "--pairs", "20", *QUICK]
    assert told(*both)["words"].endswith(" They differ in search and budget, too.")
    seeds = ["match", "greedy(open, seed=1)", "greedy(open, seed=2)", "--pairs", "3", *QUICK]
    assert told(*seeds)["words"].endswith(" They differ in seed only.")
    alike = ["match", "greedy(improved)", "greedy(open)", "--pairs", "3", *QUICK]
    assert "differ" not in told(*alike)["words"]
    decided = ["match", "alphabeta(improved, depth=4)", "greedy(center)", "--sprt", "0,100", *QUICK]
    assert told(*decided)["words"].endswith(" They differ in search and budget, too.")


def test_a_league_says_that_not_all_search_alike() -> None:
    note = "Not all search alike"
    three = ["random", "greedy(open)", "greedy(center)", "--pairs", "2", *QUICK]
    assert note not in run("league", *three).stdout
    assert note in run("league", "alphabeta(open, depth=2)", *three).stdout


# -- league ----------------------------------------------------------------------------------


def test_a_league_ranks_its_agents() -> None:
    args = ["league", "random", "minimax(improved, depth=3)", "greedy(open)", "--pairs", "25"]
    report = told(*args, *QUICK)
    names = [row["name"] for row in report["agents"]]
    assert names == ["minimax(improved, depth=3)", "greedy(open)", "random"]
    elos = [row["elo"] for row in report["agents"]]
    assert elos == sorted(elos, reverse=True)
    for i in range(3):
        for j in range(3):
            met, back = report["crosstable"][i][j], report["crosstable"][j][i]
            if i == j:
                assert met is None
                continue
            assert met == back[::-1]
            assert sum(met) == 50
            gap, error = report["differences"][i][j]
            assert gap == pytest.approx(elos[i] - elos[j], abs=1e-6)
            assert error > 0
    text = run("runs", "show").stdout
    assert "Moving first is worth" in text
    assert "told apart" in text.lower()


def test_a_gauntlet_leaves_out_the_others() -> None:
    args = ["league", "random", "greedy(open)", "greedy(center)", "--gauntlet", "1", "--pairs", "4"]
    report = told(*args, *QUICK)
    assert report["planned"] == 8
    table = {
        row["name"]: cells
        for row, cells in zip(report["agents"], report["crosstable"], strict=True)
    }
    at = [row["name"] for row in report["agents"]].index("greedy(center)")
    assert table["greedy(open)"][at] is None


def test_a_league_of_agents_from_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def score(board, open, me, opp, to_move):\n    return float(me - opp)\n"
        "def choose(position):\n    return position.legal_moves[-1]\n"
        "def gives_up(position):\n    return None\n"
    )
    args = [f"greedy({file}:score)", f"python({file}:choose)", f"python({file}:gives_up)"]
    report = told("league", *args, "--pairs", "2", *QUICK)
    by_name = {row["name"]: row for row in report["agents"]}
    quitter = by_name[f"python({file}:gives_up, time=1s)"]
    assert quitter["won"] == 0
    assert quitter["losses"] == {"forfeit": 8}
    assert "lost by: 8 forfeit" in run("runs", "show").stdout
    # An edited file is another agent: the run is not continued.
    file.write_text(file.read_text().replace("me - opp", "opp - me"))
    assert told("league", *args, "--pairs", "2", *QUICK)["run"] == 2


# -- options ---------------------------------------------------------------------------------


def test_a_book_and_its_exhaustion_are_said(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("7/7/1N5/7/7/4n2/7 w\n7/7/1N5/7/4n2/7/7 w\n")
    args = ["match", "greedy(improved)", "greedy(open)", "--book", str(book), "--pairs", "9"]
    result = run(*args, *QUICK)
    assert result.exit_code == 0
    assert "the book has 2 openings: each match gets 2 pairs, not 9" in result.stderr
    assert "4 games on a book" in result.stdout
    small = run("match", "random", "greedy(open)", "--board", "3x3", "--pairs", "999", *QUICK)
    assert "3×3 has" in small.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["match", "random"], "Missing argument 'B'"),
        (["match", "random", "rabdom"], "did you mean 'random'"),
        (
            ["match", "random", "random", "--pairs", "-3"],
            "'-3' is not accepted: give a whole number, at least 1",
        ),
        (
            ["match", "random", "random", "--pairs", "0"],
            "'0' is not accepted: give a whole number, at least 1",
        ),
        (["match", "random", "random", "--seed", "x"], "'x'"),
        (["match", "random", "random", "--budget", "fast"], "'fast'"),
        (["match", "random", "random", "--budget", "nodes=0"], "nodes=0"),
        (["match", "random", "random", "--board", "7"], "'7'"),
        (["match", "random", "random", "--board", "2x2"], "2"),
        (["match", "random", "random", "--book", "/nope"], "/nope"),
        (["match", "random", "random", "--sprt", "5"], "'5'"),
        (["match", "random", "random", "--sprt", "5,1"], "5,1"),
        (["match", "random", "random", "--sprt", "0,5", "--alpha", "0.7"], "0.7"),
        (["match", "random", "random", "--sprt", "0,5", "--model", "chess"], "'chess'"),
        (["match", "random", "random", "--alpha", "0.1"], "--sprt"),
        (["match", "random", "random", "--workers", "999"], "999"),
        (["match", "random", "random", "--workers", "2", "--dask", "tcp://x:1"], "choose one"),
        (["match", "random", "perfect(time=1ms)", "--workers", "200"], "one core per worker"),
        (["match", "random", "python(nope.py:choose)"], "nope.py"),
        (["match", "random", "id(nope.py:score)"], "nope.py"),
        (["match", "random", "random", "--store", "/"], "/"),
        (["league", "random"], "two agents or more"),
        (["league", "random", "greedy(open)", "--gauntlet", "2"], "gauntlet=2"),
        (["league", "random", "greedy(open)", "--until", "-1"], "-1"),
        (["league", "random", "greedy(open)", "--until", "x"], "'x'"),
        (["tournament", "--protocol", "2018"], "'2018'"),
        (["tournament", "--time-limit", "150"], "--time-limit 150 must be a number of ms or s"),
        (["tournament", "--timer-threshold", "1s"], "--timer-threshold 1s must be less than"),
        (["tournament", "--num-matches", "0"], "'0'"),
        (["tournament", "--num-matches", "2", "--pairs", "2"], "choose one"),
        (["tournament", "--test", "nobody"], "'nobody'"),
        (["tournament", "--pairs", "7", "--course-only"], "--pairs 7 and --course-only"),
        (["tournament", "--against", "id()"], "needs a heuristic"),
        (["runs", "show"], "no runs yet"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_named_and_nothing_is_stored(data: Path, args: list[str], said: str) -> None:
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr
    assert not (data / "arena.sqlite").exists()


# -- as a process ----------------------------------------------------------------------------


def test_ctrl_c_keeps_what_is_there_and_the_same_command_goes_on(data: Path) -> None:
    # Long enough for a busy machine to interrupt it in the middle.
    args = ["match", "id(improved, nodes=40000)", "id(open, nodes=40000)", "--pairs", "100"]
    args += ["--workers", "2"]
    process = subprocess.Popen(
        [*RUN, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            with Store.open(data / "arena.sqlite", read_only=True) as store:
                if store.runs() and store.run(1).played > 3:
                    break
        except KnightfallError as error:
            if "no runs yet" not in str(error):  # such as "no such table"
                raise
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "repeat the command to continue run 1" in err
    assert "Traceback" not in err
    assert "unfinished, 200 planned" in out
    with Store.open(data / "arena.sqlite", read_only=True) as store:
        before = store.run(1).played
    assert 3 < before < 100
    finished = processes.run([*RUN, *args, "--json"], text=True, check=True)
    report = json.loads(finished.stdout)
    assert (report["run"], report["pairs"], report["finished"]) == (1, 100, True)
    fresh = told(*args[:-2], "--again", *QUICK)
    assert fresh["counts"] == report["counts"]
    assert [row["mean_nodes"] for row in fresh["agents"]] == [
        row["mean_nodes"] for row in report["agents"]
    ]


def test_a_terminal_sees_the_block_while_it_goes_on() -> None:
    parent, child = pty.openpty()
    args = ["match", "id(improved, nodes=20000)", "id(open, nodes=20000)", "--pairs", "60"]
    process = subprocess.Popen(
        [*RUN, *args, "--workers", "1"],
        stdin=child,
        stdout=subprocess.PIPE,
        stderr=child,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(child)
    seen = b""
    while True:
        ready, _, _ = select.select([parent], [], [], PATIENCE)
        try:
            more = os.read(parent, 65536) if ready else b""
        except OSError:
            more = b""
        if not more:
            break
        seen += more
    process.communicate(timeout=PATIENCE)
    os.close(parent)
    text = seen.decode()
    assert "of 120 games" in text
    assert "Pairs [LL, WL, WW]" in text
    assert process.returncode == 0
