"""The command group ``knightfall course``: play, check and start course submissions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.arena_options import NOTHING_MEASURED, Again, Generation, Seed
from knightfall.cli.help_format import command_group
from knightfall.cli.options import (
    Dask,
    Json,
    RunWorkers,
    StorePath,
    store_path,
    whole_number,
)
from knightfall.cli.terminal import INTERRUPTED, print_json, print_line, print_report, say
from knightfall.errors import KnightfallError, nearest
from knightfall.user_folders import make_folder

Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help="An opponent; may be repeated. By default those of the course's tournament.",
    ),
]
MoveTime = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="Time for a move; by default 150ms, as in the course.",
    ),
]
Clock = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="CLOCK",
        help="How time is measured: ticks (each call of time_left() costs 0.06 ms, so results "
        "repeat) or wall (real time).",
    ),
]
PointsFile = Annotated[
    str | None,
    typer.Option(
        "--points",
        metavar="FILE",
        help="TOML file with the points of each check, for --format; by default one each.",
    ),
]

Submission = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="The submission's file or folder; PATH#Class(score) tests that class alone.",
    ),
]


def run(
    path: Submission,
    against: Against = None,
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
    workers: RunWorkers = None,
    dask: Dask = None,
    store: StorePath = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Play the course's tournament with an unmodified submission.

    The generation is found by reading the submission and a course board beside it. Each game runs
    in a process of its own, in a copy of the submission's folder. Prints the course's table, how
    games were lost other than on the board, and how many won positions the moves kept won.
    After an interruption, repeat the command to continue. The exit code is 1 if every game was
    lost by crashes, timeouts and illegal moves.

    \b
    Examples:
      knightfall course run AIND-Isolation
      knightfall course run game_agent.py --clock wall --pairs 20
      knightfall course run "game_agent.py#AlphaBetaPlayer(custom_score_2)" --against AB_Improved
    """
    from knightfall.arena.store_file import user_store
    from knightfall.course.trial.submission_tournament import trial
    from knightfall.course.trial.successor_games import SuccessorReport
    from knightfall.display.numbers import count

    report = trial(
        path,
        opponents=against or (),
        pairs=pairs,
        time=time,
        clock=clock,
        generation=generation or "",
        seed=seed,
        workers=workers,
        dask=dask,
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
            f"{count(report.tournament.plan.total, 'pair')}; repeat the command to continue run "
            f"{report.tournament.run.id}"
        )
        raise typer.Exit(INTERRUPTED)
    if report.tournament.broken:
        raise typer.Exit(NOTHING_MEASURED)


# -- class ------------------------------------------------------------------------------------


ClassFolder = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER", help="Folder that holds a folder or a .py file for each submission."
    ),
]


def classroom(
    folder: ClassFolder,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="The folder to write the report into; FOLDER-report by default.",
        ),
    ] = None,
    against: Against = None,
    pairs: Annotated[int, whole_number("--pairs", "Pairs of games per opponent.")] = 5,
    classmates: Annotated[
        int,
        typer.Option(
            "--classmates",
            metavar="N",
            min=0,
            max=1000,
            help="Number of classmates that each submission plays.",
        ),
    ] = 4,
    time: MoveTime = None,
    clock: Clock = "ticks",
    generation: Annotated[
        list[str] | None,
        typer.Option(
            "--generation",
            metavar="[NAME=]G",
            help="Version of the course, such as 2017a, that all submissions are written for, or "
            "only student NAME's; may be repeated.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: RunWorkers = None,
    dask: Dask = None,
    format: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Write grades, too: gradescope (a results.json for each student) or junit "
            "(JUnit XML); may be repeated.",
        ),
    ] = None,
    points: PointsFile = None,
    page: Annotated[
        str | None,
        typer.Option(
            "--page",
            metavar="URL",
            help="Address of the playable page that boards link to; by default a copy beside "
            "the report, board.html.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Rate a whole class: every submission plays a tournament.

    Each plays the course's opponents and some classmates. Writes a page for each student, with
    pictures of blunders, and a table of the class (index.html, class.csv). Submissions that cannot
    play are listed with the reason. Repeat the command after an interruption, or when submissions
    were added or changed: only missing games are played.

    \b
    Examples:
      knightfall course class submissions
      knightfall course class submissions --output reports/week3 --clock wall
      knightfall course class submissions --format gradescope --points points.toml
    """
    from knightfall.course.classroom.classroom import hold_class, output_folder

    if page is not None and not page.startswith(("https://", "http://")):
        raise KnightfallError(f"--page {page!r} must begin with https:// or http://")
    try:
        report = hold_class(
            folder,
            output,
            opponents=against or (),
            pairs=pairs,
            classmates=classmates,
            time=time,
            clock=clock,
            generations=generation or (),
            seed=seed,
            workers=workers,
            dask=dask,
            formats=format or (),
            points=points,
            board_page=page or BOARD_PAGE,
            notice=(lambda text: None) if json else say,
        )
        if page is None and not report.conditions.successor:
            write_board_page(report.output)
    except KeyboardInterrupt:
        say(
            f"knightfall: interrupted; finished games are kept in {output_folder(folder, output)}; "
            "repeat the command to continue"
        )
        raise typer.Exit(INTERRUPTED) from None
    print_report(report, json=json)


BOARD_PAGE = "board.html"
"""The name of the copy of the playable page in a class's output folder."""


def write_board_page(folder: Path) -> None:
    """Write a copy of the playable page into a folder."""
    from knightfall.user_folders import atomic_write
    from knightfall.web.site import single_file

    atomic_write(folder / BOARD_PAGE, single_file())


# -- check -------------------------------------------------------------------------------------


WRONG = 1
"""The exit code if a check fails."""

Checked = Annotated[
    str,
    typer.Argument(
        metavar="PATH", help="A game_agent.py or my_custom_player.py, or the folder that holds it."
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds", metavar="S", min=0.1, max=3600, help="Time limit of each check, in seconds."
    ),
]


def check(
    path: Checked,
    generation: Generation = None,
    seconds: Seconds = 10.0,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Print grades instead: gradescope (the content of results.json) or junit "
            "(JUnit XML).",
        ),
    ] = None,
    points: PointsFile = None,
    json: Json = False,
) -> None:
    """Check a course submission against the course's requirements.

    Checks the interface, scores that are floats, best moves at depths 1 to 3, alpha-beta pruning,
    timeouts, iterative deepening, and (-1, -1) when there is no move. For the successor's 11×9:
    legal actions in time, wins in one, whole games, iterative deepening.
    Each failure is explained with the position. The exit code is 1 if a check fails.

    \b
    Examples:
      knightfall course check .
      knightfall course check old/AIND-Isolation --json
      knightfall course check . --format gradescope > results.json
    """
    from knightfall.course.checker.check_runner import examine
    from knightfall.course.checker.grades import grade_of, gradescope, junit, points_of

    if json and format:
        raise KnightfallError(f"--json and --format {format}: choose one")
    given = points_of([format] if format else [], points)
    found = examine(path, generation=generation, seconds=seconds)
    if format:
        grade = grade_of(found, given, Path(os.path.expanduser(path)).resolve().name)
        text = gradescope(grade) if format == "gradescope" else junit([grade], "course check")
        print_line(*text.splitlines())
    else:
        print_report(found, json=json)
    if not found.passed:
        raise typer.Exit(WRONG)


# -- scores -----------------------------------------------------------------------------------


Scored = Annotated[
    str, typer.Argument(metavar="PATH", help="A game_agent.py, or the folder that holds it.")
]


def scores(path: Scored, json: Json = False) -> None:
    """List which score functions of a submission can be compiled.

    For each of the others, the reason is shown. A score is a function of game and player; its name
    as a heuristic is course:PATH#custom_score.

    \b
    Examples:
      knightfall course scores AIND-Isolation
      knightfall check "course:AIND-Isolation#custom_score"
    """
    from knightfall.course.student_scores.student_score import survey

    print_report(survey(path), json=json)


# -- new --------------------------------------------------------------------------------------


Folder = Annotated[
    str,
    typer.Argument(
        metavar="DIR", help="The folder to write the exercise into; made if it is missing."
    ),
]
NewGeneration = Annotated[
    str,
    typer.Option(
        "--generation",
        metavar="2017b|2017a",
        help="Version of the course that the exercise is from.",
    ),
]


def new(folder: Folder, generation: NewGeneration = "2017b") -> None:
    """Write a new exercise: the task, a game_agent.py and its tests.

    Nothing is overwritten: if one of the files exists already, no file is written.

    \b
    Examples:
      knightfall course new mine
      knightfall course check mine
    """
    from shlex import quote

    for file in begin(folder, generation):
        print_line(f"wrote {file}")
    print_line("", f"Read README.md. To check your work: knightfall course check {quote(folder)}")


# -- path -------------------------------------------------------------------------------------


def path(
    generation: Annotated[
        str,
        typer.Option(
            "--generation",
            metavar="NAME",
            help="Version of the course: 2017b, 2017a, early, oldest, or successor (11×9 board).",
        ),
    ] = "2017b",
    json: Json = False,
) -> None:
    """Print the folder from which course scripts import their board.

    Put it first on PYTHONPATH: it holds isolation and sample_players of that generation.

    \b
    Examples:
      knightfall course path
      PYTHONPATH=$(knightfall course path --generation 2017a) python tournament.py
    """
    from knightfall.course.generations import generation_named

    place = str(generation_named(generation).folder)
    if json:
        print_json({"generation": generation, "path": place})
    else:
        print_line(place)


# -- the group --------------------------------------------------------------------------------


course = command_group(
    "course",
    """Play, check and start submissions of the course.

    \b
    Examples:
      knightfall course run AIND-Isolation
      knightfall course class submissions
      knightfall course check AIND-Isolation
      knightfall course scores AIND-Isolation
      knightfall course new mine
      knightfall course path --generation 2017a
    """,
)


course.command(name="run")(run)
course.command(name="class")(classroom)
course.command(name="check")(check)
course.command(name="scores")(scores)
course.command(name="new")(new)
course.command(name="path")(path)


# -- a new exercise --------------------------------------------------------------------------------

HANDED_OUT = Path(__file__).resolve().parent / "exercise_files"
GENERATIONS = ("2017b", "2017a")
FILES = ("README.md", "game_agent.py", "test_game_agent.py")


def begin(folder: str | Path, generation: str = "2017b") -> list[Path]:
    """Write the files of an exercise into a folder and return their paths.

    The folder is created if it is missing.  If any of the files exists already, none is written.
    """
    if generation not in GENERATIONS:
        raise KnightfallError(
            f"no exercise for generation {generation!r}: choose "
            f"{' or '.join(GENERATIONS)}{nearest(generation, GENERATIONS)}"
        )
    try:
        target = Path(os.path.expanduser(folder))
        there = [name for name in FILES if os.path.lexists(target / name)]
        if there:
            raise KnightfallError(
                f"{str(folder)!r} already holds {' and '.join(there)}; nothing is overwritten: "
                "name another folder"
            )
        make_folder(target)
        written = []
        for name in FILES:
            text = (HANDED_OUT / generation / f"{name}.txt").read_text(encoding="utf-8")
            with open(target / name, "x", encoding="utf-8") as file:
                file.write(text)
            written.append(target / name)
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown, a file in the way
        reason = getattr(error, "strerror", None) or error
        raise KnightfallError(f"{str(folder)!r}: {reason}") from None
    except ValueError as error:
        if isinstance(error, KnightfallError):
            raise
        raise KnightfallError(f"{str(folder)!r}: {error}") from None
    return written
