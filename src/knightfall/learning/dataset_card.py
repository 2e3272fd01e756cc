"""The description of a set of positions: as JSON (card.json), as a page (README.md) and as metadata
for other tools (croissant.json).
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.display.numbers import percent
from knightfall.errors import KnightfallError
from knightfall.learning.data import (
    COLUMNS,
    NUMBERS,
    WORDS,
    DataSettings,
    Positions,
    Shard,
    everything,
)
from knightfall.learning.split import SPLITS, kept
from knightfall.oracle.graded_games import PHASES
from knightfall.untrusted_input import Between, check, parse_json, read_bytes
from knightfall.user_folders import atomic_write

CARD, README, LOG = "card.json", "README.md", "log.jsonl"
CROISSANT = "croissant.json"
ROLES = ("hunter", "runner")

_LOGGED = {"file": str, "seconds": Between(0, 1e9)}


def write_card(folder: Path, settings: DataSettings, shards: list[Shard]) -> dict[str, Any]:
    """Write card.json, README.md and croissant.json for a complete set, and return the card."""
    card = card_of(everything(folder, settings, shards), settings, folder)
    atomic_write(folder / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    atomic_write(folder / README, readme(card))
    atomic_write(folder / CROISSANT, json.dumps(croissant(card), indent=2) + "\n")
    return card


def card_of(found: Positions, settings: DataSettings, folder: Path) -> dict[str, Any]:
    """Return the card: settings, counts by split, board, role and phase, and the building time."""
    keep = kept(found.key, found.split)
    left = found.where(keep)
    seconds = _seconds(folder)
    rate = None if seconds is None else round(len(found) / seconds * 3600)
    return {
        **settings.to_json(),
        "command": settings.command(folder.name),
        "files": len(settings.shards()),
        "labelled": len(found),
        "games": len(np.unique(found.game)),
        "duplicates": len(found) - len(left),
        "across_splits": _across(found),
        "kept": len(left),
        "splits": {name: int((left.split == at).sum()) for at, name in enumerate(SPLITS)},
        "openings": {name: _openings(left, at) for at, name in enumerate(SPLITS)},
        "wins": _share(left.wins),
        "result_is_truth": _share(left.wins == left.result),
        "counts": _counts(left),
        "agents": _agents(left),
        "seconds": seconds,
        "labelled_an_hour": rate,
    }


def phases_of(found: Positions) -> npt.NDArray[np.uint8]:
    """Return the index of each position's phase in `PHASES`, by the share of open cells."""
    thirds = 3 * np.bitwise_count(found.open).astype(np.int64)
    cells = found.cells.astype(np.int64)
    return np.select([thirds > 2 * cells, thirds > cells], [0, 1], 2).astype(np.uint8)


def _counts(found: Positions) -> list[dict[str, Any]]:
    """Return counts and the mover's win rates by board, split, role and phase."""
    rows, phases = [], phases_of(found)
    for board, board_name in enumerate(found.boards):
        for split, split_name in enumerate(SPLITS):
            for role, hunts in zip(ROLES, (1, 0), strict=True):
                for phase, phase_name in enumerate(PHASES):
                    here = (found.board == board) & (found.split == split)
                    here &= (found.hunter == hunts) & (phases == phase)
                    rows.append(
                        {
                            "board": board_name,
                            "split": split_name,
                            "role": role,
                            "phase": phase_name,
                            "positions": int(here.sum()),
                            "wins": _share(found.wins[here]),
                        }
                    )
    return rows


def _across(found: Positions) -> int:
    """Return how many different positions occur in more than one split."""
    pairs = np.unique(np.stack([found.key, found.split.astype(np.uint64)]), axis=1)
    _, times = np.unique(pairs[0], return_counts=True)
    return int((times > 1).sum())


def _openings(found: Positions, split: int) -> int:
    here = found.split == split
    return len(np.unique(found.board[here].astype(np.uint32) << 16 | found.opening[here]))


def _agents(found: Positions) -> dict[str, int]:
    """Return in how many positions each agent was to move."""
    times = np.bincount(found.mover_agent, minlength=len(found.agents))
    return {name: int(times[at]) for at, name in enumerate(found.agents)}


def _share(truth: npt.NDArray[Any]) -> float | None:
    return round(float(truth.mean()), 4) if len(truth) else None


def _seconds(folder: Path) -> float | None:
    """Return the total time of making all files, in seconds rounded to tenths.

    None if it is unknown or below a tenth of a second.
    """
    seconds: dict[str, float] = {}
    try:
        lines = read_bytes(folder / LOG).decode("utf-8", "replace").splitlines()
    except KnightfallError:
        return None
    for line in lines:
        with suppress(KnightfallError):  # a damaged line, or the unfinished one of a killed process
            entry = parse_json(line)
            check(_LOGGED, entry)
            seconds[entry["file"]] = entry["seconds"]
    return round(sum(seconds.values()), 1) or None


# -- the page ------------------------------------------------------------------------------------


def readme(card: dict[str, Any]) -> str:
    """Return README.md, the card as a Markdown page."""
    lines = [
        "# Positions of Knight's Isolation, and who wins them",
        "",
        "From games between agents of mixed strength; labelled by the exact solver. Made by",
        "",
        f"    {card['command']}",
        "",
        f"with knightfall {card['version']}: {card['labelled']:,} positions of {card['games']:,} "
        f"games, of which {card['duplicates']:,} were duplicates or mirror images of others. "
        f"{card['kept']:,} are left. The mover wins {percent(card['wins'])} of them with best "
        f"play, and in {percent(card['result_is_truth'])} the game's winner was that of best play."
        + _time(card),
        "",
        "| split | positions | openings |",
        "|---|---:|---:|",
        *(
            f"| {name} | {card['splits'][name]:,} | {card['openings'][name]} |"
            for name in card["splits"]
        ),
        "",
        "A game belongs to the split of its opening, up to symmetry. "
        f"{card['across_splits']:,} positions occur in several splits. Each is kept in one of "
        "them: test, else validation. The files hold all occurrences; this reads each position "
        "once:",
        "",
        "    from knightfall.learning import data",
        '    train = data.read(folder, "train")',
        "",
        "Without knightfall: of the rows with the same `key`, take the first with `split` test, "
        "else validation, else train.",
        "",
        "| board | split | mover | phase | positions | mover wins |",
        "|---|---|---|---|---:|---:|",
        *(
            f"| {row['board']} | {row['split']} | {row['role']} | {row['phase']} | "
            f"{row['positions']:,} | {percent(row['wins'])} |"
            for row in card["counts"]
        ),
        "",
        "| agent to move | positions |",
        "|---|---:|",
        *(f"| {name} | {times:,} |" for name, times in card["agents"].items()),
        "",
        f"The columns are explained in `knightfall/learning/data.py`; all numbers are in `{CARD}`.",
    ]
    return "\n".join(lines) + "\n"


def _time(card: dict[str, Any]) -> str:
    if card["seconds"] is None:
        return ""
    return (
        f" It took {card['seconds']:,.0f} seconds of one process, {card['labelled_an_hour']:,} "
        "positions an hour."
    )


# -- Croissant -----------------------------------------------------------------------------------
#
# A vocabulary for data sets that loaders and catalogues read: https://docs.mlcommons.org/croissant


_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_TYPES = {"i1": "Int8", "u1": "UInt8", "u2": "UInt16", "u4": "UInt32", "u8": "UInt64"}


def croissant(card: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a set in the Croissant format, version 1.0."""
    board = _field(
        "board", "the board, from the name of the file", "sc:Text", fileProperty="filename"
    )
    board["source"]["transform"] = {"regex": r"(?:^|/)(\d+x\d+)-\d+\.parquet$"}
    fields = [board]
    for name in (*NUMBERS, *WORDS):
        kind = f"cr:{_TYPES[NUMBERS[name]]}" if name in NUMBERS else "sc:Text"
        fields.append(_field(name, COLUMNS[name], kind, column=name))
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "knights-isolation-positions",
        "description": "Positions of Knight's Isolation, from games between agents of mixed "
        "strength, labelled with the winner under best play by an exact solver. "
        f"Made by: {card['command']}",
        "citeAs": f"The knightfall authors: positions of Knight's Isolation, {card['version']}",
        "license": "https://spdx.org/licenses/MIT.html",
        "version": card["version"].partition("+")[0],
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": "files",
                "name": "files",
                "description": f"{card['files']} Parquet files, each with positions of one board.",
                "encodingFormat": "application/x-parquet",
                "includes": "*.parquet",
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "positions",
                "name": "positions",
                "description": f"{card['labelled']:,} positions in canonical form. Rows with the "
                "same key are the same position.",
                "field": fields,
            }
        ],
    }


def _field(name: str, description: str, kind: str, **extract: str) -> dict[str, Any]:
    """Return a field of the records, extracted from a column or from a property of the file."""
    return {
        "@type": "cr:Field",
        "@id": f"positions/{name}",
        "name": name,
        "description": description,
        "dataType": kind,
        "source": {"fileSet": {"@id": "files"}, "extract": extract},
    }
