"""The report as Markdown: sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.choices import POSITIONS
from knightfall.studies.judging.plans import MORE_POWER
from knightfall.studies.report.fit_section import fit_section
from knightfall.studies.report.league_section import league_section, needed_section
from knightfall.studies.report.markdown import BEGIN, END, bullets, command, fold, heading
from knightfall.studies.report.report import StudiesReport
from knightfall.studies.report.resigning_section import resigning_section
from knightfall.studies.report.study_section import study_section
from knightfall.studies.report.summary import owed_to_mistakes, summary


def document(report: StudiesReport, charts: Mapping[str, str]) -> str:
    """The whole of it; `charts` says of those there are what each shows."""
    return "\n\n".join(_sections(report, charts)) + "\n"


def _sections(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
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
    yield _in_one_sentence(report)
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
    if len(report.studies) == 5:
        return "The five studies, explained"
    return f"Re-run: {', '.join(study.id for study in report.studies)}"


def _owed(report: StudiesReport) -> Iterator[str]:
    """Tell which claims hold only because of how the authors' agents were written."""
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


def _in_one_sentence(report: StudiesReport) -> str:
    return (
        f"A study's heuristics meet each of its seven opponents from the same {report.pairs:,} "
        "openings, once from either seat. All intervals are 95 % and take such a pair of games "
        f"as their unit; the widest of a measured total is ±{report.widest:.2f} points."
    )


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
