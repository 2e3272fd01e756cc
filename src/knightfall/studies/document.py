"""Render the studies' report as Markdown and HTML, and write its files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from knightfall.display.numbers import percent
from knightfall.studies.claims import ONCE
from knightfall.studies.common_sections import (
    fit_section,
    league_section,
    mean_square,
    needed_section,
    resigning_section,
)
from knightfall.studies.markdown import BEGIN, END, bullets, command, fold, heading, html_page
from knightfall.studies.node_costs import BASELINE
from knightfall.studies.oracle_grades import POSITIONS
from knightfall.studies.plans import MORE_POWER, TITLES
from knightfall.studies.run_results import STUDIES_GAMES, gap_words
from knightfall.studies.studies_report import StudiesReport
from knightfall.studies.study_section import study_section
from knightfall.user_folders import atomic_write


def _sections(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Yield the report's blocks of Markdown; `charts` maps available charts to descriptions."""
    yield f"# {_title(report)}"
    yield (
        "Students of a course on game-playing agents wrote evaluation functions for Knight's "
        "Isolation, let them play the course's tournament and published what they found, most of "
        "them on 70 to 140 games. Here the same tournaments are played again, with "
        f"{14 * report.pairs:,} games of each heuristic, and every claim gets a verdict."
        + (
            " The agents play as the authors wrote them, mistakes included: some resign as soon "
            "as they see only losing lines, some take the last of equal moves. That explains the "
            "published numbers, and some of the conclusions."
            if report.fits
            else ""
        )
        + " The page can be read in ten minutes; everything else is folded."
    )
    yield heading(2, "In short", "in-short")
    yield bullets(summary(report))
    yield VERDICTS
    yield fold("What the verdicts mean exactly", VERDICT_DETAILS)
    for study in report.studies:
        yield from study_section(study, report, charts)
    yield from _owed(report)
    if report.fits:
        yield from fit_section(report, charts)
    if report.fits and "never" in report.budgets:
        yield from resigning_section(report, charts)
    if report.league:
        yield from league_section(report, charts)
    if report.needed.curves:
        yield from needed_section(report.needed, charts)
    yield heading(2, "How it was played", "how")
    yield (
        f"A study's heuristics meet each of its seven opponents from the same {report.pairs:,} "
        "openings, once from either seat. All intervals are 95 % and take such a pair of games "
        f"as their unit; the widest of a measured total is ±{report.widest:.2f} points."
    )
    yield fold("The rules of every run", bullets(_rules(report)))
    yield heading(2, "Make it again", "again")
    yield "Same version, same seed: the same games and the same page, to the last digit."
    yield command(report.command)
    yield fold(
        "Measure the costs anew",
        "What heuristics and a student's steps cost was measured once and is part of the program; "
        "these commands measure it anew in a checkout, after which the games are others:\n\n"
        + command("python -m benchmarks.costs\npython -m benchmarks.costs.students"),
    )
    yield f"{BEGIN}\n{_timing(report)}\n{END}"


VERDICTS = """\
The verdicts: ✓ holds; ✗ does not hold: the opposite is shown at 95 %; ? cannot be told apart; \
– not a claim that can be tested. A point is a hundredth of the games."""

VERDICT_DETAILS = """\
- ✓ holds: what the study says is borne out at 95 %.
- ✗ does not hold: the opposite is shown, which is more than not being borne out. An \
advantage of surely less than one point counts as none, unless it is proven.
- ? cannot be told apart: this many games show neither; more of them might decide.
- – not a claim that can be tested: an opinion, or too vague to be wrong.

A claim that is made of several comparisons holds if all of them are borne out, and does not if \
the opposite of one is shown; the comparison that decided is told. Words of size mean the same \
everywhere: about x is from half of x to one and a half of it, slightly is up to five points, \
alike is at most five points apart and very close at most two and a half."""


def _title(report: StudiesReport) -> str:
    if "all" in report.command.split():
        return f"The {_number(len(report.studies))} studies, explained"
    return f"Re-run: {', '.join(study.id for study in report.studies)}"


def _owed(report: StudiesReport) -> Iterator[str]:
    """Yield the section on claims that hold only because of the agents' mistakes."""
    owed = list(owed_to_mistakes(report))
    if not owed:
        return
    yield heading(2, "True, but for another reason", "another-reason")
    yield (
        "These claims hold in the author's tournament because of how the agents were written "
        "(resigning, taking the last of equal moves, opponents out of time), not because of the "
        "idea: with the same agents mended, the opposite is shown."
    )
    yield bullets(f"{sentence} ([{id}](#{id}))" for id, sentence in owed)


def _rules(report: StudiesReport) -> Iterator[str]:
    budgets = {
        "course": "**Course conditions**: agents as students wrote them, mistakes included, test "
        "agents and opponents alike. A move has so many milliseconds, spent by what each forecast, "
        "list of moves, call and evaluation costs in plain Python over the course's board; that "
        "was measured once, so every game can be repeated. Heuristics are as they were coded.",
        "time": "**Equal time**: the same by the price in compiled searches, where 2,500 nodes of "
        f"`{BASELINE}` take about {report.microseconds:.0f} µs. Nodes are counted instead of time "
        "so that every game can be repeated.",
        "nodes": "**Equal nodes**: 2,500 for everyone. Only judgement counts.",
        "never": "**Never resigning**: as under course conditions, but everybody's mistakes are "
        "mended. Agents play what looked best before all was lost or the time was up instead of "
        "giving up, and take the first of equal moves; opponents, too.",
    }
    for budget in report.budgets:
        yield budgets[budget]
    if {"time", "nodes"} & set(report.budgets):
        yield (
            "At equal time and equal nodes every agent that deepens gets the budget of its "
            "heuristic, opponents too; those that search to a fixed depth and the random one stay "
            "as the course had them. These agents never resign and resist longest."
        )
    yield (
        "No opening comes twice, also where the earlier course played each of them twice: agents "
        "that always choose the same move would only repeat themselves."
    )
    if any(claim.once for study in report.studies for claim in study.claims):
        yield (
            "Claims about **judgement** are held against the exact solver: up to "
            f"{POSITIONS} won positions of each phase of the game (more than two thirds of the "
            "board open, more than one third, the rest), each from a random game, with moves that "
            "keep the win and moves that lose it. A heuristic chooses after a search of one ply; "
            "the share of positions it keeps won is compared, position by position."
        )
        yield (
            "Claims about **cost** are held against the time of an evaluation in plain Python on "
            "the course's board, in the middle of an average game, give or take a tenth; claims "
            "about **depth** against the plies an agent searched for a move; claims about "
            f"**computing power** against the author's tournament with {MORE_POWER} times the time "
            "for everybody."
        )
    yield (
        "Intervals of published numbers take games for independent, for no more is known of them."
    )
    yield (
        "An agent that meets itself wins exactly half of its games: both games of an opening go "
        "the same way, and it sits on either side once."
    )


def _timing(report: StudiesReport) -> str:
    timings = report.timings
    seconds = timings.grading_seconds
    grading = f"; grading took {seconds:,.0f} s of one processor" if seconds else ""
    return f"{timings.date}, knightfall {report.version}: {timings}{grading}."


# -- the summary ---------------------------------------------------------------------------


MOST_NAMED = 8
"""Heuristics named in a sentence at most; for more, only the number is given."""


def summary(report: StudiesReport) -> list[str]:
    """Return the summary: verdicts, resigning, knowledge against cost, games needed."""
    return [
        *_explained(report),
        *_claims(report),
        *_mistakes(report),
        *_knowledge(report),
        *_enough(report),
        *_agreement(report),
    ]


def _explained(report: StudiesReport) -> Iterator[str]:
    """Yield the sentences on how well the replayed games explain the published numbers."""
    cells = [cell for fit in report.fits for cell in fit.cells]
    if not cells:
        return
    totals = [cell for fit in report.fits for cell in fit.totals]
    outside = sum(len(fit.outside) for fit in report.fits)
    yield (
        "The published numbers are explained by agents that play as the authors' did: chi-square "
        f"is {mean_square(cells):.2f} per published cell ({len(cells)} cells; sampling error alone "
        "gives 1, or somewhat less where games come in pairs), and "
        f"{outside} of {len(totals)} published totals lie outside their 95 % band."
    )


def owed_to_mistakes(report: StudiesReport) -> Iterator[tuple[str, str]]:
    """Yield (study, sentence) of each claim that holds only with the agents' mistakes.

    With the mistakes corrected (budget `never`) its opposite is shown.
    """
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
    """Yield the sentences on what resigning cost, and on claims that hold only by mistakes."""
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
    changed = [
        f"{'without resigning' if budget == 'never' else f'at {TITLES[budget]}'} "
        f"{_fate(report, budget)}"
        for budget in others
    ]
    if changed:
        yield f"Under other conditions: {'; '.join(changed)}."
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
    """Yield the sentences on whether better heuristics are worth their cost in time."""
    better = {budget: _better(report, budget) for budget in report.budgets}
    if "nodes" not in better or len(better) < 2:
        return
    free = better["nodes"]
    text = (
        f"Is knowledge worth its cost? With the same number of nodes, "
        f"{_count(len(free), 'heuristic scores', 'heuristics score')} more than "
        f"{BASELINE} in the tournament of {'its' if len(free) == 1 else 'their'} own study, at "
        f"95 % and each taken by itself (of {_others(report)} compared, chance alone would show "
        f"about {0.025 * _others(report):.1f})."
    )
    if "time" in better and free:
        kept = free & better["time"]
        number = _number(len(kept)) if kept else "none"
        names = f": {', '.join(sorted(kept))}" if 0 < len(kept) <= MOST_NAMED else ""
        still = "still does" if len(kept) == 1 else "still do"
        text += f" Where each pays for its time ({TITLES['time']}), {number} {still}{names}."
    yield text


def _others(report: StudiesReport) -> int:
    """Return how many heuristics `_better` compares with `improved`."""
    return sum(
        bool(row.measured) and row.heuristic != BASELINE
        for study in report.studies
        for row in study.rows
    )


def _better(report: StudiesReport, budget: str) -> set[str]:
    """Return the heuristics that score significantly more than `improved` on the same openings."""
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
        f"correctly in {percent(chance, 0)} of all cases; a coin manages 50 %."
    )
    needed = [
        f"about {curve.needed:,} games of each if they are {gap_words(curve.least, curve.most)} "
        "apart"
        if curve.needed is not None
        else f"more than {report.needed.sizes[-1]:,} games of each if they are "
        f"{gap_words(curve.least, curve.most)} apart"
        for curve in report.needed.curves
    ]
    if needed:
        yield f"To be right 95 times in 100 about two heuristics takes {', '.join(needed)}."


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
"""The words for the numbers from 0 to 12."""


def _number(number: int) -> str:
    words = WORDS.split()
    return words[number] if number < len(words) else str(number)


def _count(number: int, one: str, many: str) -> str:
    return f"{_number(number)} {one if number == 1 else many}"


# -- the files -----------------------------------------------------------------------------


PAGES = PAGE, MARKDOWN = "index.html", "studies.md"
NUMBERS = "report.json"


def why_no_charts() -> str:
    """Return a sentence on why no charts can be drawn; empty if they can be."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        return (
            f"no charts: matplotlib cannot be imported ({error}); everything else is written, and "
            "after pip install matplotlib the same command draws them"
        )
    return ""


def _drawn(report: StudiesReport) -> dict[str, tuple[str, str]]:
    """Return the charts by name (see `studies_charts.charts`); none if they cannot be drawn."""
    if why_no_charts():
        return {}
    from knightfall.studies.studies_charts import charts  # here, because it needs matplotlib

    return charts(report)


def rendered(report: StudiesReport) -> dict[str, str]:
    """Return the content of every file of a report, by name.

    Without matplotlib the charts are missing, and the pages do not mention them.
    """
    drawn = _drawn(report)
    described = {name: description for name, (_, description) in drawn.items()}
    text = "\n\n".join(_sections(report, described)) + "\n"
    numbers = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    return {
        PAGE: html_page(text, drawn),
        MARKDOWN: text,
        NUMBERS: numbers + "\n",
        **{f"{name}.svg": svg for name, (svg, _) in drawn.items()},
    }


def write_report(report: StudiesReport, folder: Path) -> None:
    """Write all files into an existing folder."""
    for name, text in rendered(report).items():
        atomic_write(folder / name, text)
