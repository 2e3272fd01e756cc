"""``knightfall learn tune``: better weights for a sum of heuristics, by play."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import (
    Chart,
    Force,
    Json,
    Out,
    agent_named,
    chart_writer,
    whole_number,
)
from knightfall.cli.options.sprt import elo_bounds, real
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import print_report

Sum = Annotated[
    str,
    typer.Argument(
        metavar="SUM",
        help="Heuristics with weights to begin with, as in improved+0.5*bfs_reach.",
        show_default=False,
    ),
]
Nodes = Annotated[int, whole_number("--nodes", "Nodes a move, for everybody who tunes.")]
Second = Annotated[
    int | None,
    whole_number(
        "--second",
        "The budget at which it must hold as well; four times --nodes by default.",
        show_default=False,
    ),
]
Generations = Annotated[int, whole_number("--generations", "How often all candidates change.")]
Population = Annotated[int, whole_number("--population", "Candidates in a generation.")]
Pairs = Annotated[
    int, whole_number("--pairs", "Pairs of games of each candidate against each opponent.")
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help="Whom candidates meet: an agent, or start, which is SUM as given and the default; "
        "may be given several times.",
        show_default=False,
    ),
]
BoardText = Annotated[str, typer.Option("--board", metavar="WxH", help="The board.")]
Seed = Annotated[
    int, whole_number("--seed", "Of candidates, openings and broken ties.", least=0, metavar="S")
]
Step = Annotated[
    str,
    typer.Option(
        "--step",
        metavar="SIZE",
        help="How far candidates are spread at first; at 1, as far as the first term varies.",
    ),
]
Gain = Annotated[
    str,
    typer.Option(
        "--sprt",
        metavar="ELO0,ELO1",
        help="The gains in normalized Elo that the confirmation decides between.",
    ),
]
Workers = Annotated[int, whole_number("--workers", "Processes that play.")]


def tune(
    sum: Sum,
    out: Out,
    nodes: Nodes = 2500,
    second: Second = None,
    generations: Generations = 20,
    population: Population = 12,
    pairs: Pairs = 100,
    against: Against = None,
    board: BoardText = "7x7",
    seed: Seed = 0,
    step: Step = "0.5",
    sprt: Gain = "0,30",
    workers: Workers = 1,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Tune the weights of a sum of heuristics by play.

    The first term keeps its weight, for only ratios matter; CMA-ES looks for the others.  All
    candidates of a generation play the same openings.  Then the weights found meet those given on
    openings that were never tuned on, in a sequential test, at --nodes and at --second.  A gain is
    claimed if both accept it; else the weights as given are kept, and it says so.

    OUT gets result.json, and expression.txt with the sum to play.  After Ctrl-C the same command
    goes on; same settings, same result, with any number of workers.

    \b
    Examples:
      knightfall learn tune "improved+0.5*bfs_reach" tuned
      knightfall learn tune "improved+0.5*bfs_reach+0.2*near_center" tuned --chart tuned.svg
      knightfall learn tune "mine.py:cosy+0*improved" mine --against start --against "id(improved)"
    """
    from knightfall.learning.tune.journal import generations_kept
    from knightfall.learning.tune.settings import START, Settings
    from knightfall.learning.tune.tuning import tune as look_for

    settings = Settings.of(
        sum,
        nodes=nodes,
        second=second,
        generations=generations,
        population=population,
        pairs=pairs,
        against=against or (START,),
        board=board,
        seed=seed,
        step=real(step, "a size for --step, as in 0.5"),
        sprt=elo_bounds(sprt),
    )
    draw = chart_writer(chart, force)
    for text in dict.fromkeys(against or ()):
        if text != START:
            agent_named(text, quiet=json)
    try:
        report = look_for(out, settings, workers=workers)
    except KeyboardInterrupt:
        done = generations_kept(out, settings)
        say(
            f"knightfall: interrupted after {done} of {generations} generations; the same command "
            "goes on"
        )
        raise typer.Exit(INTERRUPTED) from None
    draw(report)
    print_report(report, json=json)
