"""Tests that a set is the same with any workers and after any interruption."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_runner import answer, refused, run
from helpers import need
from positions import files, images, positions

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.learning import data, shard_builder
from knightfall.learning import dataset_card as data_card
from knightfall.learning.data import DEFAULT_SHARES, DataSettings, read_shard, version, write_shard
from knightfall.learning.shard_builder import build_columns
from knightfall.learning.split import SPLITS, class_splits, classes
from knightfall.position import Position
from knightfall.solver.atlas import canonical

need("pyarrow")

ARGS = ("--positions", "3000", "--board", "4x4", "--board", "5x5", "--shard", "400")
WANTED = DataSettings.of(3000, 0, ("4x4", "5x5"), 400)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a set of positions that tests only read; return its folder."""
    folder = tmp_path_factory.mktemp("sets") / "made"
    shard_builder.generate(folder, WANTED, progress=False)
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """Copy the set's folder for tests that damage it."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def everything(folder: Path) -> data.Positions:
    return data.everything(folder, WANTED, WANTED.shards())


# -- content of a set ----------------------------------------------------------------------------


def test_no_test_opening_nor_any_image_of_a_test_position_is_for_training(made: Path) -> None:
    seen: dict[str, set[Position]] = {}
    classes_of: dict[str, set[tuple[int, int]]] = {}
    for split in SPLITS:
        found = data.read(made, split)
        assert len(found) > 100
        seen[split] = set(positions(found))
        assert len(seen[split]) == len(found)  # each position occurs once
        classes_of[split] = {*zip(found.board.tolist(), found.opening.tolist(), strict=True)}
    for held in ("test", "validation"):
        turned = {image for one in seen[held] for image in images(one)}
        for split in SPLITS:
            if split != held:
                assert not turned & seen[split]
                assert not classes_of[held] & classes_of[split]
        # Every mirror image of an opening is in the same split, whether it was drawn or not.
        for one in turned:
            if len(one.open) == one.board.cells - 2:
                cells = canonical(one)
                assert cells is not None
                assert class_splits(one.board)[classes(one.board)[cells]] == SPLITS.index(held)


def test_what_is_there_twice_is_kept_for_the_test(made: Path) -> None:
    found = everything(made)
    where: dict[Position, set[int]] = {}
    for one, split in zip(positions(found), found.split.tolist(), strict=True):
        where.setdefault(one, set()).add(split)
    several = {one: splits for one, splits in where.items() if len(splits) > 1}
    assert several  # otherwise the test would show nothing
    kept = {split: set(positions(data.read(made, split))) for split in SPLITS}
    for one, splits in where.items():
        assert [one in kept[split] for split in SPLITS] == [at == max(splits) for at in range(3)]
    card = json.loads((made / "card.json").read_text())
    assert card["across_splits"] == len(several)
    assert card["kept"] == len(where) == 3000 - card["duplicates"]
    assert card["duplicates"] > 0


def test_the_reader_gives_columns_of_one_board_or_all(made: Path) -> None:
    whole, one = data.read(made, "train"), data.read(str(made), "train", "5x5")
    assert whole.boards == ("4x4", "5x5")
    assert (one.cells == 25).all()
    assert len(one) == (whole.cells == 25).sum()
    assert set(whole.cells.tolist()) == {16, 25}
    kinds = {
        name: column.dtype.str for name, column in vars(one).items() if hasattr(column, "dtype")
    }
    assert kinds["open"] == "<u8"
    assert {kinds[name] for name in ("mover", "waiter", "cells", "board")} == {"|u1"}
    assert {kinds[name] for name in ("wins", "result", "hunter")} == {"|i1"}
    assert (one.open[one.hunter == 1] > 0).all()
    assert one.agents[one.mover_agent[0]]
    for wrong, named in (("tests", "train, validation, test"), ("", "not one of")):
        with pytest.raises(KnightfallError, match=named):
            data.read(made, wrong)
    with pytest.raises(KnightfallError, match="no board 6x6: it has 4x4, 5x5"):
        data.read(made, "test", "6x6")
    with pytest.raises(KnightfallError, match="holds no labelled positions"):
        data.read(made.parent, "test")


def test_the_card_counts_what_the_reader_gives(made: Path) -> None:
    card = json.loads((made / "card.json").read_text())
    found = {split: data.read(made, split) for split in SPLITS}
    assert card["splits"] == {split: len(one) for split, one in found.items()}
    assert sum(row["positions"] for row in card["counts"]) == card["kept"]
    assert sum(card["agents"].values()) == card["kept"]
    won = sum(int(one.wins.sum()) for one in found.values())
    assert card["wins"] == pytest.approx(won / card["kept"], abs=1e-4)
    for split, one in found.items():
        hunting = sum(
            row["positions"]
            for row in card["counts"]
            if (row["split"], row["role"]) == (split, "hunter")
        )
        assert hunting == one.hunter.sum()
        classes_there = {*zip(one.board.tolist(), one.opening.tolist(), strict=True)}
        assert card["openings"][split] == len(classes_there)
    assert (card["labelled"], card["version"]) == (3000, version())
    assert card["seconds"] > 0
    page = (made / "README.md").read_text()
    for part in (card["command"], f"{card['kept']:,}", "| 5x5 | test | runner | end |"):
        assert part in page


def test_the_files_are_parquet_that_others_can_read(made: Path) -> None:
    import pyarrow.parquet as parquet

    table = parquet.read_table(made / "5x5-00001.parquet")
    rows = table.to_pylist()
    found = read_shard(made, WANTED, WANTED.shards()[3])[0]
    assert WANTED.shards()[3].name == "5x5-00001.parquet"
    assert [row["split"] for row in rows] == [SPLITS[at] for at in found["split"]]
    assert [row["open"] for row in rows] == found["open"].tolist()
    assert {row["mover_agent"] for row in rows} <= set(
        json.loads((made / "card.json").read_text())["agents"]
    )


def test_the_description_for_other_tools_names_every_column(made: Path) -> None:
    import pyarrow.parquet as parquet

    about = json.loads((made / data_card.CROISSANT).read_text())
    (records,) = about["recordSet"]
    columns = {
        one["name"]: one["dataType"]
        for one in records["field"]
        if "column" in one["source"]["extract"]
    }
    kinds = {"int8": "cr:Int8", "uint8": "cr:UInt8", "uint16": "cr:UInt16", "uint32": "cr:UInt32"}
    kinds |= {"uint64": "cr:UInt64"}
    schema = parquet.read_schema(made / "4x4-00000.parquet")
    assert columns == {one.name: kinds.get(str(one.type), "sc:Text") for one in schema}
    assert f"{WANTED.positions:,} positions" in records["description"]
    card = json.loads((made / "card.json").read_text())
    assert about["description"].endswith(f"Made by: {card['command']}")


@pytest.mark.slow
def test_mlcroissant_reads_the_same_positions(made: Path) -> None:
    croissant = pytest.importorskip("mlcroissant", reason="it validates the description")
    loaded = croissant.Dataset(jsonld=str(made / data_card.CROISSANT))
    issues = loaded.metadata.issues
    assert not issues.errors
    assert [one for one in issues.warnings if "datePublished" not in one] == []
    ours: dict[str, list[object]] = {name: [] for name in ("board", *data.NUMBERS, *data.WORDS)}
    for shard in sorted(WANTED.shards(), key=lambda one: one.name):
        columns, agents = read_shard(made, WANTED, shard)
        ours["board"] += [shard.board] * shard.positions
        for name in data.NUMBERS:
            ours[name] += columns[name].tolist()
        for name in data.WORDS:
            words = SPLITS if name == "split" else agents
            ours[name] += [words[code] for code in columns[name]]
    theirs: dict[str, list[object]] = {name: [] for name in ours}
    for record in loaded.records("positions"):
        for name in ours:
            value = record[f"positions/{name}"]
            theirs[name].append(value.decode() if isinstance(value, bytes) else int(value))
    assert theirs == ours


# -- repeated and resumed builds -----------------------------------------------------------------


def test_two_workers_make_the_same_files(made: Path, tmp_path: Path) -> None:
    heard: list[int] = []
    shard_builder.generate(tmp_path / "two", WANTED, workers=2, progress=heard.append)
    assert files(tmp_path / "two") == files(made)
    assert len(files(made)) == len(WANTED.shards()) == 8
    assert heard == sorted(heard)
    assert heard[-1] == 3000


def test_another_seed_makes_other_files(made: Path) -> None:
    one, two = DataSettings.of(seed=1).shards()[0], DataSettings.of(seed=2).shards()[0]
    assert one.seed != two.seed
    shard = WANTED.shards()[0]
    other = DataSettings.of(3000, 9, ("4x4", "5x5"), 400).shards()[0]
    assert (build_columns(other)["key"] != build_columns(shard)["key"]).any()
    assert (build_columns(shard)["key"] == read_shard(made, WANTED, shard)[0]["key"]).all()


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_set_goes_on_after_a_kill(kill: signal.Signals, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    code = "from knightfall.cli import main; main()"
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", code, "learn", "data", str(folder), *ARGS],
        env={**os.environ, "KNIGHTFALL_QUIET": "1"},
        stdout=pipe,
        stderr=pipe,
        text=True,
    )
    until = time.monotonic() + 60
    while len(files(folder)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(kill)
    _, said = process.communicate()
    done = len(files(folder))
    assert 2 <= done < 8
    if kill == signal.SIGINT:
        assert process.returncode == 130
        assert (
            said
            == f"knightfall: interrupted with {done} of 8 files; repeat the command to continue\n"
        )
    else:
        (folder / ".4x4-00009.parquet.abcd.part").write_bytes(b"PAR1")  # what a kill may leave
    with pytest.raises(KnightfallError, match=f"not complete: it has {done} of 8 files"):
        data.read(folder, "train")
    assert 0 < len(data.read(folder, "train", partial=True)) < len(data.read(made, "train"))
    before = {file: file.stat().st_mtime_ns for file in folder.glob("*.parquet")}
    answer("learn", "data", str(folder), *ARGS, "--json")
    assert files(folder) == files(made)
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert not list(folder.glob(".*.part"))


# -- what is refused -----------------------------------------------------------------------------


def test_other_settings_are_refused_and_named(made: Path) -> None:
    before = {file: file.read_bytes() for file in made.iterdir()}
    for args, named in (
        (("--seed", "5"), "seed 0, not 5"),
        (("--positions", "4000"), "positions 3000, not 4000"),
        (("--shard", "401"), "shard 400, not 401"),
        (("--board", "5x6"), "boards 4x4(1) 5x5(1), not 4x4(1) 5x5(1) 5x6(1)"),
    ):
        assert named in refused("learn", "data", str(made), *ARGS, *args)
    assert {file: file.read_bytes() for file in made.iterdir()} == before


def test_a_set_of_another_version_is_read_but_not_gone_on_with(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "version", lambda: "0.0.1+other")
    said = refused("learn", "data", str(copy), *ARGS)
    assert f"version {version()}, not 0.0.1+other" in said
    assert len(data.read(copy, "test")) > 0


def test_a_damaged_file_is_noticed_and_named(copy: Path) -> None:
    file = copy / "5x5-00001.parquet"
    good = file.read_bytes()
    for bad in (good[: len(good) // 2], good[:-1], b"", b"PAR1", bytes(300)):
        file.write_bytes(bad)
        for said in (refused("learn", "data", str(copy), *ARGS), str(failure(copy))):
            assert f"{str(file)!r} is damaged" in said
            assert "delete it" in said
    file.write_bytes(good)
    keys = keys_or_error(copy)
    assert keys.startswith("[")
    for at in range(4, len(good), len(good) // 60):  # a bit, anywhere
        file.write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1 :])
        told = keys_or_error(copy)
        assert told == keys or str(file) in told  # damage in unused bytes goes unnoticed
    shutil.copy(copy / "5x5-00000.parquet", file)
    assert "the settings, name or board recorded in the file are those of another one" in str(
        failure(copy)
    )
    file.unlink()
    answer("learn", "data", str(copy), *ARGS, "--json")
    assert file.read_bytes() == good


def keys_or_error(folder: Path) -> str:
    """Return what a reader sees: the keys, or the error."""
    try:
        return str(data.read(folder, "train").key.tolist())
    except KnightfallError as error:
        return str(error)


def failure(folder: Path) -> KnightfallError:
    with pytest.raises(KnightfallError) as caught:
        data.read(folder, "train")
    return caught.value


def test_positions_that_cannot_be_are_refused_even_if_the_checksum_is_right(copy: Path) -> None:
    shard = WANTED.shards()[0]
    columns, agents = read_shard(copy, WANTED, shard)
    cells = Board.named(shard.board).cells
    for name, value in (
        ("mover", cells), ("waiter", 255), ("open", 2**cells), ("open", 2**64 - 1),
        ("wins", -1), ("opening", 60_000), ("hunter", 2),
    ):  # fmt: skip
        bad = columns[name].copy()
        bad[7] = value
        write_shard(copy, WANTED, shard, {**columns, name: bad}, agents)
        assert "impossible positions" in str(failure(copy))
    bad = columns["waiter"].copy()
    bad[7] = columns["mover"][7]
    write_shard(copy, WANTED, shard, {**columns, "waiter": bad}, agents)
    assert "impossible positions" in str(failure(copy))
    write_shard(copy, WANTED, shard, columns, (*agents[:-1], agents[-1] + "!"))
    assert len(data.read(copy, "train"))


def test_damaged_settings_are_named(copy: Path) -> None:
    file = copy / "settings.json"
    right = json.loads(file.read_text())
    for wrong, named in (
        ("{", "not JSON"),
        (json.dumps({**right, "format": "x"}), "the format is 'x'"),
        (json.dumps({**right, "positions": -3}), "positions"),
        (json.dumps({**right, "boards": {"9x9": 1}}), "81 cells"),
        (json.dumps({**right, "shard": 0}), "shard"),
        (json.dumps({**right, "positions": 10**18}), "positions"),
        ("[]", "object"),
    ):
        file.write_text(wrong)
        said = refused("learn", "data", str(copy), *ARGS)
        assert "settings.json" in said
        assert named in said


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--positions", "0"], "'0'"),
        (["--positions", "many"], "'many'"),
        (["--positions", "4"], "one for each board"),
        (["--positions", "9000000000"], "9000000000"),
        (["--shard", "70000"], "65,536"),
        (["--shard", "1", "--positions", "1000000"], "50,000 files"),
        (["--board", "7"], "'7'"),
        (["--board", "2x9"], "too small"),
        (["--board", "5x6", "--board", "5x6"], "given twice"),
        (["--board", "5x6", "--board", "6x5"], "rotations of each other"),
        (["--workers", "9999"], "workers=9999"),
        (["--seed", "-1"], "'-1'"),
    ],
    ids=" ".join,
)
def test_bad_settings(args: list[str], named: str, tmp_path: Path) -> None:
    assert named in refused("learn", "data", str(tmp_path / "out"), *args)
    assert not (tmp_path / "out").exists()


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    assert "is not empty (it has 'mine.txt')" in refused("learn", "data", str(tmp_path), *ARGS)
    assert "is a file" in refused("learn", "data", str(tmp_path / "mine.txt"), *ARGS)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_without_pyarrow_it_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "knightfall[parquet]" in refused("learn", "data", str(tmp_path / "out"), *ARGS)
    assert not (tmp_path / "out").exists()


# -- the plan ------------------------------------------------------------------------------------


def test_boards_share_the_positions() -> None:
    for wanted in (
        DataSettings.of(),
        DataSettings.of(1234567),
        DataSettings.of(5),
        DataSettings.of(77, shard=3),
    ):
        planned = wanted.shards()
        assert sum(shard.positions for shard in planned) == wanted.positions
        assert {shard.board for shard in planned} == set(DEFAULT_SHARES)
        assert [shard.number for shard in planned] == [*range(len(planned))]
        assert len({shard.name for shard in planned}) == len(planned)
        assert len({shard.seed for shard in planned}) == len(planned)
        assert 0 < max(shard.positions for shard in planned) <= wanted.shard
    planned = DataSettings.of().shards()
    for part in (planned[:20], planned[20:]):  # an unfinished set has files of every board
        share = np.mean([shard.board == "7x7" for shard in part])
        assert 0.55 < share < 0.75


def test_the_command_makes_the_same_settings() -> None:
    for wanted in (DataSettings.of(), WANTED, DataSettings.of(50, 7, ("8x8",), 10)):
        words = wanted.command("x y").split("'x y' ")[1].split()
        given = {words[at]: words[at + 1] for at in range(0, len(words), 2)}
        boards = [words[at + 1] for at in range(0, len(words), 2) if words[at] == "--board"]
        shard = int(given.get("--shard", data.SHARD))
        again = DataSettings.of(int(given["--positions"]), int(given["--seed"]), boards, shard)
        assert again == wanted


def test_the_help_tells_the_defaults_of_the_settings() -> None:
    told = run("learn", "data", "--help").stdout
    assert f"[default: {data.SHARD}]" in told
    assert f"[default: {data.POSITIONS}]" in told
