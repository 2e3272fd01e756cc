"""The report as a document: headings, sentences, tables and charts, for whoever renders them."""

from __future__ import annotations

from collections.abc import Iterator

from knightfall.studies.costs.course_conditions import BASELINE
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.report.blocks import (
    Block,
    Bullets,
    Command,
    Heading,
    Table,
    Text,
    Timing,
    mark,
)
from knightfall.studies.report.league_section import league_section, needed_section
from knightfall.studies.report.report import Report
from knightfall.studies.report.study_section import measured_words, study_section
from knightfall.studies.report.summary import summary


def document(report: Report, charts: set[str]) -> Iterator[Block]:
    """The whole of it, with the charts that there are."""
    yield Heading(1, _title(report), "top")
    yield Text(
        "Students of a course on game-playing agents wrote evaluation functions for Knight's "
        "Isolation, let them play the course's tournament and published what they found, most of "
        "them on 70 to 140 games. Here the same tournaments are played again, with "
        f"{14 * report.pairs:,} games of each heuristic, and every claim gets a verdict."
    )
    yield Heading(2, "In short", "in-short")
    yield Bullets(summary(report))
    yield Heading(2, "What survives", "what-survives")
    yield from _survivors(report)
    yield Heading(2, "How it was played", "how")
    yield Bullets(list(_rules(report)))
    for study in report.studies:
        yield from study_section(study, report, charts)
    if report.league:
        yield from league_section(report, charts)
    if report.needed.curves:
        yield from needed_section(report.needed)
    yield Heading(2, "Make it again", "again")
    yield Text("Same version, same seed: the same games and the same page, to the last digit.")
    yield Command(report.command)
    yield Text(
        "What heuristics cost was measured once and is part of the program; these commands measure "
        "it anew, after which the games are others:"
    )
    yield Command(
        "python -m knightfall.studies.costs.course_conditions\n"
        "python -m knightfall.studies.costs.compiled_costs"
    )
    yield Timing(_timing(report))


def _title(report: Report) -> str:
    number = len(report.studies)
    return "The five studies, re-run" if number == 5 else f"Re-run: {_names(report)}"


def _names(report: Report) -> str:
    return ", ".join(study.id for study in report.studies)


def _survivors(report: Report) -> Iterator[Block]:
    first, *others = [str(budget) for budget in report.budgets]
    yield Text(
        f"The first verdict is the one under **{TITLES[first]}**"
        + (", the nearest to what the authors had" if first == "course" else "")
        + ("; the other budgets stand beside it." if others else ".")
    )
    rows = []
    for study in report.studies:
        for claim in study.claims:
            verdicts = [mark(claim.verdicts[budget].verdict) for budget in report.budgets]
            verdicts[0] += f"\n{measured_words(claim, first)}"
            rows.append([claim.sentence, *verdicts, f"[{study.id}](#{study.id})"])
    titles = [TITLES[budget] for budget in report.budgets]
    yield Table(["claim", *titles, "study"], rows, numbers=False)
    yield Text(
        "Below the first verdict stands what was measured, in points (hundredths of the games) "
        "with the 95 % interval; of several comparisons, the one that decided. **Holds**: borne "
        "out at 95 %. **Does not hold**: the opposite is shown at 95 %. An advantage of surely "
        "less than one point counts as none, unless it is proven. What is neither is **cannot be "
        "told apart** by this many games."
    )


def _rules(report: Report) -> Iterator[str]:
    budgets = {
        "course": "**Course conditions**: in plain Python a dear heuristic searches fewer nodes in "
        "a move's 150 ms. Each one's price was measured once over the course's board, and its "
        f"agent gets what is left of 2,500 nodes of `{BASELINE}`.",
        "time": "**Equal time**: the same by the price in compiled searches, where 2,500 nodes of "
        f"`{BASELINE}` take about {report.microseconds:.0f} µs. Nodes are counted instead of time "
        "so that every game can be repeated.",
        "nodes": "**Equal nodes**: 2,500 for everyone. Only judgement counts.",
    }
    for budget in report.budgets:
        yield budgets[budget]
    yield (
        "Every agent that deepens gets the budget of its heuristic, opponents too; those that "
        "search to a fixed depth and the random one stay as the course had them."
    )
    yield (
        f"A study's heuristics meet each of its seven opponents from the same {report.pairs:,} "
        "openings, once from either seat. No opening comes twice, also where the earlier course "
        "played each of them twice: agents that always choose the same move would only repeat "
        "themselves."
    )
    yield (
        "All intervals are 95 %. Measured ones take the pair of games from one opening as their "
        "unit; published ones take games for independent, for no more is known of them. The "
        f"widest interval of a measured total is ±{report.widest:.2f} points."
    )
    yield (
        "An agent that meets itself wins exactly half of its games: both games of an opening go "
        "the same way, and it sits on either side once."
    )


def _timing(report: Report) -> str:
    timings = report.timings
    rate = "" if timings.games_per_second is None else f", {timings.games_per_second:,.0f} a second"
    grading = (
        f"; grading took {timings.grading_seconds:,.0f} s of one processor"
        if timings.grading_seconds
        else ""
    )
    return (
        f"{timings.date}, knightfall {report.version}: {timings.games:,} games in "
        f"{timings.seconds:,.0f} s{rate}{grading}."
    )
