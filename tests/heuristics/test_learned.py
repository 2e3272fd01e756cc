"""The learned heuristics: their features counted with sets, their values from the arrays."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import run

import knightfall as kf
from knightfall.errors import KnightfallError
from knightfall.heuristics.explain import explain
from knightfall.heuristics.features import FEATURES, RACE
from knightfall.heuristics.learned import LINEAR, NET
from knightfall.heuristics.model_file import read_model
from knightfall.kernel.neural_net import HIDDEN, UNIT
from knightfall.kernel.rules import geometry, words
from knightfall.learning.models import SEEN_BY
from knightfall.position import Position

BOARDS = ["5x5", "6x4", "7x7", "8x8"]
KINDS = {"linear": LINEAR, "net": NET}


def some_positions(board: str, number: int) -> list[Position]:
    rng, found = random.Random(f"{board} {number}"), []
    width, height = map(int, board.split("x"))
    while len(found) < number:
        position = Position.start(width, height)
        for _ in range(rng.randint(2, width * height - 6)):
            if not position.legal_moves:
                break
            position = position.play(rng.choice(position.legal_moves))
        if position.placed and position.legal_moves:
            found.append(position)
    return found


def features(position: Position, kind: str) -> dict[str, float]:
    names, count_all = SEEN_BY[kind]
    open, mover, waiter = words(position)
    table = np.zeros((1, len(names)), np.float32)
    one = [np.array([open], np.uint64), *(np.array([cell], np.uint8) for cell in (mover, waiter))]
    count_all(geometry(position.board), *one, table)
    return dict(zip(names, map(float, table[0]), strict=True))


# -- features counted with sets ----------------------------------------------------------------


def rings(position: Position, cell: int) -> list[set[int]]:
    """Return the open cells by the number of steps a lone knight needs to reach them."""
    found: list[set[int]] = []
    seen: set[int] = set()
    edge = {cell}
    while edge:
        edge = {n for one in edge for n in position.board.knight[one] if n in position.open} - seen
        seen |= edge
        found.append(edge)
    return found


def walk(position: Position, region: Iterable[int], cell: int) -> int:
    colours = [position.board.colour(one) for one in region]
    same = colours.count(position.board.colour(cell))
    return min(2 * (len(colours) - same), 2 * same + 1)


def by_hand(position: Position) -> dict[str, float]:
    board, open = position.board, set(position.open)
    mover, waiter = (position.knight(side) for side in (position.to_move, _other(position)))
    assert mover is not None
    assert waiter is not None
    ways = {cell: sum(n in open for n in board.knight[cell]) for cell in range(board.cells)}
    owners: dict[str, set[int]] = {"mover": set(), "waiter": set()}
    edges, left = {"mover": {mover}, "waiter": {waiter}}, set(open)
    while any(edges.values()):
        for who in ("mover", "waiter"):
            edges[who] = {n for one in edges[who] for n in board.knight[one]} & left
            left -= edges[who]
            owners[who] |= edges[who]
    found: dict[str, float] = {}
    steps = {}
    for who, cell in (("mover", mover), ("waiter", waiter)):
        layers = [*rings(position, cell), *([set()] * 7)]
        steps[who] = layers
        for step in range(6):
            found[f"{who}: step {step + 1}"] = len(layers[step])
        found[f"{who}: farther"] = sum(map(len, layers[6:]))
        found[f"{who}: walk"] = walk(position, set().union(*layers), cell)
        for k in range(1, 5):
            found[f"{who}: exits {k}"] = sum(ways[one] >= k for one in layers[0])
        found[f"{who}: nearer"] = len(owners[who])
        found[f"{who}: own walk"] = walk(position, owners[who], cell)
        for k in range(1, 4):
            found[f"{who}: nearer exits {k}"] = sum(ways[one] >= k for one in owners[who])
    for who, other in (("mover", "waiter"), ("waiter", "mover")):
        taken = steps[other][0]
        found[f"{who}: free"] = sum(ways[one] >= 2 for one in steps[who][0] - taken)
        found[f"{who}: free 2"] = sum(ways[one] >= 3 for one in steps[who][1] - taken)
    for i, j in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1)):
        found[f"steps {i}–{j}"] = len(steps["mover"][i - 1] & steps["waiter"][j - 1])
    found |= studied(position, mover, waiter, ways)
    found["open cells"], found["cells"] = len(open), board.cells
    return found


def studied(position: Position, mover: int, waiter: int, ways: dict[int, int]) -> dict[str, float]:
    """Return the features that are heuristics of the studies, computed by the printed formulas."""
    board, open = position.board, position.open
    found: dict[str, float] = {}
    reached = {}

    def central(cell: int) -> float:
        down, across = ((n - 1) / 2 for n in (board.height, board.width))
        return (1 - abs(board.row(cell) - down) / down / 2) * (
            1 - abs(board.column(cell) - across) / across / 2
        )

    for who, cell in (("mover", mover), ("waiter", waiter)):
        moves = [one for one in board.knight[cell] if one in open]
        row, column = board.row(cell), board.column(cell)
        squared = (row - (board.height - 1) / 2) ** 2 + (column - (board.width - 1) / 2) ** 2
        far = [board.distance[cell][one] for one in open]
        reached[who] = set().union(*rings(position, cell))
        same = [one for one in reached[who] if board.colour(one) == board.colour(cell)]
        found |= {
            f"{who}: from centre": abs(row - (board.height - 1) / 2)
            + abs(column - (board.width - 1) / 2),
            f"{who}: straight": squared**0.5,
            f"{who}: straight, squared": squared,
            f"{who}: corner moves": sum(len(board.knight[one]) == 2 for one in moves),
            f"{who}: ways on": sum(ways[one] for one in moves),
            f"{who}: central moves": sum(map(central, moves)),
            f"{who}: weighted": len(moves) * central(cell),
            f"{who}: space": sum(one in open for one in board.touching[cell]),
            f"{who}: ring 2": far.count(2),
            f"{who}: ring 3": far.count(3),
            f"{who}: ring 4 on": sum(distance >= 4 for distance in far),
            f"{who}: its colour": len(same),
            f"{who}: other colour": len(reached[who]) - len(same),
        }
    found["rows and columns apart"] = abs(board.row(mover) - board.row(waiter)) + abs(
        board.column(mover) - board.column(waiter)
    )
    found["separated"] = int(not reached["mover"] & reached["waiter"])
    found["odd"] = len(open) % 2
    return found


def race_by_hand(position: Position) -> dict[str, float]:
    """Return the net's features, computed with sets: which knight reaches each cell first."""
    board, open = position.board, set(position.open)
    mover, waiter = (position.knight(side) for side in (position.to_move, _other(position)))
    assert mover is not None
    assert waiter is not None
    found: dict[str, float] = dict.fromkeys(RACE, 0)
    owned: dict[str, set[int]] = {"mover": set(), "waiter": set()}
    edges, left = {"mover": {mover}, "waiter": {waiter}}, set(open)
    for step in ("step 1", "step 2", "step 3", "steps 4–5", "steps 4–5"):
        for who in ("mover", "waiter"):
            edges[who] = {n for one in edges[who] for n in board.knight[one]} & left
            left -= edges[who]
            owned[who] |= edges[who]
            found[f"{who}: {step}"] += len(edges[who])
    for who, cells in owned.items():
        for k in range(1, 5):
            found[f"{who}: exits {k}"] = sum(
                sum(n in open for n in board.knight[cell]) >= k for cell in cells
            )
    found["waiter: moves"] = sum(n in open for n in board.knight[waiter])
    found["open cells"], found["cells"] = len(open), board.cells
    return found


def _other(position: Position) -> Any:
    return "b" if position.to_move == "w" else "w"


BY_HAND = {"linear": cache(by_hand), "net": cache(race_by_hand)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("board", BOARDS)
def test_features_are_what_a_person_would_count(board: str, kind: str) -> None:
    for position in some_positions(board, 60):
        wanted = BY_HAND[kind](position)
        assert features(position, kind) == pytest.approx(wanted, rel=1e-6), position.fen


# -- values ------------------------------------------------------------------------------------


def view(position: Position, side: str) -> str:
    role = "hunter" if position.hunter == side else "runner"
    return role if position.to_move == side else f"{role} waits"


read_once = cache(read_model)


def by_arrays(position: Position, kind: str, side: str) -> float:
    """Return the log odds for a side, computed from the file's arrays in double precision."""
    names, counted = SEEN_BY[kind][0], BY_HAND[kind](position)
    seen = np.array([counted[name] for name in names], float)
    arrays = read_once(KINDS[kind], kind, names)[view(position, side)]
    model = {k: v.astype(float) for k, v in arrays.items()}
    if kind == "net":
        hidden = np.maximum(seen @ model["first"] + model["first_bias"], 0)
        return float(hidden @ model["second"] + model["second_bias"][0])
    phase = seen[FEATURES.index("open cells")] / seen[FEATURES.index("cells")]
    return float(sum((model["weights"][p] @ seen + model["bias"][p]) * phase**p for p in range(3)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("board", BOARDS)
def test_values_are_those_of_the_arrays(board: str, kind: str) -> None:
    heuristic = kf.evaluator(f"learned_{kind}")
    for position in some_positions(board, 40):
        for side in ("w", "b"):
            wanted = by_arrays(position, kind, side)
            assert heuristic.value(position, side) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
        if kind == "linear":  # the values of both sides are opposite
            sides = [heuristic.value(position, side) for side in ("w", "b")]
            assert sides[0] == pytest.approx(-sides[1], abs=1e-6)


def test_the_first_layer_is_exact_in_single_precision() -> None:
    """Check that no sum of a hidden unit needs more bits than a float32 has, for any counts."""
    for arrays in read_model(NET, "net", RACE).values():
        largest = 64 * np.abs(arrays["first"]).sum(axis=0) + np.abs(arrays["first_bias"])
        assert largest.shape == (HIDDEN,)
        assert (largest / UNIT).max() < 2**24


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_with_them_beats_one_without(kind: str) -> None:
    report = kf.match(
        f"id(learned_{kind}, nodes=400)", "id(null, nodes=400)", pairs=20, workers=0, progress=False
    )
    assert report.to_dict()["agents"][0]["won"] > 25


# -- files -------------------------------------------------------------------------------------


def changed(**parts: Any) -> str:
    return json.dumps({**json.loads(NET.read_text(encoding="utf-8")), **parts})


def nudged() -> str:
    """Return a net with a bias that single precision cannot add exactly."""
    hunter = json.loads(NET.read_text(encoding="utf-8"))["hunter"]
    return changed(hunter={**hunter, "first_bias": [1e-5, *hunter["first_bias"][1:]]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NET.read_text(encoding="utf-8")[:5000], "this is not JSON"),
        ("[]", "it must be an object, not a list"),
        (changed(format="knightfall model 7"), "'knightfall model 7', not 'knightfall model 3'"),
        (changed(kind="linear"), "\"kind\" must be one of net, not 'linear'"),
        (changed(features=["open"]), "was fitted to other features than the"),
        (changed(hunter=None), '"hunter" must be an object, not None'),
        (changed(**{"runner waits": None}), '"runner waits" must be an object, not None'),
        (changed(hunter={}), '"first" is missing in hunter'),
        (changed(hunter={"first": [[1.0]] * 19}), '"hunter.first[0]" must be a list of 32 items'),
        (changed(hunter={"first": [[1.0]]}), '"hunter.first" must be a list of 19 items, not 1'),
        (
            changed(hunter={"first": [[1e99] * 32] * 19}),
            '"hunter.first[0][0]" must be a number',
        ),
        (changed(hunter={"first": [["1"] * 32] * 19}), "to 3.40282e+38, not '1'"),
        (nudged(), "hunter.first_bias has numbers that are not multiples of 2⁻¹²"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "model.json"
    file.write_text(text, encoding="utf-8")
    with np.errstate(over="ignore"), pytest.raises(KnightfallError) as error:
        read_model(file, "net", RACE)
    assert words in str(error.value)
    assert str(file) in str(error.value)


# -- explained ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heuristic",
    [
        "learned_linear",
        "2*open-improved",
        "bfs_reach",
        "phase*open-stage(0.7: 2*center, (1-phase)*improved)",
    ],
)
def test_shares_add_up_to_the_value(heuristic: str) -> None:
    for position in some_positions("7x7", 15):
        found = explain(position, heuristic)
        assert sum(share.value for share in found.shares) == pytest.approx(
            found.value, rel=1e-6, abs=1e-6
        )
        assert found.value == kf.evaluator(heuristic).value(position)


def test_explain_tells_every_feature() -> None:
    fen = some_positions("7x7", 1)[0].fen
    shown = run("eval", "--explain", fen)
    assert shown.exit_code == 0
    assert "│" in shown.output
    (told,) = json.loads(run("eval", "--explain", fen, "--json").output)["explained"]
    assert [share["name"] for share in told["shares"]][:-1] == list(FEATURES)


def test_what_cannot_be_explained_is_told() -> None:
    with pytest.raises(KnightfallError, match="both knights must be on the board"):
        explain(Position.start(), "learned_linear")
    with pytest.raises(KnightfallError, match="unknown heuristic"):
        explain(some_positions("7x7", 1)[0], "learned_nothing")
