"""The report in plain sentences that a student can quote; every one follows from the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.claims import ONCE
from knightfall.studies.judging.needed_games import STUDIES_GAMES, gap_words
from knightfall.studies.judging.plans import TITLES
from knightfall.studies.report.report import StudiesReport

MOST_NAMED = 8
"""Heuristics that are named in a sentence; of more there is only the number."""


def summary(report: StudiesReport) -> list[str]:
    """What was claimed, what survives, whether knowledge is worth its cost, how many games."""
    return [
        *_explained(report),
        *_claims(report),
        *_mistakes(report),
        *_knowledge(report),
        *_enough(report),
        *_agreement(report),
    ]


def _explained(report: StudiesReport) -> Iterator[str]:
    """Whether the published numbers are understood."""
    cells = [cell for fit in report.fits for cell in fit.cells]
    if not cells:
        return
    totals = [cell for fit in report.fits for cell in fit.totals]
    outside = sum(len(fit.outside) for fit in report.fits)
    per_cell = sum(cell.z**2 for cell in cells) / len(cells)
    yield (
        "The published numbers are explained by agents that play as the authors' did: chi-square "
        f"is {per_cell:.2f} per published cell ({len(cells)} cells; sampling error alone gives 1, "
        "or somewhat less where games come in pairs), and "
        f"{outside} of {len(totals)} published totals lie outside their 95 % band."
    )


def owed_to_mistakes(report: StudiesReport) -> Iterator[tuple[str, str]]:
    """Claims that hold under the author's conditions, and not with the same agents mended."""
    if not {"course", "never"} <= set(report.budgets):
        return
    for study in report.studies:
        for claim in study.claims:
            if not {"course", "never"} <= set(claim.verdicts):
                continue
            played, mended = (claim.verdicts[budget].verdict for budget in ("course", "never"))
            if played == "holds" and mended == "does not hold":
                yield study.id, claim.sentence


def _mistakes(report: StudiesReport) -> Iterator[str]:
    """What resigning cost, and which claims it made."""
    if not {"course", "never"} <= set(report.budgets):
        return
    rows = {
        study.id: [
            row.measured["never"].total.rate - row.measured["course"].total.rate
            for row in study.rows
            if {"course", "never"} <= set(row.measured) and any(row.measured["course"].forfeits)
        ]
        for study in report.studies
    }
    resigning = [id for id, gains in rows.items() if gains]
    if resigning:
        gains = [gain for row in rows.values() for gain in row]
        where = "one" if len(resigning) == 1 else _number(len(resigning))
        yield (
            f"In {where} of the studies ({', '.join(resigning)}) the agents resign when they see "
            f"only losing lines. Never resigning would have won them {min(gains):.0f} to "
            f"{max(gains):.0f} points more, depending on the heuristic."
        )
    owed = len(list(owed_to_mistakes(report)))
    if owed:
        yield (
            f"{_count(owed, 'claim holds', 'claims hold').capitalize()} in the author's tournament "
            "only because of how the agents were written: with the mistakes mended (the last of "
            "equal moves taken, opponents out of time), the opposite is shown."
        )


def _claims(report: StudiesReport) -> Iterator[str]:
    first, *others = report.budgets
    total = sum(len(study.claims) for study in report.studies)
    played = sum(report.verdicts(first).values())
    studies = _count(len(report.studies), "study makes", "studies make").capitalize()
    yield (
        f"{studies} {_count(total, 'claim', 'claims')}. {_number(played).capitalize()} "
        f"{'is' if played == 1 else 'are'} about results of games: played again under "
        f"{TITLES[first]}, {_fate(report, first)} at this number of games."
    )
    told = [
        f"{'without resigning' if budget == 'never' else f'at {TITLES[budget]}'} "
        f"{_fate(report, budget)}"
        for budget in others
    ]
    if told:
        yield f"Under other conditions: {'; '.join(told)}."
    once = report.verdicts(ONCE)
    if any(once.values()):
        vague = once["not a claim that can be tested"]
        yield (
            f"Of the claims about cost, judgement and facts, {_fate(report, ONCE)}; "
            f"{vague} {'is no claim' if vague == 1 else 'are no claims'} that can be tested."
        )


def _fate(report: StudiesReport, budget: str) -> str:
    found = report.verdicts(budget)
    holds, fails, open = (
        found[verdict] for verdict in ("holds", "does not hold", "cannot be told apart")
    )
    return (
        f"{holds} {'holds' if holds == 1 else 'hold'}, {fails} {'does' if fails == 1 else 'do'} "
        f"not hold, and {open} cannot be told apart"
    )


def _knowledge(report: StudiesReport) -> Iterator[str]:
    """Whether what a heuristic knows is worth what it costs."""
    better = {budget: _better(report, budget) for budget in report.budgets}
    if "nodes" not in better or len(better) < 2:
        return
    free = better["nodes"]
    told = (
        f"Is knowledge worth its cost? With the same number of nodes, "
        f"{_count(len(free), 'heuristic scores', 'heuristics score')} more than "
        f"{BASELINE} in the tournament of {'its' if len(free) == 1 else 'their'} own study, at "
        f"95 % and each taken by itself (of {_others(report)} compared, chance alone would show "
        f"about {0.025 * _others(report):.1f})."
    )
    for budget in report.budgets:
        if budget == "time" and free:
            kept = free & better[budget]
            number = _number(len(kept)) if kept else "none"
            names = f": {', '.join(sorted(kept))}" if 0 < len(kept) <= MOST_NAMED else ""
            still = "still does" if len(kept) == 1 else "still do"
            told += f" Where each pays for its time ({TITLES[budget]}), {number} {still}{names}."
    yield told


def _others(report: StudiesReport) -> int:
    """How many heuristics were compared with improved."""
    return sum(
        bool(row.measured) and row.heuristic != BASELINE
        for study in report.studies
        for row in study.rows
    )


def _better(report: StudiesReport, budget: str) -> set[str]:
    """The heuristics whose interval lies above improved, opening by opening."""
    return {
        row.heuristic
        for study in report.studies
        for row in study.rows
        if budget in row.measured and row.measured[budget].ahead.low > 0
    }


def _enough(report: StudiesReport) -> Iterator[str]:
    chance = report.needed.chance(STUDIES_GAMES)
    if chance is None:
        return
    yield (
        f"One tournament of {STUDIES_GAMES} games ranks two heuristics that really differ "
        f"correctly in {100 * chance:.0f} % of all cases; a coin manages 50 %."
    )
    told = [
        f"about {curve.needed:,} games of each if they are {gap_words(curve.least, curve.most)} "
        "apart"
        if curve.needed is not None
        else f"more than {report.needed.sizes[-1]:,} games of each if they are "
        f"{gap_words(curve.least, curve.most)} apart"
        for curve in report.needed.curves
    ]
    if told:
        yield f"To be right 95 times in 100 about two heuristics takes {', '.join(told)}."


def _agreement(report: StudiesReport) -> Iterator[str]:
    league = report.league
    if league is None or not league.correlations:
        return
    budget = "nodes" if "nodes" in league.correlations else next(iter(league.correlations))
    found = league.correlations[budget]
    yield (
        f"Who wins against the others also gives fewer wins away: over {found.heuristics} "
        f"heuristics, rating and the oracle's grade agree in rank by {found.spearman:.2f} "
        f"(95 %: {found.low:.2f} to {found.high:.2f}; 1 would be complete agreement)."
        if found.low > 0
        else f"Rating and the oracle's grade agree in rank by {found.spearman:.2f} (95 %: "
        f"{found.low:.2f} to {found.high:.2f}) over {found.heuristics} heuristics: not surely "
        "more than by chance."
    )


WORDS = "no one two three four five six seven eight nine ten eleven twelve"
"""Numbers that are written out."""


def _number(number: int) -> str:
    words = WORDS.split()
    return words[number] if number < len(words) else str(number)


def _count(number: int, one: str, many: str) -> str:
    return f"{_number(number)} {one if number == 1 else many}"
