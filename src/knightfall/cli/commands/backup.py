"""``knightfall backup``: the whole store as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import StorePath, reading
from knightfall.cli.screen.output import print_json, print_line

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Where the copy goes.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that exists.")]


def backup(file: File, force: Force = False, store: StorePath = None, json: Json = False) -> None:
    """Copy the whole store to a file.

    The copy is made by SQLite and is whole whatever happens: runs may be going on meanwhile, or
    have been killed before.  It is a store itself: look at it by --store FILE, or put it in the
    place of the one that was lost.

    \b
    Examples:
      knightfall backup arena-monday.sqlite
      knightfall backup /mnt/usb/course.sqlite --store course.sqlite --force
    """
    from knightfall.arena.store.backup import back_up
    from knightfall.arena.store.store import Store
    from knightfall.display.numbers import count
    from knightfall.display.progress import progress

    with reading(store) as opened, progress() as shown:
        source = opened.file.path
        target = back_up(
            opened,
            file,
            force=force,
            on_progress=lambda left, of: shown.say(f"{of - left:,} of {of:,} pages copied"),
        )
    with Store.open(target, read_only=True) as copy:
        runs = copy.runs()
    games = 2 * sum(info.played for info in runs)
    size = target.stat().st_size
    if json:
        facts = {"store": str(source), "file": str(target), "runs": len(runs), "games": games}
        print_json({**facts, "bytes": size})
    else:
        told = f"{count(len(runs), 'run')}, {count(games, 'game')}, {size / 1e6:,.1f} MB"
        print_line(f"{told} copied to {target}")
