"""A class in one call: everybody's submission is read, played, judged and told about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from knightfall.arena.plan import enter
from knightfall.arena.run_options import Notice
from knightfall.arena.store import Run, Store
from knightfall.course.agent import TIME
from knightfall.course.checker.examine import examine
from knightfall.course.classroom.class_report import ClassReport
from knightfall.course.classroom.class_table import ClassTable, class_table
from knightfall.course.classroom.lessons import Games, Lessons, from_json, lessons_of, to_dict
from knightfall.course.classroom.roster import Student, described, near_identical, read_class
from knightfall.course.classroom.season import (
    Conditions,
    Season,
    in_protocol,
    is_successor,
    load_each,
    usual_opponents,
)
from knightfall.course.classroom.successor_class import SuccessorSeason
from knightfall.display.numbers import count
from knightfall.display.printable import json_line
from knightfall.display.progress import progress as shown_progress
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, make_folder
from knightfall.isolation.parallel_map import RunnerOptions, on_all_cores, parallel_map
from knightfall.machine import cores, load
from knightfall.reading import read_text
from knightfall.search.budget import parse_budget

GAMES, LESSONS = "games.sqlite", "lessons"
"""What a class's output folder holds beside its pages: the store, and what was found in games."""

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
    """Let all submissions of a folder play, and write a page for each and a table of all.

    `generations` are those of the students named, such as ``alice=oldest``, or of all, such as
    ``oldest``; others are found by reading.  What was played is kept in the output folder: after
    Ctrl-C, and when somebody hands in another version, only what is missing is played.
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
    if conditions.successor:
        return _successor_class(folder, place, students, conditions, options, progress, notice)
    enter(conditions.opponents)  # which refuses whoever is none, before anything is written
    before = load()
    with _opened(place) as store:
        students = load_each(students, conditions, store, progress)
        _some_play(students)
        notice(described(students))
        season = Season(students, conditions, store, options)
        season.play(notice, progress)
        lessons = _judged(season.own, place, options, progress)
        checked = examine_each(season.students, progress)
        table = class_table(season.own, season.among, checked, lessons)
        report = _report(folder, place, table, students, checked, conditions, before)
    report.write()
    return report


def _successor_class(
    folder: str,
    place: Path,
    students: list[Student],
    conditions: Conditions,
    options: RunnerOptions,
    progress: bool,
    notice: Notice,
) -> ClassReport:
    """Let a class of the successor play; its games are kept in a file of their own."""
    season, before = SuccessorSeason(students, conditions, place), load()
    make_folder(place)
    notice(described(students))
    season.students = examine_each(season.students, progress)
    table = season.play(options, progress)
    _some_play(season.students)
    report = _report(folder, place, table, students, season.students, conditions, before)
    report.write()
    return report


def _report(
    folder: str,
    place: Path,
    table: ClassTable,
    handed_in: Sequence[Student],
    examined: Sequence[Student],
    conditions: Conditions,
    before: float | None,
) -> ClassReport:
    """Return the report on a class that has played; `before` is the load when it began."""
    return ClassReport(
        name=Path(folder).resolve().name or folder,
        table=table,
        broken=[student for student in examined if student.problem],
        alike=near_identical(handed_in),
        conditions=conditions,
        load=(before, load()),
        cores=cores(),
        output=place,
    )


def examine_each(students: Sequence[Student], show: bool) -> list[Student]:
    """Return everybody with what `course check` says of what can be read of theirs."""

    def examined(student: Student) -> Student:
        if student.submission is None:
            return student
        with suppress(KnightfallError):  # a submission that is not checked, or is gone by now
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


def _some_play(students: Sequence[Student]) -> None:
    """Refuse a class in which nobody can play."""
    if all(student.problem for student in students):
        first = students[0]
        raise KnightfallError(
            f"none of {count(len(students), 'submission')} can be used; the first is "
            f"{first.name}: {first.problem}"
        )


def output_folder(folder: str, output: str | None) -> Path:
    """Where everything goes: beside us, named after the class, unless told."""
    if output is not None:
        return Path(output).expanduser().absolute()
    return Path(f"{Path(folder).expanduser().resolve().name or 'class'}-report").absolute()


@contextmanager
def _opened(place: Path) -> Iterator[Store]:
    make_folder(place / LESSONS)
    with Store.open(place / GAMES) as store:
        yield store


# -- judging ---------------------------------------------------------------------------------


def _judged(
    runs: dict[str, Run], place: Path, options: RunnerOptions, show: bool
) -> dict[str, Lessons]:
    """What there is to learn from everybody's games; kept as soon as it is known."""
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
            [Games(name, runs[name].plan, [*runs[name].pairs()]) for name in left],
            on_all_cores(options),
            describe=lambda games: f"the games of {games.name}",
        ):
            name = left[number]
            found[name] = lessons
            atomic_write(_file(place, runs[name]), json_line(to_dict(lessons)))
            done += 2 * runs[name].total
            tell(done)
    return found


def _finder_of_lessons() -> Callable[[Games], Lessons]:
    """Return the function that judges games, once what it needs is imported."""
    from knightfall.solver import solve as solve

    return lessons_of


def _file(place: Path, run: Run) -> Path:
    return place / LESSONS / f"{run.key}.json"


def _kept(file: Path) -> Lessons | None:
    try:
        return from_json(read_text(file))
    except KnightfallError:
        return None  # nothing kept, or nothing that can be used: it is found out anew
