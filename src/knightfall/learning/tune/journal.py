"""What a tuning has played so far, in one file that is written anew after every generation.

It holds the candidates and their results, which is all that an optimiser was ever told; whoever
tells it the same again goes on as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, begin_folder
from knightfall.learning.tune.settings import Settings, difference
from knightfall.reading import parse_json, read_text
from knightfall.shape import Whole, check

FORMAT = "knightfall tuning 1"
FILE = "tuning.json"

_SHAPE: dict[Any, Any] = {
    "format": str,
    "settings": {
        "expression": str, "nodes": int, "second": int, "generations": int, "population": int,
        "pairs": int, "against": [str], "board": str, "seed": int, "step": float, "sprt": [float],
        "files": {str: str}, "version": str,
    },
    "generations": [{"candidates": [str], "counts": [[Whole(0)]]}],
    "checksum": str,
}  # fmt: skip

Counts = tuple[int, int, int]
"""How many pairs a candidate lost, split and won."""


@dataclass(frozen=True)
class Generation:
    """The candidates of a generation as expressions, and what each came to."""

    candidates: tuple[str, ...]
    counts: tuple[Counts, ...]


@dataclass
class Journal:
    """The generations of a tuning that were played."""

    folder: Path
    settings: Settings
    generations: list[Generation] = field(default_factory=list)

    def add(self, generation: Generation) -> None:
        """Keep one more, safely."""
        self.generations.append(generation)
        self.write()

    def write(self) -> None:
        """Write the file, all of it or nothing."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "settings": self.settings.to_json(),
            "generations": [
                {"candidates": list(one.candidates), "counts": [list(c) for c in one.counts]}
                for one in self.generations
            ],
        }
        text = json.dumps({**content, "checksum": _checksum(content)}, ensure_ascii=False)
        atomic_write(self.folder / FILE, text + "\n", sync=True)


def opened(folder: Path, settings: Settings) -> Journal:
    """The journal of a folder, which is made if it is not there; one of other settings is refused,
    and so is a damaged one.
    """
    file = folder / FILE
    if file.exists():
        return _read(folder, settings)
    begin_folder(folder)
    journal = Journal(folder, settings)
    journal.write()
    return journal


def _read(folder: Path, settings: Settings) -> Journal:
    file = folder / FILE
    try:
        content = parse_json(read_text(file))
        if isinstance(content, dict) and content.get("format") != FORMAT:
            raise KnightfallError(f"its format is {content.get('format')!r:.60}, not {FORMAT!r}")
        check(_SHAPE, content)
        if content.pop("checksum") != _checksum(content):
            raise KnightfallError("its checksum is wrong")
    except KnightfallError as error:
        raise damaged(file, str(error)) from None
    told = difference(content["settings"], settings)
    if told:
        raise KnightfallError(
            f"{str(folder)!r} was made with other settings ({told}): give those, or another folder"
        )
    found = [
        Generation(tuple(one["candidates"]), tuple((a, b, c) for a, b, c in one["counts"]))
        for one in content["generations"]
    ]
    return Journal(folder, settings, found)


def damaged(file: Path, why: str) -> KnightfallError:
    """The error for a file that nobody can go on with."""
    return KnightfallError(f"{str(file)!r} is damaged ({why}): delete it to begin anew")


def generations_kept(folder: Path, settings: Settings) -> int:
    """How many generations of a tuning a folder has."""
    return len(_read(folder, settings).generations) if (folder / FILE).exists() else 0


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
