"""The values that commands print under their headings equal those of --json."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arena_helpers import fake_plan, fake_run
from cli_runner import FEN, answer, run
from printed_table import printed_facts, printed_rows

from knightfall.arena.plan import PairRecord
from knightfall.arena.store import Store
from knightfall.board import Board
from knightfall.cli.commands import heuristics
from knightfall.cli.terminal import effort, verdict
from knightfall.display.report import Heading
from knightfall.display.table import Table
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.solver.atlas import survey as surveyed
from knightfall.statistics.sprt import Sprt


def shown(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def store(tmp_path: Path) -> str:
    file = tmp_path / "s.sqlite"
    fake_run(file, fake_plan(2, 7, names=("Ann", "Bob", "Cleo")), 9, finish=False)
    fake_run(file, fake_plan(1, 5, board="4x5", names=("Dan", "Eve")))
    return str(file)


# -- runs and games --------------------------------------------------------------------------


def test_runs_stand_under_their_headings(store: str) -> None:
    told = answer("runs", "--store", store, "--json")["runs"]
    titles = ("run", "kind", "agents", "outcome", "board", "pairs", "begun")
    rows = printed_rows(shown("runs", "--store", store), *titles)
    begun = [row.pop("begun") for row in rows]
    assert all(re.fullmatch(r"\d\d \w+ \d\d:\d\d", when) for when in begun)
    assert rows == [
        {
            "run": str(one["id"]),
            "kind": one["kind"],
            "agents": ", ".join(one["names"]),
            "outcome": one["verdict"] if one["finished"] else "not finished",
            "board": one["board"].replace("x", "×"),
            "pairs": str(one["played"]) if one["finished"] else f"{one['played']}/{one['total']}",
        }
        for one in told
    ]
    wanted = [(1, "league", "4x4", 9, 14, ""), (2, "match", "4x5", 5, 5, "agent 0 is better")]
    keys = ("id", "kind", "board", "played", "total", "verdict")
    found = [tuple(one[key] for key in keys) for one in told]
    assert sorted(found) == wanted


def test_games_stand_under_their_headings(store: str) -> None:
    lines = shown("runs", "games", "1", "--store", store, "--json").splitlines()
    told = [json.loads(line) for line in lines]
    titles = ("game", "first", "second", "result", "reason", "plies", "opening")
    assert printed_rows(shown("runs", "games", "1", "--store", store), *titles) == [
        {
            "game": one["game"],
            "first": one["first"],
            "second": one["second"],
            "result": {"w": "1-0", "b": "0-1"}[one["winner"]],
            "reason": one["reason"],
            "plies": str(one["plies"]),
            "opening": one["opening"],
        }
        for one in told
    ]
    with Store.open(store, read_only=True) as opened:
        stored = opened.run(1)
        for one in told:
            _, pair, game = map(int, one["game"].split("."))
            record = stored.pair(pair)
            seats = record.task.seats(game)
            names = {entrant.agent: entrant.name for entrant in stored.plan.entrants}
            assert (one["first"], one["second"]) == (names[seats["w"]], names[seats["b"]])
            played = record.games[game]
            assert (one["winner"], one["reason"]) == (played.winner, played.reason)
            assert (one["plies"], one["opening"]) == (len(played.cells), record.task.opening)
            assert one["hunter"] == Position.from_fen(one["opening"]).hunter
            assert one["seed"] == record.task.seed


def test_replayed_moves_stand_beside_what_was_thought_of_them(store: str) -> None:
    told = answer("runs", "replay", "1.3.0", "--store", store, "--json")
    lines = shown("runs", "replay", "1.3.0", "--store", store).split("\n")
    with Store.open(store, read_only=True) as opened:
        record: PairRecord = opened.run(1).pair(3)
    game = record.games[0]
    assert (told["detail"], told["seed"]) == (game.detail, record.task.seed)
    assert (told["first"], told["second"]) == (record.task.a, record.task.b)
    names = {"random(seed=1)": "Ann", "random(seed=2)": "Bob", "random(seed=3)": "Cleo"}
    assert [line[2:] for line in lines[:2]] == [names[told["first"]], names[told["second"]]]
    for ply, one in enumerate(told["thinking"], start=1):
        columns = ("depths", "nodes", "microseconds")
        depth, nodes, microseconds = (int(game.column(name)[ply - 1]) for name in columns)
        assert (one["depth"], one["nodes"]) == (depth, nodes)
        assert one["seconds"] == pytest.approx(microseconds / 1e6)
        score = float(one["score"])
        report = Report(one["move"], score, abs(score) == float("inf"), None, depth, nodes,
                        one["seconds"], ())  # fmt: skip
        (line,) = (line for line in lines if line.startswith(f"{ply:>3}. "))
        assert line.split()[2] == one["move"]
        if depth:
            assert line.endswith(f"{verdict(report):>10}  {effort(report)}")
            assert f"depth {depth}, {nodes:,} nodes" in line


# -- agents and heuristics -------------------------------------------------------------------


def test_agents_stand_under_their_headings() -> None:
    told = answer("agents", "--json")
    text = shown("agents")
    rows = printed_rows(text, "kind", "what it does", "example")
    assert rows == [
        {"kind": one["kind"], "what it does": one["summary"], "example": one["example"]}
        for one in told["kinds"]
    ]
    kinds = {one["kind"]: one for one in told["kinds"]}
    assert kinds["id"]["budgets"] == ["depth", "nodes", "time"]
    assert kinds["id"]["default"] == "nodes=2500"
    names = [
        {"from": group if not at else "", "name": name, "is short for": meant}
        for group, members in told["names"].items()
        for at, (name, meant) in enumerate(members.items())
    ]
    assert printed_rows(text, "from", "name", "is short for") == names


def test_heuristics_stand_under_their_headings() -> None:
    told = answer("heuristics", "--json")["heuristics"]
    rows = printed_rows(shown("heuristics"), "id", "study", "formula", "what it likes")
    assert [row["id"].partition("(")[0] for row in rows] == [one["id"] for one in told]
    for row, one in zip(rows, told, strict=True):
        assert (row["study"], row["formula"]) == (one["study"], one["formula"])
        assert row["what it likes"] == one["summary"]


def test_all_about_one_heuristic_is_told_by_name() -> None:
    (told,) = answer("heuristics", "open_cluster", "--json")["heuristics"]
    found = printed_facts(shown("heuristics", "open_cluster"))
    for key in ("id", "study", "formula", "summary"):
        assert found[key] == told[key]
    assert found["symmetric"] == ("yes" if told["symmetric"] else "no")


def test_a_heuristic_is_known_by_its_printed_names_and_as_coded() -> None:
    rows = {one["id"]: one for one in answer("heuristics", "--json")["heuristics"]}
    coded = [one for one in rows.values() if one["as_coded"]]
    assert coded
    assert all(one["as_coded"] in rows for one in coded)
    assert all(isinstance(one["printed_as"], list) for one in rows.values())
    assert any(name not in rows for one in rows.values() for name in one["printed_as"])


def test_on_a_terminal_a_heuristic_stands_above_what_it_likes_and_its_formula(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = answer("heuristics", "--json")["heuristics"]
    shown: list[Any] = []
    monkeypatch.setattr(heuristics, "print_parts", shown.extend)
    monkeypatch.setattr(heuristics.sys, "stdout", SimpleNamespace(isatty=lambda: True))
    heuristics._list(json=False)
    tables = [part for part in shown if isinstance(part, Table)]
    assert all(isinstance(part, Heading) for part in shown[::2])
    cells = [row for table in tables for row in table.rows]
    assert [(name.strip().partition("(")[0], said) for name, said in cells] == [
        (one["id"], f"{one['summary']}\n{one['formula']}") for one in told
    ]


# -- numbers -----------------------------------------------------------------------------------


def number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


@pytest.mark.parametrize(
    ("unit", "counts"), [("pairs", ["10", "80", "31"]), ("games", ["136", "96", "111"])]
)
def test_statistics_stand_beside_their_names(unit: str, counts: list[str]) -> None:
    args = ["stats", unit, *counts, "--sprt", "3,45"]
    told, found = answer(*args, "--json"), printed_facts(shown(*args))
    assert found["Elo"] == f"{number(told['elo'])} ± {number(told['elo_error'])}"
    assert found["nElo"] == f"{number(told['nelo'])} ± {number(told['nelo_error'])}"
    assert found["LOS"] == f"{100 * told['los']:.2f} %"
    assert found["Score"] == f"{100 * told['score']:.2f} %"
    classes = {"pairs": "[LL, WL, WW]", "games": "[W, L, D]"}[unit]
    assert found[unit.capitalize()] == f"{told[unit]} {classes} = [{', '.join(counts)}]"
    low, high = (
        400 * math.log10(score / (1 - score)) for score in (told["score_low"], told["score_high"])
    )
    assert found["95 %"] == (
        f"{100 * told['score_low']:.2f} to {100 * told['score_high']:.2f} %, "
        f"{number(low)} to {number(high)} Elo"
    )
    bounds = f"({number(told['lower'])}, {number(told['upper'])}) [3, 45] normalized"
    assert found["LLR"] == f"{number(told['llr'])} {bounds}"


@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_a_test_s_forecast_stands_under_its_headings(model: str) -> None:
    args = ["stats", "plan", "3,17", "--model", model, "--alpha", "0.1", "--beta", "0.02"]
    told = answer(*args, "--split", "0.8", "--json")
    normalized = model == "normalized"
    titles = ["true nElo", "Elo"] if normalized else ["true Elo"]
    rows = printed_rows(shown(*args, "--split", "0.8"), *titles, "passes", "pairs", "games")
    for row, one in zip(rows, told["plans"], strict=True):
        assert row == {
            titles[0]: f"{one['true_elo']:g}".replace("-", "−"),
            **({"Elo": number(one["elo"])} if normalized else {}),
            "passes": f"{100 * one['passes']:.1f} %",
            "pairs": f"{one['pairs']:,.0f}",
            "games": f"{2 * one['pairs']:,.0f}",
        }
    test = Sprt(3, 17, alpha=0.1, beta=0.02, model=model)
    figures = ("elo0", "elo1", "alpha", "beta", "model", "lower", "upper", "split")
    assert [told[key] for key in figures] == [3, 17, 0.1, 0.02, model, *test.bounds, 0.8]
    unit = "nElo" if normalized else "Elo"
    assert shown(*args, "--split", "0.8").startswith(
        f"H0: 3 {unit}, H1: 17 {unit}, alpha 0.1, beta 0.02; "
        "equal agents split 80 % of their pairs\n"
    )


# -- positions ---------------------------------------------------------------------------------


def test_a_solution_stands_beside_its_names() -> None:
    fen = "2N2/3n*/2*2/4*/2*2 w"
    told = answer("solve", "--no-atlas", fen, "--json")
    found = printed_facts(shown("solve", "--no-atlas", fen))
    assert {"w": "first", "b": "second"}[told["winner"]] in found["winner"]
    assert found["plies"] == str(told["plies"])
    winning, legal = told["winning_moves"], len(Position.from_fen(fen).legal_moves)
    assert found["moves"] == f"{' '.join(winning)} ({len(winning)} of {legal} win)"
    assert 0 < len(winning) < legal
    assert found["line"] == " ".join(told["pv"])
    assert found["nodes"] == f"{told['nodes']:,}"


def test_what_an_agent_thinks_stands_beside_its_names() -> None:
    args = ["analyse", FEN, "--agent", "id(improved, nodes=300)"]
    told, found = answer(*args, "--json"), printed_facts(shown(*args))
    assert (found["agent"], found["move"]) == (told["agent"], told["move"])
    assert found["line"] == " ".join(told["pv"])
    assert found["depth"] == str(told["depth"])
    assert found["nodes"] == f"{told['nodes']:,}"
    assert found["speed"].endswith("nodes a second")


def survey() -> dict[str, Any]:
    told: dict[str, Any] = answer("atlas", "show", "4x5", "--json")
    return told


def test_the_atlas_tells_counts_in_their_places() -> None:
    told, lines = survey(), shown("atlas", "show", "4x5").split("\n")
    total, hunter = told["openings"], told["hunter_wins"]
    assert lines[0] == f"4x5: {total} openings in {told['classes']} classes"
    assert lines[1].strip() == (
        f"first player wins {told['first_wins']}, second player wins {told['second_wins']}"
    )
    assert lines[2].strip() == f"the hunter wins {hunter}, the runner {total - hunter}"
    assert told["board"] == "4x5"
    assert told["exceptions"]
    found = surveyed(Board.of(4, 5))
    name = found.board.name
    for one, entry in zip(told["exceptions"], found.exceptions(), strict=True):
        assert (one["first"], one["second"]) == (name(entry.mover), name(entry.waiter))
        assert one["plies"] == entry.entry.plies
    seats = {True: "first", False: "second"}
    law = next(at for at, line in enumerate(lines) if "against the colour law" in line)
    for line, entry in zip(lines[law + 1 : law + 4], found.exceptions(), strict=False):
        assert line.strip() == (
            f"N {name(entry.mover)}, n {name(entry.waiter)}: the "
            f"{seats[entry.entry.mover_wins]} player runs and wins in {entry.entry.plies} plies"
        )
    counts = {total, told["classes"], told["first_wins"], told["second_wins"], hunter}
    assert len(counts | {total - hunter}) == 6


def grid(lines: list[str], width: int, height: int) -> dict[str, str]:
    """Return the texts of a printed board by the names of its cells."""
    found = {}
    for line in lines[:height]:
        row, *cells = line.split()
        for column, cell in zip("abcdefgh"[:width], cells, strict=True):
            found[f"{column}{row}"] = cell
    assert lines[height].split() == list("abcdefgh"[:width])
    return found


def test_the_atlas_draws_each_count_on_its_cell() -> None:
    told, lines = survey(), shown("atlas", "show", "4x5").split("\n")
    begin = lines.index("winning replies to each first placement:") + 2
    drawn = grid(lines[begin:], 4, 5)
    assert {cell: int(count) for cell, count in drawn.items()} == told["winning_replies"]
    assert len(set(told["winning_replies"].values())) > 2


def test_the_atlas_draws_each_reply_on_its_cell() -> None:
    told = answer("atlas", "show", "4x5", "b2", "--json")
    lines = shown("atlas", "show", "4x5", "b2").split("\n")
    drawn = grid(lines[2:], 4, 5)
    assert drawn.pop("b2") == "N"
    assert drawn == {
        one["reply"]: f"{'+' if one['wins'] else '-'}{one['plies']}" for one in told["replies"]
    }
    wins = sum(one["wins"] for one in told["replies"])
    assert lines[0] == f"{wins} of {len(told['replies'])} replies to b2 win:"
    assert len(set(drawn.values())) > 3
