"""The options that every run has, for the functions of `knightfall` and for the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import TypedDict

ABook = str | os.PathLike[str] | Sequence[str] | None
AStore = str | os.PathLike[str] | None

Notice = Callable[[str], None]
"""Is called with what a person should know, a sentence at a time."""


def ignore(text: str) -> None:
    """Take no notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is played: from which openings, by whom, and where it is stored."""

    seed: int = 0
    """Decides the openings and every broken tie."""
    board: str = "7x7"
    book: ABook = None
    """Positions to begin with, instead of all openings of the board: FENs, or a file of them."""
    stratify: bool = False
    """Alternate openings in which the first player is hunter and runner."""
    workers: int | None = None
    """Processes that play; 0 plays in this one, None decides by the length of the run."""
    dask: str | None = None
    """The address of a Dask cluster that plays instead."""
    executor: Executor | None = None
    """An executor that plays instead; it stays open."""
    store: AStore = None
    """The file in which the run is kept; None keeps it in memory."""
    again: bool = False
    """Play anew even if the store has this run already."""
    progress: bool = True
    notice: Notice = ignore


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions` as keywords, for type checkers."""

    seed: int
    board: str
    book: ABook
    stratify: bool
    workers: int | None
    dask: str | None
    executor: Executor | None
    store: AStore
    again: bool
    progress: bool
    notice: Notice


def with_run_options(own: Signature) -> Signature:
    """Return a signature with the fields of `RunOptions` in the place of its ``**options``."""
    kept = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    added = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for one in fields(RunOptions)
    ]
    return own.replace(parameters=kept + added)
