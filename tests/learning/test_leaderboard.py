"""Tests of the leaderboard: its positions, its scores, and the table that it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runner import answer, refused, run
from helpers import need
from naive_solver import plies_to_end
from printed_table import printed_rows

import knightfall as kf
from knightfall.agents import parse_agent
from knightfall.display.numbers import interval, percent
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.learning import data, shard_builder
from knightfall.learning.data import DataSettings
from knightfall.learning.leaderboard import (
    built_in_agents,
    kept_interval,
    leaderboard,
    won_positions,
)
from knightfall.oracle.grade import WinsKept
from knightfall.statistics.rates import Share, wilson

need("pyarrow")

AGENTS = ("random(seed=3)", "greedy(improved)", "perfect(nodes=100000)")
SMALL = {"board": "4x5", "positions": 30}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a set of positions that has some forty real choices for the test."""
    made = tmp_path_factory.mktemp("leaderboard") / "set"
    shard_builder.generate(made, DataSettings.of(2500, 1, ("4x5",), 2500), progress=False)
    return made


def wins(position: kf.Position) -> bool:
    return plies_to_end(position) % 2 == 1


def test_every_position_is_a_real_choice_of_the_test_split(folder: Path) -> None:
    drawn = won_positions(folder, "4x5", 30, 0)
    known = data.read(folder, "test", "4x5")
    rows = {*zip(known.open.tolist(), known.mover.tolist(), known.waiter.tolist(), strict=True)}
    assert len({one.position for one in drawn}) == 30
    for one in drawn:
        at = one.position
        assert (sum(1 << cell for cell in at.open), at.white, at.black) in rows
        keeping = [move for move in at.legal_moves if not wins(at.play(move))]
        assert list(one.winning) == keeping
        assert 0 < len(keeping) < len(at.legal_moves)
    assert won_positions(folder, "4x5", 10, 0) == drawn[:10]
    assert won_positions(folder, "4x5", 30, 1) != drawn


def test_the_scores_are_what_the_agents_choose(folder: Path) -> None:
    found = leaderboard(folder, AGENTS, progress=False, seed=2, **SMALL)
    assert found.scores[0].agent == AGENTS[-1]
    for score in found.scores:
        kept = dict.fromkeys(score.wins_kept, 0)
        for one in won_positions(folder, "4x5", 30, 2):
            if wins(one.position.play(kf.agent(score.agent).choose(one.position))):
                continue
            role = "hunter" if one.position.hunter == one.position.to_move else "runner"
            open_cells = len(one.position.open)
            phase = "opening" if open_cells > 40 / 3 else "middle" if open_cells > 20 / 3 else "end"
            for name in ("overall", role, phase):
                kept[name] += 1
        assert {name: row.kept.count for name, row in score.wins_kept.items()} == kept
        assert score.wins_kept["overall"].kept.of == 30
    rates = [score.wins_kept["overall"].kept.rate for score in found.scores]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 1


@pytest.mark.slow
def test_workers_find_the_same(folder: Path) -> None:
    elsewhere = RunnerOptions(workers=2)
    alone = leaderboard(folder, AGENTS[:2], progress=False, **SMALL)
    assert leaderboard(folder, AGENTS[:2], options=elsewhere, progress=False, **SMALL) == alone


def test_related_positions_widen_the_interval() -> None:
    def row(error: float | None) -> WinsKept:
        return WinsKept(200, 150, 50, Share(80, 100), error, 0.5)

    assert kept_interval(row(None)) == wilson(0.8, 100)
    assert kept_interval(row(0.04)) == pytest.approx(wilson(0.8, 100))  # as if independent
    assert kept_interval(row(0.02)) == wilson(0.8, 100)  # never narrower
    assert kept_interval(row(0.08)) == pytest.approx(wilson(0.8, 25))


def test_the_command_prints_its_numbers(folder: Path) -> None:
    options = ("--board", "4x5", "--positions", "30", "--seed", "2")
    told = answer("learn", "leaderboard", str(folder), *AGENTS, *options, "--json")
    assert (told["board"], told["positions"], told["seed"]) == ("4x5", 30, 2)
    shown = run("learn", "leaderboard", str(folder), *AGENTS, *options).stdout
    names = ("overall", "hunter", "runner", "opening", "middle", "end")
    titles = [title for name in names for title in (name, "95 %")]
    *rows, last = printed_rows(shown, "agent", *titles)
    for place, (row, score) in enumerate(zip(rows, told["scores"], strict=True), start=1):
        assert row["column 1"] == str(place)
        assert row["agent"] == score["agent"]
        for number, name in enumerate(names, start=1):
            rate = score["keeps"][name]
            heading = "95 %" if number == 1 else f"95 % {number}"
            assert row[name] == percent(rate["rate"])
            assert row[heading] == interval(rate["low"], rate["high"], unit=" %")
            assert last[name] == percent(rate["at_random"])
    assert "30 positions on 4×5" in shown


def test_every_built_in_agent_is_one_and_repeats() -> None:
    found = [parse_agent(text) for text in built_in_agents()]
    assert not any(agent.timed for agent in found)
    kinds = {agent.kind for agent in found}
    assert {"random", "greedy", "minimax", "alphabeta", "id", "perfect", "champion"} == kinds
    searched = {text.split("(")[1].split(",")[0] for text in built_in_agents() if "id(" in text}
    assert {"improved", "bfs_reach", "learned_net", "open_cluster"} <= searched


def test_what_cannot_be_ranked_is_refused(folder: Path, tmp_path: Path) -> None:
    small = ("--board", "4x5")
    command = ("learn", "leaderboard", str(folder))
    said = refused(*command, "random", *small, "--positions", "9999")
    assert f"positions=9999: the test split of {str(folder)!r} has " in said
    assert " won positions on 4x5 with a real choice; make a larger set" in said
    assert "has no board 7x7: it has 4x5" in refused(*command, "random")
    assert "did you mean 'random'" in refused(*command, "rabdom", *small)
    assert "holds no labelled positions" in refused("learn", "leaderboard", str(tmp_path), "random")
    json.dumps(leaderboard(folder, ("random",), progress=False, **SMALL).to_dict())
