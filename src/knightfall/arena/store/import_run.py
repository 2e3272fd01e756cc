"""Runs on their way into a store, whole or not at all."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from knightfall.arena.store.pair_rows import PairWriter
from knightfall.arena.store.run import Run
from knightfall.arena.store.run_file import RunFile
from knightfall.arena.store.store import Store
from knightfall.display.progress import OnProgress, nobody
from knightfall.errors import KnightfallError


def import_run(
    store: Store,
    path: str | os.PathLike[str],
    *,
    again: bool = False,
    on_progress: OnProgress = nobody,
) -> Run:
    """Add the run of a file to a store, whole or not at all; `on_progress` hears of pairs read.

    A run whose plan and engine the store has already is refused unless `again`.
    """
    file = RunFile(Path(os.path.expanduser(path)))
    head = file.head
    if not again:
        _refuse_known(store, file)
    # First check all, which takes time, and only then keep others from writing.
    deque(file.pairs(on_progress), maxlen=0)
    with store.file.writing():
        if not again:  # somebody may have been quicker
            _refuse_known(store, file)
        attempt, _ = store.latest(head.key)
        id = store.insert(head.plan, head.key, attempt + 1, head.created, head.versions)
        writer = PairWriter(store.file, id, head.plan)
        for record in file.pairs(replay=False):
            writer.add(record)
        writer.tally()
        store.file.change(
            "UPDATE runs SET finished = ?, outcome = ? WHERE id = ?",
            (head.finished, head.outcome, id),
        )
    return Run(store.file, id, head.plan)


def _refuse_known(store: Store, file: RunFile) -> None:
    _, known = store.latest(file.head.key)
    if known is not None:
        raise KnightfallError(
            f"{file.path}: run {known} in {store.file.path} has the same plan and engine already; "
            "--again adds it as another"
        )
