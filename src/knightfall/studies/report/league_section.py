"""The parts of the document that are about all heuristics: the league, and games needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knightfall.display.numbers import plus_minus, signed
from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.grades import HeuristicGrade
from knightfall.studies.judging.needed_games import STUDIES_GAMES, NeededGames, gap_words
from knightfall.studies.judging.plans import BUDGETS, PLAYS_OUT, TITLES
from knightfall.studies.report.markdown import chart, fold, heading, table
from knightfall.studies.report.report import StudiesReport


def league_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Everyone against everyone, and the oracle's grade."""
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
    if "league" in charts:
        yield chart("league", charts["league"])
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
    if "grades" in charts:
        yield chart("grades", charts["grades"])
    told = (
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
    yield fold("Rank correlations", f"{told}\n\n{correlations}")


def _grade(grade: HeuristicGrade | None) -> str:
    return "" if grade is None else f"{grade.kept:.1f} ± {grade.error:.1f}"


def needed_section(needed: NeededGames, charts: Mapping[str, str]) -> Iterator[str]:
    """How many games do I need?"""
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
    if "needed-games" in charts:
        yield chart("needed-games", charts["needed-games"])
    chances = table(
        ["really apart by", "couples", *(f"{games:,}" for games in needed.sizes), "for 95 %"],
        [
            [
                gap_words(curve.least, curve.most),
                str(curve.couples),
                *(f"{100 * chance:.0f} %" for chance in curve.chances),
                "more" if curve.needed is None else f"{curve.needed:,}",
            ]
            for curve in needed.curves
        ],
    )
    yield fold("Chance of the right order by the number of games", chances)
