"""Rate a whole class in one call: read, play and judge all submissions, and write the pages.

The store does not support the 99 cells of the successor's game.  Results of a class on 11×9 are
kept as lines of a file in the output folder instead, each under a key made from everything that
decides its game.  A game whose key is in the file is not played again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from knightfall.arena import engine_version
from knightfall.arena.plan import Entrant, enter, files_of
from knightfall.arena.run_options import Notice
from knightfall.arena.snapshot import Snapshot, run_snapshot
from knightfall.arena.store import Run, Store
from knightfall.course.agent import TIME
from knightfall.course.checker.check_runner import examine
from knightfall.course.checker.grades import points_of
from knightfall.course.classroom.class_games import (
    Conditions,
    couples,
    entrant_of,
    finishes_none,
    in_protocol,
    is_successor,
    load_each,
    own_plan,
    play_season,
    usual_opponents,
)
from knightfall.course.classroom.class_report import (
    ClassReport,
    Met,
    pairs_met,
    table_of,
    write_grades,
)
from knightfall.course.classroom.game_lessons import Games, Lessons, from_json, lessons_of, to_dict
from knightfall.course.classroom.near_identical import near_identical
from knightfall.course.classroom.roster import Student, read_class, refuse_if_none_plays
from knightfall.course.trial.game_judging import count_loss
from knightfall.course.trial.successor_games import (
    SAMPLES,
    Result,
    SuccessorGame,
    both_seats,
    entered,
    play_all,
)
from knightfall.display.printable import json_line
from knightfall.display.progress import progress
from knightfall.display.progress import progress as shown_progress
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions, on_all_cores, parallel_map
from knightfall.kernel.source_hashes import hash_of
from knightfall.processor_cores import cores, load
from knightfall.search.budget import parse_budget
from knightfall.untrusted_input import Whole, check, parse_json, read_text
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
    formats: Sequence[str] = (),
    points: str | None = None,
    board_page: str = "",
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> ClassReport:
    """Let all submissions of a folder play; write a page for each and a table of all.

    `generations` overrides the inferred generation of one student (``alice=oldest``) or of all
    (``oldest``).  Finished games are kept in the output folder: after Ctrl-C, or when a submission
    is new or handed in again, only missing games are played.

    `formats` are those of the files for grading tools, "gradescope" and "junit", and `points` the
    file with the points of each check.  `board_page` is the address of a copy of the playable page,
    to which the boards of the report link.
    """
    given = points_of(formats, points)
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
            board_page=board_page,
        )
    report.write()
    report.grades = write_grades(report, formats, given)
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
        students, own, among = play_season(students, conditions, store, options, notice, show)
        lessons = _judged(own, place, options, show)
        return pairs_met(own.values(), among), students, lessons


def examine_each(students: Sequence[Student], show: bool) -> list[Student]:
    """Return the students with the results of `course check` on each readable submission."""

    def examined(student: Student) -> Student:
        if student.submission is None:
            return student
        with suppress(KnightfallError):  # the file may have been deleted meanwhile
            generation = student.submission.generation.name
            found = examine(student.submission.file, generation=generation)
            found = replace(found, why=student.submission.why)  # not "as you say"
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
        return Path(os.path.expanduser(output)).absolute()
    return Path(f"{Path(os.path.expanduser(folder)).resolve().name or 'class'}-report").absolute()


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


SUCCESSOR_GAMES = "games.jsonl"
"""The file of finished games in a class's output folder."""

_SHAPE = {"key": str, "loser": Whole(0, 1), "reason": str, "detail": str}

KIND = {"forfeit": "illegal answer", "illegal": "illegal answer"}
"""The names in the class's table of reasons for losing, where they differ."""


def play_successor_class(
    students: Sequence[Student],
    conditions: Conditions,
    place: Path,
    options: RunnerOptions,
    notice: Notice,
    show: bool,
) -> tuple[list[Met], list[Student], dict[str, Lessons]]:
    """Play the games that are not in the class's file yet.

    Return the pairs of games, the students with their problems, and the lessons by name.
    """
    agents = {
        student.name: entrant_of(student, conditions).agent
        for student in students
        if not student.problem
    }
    opponents = {name: entered(name) for name in conditions.opponents}
    kept = KeptGames(place / SUCCESSOR_GAMES, [*agents.values(), *opponents.values()])
    students = load_each(
        students, conditions, lambda one: kept.knows(agents[one.name]), notice, show
    )
    playing = [student.name for student in students if not student.problem]
    matches = [(name, other, False) for name in playing for other in opponents]
    matches += [
        (playing[one], playing[other], True)
        for one, other in couples(len(playing), conditions.classmates)
    ]
    games = {
        (a, b, classmate): both_seats(
            agents[a], (agents if classmate else opponents)[b], conditions.pairs, conditions.seed
        )
        for a, b, classmate in matches
    }
    _play([game for some in games.values() for game in some], kept, options, show)
    results = {
        couple: [kept.results[kept.key(game)] for game in some] for couple, some in games.items()
    }
    lessons = {
        name: _lessons([results[name, other, False] for other in opponents]) for name in playing
    }
    own_games = 2 * conditions.pairs * len(opponents)
    students = [
        one if one.problem else replace(one, problem=_hopeless(lessons[one.name], own_games))
        for one in students
    ]
    refuse_if_none_plays(students)
    out = {student.name for student in students if student.problem}
    met = [
        Met((a, True), (b, classmate), 2 * first.loser + 1 - second.loser, str(number))
        for (a, b, classmate), some in results.items()
        if a not in out and not (classmate and b in out)
        for number, (first, second) in enumerate(zip(some[::2], some[1::2], strict=True))
    ]
    return met, students, lessons


def _play(
    games: Sequence[SuccessorGame], kept: KeptGames, options: RunnerOptions, show: bool
) -> None:
    """Play the games that have no result in the file yet; write each result at once."""
    left = [game for game in games if kept.key(game) not in kept.results]
    done = len(games) - len(left)
    with progress("games", len(games), done=done, after=0.0 if show and left else 1e9) as tell:
        for number, result in play_all(left, options):
            kept.add(left[number], result)
            tell(tell.done + 1)


class KeptGames:
    """The file of finished games; a line that cannot be read counts as not played."""

    def __init__(self, file: Path, agents: Sequence[str]) -> None:
        self._file = file
        games = hash_of("knightfall.course.trial.successor_games", within="knightfall.course")
        engine = f"{engine_version.engine()}/{games}"
        self._editions = {
            agent: f"{engine}/{agent}/{'' if agent in SAMPLES else _contents(agent)}"
            for agent in agents
        }
        self.results: dict[str, Result] = {}
        written = _written(file)
        self._gap = "\n" if written and not written.endswith("\n") else ""  # a line cut short
        for line in written.splitlines():
            try:
                found = parse_json(line)
                check(_SHAPE, found)
            except KnightfallError:
                continue
            key = found.pop("key")
            self.results[key] = Result(**found)

    def key(self, game: SuccessorGame) -> str:
        """Return the key of a game, made from its players' files, the opening and the seed."""
        first, second = self._editions[game.first], self._editions[game.second]
        text = json.dumps([first, second, game.opening, game.seed])
        return f"{_short(first)}-{_short(second)}-{_short(text)}"

    def knows(self, agent: str) -> bool:
        """Return whether a stored game was played by this agent with its present files."""
        edition = _short(self._editions[agent])
        return any(edition in key.split("-")[:2] for key in self.results)

    def add(self, game: SuccessorGame, result: Result) -> None:
        """Append a result to the file; raise `KnightfallError` if it cannot be written."""
        self.results[self.key(game)] = result
        kept: dict[str, Any] = {"key": self.key(game), **asdict(result)}
        try:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"{self._gap}{json.dumps(kept)}\n")
        except OSError as error:
            raise KnightfallError(f"{self._file}: {error.strerror or error}") from None
        self._gap = ""


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _contents(agent: str) -> str:
    """Return the hashes of an agent's files."""
    return json.dumps(files_of([Entrant(agent, agent)]), sort_keys=True)


def _written(file: Path) -> str:
    try:
        return read_text(file)
    except KnightfallError:
        return ""


def _lessons(matches: Sequence[Sequence[Result]]) -> Lessons:
    """Count losses by timeout, illegal answer and crash; other lessons would need a solver."""
    unusual: dict[str, tuple[int, str]] = {}
    for results in matches:
        for number, result in enumerate(results):
            if result.reason and result.loser == number % 2:
                count_loss(unusual, KIND.get(result.reason, result.reason), result.detail)
    return Lessons(0, 0, None, None, unusual)


def _hopeless(lessons: Lessons, games: int) -> str:
    """Return why a submission that finished no game is not rated; "" if it finished one."""
    if sum(times for times, _ in lessons.unusual.values()) < games:
        return ""
    kind, (_, first) = next(iter(lessons.unusual.items()))
    return finishes_none(games, kind, first)
