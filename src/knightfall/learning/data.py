"""Labelled positions: their settings, their Parquet files, and reading a split.

::

    from knightfall.learning import data

    train = data.read("positions", "train")
    test = data.read("positions", "test", board="7x7")
    train.open, train.mover, train.waiter, train.wins      # numpy arrays, a position each

The settings determine every file, bit by bit. A file is written whole or not at all. It records the
settings and the place that it belongs to, and a hash of all columns. A row is a position in
canonical form (the first of its mirror images); `COLUMNS` describes the columns. Reading returns
each position once.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.arena.engine_version import engine
from knightfall.board import Board
from knightfall.errors import KnightfallError, nearest
from knightfall.learning.split import SPLITS, classes, kept
from knightfall.optional_dependencies import require
from knightfall.untrusted_input import (
    Whole,
    check,
    check_format,
    parse_json,
    read_bytes,
    read_text,
)
from knightfall.user_folders import atomic_write

# -- the settings -----------------------------------------------------------------------------


FORMAT = "knightfall data 1"
FILE = "settings.json"

DEFAULT_SHARES = {"5x5": 1, "5x6": 1, "6x6": 2, "6x7": 3, "7x7": 13}
"""The boards of a set that names none, with the relative number of positions of each."""

POSITIONS = 1_000_000
MOST_POSITIONS = 10**9
SHARD, MOST_IN_SHARD = 20_000, 2**16
"""Positions in a file: default and maximum. A game's number has 16 bits for the file and 16 for the
game within it.
"""
MOST_SHARDS = 50_000


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a set of labelled positions: its board, number of positions and seed."""

    name: str
    board: str
    number: int
    """Its index among all files."""
    positions: int
    seed: str


@dataclass(frozen=True, slots=True)
class DataSettings:
    """The settings of a set of labelled positions, and the version of knightfall that makes it."""

    positions: int
    seed: int
    shares: dict[str, int]
    shard: int
    version: str

    @staticmethod
    def of(
        positions: int = POSITIONS,
        seed: int = 0,
        boards: Sequence[str] = (),
        shard: int = SHARD,
    ) -> DataSettings:
        """Return checked settings for the running version; `boards` share the positions equally."""
        shares = DEFAULT_SHARES
        if boards:
            names = [Board.named(name).text for name in boards]
            _refuse_images(names)
            shares = dict.fromkeys(names, 1)
        return DataSettings(positions, seed, shares, shard, version()).checked()

    def checked(self) -> DataSettings:
        """Return self. Raise a KnightfallError for a value outside its range."""
        if not len(self.shares) <= self.positions <= MOST_POSITIONS:
            raise KnightfallError(
                f"positions={self.positions} must be from {len(self.shares)} (one for each board) "
                f"to {MOST_POSITIONS:,}"
            )
        if not 1 <= self.shard <= MOST_IN_SHARD:
            raise KnightfallError(
                f"shard={self.shard} must be from 1 to {MOST_IN_SHARD:,} positions"
            )
        if self.positions // self.shard > MOST_SHARDS:
            raise KnightfallError(
                f"shard={self.shard}: {self.positions:,} positions would need more than "
                f"{MOST_SHARDS:,} files"
            )
        if self.seed < 0:
            raise KnightfallError(f"seed={self.seed} must be 0 or more")
        return self

    def shards(self) -> list[Shard]:
        """Return all files in the order of building, which mixes the boards by their shares."""
        found: list[tuple[float, Shard]] = []
        for board, positions in _allotted(self.positions, self.shares).items():
            count = -(-positions // self.shard)
            for index in range(count):
                size = min(self.shard, positions - index * self.shard)
                seed = f"data {self.seed}/{board}/{index}"
                name = f"{board}-{index:05}.parquet"
                found.append(((index + 0.5) / count, Shard(name, board, 0, size, seed)))
        found.sort(key=lambda one: one[0])
        return [replace(one, number=number) for number, (_, one) in enumerate(found)]

    def to_json(self) -> dict[str, Any]:
        """Return the settings as the folder's JSON file stores them."""
        return {
            "format": FORMAT,
            "positions": self.positions,
            "seed": self.seed,
            "boards": self.shares,
            "shard": self.shard,
            "version": self.version,
        }

    @property
    def hash(self) -> str:
        """Return the hash that identifies these settings in every file."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def command(self, folder: str) -> str:
        """Return the ``knightfall learn data`` command line that makes this set of positions."""
        words = ["knightfall learn data", quote(folder), f"--positions {self.positions}"]
        if self.shares != DEFAULT_SHARES:
            words += [f"--board {board}" for board in self.shares]
        words.append(f"--seed {self.seed}")
        if self.shard != SHARD:
            words.append(f"--shard {self.shard}")
        return " ".join(words)


@cache
def version() -> str:
    """Return a version that changes with any code that affects the positions in a set."""
    from knightfall.kernel.source_hashes import hash_of

    made = hash_of("knightfall.learning.shard_builder", within="knightfall.learning")
    return f"{engine()}+{made}"


def read_settings(folder: Path) -> DataSettings:
    """Read the settings of a folder. Raise a KnightfallError if they are missing or invalid."""
    file = folder / FILE
    if not file.exists():
        raise KnightfallError(
            f"{str(folder)!r} holds no labelled positions: make them with knightfall learn data"
        )
    text, whole = read_text(file), Whole(0)
    try:
        found = check_format(parse_json(text), FORMAT)
        shape = {"positions": whole, "seed": whole, "boards": {str: Whole(1)}, "shard": Whole(1)}
        check({"format": str, "version": str, **shape}, found)
        for board in found["boards"]:
            Board.named(board)
        return DataSettings(
            found["positions"], found["seed"], found["boards"], found["shard"], found["version"]
        ).checked()
    except KnightfallError as error:
        raise KnightfallError(f"{str(file)!r}: {error}") from None


def refuse_other_settings(folder: Path, here: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise a KnightfallError with all differences if a folder's settings are not the wanted ones.

    Settings are compared as JSON values. "files" are hashes of the user's files, by path.
    """
    differing = [name for name, value in wanted.items() if here.get(name) != value]
    changes = "; ".join(_change(name, here.get(name), wanted[name]) for name in differing)
    if changes:
        raise KnightfallError(
            f"{str(folder)!r} was made with other settings ({changes}): use the same settings or "
            "another folder"
        )


def _change(name: str, here: Any, wanted: Any) -> str:
    if name == "files":
        edited = sorted(file for file in {*here, *wanted} if here.get(file) != wanted.get(file))
        return f"{', '.join(edited)} was edited"
    return f"{name} {_shown(here)}, not {_shown(wanted)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}({share})" for name, share in value.items())
    if isinstance(value, list):
        return ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
    return str(value)


def _refuse_images(boards: list[str]) -> None:
    for place, name in enumerate(boards):
        board = Board.named(name)
        turned = f"{board.height}x{board.width}"
        if name in boards[:place]:
            raise KnightfallError(f"board {name} is given twice")
        if turned in boards[:place]:
            # Test positions of one board would be training positions of the other, rotated.
            raise KnightfallError(
                f"boards {turned} and {name} are rotations of each other: give only one"
            )


def _allotted(positions: int, shares: dict[str, int]) -> dict[str, int]:
    """Return the number of positions of each board: at least one, `positions` in total."""
    total = sum(shares.values())
    found = {board: max(1, positions * share // total) for board, share in shares.items()}
    most = max(shares, key=lambda board: shares[board])
    found[most] += positions - sum(found.values())
    return found


# -- the files --------------------------------------------------------------------------------


NUMBERS = {
    "open": "u8", "mover": "u1", "waiter": "u1", "wins": "i1", "result": "i1", "hunter": "i1",
    "ply": "u1", "drawn": "u1", "opening": "u2", "game": "u4", "key": "u8",
}  # fmt: skip
WORDS = ("mover_agent", "waiter_agent", "split")
"""Columns that hold names; in memory, indices into the lists of agents and of splits."""

COLUMNS = {
    "open": "the open cells as bits; cell 0 is the lowest bit",
    "mover": "the cell of the knight that moves; cells are numbered row by row from the top left",
    "waiter": "the cell of the other knight",
    "wins": "1 if the mover wins when both play their best, else 0",
    "result": "1 if the mover won the game that was played, else 0",
    "hunter": "1 if the mover can take cells from the waiter, 0 if it is the other way round",
    "ply": "moves made in the game so far",
    "drawn": "how many of the game's first moves were random",
    "opening": "the number of the class of the game's opening, in the order of the atlas",
    "game": "the number of the game",
    "key": "64 bits of a hash of board and position: equal keys are equal positions",
    "mover_agent": "the agent that moves",
    "waiter_agent": "the other agent",
    "split": "train, validation or test, by the class of the opening",
}
"""The meaning of each column."""

Columns = dict[str, npt.NDArray[Any]]

ABOUT = b"knightfall"
"""The key of the file's metadata in the Parquet schema."""


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet; raise a KnightfallError if they are not installed."""
    require("data to learn from", "pyarrow")
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")


def write_shard(
    folder: Path, settings: DataSettings, shard: Shard, columns: Columns, agents: tuple[str, ...]
) -> None:
    """Write the Parquet file of a shard, atomically."""
    pyarrow, parquet = arrow()
    about = {
        "format": FORMAT,
        "settings": settings.hash,
        "shard": shard.name,
        "board": shard.board,
        "agents": list(agents),
        "digest": _digest(columns),
    }
    arrays = {name: pyarrow.array(columns[name]) for name in NUMBERS}
    for name in WORDS:
        words = SPLITS if name == "split" else agents
        codes = pyarrow.array(columns[name].astype(np.int32))
        arrays[name] = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(words))
    table = pyarrow.table(arrays).replace_schema_metadata({ABOUT: json.dumps(about)})
    page = io.BytesIO()
    parquet.write_table(table, page, compression="zstd", write_page_checksum=True)
    atomic_write(folder / shard.name, page.getvalue(), sync=True)


def read_shard(
    folder: Path, settings: DataSettings, shard: Shard
) -> tuple[Columns, tuple[str, ...]]:
    """Return a file's columns and agents. Raise a KnightfallError if it is damaged."""
    file = folder / shard.name
    try:
        return _read(read_bytes(file), settings, shard)
    except _Damaged as error:
        raise KnightfallError(
            f"{str(file)!r} is damaged ({error}): delete it and repeat the command"
        ) from None


class _Damaged(Exception):
    """Raised for a damaged file; the message says what is wrong."""


def _read(data: bytes, settings: DataSettings, shard: Shard) -> tuple[Columns, tuple[str, ...]]:
    pyarrow, parquet = arrow()
    try:
        table = parquet.read_table(pyarrow.BufferReader(data), page_checksum_verification=True)
        about = json.loads((table.schema.metadata or {})[ABOUT])
        agents = tuple(str(name) for name in about["agents"])
        identity = (about["format"], about["settings"], about["shard"], about["board"])
    except KeyError:
        raise _Damaged("the file has no knightfall metadata") from None
    except MemoryError:
        raise
    except Exception as error:  # pyarrow raises a dozen kinds of errors for damaged files
        text = " ".join(str(error).split()) or type(error).__name__
        raise _Damaged(text[:100]) from None
    if identity != (FORMAT, settings.hash, shard.name, shard.board):
        raise _Damaged("the settings, name or board recorded in the file are those of another one")
    try:
        columns = {name: _numbers(table[name], kind) for name, kind in NUMBERS.items()}
        for name in WORDS:
            columns[name] = _codes(table[name], SPLITS if name == "split" else agents)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise _Damaged(f"wrong columns: {str(error)[:60]}") from None
    if table.num_rows != shard.positions:
        raise _Damaged(f"the file has {table.num_rows} positions, expected {shard.positions}")
    if about.get("digest") != _digest(columns):
        raise _Damaged("the checksum is wrong")
    _check_cells(Board.named(shard.board), columns)
    return columns, agents


def _numbers(column: Any, kind: str) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = column.to_numpy()
    if found.dtype != np.dtype(kind):
        raise ValueError(f"type {found.dtype}, expected {kind}")
    return found


def _codes(column: Any, words: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return a column of names as indices into `words`."""
    parts = [np.zeros(0, np.uint8)]
    for chunk in column.chunks:  # each chunk may have a dictionary of its own
        places = [words.index(name) for name in chunk.dictionary.to_pylist()]
        parts.append(np.array(places, np.uint8)[chunk.indices.to_numpy()])
    return np.concatenate(parts)


def _digest(columns: Columns) -> str:
    """Return a hash of the values of all columns; it does not depend on the compression."""
    digest = hashlib.sha256()
    for name in (*NUMBERS, *WORDS):
        column = np.ascontiguousarray(columns[name])
        digest.update(f"{name} {column.dtype.str} {len(column)}\n".encode())
        digest.update(column.tobytes())
    return digest.hexdigest()


def _check_cells(board: Board, columns: Columns) -> None:
    """Raise _Damaged if a position is impossible: compiled code does not check cells again."""
    open, movers, waiters = columns["open"], columns["mover"], columns["waiter"]
    right = (movers < board.cells) & (waiters < board.cells) & (movers != waiters)
    stood_on = np.uint64(1) << movers.astype(np.uint64) | np.uint64(1) << waiters.astype(np.uint64)
    right &= (open & stood_on) == 0
    right &= (open & ~np.uint64((1 << board.cells) - 1)) == 0
    right &= columns["opening"] < len(classes(board))
    for name in ("wins", "result", "hunter"):
        right &= (columns[name] == 0) | (columns[name] == 1)
    if not right.all():
        raise _Damaged("the file holds impossible positions")


# -- reading a split --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions as columns, in the order of their files; see `knightfall.learning.data`.

    Each position is in canonical form. `board`, `mover_agent` and `waiter_agent` are indices into
    `boards` and `agents`.
    """

    open: npt.NDArray[np.uint64]
    mover: npt.NDArray[np.uint8]
    waiter: npt.NDArray[np.uint8]
    wins: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    hunter: npt.NDArray[np.int8]
    ply: npt.NDArray[np.uint8]
    drawn: npt.NDArray[np.uint8]
    opening: npt.NDArray[np.uint16]
    game: npt.NDArray[np.uint32]
    key: npt.NDArray[np.uint64]
    mover_agent: npt.NDArray[np.uint8]
    waiter_agent: npt.NDArray[np.uint8]
    split: npt.NDArray[np.uint8]
    board: npt.NDArray[np.uint8]
    cells: npt.NDArray[np.uint8]
    boards: tuple[str, ...]
    agents: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.open)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Positions:
        """Return the positions at which `chosen` is true."""
        some: dict[str, Any] = {
            name: column[chosen] if isinstance(column, np.ndarray) else column
            for name, column in vars(self).items()
        }
        return Positions(**some)


def read(
    folder: str | Path, split: str, board: str | None = None, *, partial: bool = False
) -> Positions:
    """Return the positions of a split (train, validation or test), of all boards or of one.

    No position occurs twice, and none has a mirror image in another split. An incomplete set raises
    a KnightfallError, unless `partial` is true.
    """
    if split not in SPLITS:
        raise KnightfallError(f"split {split!r} is not one of {', '.join(SPLITS)}")
    folder = Path(folder)
    settings = read_settings(folder)
    shards = settings.shards()
    if board is not None:
        name = Board.named(board).text
        if name not in settings.shares:
            hint = nearest(name, settings.shares)
            raise KnightfallError(
                f"{str(folder)!r} has no board {name}: it has {', '.join(settings.shares)}{hint}"
            )
        shards = [shard for shard in shards if shard.board == name]
    there = [shard for shard in shards if (folder / shard.name).exists()]
    if not there or (len(there) < len(shards) and not partial):
        raise KnightfallError(
            f"{str(folder)!r} is not complete: it has {len(there)} of {len(shards)} files; "
            f"continue with: {settings.command(str(folder))}"
        )
    found = everything(folder, settings, there)
    return found.where(kept(found.key, found.split) & (found.split == SPLITS.index(split)))


def everything(folder: Path, settings: DataSettings, shards: list[Shard]) -> Positions:
    """Return all positions of some files, duplicates included."""
    boards = tuple(settings.shares)
    agents: dict[str, int] = {}
    parts: list[Columns] = []
    for shard in shards:
        columns, names = read_shard(folder, settings, shard)
        codes = np.array([agents.setdefault(name, len(agents)) for name in names], np.uint8)
        for who in ("mover_agent", "waiter_agent"):
            columns[who] = codes[columns[who]]
        here = np.full(len(columns["open"]), boards.index(shard.board), np.uint8)
        cells = np.full_like(here, Board.named(shard.board).cells)
        parts.append({**columns, "board": here, "cells": cells})
    whole: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    return Positions(**whole, boards=boards, agents=tuple(agents))
