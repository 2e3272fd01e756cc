"""The settings of a set of labelled positions; they determine every file, bit by bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any

from knightfall.arena.engine_version import engine
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.untrusted_input import Whole, check, check_format, parse_json, read_text

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
        boards: Sequence[str | Board] = (),
        shard: int = SHARD,
    ) -> DataSettings:
        """Return checked settings for the running version; `boards` share the positions equally."""
        shares = DEFAULT_SHARES
        if boards:
            names = [Board.named(b).text if isinstance(b, str) else b.text for b in boards]
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
        return [
            Shard(one.name, one.board, number, one.positions, one.seed)
            for number, (_, one) in enumerate(found)
        ]

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

    return (
        f"{engine()}+{hash_of('knightfall.learning.shard_builder', within='knightfall.learning')}"
    )


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


def difference(here: DataSettings, wanted: DataSettings) -> str:
    """Describe how a folder's settings differ from the wanted ones; empty if they are equal."""
    one, two = here.to_json(), wanted.to_json()
    return "; ".join(
        f"{name} {_shown(one[name])}, not {_shown(two[name])}"
        for name in one
        if one[name] != two[name]
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}({share})" for name, share in value.items())
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
