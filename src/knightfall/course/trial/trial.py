"""A submission plays the course's tournament: one call, stored and resumable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from knightfall.arena.api import check, play
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.runners.hire import Crew, Notice
from knightfall.arena.store import Store
from knightfall.arena.store_file import IN_MEMORY
from knightfall.arena.version import engine
from knightfall.course.reference import parse_reference
from knightfall.course.submission import checked
from knightfall.course.trial.judging import judge
from knightfall.course.trial.plan import TIME, trial_plan
from knightfall.course.trial.report import TrialReport
from knightfall.course.trial.successor import SuccessorReport, successor_trial
from knightfall.display.progress import progress as shown_progress
from knightfall.errors import KnightfallError
from knightfall.machine import cores, load
from knightfall.search.budget import parse_budget


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
    reference = parse_reference(path).absolute()
    if generation:
        reference = replace(reference, generation=generation)
    if checked(reference).generation == "successor":
        return successor_trial(
            reference,
            checked(reference),
            opponents=opponents,
            pairs=pairs,
            time=limit or TIME,
            counted=counted,
            seed=seed,
            workers=workers,
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
    crew = Crew(workers)
    opened = Store.open(IN_MEMORY if store is None else store)
    before = load()
    try:
        known = None if again else opened.find(plan, engine())
        if known is None or known.finished is None:
            check(plan, crew)
        run, interrupted = play(
            plan, opened, crew, again=again, notice=notice, show_progress=progress
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
