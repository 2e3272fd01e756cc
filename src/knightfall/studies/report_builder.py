"""Build the studies' report from stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from knightfall.arena.store import Run
from knightfall.studies.claims import Evidence, judge_claim, judge_order, meaning
from knightfall.studies.comparisons import Range, compare_scores, contradictions
from knightfall.studies.computed_facts import FINDINGS, FactInputs
from knightfall.studies.fit_conditions import StudyFit, loglikelihood
from knightfall.studies.node_costs import compiled_costs
from knightfall.studies.oracle_grades import OPENINGS, Choices, HeuristicGrade
from knightfall.studies.plans import FORFEITS, POWER, SIZES, STUDENTS, nodes_of
from knightfall.studies.playing_conditions import Cell, Condition
from knightfall.studies.printed_tables import PrintedExample, PrintedTable
from knightfall.studies.published import BudgetName, Study, Wish
from knightfall.studies.run_results import (
    Correlation,
    Lead,
    Rating,
    Tournament,
    WinRate,
    depths_of,
    head_to_head,
    needed_games,
    rank_correlation,
    rate_of_games,
    ratings_of,
    resigned_share,
    sweep_of,
    tournament_of,
)
from knightfall.studies.studies_report import (
    CellFit,
    ClaimReport,
    ConditionReport,
    HeuristicReport,
    MeasuredResult,
    PrintedExampleReport,
    PrintedTableReport,
    PublishedResult,
    StudiesLeague,
    StudiesReport,
    StudyReport,
    Timings,
    WishComparisonReport,
    WishReport,
)

Name = TypeVar("Name", bound=str)
T = TypeVar("T")


def build_report(
    studies: Sequence[Study],
    runs: Mapping[tuple[str, BudgetName], Run],
    leagues: Mapping[BudgetName, Run],
    grades: Sequence[HeuristicGrade],
    *,
    fits: Mapping[str, StudyFit],
    sweep: Run | None,
    extras: Mapping[tuple[str, str], Run],
    wished: Mapping[tuple[str, BudgetName], Run],
    choices: Choices,
    command: str,
    pairs: int,
    seed: int,
) -> StudiesReport:
    """Return the report on finished runs: `runs` by study and budget, `leagues` by budget.

    `extras` are the games for single claims, by study and by their name in `claim_plans`; `wished`
    are the games of the heuristics in the studies' wishes, by study and budget.
    """
    from knightfall import __version__

    budgets = tuple(dict.fromkeys(budget for _, budget in runs))
    tournaments = {key: tournament_of(run) for key, run in runs.items()}
    by_kind = (runs, leagues, extras, wished)
    every_run = [run for some in by_kind for run in some.values()] + ([sweep] if sweep else [])
    report = StudiesReport(
        version=__version__,
        command=command,
        pairs=pairs,
        seed=seed,
        budgets=budgets,
        microseconds=compiled_costs().microseconds,
        studies=tuple(
            study_report(
                study,
                fits[study.id],
                _of_study(study, runs),
                _of_study(study, tournaments),
                _of_study(study, extras),
                _of_study(study, wished),
                choices,
            )
            for study in studies
        ),
        league=league_report(leagues, grades) if leagues else None,
        sweep=sweep_of(sweep) if sweep else None,
        needed=needed_games([tournaments[study.id, budgets[0]] for study in studies], seed),
        timings=_timings(every_run, grades),
    )
    return report.rounded()


def _of_study(study: Study, found: Mapping[tuple[str, Name], T]) -> dict[Name, T]:
    return {name: one for (id, name), one in found.items() if id == study.id}


# -- a study -------------------------------------------------------------------------------


def study_report(
    study: Study,
    fit: StudyFit,
    runs: Mapping[BudgetName, Run],
    tournaments: Mapping[BudgetName, Tournament],
    extras: Mapping[str, Run],
    wished: Mapping[BudgetName, Run],
    choices: Choices,
) -> StudyReport:
    """Return the report on one study: results, a verdict on every claim, and the wishes.

    See `build_report` for the arguments.
    """
    evidence = evidence_of(study, fit.condition.board, runs, tournaments, extras, choices)
    wished_tournaments = {budget: tournament_of(run) for budget, run in wished.items()}
    rows = []
    for name, heuristic in study.entrants.items():
        playable = heuristic not in study.not_reproducible
        measured: dict[str, MeasuredResult] = {
            budget: MeasuredResult(
                nodes=_nodes(budget, heuristic, tournament),
                total=tournament.total(heuristic),
                against=tuple(tournament.against(heuristic)),
                ahead=tournament.ahead(heuristic),
                forfeits=_shares(tournament.forfeits, heuristic, tournament),
                conceded=_shares(tournament.conceded, heuristic, tournament),
            )
            for budget, tournament in tournaments.items()
            if playable
        }
        why = study.not_reproducible.get(heuristic, "")
        rows.append(HeuristicReport(heuristic, name, published_of(study, heuristic), measured, why))
    return StudyReport(
        id=study.id,
        title=study.title,
        protocol=study.protocol,
        games_per_opponent=study.games_per_opponent,
        stated=dict(study.stated),
        opponents=tuple(name.rpartition(":")[2] for name in study.opponents),
        rows=tuple(rows),
        printed=tuple(printed_table(study, table) for table in study.tables),
        examples=tuple(map(printed_example, study.examples)),
        claims=tuple(
            ClaimReport(
                claim.sentence,
                claim.where,
                claim.form,
                meaning(claim),
                judge_claim(claim, evidence),
            )
            for claim in study.claims
        ),
        wishes=tuple(
            wish_report(wish, fit.condition, tournaments, wished_tournaments)
            for wish in study.wishes
        ),
        order={
            budget: judge_order(
                {id: float(study.figure(id)) for id in study.heuristics}, tournament.measured
            )
            for budget, tournament in tournaments.items()
        },
        errata=(*study.errata, *contradictions(study)),
        fit=fit_report(study, fit, tournaments["course"]) if "course" in tournaments else None,
    )


def wish_report(
    wish: Wish,
    condition: Condition,
    tournaments: Mapping[BudgetName, Tournament],
    wished: Mapping[BudgetName, Tournament],
) -> WishReport:
    """Return the results for an author's wish, at each of its budgets that was played."""
    comparisons: dict[tuple[str, str], WishComparisonReport] = {
        (one.who, than): WishComparisonReport(one.who, than, one.found_by, {}, {}, {})
        for one in wish.comparisons
        for than in one.than
    }
    for budget in tournaments:
        if budget not in wish.budgets:
            continue
        both = [one[budget] for one in (tournaments, wished) if budget in one]
        openings = min(one.scores.shape[2] for one in both)  # both begin with the same openings
        scores = {id: row[:, :openings] for one in both for id, row in one.measured.items()}
        for (who, than), found in comparisons.items():
            if not {who, than} <= set(scores):
                continue
            home = next(one for one in both if who in one.heuristics)
            ahead = compare_scores(scores, who, than, Range())
            found.gaps[budget] = Lead(ahead.difference, ahead.low, ahead.high)
            found.rates[budget] = home.total(who)
            found.given_up[budget] = float(np.mean(_shares(home.forfeits, who, home)))
    return WishReport(
        wish.wish,
        wish.where,
        wish.commands,
        tuple(comparisons.values()),
        FINDINGS[wish.finding](condition) if wish.finding else None,
    )


def _shares(
    table: npt.NDArray[np.float64], heuristic: str, tournament: Tournament
) -> tuple[float, ...]:
    return tuple(map(float, table[tournament.heuristics.index(heuristic)]))


def _nodes(budget: BudgetName, heuristic: str, tournament: Tournament) -> int:
    if budget not in STUDENTS:
        return nodes_of(budget)(heuristic)
    return round(float(tournament.nodes[tournament.heuristics.index(heuristic)]))


def fit_report(study: Study, fit: StudyFit, tournament: Tournament) -> ConditionReport:
    """Compare every published number with the rate predicted by games of the author's agents."""
    from scipy.stats import chi2

    prediction = tournament.prediction()
    cells, totals = prediction.cells(study), prediction.totals(study)
    found = sum(cell.z**2 for cell in cells)
    # The games of a pair tend to be split, so pairs vary less than independent games.
    pairs, p = tournament.scores.var(axis=2) / 4, prediction.rates
    rows = [tournament.heuristics.index(cell.heuristic) for cell in cells]
    columns = [prediction.opponents.index(cell.opponent) for cell in cells]
    ratios = (2 * pairs / (p * (1 - p)))[rows, columns]
    expected = float(np.mean(ratios)) if cells else 1.0
    return ConditionReport(
        condition=fit.condition.words(),
        time=fit.condition.time,
        told=fit.told,
        choices=fit.choices,
        tried=fit.tried,
        times=fit.times,
        halves=fit.halves,
        cells=tuple(_cell_fit(cell) for cell in cells),
        totals=tuple(_cell_fit(cell) for cell in totals),
        chi_square=found,
        p_value=float(chi2.sf(found, len(cells))) if cells else 1.0,
        loglikelihood=loglikelihood(cells),
        expected=expected,
        opponents_p=_by_opponent(cells),
        totals_p=float(chi2.sf(sum(cell.z**2 for cell in totals), len(totals))),
    )


def _by_opponent(cells: Sequence[Cell]) -> float:
    """Return the chi-square p-value of the deviations, summed up for each opponent."""
    from scipy.stats import chi2

    by: dict[str, list[float]] = {}
    for cell in cells:
        by.setdefault(cell.opponent, []).append(cell.z)
    sums = [sum(row) ** 2 / len(row) for row in by.values()]
    return float(chi2.sf(sum(sums), len(sums))) if sums else 1.0


def _cell_fit(cell: Cell) -> CellFit:
    return CellFit(
        cell.heuristic,
        cell.opponent,
        cell.tournament,
        100 * cell.published,
        cell.games,
        100 * cell.predicted,
        100 * cell.spread,
        cell.z,
    )


def evidence_of(
    study: Study,
    board: str,
    runs: Mapping[BudgetName, Run],
    tournaments: Mapping[BudgetName, Tournament],
    extras: Mapping[str, Run],
    choices: Choices,
) -> Evidence:
    """Return all measurements for a study's claims; `extras` has the keys of `claim_plans`.

    Depths are read only if a claim needs them, and only for budgets in which time counts.
    """
    deep = any(claim.measure == "depth" for claim in study.claims)
    course, careless = tournaments.get("course"), extras.get(FORFEITS)
    plies = [run for called, run in extras.items() if called.startswith("ply ")]
    return Evidence(
        FactInputs(
            study,
            board,
            resigned_share(course) if course else None,
            resigned_share(tournament_of(careless)) if careless else None,
        ),
        games={budget: tournament.measured for budget, tournament in tournaments.items()},
        depths={
            budget: depths_of(run)
            for budget, run in runs.items()
            if deep and budget in ("course", "time")
        },
        power=tournament_of(extras[POWER]).measured if POWER in extras else {},
        plies=head_to_head(plies) if plies else {},
        boards={
            size: head_to_head([extras[called]])
            for size in SIZES
            if (called := f"board {size}") in extras
        },
        choices=choices,
    )


def published_of(study: Study, heuristic: str) -> PublishedResult:
    """Return a heuristic's published results, with the 95 % intervals of the published games."""
    figure = study.figure(heuristic)
    games, games_against = study.games(heuristic), study.games_against(heuristic)
    wins = study.wins.get(heuristic, ())
    against: tuple[WinRate, ...] = tuple(rate_of_games(won, games_against) for won in wins)
    return PublishedResult(
        figure=str(figure),
        rate=rate_of_games(float(figure) / 100 * games, games),
        wins=wins,
        games_against=games_against,
        against=against,
        total=_printed(study.totals.get(heuristic)),
        average=_printed(study.averages.get(heuristic)),
        tournaments=tuple(map(_printed, study.tournaments[heuristic])),
    )


def _printed(rate: Decimal | None) -> str | None:
    """Return a printed rate as text, with all digits that were printed; None stays None."""
    return None if rate is None else str(rate)


# -- what was printed ---------------------------------------------------------------------


def printed_table(study: Study, table: PrintedTable) -> PrintedTableReport:
    """Return a table of a study as it was printed, and which tournament it shows."""
    number = next(n for n, one in enumerate(study.played, 1) if table in one.tables)
    played = study.played[number - 1]
    return PrintedTableReport(
        name=table.name,
        place=table.place,
        tournament=number,
        heuristics=tuple(id for id in study.entrants.values() if id in table.heuristics),
        cells={id: tuple(map(str, row)) for id, row in table.cells.items()},
        rates={id: str(rate) for id, rate in table.rates.items()},
        sums={
            id: str(played.total(id))
            for id in table.cells
            if played.printed_rate(id) is None and played.total(id) is not None
        },
        same_as=tuple(other.name for other in played.tables if other is not table),
        notes=tuple(_notes_on(table)),
    )


def _notes_on(table: PrintedTable) -> Iterator[str]:
    """Yield remarks on a printed table, such as what is illegible in it."""
    if table.cells_from:
        yield f"The cells are from {table.cells_from}"
    if table.illegible:
        yield f"Illegible: {table.illegible}"
    for heuristic, numbers in table.unplaced.items():
        shown = [
            f"{name} {', '.join(map(str, row))}"
            for name, row in (("won", numbers.won), ("lost", numbers.lost))
            if row
        ]
        yield f"Legible without an opponent, {heuristic}: {'; '.join(shown)}"
    if table.without_result:
        yield f"NA is printed for {' and '.join(table.without_result)}"


def printed_example(example: PrintedExample) -> PrintedExampleReport:
    """Return a worked example as it was printed."""
    return PrintedExampleReport(
        example.name,
        example.place,
        dict(example.grids),
        {name: str(number) for name, number in example.numbers.items()},
        example.illegible,
    )


# -- the league ----------------------------------------------------------------------------


def league_report(
    leagues: Mapping[BudgetName, Run], grades: Sequence[HeuristicGrade]
) -> StudiesLeague:
    """Return the report on the leagues: ratings, grades, and their rank correlations."""
    ratings: dict[str, tuple[Rating, ...]] = {
        budget: tuple(ratings_of(run)) for budget, run in leagues.items()
    }
    correlations = {
        budget: found
        for budget, rows in ratings.items()
        if (found := correlation(rows, grades)) is not None
    }
    pairs = next(iter(leagues.values())).plan.rounds
    # Without the time that grading took, which is not a result.
    graded = tuple(
        HeuristicGrade(one.heuristic, one.kept, one.error, one.choices, 0.0) for one in grades
    )
    return StudiesLeague(pairs, ratings, graded, OPENINGS, correlations, resigning_order(ratings))


def resigning_order(ratings: Mapping[str, Sequence[Rating]]) -> Correlation | None:
    """Return the rank correlation of the students' leagues with and without resigning."""
    if not {"course", "never"} <= set(ratings):
        return None
    never = {row.heuristic: row.elo for row in ratings["never"]}
    return rank_correlation([(row.elo, never[row.heuristic]) for row in ratings["course"]])


def correlation(ratings: Sequence[Rating], grades: Sequence[HeuristicGrade]) -> Correlation | None:
    """Return the rank correlation of rating and grade, for the heuristics that have both."""
    elo = {row.heuristic: row.elo for row in ratings}
    return rank_correlation(
        [(elo[one.heuristic], one.kept) for one in grades if one.heuristic in elo]
    )


# -- what differs from run to run ----------------------------------------------------------


def _timings(runs: Sequence[Run], grades: Sequence[HeuristicGrade]) -> Timings:
    """Return the date and the wall times of all runs and grades; pauses of a run are included."""
    spans = [
        (datetime.fromisoformat(run.created), datetime.fromisoformat(run.finished or run.created))
        for run in runs
    ]
    seconds = sum((end - begin).total_seconds() for begin, end in spans)
    games = 2 * sum(run.plan.total for run in runs)
    return Timings(
        date=max(end for _, end in spans).date().isoformat(),
        games=games,
        seconds=seconds,
        games_per_second=round(games / seconds) if seconds else None,
        grading_seconds=round(sum(grade.seconds for grade in grades), 1),
    )
