"""Tests of fitting: from positions to a heuristic on a small board."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import refused, run
from helpers import need
from positions import position

import knightfall as kf
from knightfall.errors import KnightfallError
from knightfall.heuristics.features import FEATURES, RACE
from knightfall.heuristics.model_file import VIEWS, read_model
from knightfall.learning import fitting
from knightfall.learning.data import Positions, read
from knightfall.learning.fitting import TRUTHFUL, fit, judged, labelled
from knightfall.learning.models import (
    FeatureTable,
    Labelled,
    LossCurve,
    Scale,
    TrainingSettings,
    fit_net,
    predict_linear,
    predict_net,
    tables,
)

need("pyarrow", "sklearn")

KINDS = ("linear", "net") if importlib.util.find_spec("torch") else ("linear",)
"""The kinds of models that can be fitted here; the net needs torch, which `make test` does not
install.
"""


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learning") / "positions"
    some = "--positions", "6000", "--board", "5x5", "--shard", "3000"
    assert run("learn", "data", str(folder), *some).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def models(positions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learning") / "models"
    kinds = [word for kind in KINDS for word in ("--kind", kind)]
    few = {group: fitting.GROUPS[group] for group in ("nothing", "the waiter")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "GROUPS", few)  # each group takes two fits
        made = run("learn", "fit", str(positions), str(folder), "--epochs", "4", "--ablate", *kinds)
    assert made.exit_code == 0, made.output
    assert "On positions from openings that were not trained on" in made.output
    return folder


@pytest.mark.slow
def test_it_learns_what_it_never_saw(models: Path) -> None:
    """Check that each model, in every view, beats the log-loss of the constant share of wins."""
    found = json.loads((models / "fit.json").read_text(encoding="utf-8"))
    for kind, views in zip(KINDS, (TRUTHFUL, VIEWS), strict=False):
        assert tuple(found["judged"][kind]) == views
        for view in views:
            one = found["judged"][kind][view]
            assert one["log-loss"] < one["log-loss of the share alone"]
            assert one["area"] > 0.7
    if "net" in KINDS:
        assert all(len(found["curves"][view]["validation"]) == 4 for view in VIEWS)
    assert found["ablations"]["the waiter"]["hunter"] > found["ablations"]["nothing"]["hunter"]


def test_what_was_learned_plays(models: Path) -> None:
    for kind in KINDS:
        agent = f"id({models / 'models.py'}:learned_{kind}, nodes=300)"
        report = kf.match(agent, "random", pairs=10, board="5x5", workers=0, progress=False)
        assert report.to_dict()["agents"][0]["won"] > 10


def test_the_compiled_value_is_the_training_librarys(models: Path, positions: Path) -> None:
    """Compare compiled probabilities with those of PyTorch in double precision."""
    torch = pytest.importorskip("torch", reason="torch fits the net")
    board = kf.Board.of(5, 5)
    one = read(positions, "test", "5x5")
    model = read_model(models / "learned_net.json", "net", RACE)
    heuristic = kf.evaluator(f"{models / 'models.py'}:learned_net")
    rows = replace(labelled(one), serious=np.ones(len(one.wins), bool))
    found = tables(board, rows, "net")
    for view in VIEWS:
        arrays = {name: torch.from_numpy(array).double() for name, array in model[view].items()}
        layer = torch.from_numpy(found[view].features).double() @ arrays["first"]
        hidden = torch.relu(layer + arrays["first_bias"])
        wanted = torch.sigmoid(hidden @ arrays["second"] + arrays["second_bias"]).numpy()
        ours = 1 / (1 + np.exp(-predict_net(model[view], found[view])))
        assert np.abs(ours - wanted).max() < 1e-9
        seen = _of_view(rows, board, view)[:150]
        values = [heuristic.value(here, _side(here, view)) for here, _ in seen]
        said = 1 / (1 + np.exp(-np.array(values)))
        assert np.abs(said - wanted[: len(said)]).max() < 1e-6


def test_the_compiled_linear_value_is_the_sum_of_its_weights(models: Path, positions: Path) -> None:
    """Compare the linear model's log-odds, and the compiled ones, with a sum in plain Python."""
    board = kf.Board.of(5, 5)
    one = read(positions, "test", "5x5")
    model = read_model(models / "learned_linear.json", "linear", FEATURES)
    heuristic = kf.evaluator(f"{models / 'models.py'}:learned_linear")
    rows = replace(labelled(one), serious=np.ones(len(one.wins), bool))
    found = tables(board, rows, "linear")
    for view in TRUTHFUL:
        weights, bias = (model[view][name].tolist() for name in ("weights", "bias"))
        seen = _of_view(rows, board, view)[:100]
        wanted = [
            sum(
                (bias[power] + sum(w * f for w, f in zip(row, features, strict=True)))
                * float(phase) ** power
                for power, row in enumerate(weights)
            )
            for features, phase in zip(
                found[view].features[: len(seen)].tolist(),
                found[view].phase[: len(seen)],
                strict=True,
            )
        ]
        assert len(seen) == 100
        ours = predict_linear(model[view], found[view])[:100]
        assert ours.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        values = [heuristic.value(here, _side(here, view)) for here, _ in seen]
        assert values == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def _side(here: kf.Position, view: str) -> Any:
    """Return the side from whose point of view a position is seen in a view."""
    return here.to_move if " " not in view else "b" if here.to_move == "w" else "w"


def _of_view(rows: Labelled, board: kf.Board, view: str) -> list[tuple[kf.Position, int]]:
    """Return the positions that belong to a view, in the table's order, with their row numbers."""
    found = []
    for row, (open, mover, waiter) in enumerate(
        zip(rows.open, rows.mover, rows.waiter, strict=True)
    ):
        here = position(board, int(open), int(mover), int(waiter))
        role = "hunter" if here.hunter == _side(here, view) else "runner"
        if view.startswith(role) and len(here.open) < 44 / 49 * board.cells:
            found.append((here, row))
    return found


def test_hunters_learn_the_truth_and_runners_what_came_of_it(positions: Path) -> None:
    """Compare the targets with their definition: for hunters the solver's winner, for runners a win
    by the solver or in the game.
    """
    board, one = kf.Board.of(5, 5), read(positions, "train", "5x5")
    rows = labelled(one)
    assert 0 < rows.serious.mean() < 1
    found = tables(board, rows, "net")
    for view in VIEWS:
        wanted = []
        for here, row in _of_view(rows, board, view):
            moves = here.to_move == _side(here, view)
            wins = bool(rows.wins[row]) == moves
            won = bool(rows.result[row]) == moves
            if view.startswith("hunter"):
                wanted.append(wins)
            elif rows.serious[row]:
                wanted.append(wins or won)
        assert found[view].wins.tolist() == wanted


def some_table(rows: int, seed: int = 0) -> FeatureTable:
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 20, (rows, len(RACE))).astype(np.float32)
    wins = (features[:, 0] > features[:, 1]).astype(np.float32)
    return FeatureTable(features, wins, rng.random(rows, np.float32))


def test_an_interrupted_fit_ends_with_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch fits the net")
    table, seen = some_table(5000), some_table(500, 1)
    whole, curve = fit_net(
        table, seen, TrainingSettings(4, 3), tmp_path / "a", lambda epoch, curve: None
    )

    class Stop(Exception):
        pass

    def stop_after_two(epoch: int, curve: LossCurve) -> None:
        if epoch == 2:
            raise Stop

    with pytest.raises(Stop):
        fit_net(table, seen, TrainingSettings(4, 3), tmp_path / "b", stop_after_two)
    epochs: list[int] = []
    again, other = fit_net(
        table,
        seen,
        TrainingSettings(4, 3),
        tmp_path / "b",
        lambda epoch, curve: epochs.append(epoch),
    )
    assert epochs == [3, 4]
    assert other.validation == curve.validation
    assert all(np.array_equal(whole[name], again[name]) for name in whole)
    assert curve.validation[-1] < 0.5  # it has learned, too


def test_a_damaged_checkpoint_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch fits the net")
    table = some_table(300)
    fit_net(table, table, TrainingSettings(1, 0), tmp_path / "kept", lambda epoch, curve: None)
    data = (tmp_path / "kept").read_bytes()
    (tmp_path / "kept").write_bytes(data[: len(data) // 2])
    with pytest.raises(KnightfallError, match=r"is damaged .* delete it to start again"):
        fit_net(table, table, TrainingSettings(1, 0), tmp_path / "kept", lambda epoch, curve: None)


def test_scale_leaves_alone_what_never_changes() -> None:
    features = np.ones((10, 5), np.float32)
    assert np.abs(Scale.of(features).applied(features)).max() == 0


def test_scale_is_exact_for_many_rows() -> None:
    features = np.full((100_000, 2), 1000, np.float32)
    features[::2, 1] = 1001  # in every second row
    scale = Scale.of(features)
    assert scale.mean.tolist() == [1000, 1000.5]
    assert scale.spread.tolist() == [1, 0.5]


def test_judgement_by_hand() -> None:
    wins = np.array([1, 1, 0, 0], np.float32)
    table = FeatureTable(np.ones((4, 5), np.float32), wins, np.full(4, 0.5, np.float32))
    found = judged(np.array([2.0, -1.0, 1.0, -2.0]), table)
    assert found["right"] == 0.5
    assert found["area"] == 0.75
    wanted = -np.mean(
        np.log([1 / (1 + np.exp(-2)), 1 / (1 + np.e), 1 / (1 + np.e), 1 / (1 + np.exp(-2))])
    )
    assert found["log-loss"] == pytest.approx(wanted)


def test_calibration_by_hand() -> None:
    """Check ten groups of one prediction each: log-odds of log 3 are a chance of 3/4, and of −log 3
    of 1/4.
    """
    odds = np.log(np.array([3, 1 / 3, 1, 1, 1, 1, 1, 1, 1, 1]))
    wins = np.array([1, 0, 0, 1, 0, 1, 0, 1, 0, 1], np.float32)
    found = fitting._calibration(odds, wins)
    assert [group["predicted"] for group in found] == pytest.approx([0.25, *[0.5] * 8, 0.75])
    assert [group["won"] for group in found] == [0, 0, 1, 0, 1, 0, 1, 0, 1, 1]
    assert [group["positions"] for group in found] == [1] * 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kind", "cubic"], "unknown kind of model 'cubic'; known: linear, net"),
        (["--kind", "net", "--ablate"], "--ablate needs the linear model: add --kind linear"),
        (["--epochs", "0"], "'0' is not accepted: give a whole number, at least 1"),
        (["--epochs", "5000"], "epochs=5000 must be from 1 to 1000"),
    ],
)
def test_bad_options(positions: Path, tmp_path: Path, options: list[str], words: str) -> None:
    assert words in refused("learn", "fit", str(positions), str(tmp_path / "out"), *options)


def test_the_line_needs_no_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(KnightfallError, match=r"needs torch .*knightfall\[net\]"):
        fit(tmp_path, tmp_path / "out")
    with pytest.raises(KnightfallError, match=str(tmp_path)):  # the folder has no positions
        fit(tmp_path, tmp_path / "out", kinds=["linear"])
    assert not (tmp_path / "out").exists()


def test_a_split_without_positions_is_told(
    positions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def empty(folder: Path, split: str) -> Positions:
        found = read(folder, split)
        return found.where(found.board < 0)

    monkeypatch.setattr(fitting, "read", empty)
    with pytest.raises(
        KnightfallError, match=f"{positions}' has no positions of the split 'train'"
    ):
        fit(positions, tmp_path / "out", kinds=["linear"])


# -- damaged sets; `test_sets` has those that are cut short or exchanged ------------------------


def rewritten(shard: Path, change: Any) -> None:
    """Write a shard again with changed columns, but with the metadata of the original."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(shard)
    parquet.write_table(change(table).replace_schema_metadata(table.schema.metadata), shard)


def with_column(name: str, values: Any) -> Any:
    """Return a function that replaces a column of a table."""

    def change(table: Any) -> Any:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, [values(table[name])])

    return change


def in_place(shard: Path, what: Any) -> None:
    shard.unlink()
    what(shard)


def with_nan(column: Any) -> Any:
    import pyarrow

    return pyarrow.array(np.full(len(column), np.nan))


def foreign_names(column: Any) -> Any:
    import pyarrow

    return pyarrow.array(["exam"] * len(column)).dictionary_encode()


LINEAR = ("--kind", "linear")

DAMAGES = {
    "missing": lambda shard: shard.unlink(),
    "a folder": lambda shard: in_place(shard, Path.mkdir),
    "a pipe": lambda shard: in_place(shard, os.mkfifo),
    "a link to itself": lambda shard: in_place(shard, lambda path: path.symlink_to(path.name)),
    "JSON": lambda shard: shard.write_text('{"open": [1, 2, 3]}'),
    "NaN": lambda shard: rewritten(shard, with_column("wins", with_nan)),
    "a wider type": lambda shard: rewritten(
        shard, with_column("mover", lambda column: column.cast("int64"))
    ),
    "text": lambda shard: rewritten(
        shard, with_column("open", lambda column: column.cast("string"))
    ),
    "foreign names": lambda shard: rewritten(shard, with_column("split", foreign_names)),
    "a column less": lambda shard: rewritten(shard, lambda table: table.drop_columns(["key"])),
    "no rows": lambda shard: rewritten(shard, lambda table: table.slice(0, 0)),
    "rows twice": lambda shard: rewritten(
        shard, lambda table: table.take(list(range(table.num_rows)) * 2)
    ),
    "other values": lambda shard: rewritten(
        shard, with_column("wins", lambda column: column.take(list(range(len(column)))[::-1]))
    ),
}  # fmt: skip


@pytest.fixture
def damaged(positions: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(positions, tmp_path / "damaged"))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_shard_is_named(damaged: Path, tmp_path: Path, damage: str) -> None:
    shard = min(damaged.glob("*.parquet"))
    DAMAGES[damage](shard)
    assert str(damaged) in refused("learn", "fit", str(damaged), str(tmp_path / "out"), *LINEAR)
    assert not [*(tmp_path / "out").glob("*.json")]


@pytest.mark.parametrize(
    "log", [b"\xff\n", b'{"file": [], "seconds": 1}\n', b'{"file": "a", "seconds": 1e999}\n[[[[']
)
def test_a_damaged_log_does_not_prevent_the_card(damaged: Path, log: bytes) -> None:
    (damaged / "card.json").unlink()
    (damaged / "log.jsonl").write_bytes(log)
    some = "--positions", "6000", "--board", "5x5", "--shard", "3000"
    done = run("learn", "data", str(damaged), *some)
    assert done.exit_code == 0, done.output
    assert json.loads((damaged / "card.json").read_text())["kept"] > 0
