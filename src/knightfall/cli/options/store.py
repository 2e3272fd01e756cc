"""Which store, which run, which game: what the commands that read runs have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.store import Run, Store

LAST = "last"
FEW = 3
"""Agents of a run that are named where there is one line for it."""


def run_numbers(incomplete: str) -> list[tuple[str, str]]:
    """The runs of the user's own store, with who took part."""
    from knightfall.arena.store import Store

    try:
        with Store.open(read_only=True) as store:
            runs = {str(info.id): some(info.names) for info in store.runs()}
    except KnightfallError:  # there is no store yet
        return []
    return [(id, who) for id, who in runs.items() if id.startswith(incomplete)]


StorePath = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="FILE", help="The file of runs, if not the one in your data folder."
    ),
]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's number; last is the one begun last.",
        autocompletion=run_numbers,
    ),
]


def store_path(given: str | None) -> str | None:
    """What ``--store`` names; None is the user's own store."""
    if given is not None and not given.strip():
        raise KnightfallError(f"--store {given!r} is not the name of a file")
    return given


@contextmanager
def reading(given: str | None) -> Iterator[Store]:
    """The store, only to look at."""
    from knightfall.arena.store import Store

    with Store.open(store_path(given), read_only=True) as store:
        yield store


def find_run(store: Store, text: str) -> Run:
    """The run that a number or `last` means."""
    from knightfall.arena import stored_games

    return stored_games.find_run(store, text)


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    if len(names) <= FEW + 1:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])} and {len(names) - FEW} more"
