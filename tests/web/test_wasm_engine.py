"""Tests of the browser's engine against the native one: equal results, node for node."""

from __future__ import annotations

import json
import random
from functools import cache

import numpy as np
import pytest

pytest.importorskip("wasmtime", reason="wasmtime runs the browser's engine")

from wasm_engine import WasmEngine

from knightfall.board import MOST_CELLS, SMALLEST_SIDE, Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.explain import explain
from knightfall.heuristics.expression import Id, parse_heuristic
from knightfall.heuristics.registry import REGISTRY
from knightfall.kernel.rules import FIELDS, NO_LIMIT, geometry, perft_of, words
from knightfall.openings import openings
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search
from knightfall.solver.engine import Engine
from knightfall.solver.reflection import loses_by_reflection
from knightfall.solver.solve import Solver
from knightfall.web.engine import ABOUT
from knightfall.web.engine.build import source_hash

BOARDS = [
    Board.of(width, height)
    for width in range(SMALLEST_SIDE, MOST_CELLS)
    for height in range(SMALLEST_SIDE, MOST_CELLS)
    if width * height <= MOST_CELLS
]
SEVEN, EIGHT = Board.of(7, 7), Board.of(8, 8)


starts_of = cache(openings)


def positions(board: Board, number: int, seed: int, plies: int = 30) -> list[Position]:
    """Return unfinished positions of random games."""
    rng, starts, found = random.Random(seed), starts_of(board), []
    while len(found) < number:
        position = Position.from_fen(rng.choice(starts))
        for _ in range(rng.randrange(plies)):
            after = position.play(rng.choice(position.legal_moves))
            if not after.legal_moves:
                break
            position = after
        found.append(position)
    return found


@pytest.fixture(scope="module")
def seven() -> WasmEngine:
    return WasmEngine(SEVEN)


@pytest.fixture(scope="module")
def eight() -> WasmEngine:
    return WasmEngine(EIGHT)


def test_it_was_built_from_these_sources() -> None:
    """Check that the engine was built from these sources; if this fails, run ``make wasm``."""
    assert json.loads(ABOUT.read_text(encoding="utf-8"))["sources"] == source_hash()


def test_it_knows_every_heuristic(seven: WasmEngine) -> None:
    assert set(seven.addresses) == {"sum", *(id for id in REGISTRY if REGISTRY[id].study != "user")}
    assert all(address > 0 for address in seven.addresses.values())
    assert len(set(seven.addresses.values())) == len(seven.addresses)
    assert seven.bare("heuristic_address", len(seven.addresses)) == 0


@pytest.mark.parametrize("board", [*BOARDS[::7], SEVEN, EIGHT], ids=lambda board: board.text)
def test_boards_are_laid_out_alike(board: Board) -> None:
    engine = WasmEngine(board)
    size = FIELDS.itemsize
    there = bytes(engine.memory.read(engine.store, engine.base, engine.base + size))
    found, wanted = np.frombuffer(there, FIELDS)[0], geometry(board)[0]
    for field in FIELDS.names or ():
        assert np.array_equal(found[field], wanted[field]), field


@pytest.mark.parametrize("board", [SEVEN, EIGHT, Board.of(5, 6), Board.of(4, 9)], ids=str)
def test_rules(board: Board) -> None:
    engine, rng = WasmEngine(board), random.Random(7)
    for position in positions(board, 300, seed=1):
        open, mover, waiter = words(position)
        moves = engine.set("moves", open, mover)
        cells = {cell for cell in range(board.cells) if moves >> cell & 1}
        assert cells == set(position.targets(position.to_move))
        assert bool(engine.call("mirrored", open, mover, waiter)) == loses_by_reflection(position)
        hunts = position.hunter == position.to_move
        assert bool(engine.call("is_hunter", mover, waiter)) == hunts
        number = rng.randrange(len(board.symmetries))
        image = {board.symmetries[number][cell] for cell in position.open}
        assert engine.set("image", number, open) == sum(1 << cell for cell in image)
    start = Position.from_moves((), board.width, board.height)
    assert engine.call("perft", *words(start), 3) == perft_of(start, 3)
    assert engine.call("symmetries") == len(board.symmetries)


def test_reach_and_separation(seven: WasmEngine) -> None:
    """Compare the engine's reachable cells and separation with flood fills in plain Python."""
    apart = 0
    for position in positions(SEVEN, 300, seed=2, plies=40):
        open, mover, waiter = words(position)
        floods = []
        for cell in (mover, waiter):
            found, edge = set[int](), [cell]
            while edge:
                here = edge.pop()
                fresh = [c for c in SEVEN.knight[here] if c in position.open and c not in found]
                found.update(fresh)
                edge += fresh
            floods.append(found)
            assert seven.set("reach", open, cell) == sum(1 << c for c in found)
        separated = not floods[0] & floods[1]
        assert bool(seven.call("separated", open, mover, waiter)) == separated
        apart += separated
    assert apart > 5


HEURISTICS = [id for id in REGISTRY if REGISTRY[id].study != "user" and not REGISTRY[id].parameter]
SUMS = ["static_reach(1/2)", "2*open-improved", "1/3*open+static_reach(0.25)", "-main",
        "near_opponent+bfs_reach", "0.1*center-3*null+bfs_reach"]  # fmt: skip
PHASED = [
    "phase*near_edges+(1-phase)*near_center+bfs_reach",
    "-1/3*phase*phase*(1-phase)*weighted_moves",
    "stage(0.7: improved, 0.2: open_space_difference, longest_win)",
    "stage(47/49: open, 31/64: 2*center, 0.3: null, -improved)",
    "0.7*center-1/7*(1-phase)*stage(0.8: 0.1*open+phase*static_reach(1/3), 0.4: open, null)+open",
]


@pytest.mark.parametrize("id", [*HEURISTICS, *SUMS, *PHASED])
def test_heuristics(id: str, seven: WasmEngine, eight: WasmEngine) -> None:
    atoms = parse_heuristic(id).atoms()
    costly = any(isinstance(atom, Id) and REGISTRY[atom.name].costly for atom in atoms)
    native = evaluator(id)
    for engine, number in ((seven, 40), (eight, 20)):
        address = engine.heuristic(id)
        plies = 40 if costly else 30
        for position in positions(engine.board, 3 if costly else number, seed=3, plies=plies):
            if costly and len(position.open) > 25:
                continue
            for side in ("w", "b"):
                open, me, opp = words(position, side)
                _, mover, _ = words(position)
                value = engine.call("evaluate", address, open, me, opp, mover)
                assert value == native.value(position, side)


@pytest.mark.parametrize(
    ("id", "least"),
    [("open_cluster", 0.0), ("2*open_cluster-open", 0.0), ("improved", 1.0),
     ("open+stage(0.6: open_cluster, improved)", 0.6)],
)  # fmt: skip
def test_the_window_of_open_cluster(
    id: str, least: float, seven: WasmEngine, eight: WasmEngine
) -> None:
    counted = set()
    for engine in (seven, eight):
        board = engine.board
        address, wanted = engine.heuristic(id), engine.addresses["open_cluster"]
        for position in positions(board, 60, seed=6, plies=40):
            open = words(position)[0]
            drawn = explain(position, id).cluster
            asks = address == wanted
            asks |= address == engine.addresses["sum"] and engine.call("sum_asks", wanted, open)
            assert bool(asks) == (drawn is not None) == (len(position.open) / board.cells >= least)
            if drawn is not None:
                assert engine.set("cluster", open) == sum(1 << cell for cell in drawn.cells)
                assert engine.call("cluster_center", open) == drawn.center
                assert bool(engine.call("cluster_counts", open)) == drawn.counts
                counted.add(drawn.counts)
    assert counted == ({True, False} if least < 1 else set())


def test_a_sum_has_room_for_64_heuristics(seven: WasmEngine) -> None:
    position = positions(SEVEN, 1, seed=7)[0]
    open, me, opp = words(position)
    address = seven.heuristic("+".join(["open"] * 64))
    value = seven.call("evaluate", address, open, me, opp, me)
    assert value == 64 * evaluator("open").value(position)
    assert seven.call("add_term", 1.0, 0, 0) == -1
    address = seven.addresses["open"]
    assert seven.call("add_part", address, 0.0, 1.0, 0, 0, 0.0, 2.0) == -1
    seven.call("clear_sum")
    assert seven.call("add_part", address, 0.0, 1.0, 0, 0, 0.0, 2.0) == -1  # there is no term yet


ASKED = [
    ("minimax", "open", Budget(depth=3)),
    ("alphabeta", "improved", Budget(depth=5)),
    ("plain_deepening", "center", Budget(nodes=2500)),
    ("deepening", "improved", Budget(nodes=20_000)),
    ("deepening", "main", Budget(nodes=1500)),
    ("deepening", "bfs_reach", Budget(depth=6)),
    ("deepening", "2*open-improved", Budget(nodes=5000)),
    ("minimax", "phase*open-(1-phase)*center", Budget(depth=3)),
    ("plain_deepening", "stage(0.8: open, improved)+0.1*phase*center", Budget(nodes=2500)),
    ("deepening", "phase*near_edges+(1-phase)*near_center+bfs_reach", Budget(nodes=2500)),
    ("any_move", "null", Budget(depth=1)),
]


@pytest.mark.parametrize(("method", "id", "budget"), ASKED, ids=lambda it: str(it))
def test_searches_node_for_node(method: str, id: str, budget: Budget, seven: WasmEngine,
                                eight: WasmEngine) -> None:  # fmt: skip
    native = evaluator(id)
    for engine in (seven, eight):
        for seed, position in enumerate(positions(engine.board, 12, seed=4)):
            found = engine.search(
                position, method, engine.heuristic(id), symmetric=native.symmetric,
                depth=budget.depth or 64, nodes=budget.nodes, seed=seed,
            )  # fmt: skip
            wanted = run_search(position, SEARCHES[method], native, budget, seed)
            assert found == {
                "move": wanted.move, "score": wanted.score, "depth": wanted.depth,
                "nodes": wanted.nodes, "pv": wanted.pv,
            }  # fmt: skip


def test_winners_and_lengths(seven: WasmEngine) -> None:
    engine = Engine(SEVEN)
    solver = Solver(engine, use_atlas=False)
    there = WasmEngine(SEVEN)
    for position in positions(SEVEN, 60, seed=5):
        before = engine.nodes, there.call("proof_nodes")
        assert bool(there.call("wins", NO_LIMIT, 0, *words(position))) == engine.wins(position)
        assert engine.nodes - before[0] == there.call("proof_nodes") - before[1]
        if len(position.open) < 36:
            assert there.call("plies", NO_LIMIT, 0, *words(position)) == solver.plies(position)


def test_a_limit_and_a_clock_stop_it(eight: WasmEngine) -> None:
    position = Position.from_fen(openings(EIGHT)[7])
    spent = eight.call("proof_nodes")
    assert eight.call("wins", 10_000, 0, *words(position)) == -1
    assert eight.call("proof_nodes") - spent <= 10_000 + 64
    assert eight.call("plies", 10_000, 0, *words(position)) == -1
    assert eight.call("wins", NO_LIMIT, 1, *words(position)) == -1  # a deadline in the past
