"""``knightfall import``: a run from a file into the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import StorePath, some, store_path
from knightfall.cli.screen.output import print_json

File = Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote as jsonl.")]
Again = Annotated[
    bool, typer.Option("--again", help="Add it even if the same run is in the store already.")
]


def import_(file: File, again: Again = False, store: StorePath = None, json: Json = False) -> None:
    """Add a run from a file to the store.

    Every game is played over first; if anything is wrong with one of them, nothing is stored.
    A run that was not finished goes on when the command that began it is given again.

    \b
    Examples:
      knightfall import run3.jsonl
      knightfall import run3.jsonl --store course.sqlite
    """
    from knightfall.arena.store.import_run import import_run
    from knightfall.arena.store.run_file import RunFile
    from knightfall.arena.store.store import Store
    from knightfall.display.progress import progress

    expected = RunFile(file).head.pairs
    with Store.open(store_path(store)) as opened:
        with progress("pairs", expected) as tell:
            run = import_run(opened, file, again=again, on_progress=tell)
        names = [entrant.name for entrant in run.plan.entrants]
        pairs, id = run.played, run.id
    if json:
        print_json({"run": id, "pairs": pairs})
    else:
        word = "pair" if pairs == 1 else "pairs"
        print(f"Run {id}: {run.plan.kind} of {some(names)}, {pairs:,} {word}.")
