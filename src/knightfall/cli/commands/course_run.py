"""``knightfall course run``: somebody's submission in the course's tournament."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import NOTHING_MEASURED, Again, Seed, Workers
from knightfall.cli.options.common import Json, at_least_one
from knightfall.cli.options.course import Clock, Generation, MoveTime, Opponents
from knightfall.cli.options.store import StorePath, store_path

Path = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="The submission's file or folder; PATH#Class(score) tests that class alone.",
    ),
]


def run(
    path: Path,
    opponents: Opponents = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            metavar="N",
            parser=at_least_one,
            help="Pairs of games per opponent: the course's 5 (2017b) or 10 (before).",
        ),
    ] = None,
    time: MoveTime = None,
    clock: Clock = "ticks",
    generation: Generation = None,
    seed: Seed = 0,
    workers: Workers = None,
    store: StorePath = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Play the course's tournament with a submission as it was handed in.

    Its generation is found by reading it, and the course's board if that lies beside it.  Each
    game has a process of its own, with a copy of the submission's folder to work in.  Prints the
    course's table, what its games were lost by, and what the solver says of its moves.
    Interrupted, the same command goes on.  The exit code is 1 if every game was lost by crashes,
    timeouts and illegal moves.

    \b
    Examples:
      knightfall course run AIND-Isolation
      knightfall course run game_agent.py --clock wall --pairs 20
      knightfall course run "game_agent.py#AlphaBetaPlayer(custom_score_2)" --opponents AB_Improved
    """
    from knightfall.arena.store.file import user_store
    from knightfall.cli.screen.guard import INTERRUPTED, say
    from knightfall.cli.screen.output import print_report
    from knightfall.course.trial.successor import SuccessorReport
    from knightfall.course.trial.trial import trial
    from knightfall.display.numbers import count

    report = trial(
        path,
        opponents=opponents or (),
        pairs=pairs,
        time=time,
        clock=clock,
        generation=generation or "",
        seed=seed,
        workers=workers,
        store=store_path(store) or user_store(),
        again=again,
        notice=(lambda text: None) if json else say,
    )
    if isinstance(report, SuccessorReport):
        print_report(report, json=json)
        if report.interrupted:
            raise typer.Exit(INTERRUPTED)
        if report.nothing_measured:
            raise typer.Exit(NOTHING_MEASURED)
        return
    results = report.tournament.results
    if not report.interrupted or results.played:
        print_report(report, json=json)
    if report.interrupted:
        say(
            f"knightfall: interrupted after {results.played:,} of "
            f"{count(report.tournament.plan.total, 'pair')}; the same command goes on with run "
            f"{report.tournament.run.id}"
        )
        raise typer.Exit(INTERRUPTED)
    if report.tournament.broken:
        raise typer.Exit(NOTHING_MEASURED)
