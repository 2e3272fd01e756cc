"""A whole set of labelled positions: its files made one by one, by any number of processes.

What is made follows from the settings.  So it does not matter who makes a file or when: a set that
was interrupted is gone on with where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from knightfall.display.progress import OnProgress, shown_or_told
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, begin_folder
from knightfall.isolation.parallel_map import RunnerOptions, parallel_map
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.learning.data import arrow, read_shard, write_shard
from knightfall.learning.data_settings import FILE, DataSettings, Shard, difference, read_settings
from knightfall.learning.dataset_card import LOG, write_card
from knightfall.learning.shard_builder import NAMES, BuiltShard, build_shard, prepare


def generate(
    folder: Path,
    settings: DataSettings,
    *,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool | OnProgress = True,
) -> dict[str, Any]:
    """Make what is missing of a set and write its card, which is also the answer.

    A folder of other settings is refused, and so is one with a damaged file.
    """
    options = RunnerOptions(workers, dask, executor)
    options.check()
    arrow()
    enable_keyboard_interrupt()
    begin(folder, settings)
    shards = settings.shards()
    missing = missing_shards(folder, settings)
    done = settings.positions - sum(shard.positions for shard in missing)
    with shown_or_told(progress, "positions", settings.positions, done=done) as tell:
        for place, built in parallel_map(
            _builder_of_shards,
            missing,
            options,
            describe=lambda shard: f"the file {shard.name}",
        ):
            shard = missing[place]
            write_shard(folder, settings, shard, built.columns, NAMES)
            _note(folder, shard, built.seconds)
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


def _builder_of_shards() -> Callable[[Shard], BuiltShard]:
    """Return the function that builds a shard, once what its games need is compiled."""
    prepare()
    return build_shard


def _note(folder: Path, shard: Shard, seconds: float) -> None:
    with (folder / LOG).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"file": shard.name, "seconds": round(seconds, 2)}) + "\n")
