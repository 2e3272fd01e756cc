"""Measure the costs of heuristics in compiled searches, and write the files.

With a file's name, as in ``python -m benchmarks.costs wish_costs.toml``, write only that one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from knightfall.heuristics.registry import published_ids
from knightfall.studies import node_costs
from knightfall.studies.node_costs import (
    BASELINE,
    COMPILED_FILE,
    LARGE_FILE,
    WISH_FILE,
    NodeCosts,
)
from knightfall.studies.published import BUDGETS, studies

from .measure import COMPILED_ROUNDS, compiled_costs
from .positions import FENS, large_positions
from .record import as_toml

FOLDER = Path(node_costs.__file__).parent / "data"


def main(names: list[str]) -> None:
    """Write the named files, or all files; each takes about a minute."""
    all_studies = studies().values()
    known = published_ids()
    wished = [
        id
        for one in all_studies
        for budget in BUDGETS
        for id in one.wished(budget)
        if id not in known
    ]
    grown = [
        id
        for one in all_studies
        for claim in one.claims
        if claim.measure == "board"
        for id in (*claim.who, *claim.than)
    ]
    wanted = {
        COMPILED_FILE: (known, FENS),
        WISH_FILE: (dict.fromkeys([BASELINE, *wished]), FENS),
        LARGE_FILE: (dict.fromkeys([BASELINE, *grown]), large_positions()),
    }
    for file in names or wanted:
        heuristics, positions = wanted[file]
        found = compiled_costs(heuristics, positions, told=_told(COMPILED_ROUNDS))
        _write(file, found, len(positions), COMPILED_ROUNDS)


def _told(rounds: int) -> Callable[[int], None]:
    return lambda round: print(f"round {round} of {rounds}", file=sys.stderr, flush=True)


def _write(file: str, found: NodeCosts, positions: int, rounds: int) -> None:
    text = as_toml(found, rounds, positions)
    (FOLDER / file).write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
