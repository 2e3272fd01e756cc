"""Sections of the report on all studies together: fit, resigning, league, games needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import hypot

from knightfall.display.numbers import percent, plus_minus, signed
from knightfall.studies.markdown import bullets, chart, fold, heading, table
from knightfall.studies.node_costs import BASELINE
from knightfall.studies.oracle_grades import HeuristicGrade
from knightfall.studies.plans import PLAYS_OUT, TITLES
from knightfall.studies.published import BUDGETS
from knightfall.studies.run_results import STUDIES_GAMES, NeededGames, Sweep, gap_words
from knightfall.studies.studies_report import (
    CellFit,
    ConditionReport,
    HeuristicReport,
    StudiesReport,
    StudyReport,
)

# -- the fit -------------------------------------------------------------------------------


def fit_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Yield the section on how well the replayed games fit all published numbers."""
    yield heading(2, "Do we play what they played?", "fit")
    yield (
        "A verdict is worth as much as the conditions it was found under. So the faithful games "
        "are first held against everything that the studies printed: if the agents here are "
        "theirs, a published number differs from ours by the luck of its few games. Chi-square "
        "would then be 1 per cell if games were independent, and somewhat less as they were "
        "played: the two games from one opening tend to be split."
    )
    yield from chart("calibration", charts)
    cells = [cell for fit in report.fits for cell in fit.cells]
    totals = [cell for fit in report.fits for cell in fit.totals]
    outside = [
        (study.id, cell) for study in report.studies if study.fit for cell in study.fit.outside
    ]
    rows = [_fit_row(study.id, fit) for study in report.studies if (fit := study.fit)]
    if len(rows) > 1:
        sums = [
            str(len(cells)),
            f"{mean_square(cells):.2f}",
            f"{len(outside)} of {len(totals)}",
        ]
        rows.append(["all", "", "", *sums])
    columns = ["study", "condition", "time of a move", "cells", "chi-square per cell"]
    yield table([*columns, "totals outside 95 %"], rows)
    columns = ["study", "expected of pairs", "p", "p by opponent", "p of totals"]
    explained = [
        table(columns, [_tests(study.id, fit) for study in report.studies if (fit := study.fit)]),
        "*forfeits* and *legal* say what an agent does when every line it sees is lost, or its "
        "time is up before it has a move: it resigns, or answers some legal move. *last*: it "
        "takes the last of equal moves, not the first. *loop*: it scores leaves in their parent's "
        "loop. *early*: it runs on the course's first board, whose copies are dear.",
        "The time of a move is the one number fitted for each study, in milliseconds of the "
        "machine on which the cost of a student's steps was recorded: it stands for 150 ms of an "
        "author's machine and Python of 2017, and is no machine's speed. In brackets is the range "
        "that the numbers allow at 95 %, within what was tried. Each p is the chance of a worse "
        "fit if the condition is right and games are independent, without regard to the choice "
        "among conditions: of all cells, of the deviations added up by opponent, of the totals. "
        "*Expected of pairs* is what chi-square per cell comes to if the published games were "
        "played in pairs as ours are; the earlier course played each opening twice, which raises "
        "it again by as much as such games repeat themselves.",
    ]
    if outside:
        explained.append(bullets(_outside(id, cell) for id, cell in outside))
    explained += chart("residuals", charts)
    yield from _doubts(report)
    yield fold(
        "Tests of the fit, what the columns mean, and what lies outside its band",
        "\n\n".join(explained),
    )


def _fit_row(id: str, fit: ConditionReport) -> list[str]:
    cells = [str(len(fit.cells)), f"{mean_square(fit.cells):.2f}"]
    outside = f"{len(fit.outside)} of {len(fit.totals)}"
    return [f"[{id}](#{id})", fit.condition, _time(fit), *cells, outside]


def _tests(id: str, fit: ConditionReport) -> list[str]:
    p_values = [f"{fit.p_value:.2f}", f"{fit.opponents_p:.2g}", f"{fit.totals_p:.2f}"]
    return [f"[{id}](#{id})", f"{fit.expected:.2f}", *p_values]


def _time(fit: ConditionReport) -> str:
    if not fit.times:
        return f"{fit.time / 1000:g} ms"
    least, most = fit.likely_times
    return f"{fit.time / 1000:g} ms\n({least / 1000:g} to {most / 1000:g})"


def _doubts(report: StudiesReport) -> Iterator[str]:
    """Yield a caveat if the deviations, summed up by opponent, are too large for chance."""
    biased = [study.id for study in report.studies if study.fit and study.fit.opponents_p < 0.01]
    if biased:
        yield (
            f"What is left is not all luck: added up by opponent, the deviations of "
            f"{' and '.join(biased)} are larger than chance (the chart of residuals shows where)."
        )


def mean_square(cells: Sequence[CellFit]) -> float:
    """Return the mean of z² over all table cells (1 is expected); 0 without cells."""
    return sum(cell.z**2 for cell in cells) / max(1, len(cells))


def _outside(id: str, cell: CellFit) -> str:
    return (
        f"Outside its band: {id}'s `{cell.heuristic}`, {cell.published:.1f} % published in "
        f"{cell.games} games, {cell.predicted:.1f} % predicted (z = {signed(cell.z, 1)})"
    )


def conditions_of(study: StudyReport) -> Iterator[str]:
    """Yield how one study's agents were played, and which other conditions were tried."""
    fit = study.fit
    if fit is None:
        return
    yield (
        f"**Conditions.** {fit.condition}, {fit.time / 1000:g} ms a move: {fit.told}. "
        f"Chosen among {fit.choices} conditions; chi-square per cell {mean_square(fit.cells):.2f}."
    )
    if not fit.tried:
        yield f"Its conditions were never fitted: `knightfall reproduce {study.id} --fit` does it."
        return
    best = max(one.loglikelihood for one in fit.tried)
    rows = [
        [
            one.variant,
            "yes" if one.plausible else "no",
            f"{one.time / 1000:g} ms",
            f"{one.chi_square / max(1, one.cells):.2f}",
            _below(best, one.loglikelihood),
        ]
        for one in fit.tried
    ]
    columns = ["variant", "could be", "best time", "chi-square per cell", "log-likelihood"]
    parts = [
        table(columns, rows),
        "Each variant with the time that suits it best, by a few games a cell; the log-likelihood "
        "is told as the distance from the best. Leads of less than 5 mean little. A variant that "
        "the author's own program rules out could not be chosen.",
    ]
    if fit.times:
        best = max(one.loglikelihood for one in fit.times)
        times = [
            f"{one.time / 1000:g} ms: chi-square "
            f"{one.chi_square / max(1, fit.tried[0].cells):.2f} per cell, log-likelihood "
            f"{_below(best, one.loglikelihood)}"
            for one in fit.times
        ]
        parts.append(f"The chosen variant with more games: {'; '.join(times)}.")
    if fit.halves:
        halves = [
            f"{half.variant} with {half.time / 1000:g} ms gives chi-square "
            f"{half.chi_square / max(1, half.cells):.2f} per cell over {half.cells} cells"
            for half in fit.halves
        ]
        parts.append(
            f"Fitted on every other heuristic and held against the rest: {'; '.join(halves)}."
        )
    yield fold("Conditions that were tried", "\n\n".join(parts))


def _below(best: float, value: float) -> str:
    """Return as text how far a log-likelihood is below the best one."""
    return signed(value - best, 1) if value < best else "0"


# -- resigning -----------------------------------------------------------------------------


def resigning_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Yield the section on resigning: why it happens, chart, table by study, and advice."""
    yield heading(2, "What they really measured", "resigning")
    yield (
        "A student's search begins with the worst value there is and with no move, and takes a "
        "move only if it is *better*. When every line it sees is lost, none is, and its answer is "
        "no move at all: the game is forfeited, against Random, too, which would never have found "
        "the win. The deeper an agent searches, the sooner it sees a loss that its opponent does "
        "not, and the more games it gives away. So resigning punishes whoever sees far and spares "
        "whoever is too slow for that."
    )
    if report.sweep:
        yield from chart("resigning", charts)
        yield from _sweep_table(report.sweep)
    inside = [line for study in report.studies if study.fit for line in _resigning_study(study)]
    yield fold("Study by study, and in the league", "\n\n".join([*inside, *_ranking(report)]))
    yield (
        "**The advice: never resign.** Begin the search with any legal move as its answer, keep "
        "the move of the last depth that had one, and among lost moves play the one that loses "
        "latest: opponents err."
    )


def _ranking(report: StudiesReport) -> Iterator[str]:
    """Yield the sentences on how resigning changes the league's order."""
    league = report.league
    if league is None or league.resigning is None:
        return
    places = {row.heuristic: (at, row) for at, row in enumerate(league.ratings["never"], 1)}
    moved = []
    for before, with_it in enumerate(league.ratings["course"], 1):
        after, without = places[with_it.heuristic]
        change = without.elo - with_it.elo
        if abs(change) > hypot(with_it.error, without.error):
            moved.append((change, f"`{with_it.heuristic}` (place {before} to {after})"))
    found = league.resigning
    yield (
        f"Among themselves it matters less, for all resign alike: in [the league of all](#league), "
        f"{found.heuristics} heuristics in agents of the later course, the order with resigning "
        f"and the order without agree in rank by {found.spearman:.2f} (95 %: {found.low:.2f} to "
        f"{found.high:.2f})."
        + (
            f" Without it, {', '.join(text for _, text in sorted(moved))} change by more than "
            "the error of the difference."
            if moved
            else " No heuristic's rating changes by more than the error of the difference."
        )
    )


def _sweep_table(sweep: Sweep) -> Iterator[str]:
    rows = []
    for at, time in enumerate(sweep.times):
        cells = [
            f"{gave.rate:.0f} / {kept.rate:.0f}"
            for gave, kept in zip(sweep.resigning[at], sweep.playing_on[at], strict=True)
        ]
        forfeits = sum(sweep.forfeits[at]) / len(sweep.forfeits[at])
        rows.append([f"{time / 1000:g} ms", f"{sweep.nodes[at]:,}", *cells, f"{forfeits:.0f} %"])
    resigning, playing = sweep.totals(sweep.resigning), sweep.totals(sweep.playing_on)
    less = [
        name
        for name, before, after in zip(
            sweep.opponents, sweep.resigning[0], sweep.resigning[-1], strict=True
        )
        if after.high < before.low
    ]
    yield (
        f"From {sweep.times[0] / 1000:g} to {sweep.times[-1] / 1000:g} ms the agent that plays on "
        f"goes from {playing[0]:.1f} to {playing[-1]:.1f} %, the one that resigns from "
        f"{resigning[0]:.1f} to {resigning[-1]:.1f} %."
        + (
            f" Against {', '.join(less)} it wins fewer games with the longest search than with "
            "the shortest, beyond the errors of both."
            if less
            else ""
        )
    )
    yield fold(
        "Time by time",
        f"The same agent, `{BASELINE}`, with more and more time, against four of the course's "
        "opponents: games won in %, resigning / playing on.\n\n"
        + table(["time of a move", "nodes", *sweep.opponents, "games given up"], rows),
    )


def _resigning_study(study: StudyReport) -> Iterator[str]:
    rows = [row for row in study.rows if {"course", "never"} <= set(row.measured)]
    if not any(sum(row.measured["course"].forfeits) for row in rows):
        theirs = [share for row in rows for share in row.measured["course"].conceded]
        late = sum(theirs) / max(1, len(theirs))
        yield f"In the {study.id} study no test agent gives up." + (
            f" Its opponents that search to a fixed depth do: their time is up before they have a "
            f"move, in {late:.0f} % of all games and in up to {max(theirs):.0f} % of those of one "
            "heuristic against one of them."
            if late > 0.5
            else ""
        )
        return
    yield f"The {study.id} study: games given up, and what never resigning is worth."
    yield table(
        ["heuristic", *study.opponents, "of all games", "as played", "never resigning", "gain"],
        [_resigning_row(row) for row in sorted(rows, key=lambda one: -_gain(one))],
    )


def _gain(row: HeuristicReport) -> float:
    return row.measured["never"].total.rate - row.measured["course"].total.rate


def _resigning_row(row: HeuristicReport) -> list[str]:
    played, never = row.measured["course"], row.measured["never"]
    return [
        f"`{row.heuristic}`",
        *(f"{share:.0f} %" for share in played.forfeits),
        f"{sum(played.forfeits) / len(played.forfeits):.0f} %",
        f"{played.total.rate:.1f}",
        f"{never.total.rate:.1f}",
        signed(_gain(row), 1),
    ]


# -- the league, and games needed ----------------------------------------------------------


def league_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Yield the section on the league of all heuristics and the oracle's grades."""
    league = report.league
    assert league is not None
    budgets = [budget for budget in BUDGETS if budget in league.ratings]
    number = len(league.ratings[budgets[0]])
    yield heading(2, "One league of all", "league")
    yield (
        f"All {number} heuristics, each couple {league.pairs} pairs with openings of its own; "
        f"ratings are Elo above `{BASELINE}`, ± 95 %. Under course conditions and never resigning "
        "everyone is an agent of the later course with 25 ms a move, its heuristic by its words."
        + (
            f" The grade is how often an agent of 2,500 nodes that plays itself keeps a won "
            f"position won where it has a real choice ({league.openings} games each, judged by "
            "the exact solver)."
            if league.grades
            else ""
        )
    )
    left_out = (
        f"Not in the league: {' and '.join(f'`{id}`' for id in PLAYS_OUT)}, parts of other "
        "heuristics that no study entered by themselves. Each of their leaves plays out whole "
        "games, so that one move at equal nodes takes as long as many games of the others."
    )
    yield from chart("league", charts)
    ratings = {budget: {row.heuristic: row for row in league.ratings[budget]} for budget in budgets}
    grades = {grade.heuristic: grade for grade in league.grades}
    columns = ["heuristic", *(f"Elo, {TITLES[budget]}" for budget in budgets)]
    rows = []
    for row in league.ratings[budgets[0]]:
        mine = [ratings[budget][row.heuristic] for budget in budgets]
        cells = [plus_minus(one.elo, one.error) for one in mine]
        if grades:
            cells.append(_grade(grades.get(row.heuristic)))
        rows.append([f"`{row.heuristic}`", *cells])
    ratings_table = table([*columns, *(["wins kept, %"] if grades else [])], rows)
    yield fold("The table of all ratings", f"{left_out}\n\n{ratings_table}")
    if not league.correlations:
        return
    yield heading(3, "Rating and grade", "grades")
    yield from chart("grades", charts)
    explained = (
        "Rank correlation between a heuristic's rating and its grade, with the 95 % interval of "
        "Spearman's coefficient. Heuristics that are near each other change places by chance, "
        "which keeps it below 1."
    )
    correlations = table(
        ["budget", "heuristics", "Spearman", "95 %", "Kendall"],
        [
            [
                TITLES[budget],
                str(found.heuristics),
                signed(found.spearman, 2),
                f"{signed(found.low, 2)} to {signed(found.high, 2)}",
                signed(found.kendall, 2),
            ]
            for budget, found in league.correlations.items()
        ],
    )
    yield fold("Rank correlations", f"{explained}\n\n{correlations}")


def _grade(grade: HeuristicGrade | None) -> str:
    return "" if grade is None else f"{grade.kept:.1f} ± {grade.error:.1f}"


def needed_section(needed: NeededGames, charts: Mapping[str, str]) -> Iterator[str]:
    """Yield the section on how many games a comparison needs."""
    yield heading(2, "How many games do I need?", "needed-games")
    yield (
        f"Of all couples of heuristics within a study, {needed.told_apart} are told apart by all "
        f"games together (corrected for their number) and {needed.not_told_apart} are not. For "
        "the first, tournaments of fewer games were drawn from those played: how often does the "
        "better one come out ahead? "
        f"{STUDIES_GAMES} games are one tournament of the later course. The difference that was "
        "measured is taken for the real one, which flatters small ones a little: the chances are "
        "upper estimates."
    )
    yield from chart("needed-games", charts)
    chances = table(
        ["really apart by", "couples", *(f"{games:,}" for games in needed.sizes), "for 95 %"],
        [
            [
                gap_words(curve.least, curve.most),
                str(curve.couples),
                *(percent(chance, 0) for chance in curve.chances),
                "more" if curve.needed is None else f"{curve.needed:,}",
            ]
            for curve in needed.curves
        ],
    )
    yield fold("Chance of the right order by the number of games", chances)
