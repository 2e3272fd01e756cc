"""The worth of a heuristic: its plan, the conversion of time into nodes, and the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chart_runs import decided, five, naive_pairs, play
from typer.testing import CliRunner

from knightfall.agents import parse_agent
from knightfall.arena import runner
from knightfall.arena.plan import PairRecord, PairTask, Plan, game_record
from knightfall.arena.results import Results, results
from knightfall.arena.store import Store
from knightfall.arena.stored_plan import read_plan
from knightfall.arena.worth import (
    NODES,
    TIMES,
    WorthReport,
    budgetless_agent,
    levels,
    node_costs,
    nodes_within,
    overall,
    price,
    worth_plan,
)
from knightfall.cli.app import app
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.statistics import pairs as statistics


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.sqlite") as opened:
        yield opened


class Measured:
    """A replacement for the time measurement, in which a node takes A 20 µs and B 5 µs."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(
        self, a: Any, b: Any, microseconds: list[int], openings: Any
    ) -> list[tuple[int, int]]:
        self.asked.append(list(microseconds))
        return [(time // 20, time // 5) for time in microseconds]


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    stand_in = Measured()
    monkeypatch.setattr("knightfall.arena.worth.nodes_within", stand_in)
    return stand_in


def small(a: str = "center", b: str = "open", **more: Any) -> Plan:
    asked: dict[str, Any] = {"nodes": ["30", "10"], "times": ["1ms", "0.5ms"], "board": "4x4"}
    return worth_plan(a, b, **{**asked, "pairs": 6, **more})


# -- the plan ----------------------------------------------------------------------------------


def test_a_match_per_budget_and_the_same_openings_in_all() -> None:
    plan = small()
    assert plan.kind == "worth"
    assert [entrant.agent for entrant in plan.entrants] == [
        "id(center, nodes=10)",
        "id(open, nodes=10)",
        "id(center, nodes=30)",
        "id(open, nodes=30)",
        "id(center, nodes=25)",  # 500 µs
        "id(open, nodes=100)",
        "id(center, nodes=50)",
        "id(open, nodes=200)",
    ]
    assert [(match.a, match.b) for match in plan.matches] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    for round in range(6):
        tasks = [plan.task(4 * round + place) for place in range(4)]
        assert len({(task.opening, task.seed) for task in tasks}) == 1
    assert [(level.match, level.measure, level.amount) for level in levels(plan)] == [
        (0, "nodes", 10),
        (1, "nodes", 30),
        (2, "time", 500),
        (3, "time", 1000),
    ]
    assert [level.text for level in levels(plan, "time")] == ["time=0.5ms", "time=1ms"]
    assert read_plan(plan.to_json()) == plan


def test_the_usual_budgets(measured: Measured) -> None:
    plan = worth_plan("main")
    assert [str(level.amount) for level in levels(plan, "nodes")] == list(NODES)
    assert [level.text for level in levels(plan, "time")] == [f"time={time}" for time in TIMES]
    assert measured.asked == [[20, 50, 100, 200, 500]]
    assert (plan.options["a"], plan.options["b"]) == ("main", "improved")
    assert worth_plan("main", times=()).total == 600
    assert not measured.asked[1:]


def test_heuristics_and_agents_that_deepen_are_accepted(tmp_path: Path) -> None:
    assert str(budgetless_agent("static_reach(1/3)+2*open")) == "id(static_reach(1/3)+2*open)"
    assert str(budgetless_agent("id(main, nodes=7, plain)")) == "id(main, plain)"
    assert str(budgetless_agent("AB_Improved")) == "id(improved, plain)"
    file = tmp_path / "mine.py"
    file.write_text("def score(geometry, open, me, opp, to_move):\n    return 1.0\n")
    plan = small(f"{file}:score")
    assert list(plan.files) == [str(file)]
    assert plan.options["a"] == f"{file}:score"
    # A student's score is a heuristic; a student's player is an agent without a budget to vary.
    student = tmp_path / "game_agent.py"
    student.write_text("def custom_score(game, player):\n    return 0.0\n")
    score = f"course:{student}#custom_score"
    assert str(budgetless_agent(score)) == f"id({score})"
    with pytest.raises(KnightfallError, match="has no budget to vary"):
        budgetless_agent(f"course({student})")
    names = [small(a).options["a"] for a in ("id(main)", "id(main, plain)", "AB_Center")]
    assert names == ["main", "id(main, plain)", "id(center, plain)"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"a": "greedy(open)"}, r"'greedy\(open\)' has no budget to vary"),
        ({"a": "random"}, "'random' has no budget to vary"),
        ({"a": "opne"}, "unknown agent 'opne'; did you mean 'open'"),
        ({"a": "id(open)"}, "compared with itself"),
        ({"nodes": ["10", "010"]}, "nodes=10 is given twice"),
        ({"nodes": ["1e3"]}, "nodes=1e3 must be a whole number"),
        ({"times": ["5"]}, "time=5 must be a number of ms or s"),
        ({"nodes": [], "times": []}, "no budgets"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(KnightfallError, match=message):
        small(**more)


def test_the_same_question_gives_the_same_plan(
    store: Store, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = small(known=store)
    play(store, plan, played=1)
    measured.asked.clear()
    monkeypatch.setattr(measured, "asked", seen := list[list[int]]())
    assert small(known=store) == plan
    assert small(known=store, pairs=9, seed=4).entrants == plan.entrants
    assert seen == []
    small(known=store, times=["1ms", "2ms"])
    assert seen[-1] == [2000]  # 1 ms is known already
    for other in ({"board": "5x5"}, {"a": "main"}, {"known": None}):
        small(**{"known": store, **other})
        assert seen[-1] == [500, 1000], other
    monkeypatch.setattr("knightfall.arena.worth.engine", lambda: "another one")
    small(known=store)
    assert seen[-1] == [500, 1000]


# -- time in nodes -----------------------------------------------------------------------------


def fake_runner(played: list[PairTask]) -> Callable[[list[str]], Any]:
    """Return a runner whose nodes take a known time, with some delays."""

    class Runner:
        def __init__(self, agents: list[str]) -> None:
            self.agents = agents

        def __enter__(self) -> Runner:
            return self

        def __exit__(self, *raised: object) -> None:
            pass

        def play(self, tasks: Iterator[PairTask]) -> Iterator[PairRecord]:
            for task in tasks:
                played.append(task)
                opening = Position.from_fen(task.opening)
                games = []
                for game in (0, 1):
                    sides = ["w", "b"] if opening.to_move == "w" else ["b", "w"]
                    movers = [task.seats(game)[sides[ply % 2]] for ply in range(7)]  # type: ignore[index]
                    nodes = [parse_agent(mover).budget.nodes or 0 for mover in movers]
                    cost = [8 if "center" in mover else 2 for mover in movers]
                    # Four of five moves are late, but each is on time once in five rounds.
                    late = [5000 * ((task.number + ply) % 5 > 0) for ply in range(7)]
                    seconds = (np.multiply(nodes, cost) + np.array(late)) / 1e6
                    games.append(
                        game_record(
                            "w", "no moves", cells=range(7), scores=[0] * 7, depths=[1] * 7,
                            nodes=nodes, seconds=seconds,
                        )
                    )  # fmt: skip
                yield PairRecord(task, (games[0], games[1]))

    return Runner


def test_time_is_divided_by_what_a_node_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[PairTask] = []
    monkeypatch.setattr(runner, "InProcess", fake_runner(played))
    book = ["4/1N2/2n1/4 b", "4/1N2/2n1/4 w", "N3/4/2n1/4 b", "N3/4/3n/4 w"]
    a, b = budgetless_agent("center"), budgetless_agent("open")
    assert nodes_within(a, b, [20, 1000, 8000], book) == [
        (2, 10),  # delays of 5 ms do not count
        (125, 500),
        (1000, 4000),
    ]
    tried = {(parse_agent(t.a).budget.nodes, parse_agent(t.b).budget.nodes) for t in played}
    assert tried == {(250, 250), (50, 50), (125, 500), (1000, 4000)}
    assert nodes_within(a, b, [], book) == []
    assert nodes_within(a, b, [1], book) == [(1, 1)]


def test_an_agent_that_never_moved_has_no_cost() -> None:
    couple = ("id(open, nodes=5)", "id(center, nodes=5)")
    with pytest.raises(KnightfallError, match=r"id\(open, nodes=5\) searched no nodes"):
        node_costs([couple], ["3/1N1/2n w"])  # no knight moves from the middle of 3×3


def test_a_dear_heuristic_gets_fewer_nodes() -> None:
    plan = small()
    ((quick, dear),) = node_costs(
        [("id(null, nodes=300)", "id(bfs_reach, nodes=300)")], plan.starts
    )
    assert 0 < quick < dear
    ((few, many),) = nodes_within(
        budgetless_agent("bfs_reach"), budgetless_agent("null"), [50], plan.starts
    )
    assert 1 < few < many


# -- results -----------------------------------------------------------------------------------


def naive_overall(found: Results, matches: list[int]) -> tuple[float, float, float]:
    """Return the mean over openings of the mean over budgets, with Student's interval."""
    scores = list(naive_pairs(found.run).values())
    rounds = found.played // len(found.matches)
    means = [sum(scores[match][at] for match in matches) / 2 / len(matches) for at in range(rounds)]
    middle = sum(means) / rounds
    spread = sum((one - 0.5 - (middle - 0.5) * rounds / (rounds + 2)) ** 2 for one in means)
    spread += sum((gap - (middle - 0.5) * rounds / (rounds + 2)) ** 2 for gap in (0.5, -0.5))
    error = (spread / (rounds + 2) / rounds) ** 0.5
    from scipy.stats import t

    reach = t.ppf(0.975, rounds + 1) * error
    return middle, max(0, middle - reach), min(1, middle + reach)


def test_the_rate_over_all_budgets_takes_openings_as_units(store: Store) -> None:
    found = results(play(store, small(pairs=12), played=4 * 12 - 3))
    for measure, matches in (("nodes", [0, 1]), ("time", [2, 3])):
        over = overall(found, measure)  # type: ignore[arg-type]
        assert over is not None
        assert over.openings == 11  # the twelfth round is not complete
        middle, low, high = naive_overall(found, matches)
        assert (over.rate, over.low, over.high) == pytest.approx((middle, low, high))
    assert overall(results(play(store, small(times=[]))), "time") is None


def test_the_price_is_that_of_the_plan_or_else_of_the_games(store: Store) -> None:
    assert price(results(play(store, small()))) == 4
    found = results(play(store, small(times=[], nodes=["60"])))
    spent = {"center": [0, 0], "open": [0, 0]}
    for pair in found.run.pairs():
        for game, record in enumerate(pair.games):
            for ply, (time, nodes) in enumerate(
                zip(record.column("microseconds"), record.column("nodes"), strict=True)
            ):
                who = "center" if (ply + game) % 2 == 0 else "open"
                spent[who][0] += int(time)
                spent[who][1] += int(nodes)
    (time_a, nodes_a), (time_b, nodes_b) = spent.values()
    assert price(found) == pytest.approx(time_a / nodes_a / (time_b / nodes_b))


def how(at_nodes: Callable[[int], int], at_time: Callable[[int], int]) -> Any:
    """Return a function that plays pairs whose score depends on the round and on whether nodes or
    time are equal.
    """

    def play(task: PairTask) -> PairRecord:
        round, place = divmod(task.number, 4)
        return decided((at_nodes if place < 2 else at_time)(round))(task)

    return play


def even(round: int) -> int:
    return 1


def mostly_won(round: int) -> int:
    return 1 + (round % 2)


def mostly_lost(round: int) -> int:
    return 1 - (round % 2)


@pytest.mark.parametrize(
    ("at_nodes", "at_time", "judged", "valued"),
    [
        (mostly_won, mostly_won, "it judges better", "it is worth its cost"),
        (mostly_won, even, "it judges better", "cannot tell that from 50 %"),
        (mostly_won, mostly_lost, "it judges better", "it is not worth its cost"),
        (even, mostly_lost, "cannot tell that from 50 %", "it is not worth its cost"),
        (mostly_lost, mostly_lost, "it judges worse", "it is worse"),
        (mostly_lost, mostly_won, "it judges worse", "it is worth its cost"),
    ],
)
def test_the_answer_follows_from_the_intervals(
    at_nodes: Any, at_time: Any, judged: str, valued: str, store: Store
) -> None:
    first, second = WorthReport(play(store, small(pairs=40), how=how(at_nodes, at_time))).words
    assert first.startswith("At equal nodes center wins ")
    assert first.endswith(f"{judged}.")
    assert second.startswith(
        "A node costs center 4.0 times as much time as open; at equal time, after paying for that, "
        "it wins "
    )
    assert second.endswith(f"{valued}.")
    rate = {even: "50.0 %", mostly_won: "75.0 %", mostly_lost: "25.0 %"}
    assert rate[at_nodes] in first
    assert rate[at_time] in second


@pytest.mark.parametrize(
    ("a", "b", "expected", "valued"),
    [
        (80, 20, "A node costs center 0.25 times as much", "it is better"),
        (50, 51, "A node costs center about as much", "it is better"),
        (1, 3000, "A node costs center 3,000 times as much", "it is worth its cost"),
    ],
)
def test_what_a_node_costs_in_words(
    a: int, b: int, expected: str, valued: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knightfall.arena.worth.nodes_within", lambda *_: [(a, b)])
    plan = small(nodes=["5"], times=["1ms"], pairs=30)
    _, second = WorthReport(play(store, plan, how=decided(2))).words
    assert expected in second
    assert ("paying" in second) == (b > 1.05 * a)
    assert second.endswith(f"{valued}.")


def test_with_nothing_played_or_timed_it_says_so(store: Store) -> None:
    nothing = WorthReport(play(store, small(), played=3))
    assert nothing.words == ["No opening has been played with every budget yet."]
    plain = WorthReport(play(store, small(times=[]))).words
    assert plain[1].endswith("equal time was not played.")


def test_the_report_has_every_number(store: Store) -> None:
    found = WorthReport(play(store, small(pairs=10)))
    data = found.to_dict()
    json.dumps(data, allow_nan=False)
    assert (data["a"], data["b"], data["price"]) == ("center", "open", 4)
    for row, scores in zip(data["budgets"], naive_pairs(found.run).values(), strict=True):
        assert row["pairs"] == [scores.count(won) for won in (0, 1, 2)]
        assert row["rate"] == pytest.approx(sum(scores) / 20)
        assert (row["low"], row["high"]) == pytest.approx(statistics.rate_interval(five(scores)))
        assert row["elo"] == pytest.approx(statistics.elo_of(sum(scores) / 20))
    first = [pair for pair in found.run.pairs() if pair.task.number % 4 == 0]
    nodes = [
        int(count)
        for pair in first
        for game, record in enumerate(pair.games)
        for ply, count in enumerate(record.column("nodes"))
        if (ply + game) % 2 == 0
    ]
    assert data["budgets"][0]["agents"][0]["mean_nodes"] == pytest.approx(sum(nodes) / len(nodes))
    assert data["budgets"][3]["agents"][1]["agent"] == "id(open, nodes=200)"
    assert data["equal_nodes"]["openings"] == 10

    text = str(found)
    for part in ("nodes=10 ", "nodes=30 ", "time=0.5ms ", "time=1ms ", "µs a move", "depth"):
        assert part in text
    rates = [f"{100 * row['rate']:.1f} %" for row in data["budgets"]]
    assert all(rate in text for rate in rates)
    assert "\n".join(data["words"]) in text
    assert "lost" not in text  # no agent crashed


# -- the command -------------------------------------------------------------------------------


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["worth", *args])


def test_the_command_plays_and_goes_on(tmp_path: Path, measured: Measured) -> None:
    asked = ["center", "open", "--board", "4x4", "--pairs", "3", "--nodes", "10, 20", "--times"]
    asked += ["1ms", "--workers", "0", "--json", "--store", str(tmp_path / "s.sqlite")]
    result = run(*asked)
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["kind"] == "worth"
    assert data["finished"]
    assert [row["budget"] for row in data["budgets"]] == ["nodes=10", "nodes=20", "time=1ms"]
    assert sum(map(sum, (row["pairs"] for row in data["budgets"]))) == data["pairs"] == 9
    assert measured.asked == [[1000]]
    again = json.loads(run(*asked).stdout)
    assert again == data
    assert not measured.asked[1:]  # the store knew
    assert json.loads(run(*asked, "--again").stdout)["run"] == data["run"] + 1
    assert measured.asked[1:] == [[1000]]


def test_bad_questions_are_one_line(tmp_path: Path) -> None:
    at = ["--store", str(tmp_path / "s.sqlite")]
    both = run("center", "--times", "1ms", "--no-time", *at)
    assert both.exit_code == 2
    assert "--times 1ms and --no-time: choose one" in both.stderr
    for args in (["perfect"], ["center", "random"], ["center", "--nodes", ""]):
        result = run(*args, *at)
        assert result.exit_code == 2, args
        assert result.stderr.count("\n") == 1
