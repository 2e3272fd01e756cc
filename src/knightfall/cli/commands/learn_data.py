"""``knightfall learn data``: positions from real play, labelled by the solver."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Json, Out, at_least_one, whole
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import print_json, print_line

Amount = Annotated[
    int,
    typer.Option("--positions", metavar="N", parser=at_least_one, help="Positions to label."),
]
Boards = Annotated[
    list[str] | None,
    typer.Option(
        "--board",
        metavar="WxH",
        help="A board; may be given several times, for as many positions of each. "
        "Without: 5x5, 5x6, 6x6, 6x7 and, two thirds of all, 7x7.",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", parser=whole, help="Which games are played.")
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", metavar="N", parser=at_least_one, help="Processes that share the files."
    ),
]
PerFile = Annotated[
    int,
    typer.Option("--shard", metavar="N", parser=at_least_one, help="Positions in each file."),
]


def data(
    out: Out,
    positions: Amount = 1_000_000,
    board: Boards = None,
    seed: Seed = 0,
    workers: Workers = 1,
    shard: PerFile = 20_000,
    json: Json = False,
) -> None:
    """Label positions of real games with who wins them.

    Agents of mixed strength play from random openings, part of the games after some random moves.
    Every position is labelled by the exact solver: does the side to move win?  Few are taken from
    the first moves, where nearly all are the hunter's.

    Openings are split, mirror images together: a tenth for the test, a tenth for validation.  No
    position of theirs, turned or mirrored, is left for training.

    Files are Parquet, each written whole.  After Ctrl-C the same command goes on; same settings,
    same files, with any number of workers.  card.json and README.md tell what there is.

    \b
    Examples:
      knightfall learn data positions --workers 2
      knightfall learn data small --positions 20000 --board 5x5 --board 5x6
    """
    from knightfall.learning.generate import generate, missing_shards
    from knightfall.learning.settings import Settings

    settings = Settings.of(positions, seed, board or (), shard)
    try:
        card = generate(out, settings, workers=workers)
    except KeyboardInterrupt:
        files = len(settings.shards())
        done = files - len(missing_shards(out, settings))
        say(f"knightfall: interrupted with {done} of {files} files; the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json(card)
        return
    print_line(
        f"{out}: {card['kept']:,} positions ({card['duplicates']:,} more were there already)"
    )
    splits = [f"{name} {number:,}" for name, number in card["splits"].items()]
    print_line(f"{', '.join(splits)}; the mover wins {100 * card['wins']:.1f} %")
    print_line(f"more in {out / 'README.md'}")
