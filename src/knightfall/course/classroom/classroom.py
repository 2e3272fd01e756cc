"""Rate a whole class in one call: read, play and judge all submissions, and write the pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from knightfall.arena import engine_version
from knightfall.arena.plan import enter
from knightfall.arena.run_options import Notice
from knightfall.arena.snapshot import Snapshot, run_snapshot
from knightfall.arena.store import Run, Store
from knightfall.course.agent import TIME
from knightfall.course.checker.check_runner import examine
from knightfall.course.classroom.class_games import (
    Conditions,
    Season,
    entrant_of,
    in_protocol,
    is_successor,
    load_each,
    own_plan,
    usual_opponents,
)
from knightfall.course.classroom.class_report import ClassReport
from knightfall.course.classroom.class_table import Met, pairs_met, table_of
from knightfall.course.classroom.game_lessons import Games, Lessons, from_json, lessons_of, to_dict
from knightfall.course.classroom.roster import Student, near_identical, read_class
from knightfall.course.classroom.successor_classroom import play_successor_class
from knightfall.course.trial.successor_games import entered
from knightfall.display.printable import json_line
from knightfall.display.progress import progress as shown_progress
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions, on_all_cores, parallel_map
from knightfall.processor_cores import cores, load
from knightfall.search.budget import parse_budget
from knightfall.untrusted_input import read_text
from knightfall.user_folders import atomic_write, make_folder

GAMES, LESSONS = "games.sqlite", "lessons"
"""The store and the folder of lessons in a class's output folder."""

MOST_CLASSMATES = 1000


def hold_class(
    folder: str,
    output: str | None = None,
    *,
    opponents: Sequence[str] = (),
    pairs: int = 5,
    classmates: int = 4,
    time: str | None = None,
    clock: str = "ticks",
    generations: Sequence[str] = (),
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> ClassReport:
    """Let all submissions of a folder play; write a page for each and a table of all.

    `generations` overrides the inferred generation of one student (``alice=oldest``) or of all
    (``oldest``).  Finished games are kept in the output folder: after Ctrl-C, or when a submission
    is handed in again, only missing games are played.
    """
    if clock not in ("wall", "ticks"):
        raise KnightfallError(f"clock {clock!r} must be wall or ticks")
    if not 0 <= classmates <= MOST_CLASSMATES:
        raise KnightfallError(f"classmates {classmates} must be from 0 to {MOST_CLASSMATES}")
    if pairs < 1:
        raise KnightfallError(f"pairs {pairs} must be 1 or more")
    options = RunnerOptions(workers, dask, executor)
    options.check()
    limit = parse_budget({"time": time}).time if time is not None else TIME
    place = output_folder(folder, output)
    students = read_class(folder, place, generations)
    conditions = Conditions(
        opponents=in_protocol(opponents, students) or usual_opponents(students),
        pairs=pairs,
        classmates=classmates,
        time=limit or TIME,
        counted=clock == "ticks",
        seed=seed,
        successor=is_successor(students),
    )
    if conditions.successor:  # refuse unknown opponents before anything is written
        play = play_successor_class
        for name in conditions.opponents:
            entered(name)
    else:
        play = _play_class
        enter(conditions.opponents)
    before = load()
    make_folder(place)
    with run_snapshot() as taken:
        students = _from_copies(students, conditions, taken)
        met, students, lessons = play(students, conditions, place, options, notice, progress)
        students = examine_each(students, progress)
        report = ClassReport(
            name=Path(folder).resolve().name or folder,
            table=table_of(met, students, lessons),
            broken=[student for student in students if student.problem],
            alike=near_identical(students),
            conditions=conditions,
            load=(before, load()),
            cores=cores(),
            output=place,
            edited=taken.edited(),
        )
    report.write()
    return report


def _from_copies(
    students: Sequence[Student], conditions: Conditions, taken: Snapshot
) -> list[Student]:
    """Copy all submissions before any of them runs; return the students with the copies' files.

    A submission that cannot be copied gets a problem.
    """
    found = []
    for student in students:
        read = student.submission
        if read is None or student.problem:
            found.append(student)
            continue
        try:
            taken.agent(entrant_of(student, conditions).agent)
        except KnightfallError as error:
            found.append(replace(student, problem=str(error)))
        else:
            copied = replace(read, file=taken.path(read.file))
            found.append(replace(student, submission=copied))
    return found


def _play_class(
    students: Sequence[Student],
    conditions: Conditions,
    place: Path,
    options: RunnerOptions,
    notice: Notice,
    show: bool,
) -> tuple[list[Met], list[Student], dict[str, Lessons]]:
    """Play and judge the games of a class on 7×7 that are not in its store yet.

    Return the pairs of games, the students with their problems, and the lessons by name.
    """
    make_folder(place / LESSONS)
    engine = engine_version.engine()
    with Store.open(place / GAMES) as store:
        students = load_each(
            students,
            conditions,
            lambda one: store.find(own_plan(one, conditions), engine) is not None,
            notice,
            show,
        )
        season = Season(students, conditions, store, options)
        season.play(notice, show)
        lessons = _judged(season.own, place, options, show)
        return pairs_met(season.own.values(), season.among), season.students, lessons


def examine_each(students: Sequence[Student], show: bool) -> list[Student]:
    """Return the students with the results of `course check` on each readable submission."""

    def examined(student: Student) -> Student:
        if student.submission is None:
            return student
        with suppress(KnightfallError):  # the file may have been deleted meanwhile
            generation = student.submission.generation.name
            found = examine(student.submission.file, generation=generation)
            return replace(student, examination=found)
        return student

    with (
        ThreadPoolExecutor(cores()) as threads,
        shown_progress("submissions checked", len(students), after=0.0 if show else 1e9) as tell,
    ):
        found = []
        for student in threads.map(examined, students):
            found.append(student)
            tell(len(found))
    return found


def output_folder(folder: str, output: str | None) -> Path:
    """Return the output folder; by default FOLDER-report in the working folder."""
    if output is not None:
        return Path(output).expanduser().absolute()
    return Path(f"{Path(folder).expanduser().resolve().name or 'class'}-report").absolute()


# -- judging ---------------------------------------------------------------------------------


def _judged(
    runs: dict[str, Run], place: Path, options: RunnerOptions, show: bool
) -> dict[str, Lessons]:
    """Return the lessons from each student's games; each is written to its file at once."""
    found: dict[str, Lessons] = {}
    for name, run in runs.items():
        kept = _kept(_file(place, run))
        if kept is not None:
            found[name] = kept
    left = [name for name in runs if name not in found]
    total, done = sum(2 * runs[name].total for name in left), 0
    with shown_progress("games judged", total, after=0.0 if show and left else 1e9) as tell:
        for number, lessons in parallel_map(
            _finder_of_lessons,
            [_games(name, runs[name]) for name in left],
            on_all_cores(options),
            describe=lambda games: f"the games of {games.name}",
        ):
            name = left[number]
            found[name] = lessons
            atomic_write(_file(place, runs[name]), json_line(to_dict(lessons)))
            done += 2 * runs[name].total
            tell(done)
    return found


def _games(name: str, run: Run) -> Games:
    """Return a student's games, with agents that name the copies of the run under way."""
    with run_snapshot() as taken:
        return Games(name, taken.plan(run.plan), [*run.pairs()])


def _finder_of_lessons() -> Callable[[Games], Lessons]:
    """Import the solver and return the function that judges games."""
    from knightfall.solver import solve as solve

    return lessons_of


def _file(place: Path, run: Run) -> Path:
    return place / LESSONS / f"{run.key}.json"


def _kept(file: Path) -> Lessons | None:
    try:
        return from_json(read_text(file))
    except KnightfallError:
        return None  # no file, or an unreadable one: the games are judged again
