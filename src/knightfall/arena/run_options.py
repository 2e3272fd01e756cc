"""The options that all kinds of runs share, in the Python functions and on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import TypedDict, get_type_hints

ABook = str | os.PathLike[str] | Sequence[str] | None
AStore = str | os.PathLike[str] | None

Notice = Callable[[str], None]
"""A function that is called with each notice for the user, one sentence at a time."""


def ignore_notice(text: str) -> None:
    """Ignore a notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run: its openings, its processes, and where it is stored (see `ARGUMENTS`)."""

    seed: int = 0
    board: str = "7x7"
    book: ABook = None
    stratify: bool = False
    workers: int | None = None
    dask: str | None = None
    executor: Executor | None = None
    store: AStore = None
    again: bool = False
    progress: bool = True
    notice: Notice | None = None

    def tell(self, text: str) -> None:
        """Give the user a notice."""
        (self.notice or ignore_notice)(text)


ARGUMENTS = """\
    seed: Determines the order of the openings and the choice among equal moves.
    board: Width and height of the board, in cells.
    book: Start positions instead of all openings of the board: FENs, or a file of FENs.
    stratify: Alternate openings in which the first player is hunter and runner.
    workers: Number of worker processes; 0 plays in this process, None decides by the length.
    dask: Address of a Dask cluster that plays instead of workers.
    executor: Executor that plays instead of workers; it stays open.
    store: File in which the run is stored; None keeps it in memory.
    again: Play the run anew even if the store has it.
    progress: Show the progress.
    notice: Function that is called with each notice, a sentence; None ignores them.
"""
"""The description of the fields of `RunOptions`, for docstrings."""


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
    notice: Notice | None


def with_run_options(own: Signature) -> Signature:
    """Return a signature with its ``**options`` replaced by the fields of `RunOptions`."""
    kept = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    types = get_type_hints(RunOptions)
    added = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
        for one in fields(RunOptions)
    ]
    return own.replace(parameters=kept + added)
