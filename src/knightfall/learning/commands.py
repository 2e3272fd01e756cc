"""``knightfall learn``: heuristics from positions or play, and how opponents err."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import (
    Chart,
    Force,
    Json,
    Out,
    chart_writer,
    command_group,
    whole_number,
)
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import print_json, print_line, print_report
from knightfall.display.numbers import percent
from knightfall.learning.tune_command import tune

Amount = Annotated[int, whole_number("--positions", "Positions to label.")]
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
GamesSeed = Annotated[int, whole_number("--seed", "Which games are played.", least=0, metavar="S")]
Workers = Annotated[int, whole_number("--workers", "Processes that share the files.")]
PerFile = Annotated[int, whole_number("--shard", "Positions in each file.")]


def data(
    out: Out,
    positions: Amount = 1_000_000,
    board: Boards = None,
    seed: GamesSeed = 0,
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
    print_line(f"{', '.join(splits)}; the mover wins {percent(card['wins'])}")
    print_line(f"more in {out / 'README.md'}")


# -- fit --------------------------------------------------------------------------------------


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A folder that learn data wrote.", show_default=False),
]
Models = Annotated[
    Path, typer.Argument(metavar="OUT", help="The folder for the models.", show_default=False)
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="linear or net; both if it is not given.",
        show_default=False,
    ),
]
Epochs = Annotated[int, whole_number("--epochs", "How often the net sees all positions.")]
FitSeed = Annotated[int, whole_number("--seed", "Of the order of positions.", least=0, metavar="S")]
Ablate = Annotated[
    bool, typer.Option("--ablate", help="Also fit without each group of features in turn.")
]


def fit(
    data: Data,
    out: Models,
    kind: Kinds = None,
    epochs: Epochs = 50,
    seed: FitSeed = 0,
    ablate: Ablate = False,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fit a linear model and a net to labelled positions.

    Both are judged on positions from openings that they never saw.  OUT gets learned_linear.json
    and learned_net.json, and models.py with a heuristic of each, ready to play.  A fit that was
    interrupted goes on after the last whole epoch when the same is asked again.

    \b
    Examples:
      knightfall learn fit positions models
      knightfall learn fit positions models --kind linear --ablate
      knightfall learn fit positions models --epochs 20 --chart fit.svg
    """
    from knightfall.heuristics.model_file import KINDS
    from knightfall.learning.fit.fitting import fit as learn

    draw = chart_writer(chart, force)
    report = learn(data, out, kinds=kind or KINDS, epochs=epochs, seed=seed, ablate=ablate)
    draw(report)
    print_report(report, json=json)


# -- chances ----------------------------------------------------------------------------------


Games = Annotated[int, whole_number("--games", "Games to learn from.")]


def chances(out: Out, games: Games = 1600, seed: GamesSeed = 0, json: Json = False) -> None:
    """Learn what opponents reply, and how likely it is wrong.

    Agents of all kinds hunt in won games.  What they choose is learned from what can be said of a
    reply: what heuristics count, what well-known searches would play, whether it keeps the win and
    how hard that is to see.  The champion uses it in lost positions, for opponents that are none
    of the players it knows.

    OUT gets chances.json.  It is judged by games from other openings, and of agents that were not
    learned from.  Some minutes; same settings, same file.

    \b
    Examples:
      knightfall learn chances learned
      knightfall learn chances learned --games 600 --seed 1
    """
    from knightfall.learning.chances.learn import learn

    print_report(learn(out, games, seed), json=json)


# -- the group --------------------------------------------------------------------------------


learn = command_group(
    "learn",
    """Learn heuristics from the truth, or how opponents err.

    \b
    Examples:
      knightfall learn data positions
      knightfall learn fit positions models
      knightfall learn tune "improved+0.5*bfs_reach" tuned
      knightfall learn chances learned
    """,
)


learn.command(name="data")(data)
learn.command(name="fit")(fit)
learn.command(name="tune")(tune)
learn.command(name="chances")(chances)
