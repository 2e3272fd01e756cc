"""The parts of the document on how well the published numbers are explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from knightfall.display.numbers import signed
from knightfall.studies.report.markdown import bullets, chart, fold, heading, table
from knightfall.studies.report.report import CellFit, FitReport, StudiesReport, StudyReport


def fit_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """Goodness of fit over all studies."""
    yield heading(2, "Do we play what they played?", "fit")
    yield (
        "A verdict is worth as much as the conditions it was found under. So the faithful games "
        "are first held against everything that the studies printed: if the agents here are "
        "theirs, a published number differs from ours by the luck of its few games. Chi-square "
        "would then be 1 per cell if games were independent, and somewhat less as they were "
        "played: the two games from one opening tend to be split."
    )
    if "calibration" in charts:
        yield chart("calibration", charts["calibration"])
    cells = [cell for fit in report.fits for cell in fit.cells]
    totals = [cell for fit in report.fits for cell in fit.totals]
    outside = [
        (study.id, cell) for study in report.studies if study.fit for cell in study.fit.outside
    ]
    rows = [_row(study.id, fit) for study in report.studies if (fit := study.fit)]
    if len(rows) > 1:
        sums = [str(len(cells)), f"{_per_cell(cells):.2f}", f"{len(outside)} of {len(totals)}"]
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
        explained.append(bullets(_told(id, cell) for id, cell in outside))
    if "residuals" in charts:
        explained.append(chart("residuals", charts["residuals"]))
    yield from _doubts(report)
    yield fold(
        "Tests of the fit, what the columns mean, and what lies outside its band",
        "\n\n".join(explained),
    )


def _row(id: str, fit: FitReport) -> list[str]:
    cells = [str(len(fit.cells)), f"{_per_cell(fit.cells):.2f}"]
    outside = f"{len(fit.outside)} of {len(fit.totals)}"
    return [f"[{id}](#{id})", fit.condition, _time(fit), *cells, outside]


def _tests(id: str, fit: FitReport) -> list[str]:
    p_values = [f"{fit.p_value:.2f}", f"{fit.opponents_p:.2g}", f"{fit.totals_p:.2f}"]
    return [f"[{id}](#{id})", f"{fit.expected:.2f}", *p_values]


def _time(fit: FitReport) -> str:
    if not fit.times:
        return f"{fit.time / 1000:g} ms"
    least, most = fit.likely_times
    return f"{fit.time / 1000:g} ms\n({least / 1000:g} to {most / 1000:g})"


def _doubts(report: StudiesReport) -> Iterator[str]:
    """Where the fit is not as good as its chi-square."""
    biased = [study.id for study in report.studies if study.fit and study.fit.opponents_p < 0.01]
    if biased:
        yield (
            f"What is left is not all luck: added up by opponent, the deviations of "
            f"{' and '.join(biased)} are larger than chance (the chart of residuals shows where)."
        )


def _per_cell(cells: Sequence[CellFit]) -> float:
    return sum(cell.z**2 for cell in cells) / max(1, len(cells))


def _told(id: str, cell: CellFit) -> str:
    return (
        f"Outside its band: {id}'s `{cell.heuristic}`, {cell.published:.1f} % published in "
        f"{cell.games} games, {cell.predicted:.1f} % predicted (z = {signed(cell.z, 1)})"
    )


def conditions_of(study: StudyReport) -> Iterator[str]:
    """How one study's agents were played, and what else was tried."""
    fit = study.fit
    if fit is None:
        return
    yield (
        f"**Conditions.** {fit.condition}, {fit.time / 1000:g} ms a move: {fit.told}. "
        f"Chosen among {fit.choices} conditions; chi-square per cell {_per_cell(fit.cells):.2f}."
    )
    best = max(one.loglikelihood for one in fit.tried)
    rows = [
        [
            one.variant,
            "yes" if one.plausible else "no",
            f"{one.time / 1000:g} ms",
            f"{one.chi_square / max(1, one.cells):.2f}",
            signed(one.loglikelihood - best, 1) if one.loglikelihood < best else "0",
        ]
        for one in fit.tried
    ]
    columns = ["variant", "could be", "best time", "chi-square per cell", "log-likelihood"]
    told = [
        table(columns, rows),
        "Each variant with the time that suits it best, by a few games a cell; the log-likelihood "
        "is told as the distance from the best. Leads of less than 5 mean little. A variant that "
        "the author's own program rules out could not be chosen.",
    ]
    if fit.times:
        top = max(one.loglikelihood for one in fit.times)
        told.append(
            "The chosen variant with more games: "
            + "; ".join(
                f"{one.time / 1000:g} ms: chi-square "
                f"{one.chi_square / max(1, fit.tried[0].cells):.2f} per cell, log-likelihood "
                + (signed(one.loglikelihood - top, 1) if one.loglikelihood < top else "0")
                for one in fit.times
            )
            + "."
        )
    if fit.halves:
        told.append(
            "Fitted on every other heuristic and held against the rest: "
            + "; ".join(
                f"{half.variant} with {half.time / 1000:g} ms gives chi-square "
                f"{half.chi_square / max(1, half.cells):.2f} per cell over {half.cells} cells"
                for half in fit.halves
            )
            + "."
        )
    yield fold("Conditions that were tried", "\n\n".join(told))
