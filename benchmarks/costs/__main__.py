"""Measure what heuristics cost in compiled searches, and write the file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from knightfall.heuristics.published import published_ids
from knightfall.studies import costs
from knightfall.studies.costs.costs import COMPILED_FILE, NodeCosts

from .measure import COMPILED_ROUNDS, compiled_costs
from .record import as_toml

FOLDER = Path(costs.__file__).parent


def main() -> None:
    """About a minute."""
    found = compiled_costs(published_ids(), told=_told(COMPILED_ROUNDS))
    _write(COMPILED_FILE, found, COMPILED_ROUNDS)


def _told(rounds: int) -> Callable[[int], None]:
    return lambda round: print(f"round {round} of {rounds}", file=sys.stderr, flush=True)


def _write(file: str, found: NodeCosts, rounds: int) -> None:
    text = as_toml(found, rounds)
    (FOLDER / file).write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
