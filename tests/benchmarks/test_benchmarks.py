"""Tests that benchmarks compare equal trees and keep the recorded signature; nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from benchmarks import run
from benchmarks.__main__ import command
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    return run


def test_the_signature_is_the_recorded_one(runner: ModuleType) -> None:
    """Compare the searches' nodes with the recorded signature (see benchmarks/signature.py)."""
    signature = runner.module("signature")
    spent = signature.nodes_by_agent()
    assert sum(spent.values()) == signature.SIGNATURE, spent


def test_the_signature_does_not_depend_on_what_was_searched_before(runner: ModuleType) -> None:
    signature = runner.module("signature")
    assert signature.nodes_by_agent() == signature.nodes_by_agent()


def test_the_signature_covers_every_heuristic_search(runner: ModuleType) -> None:
    signature = runner.module("signature")
    kinds = {text.partition("(")[0] for text in signature.AGENTS}
    assert {"greedy", "minimax", "alphabeta", "id"} <= kinds
    assert any("plain" in text for text in signature.AGENTS)


def test_plain_python_searches_the_same_tree(runner: ModuleType) -> None:
    # run() raises if nodes, score or move differ.
    result = runner.module("python_baseline").run(depth=5, rounds=1)
    assert result.figures["nodes"] > 500


def test_cpp_searches_the_same_tree(runner: ModuleType) -> None:
    if runner.module("cpp_build").compiler() is None:
        pytest.skip("no C++ compiler")
    # run() raises if nodes, score or principal variation differ, in any order of the searches.
    result = runner.module("cpp").run(depth=6, rounds=1)
    assert not result.skipped
    assert result.figures["nodes"] > 1000


def test_cpp_obeys_the_node_limit_at_the_same_node(runner: ModuleType) -> None:
    build = runner.module("cpp_build")
    if build.compiler() is None:
        pytest.skip("no C++ compiler")
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.alphabeta import alphabeta

    search = build.search_of(build.build("-O3"))
    make = runner.module("searching").Call
    for position in runner.module("positions").fixed_positions():
        ours, theirs = make(position, 8), make(position, 8)
        ours.boards["limit"] = theirs.boards["limit"] = 777
        ours.compiled(alphabeta, evaluator("improved"))
        search(theirs.boards, theirs.states, *theirs.words)
        assert ours.found == theirs.found


def test_users_twin_searches_the_same_tree(runner: ModuleType) -> None:
    # run() raises if nodes, score or principal variation differ, in any order of the searches.
    runner.module("user_heuristic").run(depth=8, rounds=2)


def test_students_are_compared_with_alphabeta(runner: ModuleType) -> None:
    result = runner.module("student").run(depth=3, rounds=1)
    assert set(result.ratios) == {"moves in fixed order", "moves shuffled"}
    for row in result.rows:
        assert all(row[f"{name} nodes"] > 3 for name in ("alphabeta", "fixed", "shuffled"))


def test_an_agent_in_process_plays_the_isolated_agents_games(runner: ModuleType) -> None:
    # run() raises if the games differ, or if random numbers of this process were used.
    result = runner.module("in_process").run(pairs=1, rounds=1)
    assert result.figures["games"] == 2
    assert len(result.ratios) == 1


def test_every_published_heuristic_is_priced(runner: ModuleType) -> None:
    from knightfall.heuristics.registry import PUBLISHED

    priced = set(runner.module("evaluation_cost").published_ids())
    plain = {row.id for row in PUBLISHED if not row.parameter}
    assert plain <= priced
    assert {"static_reach(1/2)", "static_reach(1/10)", "near_opponent+bfs_reach"} <= priced


@pytest.mark.slow
def test_at_equal_time_the_dearer_gets_fewer_nodes(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the nodes that each heuristic gets at equal time, with given costs of a node in
    microseconds.
    """
    costs = {"learned_net": 0.04, "learned_linear": 0.1, "improved": 0.02, "null": 0.01}
    benchmark = runner.module("equal_time")
    monkeypatch.setattr(
        benchmark, "node_costs", lambda couples, _: [(cost, 0.02) for cost in costs.values()]
    )
    found = benchmark.run("5x5", few=1, many=1, studied=["improved", "null"])
    assert len(found.ratios) == 4
    nodes = {(row["equal"], row["heuristic"]): row["nodes"] for row in found.rows}
    assert len(nodes) == len(found.rows) == 16
    for time in (0.02, 0.05, 0.1):
        for name, cost in costs.items():
            assert nodes[f"{time:g} ms", name] == pytest.approx(1000 * time / cost, abs=1)
    assert {nodes["2,500 nodes", name] for name in ("improved", "learned_net")} == {2500}


def test_fixed_positions_are_what_they_are_said_to_be(runner: ModuleType) -> None:
    positions = runner.module("positions").fixed_positions()
    assert [len(position.open) for position in positions] == [47, 45, 43, 41, 39] * 4
    assert all(len(position.legal_moves) > 1 for position in positions)


def test_percentiles(runner: ModuleType) -> None:
    percentile = runner.module("measure").percentile
    values = [float(value) for value in range(1, 101)]
    assert [percentile(values, share) for share in (0, 0.5, 0.99, 1)] == [1, 50, 99, 100]
    assert percentile([3.0], 0.999) == 3.0


def test_json_output(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    runner.main(json=True, only=["signature"])
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"machine", "benchmarks"}
    named = {"processor", "cores", "Python", "Numba", "LLVM", "C++ compiler", "date"}
    assert named <= set(report["machine"])
    assert report["benchmarks"]["signature"]["figures"]["signature"] > 0


def test_table_output(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    runner.main(only=["signature"])
    assert "greedy(improved)" in capsys.readouterr().out


def test_an_unknown_benchmark_is_named(runner: ModuleType) -> None:
    with pytest.raises(KnightfallError, match=r"'speed'.*deepening"):
        runner.main(only=["speed"])


def test_the_command_line_says_what_to_run(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    monkeypatch.setattr("benchmarks.__main__.main", lambda **given: asked.append(given))
    for line in ("", "--json --only a --only b", "--all"):
        command(line.split())
    assert asked == [
        {"json": False, "only": None, "everything": False},
        {"json": True, "only": ["a", "b"], "everything": False},
        {"json": False, "only": None, "everything": True},
    ]
    for line in ("--all --only a", "--fast"):
        with pytest.raises(SystemExit):
            command(line.split())
        assert "usage: python -m benchmarks" in capsys.readouterr().err


def test_an_unknown_name_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command(["--only", "speed"])
    assert "error: unknown benchmark 'speed'" in capsys.readouterr().err


def test_the_list_names_every_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    command(["--list", "--json"])
    told = json.loads(capsys.readouterr().out)
    command(["--list"])
    lines = capsys.readouterr().out.splitlines()
    names = told["default"] + told["on_request"] + told["by_name"]
    assert [line.split()[0] for line in lines] == names
    assert {"signature", "solver", "time_budget"} <= set(names)
    for name, line in zip(names, lines, strict=True):
        assert told["about"][name] in line
        assert line.endswith("(only by name or with --all)") == (name in told["on_request"])
        assert line.endswith("(only by name)") == (name in told["by_name"])


def test_all_are_run_and_timed(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "DEFAULT", ("one",))
    monkeypatch.setattr(runner, "ON_REQUEST", ("two",))
    result, module = runner.module("result"), runner.module
    found = {
        "one": result.Result(ratios={"a ÷ b": result.Ratio(2.0, at_most=1.5)}),
        "two": result.Result(skipped="no compiler"),
    }
    fakes = {
        name: SimpleNamespace(SUMMARY=f"About {name}", run=lambda found=one: found)
        for name, one in found.items()
    }
    monkeypatch.setattr(runner, "module", lambda name: fakes.get(name) or module(name))
    runner.main(json=True)
    assert list(json.loads(capsys.readouterr().out)["benchmarks"]) == ["one"]
    runner.main(json=True, everything=True)
    measured = json.loads(capsys.readouterr().out)["benchmarks"]
    assert {name: row["about"] for name, row in measured.items()} == {
        "one": "About one",
        "two": "About two",
    }
    assert all(row["seconds"] > 0 for row in measured.values())
    runner.main(everything=True)
    printed = capsys.readouterr().out
    assert "a ÷ b" in printed
    assert "skipped: no compiler" in printed


def test_the_page_tells_what_was_measured(runner: ModuleType) -> None:
    result = runner.module("result")
    ratios = {"a ÷ b": result.Ratio(2.0, at_most=1.5)}
    rows = [{"position": "3/3/3[Nn] w", "nodes": 7}]
    results = {
        "one": result.Result(ratios=ratios, figures={"nodes": 12345}, rows=rows),
        "two": result.Result(skipped="no compiler"),
    }
    measured = {
        "machine": {"cores": 2},
        "benchmarks": {
            name: {"about": f"About {name}", "seconds": 61.0, **found.to_json()}
            for name, found in results.items()
        },
    }
    text = runner.module("document").page(measured)
    assert "took 2:02 min in one run" in text
    assert "| cores | 2 |" in text
    assert "| [`one`](#one) | a ÷ b | 2.000 | ≤ 1.5 | no |" in text
    assert "About one. Measured in 61.0 s." in text
    assert "| nodes | 12,345 |" in text
    assert "| `3/3/3[Nn] w` | 7 |" in text
    assert "Skipped: no compiler" in text


def test_the_page_is_that_of_the_record(runner: ModuleType) -> None:
    document = runner.module("document")
    measured = json.loads((document.DOCS / document.RECORD).read_text(encoding="utf-8"))
    known = [*runner.DEFAULT, *runner.ON_REQUEST]
    assert list(measured["benchmarks"]) == known, "run make bench-docs"
    page = (document.DOCS / document.PAGE).read_text(encoding="utf-8")
    assert page == document.page(measured), "run make docs"


def test_timed_agents_are_asked_as_often_as_is_said(runner: ModuleType) -> None:
    benchmark = runner.module("time_budget")
    rows = benchmark.run(most=2).rows
    assert [row["agent"] for row in rows] == list(benchmark.CALLS)
    assert {row["calls"] for row in rows} == {2}


def test_a_store_is_filled_listed_and_reported(runner: ModuleType) -> None:
    """Run the benchmark with fewer games; it raises if the store lists or rates nothing."""
    figures = runner.module("million_games").run(games=5000, rounds=1).figures
    assert figures["games"] == 5000
    assert figures["megabytes"] > 1


def test_the_plot(runner: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [
        {"heuristic": "open", "study": "course", "ns": 3.0},
        {"heuristic": "bfs_reach", "study": "reachability", "ns": 30.0},
    ]
    runner.module("chart").draw_costs(rows, tmp_path / "images" / "plot.svg")
    assert "bfs_reach" in (tmp_path / "images" / "plot.svg").read_text(encoding="utf-8")


def test_the_solvers_in_cpp_agree_with_ours(runner: ModuleType) -> None:
    """Check that all C++ variants find the same winners as our solver, and that ours needs fewer
    nodes than the plain one.
    """
    if runner.module("cpp_build").compiler() is None:
        pytest.skip("no C++ compiler")
    solver = runner.module("solver")
    positions = solver.openings(3)
    truth = [solver.ours()(position) for position in positions]
    nodes = {}
    for name, switches in solver.IDEAS.items():
        solve = solver.cpp_solver(solver.SMALL_BITS, "-O3", *(f"-D{one}" for one in switches))
        found = [solve(position) for position in positions]
        assert [won for won, _ in found] == [won for won, _ in truth], name
        nodes[name] = sum(number for _, number in found)
    assert sum(number for _, number in truth) < nodes["plain"]


def test_a_library_is_built_once_for_what_it_is_made_from(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = runner.module("cpp_build")
    if build.compiler() is None:
        pytest.skip("no C++ compiler")
    monkeypatch.setattr(build, "_folder", lambda: tmp_path)
    source = tmp_path / "answer.cpp"

    def libraries(text: str, *flags: str) -> int:
        source.write_text(text)
        answer = build.build_from(source, *flags).answer()
        assert answer == int(text.split()[-2].rstrip(";"))
        return len([*tmp_path.glob("answer-*.so")])

    assert libraries('extern "C" int answer() { return 41; }') == 1
    assert libraries('extern "C" int answer() { return 42; }') == 2
    assert libraries('extern "C" int answer() { return 42; }') == 2
    assert libraries('extern "C" int answer() { return 42; }', "-O2") == 3
    assert {file.suffix for file in tmp_path.iterdir()} == {".cpp", ".so"}


def test_plain_python_plays_the_same_games(runner: ModuleType) -> None:
    from knightfall.arena.play import play_pair
    from knightfall.arena.tournament_plan import tournament_plan
    from knightfall.position import Position
    from knightfall.search.budget import Budget

    course_game = runner.module("course_games").course_game
    plan = tournament_plan(["AB_Improved", "AB_Custom"], pairs=1, budget=Budget(nodes=80))
    for task in islice(plan.tasks(), 0, None, 2):
        start = Position.from_fen(task.opening)
        for number, game in enumerate(play_pair(task).games):
            assert course_game(task, number) == list(game.moves(start)), task


def test_reflections_are_counted_as_by_playing_every_line(runner: ModuleType) -> None:
    """Compare with a count by `Position` and separate symmetry code, on 4×5 (four images)."""
    reflections = runner.module("reflections")
    board = Board.of(4, 5)
    layer, found = {Position.start(4, 5)}, []
    for _ in range(6):
        named = {(one.open, one.white, one.black, one.to_move) for one in layer}
        classes = {
            frozenset(
                (frozenset(image[cell] for cell in open), _seen(image, w), _seen(image, b), mover)
                for image in board.symmetries
            )
            for open, w, b, mover in named
        }
        found.append((len(named), len(classes)))
        layer = {one.play(move) for one in layer for move in one.legal_moves}
    assert reflections.layers(board, 5) == found
    openings = reflections.from_openings(board, 1)
    assert openings[0] == (found[2][1], found[2][1])
    assert openings[1][1] == found[3][1] <= openings[1][0]


def _seen(image: Sequence[int], cell: int | None) -> int | None:
    return None if cell is None else image[cell]


def test_mirror_images_save_nodes_before_the_first_move_only(runner: ModuleType) -> None:
    result = runner.module("reflections").run(plies=2, later=1, depth=4)
    ratios = {name: ratio.value for name, ratio in result.ratios.items()}
    assert ratios["empty board: nodes to depth 4, without / with"] > 1.5
    assert ratios["opening b6 e3: nodes to depth 4, without / with"] == 1
