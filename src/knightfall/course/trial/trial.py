"""A submission plays the course's tournament: the plan, then one call, stored and resumable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from knightfall.arena.api import check, play
from knightfall.arena.plan import Plan, enter, files_of, tournament
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.run_options import Notice
from knightfall.arena.store import Store
from knightfall.arena.store_file import IN_MEMORY
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.arena.version import engine
from knightfall.course.agent import TIME, course_agent
from knightfall.course.submission import Reference, Submission, checked, parse_reference
from knightfall.course.trial.game_judging import judge
from knightfall.course.trial.successor_trial import SuccessorReport, successor_trial
from knightfall.course.trial.trial_report import TrialReport
from knightfall.display.progress import progress as shown_progress
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.machine import cores, load
from knightfall.search.budget import parse_budget

# -- the plan ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tested:
    """A player of a submission under the name that the course's table gave it."""

    name: str
    reference: Reference


def trial_plan(
    path: str,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int | None = None,
    counted: bool = False,
    seed: int = 0,
) -> tuple[Submission, Plan]:
    """What a submission's generation played: its players against the course's seven.

    A move has 150 ms unless it is told otherwise.
    """
    reference = parse_reference(path).absolute()
    found = checked(reference)
    if found.generation.on_11x9:
        raise KnightfallError(
            f"{found.file} plays the successor's game on 11×9, which is no tournament of 7×7"
        )
    protocol = found.generation.protocol
    rules = PROTOCOLS[protocol]
    tests = tested(reference, found)
    agents = [course_agent(test.reference, time or TIME, counted) for test in tests]
    entered = enter([str(agent) for agent in agents])
    players = tuple(replace(one, name=test.name) for one, test in zip(entered, tests, strict=True))
    against = enter(list(opponents) or rules.opponents, protocol=protocol)
    return found, Plan(
        kind="tournament",
        entrants=players + against,
        matches=tournament(len(players), len(against)),
        pairs=pairs or rules.pairs,
        repeats=rules.repeats,
        seed=seed,
        files=files_of(players + against),
        options={
            "protocol": protocol,
            "tests": len(players),
            "given_budget": "",
        },
    )


def tested(reference: Reference, found: Submission) -> list[Tested]:
    """Those whom the course's tournament tested: the course's own score first, then the student's.

    All of them think with the student's search.  Whoever names a class tests that alone.
    """
    if reference.name:
        score = f"({reference.score})" if reference.score else ""
        return [Tested(f"{reference.name}{score}", reference)]
    name = found.default

    if found.competition or "custom_score" not in {*found.scores, *found.names}:
        return [Tested("Student", reference)]
    rest = ("custom_score_2", "custom_score_3")
    customs = ["custom_score", *(score for score in rest if score in found.names)]
    return [
        Tested(label, replace(reference, name=name, score=score))
        for label, score in found.generation.tested(name, customs)
    ]


# -- the tournament ----------------------------------------------------------------------------


def trial(
    path: str,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: str | None = None,
    clock: str = "ticks",
    generation: str = "",
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> TrialReport | SuccessorReport:
    """Play the tournament of a submission's generation with it, and judge its games.

    The generation is found by reading the submission, unless it is given.  By its clock of ticks,
    time passes with each question for the time left, so results repeat; ``clock="wall"`` plays in
    real time.
    """
    if clock not in ("wall", "ticks"):
        raise KnightfallError(f"clock {clock!r} must be wall or ticks")
    counted = clock == "ticks"
    limit = parse_budget({"time": time}).time if time is not None else None
    options = RunnerOptions(workers, dask, executor)
    options.check()
    reference = parse_reference(path).absolute()
    if generation:
        reference = replace(reference, generation=generation)
    if checked(reference).generation.on_11x9:
        return successor_trial(
            reference,
            checked(reference),
            opponents=opponents,
            pairs=pairs,
            time=limit or TIME,
            counted=counted,
            seed=seed,
            options=options,
            show=progress,
        )
    submission, plan = trial_plan(
        str(reference),
        opponents=opponents,
        pairs=pairs,
        time=limit,
        counted=counted,
        seed=seed,
    )
    opened = Store.open(IN_MEMORY if store is None else store)
    before = load()
    try:
        known = None if again else opened.find(plan, engine())
        if known is None or known.finished is None:
            check(plan, options)
        run, interrupted = play(
            plan, opened, options, again=again, notice=notice, show_progress=progress
        )
        report = TournamentReport(run, interrupted=interrupted)
        games = 2 * run.played
        with shown_progress("games judged", games) as tell:
            judged = judge(run, report.tests, tell if progress else lambda done: None)
    except BaseException:
        opened.close()
        raise
    player = reference.name or submission.default
    return TrialReport(submission, player, report, judged, counted, (before, load()), cores())
