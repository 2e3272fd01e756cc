"""Tests that the tables of the studies' report agree with report.json."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from printed_table import markdown_rows, printed_rows

from knightfall.display.numbers import plus_minus, signed
from knightfall.studies.claims import ONCE
from knightfall.studies.common_sections import (
    conditions_of,
    fit_section,
    league_section,
    needed_section,
    resigning_section,
)
from knightfall.studies.comparisons import MARKS
from knightfall.studies.document import summary
from knightfall.studies.plans import TITLES
from knightfall.studies.studies_charts import grade_chart
from knightfall.studies.studies_report import StudiesReport
from knightfall.studies.study_section import printed_section, study_section, wishes_section

REPORT = Path(__file__).parents[2] / "docs" / "studies" / "report.json"


@cache
def data() -> Any:
    return json.loads(REPORT.read_text("utf-8"))


@cache
def report() -> StudiesReport:
    return StudiesReport.from_dict(data())


def study(id: str) -> tuple[Any, Any]:
    """Return a study as data and as a part of the report."""
    at = [one["id"] for one in data()["studies"]].index(id)
    return data()["studies"][at], report().studies[at]


IDS = [one["id"] for one in json.loads(REPORT.read_text("utf-8"))["studies"]]


def per_cell(cells: list[Any]) -> str:
    return f"{sum(cell['z'] ** 2 for cell in cells) / len(cells):.2f}"


def rate(found: Any) -> str:
    """Return a rate as all tables write it, from its JSON."""
    return f"{found['rate']:.1f} ({found['low']:.1f}–{found['high']:.1f})"


def gap(found: Any) -> str:
    """Return a difference as all tables write it, from its JSON."""
    return f"{signed(found['points'], 1)} ({signed(found['low'], 1)} to {signed(found['high'], 1)})"


# -- the summary ---------------------------------------------------------------------------------


def test_the_summary_agrees_with_the_tables() -> None:
    text = "\n".join(summary(report()))
    rows = [row for one in data()["studies"] for row in one["rows"]]
    claims = [claim["verdicts"] for one in data()["studies"] for claim in one["claims"]]
    fits = [one["fit"] for one in data()["studies"] if one["fit"]]
    totals = [total for fit in fits for total in fit["totals"]]

    def fate(budget: str) -> str:
        kinds = "holds", "does not hold", "cannot be told apart"
        found = [found[budget]["verdict"] for found in claims if budget in found]
        return "{} hold, {} do not hold, and {} cannot be told apart".format(
            *(found.count(kind) for kind in kinds)
        )

    def better(budget: str) -> set[str]:
        return {
            row["heuristic"]
            for row in rows
            if budget in row["measured"] and row["measured"][budget]["ahead"]["low"] > 0
        }

    gains = [
        row["measured"]["never"]["total"]["rate"] - row["measured"]["course"]["total"]["rate"]
        for row in rows
        if any(row["measured"]["course"]["forfeits"])
    ]
    of = sum(row["heuristic"] != "improved" for row in rows)
    kept = better("nodes") & better("time")
    agreed = data()["league"]["correlations"]["nodes"]
    needed = data()["needed"]
    chances = [curve["chances"][needed["sizes"].index(70)] for curve in needed["curves"]]
    couples = [curve["couples"] for curve in needed["curves"]]
    chance = sum(a * b for a, b in zip(chances, couples, strict=True)) / sum(couples)
    outside = sum(abs(total["z"]) > 1.96 for total in totals)
    cells = [cell for fit in fits for cell in fit["cells"]]
    for sentence in (
        f"is {per_cell(cells)} per published cell ({len(cells)} cells;",
        f"{outside} of {len(totals)} published totals lie outside",
        f"{len(claims)} claims. {sum('course' in found for found in claims)} are about results",
        f"under {TITLES['course']}, {fate('course')} at this number",
        *(f"at {TITLES[budget]} {fate(budget)}" for budget in ("time", "nodes")),
        f"without resigning {fate('never')}.",
        f"about cost, judgement and facts, {fate(ONCE)};",
        f"won them {min(gains):.0f} to {max(gains):.0f} points more",
        f"same number of nodes, {len(better('nodes'))} heuristics score more than improved",
        f"(of {of} compared, chance alone would show about {0.025 * of:.1f})",
        f"(equal time), five still do: {', '.join(sorted(kept))}.",
        f"correctly in {100 * chance:.0f} % of all cases",
        f"about {needed['curves'][0]['needed']} games of each if they are 2 to 5 points apart",
        f"over {agreed['heuristics']} heuristics, rating and the oracle's grade agree in rank by "
        f"{agreed['spearman']:.2f} (95 %: {agreed['low']:.2f} to {agreed['high']:.2f};",
    ):
        assert sentence in text, sentence
    assert len(kept) == 5


# -- printed by the command ----------------------------------------------------------------------


def test_verdicts_stand_under_their_budgets() -> None:
    titles = [TITLES[budget] for budget in data()["budgets"]]
    shown = printed_rows(str(report()), "study", "claim", *titles)
    told = [
        (one["id"], claim)
        for one in data()["studies"]
        for claim in one["claims"]
        if ONCE not in claim["verdicts"]
    ]
    rows = iter(shown)
    for id, claim in told:
        row = next(row for row in rows if row["study"])  # other rows continue a sentence
        assert row["study"] == id
        assert claim["sentence"].startswith(row["claim"])
        for budget, title in zip(data()["budgets"], titles, strict=True):
            found = claim["verdicts"].get(budget)
            assert bool(row[title]) == bool(found)
            assert found is None or MARKS[found["verdict"]] in row[title]
    assert next((row for row in rows if row["study"]), None) is None
    once = [
        (one["id"], claim["sentence"], MARKS[claim["verdicts"][ONCE]["verdict"]])
        for one in data()["studies"]
        for claim in one["claims"]
        if ONCE in claim["verdicts"]
    ]
    below = printed_rows(str(report()), "study", "claim that no budget matters to", "verdict")
    rows = [row for row in below if row["study"]]
    for row, (id, sentence, mark) in zip(rows, once, strict=True):
        assert row["study"] == id
        assert sentence.startswith(row["claim that no budget matters to"])
        assert mark in row["verdict"]
    timings = data()["timings"]
    assert (
        str(report())
        .split("\n")[-1]
        .startswith(f"{timings['games']:,} games in {timings['seconds']:,.0f} s")
    )


# -- the fit -------------------------------------------------------------------------------------


def test_the_fit_stands_under_its_headings() -> None:
    text = "\n".join(fit_section(report(), {}))
    fits = {one["id"]: one["fit"] for one in data()["studies"] if one["fit"]}
    titles = ["study", "condition", "time of a move", "cells", "chi-square per cell"]
    *rows, _ = markdown_rows(text, *titles, "totals outside 95 %")
    for row, (id, fit) in zip(rows, fits.items(), strict=True):
        outside = sum(abs(cell["z"]) > 1.96 for cell in fit["totals"])
        time = row.pop("time of a move")
        assert time.startswith(f"{fit['time'] / 1000:g} ms")
        assert row == {
            "study": f"[{id}](#{id})",
            "condition": fit["condition"],
            "cells": str(len(fit["cells"])),
            "chi-square per cell": per_cell(fit["cells"]),
            "totals outside 95 %": f"{outside} of {len(fit['totals'])}",
        }
    titles = ["study", "expected of pairs", "p", "p by opponent", "p of totals"]
    assert markdown_rows(text, *titles) == [
        {
            "study": f"[{id}](#{id})",
            "expected of pairs": f"{fit['expected']:.2f}",
            "p": f"{fit['p_value']:.2f}",
            "p by opponent": f"{fit['opponents_p']:.2g}",
            "p of totals": f"{fit['totals_p']:.2f}",
        }
        for id, fit in fits.items()
    ]


@pytest.mark.parametrize("id", IDS)
def test_conditions_that_were_tried_stand_under_their_headings(id: str) -> None:
    told, found = study(id)
    fit = told["fit"]
    text = "\n".join(conditions_of(found))
    best = max(one["loglikelihood"] for one in fit["tried"])
    columns = ["variant", "could be", "best time", "chi-square per cell", "log-likelihood"]
    assert markdown_rows(text, *columns) == [
        {
            "variant": one["variant"],
            "could be": "yes" if one["plausible"] else "no",
            "best time": f"{one['time'] / 1000:g} ms",
            "chi-square per cell": f"{one['chi_square'] / one['cells']:.2f}",
            "log-likelihood": "0"
            if one["loglikelihood"] == best
            else signed(one["loglikelihood"] - best, 1),
        }
        for one in fit["tried"]
    ]
    cells = fit["tried"][0]["cells"]
    for one in fit["times"]:
        per = one["chi_square"] / cells
        assert f"{one['time'] / 1000:g} ms: chi-square {per:.2f} per cell, log-like" in text
    assert (
        f"{fit['condition']}, {fit['time'] / 1000:g} ms a move: {fit['told']}. Chosen among "
        f"{fit['choices']} conditions; chi-square per cell {per_cell(fit['cells'])}."
    ) in text


@pytest.mark.parametrize("id", IDS)
def test_both_halves_of_a_cross_validation_are_told(id: str) -> None:
    told, found = study(id)
    halves = told["fit"]["halves"]
    text = "\n".join(conditions_of(found))
    assert len(halves) == 2
    assert sum(half["cells"] for half in halves) == len(told["fit"]["cells"])
    for half in halves:
        assert (
            f"{half['variant']} with {half['time'] / 1000:g} ms gives chi-square "
            f"{half['chi_square'] / half['cells']:.2f} per cell over {half['cells']} cells"
        ) in text


# -- a study -------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", IDS)
def test_published_and_measured_totals_stand_under_their_headings(id: str) -> None:
    told, found = study(id)
    text = "\n".join(study_section(found, report(), {}))
    headline = TITLES[report().headline]
    rows = markdown_rows(text, "games won in %", "published", headline, "ahead of improved")
    for row, one in zip(rows, told["rows"], strict=True):
        assert row["games won in %"] == f"`{one['heuristic']}`"
        shown = one["published"]
        low, high = shown["rate"]["low"], shown["rate"]["high"]
        assert row["published"] == (
            f"**{shown['figure']}** ({low:.1f}–{high:.1f}) in {shown['rate']['games']:,}"
        )
        measured = one["measured"].get(report().headline)
        if measured is None:
            assert row[headline] == "not reproducible"
            continue
        assert row[headline] == rate(measured["total"])
        ahead = "" if one["heuristic"] == "improved" else gap(measured["ahead"])
        assert row["ahead of improved"] == ahead


@pytest.mark.parametrize("id", IDS)
def test_budgets_and_opponents_stand_under_their_headings(id: str) -> None:
    told, found = study(id)
    text = "\n".join(study_section(found, report(), {}))
    budgets = data()["budgets"]
    rows = markdown_rows(text, "games won in %", *(TITLES[budget] for budget in budgets))
    for row, one in zip(rows, told["rows"], strict=True):
        assert row["games won in %"] == f"`{one['heuristic']}`"
        for budget in budgets:
            measured = one["measured"].get(budget)
            cell = row[TITLES[budget]]
            if measured is None:
                assert cell == "not reproducible"
            else:
                assert cell == f"{rate(measured['total'])}<br>{measured['nodes']:,} nodes"
    for budget in budgets:
        part = text.partition(f"Opponent by opponent, {TITLES[budget]}:")[2]
        rows = markdown_rows(part, "games won in %", *told["opponents"], "total")
        measured = [one for one in told["rows"] if budget in one["measured"]]
        for row, one in zip(rows, measured, strict=True):
            assert row["games won in %"] == f"`{one['heuristic']}`"
            assert row["total"] == rate(one["measured"][budget]["total"])
            for at, name in enumerate(told["opponents"]):
                cell = row[name]
                assert cell.partition("<br>")[0] == rate(one["measured"][budget]["against"][at])
                if one["published"]["wins"]:
                    of = one["published"]["games_against"]
                    shown = one["published"]["against"][at]
                    assert cell.endswith(
                        f"<br>published {one['published']['wins'][at]}/{of} "
                        f"({shown['low']:.0f}–{shown['high']:.0f})"
                    )


@pytest.mark.parametrize("id", IDS)
def test_claims_stand_beside_their_own_verdicts(id: str) -> None:
    told, found = study(id)
    text = "\n".join(study_section(found, report(), {}))
    first = report().headline
    rows = markdown_rows(text, "claim", f"verdict, {TITLES[first]}", "found", "differs at")
    assert [row["claim"].replace("\\|", "|") for row in rows] == [
        one["sentence"] for one in told["claims"]
    ]
    for row, claim in zip(rows, found.claims, strict=True):
        if claim.once:
            assert row[f"verdict, {TITLES[first]}"] == claim.once.mark
            assert row["found"] in (claim.once.words, claim.once.measured())
            assert row["differs at"] == ""
        elif claim.verdicts:
            assert row[f"verdict, {TITLES[first]}"] == claim.mark(first)
            assert row["found"] == claim.difference(first)
            differs = [b for b in report().budgets if claim.mark(b) not in ("", claim.mark(first))]
            assert row["differs at"] == ", ".join(
                f"{MARKS[claim.verdicts[budget].verdict]} {TITLES[budget]}" for budget in differs
            )


@pytest.mark.parametrize("id", IDS)
def test_printed_cells_stand_under_their_opponents(id: str) -> None:
    """Check that each cell is under its opponent, with made-up numbers that all differ."""
    _, found = study(id)
    tables = [one for one in found.printed if one.cells]
    for one in tables:
        numbers = count(10)
        cells = {
            heuristic: tuple(f"{next(numbers)}|3" for _ in found.opponents)
            for heuristic in one.heuristics
        }
        rates = {heuristic: f"{next(numbers)}.5" for heuristic in one.heuristics}
        changed = replace(found, printed=(replace(one, cells=cells, rates=rates),), examples=())
        rows = markdown_rows(
            "\n".join(printed_section(changed)), "games", *found.opponents, "win rate in %"
        )
        heading = f"**{one.name}** ({one.place}), tournament {one.tournament}"
        assert heading in list(printed_section(changed))
        for row, heuristic in zip(rows, one.heuristics, strict=True):
            assert row.pop("games").startswith(f"`{heuristic}`")
            assert row.pop("win rate in %") == rates[heuristic]
            assert list(row.values()) == [cell.replace("|", "–") for cell in cells[heuristic]]


@pytest.mark.parametrize("id", IDS)
def test_printed_rates_stand_under_their_heuristics(id: str) -> None:
    """Check that each win rate is under its heuristic, with made-up numbers that all differ."""
    _, found = study(id)
    bare = [one for one in found.printed if not one.cells]
    numbers = count(10)
    changed = tuple(
        replace(one, rates={name: f"{next(numbers)}.5" for name in one.heuristics}) for one in bare
    )
    names = list(dict.fromkeys(name for one in changed for name in one.heuristics))
    if not names:
        return
    text = "\n".join(printed_section(replace(found, printed=changed, examples=())))
    rows = markdown_rows(text, "win rates in %", *(f"`{name}`" for name in names))
    for row, one in zip(rows, changed, strict=False):
        assert row.pop("win rates in %") == f"{one.name} ({one.place})"
        assert list(row.values()) == [one.rates.get(name, "illegible") for name in names]
    averages = {row.heuristic: row.published.average for row in found.rows}
    if len(rows) > len(changed):
        assert list(rows[-1].values()) == ["average", *(averages[name] or "" for name in names)]


def test_wishes_stand_under_their_budgets() -> None:
    seen = 0
    for id in IDS:
        told, found = study(id)
        text = "\n".join(wishes_section(found, report()))
        for number, wish in enumerate(told["wishes"], 1):
            compared = wish["comparisons"]
            if not compared or not compared[0]["gaps"]:
                continue
            seen += 1
            budgets = [budget for budget in data()["budgets"] if budget in compared[0]["gaps"]]
            titles = {
                budget: f"{TITLES[budget]}, {compared[0]['rates'][budget]['games']:,} games"
                for budget in budgets
            }
            part = text.partition(f"**Wish {number}. ")[2]
            rows = markdown_rows(part, "wished", "against", *titles.values())
            for row, one in zip(rows, compared, strict=True):
                assert (row["wished"], row["against"]) == (f"`{one['who']}`", f"`{one['than']}`")
                for budget, title in titles.items():
                    wins = rate(one["rates"][budget])
                    assert row[title] == f"{gap(one['gaps'][budget])}<br>wins {wins} %"
    assert seen


# -- all studies -----------------------------------------------------------------------------------


def test_the_league_stands_under_its_headings() -> None:
    league = data()["league"]
    text = "\n".join(league_section(report(), {"league": "a chart", "grades": "another"}))
    number = len(next(iter(league["ratings"].values())))
    assert f"All {number} heuristics, each couple {league['pairs']} pairs with" in text
    assert "ratings are Elo above `improved`, ± 95 %." in text
    assert "![a chart](league.svg)" in text
    assert "![another](grades.svg)" in text
    assert '<a id="league"></a>One league of all' in text
    budgets = [budget for budget in TITLES if budget in league["ratings"]]
    ratings = {
        budget: {row["heuristic"]: row for row in league["ratings"][budget]} for budget in budgets
    }
    grades = {one["heuristic"]: one for one in league["grades"]}
    titles = [f"Elo, {TITLES[budget]}" for budget in budgets]
    rows = markdown_rows(text, "heuristic", *titles, "wins kept, %")
    assert len(rows) == len(league["ratings"][budgets[0]])
    for row in rows:
        id = row["heuristic"].strip("`")
        for budget, title in zip(budgets, titles, strict=True):
            one = ratings[budget][id]
            assert row[title] == plus_minus(one["elo"], one["error"])
        grade = grades.get(id)
        kept = "" if grade is None else f"{grade['kept']:.1f} ± {grade['error']:.1f}"
        assert row["wins kept, %"] == kept
    columns = ("budget", "heuristics", "Spearman", "95 %", "Kendall")
    assert markdown_rows(text, *columns) == [
        {
            "budget": TITLES[budget],
            "heuristics": str(one["heuristics"]),
            "Spearman": signed(one["spearman"], 2),
            "95 %": f"{signed(one['low'], 2)} to {signed(one['high'], 2)}",
            "Kendall": signed(one["kendall"], 2),
        }
        for budget, one in league["correlations"].items()
    ]


def test_the_chart_of_grades_has_the_ratings_at_equal_nodes() -> None:
    league = report().league
    assert league is not None
    elo = {row.heuristic: row.elo for row in league.ratings["nodes"]}
    axes = grade_chart(league).axes[0]
    assert axes.get_title("left").startswith(
        f"Spearman {league.correlations['nodes'].spearman:.2f}"
    )
    named = {text.get_text(): text.xy[1] for text in axes.texts if text.get_text()}
    assert named == {name: elo[name] for name in named}
    assert len(named) > 2


def test_needed_games_stand_under_their_numbers() -> None:
    found = report().needed
    numbers = count(1)
    curves = tuple(
        replace(curve, chances=tuple(next(numbers) / 100 for _ in curve.chances))
        for curve in found.curves
    )
    found = replace(found, curves=curves)
    needed = asdict(found)
    text = "\n".join(needed_section(found, {}))
    sizes = [f"{games:,}" for games in needed["sizes"]]
    rows = markdown_rows(text, "really apart by", "couples", *sizes, "for 95 %")
    for row, curve in zip(rows, needed["curves"], strict=True):
        assert row["couples"] == str(curve["couples"])
        assert [row[size] for size in sizes] == [f"{100 * one:.0f} %" for one in curve["chances"]]
        assert row["for 95 %"] == (f"{curve['needed']:,}" if curve["needed"] else "more")
    assert (
        f"{needed['told_apart']} are told apart by all games together (corrected for their number) "
        f"and {needed['not_told_apart']} are not"
    ) in text


def test_what_resigning_costs_stands_under_its_headings() -> None:
    sweep = data()["sweep"]
    text = "\n".join(resigning_section(report(), {}))
    titles = ["time of a move", "nodes", *sweep["opponents"], "games given up"]
    rows = markdown_rows(text, *titles)
    for at, row in enumerate(rows):
        forfeits = sweep["forfeits"][at]
        assert row == {
            "time of a move": f"{sweep['times'][at] / 1000:g} ms",
            "nodes": f"{sweep['nodes'][at]:,}",
            **{
                name: f"{gave['rate']:.0f} / {kept['rate']:.0f}"
                for name, gave, kept in zip(
                    sweep["opponents"], sweep["resigning"][at], sweep["playing_on"][at], strict=True
                )
            },
            "games given up": f"{sum(forfeits) / len(forfeits):.0f} %",
        }
    assert len(rows) == len(sweep["times"])
    totals = {
        how: [sum(one["rate"] for one in row) / len(row) for row in (sweep[how][0], sweep[how][-1])]
        for how in ("playing_on", "resigning")
    }
    assert (
        f"From {sweep['times'][0] / 1000:g} to {sweep['times'][-1] / 1000:g} ms the agent that "
        "plays on goes from {:.1f} to {:.1f} %, the one that resigns from {:.1f} to {:.1f} %."
    ).format(*totals["playing_on"], *totals["resigning"]) in text
    seen = 0
    for id in IDS:
        told, _ = study(id)
        _, _, part = text.partition(f"The {id} study: games given up")
        if not part:
            continue
        seen += 1
        ends = ["of all games", "as played", "never resigning", "gain"]
        by_name = {one["heuristic"]: one["measured"] for one in told["rows"]}
        for row in markdown_rows(part, "heuristic", *told["opponents"], *ends):
            played, never = (by_name[row["heuristic"].strip("`")][of] for of in ("course", "never"))
            shares = [f"{share:.0f} %" for share in played["forfeits"]]
            assert [row[name] for name in told["opponents"]] == shares
            total = sum(played["forfeits"]) / len(played["forfeits"])
            before, after = played["total"]["rate"], never["total"]["rate"]
            assert [row[end] for end in ends] == [
                f"{total:.0f} %", f"{before:.1f}", f"{after:.1f}", signed(after - before, 1),
            ]  # fmt: skip
    assert seen
