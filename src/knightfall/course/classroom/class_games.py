"""The games of a class on 7×7: the plans, and how they are played.

Each submission has a plan against the course's opponents, and each two classmates that meet have
one.  So a submission that is new or was handed in again changes no other plan than its own: all
other games are found in the store and not played again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from knightfall.agents import COURSE, cached_agent
from knightfall.arena import engine_version
from knightfall.arena.api import combined_plan, from_snapshot
from knightfall.arena.plan import (
    Entrant,
    Match,
    PairRecord,
    Plan,
    enter,
    files_of,
    tournament_matches,
)
from knightfall.arena.run_options import Notice
from knightfall.arena.snapshot import as_played
from knightfall.arena.store import Run, Store
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.course.agent import CourseAgent, RemoteSubmission, course_agent
from knightfall.course.classroom.roster import Student, described, refuse_if_none_plays
from knightfall.course.generations import all_generations
from knightfall.course.trial.game_judging import kind_of, never_moved
from knightfall.course.trial.successor_games import SAMPLES
from knightfall.display.progress import progress
from knightfall.errors import AgentFailure, KnightfallError, RunnerFailure
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.position import Position
from knightfall.processor_cores import cores
from knightfall.user_files import original_paths

if TYPE_CHECKING:
    from knightfall.arena.runner import Runner

# -- plans -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conditions:
    """The conditions under which a class plays."""

    opponents: tuple[str, ...]
    pairs: int = 5
    """Pairs of games against each opponent."""
    classmates: int = 4
    """Number of classmates that each submission meets."""
    time: int = 150_000
    """Microseconds per move."""
    counted: bool = True
    """Whether time is counted in ticks; otherwise by the wall clock."""
    seed: int = 0
    successor: bool = False
    """Whether the class plays on 11×9, which the store and the solver do not support."""

    @property
    def clock(self) -> str:
        """Return the description of the clock, without a full stop."""
        wanted = f"{self.time / 1000:g} ms a move"
        if self.counted and self.successor:
            return f"{wanted}; each method call on the state costs 0.015 ms"
        if self.counted:
            return f"{wanted}; each call of time_left() costs 0.06 ms"
        return f"{wanted} by the wall clock"


def is_successor(students: Sequence[Student]) -> bool:
    """Return whether all readable submissions are for the successor course's 11×9 game."""
    known = [student.submission for student in students if student.submission is not None]
    return bool(known) and all(one.generation.on_11x9 for one in known)


def usual_opponents(students: Sequence[Student]) -> tuple[str, ...]:
    """Return the opponents by default: the seven of the class's tournament, or those for 11×9."""
    return tuple(SAMPLES) if is_successor(students) else PROTOCOLS[protocol_of(students)].opponents


def protocol_of(students: Sequence[Student]) -> str:
    """Return the tournament, 2017a or 2017b, that belongs to the newest submission of a class."""
    known = {student.submission.generation for student in students if student.submission}
    latest = [one for one in all_generations() if one in known and not one.on_11x9]
    return latest[0].protocol if latest else "2017a"


def in_protocol(opponents: Sequence[str], students: Sequence[Student]) -> tuple[str, ...]:
    """Return the opponents, with ``2017a:`` or ``2017b:`` before names of the course's agents."""
    if is_successor(students):
        return tuple(opponents)
    protocol = protocol_of(students)
    return tuple(
        f"{protocol}:{text}"
        if protocol != "2017b" and text.partition("(")[0].strip() in COURSE[protocol]
        else text
        for text in opponents
    )


def entrant_of(student: Student, conditions: Conditions) -> Entrant:
    """Return a student's submission as an entrant, with the class that the tournament uses."""
    agent = course_agent(student.reference, conditions.time, conditions.counted)
    return replace(enter([str(agent)])[0], name=student.name)


def own_plan(student: Student, conditions: Conditions, pairs: int | None = None) -> Plan:
    """Return the plan of a submission against the opponents; all students get the same openings."""
    against = enter(list(conditions.opponents))
    entrants = (entrant_of(student, conditions), *against)
    return Plan(
        kind="tournament",
        entrants=entrants,
        matches=tournament_matches(1, len(against)),
        pairs=pairs or conditions.pairs,
        seed=conditions.seed,
        files=files_of(entrants),
        options={"protocol": "class", "tests": 1, "given_budget": ""},
    )


def classmates_plans(students: Sequence[Student], conditions: Conditions) -> list[Plan]:
    """Return a plan for each two classmates that meet."""
    plans = []
    for couple in couples(len(students), conditions.classmates):
        entrants = tuple(entrant_of(students[number], conditions) for number in couple)
        plans.append(
            Plan(
                kind="league",
                entrants=entrants,
                matches=(Match(0, 1),),
                pairs=conditions.pairs,
                seed=conditions.seed,
                files=files_of(entrants),
                options={"given_budget": ""},
            )
        )
    return plans


def couples(people: int, wanted: int) -> list[tuple[int, int]]:
    """Return the pairings of `circle`, the lower number first.

    The order of two people never changes when others join, so their games remain the same.
    """
    pairings = ((one, other) for one, met in enumerate(circle(people, wanted)) for other in met)
    return [(min(pairing), max(pairing)) for pairing in pairings]


def circle(people: int, wanted: int) -> list[list[int]]:
    """Pair each of `people` (numbered from 0) with `wanted` others; return each one's opponents.

    A pairing is listed once, for the first of the two.  If `wanted` and `people` are odd, one meets
    one fewer; if there are not enough people, everyone meets everyone.
    """
    if wanted >= people - 1:
        return [list(range(place + 1, people)) for place in range(people)]
    steps = range(1, wanted // 2 + 1)
    found = [[(place + step) % people for step in steps] for place in range(people)]
    if wanted % 2:
        half = people // 2
        for place in range(half):
            found[place].append(place + half)
    return found


# -- playing -----------------------------------------------------------------------------------


STARTING = 0.2
"""Approximate seconds that a submission's process takes to start."""

FIRST = "7/7/2N4/7/4n2/7/7 w"
"""The position in which each submission is asked for a first move before the games."""


def load_each(
    students: Sequence[Student],
    conditions: Conditions,
    has_played: Callable[[Student], bool],
    notice: Notice,
    show: bool,
) -> list[Student]:
    """Return the students, with a problem for those that cannot be loaded or do not answer.

    Each is tried in a process of its own, unless it has played before.  Raise `KnightfallError` if
    none can play.
    """

    def tried(student: Student) -> Student:
        agent = entrant_of(student, conditions).agent
        loaded = False
        try:
            with RemoteSubmission(cached_agent(played[agent])) as player:
                player.prepare()
                loaded = True
                if not conditions.successor:
                    player.analyse(Position.from_fen(FIRST))
        except AgentFailure as failure:
            said = _brief(original_paths(str(failure)), agent)
            if not loaded:
                return replace(student, problem=f"cannot be loaded: {said}")
            if failure.ending == "no answer":  # its games will show other failures
                return replace(student, problem=f"asked for a move, it {said}")
        return student

    fresh = [one for one in students if not one.problem and not has_played(one)]
    found: dict[str, Student] = {}
    agents = [entrant_of(student, conditions).agent for student in fresh]
    played = {agent: as_played(agent) for agent in agents}
    with (
        ThreadPoolExecutor(cores()) as threads,
        progress("submissions loaded", len(fresh)) as tell,
    ):
        for student in threads.map(tried, fresh):
            found[student.name] = student
            if show:
                tell(len(found))
    loaded = [found.get(student.name, student) for student in students]
    refuse_if_none_plays(loaded)
    notice(described(loaded))
    return loaded


def _brief(detail: str, agent: str) -> str:
    """Return an error message without the agent's long name."""
    return detail.replace(f"{agent} ", "").replace(f"{agent}: ", "")


def play_season(
    students: Sequence[Student],
    conditions: Conditions,
    store: Store,
    options: RunnerOptions,
    notice: Notice,
    show: bool,
) -> tuple[list[Student], dict[str, Run], list[Run]]:
    """Play all games that are not in the store yet; after Ctrl-C the finished ones are kept.

    In the first round each submission plays a pair against each opponent; those that never move or
    finish are then excluded.  Return the students with their problems, the runs against the
    opponents by the student's name, and the runs among classmates.
    """
    conduct = partial(_conduct, store=store, options=options, notice=notice, show=show)
    playing = [student for student in students if not student.problem]
    first = conduct([own_plan(one, conditions, 1) for one in playing], "games of the first round")
    after = {one.name: _after(one, run) for one, run in zip(playing, first, strict=True)}
    students = [after.get(student.name, student) for student in students]
    playing = [student for student in students if not student.problem]
    own = [own_plan(student, conditions) for student in playing]
    runs = conduct([*own, *classmates_plans(playing, conditions)], "games")
    named = zip((student.name for student in playing), runs, strict=False)
    return students, dict(named), runs[len(own) :]


def _after(student: Student, run: Run) -> Student:
    """Return a student after the first round, with a problem if the submission is excluded."""
    idle = never_moved(run, [0]).get(0)
    problem = hopeless(run) if idle is None else idle.words
    return replace(student, problem=problem, never_moved=idle)


def _conduct(
    plans: Sequence[Plan],
    what: str,
    store: Store,
    options: RunnerOptions,
    notice: Notice,
    show: bool,
) -> list[Run]:
    """Play the plans one after the other with the same workers; return their runs."""
    engine, versions = engine_version.engine(), engine_version.versions()
    runs = [store.begin(plan, engine, versions) for plan in plans]
    if all(run.finished for run in runs):
        return runs
    done = [run.played for run in runs]
    ahead = _Ahead(runs, done, min(cores(), options.workers or cores()) or 1)
    total = 2 * sum(plan.total for plan in plans)
    with (
        from_snapshot(options, combined_plan(plans), notice) as runner,
        progress(what, total, done=2 * sum(done), after=0.0 if show else 1e9) as tell,
    ):
        tell.ahead = ahead.seconds

        def on_pair(place: int) -> None:
            done[place] += 1
            tell(2 * sum(done))

        play_together(runs, runner, on_pair)
    return runs


def play_together(runs: Sequence[Run], runner: Runner, on_pair: Callable[[int], None]) -> None:
    """Play all pairs that some runs lack as one stream, so that no worker waits for a run's end.

    `on_pair` is called with the number of the run, in `runs`, of each pair that was stored.
    """
    enable_keyboard_interrupt()
    left = [
        (place, task)
        for place, run in enumerate(runs)
        if not run.finished
        for task in run.plan.tasks(run.played)
    ]
    early: dict[tuple[int, int], PairRecord] = {}  # records that wait for an earlier pair
    stored = {place: run.played for place, run in enumerate(runs)}
    stream = (replace(task, number=number) for number, (_, task) in enumerate(left))
    try:
        with closing(runner.play(stream)) as records:
            for record in records:
                place, task = left[record.task.number]
                early[place, task.number] = replace(record, task=task)
                while pair := early.pop((place, stored[place]), None):
                    runs[place].append([pair])
                    stored[place] += 1
                    on_pair(place)
                if stored[place] == runs[place].plan.total:
                    runs[place].finish({})
    except RunnerFailure as failure:
        raise KnightfallError(
            f"{failure}; the same command plays the games that are left"
        ) from None
    for run in runs:
        run.finish({})  # does nothing to a finished run


class _Ahead:
    """Estimates the remaining time from how long each submission's games took so far.

    Submissions differ in speed by a factor of a hundred, so the rate of the last games says little
    about the next ones.
    """

    def __init__(self, runs: Sequence[Run], done: list[int], workers: int) -> None:
        self._done, self._workers = done, workers
        self._before = list(done)
        self._totals = [run.total for run in runs]
        known = {}
        for run in runs:
            known.update(_seconds(run))
        usual = sum(known.values()) / len(known) if known else None
        self._each = [
            None if usual is None
            else sum(known.get(entrant.agent, usual) for entrant in _submissions(run.plan))
            / max(1, len(_submissions(run.plan))) * (1 + (run.plan.kind == "league"))
            for run in runs
        ]  # fmt: skip
        self._start = time.monotonic()

    def seconds(self) -> float | None:
        """Return the estimated seconds left; None if nothing was measured yet."""
        elapsed = time.monotonic() - self._start
        made = [now - before for now, before in zip(self._done, self._before, strict=True)]
        left = [total - now for total, now in zip(self._totals, self._done, strict=True)]
        if any(each is None for each in self._each):
            return elapsed / sum(made) * sum(left) if sum(made) > len(made) / 10 + 2 else None
        each = [seconds or 0.0 for seconds in self._each]
        expected = sum(2 * n * s for n, s in zip(left, each, strict=True)) / self._workers
        was = sum(2 * n * s for n, s in zip(made, each, strict=True)) / self._workers
        return expected * (elapsed / was if was > 10 else 1.0)


def _submissions(plan: Plan) -> list[Entrant]:
    return [
        entrant for entrant in plan.entrants if isinstance(cached_agent(entrant.agent), CourseAgent)
    ]


def _seconds(run: Run) -> dict[str, float]:
    """Return each submission's mean seconds per game, including the start of its process."""
    spent: dict[str, list[float]] = {}
    entrants = run.plan.entrants
    for game in run.games():
        for number, microseconds in (
            (game.first, game.microseconds_w),
            (game.second, game.microseconds_b),
        ):
            spent.setdefault(entrants[number].agent, []).append(microseconds / 1e6 + STARTING)
    return {
        entrant.agent: sum(spent[entrant.agent]) / len(spent[entrant.agent])
        for entrant in _submissions(run.plan)
        if entrant.agent in spent
    }


def hopeless(run: Run) -> str:
    """Return why a submission is excluded from further games after this run; "" if it is not.

    It is excluded if it finished no game, or did not answer in half of its games.
    """
    kinds: list[tuple[str, str]] = []
    silent: list[str] = []
    for pair in run.pairs():
        for number, game in enumerate(pair.games):
            lost = game.winner != ("w" if number == 0 else "b")
            detail = _brief(game.detail, run.plan.entrants[0].agent)
            kinds.append((kind_of(game) if lost else "", detail))
            if lost and game.ending == "no answer":
                silent.append(detail)
    if 2 * len(silent) >= len(kinds) > 0:
        return f"does not answer in {len(silent)} of {len(kinds)} games: {silent[0]}"
    if kinds and all(kind in ("timeout", "crash", "illegal answer") for kind, _ in kinds):
        return finishes_none(len(kinds), *kinds[0])
    return ""


def finishes_none(games: int, kind: str, detail: str) -> str:
    """Describe a submission that lost all its games by timeouts, illegal answers or crashes."""
    return f"finishes none of {games} games: {kind}: {detail}"
