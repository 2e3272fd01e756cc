"""The part of the document on what the studies really measured: who gives up, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import hypot

from knightfall.display.numbers import signed
from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.resigning import Sweep
from knightfall.studies.report.markdown import chart, fold, heading, table
from knightfall.studies.report.report import HeuristicReport, StudiesReport, StudyReport


def resigning_section(report: StudiesReport, charts: Mapping[str, str]) -> Iterator[str]:
    """The mechanism, the picture, the table by study, and the advice."""
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
        if "resigning" in charts:
            yield chart("resigning", charts["resigning"])
        yield from _sweep(report.sweep)
    inside = [line for study in report.studies if study.fit for line in _study(study)]
    yield fold("Study by study, and in the league", "\n\n".join([*inside, *_ranking(report)]))
    yield (
        "**The advice: never resign.** Begin the search with any legal move as its answer, keep "
        "the move of the last depth that had one, and among lost moves play the one that loses "
        "latest: opponents err."
    )


def _ranking(report: StudiesReport) -> Iterator[str]:
    """The league with and without resigning: who moves up or down most."""
    league = report.league
    if league is None or league.resigning is None:
        return
    places = {
        budget: {row.heuristic: at for at, row in enumerate(league.ratings[budget], 1)}
        for budget in ("course", "never")
    }
    rows = {
        budget: {row.heuristic: row for row in league.ratings[budget]}
        for budget in ("course", "never")
    }
    moved = []
    for id, with_it in rows["course"].items():
        without = rows["never"][id]
        change = without.elo - with_it.elo
        if abs(change) > hypot(with_it.error, without.error):
            there = f"place {places['course'][id]} to {places['never'][id]}"
            moved.append((change, f"`{id}` ({there})"))
    found = league.resigning
    yield (
        f"Among themselves it matters less, for all resign alike: in [the league of all](#league), "
        f"{found.heuristics} heuristics in agents of the later course, the order with resigning "
        f"and the order without agree in rank by {found.spearman:.2f} (95 %: {found.low:.2f} to "
        f"{found.high:.2f})."
        + (
            f" Without it, {', '.join(told for _, told in sorted(moved))} change by more than "
            "the error of the difference."
            if moved
            else " No heuristic's rating changes by more than the error of the difference."
        )
    )


def _sweep(sweep: Sweep) -> Iterator[str]:
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


def _study(study: StudyReport) -> Iterator[str]:
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
        [_row(row) for row in sorted(rows, key=lambda one: -_gain(one))],
    )


def _gain(row: HeuristicReport) -> float:
    return row.measured["never"].total.rate - row.measured["course"].total.rate


def _row(row: HeuristicReport) -> list[str]:
    played, never = row.measured["course"], row.measured["never"]
    return [
        f"`{row.heuristic}`",
        *(f"{share:.0f} %" for share in played.forfeits),
        f"{sum(played.forfeits) / len(played.forfeits):.0f} %",
        f"{played.total.rate:.1f}",
        f"{never.total.rate:.1f}",
        signed(_gain(row), 1),
    ]
