"""Python functions, classes and objects as agents, and agents called by the process that plays."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import run

import knightfall as kf
from knightfall.agents.parse import agent_text
from knightfall.arena import runner
from knightfall.arena.results import RunReport

QUICK: dict[str, Any] = {"board": "5x5", "progress": False}

DICE = """\
import random
import numpy

def choose(position):
    return position.legal_moves[random.randrange(len(position.legal_moves))]

class Player:
    def __init__(self):
        self.asked = int(numpy.random.randint(1000))

    def choose(self, position):
        self.asked += 1
        moves = position.legal_moves
        return moves[(self.asked + numpy.random.randint(9)) % len(moves)]
"""


def last(position: kf.Position) -> str:
    return position.legal_moves[-1]


class Last:
    def choose(self, position: kf.Position) -> str:
        return last(position)


def score(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
    return float(me)


def moves(report: RunReport) -> list[tuple[str, ...]]:
    return [game.moves for game in report.games]


@pytest.fixture
def dice(tmp_path: Path) -> Path:
    (tmp_path / "dice.py").write_text(DICE)
    return tmp_path / "dice.py"


# -- what is an agent --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played_from_a_file(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, ...]]:
    """Return the games of a function in a file, in a process of its own, against `random`."""
    file = tmp_path_factory.mktemp("twin") / "twin.py"
    file.write_text("def last(position):\n    return position.legal_moves[-1]\n")
    return moves(kf.match(f"python({file}:last)", "random", pairs=1, workers=0, **QUICK))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (last, "last"),
        (Last, "Last"),
        (Last(), "Last"),
        (Last().choose, "choose"),
        (lambda position: last(position), "lambda"),
    ],
)
def test_whatever_chooses_moves_plays_as_its_twin_in_a_file(
    value: Any, name: str, played_from_a_file: list[tuple[str, ...]]
) -> None:
    here = kf.match(value, "random", pairs=1, **QUICK)
    assert moves(here) == played_from_a_file
    assert here.plan.entrants[0].name == f"python({name}, time=1s)"


def test_a_function_of_five_arguments_is_a_heuristic(tmp_path: Path) -> None:
    (tmp_path / "twin.py").write_text(
        "def score(board, open, me, opp, to_move):\n    return float(me)\n"
    )
    twin = f"{tmp_path}/twin.py:score"
    here = kf.league([score, "greedy(open)", "random"], pairs=2, budget="depth=2", **QUICK)
    there = kf.league([twin, "greedy(open)", "random"], pairs=2, budget="depth=2", **QUICK)
    assert moves(here) == moves(there)
    assert here.names[0] == "id(score, depth=2)"
    position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    assert kf.evaluator(score).value(position) == kf.evaluator(twin).value(position) == 15


def test_a_decorated_heuristic_is_an_agent_too() -> None:
    @kf.heuristic(symmetric=True)
    def decorated(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
        return 1.0

    assert kf.evaluator(decorated).symmetric
    report = kf.match(decorated, "random", pairs=1, **QUICK)
    assert report.plan.entrants[0].name == "id(decorated, nodes=2500)"
    assert moves(report) == moves(kf.match("decorated", "random", pairs=1, **QUICK))
    assert kf.check(decorated, board="4x4").heuristic == "decorated"


def test_functions_of_one_name_are_different_agents() -> None:
    def weighted(weight: float) -> Callable[..., float]:
        def score(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
            return weight * me

        return score

    one, other = weighted(1.0), weighted(-1.0)
    report = kf.match(one, other, pairs=3, budget="depth=1", **QUICK)
    assert [entrant.name for entrant in report.plan.entrants] == [
        "id(score, depth=1) #1",
        "id(score, depth=1) #2",
    ]
    assert agent_text(one) == agent_text(one) != agent_text(other)
    assert kf.agent(one) != kf.agent(other)


async def coroutine(position: kf.Position) -> str:
    return position.legal_moves[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "3 is not an agent: accepted are a string"),
        (lambda: 1, r"<lambda>, which takes \(\), is not an agent"),
        (lambda a, b: 1, r"which takes \(a, b\), is not an agent: .* a function of one position"),
        (dict, "dict is not an agent: .* a method choose"),
        (None, "None is not an agent"),
        (lambda position: (yield "a1"), "<lambda>, a generator or coroutine function, is not an"),
        (coroutine, "coroutine, a generator or coroutine function, is not an agent"),
    ],
)
def test_other_values_are_refused(value: Any, said: str) -> None:
    with pytest.raises(kf.KnightfallError, match=said):
        kf.match("random", value)
    with pytest.raises(kf.KnightfallError, match=said):
        kf.agent(value)


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (lambda position: 1 // 0, "crash", "ZeroDivisionError"),
        (lambda position: "z9", "illegal", "lambda returned 'z9', which is not a legal move"),
        (lambda position: None, "forfeit", "lambda returned no move"),
    ],
)
def test_what_goes_wrong_in_a_function_loses_the_game(answer: Any, reason: str, said: str) -> None:
    for game in kf.match(answer, "random", pairs=1, **QUICK).run.pair(0).games:
        assert game.reason == reason
        assert said in game.detail


def test_a_function_must_keep_its_time_limit() -> None:
    def slow(position: kf.Position) -> str:
        time.sleep(0.05)
        return last(position)

    text = agent_text(slow).replace(")", ", time=20ms)")
    game = kf.match(text, "random", pairs=1, **QUICK).run.pair(0).games[0]
    assert (game.reason, game.winner) == ("timeout", "b")
    assert "the limit is 0.02 s" in game.detail


def test_a_function_that_hangs_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(position: kf.Position) -> str:
        while position.fen != "4/4/2n1/N3 w":  # checking begins no game
            time.sleep(0.01)
        return last(position)

    deadline = runner.ChunkQueue.deadline
    monkeypatch.setattr(runner.ChunkQueue, "deadline", lambda *of: deadline(*of) and 0.2)
    with pytest.raises(kf.KnightfallError, match=r"^python\(hangs, time=1s\) did not answer for"):
        kf.match(hangs, "random", pairs=1, **QUICK)


def test_a_heuristic_that_cannot_be_compiled_plays_as_plain_python() -> None:
    table = {"a": [1.0]}

    def looks_up(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
        return table["a"][0] + {"me": me}["me"]

    with pytest.warns(match=r"^looks_up cannot be compiled by Numba .* runs as plain Python at"):
        report = kf.match(looks_up, "random", pairs=1, budget="depth=1", **QUICK)
    assert moves(report) == moves(kf.match(score, "random", pairs=1, budget="depth=1", **QUICK))


def test_an_error_in_a_heuristic_names_it_and_its_line() -> None:
    def broken(board, open, me, opp, to_move):  # type: ignore[no-untyped-def]
        return 1.0 if me > 3 else nothing  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(kf.KnightfallError, match=r"^heuristic broken, line \d+: NameError"):
        kf.match(broken, "random", pairs=1, **QUICK)


# -- where it is played and stored ---------------------------------------------------------------


def test_a_function_needs_this_process() -> None:
    with pytest.raises(kf.KnightfallError, match=r"python\(last, .*a function of this process"):
        kf.match(last, "random", workers=2)
    with pytest.raises(kf.KnightfallError, match="a function of this process"):
        kf.grade(last, workers=2)
    assert kf.grade(last, openings=2, **QUICK).games == 2


def test_a_run_of_a_function_goes_on_in_this_process_only(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    notices: list[str] = []
    how = {"store": store, "notice": notices.append, **QUICK}
    first = kf.match(Last, "random", pairs=1, **how)
    assert kf.match(Last, "random", pairs=2, **how).run.id == 2
    assert "continuing run 2 after 1 of 2 pairs" in notices
    assert "its games are stored, but no other process can continue" in notices[0]

    class Last2(Last): ...

    Last2.__name__ = "Last"  # as if the cell of a notebook were run again
    assert kf.match(Last2, "random", pairs=1, **how).run.id == 3
    agent = first.plan.entrants[0].agent
    program = (
        f"import knightfall as kf; kf.match({agent!r}, 'random', pairs=3, store={str(store)!r})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "agent 'Last' was defined in another process" in done.stderr.splitlines()[-1]
    assert "mine.py:Last" in done.stderr
    assert run("runs", "show", "1", "--store", str(store)).exit_code == 0
    assert kf.run(1, store=store).pairs == first.pairs


# -- in_process --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["choose", "Player"])
def test_in_process_plays_the_games_of_the_isolated_agent(dice: Path, name: str) -> None:
    agent = f"python({dice}:{name})"
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    direct = kf.match(agent, agent, pairs=1, seed=3, workers=0, in_process=True, **QUICK)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    isolated = kf.match(agent, agent, pairs=1, seed=3, workers=0, **QUICK)
    assert moves(direct) == moves(isolated)
    assert direct.plan.entrants[0].agent.endswith(f"{name}, time=1s, in_process)")
    assert direct.plan.files == isolated.plan.files != {}


def test_in_process_is_another_agent_in_the_store(dice: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"pairs": 1, "workers": 0, "store": tmp_path / "runs.sqlite", **QUICK}
    agent = f"python({dice}:choose)"
    runs = [kf.match(agent, "random", in_process=way, **how).run.id for way in (True, False, True)]
    assert runs == [1, 2, 1]


def test_in_process_calls_the_function_here(dice: Path, tmp_path: Path) -> None:
    (tmp_path / "where.py").write_text(
        "import os\ndef pid(position):\n    raise ValueError(os.getpid())\n"
    )
    import os

    agent = f"python({tmp_path}/where.py:pid)"
    for direct in (True, False):
        report = kf.match(agent, "random", pairs=1, workers=0, in_process=direct, **QUICK)
        assert (str(os.getpid()) in report.run.pair(0).games[0].detail) == direct


def test_commands_can_play_in_process(dice: Path) -> None:
    how = ["--pairs", "1", "--board", "5x5", "--workers", "0", "--json", "--in-process"]
    found = run("match", f"python({dice}:choose)", "random", *how)
    assert "in_process" in found.stdout
    assert found.exit_code == 0
    refused = run("league", "random", "greedy(open)", *how)
    assert refused.exit_code == 2
    assert "in_process applies to agents written in Python" in refused.output


def test_a_browser_cannot_ask_for_it() -> None:
    from knightfall.web.lab.agent_names import agent_named

    files = {"mine.py": "/home/user/mine.py"}
    assert agent_named("python(mine.py:choose)", files).in_python
    with pytest.raises(kf.KnightfallError, match="in_process: the lab plays users' code in"):
        agent_named("python(mine.py:choose, in_process)", files)
    with pytest.raises(kf.KnightfallError, match="contains a path"):
        agent_named(agent_text(last), files)
