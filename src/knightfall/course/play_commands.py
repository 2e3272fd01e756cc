"""``knightfall course run`` and ``course class``: submissions play."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.arena import NOTHING_MEASURED, Again, Seed, Workers
from knightfall.cli.options.common import Json, whole_number
from knightfall.cli.options.course import Clock, Generation, MoveTime, Opponents
from knightfall.cli.options.store import StorePath, store_path

Submission = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="The submission's file or folder; PATH#Class(score) tests that class alone.",
    ),
]


def run(
    path: Submission,
    opponents: Opponents = None,
    pairs: Annotated[
        int | None,
        whole_number(
            "--pairs", "Pairs of games per opponent: the course's 5 (2017b) or 10 (before)."
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
    from knightfall.arena.store_file import user_store
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


# -- class ------------------------------------------------------------------------------------


Folder = Annotated[
    str,
    typer.Argument(metavar="FOLDER", help="Holds a folder or a .py file for each submission."),
]


def classroom(
    folder: Folder,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR", help="Where pages go; FOLDER-report if not given."),
    ] = None,
    opponents: Opponents = None,
    pairs: Annotated[int, whole_number("--pairs", "Pairs of games per opponent.")] = 5,
    classmates: Annotated[
        int,
        typer.Option(
            "--classmates",
            metavar="N",
            min=0,
            max=1000,
            help="How many of the others each submission meets, too.",
        ),
    ] = 4,
    time: MoveTime = None,
    clock: Clock = "ticks",
    generation: Annotated[
        list[str] | None,
        typer.Option(
            "--generation",
            metavar="[NAME=]G",
            help="The generation of all, or of the student NAME; may be repeated.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Let a whole class play: a league of all submissions and the course's opponents.

    Writes a page for each student, with blunders as pictures, and a table of all (index.html,
    class.csv).  What cannot be used is listed with what is wrong.  Interrupted, the same command
    goes on; handed in again, only that submission plays again.

    \b
    Examples:
      knightfall course class submissions
      knightfall course class submissions --output reports/week3 --clock wall
    """
    from knightfall.cli.screen.guard import INTERRUPTED, say
    from knightfall.cli.screen.output import print_report
    from knightfall.course.classroom.classroom import hold_class, output_folder

    try:
        report = hold_class(
            folder,
            output,
            opponents=opponents or (),
            pairs=pairs,
            classmates=classmates,
            time=time,
            clock=clock,
            generations=generation or (),
            seed=seed,
            workers=workers,
            notice=(lambda text: None) if json else say,
        )
    except KeyboardInterrupt:
        say(
            f"knightfall: interrupted; what was played is in {output_folder(folder, output)}, and "
            "the same command goes on"
        )
        raise typer.Exit(INTERRUPTED) from None
    print_report(report, json=json)
