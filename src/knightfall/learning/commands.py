"""``knightfall learn``: label positions, fit models, tune weights, learn how opponents err."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.arena_options import elo_bounds, real
from knightfall.cli.help_format import command_group
from knightfall.cli.options import (
    BoardSize,
    Chart,
    Dask,
    Force,
    Json,
    Out,
    Workers,
    agent_named,
    chart_writer,
    whole_number,
)
from knightfall.cli.terminal import INTERRUPTED, print_json, print_line, print_report, say
from knightfall.display.numbers import percent

# -- data -------------------------------------------------------------------------------------


Amount = Annotated[int, whole_number("--positions", "Positions to label.")]
Boards = Annotated[
    list[str] | None,
    typer.Option(
        "--board",
        metavar="WxH",
        help="A board; may be repeated, with equally many positions of each. By default two "
        "thirds are 7x7, the others 5x5, 5x6, 6x6 and 6x7.",
        show_default=False,
    ),
]
GamesSeed = Annotated[int, whole_number("--seed", "Seed of the games.", least=0, metavar="S")]
PerFile = Annotated[int, whole_number("--shard", "Positions in each file.")]


def data(
    out: Out,
    positions: Amount = 1_000_000,
    board: Boards = None,
    seed: GamesSeed = 0,
    workers: Workers = None,
    dask: Dask = None,
    shard: PerFile = 20_000,
    json: Json = False,
) -> None:
    """Play games and label each position with its winner.

    Agents of mixed strength play from random openings; some games begin with random moves. The
    exact solver labels every position: does the side to move win? Few positions are taken from the
    first moves, where the hunter wins nearly all of them.

    Openings are split, mirror images together: a tenth for the test, a tenth for validation. A
    position of the test or validation set, turned or mirrored, is never used for training.

    The files are Parquet. After Ctrl-C, repeat the command to continue. The same settings give the
    same files, with any number of workers. card.json and README.md describe the positions.

    \b
    Examples:
      knightfall learn data positions --workers 2
      knightfall learn data small --positions 20000 --board 5x5 --board 5x6
    """
    from knightfall.learning.data import DataSettings
    from knightfall.learning.shard_builder import generate, missing_shards

    settings = DataSettings.of(positions, seed, board or (), shard)
    try:
        card = generate(out, settings, workers=workers, dask=dask)
    except KeyboardInterrupt:
        files = len(settings.shards())
        done = files - len(missing_shards(out, settings))
        say(f"knightfall: interrupted with {done} of {files} files; repeat the command to continue")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json(card)
        return
    print_line(f"{out}: {card['kept']:,} positions ({card['duplicates']:,} duplicates left out)")
    splits = [f"{name} {number:,}" for name, number in card["splits"].items()]
    print_line(f"{', '.join(splits)}; the mover wins {percent(card['wins'])}")
    print_line(f"more in {out / 'README.md'}")


# -- fit --------------------------------------------------------------------------------------


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A folder that the command 'learn data' has written.",
        show_default=False,
    ),
]
Models = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", help="The folder to write the models into.", show_default=False
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Kind of model: linear or net; both by default.",
        show_default=False,
    ),
]
Epochs = Annotated[int, whole_number("--epochs", "How many times the net sees all positions.")]
FitSeed = Annotated[
    int, whole_number("--seed", "Seed of the order of positions.", least=0, metavar="S")
]
Ablate = Annotated[
    bool,
    typer.Option(
        "--ablate", help="Also fit the linear model without each group of features in turn."
    ),
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

    Both models are judged on positions from openings that they never saw. FOLDER gets
    learned_linear.json, learned_net.json, and models.py with a heuristic for each model. After an
    interruption, repeat the command to continue with the next epoch.

    \b
    Examples:
      knightfall learn fit positions models
      knightfall learn fit positions models --kind linear --ablate
      knightfall learn fit positions models --epochs 20 --chart fit.svg
    """
    from knightfall.heuristics.model_file import KINDS
    from knightfall.learning.fitting import fit as learn

    draw = chart_writer(chart, force)
    report = learn(data, out, kinds=kind or KINDS, epochs=epochs, seed=seed, ablate=ablate)
    draw(report)
    print_report(report, json=json)


# -- tune -------------------------------------------------------------------------------------


Sum = Annotated[
    str,
    typer.Argument(
        metavar="SUM",
        help="A sum of heuristics with initial weights, as in improved+0.5*bfs_reach.",
        show_default=False,
    ),
]
Nodes = Annotated[int, whole_number("--nodes", "Nodes per move of all players while tuning.")]
Second = Annotated[
    int | None,
    whole_number(
        "--second",
        "Nodes per move of the second confirmation; four times --nodes by default.",
        show_default=False,
    ),
]
Generations = Annotated[int, whole_number("--generations", "Number of generations of candidates.")]
Population = Annotated[int, whole_number("--population", "Candidates in a generation.")]
Pairs = Annotated[
    int, whole_number("--pairs", "Pairs of games of each candidate against each opponent.")
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help="An opponent of the candidates: an agent, or start for SUM with its initial weights; "
        "start by default; may be repeated.",
        show_default=False,
    ),
]
TuneSeed = Annotated[
    int,
    whole_number(
        "--seed",
        "Seed of candidates, openings and choices between equal moves.",
        least=0,
        metavar="S",
    ),
]
Step = Annotated[
    str,
    typer.Option(
        "--step",
        metavar="SIZE",
        help="Initial step size of CMA-ES, relative to the standard deviation of the first term.",
    ),
]
Gain = Annotated[
    str,
    typer.Option(
        "--sprt",
        metavar="ELO0,ELO1",
        help="The two gains, in normalized Elo, between which the final test of the tuned weights "
        "decides.",
    ),
]


def tune(
    sum: Sum,
    out: Out,
    nodes: Nodes = 2500,
    second: Second = None,
    generations: Generations = 20,
    population: Population = 12,
    pairs: Pairs = 100,
    against: Against = None,
    board: BoardSize = "7x7",
    seed: TuneSeed = 0,
    step: Step = "0.5",
    sprt: Gain = "0,30",
    workers: Workers = None,
    dask: Dask = None,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Tune the weights of a sum of heuristics by playing games.

    The first term keeps its weight, because only ratios matter; CMA-ES searches the others. All
    candidates of a generation play the same openings. Then the tuned weights play the given ones in
    a sequential test, at --nodes and at --second, on openings that tuning never used. A gain is
    claimed if both tests accept it; otherwise the given weights are kept.

    FOLDER gets result.json, and expression.txt with the sum to play. After Ctrl-C, repeat the
    command to continue. The same settings give the same result, with any number of workers.

    \b
    Examples:
      knightfall learn tune "improved+0.5*bfs_reach" tuned
      knightfall learn tune "improved+0.5*bfs_reach+0.2*near_center" tuned --chart tuned.svg
      knightfall learn tune "mine.py:cosy+0*improved" mine --against start --against "id(improved)"
    """
    from knightfall.learning.tune_settings import START, TuneSettings
    from knightfall.learning.tuning import generations_kept, run_tuning

    settings = TuneSettings.of(
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
        report = run_tuning(out, settings, workers=workers, dask=dask)
    except KeyboardInterrupt:
        done = generations_kept(out, settings)
        say(
            f"knightfall: interrupted after {done} of {generations} generations; repeat the "
            "command to continue"
        )
        raise typer.Exit(INTERRUPTED) from None
    draw(report)
    print_report(report, json=json)


# -- chances ----------------------------------------------------------------------------------


Games = Annotated[int, whole_number("--games", "Games to learn from.")]


def chances(
    out: Out,
    games: Games = 1600,
    seed: GamesSeed = 0,
    workers: Workers = None,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Learn which replies opponents choose and how often they err.

    Agents of many kinds play the hunter in won games. Their choices are predicted from features of
    each reply: what heuristics count, what well-known searches would play, whether it keeps the win
    and how hard that is to see. The champion uses the result in lost positions, against opponents
    that it does not know.

    FOLDER gets chances.json. It is judged on games from other openings, and on games of agents that
    were not learned from. It takes some minutes; the same settings give the same file, with any
    number of workers.

    \b
    Examples:
      knightfall learn chances learned --workers 2
      knightfall learn chances learned --games 600 --seed 1
    """
    from knightfall.isolation.parallel_map import RunnerOptions
    from knightfall.learning.fit_reply_model import learn

    print_report(learn(out, games, seed, RunnerOptions(workers, dask)), json=json)


# -- leaderboard ------------------------------------------------------------------------------


Candidates = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="AGENT...",
        help="Agents to ask; by default the built-in ones.",
        show_default=False,
    ),
]
Asked = Annotated[int, whole_number("--positions", "Positions that each agent is asked.")]
DrawSeed = Annotated[
    int, whole_number("--seed", "Seed that draws the positions.", least=0, metavar="S")
]


def leaderboard(
    data: Data,
    agents: Candidates = None,
    positions: Asked = 1000,
    board: BoardSize = "7x7",
    seed: DrawSeed = 0,
    workers: Workers = None,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Rank agents by how often they keep won positions won.

    All agents are asked the same test positions of a set that 'learn data' has made. Each is won
    for the side to move, and some of its moves lose. The rates have 95 % intervals that allow for
    positions from one class of openings being related.

    \b
    Examples:
      knightfall learn leaderboard positions --workers 2
      knightfall learn leaderboard positions "id(mine.py:cosy)" "id(improved)"
    """
    from knightfall.isolation.parallel_map import RunnerOptions
    from knightfall.learning.leaderboard import leaderboard as rank

    for text in agents or ():
        agent_named(text, quiet=json)
    options = RunnerOptions(workers, dask)
    found = rank(data, agents or (), board=board, positions=positions, seed=seed, options=options)
    print_report(found, json=json)
    if found.waiting:
        raise typer.Exit(INTERRUPTED)


# -- the group --------------------------------------------------------------------------------


learn = command_group(
    "learn",
    """Learn heuristics, or how opponents err; rank agents.

    \b
    Examples:
      knightfall learn data positions
      knightfall learn fit positions models
      knightfall learn tune "improved+0.5*bfs_reach" tuned
      knightfall learn chances learned
      knightfall learn leaderboard positions
    """,
)


learn.command(name="data")(data)
learn.command(name="fit")(fit)
learn.command(name="tune")(tune)
learn.command(name="chances")(chances)
learn.command(name="leaderboard")(leaderboard)
