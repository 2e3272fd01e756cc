"""``knightfall reproduce``: play the studies again and judge their claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.arena_options import Again, Seed
from knightfall.cli.options import Dask, Json, RunWorkers, StorePath, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from knightfall.arena.plan import Plan
    from knightfall.arena.store import Run
    from knightfall.isolation.parallel_map import RunnerOptions
    from knightfall.studies.fit_conditions import StudyFit
    from knightfall.studies.oracle_grades import Choices, HeuristicGrade
    from knightfall.studies.published import Study

STUDY, LEAGUE, SWEEP, EXTRA, WISHES = "study", "league", "resigning", "extra", "wishes"
"""Kinds of runs."""
PAIRS = 700
"""A copy of `knightfall.studies.plans.PAIRS`, so that --help need not import it."""


def reproduce(
    study: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY...",
            help="A study, such as lookahead or staged; all by default. For an unknown name, the "
            "error message lists all studies.",
        ),
    ] = None,
    pairs: Annotated[
        int,
        whole_number(
            "--pairs",
            "Pairs of games per opponent; in the league, two heuristics play a twentieth as many.",
        ),
    ] = PAIRS,
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="NAME",
            help="Budget of the agents: course (as the authors' agents played), time (equal time), "
            "nodes (2,500 per move), never (as course, but agents never resign) or all of these.",
        ),
    ] = "all",
    seed: Seed = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="The folder for the report; by default docs/studies in a checkout, else studies.",
        ),
    ] = None,
    no_league: Annotated[
        bool, typer.Option("--no-league", help="Leave out the league of all heuristics.")
    ] = False,
    no_grades: Annotated[
        bool,
        typer.Option(
            "--no-grades",
            help="Leave out how the exact solver judges the heuristics' games and moves.",
        ),
    ] = False,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fit the conditions of each study again (minutes) instead of using the recorded "
            "ones; the result is written to fit.json in the output folder.",
        ),
    ] = False,
    workers: RunWorkers = None,
    dask: Dask = None,
    store: StorePath = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Play the studies again and judge their claims.

    Each study's own tournament is played as its author's agents played it, then at equal time, at
    equal nodes and without resigning. The heuristics that its author wished for are played as well,
    then a league of all heuristics, with the oracle's grades. The report compares published and
    measured results and gives a verdict on every claim. After an interruption, repeat the command
    to continue. Without matplotlib everything but the charts is written.

    \b
    Examples:
      knightfall reproduce
      knightfall reproduce lookahead --pairs 50 --no-league
      knightfall reproduce staged aggressive --budget course --output /tmp/studies
    """
    from knightfall.arena.api import play_all
    from knightfall.arena.store import Store
    from knightfall.cli.options import store_path
    from knightfall.cli.terminal import INTERRUPTED, print_report, say
    from knightfall.display.report import print_parts
    from knightfall.errors import KnightfallError
    from knightfall.isolation.parallel_map import RunnerOptions
    from knightfall.studies import plans
    from knightfall.studies.document import why_no_charts, write_report
    from knightfall.studies.fit_conditions import as_json, fit_of
    from knightfall.studies.report_builder import build_report
    from knightfall.user_folders import atomic_write

    options = RunnerOptions(workers, dask)
    chosen = _chosen(study or [])
    budgets = plans.budgets_named(budget)
    folder = _folder(output)
    if fit and not {"course", "never"} & set(budgets):
        raise KnightfallError(f"--fit needs --budget course, never or all, not {budget}")
    fits = _fitted(chosen, seed, options) if fit else {one.id: fit_of(one) for one in chosen}
    wanted: dict[tuple[str, str, str], Plan] = {  # by kind, study and budget or other name
        (STUDY, one.id, name): plans.study_plan(one, name, fits[one.id].condition, pairs, seed)
        for name in budgets
        for one in chosen
    }
    ids = plans.league_heuristics(chosen)
    if not no_league:
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
    with Store.open(store_path(store)) as opened:
        played, interrupted = play_all(
            list(wanted.values()), opened, options, again=again, notice=say
        )
        if interrupted:
            say(
                f"knightfall: interrupted after {len(played)} of {len(wanted)} runs; every game "
                "played so far is stored; repeat the command to continue"
            )
            raise typer.Exit(INTERRUPTED)
        runs = dict(zip(wanted, played, strict=True))

        def of_kind(kind: str) -> dict[tuple[str, Any], Run]:
            return {(id, name): run for (one, id, name), run in runs.items() if one == kind}

        grades = [] if no_league or no_grades else _graded(ids, seed, options)
        report = build_report(
            chosen,
            of_kind(STUDY),
            {name: run for (_, name), run in of_kind(LEAGUE).items()},
            grades,
            fits=fits,
            sweep=runs.get((SWEEP, "all", "course")),
            extras=of_kind(EXTRA),
            wished=of_kind(WISHES),
            choices={} if no_grades else _choices(chosen, pairs, seed),
            command=_command(study or [], pairs, budget, seed, no_league, no_grades, fit),
            pairs=next(iter(wanted.values())).rounds,
            seed=seed,
        )
    files = write_report(report, folder)
    if fit:
        atomic_write(folder / "fit.json", as_json(fits))
    if why_no_charts():
        say(f"knightfall: {why_no_charts()}")
    print_report(report, json=json)
    if not json:
        print_parts(f"wrote {file}" for file in files)


def _chosen(names: Sequence[str]) -> list[Study]:
    from knightfall.errors import KnightfallError, nearest
    from knightfall.studies.published import studies

    known = studies()
    for name in names:
        if name not in known and name != "all":
            raise KnightfallError(
                f"unknown study {name!r}{nearest(name, known)} "
                f"(there are {', '.join(known)}; all means all of them)"
            )
    return [one for id, one in known.items() if not names or "all" in names or id in names]


def _folder(given: str | None) -> Path:
    """Create the folder of the report; raise a KnightfallError if that is impossible."""
    from knightfall.errors import KnightfallError
    from knightfall.user_folders import make_folder

    if given is not None and not given.strip():
        raise KnightfallError(f"--output {given!r} is not the name of a folder")
    default = Path("docs/studies") if Path("src/knightfall/studies").is_dir() else Path("studies")
    folder = default if given is None else Path(given).expanduser()
    make_folder(folder)
    return folder


def _command(
    names: Sequence[str],
    pairs: int,
    budget: str,
    seed: int,
    no_league: bool,
    no_grades: bool,
    fit: bool,
) -> str:
    """Return the command that makes this report again, without options that do not affect it."""
    parts = ["knightfall reproduce", *(names or ["all"]), f"--pairs {pairs}", f"--budget {budget}"]
    parts += [f"--seed {seed}"]
    parts += ["--no-league"] if no_league else []
    parts += ["--no-grades"] if no_grades and not no_league else []
    parts += ["--fit"] if fit else []
    return " ".join(parts)


def _fitted(chosen: Sequence[Study], seed: int, options: RunnerOptions) -> Mapping[str, StudyFit]:
    """Fit the conditions of some studies, with a progress display."""
    from knightfall.cli.terminal import INTERRUPTED, say
    from knightfall.display.progress import progress
    from knightfall.isolation.parallel_map import on_all_cores
    from knightfall.studies.fit_conditions import fit, number_of_trials

    try:
        with progress("trials", number_of_trials(chosen)) as show:
            return fit(chosen, seed=seed, options=on_all_cores(options), progress=show)
    except KeyboardInterrupt:
        say(
            "knightfall: interrupted while fitting; every trial so far is kept: repeat the "
            "command to continue"
        )
        raise typer.Exit(INTERRUPTED) from None


def _choices(chosen: Sequence[Study], pairs: int, seed: int) -> Choices:
    """Return which choices between winning and losing moves each heuristic gets right.

    Fewer `pairs` mean fewer positions.
    """
    from knightfall.display.progress import progress
    from knightfall.studies.oracle_grades import POSITIONS, choices, choosing_heuristics

    with progress("phases of choices", 3) as show:
        return choices(choosing_heuristics(chosen), min(POSITIONS, pairs), seed, show)


def _graded(ids: Sequence[str], seed: int, options: RunnerOptions) -> list[HeuristicGrade]:
    from knightfall.cli.terminal import INTERRUPTED, say
    from knightfall.display.progress import progress
    from knightfall.isolation.parallel_map import on_all_cores
    from knightfall.studies.oracle_grades import grades, missing_grades

    missing = missing_grades(ids, seed=seed)
    say(f"grades that are stored: {len(ids) - missing}; to compute now: {missing}")
    try:
        with progress("grades", missing) as show:
            return grades(
                ids,
                seed=seed,
                options=on_all_cores(options),
                progress=lambda done: show(done - (len(ids) - missing)),
            )
    except KeyboardInterrupt:
        say(
            "knightfall: interrupted while grading; all games and grades so far are stored: "
            "repeat the command to continue"
        )
        raise typer.Exit(INTERRUPTED) from None
