"""``knightfall course run`` and ``course path``."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arena_helpers import fake_game
from cli_runner import answer, refused, run
from naive_solver import brute_force
from submissions import BAD, FIRST, OLDEST_BOARD, SEARCH, in_2017a, in_2017b, write

from knightfall.agents import parse_agent
from knightfall.arena.tournament_plan import mixture
from knightfall.course import generation_successor, successor_moves
from knightfall.course.agent import RemoteSubmission
from knightfall.course.generation_successor import BasePlayer
from knightfall.course.trial import successor_games as successor_module
from knightfall.course.trial.game_judging import choices
from knightfall.course.trial.submission_tournament import TrialReport, trial, trial_plan
from knightfall.course.trial.successor_games import successor_trial
from knightfall.display.progress import Progress
from knightfall.position import Position
from knightfall.solver.solve import Solver

FEW = ["--clock", "ticks", "--time", "12ms", "--pairs", "1", "--workers", "0"]
TWO = ["--against", "Random", "--against", "MM_Open"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "it"


@pytest.fixture
def idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the machine is idle, so that games by the wall clock start at once."""
    monkeypatch.setattr("knightfall.arena.play.wait_for_core", lambda patience: 1.0)
    monkeypatch.setattr("knightfall.course.trial.successor_games.core_share", lambda: 1.0)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Play `SEARCH` against Random once; return its folder and the command's result.

    The run is stored in the folder ``data`` beside it.
    """
    folder = tmp_path_factory.mktemp("searched") / "it"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNIGHTFALL_DATA_DIR", str(folder.with_name("data")))
        return folder, run("course", "run", str(write(folder, SEARCH)), *FEW, *TWO[:2])


def test_path_prints_the_folder() -> None:
    assert run("course", "path").stdout.endswith("generation_2017b\n")
    place = Path(answer("course", "path", "--generation", "oldest", "--json")["path"])
    assert (place / "isolation").is_dir()
    assert "did you mean '2017b'" in refused("course", "path", "--generation", "2017")


def test_the_course_s_table_and_ours(
    searched: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, first = searched
    assert first.exit_code == 0, first.output
    said = first.stdout
    assert "generation 2017b" in said
    assert re.search(r"Opponent +AB_Improved +AB_Custom +AB_Custom_2\n", said)
    assert re.search(r"Random +\d \| \d", said)
    table = said[said.index("Opponent") : said.index("Win rate")]
    assert max(map(len, table.splitlines())) <= 80
    for heading in ("Games lost off the board", "As the course counted", "wins kept"):
        assert heading in said
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(folder.with_name("data")))
    again = run("course", "run", str(folder), *FEW, *TWO[:2])
    assert again.stdout == said
    assert "was played before" in again.stderr


def test_runs_and_show_name_the_submission_and_its_clock(
    searched: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = searched
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(folder.with_name("data")))
    line = f"submission {folder}, 12ms a move by ticks"
    assert line in run("runs", "show").stdout
    listed = " ".join(run("runs").stdout.split())
    assert "submission " in listed
    assert "12ms a move by ticks" in listed
    expected = [{"path": str(folder), "clock": "ticks", "time": "12ms"}]
    assert answer("runs", "--json")["runs"][0]["submissions"] == expected
    assert answer("runs", "show", "--json")["submissions"] == expected


@pytest.mark.usefixtures("folder")
def test_only_what_was_measured_has_a_column(searched: tuple[Path, Any]) -> None:
    """Check that a table has a column for the depth only if some agent reports depths; submissions
    do not.
    """
    assert "depth" not in searched[1].stdout
    agents = [f"course({searched[0]}, time=12ms, clock=ticks)", "MM_Open", "random"]
    few = ["--pairs", "1", "--workers", "0"]
    table = run("league", *agents, *few).stdout.splitlines()
    assert "depth  nodes" in " ".join(table)
    for name, shown in (("random", "–"), ("MM_Open", "3.0")):
        row = next(line for line in table if name in line and "%" in line)
        assert row.split()[-2] == shown, row
    assert "depth" not in run("league", "random", "random(seed=2)", *few).stdout


def test_nothing_of_nothing_is_a_dash(folder: Path) -> None:
    """Check that shares are dashes for a submission that resigns at its first move, which leaves
    nothing to count.
    """
    write(folder, in_2017b("return None if game.move_count > 40 else [1][2]"))
    said = run("course", "run", f"{folder}#AlphaBetaPlayer", *FEW, *TWO[:2]).stdout
    row = next(
        line
        for line in said.splitlines()
        if line.split()[:3] == ["AlphaBetaPlayer", "0", "0"] and "–" in line
    )
    assert row.split()[3:5] == ["–", "–"]
    assert "0.0–100.0" not in said


def test_a_run_in_which_everything_crashed_fails(folder: Path) -> None:
    write(folder, in_2017b("return [][0]"))
    few = ["--pairs", "1", "--workers", "0"]
    for words in (
        ["match", f"course:{folder}", f"course:{folder}", *few],
        ["tournament", "--test", f"course:{folder}", "--against", "MM_Open", *few],
    ):
        result = run(*words)
        assert result.exit_code == 1, result.output
        assert "Every game was lost by crash: nothing was measured." in result.stdout


def test_what_cannot_be_loaded_is_refused_before_a_game(folder: Path) -> None:
    write(folder, BAD["has a syntax error"][2])
    said = refused("match", f"course:{folder}", "random", "--pairs", "1")
    assert f"{folder}/game_agent.py, line 2: SyntaxError" in said
    write(folder, BAD["misses a module"][2])
    said = refused("league", f"course:{folder}", "random", "MM_Open", "--pairs", "1")
    assert "No module named 'tensorglow'" in said
    assert "no runs yet" in refused("runs") or "no store" in refused("runs")


def test_it_says_which_of_two_players_plays(folder: Path, searched: tuple[Path, Any]) -> None:
    write(folder, SEARCH)
    line = "AlphaBetaPlayer plays; the file also has MinimaxPlayer"
    assert line in searched[1].stdout
    few = ["--pairs", "1", "--workers", "0"]
    assert line in run("match", f"course:{folder}", "random", *few).stderr
    named = run("match", f"course:{folder}#MinimaxPlayer", "random", *few)
    assert "also has" not in named.stderr
    write(folder, in_2017b(FIRST))
    assert "also has" not in run("course", "run", str(folder), *FEW, *TWO[:2]).stdout


def test_by_ticks_two_runs_are_identical(folder: Path) -> None:
    write(folder, SEARCH)
    once, again = (
        trial(f"{folder}#AlphaBetaPlayer", clock="ticks", time="12ms", pairs=1,
              opponents=["greedy(open)"], workers=0, progress=False)
        for _ in range(2)
    )  # fmt: skip
    assert [*once.tournament.run.pairs()] == [*again.tournament.run.pairs()]
    assert once.to_dict()["judged"] == again.to_dict()["judged"]


def test_what_resigning_cost(folder: Path) -> None:
    body = "if game.move_count > 4: return (-1, -1)\n" + FIRST
    write(folder, in_2017b(body))
    report = trial(f"{folder}#AlphaBetaPlayer", time="12ms", pairs=1, workers=0,
                   opponents=["Random", "MM_Open"], progress=False)  # fmt: skip
    (judged,) = report.to_dict()["judged"]
    resigned = judged["resigned"]
    assert resigned["games"] == 4
    assert resigned["tries"] == 16
    assert 0 < resigned["saved"] <= 16  # against Random
    assert resigned["cost"] == resigned["saved"] / 4
    assert judged["lost_by"]["resigned"]["games"] == 4
    assert "answered (-1, -1)" in judged["lost_by"]["resigned"]["first"]
    text = str(report)
    assert "As the course counted: 0 timeouts, 4 forfeits." in text
    assert "first resignation: it answered (-1, -1)\n" in text
    assert "was lost" in text


def test_the_oldest_board_counted_illegal_moves(folder: Path) -> None:
    body = "if game.move_count > 4: return (-1, -1)\n" + FIRST
    write(folder, in_2017a(body))
    words = ("--generation", "oldest", *FEW, *TWO[:2])
    text = run("course", "run", f"{folder}#CustomPlayer", *words).stdout
    assert "As the course counted: 0 timeouts, 2 illegal moves." in text


def test_a_clock_of_its_own_is_told(folder: Path) -> None:
    waits = "import time\nstart = time.time()\nwhile time.time() < start + 0.01: pass\n"
    write(folder, in_2017b(waits + FIRST))
    text = run("course", "run", f"{folder}#AlphaBetaPlayer", *FEW, *TWO[:2]).stdout
    assert "It reads other clocks than time_left()" in text
    assert "As the course counted: 0 timeouts" in text


def test_reports_hold_no_addresses(folder: Path) -> None:
    write(folder, in_2017b("raise ValueError(object())"))
    result = run("course", "run", f"{folder}#AlphaBetaPlayer", *FEW, *TWO[:2])
    assert "ValueError: <object object>" in result.stdout
    write(folder, in_2017b("return object()"))
    result = run("course", "run", f"{folder}#AlphaBetaPlayer", *FEW, *TWO[:2])
    assert "answered <object object>" in result.stdout


def test_the_agent_and_the_search_of_one_name_are_told_apart(
    folder: Path, searched: tuple[Path, Any]
) -> None:
    write(folder, SEARCH)
    told = "AB_Improved: the column is the student's search, the row knightfall's own agent."
    assert told in run("course", "run", str(folder), *FEW, "--against", "AB_Improved").stdout
    assert told not in searched[1].stdout


def test_crashes_name_the_line(folder: Path) -> None:
    write(folder, in_2017a("return legal_moves[9]"))
    result = run("course", "run", f"{folder}#CustomPlayer", *FEW, "--against", "Random")
    assert result.exit_code == 1
    assert "first crash: game_agent.py, line 13, in get_move: IndexError" in result.stdout
    assert "nothing was measured" in result.stdout


def test_who_is_tested(folder: Path) -> None:
    write(folder, in_2017a("return legal_moves[0]"))
    found, plan = trial_plan(str(folder), counted=True)
    names = [entrant.name for entrant in plan.entrants]
    assert names[:2] == ["ID_Improved", "Student"]
    assert names[2] == "2017a:Random"
    assert (plan.pairs, plan.repeats, plan.total) == (10, 2, 2 * 7 * 10)
    write(folder, SEARCH, "competition_agent.py")
    _, plan = trial_plan(f"{folder}/competition_agent.py")
    assert [entrant.name for entrant in plan.entrants][:2] == ["Student", "Random"]
    assert found.generation.name == "2017a"


def test_what_cannot_be_run_is_refused(folder: Path) -> None:
    write(folder, SEARCH)
    assert "no file or folder" in refused("course", "run", f"{folder}/none")
    assert "no class 'Nobody'" in refused("course", "run", f"{folder}#Nobody")
    assert "no score 'nothing'" in refused("course", "run", f"{folder}#AlphaBetaPlayer(nothing)")
    assert "wall or ticks" in refused("course", "run", str(folder), "--clock", "sun")
    assert "time=1" in refused("course", "run", str(folder), "--time", "1")
    assert "unknown agent" in refused("course", "run", str(folder), "--against", "Nobody")
    write(folder, BAD["has a syntax error"][2])
    assert "line 2: SyntaxError" in refused("course", "run", str(folder))
    write(folder, BAD["misses a module"][2])
    assert "No module named 'tensorglow'" in refused("course", "run", str(folder), *FEW)


ACTS = """
from sample_players import DataPlayer

class CustomPlayer(DataPlayer):
    def get_action(self, state):
        assert self.data == "book", self.data
        assert (self.context or 0) == state.ply_count // 2 - 1
        self.context = (self.context or 0) + 1
        self.lost = getattr(self, "lost", 0) + 1
        assert self.lost == 1  # for each move is a fork
        self.queue.put(state.actions()[0])
        BODY
"""


@pytest.mark.parametrize(
    ("body", "reason", "said"),
    [
        ("pass", "", ""),
        ("while True: pass", "", ""),  # the action put before counts
        ("1 / 0", "", ""),
        ("self.queue.put(99)", "forfeit", "put 99, which is no legal action"),
    ],
)
def test_the_successor_s_protocol(
    body: str, reason: str, said: str, folder: Path, idle_machine: None
) -> None:
    import pickle

    from knightfall.course.submission import checked, parse_reference

    write(folder, ACTS.replace("BODY", body), "my_custom_player.py")
    (folder / "data.pickle").write_bytes(pickle.dumps("book"))
    reference = parse_reference(str(folder))
    report = successor_trial(
        reference, checked(reference), opponents=["Random"], pairs=1, time=50_000, counted=False
    )
    assert sum(report.played["Random"]) == 2
    assert set(report.lost_by) <= ({reason} if reason else set())
    if reason:
        assert said in report.lost_by[reason][1]


def test_the_successor_s_games_are_counted_in_whatever_order_they_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knightfall.course.submission import checked, parse_reference

    write(folder, ACTS.replace("BODY", "pass"), "my_custom_player.py")
    losers = [0, 0, 1, 1, 1, 0, 0, 0]  # by number of the game; in odd ones the opponent is first
    reasons = {0: ("crash", "first"), 3: ("timeout", "late"), 6: ("crash", "again")}
    reasons[1] = ("crash", "the opponent's")  # which does not count
    states: list[Progress] = []
    counted: list[int] = []

    @contextmanager
    def display(what: str, total: int, *, after: float) -> Iterator[Progress]:
        states.append(Progress(what, total))
        yield states[0]

    def play_all(games: Sequence[Any], options: Any) -> Iterator[Any]:
        assert [game.opening for game in games] == [0, 0, 1, 1] * 2
        for number in reversed(range(8)):
            reason, detail = reasons.get(number, ("", ""))
            yield number, SimpleNamespace(loser=losers[number], reason=reason, detail=detail)
            counted.append(states[0].done)

    monkeypatch.setattr(successor_module, "progress", display)
    monkeypatch.setattr(successor_module, "play_all", play_all)
    reference = parse_reference(str(folder))
    report = successor_trial(
        reference, checked(reference), opponents=["Random", "Greedy"], pairs=2, time=50_000
    )
    assert counted == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (states[0].what, states[0].total) == ("games", 8)
    lost = [loser == number % 2 for number, loser in enumerate(losers)]
    assert report.played == {
        name: [some.count(False), some.count(True)]
        for name, some in (("Random", lost[:4]), ("Greedy", lost[4:]))
    }
    assert report.games == 8
    assert report.lost_by == {"crash": (2, "first"), "timeout": (1, "late")}


def test_the_successor_s_failures(folder: Path) -> None:
    write(
        folder,
        "from sample_players import BasePlayer\nclass CustomPlayer(BasePlayer):\n"
        "    def get_action(self, state):\n        {}[0]\n",
        "my_custom_player.py",
    )
    result = run("course", "run", str(folder), "--pairs", "1", "--against", "Greedy", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["nothing_measured"]
    assert told["lost_by"]["crash"]["games"] == 2
    assert (
        "my_custom_player.py, line 4, in get_action: KeyError" in told["lost_by"]["crash"]["first"]
    )
    assert "11×9" in refused("match", f"course:{folder}", "random", "--pairs", "1")


def test_the_successor_s_opponents(folder: Path) -> None:
    """Check that on 11×9 other submissions and our searches are accepted as opponents, and others
    are refused.
    """
    play = (
        "from sample_players import BasePlayer\nclass CustomPlayer(BasePlayer):\n"
        "    def get_action(self, state):\n        "
    )
    write(folder, play + "self.queue.put(state.actions()[0])\n", "my_custom_player.py")
    other = folder.with_name("other")
    write(other, play + "{}[0]\n", "my_custom_player.py")
    write(folder.with_name("old"), SEARCH)
    against = [f"course:{other}", "alphabeta(improved, depth=2)", "id(open, time=5ms)"]
    few = ["course", "run", str(folder), "--pairs", "1", "--time", "50ms"]
    told = answer(*few, *(word for name in against for word in ("--against", name)), "--json")
    assert set(told["table"]) == set(against)
    assert told["table"][against[0]] == [2, 0]  # it crashes and loses
    assert told["lost_by"] == {}
    assert all(sum(games) == 2 for games in told["table"].values())
    assert "unknown opponent 'Greed' on 11×9; did you mean 'Greedy'" in refused(
        *few, "--against", "Greed"
    )
    for name in ("perfect", "id(main)", "random"):
        assert "does not play on 11×9" in refused(*few, "--against", name)
    old = f"course:{folder.with_name('old')}"
    assert "is a submission for 7×7, not for 11×9" in refused(*few, "--against", old)


def test_opponents_are_those_of_the_submissions_protocol(tmp_path: Path) -> None:
    for text, agent in (
        (in_2017a(FIRST), "alphabeta(open, depth=5)"),
        (in_2017b(FIRST), "id(open, nodes=2500, plain)"),
    ):
        _, plan = trial_plan(str(write(tmp_path, text)), opponents=["AB_Open"])
        assert plan.entrants[-1].agent == agent
        assert mixture(plan) == []


def test_a_move_has_the_same_time_in_every_generation(folder: Path) -> None:
    for generation in ("oldest", "early", "2017a"):
        plan = trial_plan(f"{write(folder, in_2017a(FIRST))}, generation={generation}")[1]
        assert f"generation={generation}, time=150ms" in plan.entrants[0].agent
    assert "time=150ms" in trial_plan(str(write(folder, in_2017b(FIRST))))[1].entrants[0].agent
    assert "time=80ms" in trial_plan(str(folder), time=80_000)[1].entrants[0].agent


def test_the_report_says_what_tells_the_generation_and_can_be_corrected(folder: Path) -> None:
    write(folder, in_2017a("assert hasattr(game, '__board_state__')\nreturn legal_moves[0]"))
    few = [
        "course",
        "run",
        str(folder),
        *["--pairs", "1", "--clock", "ticks", "--against", "Random"],
    ]
    told = run(*few)
    assert "generation 2017a: get_move takes game, legal_moves and time_left" in told.stdout
    assert "in get_move: AssertionError" in told.stdout
    told = run(*few, "--generation", "oldest")
    assert "generation oldest: as you say" in told.stdout
    assert "AssertionError" not in told.stdout
    write(folder, OLDEST_BOARD, "isolation.py")
    told = run(*few)
    assert "generation oldest: isolation.py beside it keeps rows in __board_state__" in told.stdout
    assert "AssertionError" not in told.stdout
    assert "unknown generation '2018' of the course" in refused(*few, "--generation", "2018")
    assert "so it cannot be of generation successor" in refused(*few, "--generation", "successor")


def test_a_match_takes_a_generation_for_submissions_that_say_none(folder: Path) -> None:
    write(folder, in_2017a("assert hasattr(game, '__board_state__')\nreturn legal_moves[0]"))
    match = ["match", f"course({folder}, clock=ticks)", "random", "--pairs", "1"]
    assert "generation 2017a: get_move takes" in run(*match).stderr
    told = run(*match, "--generation", "oldest")
    assert "generation oldest: as you say" in told.stderr
    assert "crash" not in told.stdout
    said = ["match", f"course({folder}, generation=2017a, clock=ticks)", *match[2:]]
    assert "crash" in run(*said, "--generation", "oldest").stdout
    assert "applies to submissions only" in refused(
        "match", "random", "greedy(open)", "--generation", "oldest"
    )


def test_one_that_never_moves_gets_no_verdict_but_the_line_that_answers(folder: Path) -> None:
    write(folder, in_2017b("best = None\nfor _ in range(3):\n    move = (0, 0)\nreturn best"))
    report = trial(str(folder), opponents=["Random", "MM_Open"], pairs=1, progress=False)
    told = str(report)
    assert "AB_Improved, AB_Custom never made a move: answered None in 4 of 4 games each" in told
    line = next(
        number for number, text in enumerate((folder / "game_agent.py").read_text().splitlines(), 1)
        if text.strip() == "return best"
    )  # fmt: skip
    assert f"The answer comes from game_agent.py, line {line}, in get_move: return best" in told
    assert "first player (N) to move" in told
    for word in ("resign", "Win rate", "Elo", "better", "worse", "kept"):
        assert word not in told.lower().replace("never made a move", "")
    said = report.to_dict()
    assert said["tournament"] is None
    assert said["judged"][0]["never_moved"]["games"] == 4
    assert said["judged"][0]["never_moved"]["answers"] == ("None",)
    assert said["judged"][0]["resigned"]["games"] == 0


@pytest.mark.parametrize(
    ("body", "said", "line"),
    [
        ("return self.given_up()", "(-1, -1)", "in given_up: return -1, -1"),
        ("game.get_legal_moves()", "None", "in get_move, which ends without return"),
        ("return [3, 3]", "[3, 3]", "in get_move: return [3, 3]"),
    ],
)
def test_what_never_moved_means(body: str, said: str, line: str, folder: Path) -> None:
    write(folder, in_2017b(body) + "\n    def given_up(self):\n        return -1, -1\n")
    report = trial(f"{folder}#AlphaBetaPlayer", opponents=["Random"], pairs=1, progress=False)
    assert isinstance(report, TrialReport)
    found = report.judged[0].never_moved
    assert found is not None
    assert found.words == f"never made a move: answered {said} in 2 of 2 games"
    assert line in found.line


def test_who_moves_once_has_moved(folder: Path) -> None:
    body = "self.turn = getattr(self, 'turn', 0) + 1\nif self.turn < 2:\n"
    write(folder, in_2017b(body + "    return game.get_legal_moves()[0]"))
    report = trial(f"{folder}#AlphaBetaPlayer", opponents=["Random"], pairs=1, progress=False)
    assert isinstance(report, TrialReport)
    assert [judged.never_moved for judged in report.judged] == [None]
    assert report.judged[0].unusual["resigned"][0] > 0
    assert "Resigning" in str(report)


def test_who_moves_is_compared_without_those_who_never_do(folder: Path) -> None:
    made = "self.score = score_fn"
    text = in_2017b("return None if self.score is custom_score else " + FIRST[7:], made=made)
    text += "\n\ndef custom_score_2(game, player):\n    return 1.0\n"
    write(folder, text)
    report = trial(str(folder), opponents=["Random"], pairs=2, clock="ticks", progress=False)
    assert isinstance(report, TrialReport)
    told = str(report)
    assert "AB_Custom never made a move: answered None in 4 of 4 games\n" in told
    after = told.partition("left out of tables")[2]
    assert "AB_Custom_2" in after
    assert "AB_Custom " not in after
    alone = report.to_dict()["tournament"]
    assert [row["name"] for row in alone["tests"]] == ["AB_Improved", "AB_Custom_2"]
    assert [(one["a"], one["b"]) for one in alone["differences"]] == [
        ("AB_Custom_2", "AB_Improved")
    ]


# -- the successor's clock of ticks ------------------------------------------------------------

COUNTING = """
from isolation import Isolation
from sample_players import BasePlayer

class Mine(Isolation):
    def mobility(self):
        return len(self.liberties(self.locs[0]))

class CustomPlayer(BasePlayer):
    def get_action(self, state):
        legal = state.actions()
        self.queue.put(legal[0])
        asked = 2
        while True:
            ASK
            asked += 1
            if asked >= LIMIT:
                self.queue.put(legal[-1])
"""


@pytest.mark.parametrize(
    "ask",
    ["state.terminal_test()", "Mine(*state).mobility()", "state.utility(0)",
     "try: state.result(legal[0])\n            except BaseException: pass"],
)  # fmt: skip
def test_the_successor_s_time_is_questions_asked(ask: str, folder: Path) -> None:
    """Check the clock by ticks on 11×9: 12 ms are 800 calls of a state's methods; a put action
    counts as one call, and calls that these methods make themselves do not count.
    """
    start = generation_successor.Isolation().result(57).result(40)
    found = {}
    for limit in (799, 801):
        text = COUNTING.replace("ASK", ask).replace("LIMIT", str(limit))
        write(folder, text, "my_custom_player.py")
        player = RemoteSubmission(parse_agent(f"course({folder}, time=12ms, clock=ticks)"))
        found[limit] = player.act((start.board, start.ply_count, start.locs))
        player.close()
    assert found == {799: start.actions()[-1], 801: start.actions()[0]}


def test_the_successor_s_games_repeat_by_ticks(folder: Path) -> None:
    """Check that by ticks the same command gives the same games, in this process and in workers."""
    deepens = (
        "import random\nfrom sample_players import MinimaxPlayer\n"
        "class CustomPlayer(MinimaxPlayer):\n    def get_action(self, state):\n"
        "        self.queue.put(random.choice(state.actions()))\n"
        "        for depth in range(1, 50 if random.random() < 0.5 else 1):\n"
        "            self.queue.put(self.minimax(state, depth))\n"
    )
    write(folder, deepens, "my_custom_player.py")
    few = ["course", "run", str(folder), "--time", "15ms", "--pairs", "2", "--json"]
    against = ["--against", "Random", "--against", "id(open, nodes=50)"]
    once, again = (answer(*few, *against, "--workers", workers) for workers in ("0", "2"))
    assert once == again
    assert once["clock"] == "ticks"
    assert once["lost_by"] == {}
    assert sum(map(sum, once["table"].values())) == 8


class GoesOn(BasePlayer):
    """A player that puts an action and then runs on without calling any method of a state."""

    def __init__(self, seconds: float) -> None:
        super().__init__(0)
        self.seconds = seconds

    def get_action(self, state: generation_successor.Isolation) -> None:
        self.queue.put(state.actions()[0])
        while True:
            time.sleep(self.seconds) if self.seconds else None


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_a_player_that_asks_nothing_is_ended_all_the_same(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a player that runs on without calling a state is ended after ten times its time
    limit.
    """
    monkeypatch.setattr(successor_moves, "COUNTED", float("inf"))
    start = generation_successor.Isolation().result(57).result(40)
    puts, wrong = successor_moves.all_puts(GoesOn(seconds), start, 12.0, str, counted=True)
    assert [put.action for put in puts] == start.actions()[:1]
    assert wrong == ""


@pytest.mark.parametrize("resigned", [False, True])
def test_the_decisions_of_a_game_are_numbered_from_its_opening(resigned: bool) -> None:
    opening = Position.from_fen("4/1N2/3n/4 w")
    truth, naive = Solver.of(opening.board), brute_force(opening.board)
    endings = set()
    for seed in range(40):
        game = fake_game(opening.fen, random.Random(seed), unusual=1.0)
        moves = game.moves(opening)
        for side in ("w", "b"):
            expected, position = [], opening
            for ply, move in enumerate([*moves, None], start=1):
                decides = position.to_move == side and bool(position.legal_moves)
                if decides and (move is not None or resigned):
                    expected.append((position, ply, move, set(naive.winning_moves(position))))
                if move is not None:
                    position = position.play(move)
            found, last = choices(game, opening, side, truth, resigned)
            assert last == position
            assert [(it.position, it.ply, it.move, set(it.winning)) for it in found] == expected
        endings.add(bool(position.legal_moves))
    assert endings == {False, True}


@pytest.mark.parametrize(
    ("busy", "reads"),
    [
        (0.0, 6),  # it sleeps: 5.5 seconds have passed after the sixth reading
        (0.9, 55),  # it computes, so only a tenth of the time counts
        (1.0, 100),  # it is never idle, and is given up when all time is over
    ],
)
def test_only_time_in_which_a_player_is_idle_counts(
    busy: float, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Computing:
        pid, read = 1, 0

        def read_until(self, deadline: float, most: int) -> bytes:
            self.read += 1
            return b"x"

        def poll(self) -> None:
            pass

    fork: Any = Computing()
    monkeypatch.setattr(successor_moves, "COUNTED", 100.0)
    monkeypatch.setattr(successor_moves, "monotonic", lambda: 7.0 + fork.read)
    times = lambda pid: (0.75 * busy * fork.read, 0.25 * busy * fork.read)  # noqa: E731
    monkeypatch.setattr(successor_moves, "core_times", times)
    assert successor_moves._read_counted(fork, 5.45) == b"x" * reads
