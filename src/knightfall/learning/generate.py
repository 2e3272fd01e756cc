"""A whole set of labelled positions: its files made one by one, by any number of processes.

What is made follows from the settings.  So it does not matter who makes a file or when: a set that
was interrupted is gone on with where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from knightfall.arena.runners.calls import Calls
from knightfall.arena.runners.worker import Job
from knightfall.arena.runners.workers import MOST_WORKERS, Workers
from knightfall.display.progress import OnProgress, shown_or_told
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, begin_folder
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.learning.data import arrow, read_shard
from knightfall.learning.data_settings import FILE, DataSettings, Shard, difference, read_settings
from knightfall.learning.dataset_card import LOG, write_card
from knightfall.learning.shard_builder import make_shard, prepare


def generate(
    folder: Path, settings: DataSettings, *, workers: int = 1, progress: bool | OnProgress = True
) -> dict[str, Any]:
    """Make what is missing of a set and write its card, which is also the answer.

    A folder of other settings is refused, and so is one with a damaged file.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise KnightfallError(f"workers={workers} must be from 1 to {MOST_WORKERS}")
    arrow()
    enable_keyboard_interrupt()
    begin(folder, settings)
    shards = settings.shards()
    missing = missing_shards(folder, settings)
    done = settings.positions - sum(shard.positions for shard in missing)
    with shown_or_told(progress, "positions", settings.positions, done=done) as tell:
        for shard, seconds in _made(folder, settings, missing, workers):
            _note(folder, shard, seconds)
            done += shard.positions
            tell(done)
    for draft in folder.glob(".*.part"):  # of those who were killed
        draft.unlink(missing_ok=True)
    return write_card(folder, settings, shards)


def begin(folder: Path, settings: DataSettings) -> None:
    """Make the folder, or see that it is one of these settings."""
    if (folder / FILE).exists():
        told = difference(read_settings(folder), settings)
        if told:
            raise KnightfallError(
                f"{str(folder)!r} was made with other settings ({told}): give those, or another "
                "folder"
            )
        return
    begin_folder(folder)
    atomic_write(folder / FILE, json.dumps(settings.to_json(), indent=2) + "\n", sync=True)


def missing_shards(folder: Path, settings: DataSettings) -> list[Shard]:
    """The files that are still to be made; those that are there are read, to be sure of them."""
    missing = []
    for shard in settings.shards():
        if (folder / shard.name).exists():
            read_shard(folder, settings, shard)
        else:
            missing.append(shard)
    return missing


def _made(
    folder: Path, settings: DataSettings, missing: Sequence[Shard], workers: int
) -> Iterator[tuple[Shard, float]]:
    """Each file as it is written, with the seconds that it took."""
    if missing:
        prepare()  # here, so that processes find the machine code ready
    if workers == 1 or len(missing) < 2:
        for shard in missing:
            yield shard, make_shard(folder, settings, shard)
        return
    things = [(folder.absolute(), settings, shard) for shard in missing]
    calls = Calls(_make, things, lambda thing: f"the file {thing[2].name}")
    with Workers(min(workers, len(missing)), Job(prepare)) as crew:
        for place, seconds in crew.do(calls):
            yield missing[place], seconds


def _make(thing: tuple[Path, DataSettings, Shard]) -> float:
    return make_shard(*thing)


def _note(folder: Path, shard: Shard, seconds: float) -> None:
    with (folder / LOG).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"file": shard.name, "seconds": round(seconds, 2)}) + "\n")
