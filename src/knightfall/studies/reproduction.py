"""Play the studies again and judge their claims: the function behind ``kf.reproduce``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from knightfall.arena.api import play_all
from knightfall.arena.plan import Plan
from knightfall.arena.run_options import Notice, ignore_notice
from knightfall.arena.store import Run, Store
from knightfall.arena.store_file import IN_MEMORY
from knightfall.display.progress import progress
from knightfall.errors import KnightfallError, nearest
from knightfall.isolation.parallel_map import RunnerOptions, on_all_cores
from knightfall.studies import plans
from knightfall.studies.document import why_no_charts, write_report
from knightfall.studies.fit_conditions import StudyFit, as_json, fit_of, number_of_trials
from knightfall.studies.fit_conditions import fit as fit_conditions
from knightfall.studies.oracle_grades import (
    POSITIONS,
    Choices,
    HeuristicGrade,
    choices,
    choosing_heuristics,
    missing_grades,
)
from knightfall.studies.oracle_grades import grades as grade_heuristics
from knightfall.studies.published import Study, studies
from knightfall.studies.report_builder import build_report
from knightfall.studies.studies_report import StudiesReport
from knightfall.user_folders import atomic_write, make_folder

STUDY, LEAGUE, SWEEP, EXTRA, WISHES = "study", "league", "resigning", "extra", "wishes"
"""Kinds of runs."""


def reproduce(
    names: Sequence[str] = (),
    *,
    pairs: int = plans.PAIRS,
    budget: str = "all",
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    league: bool = True,
    grades: bool = True,
    fit: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    store: str | os.PathLike[str] | None = None,
    again: bool = False,
    notice: Notice | None = None,
) -> StudiesReport:
    """Play the studies again, as ``knightfall reproduce`` does, and judge their claims.

    Ctrl-C raises KeyboardInterrupt; with a store, the same call continues.

    Args:
        names: Studies, such as ["lookahead"], or one; all by default.
        pairs: Pairs of games per opponent; in the league, two heuristics play a twentieth as many.
        budget: Budget of the agents: "course", "time", "nodes", "never" or "all".
        seed: Determines the openings and the choice among equal moves.
        output: Folder for the report's pages and charts; None writes nothing.
        league: Whether to play the league of all heuristics.
        grades: Whether the exact solver judges the heuristics' games and moves.
        fit: Whether to fit the conditions of each study again, which takes minutes.
        workers: Number of worker processes; None decides by the length of the runs.
        dask: Address of a Dask cluster that plays instead of workers.
        store: File in which the runs are stored; None keeps them in memory.
        again: Whether to play runs anew that the store has.
        notice: Function that is called with each notice, a sentence.

    Example:
        >>> quick = {"pairs": 1, "budget": "nodes", "league": False, "grades": False}
        >>> kf.reproduce(["directional"], workers=0, **quick).to_dict()["studies"][0]["id"]
        'directional'
    """
    notice = notice or ignore_notice
    options = RunnerOptions(workers, dask)
    chosen = _chosen([names] if isinstance(names, str) else names)
    budgets = plans.budgets_named(budget)
    folder = None if output is None else Path(os.path.expanduser(output))
    if folder is not None:
        make_folder(folder)
    if fit and not {"course", "never"} & set(budgets):
        raise KnightfallError(f"--fit needs --budget course, never or all, not {budget}")
    fits = (
        _fitted(chosen, seed, options, notice) if fit else {one.id: fit_of(one) for one in chosen}
    )
    wanted: dict[tuple[str, str, str], Plan] = {  # by kind, study and budget or other name
        (STUDY, one.id, name): plans.study_plan(one, name, fits[one.id].condition, pairs, seed)
        for name in budgets
        for one in chosen
    }
    ids = plans.league_heuristics(chosen)
    if league:
        wanted |= {
            (LEAGUE, "all", name): plans.league_plan(ids, name, pairs, seed) for name in budgets
        }
    if "course" in budgets and "never" in budgets:
        wanted[SWEEP, "all", "course"] = plans.resigning_plan(max(1, pairs // 2), seed)
    for one in chosen:
        condition = fits[one.id].condition
        for called, plan in plans.claim_plans(one, condition, budgets, pairs, seed).items():
            wanted[EXTRA, one.id, called] = plan
        for name in budgets:
            wishes = plans.wish_plan(one, name, condition, pairs, seed)
            if wishes is not None:
                wanted[WISHES, one.id, name] = wishes
    with Store.open(IN_MEMORY if store is None else store) as opened:
        played, interrupted = play_all(
            list(wanted.values()), opened, options, again=again, notice=notice
        )
        if interrupted:
            notice(
                f"knightfall: interrupted after {len(played)} of {len(wanted)} runs; every game "
                "played so far is stored; repeat the command to continue"
            )
            raise KeyboardInterrupt
        runs = dict(zip(wanted, played, strict=True))

        def of_kind(kind: str) -> dict[tuple[str, Any], Run]:
            return {(id, name): run for (one, id, name), run in runs.items() if one == kind}

        graded = _graded(ids, seed, options, notice) if league and grades else []
        report = build_report(
            chosen,
            of_kind(STUDY),
            {name: run for (_, name), run in of_kind(LEAGUE).items()},
            graded,
            fits=fits,
            sweep=runs.get((SWEEP, "all", "course")),
            extras=of_kind(EXTRA),
            wished=of_kind(WISHES),
            choices=_choices(chosen, pairs, seed) if grades else {},
            command=_command(
                names,
                pairs,
                budget,
                seed,
                no_league=not league,
                no_grades=league and not grades,
                fit=fit,
            ),
            pairs=next(iter(wanted.values())).rounds,
            seed=seed,
        )
    if folder is not None:
        write_report(report, folder)
        if fit:
            atomic_write(folder / "fit.json", as_json(fits))
        if why_no_charts():
            notice(f"knightfall: {why_no_charts()}")
    return report


def _chosen(names: Sequence[str]) -> list[Study]:
    known = studies()
    for name in names:
        if name not in known and name != "all":
            raise KnightfallError(
                f"unknown study {name!r}{nearest(name, known)} "
                f"(there are {', '.join(known)}; all means all of them)"
            )
    return [one for id, one in known.items() if not names or "all" in names or id in names]


def _command(names: Sequence[str], pairs: int, budget: str, seed: int, **words: bool) -> str:
    """Return the command that makes this report again; `words` are options without a value."""
    parts = ["knightfall reproduce", *(names or ["all"]), f"--pairs {pairs}", f"--budget {budget}"]
    parts.append(f"--seed {seed}")
    parts += [f"--{word.replace('_', '-')}" for word, given in words.items() if given]
    return " ".join(parts)


def _fitted(
    chosen: Sequence[Study], seed: int, options: RunnerOptions, notice: Notice
) -> Mapping[str, StudyFit]:
    """Fit the conditions of some studies, with a progress display."""
    try:
        with progress("trials", number_of_trials(chosen)) as show:
            return fit_conditions(chosen, seed=seed, options=on_all_cores(options), progress=show)
    except KeyboardInterrupt:
        notice(
            "knightfall: interrupted while fitting; every trial so far is kept: repeat the "
            "command to continue"
        )
        raise


def _choices(chosen: Sequence[Study], pairs: int, seed: int) -> Choices:
    """Return which choices between winning and losing moves each heuristic gets right.

    Fewer `pairs` mean fewer positions.
    """
    with progress("phases of choices", 3) as show:
        return choices(choosing_heuristics(chosen), min(POSITIONS, pairs), seed, show)


def _graded(
    ids: Sequence[str], seed: int, options: RunnerOptions, notice: Notice
) -> list[HeuristicGrade]:
    missing = missing_grades(ids, seed=seed)
    notice(f"grades that are stored: {len(ids) - missing}; to compute now: {missing}")
    try:
        with progress("grades", missing) as show:
            return grade_heuristics(
                ids,
                seed=seed,
                options=on_all_cores(options),
                progress=lambda done: show(done - (len(ids) - missing)),
            )
    except KeyboardInterrupt:
        notice(
            "knightfall: interrupted while grading; all games and grades so far are stored: "
            "repeat the command to continue"
        )
        raise
