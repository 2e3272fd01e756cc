"""Tests that the tables of learning reports agree with their JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from printed_table import markdown_rows, printed_rows

from knightfall.display.numbers import interval, percent, plus_minus, signed
from knightfall.heuristics.model_file import VIEWS
from knightfall.learning.dataset_card import readme
from knightfall.learning.fit_reply_model import ChancesReport, ReplyLikelihoods
from knightfall.learning.fitting import FitReport
from knightfall.learning.tune_report import Confirmation, Step, TuneReport
from knightfall.learning.tune_settings import Sum, TuneSettings, numbers, read_sum
from knightfall.opponents.opponent_models import FEATURE_NAMES, OPPONENTS, Chances
from knightfall.statistics.pairs import of_pairs

# -- chances ---------------------------------------------------------------------------------


def test_the_chances_stand_under_their_headings() -> None:
    judged = [
        ReplyLikelihoods(
            "known", 1234, 0.1, -1.5, -1.4, -1.3, -1.2, ((0.11, 0.12, 31), (0.21, 0.22, 32))
        ),
        ReplyLikelihoods(
            "unseen", 987, 0.2, -2.5, -2.4, -2.3, -2.2, ((0.31, 0.32, 33), (0.41, 0.42, 34))
        ),
    ]
    habits = np.arange(1, len(FEATURE_NAMES) + 1) / 10
    shares = tuple((at + 1) / 100 for at in range(len(OPPONENTS)))
    found = ChancesReport(Chances(habits, shares), 777, judged, "there", 5, 61.0)
    told, shown = found.to_dict(), str(found)
    above, _, below = shown.partition("Probability of losing the win")
    fields = {
        "any reply alike": "any_reply",
        "winning replies alike, with a rate of errors": "winning_replies",
        "the stranger": "stranger",
        "all opponents, by Bayes' rule": "opponents",
    }
    known, unseen = told["judged"]
    assert printed_rows(above, "known", "unseen") == [
        *(
            {"column 1": name, "known": f"{known[key]:.3f}", "unseen": f"{unseen[key]:.3f}"}
            for name, key in fields.items()
        ),
        {"column 1": "decisions", "known": "1,234", "unseen": "987"},
    ]
    assert printed_rows(below, "known", "unseen") == [
        {
            "column 1": f"group {at + 1}",
            **{
                one["hunters"]: "{:.1%} → {:.1%} of {}".format(*one["groups"][at]).replace(
                    "%", " %"
                )
                for one in told["judged"]
            },
        }
        for at in range(2)
    ]
    assert printed_rows(shown, "of a reply", "weight") == [
        {"of a reply": name, "weight": f"{weight:+.2f}"} for name, weight in told["habits"].items()
    ]
    assert printed_rows(shown, "opponent", "share") == [
        {"opponent": name, "share": percent(share)} for name, share in told["shares"].items()
    ]
    assert list(told["habits"].values()) == list(habits)
    assert list(told["shares"].values()) == list(shares)
    assert (told["learned_from"], told["seed"], told["seconds"]) == (777, 5, 61.0)
    assert shown.endswith("Learned from 777 decisions; written to there in 61.0 s.")
    assert known["groups"] == ((0.11, 0.12, 31), (0.21, 0.22, 32))


# -- fit -------------------------------------------------------------------------------------


def of_view(at: int) -> dict[str, Any]:
    return {
        "positions": 1000 + at,
        "won": 0.51 + at / 100,
        "log-loss": 0.31 + at / 100,
        "log-loss of the share alone": 0.61 + at / 100,
        "area": 0.71 + at / 100,
        "right": 0.81 + at / 100,
    }


def test_a_fit_s_figures_stand_under_their_headings() -> None:
    found = FitReport("data", "there", 3, seconds=12.0)
    found.judged = {
        "linear": {"hunter": of_view(1), "runner": of_view(2)},
        "net": {"hunter": of_view(3), "runner": of_view(4)},
    }
    found.ablations = {
        "reach": {"hunter": 0.41, "runner": 0.42},
        "near": {"hunter": 0.43, "runner": 0.44},
    }
    told = found.to_dict()
    titles = ("model", "view", "positions", "won", "log-loss", "by the share", "area", "right")
    assert printed_rows(str(found), *titles) == [
        {
            "model": model,
            "view": view,
            "positions": f"{one['positions']:,}",
            "won": percent(one["won"]),
            "log-loss": f"{one['log-loss']:.4f}",
            "by the share": f"{one['log-loss of the share alone']:.4f}",
            "area": f"{one['area']:.4f}",
            "right": percent(one["right"]),
        }
        for model, views in told["judged"].items()
        for view, one in views.items()
    ]
    assert printed_rows(str(found), "left out", "hunter", "runner") == [
        {"left out": group, "hunter": f"{of['hunter']:.4f}", "runner": f"{of['runner']:.4f}"}
        for group, of in told["ablations"].items()
    ]
    assert (told["data"], told["seed"], told["seconds"]) == ("data", 3, 12.0)
    assert str(found).endswith("Written to there in 12.0 s.")


def test_a_fit_draws_its_curves_and_calibrations() -> None:
    pytest.importorskip("matplotlib")
    found = FitReport("data", "there", 3, seconds=12.0)
    found.curves = {
        view: {
            "training": [0.61 - at / 100, 0.51, 0.41],
            "validation": [0.62 - at / 100, 0.52, 0.45],
        }
        for at, view in enumerate(VIEWS)
    }
    found.judged = {
        kind: {
            view: {"calibration": [{"predicted": 0.1 * at, "won": 0.2 * at + shift}]}
            for at, view in enumerate(VIEWS)
        }
        for kind, shift in (("linear", 0.01), ("net", 0.02))
    }
    losses, calibration = found.plot().axes
    assert losses.get_position().x1 < calibration.get_position().x0
    drawn = [(line.get_linestyle(), *line.get_data()) for line in losses.lines]
    assert [(style, list(x), list(y)) for style, x, y in drawn] == [
        (style, [1, 2, 3], curve[key])
        for curve in found.curves.values()
        for style, key in ((":", "training"), ("-", "validation"))
    ]
    assert legend_of(losses) == list(VIEWS)
    even, *models = calibration.lines
    assert [list(one) for one in even.get_data()] == [[0, 1], [0, 1]]
    assert [(line.get_label(), *map(list, line.get_data())) for line in models] == [
        (f"{kind}, {view}", [one["predicted"]], [one["won"]])
        for kind, views in found.judged.items()
        for view, judged in views.items()
        for one in judged["calibration"]
    ]
    assert legend_of(calibration) == [line.get_label() for line in models]
    for axes in (losses, calibration):  # a view has one colour throughout
        named = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        colours = [line.get_color() for line in named]
        assert colours == colours[: len(VIEWS)] * (len(colours) // len(VIEWS))
        assert len(set(colours)) == len(VIEWS)
    found.curves = {}
    assert found.plot().axes[0].get_legend() is None


def legend_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


# -- tune ------------------------------------------------------------------------------------


def tuned() -> TuneReport:
    given, better = (
        read_sum("improved+0.5*bfs_reach-3*center"),
        read_sum("improved+2*bfs_reach-7*center"),
    )
    settings = TuneSettings.of(
        "improved+0.5*bfs_reach-3*center", nodes=70, second=210, generations=3, population=5,
        pairs=7, seed=9, sprt=(-4.0, 25.0),
    )  # fmt: skip
    confirmations = [
        Confirmation(70, (11, 42, 37), of_pairs((11, 0, 42, 0, 37)), 2.51, "gained"),
        Confirmation(210, (15, 40, 19), of_pairs((15, 0, 40, 0, 19)), -0.73, "cannot tell"),
    ]
    steps = [Step(given, 0.41, 0.52, better), Step(better, 0.61, 0.72, given)]
    return TuneReport(settings, Sum(given, (0.4, 0.7)), better, steps, confirmations, "there", 31.0)


def test_a_tuning_s_weights_stand_under_their_headings() -> None:
    found = tuned()
    told = found.to_dict()
    names = [one.name for one in numbers(read_sum(told["given"]))]
    values = [
        [float(one.value) for one in numbers(read_sum(told[key]))] for key in ("given", "tuned")
    ]
    assert values == [[1, 0.5, -3], [1, 2, -7]]
    assert told["sizes"] == [2 / 0.4, -7 / 0.7]
    rows = printed_rows(str(found), "term", "given", "tuned", "size", rows=3)
    assert [row["term"] for row in rows] == names
    for key, wanted in zip(("given", "tuned"), values, strict=True):
        assert [float(row[key].replace("−", "-")) for row in rows] == wanted
    assert [row["size"] for row in rows] == ["1.00", "5.00", "-10.00"]


def test_a_confirmation_s_figures_stand_under_their_headings() -> None:
    found = tuned()
    told = found.to_dict()["confirmations"]
    titles = ("budget", "LL, WL, WW", "won", "95 %", "Elo", "LLR", "verdict")
    assert printed_rows(str(found), *titles) == [
        {
            "budget": f"nodes={one['nodes']}",
            "LL, WL, WW": ", ".join(map(str, one["pairs"])),
            "won": percent(one["score"]),
            "95 %": interval(one["low"], one["high"]),
            "Elo": plus_minus(one["elo"], one["elo_error"]),
            "LLR": signed(one["llr"], 2),
            "verdict": one["verdict"],
        }
        for one in told
    ]
    assert "; LLR: log-likelihood ratio" in str(found)
    assert [one["pairs"] for one in told] == [[11, 42, 37], [15, 40, 19]]
    figures = of_pairs((11, 0, 42, 0, 37))
    for key in ("score", "low", "high", "elo", "elo_error", "nelo", "nelo_error"):
        assert told[0][key] == getattr(figures, key)


def test_a_gain_at_one_budget_only_is_told_beside_the_verdict() -> None:
    found = tuned()
    first, second = found.confirmations
    found.confirmations = [first, replace(second, verdict="nothing was gained")]
    assert found.words == (
        "Nothing was gained: at nodes=210 the given weights are as good; a gain of -4 normalized "
        "Elo explains the results better than a gain of 25. The tuned weights are better only at "
        "nodes=70. The weights as given are kept."
    )


def test_a_tuning_tells_its_settings_and_generations_in_their_places() -> None:
    found = tuned()
    told = found.to_dict()
    assert str(found).split("\n")[0] == (
        "3 generations of 5 on 7×7 at nodes=70, 210 games · seed 9"
    )
    assert [(one["score"], one["best"]) for one in told["generations"]] == [
        (0.41, 0.52),
        (0.61, 0.72),
    ]
    first, second = told["generations"]
    assert (first["mean"], first["candidate"]) == (told["given"], told["tuned"])
    assert (second["mean"], second["candidate"]) == (told["tuned"], told["given"])
    assert told["units"] == [0.4, 0.7]
    assert told["verdict"] == "cannot tell"
    assert "at nodes=210 without a decision between -4 and 25 normalized Elo" in told["words"]
    assert told["expression"] == told["given"]
    assert str(found).split("\n")[-2:] == [
        f"Play it: id({told['given']}, nodes=70)",
        "Written to there in 31.0 s.",
    ]


def test_a_tuning_draws_its_weights_and_scores() -> None:
    pytest.importorskip("matplotlib")
    found = tuned()
    weights, scores = found.plot().axes
    assert weights.get_position().x1 < scores.get_position().x0
    means = [found.settings.given, *(step.mean for step in found.steps)]
    *lines, zero = weights.lines
    assert list(zero.get_ydata()) == [0, 0]
    assert legend_of(weights) == [line.get_label() for line in lines] == ["bfs_reach", "center"]
    for at, line in enumerate(lines):
        assert list(line.get_xdata()) == [0, 1, 2]
        assert list(line.get_ydata()) == [found.sum.sizes_of(mean)[at] for mean in means]
    best, every = scores.lines[:2]
    assert legend_of(scores) == ["best", "all"]
    assert list(best.get_xdata()) == list(every.get_xdata()) == [1, 2]
    assert list(best.get_ydata()) == pytest.approx([52, 72])
    assert list(every.get_ydata()) == pytest.approx([41, 61])
    assert list(scores.lines[2].get_ydata()) == [50, 50]


# -- the card of a set of positions ------------------------------------------------------------


COUNTED = ("board", "split", "role", "phase", "positions", "wins")


def test_the_card_s_tables_stand_under_their_headings() -> None:
    card: dict[str, Any] = {
        "command": "knightfall learn data there", "version": "1.2", "labelled": 9001, "games": 302,
        "duplicates": 403, "kept": 8598, "wins": 0.513, "result_is_truth": 0.784,
        "splits": {"train": 7001, "test": 802}, "openings": {"train": 91, "test": 12},
        "across_splits": 55, "seconds": 3601.0, "labelled_an_hour": 8999,
        "counts": [
            dict(zip(COUNTED, ("7x7", "train", "hunter", "end", 44, 0.61), strict=True)),
            dict(zip(COUNTED, ("5x5", "test", "runner", "opening", 45, 0.37), strict=True)),
        ],
        "agents": {"random": 81, "id(main, nodes=5)": 82},
    }  # fmt: skip
    page = readme(card)
    assert markdown_rows(page, "split", "positions", "openings") == [
        {
            "split": name,
            "positions": f"{card['splits'][name]:,}",
            "openings": str(card["openings"][name]),
        }
        for name in card["splits"]
    ]
    titles = ("board", "split", "mover", "phase", "positions", "mover wins")
    assert markdown_rows(page, *titles) == [
        {
            "board": row["board"],
            "split": row["split"],
            "mover": row["role"],
            "phase": row["phase"],
            "positions": str(row["positions"]),
            "mover wins": percent(row["wins"]),
        }
        for row in card["counts"]
    ]
    assert markdown_rows(page, "agent to move", "positions") == [
        {"agent to move": name, "positions": str(times)} for name, times in card["agents"].items()
    ]
    for sentence in (
        "knightfall 1.2: 9,001 positions of 302 games, of which 403 were duplicates",
        "8,598 are left. The mover wins 51.3 % of them with best play, and in 78.4 % the game's",
        "It took 3,601 seconds of one process, 8,999 positions an hour.",
        "55 positions occur in several splits",
    ):
        assert sentence in page
