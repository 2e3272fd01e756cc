"""Charts show the numbers that the games give, and the same run always gives the same file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from chart_runs import (
    QUICK,
    SPRT,
    decided,
    five,
    found_in,
    league_plan,
    match_plan,
    naive_pairs,
    play,
    tournament_of,
)
from helpers import at_length
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.figure import Figure

from knightfall.arena.chart_style import image, labels, save, shortened
from knightfall.arena.charts import CHARTS, _share_axis, charts_for, draw
from knightfall.arena.plan import Entrant, Match, Plan, enter, gauntlet
from knightfall.arena.results import Results, results
from knightfall.arena.store import Store
from knightfall.arena.worth import worth_plan
from knightfall.errors import KnightfallError
from knightfall.statistics import pairs as statistics
from knightfall.statistics import ratings
from knightfall.statistics.sprt import Sprt


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("charts") / "store.sqlite") as opened:
        yield opened


@pytest.fixture(scope="module")
def league(store: Store) -> Results:
    return results(play(store, league_plan()))


@pytest.fixture(scope="module")
def tested(store: Store) -> Results:
    return results(play(store, match_plan(stop=SPRT)))


@pytest.fixture(scope="module")
def tournament(store: Store) -> Results:
    plan = tournament_of(["greedy(improved)", "random", "greedy(open)"], ["random", QUICK[2]])
    return results(play(store, plan))


def dots(axes: Axes) -> tuple[Any, Any]:
    """Return the values of the only error bars in the axes, and the ends of the bars."""
    (container,) = axes.containers
    line, _, (bars,) = container
    assert isinstance(bars, LineCollection)
    return np.array(line.get_data()), np.array(bars.get_segments())


def names_beside(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def text_of(figure: Figure) -> str:
    texts = [artist.get_text() for artist in figure.findobj(matplotlib.text.Text)]  # type: ignore[attr-defined]
    return "\n".join(texts)


# -- ratings --------------------------------------------------------------------------------------


def of_records(found: Results) -> ratings.Ratings:
    """Return the ratings of a league, computed from its pairs one by one."""
    matches, every = found.run.plan.matches, list(found.run.pairs())
    pairs = [(matches[pair.task.number % len(matches)], pair.games) for pair in every]
    fens = list(dict.fromkeys(pair.task.opening for pair in every))
    assert len(fens) == 6  # each opening occurs in every match
    return ratings.of_pairs(
        len(found.entrants),
        ratings.Pairs(
            np.array([match.a for match, _ in pairs]),
            np.array([match.b for match, _ in pairs]),
            np.array([2 * (w.winner == "w") + (b.winner == "b") for _, (w, b) in pairs]),
            opening=np.array([fens.index(pair.task.opening) for pair in every]),
        ),
    )


def test_ratings_have_the_best_on_top_and_their_errors(league: Results) -> None:
    figure = draw("ratings", league)
    (axes,) = figure.axes
    expected = of_records(league)
    order = sorted(range(len(QUICK)), key=lambda at: -expected.elo[at])
    (elo, rows), bars = dots(axes)
    assert list(elo) == pytest.approx([expected.elo[at] for at in order])
    assert len(set(elo)) > 3
    bottom, top = axes.get_ylim()
    assert bottom > top  # row 0 is on top
    assert list(rows) == [0, 1, 2, 3, 4]
    assert names_beside(axes) == [league.entrants[at].name for at in order]
    for at, ((left, y), (right, _)) in zip(order, bars, strict=True):
        assert left == pytest.approx(expected.elo[at] - expected.error(at))
        assert right == pytest.approx(expected.elo[at] + expected.error(at))
        assert y == order.index(at)
    shown = text_of(figure)
    for part in (f"run {league.run.id} ", "4×4", "120 games", "Ratings of 5 agents"):
        assert part in shown
    assert f"± {expected.error(order[0]):.0f}" in shown


def test_a_tournament_rates_everybody_once_and_the_baseline_is_zero(tournament: Results) -> None:
    (axes,) = draw("ratings", tournament).axes
    assert sorted(names_beside(axes)) == sorted(
        ["greedy(improved)", "random", "greedy(open)", "minimax(open, depth=1)"]
    )
    (elo, _), bars = dots(axes)
    at = names_beside(axes).index("greedy(improved)")
    assert elo[at] == 0
    assert bars[at][0][0] == bars[at][1][0] == 0
    assert list(elo) == sorted(elo, reverse=True)
    assert "greedy(improved) = 0" in axes.get_xlabel()


def test_what_results_do_not_limit_does_not_stretch_the_axis(store: Store) -> None:
    entrants = league_plan().entrants[:4]
    strangers = Plan("league", entrants, (Match(0, 1), Match(2, 3)), 10, board="4x4")
    figure = draw("ratings", results(play(store, strangers)))
    (axes,) = figure.axes
    (elo, _), bars = dots(axes)
    assert (np.ptp(bars[:, :, 0], axis=1) > 15_000).all()
    assert np.diff(axes.get_xlim())[0] < 4 * max(np.ptp(elo), 100)
    assert axes.get_xlim()[0] < min(elo)
    assert max(elo) < axes.get_xlim()[1]
    assert "± ∞" in text_of(figure)


# -- who beats whom -------------------------------------------------------------------------------


def naive_rates(found: Results, rows: list[int], columns: list[int]) -> tuple[Any, Any]:
    rates, sure = np.full((2, len(rows), len(columns)), np.nan)
    for (a, b), scores in naive_pairs(found.run).items():
        low, high = statistics.rate_interval(five(scores))
        rate = 50 * sum(scores) / len(scores)
        for row, column, share in ((a, b, rate), (b, a, 100 - rate)):
            if row in rows and column in columns:
                where = rows.index(row), columns.index(column)
                rates[where], sure[where] = share, not low <= 0.5 <= high
    return rates, sure


def check_map(axes: Axes, rates: Any, sure: Any) -> None:
    (mesh,) = (artist for artist in axes.collections if isinstance(artist, QuadMesh))
    drawn = mesh.get_array()
    assert drawn is not None
    assert np.allclose(np.ma.filled(drawn.reshape(rates.shape), np.nan), rates, equal_nan=True)
    assert mesh.get_clim() == (0, 100)
    written = {}
    for text in axes.texts:
        column, row = (int(place) for place in text.get_position())
        written[row, column] = text.get_text(), text.get_fontweight()
    expected = {
        (row, column): (f"{rates[row, column]:.0f}", "bold" if sure[row, column] else "normal")
        for row, column in np.argwhere(~np.isnan(rates))
    }
    assert written == expected
    assert axes.yaxis_inverted()


def test_the_crosstable_has_every_win_rate(league: Results) -> None:
    (axes,) = draw("crosstable", league).axes
    elo = of_records(league).elo
    order = sorted(range(len(QUICK)), key=lambda at: -elo[at])
    rates, sure = naive_rates(league, order, order)
    assert np.isnan(rates).sum() == len(QUICK)  # the diagonal
    check_map(axes, rates, sure)
    assert set(sure[~np.isnan(rates)]) == {0.0, 1.0}
    called = [league.entrants[at].name for at in order]
    assert names_beside(axes) == [f"{name}  {at}" for at, name in enumerate(called, start=1)]
    assert [label.get_text() for label in axes.get_xticklabels()] == list("12345")


def test_who_did_not_meet_has_an_empty_cell(store: Store) -> None:
    plan = league_plan(pairs=2, seed=7)
    plan = Plan("league", plan.entrants, gauntlet(plan.entrants, 1), 2, seed=7, board="4x4")
    (axes,) = draw("crosstable", results(play(store, plan))).axes
    assert len(axes.texts) == 2 * 4


def test_a_tournament_shows_rates_and_opponents(tournament: Results) -> None:
    figure = draw("tournament", tournament)
    whole, each = figure.axes
    scores: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for (a, _), won in naive_pairs(tournament.run).items():
        scores[a] += won
    order = sorted(scores, key=lambda at: (-sum(scores[at]), at))
    (rate, rows), bars = dots(whole)
    assert list(rows) == [0, 1, 2]
    for row, at in enumerate(order):
        low, high = statistics.rate_interval(five(scores[at]))
        assert rate[row] == pytest.approx(50 * sum(scores[at]) / len(scores[at]))
        assert bars[row][:, 0] == pytest.approx([100 * low, 100 * high])
    full = ["greedy(improved)", "random", "greedy(open)"]
    assert [entrant.name for entrant in tournament.entrants[:3]] == full
    assert names_beside(whole) == [("improved", "random", "open")[at] for at in order]
    assert "heuristics play as greedy(…)" in text_of(figure)
    check_map(each, *naive_rates(tournament, order, [3, 4]))
    assert [label.get_text() for label in each.get_xticklabels()] == ["random", "open"]
    assert "opponents play as minimax(…, depth=1)" in text_of(figure)
    assert "3 test agents against 2 opponents" in text_of(figure)


# -- a match --------------------------------------------------------------------------------------


def test_the_path_of_a_test_and_its_bounds(tested: Results) -> None:
    figure = draw("llr", tested)
    (axes,) = figure.axes
    ((scores),) = naive_pairs(tested.run).values()
    test = Sprt(-10, 40, alpha=0.1, beta=0.1, model="logistic")
    path, end, *lines = axes.lines
    assert list(path.get_xdata()) == list(range(len(scores) + 1))
    naive = [test.llr(five(scores[:pairs])) for pairs in range(len(scores) + 1)]
    assert list(path.get_ydata()) == pytest.approx(naive)
    assert len({round(llr, 6) for llr in naive}) > 5
    assert (end.get_xdata()[0], end.get_ydata()[0]) == (len(scores), naive[-1])
    levels = sorted(float(line.get_ydata()[0]) for line in lines)
    assert levels == pytest.approx([test.bounds[0], 0, test.bounds[1]])
    where = {text.get_text(): text.xy[1] for text in axes.texts}  # type: ignore[attr-defined]
    assert where["H1: better by 40 Elo"] == pytest.approx(test.bounds[1])
    assert where["H0: better by −10 Elo"] == pytest.approx(test.bounds[0])
    for text in axes.texts:  # each name stands inside of the chart
        edges = text.get_window_extent()
        assert axes.bbox.x0 < edges.x0 < edges.x1 < axes.bbox.x1
    low, high = axes.get_ylim()
    assert low < min(levels[0], *naive)
    assert high > max(levels[-1], *naive)
    assert high - low < 1.5 * (max(levels[-1], *naive) - min(levels[0], *naive))
    assert axes.get_xlim() == pytest.approx((0, 1.02 * len(scores)))


def check_share_axis(axes: Axes, ends: list[float]) -> None:
    low, high = min(45, *ends), max(55, *ends)
    spare = (high - low) / 20
    assert axes.get_ylim() == pytest.approx((max(-2, low - spare), min(102, high + spare)))


@pytest.mark.parametrize(("score", "end"), [(2, "H1 is accepted"), (0, "H0 is accepted")])
def test_the_hypothesis_that_is_accepted_is_named(score: int, end: str, tmp_path: Path) -> None:
    found = found_in(tmp_path / "s", match_plan(pairs=60, stop=SPRT), how=decided(score))
    assert end in text_of(draw("llr", found))


def test_the_running_score_and_its_band(tested: Results) -> None:
    (axes,) = draw("score", tested).axes
    ((scores),) = naive_pairs(tested.run).values()
    line = axes.lines[0]
    at = [int(pairs) for pairs in line.get_xdata()]
    assert at == list(range(1, len(scores) + 1))
    share = [50 * sum(scores[:pairs]) / pairs for pairs in at]
    assert list(line.get_ydata()) == pytest.approx(share)
    intervals = {pairs: statistics.rate_interval(five(scores[:pairs])) for pairs in at}
    corners = axes.collections[0].get_paths()[0].vertices
    for pairs, (low, high) in intervals.items():
        ends = sorted(corners[corners[:, 0] == pairs][:, 1])
        assert ends[0] == pytest.approx(100 * low)
        assert ends[-1] == pytest.approx(100 * high)
    # The axis holds all later intervals and the even score, with a twentieth to spare.
    ends = [100 * end for pairs in at if pairs >= 10 for end in intervals[pairs]]
    check_share_axis(axes, ends)
    assert axes.get_xlim() == pytest.approx((0, 1.02 * len(scores)))
    low, high = intervals[len(scores)]
    assert f"{share[-1]:.1f} % ({100 * low:.1f}–{100 * high:.1f})" in axes.get_title("left")


@pytest.mark.parametrize(("low", "high"), [(0, 100), (0, 30), (1, 47), (30, 60), (48, 52)])
def test_won_and_lost_have_axes_that_mirror_each_other(low: float, high: float) -> None:
    limits = []
    for ends in ((low, high), (100 - high, 100 - low)):
        axes = Figure().subplots()
        _share_axis(axes, *ends)
        limits.append(axes.get_ylim())
        check_share_axis(axes, list(ends))
    (bottom, top), (least, most) = limits
    assert (100 - most, 100 - least) == pytest.approx((bottom, top))
    assert min(bottom, least) >= -2  # per cent: there is nothing below 0


def test_a_long_match_is_thinned_to_its_last_pair(store: Store) -> None:
    entrants = league_plan(["random", "random(seed=3)"]).entrants
    found = results(play(store, Plan("match", entrants, (Match(0, 1),), 600, board="5x5")))
    line = draw("score", found).axes[0].lines[0]
    ((scores),) = naive_pairs(found.run).values()
    assert 300 < len(line.get_xdata()) <= 400
    assert line.get_xdata()[-1] == len(scores) == 600
    for at, share in zip(*line.get_data(), strict=True):
        assert share == pytest.approx(50 * sum(scores[: int(at)]) / at)


def test_pairs_that_were_repeated_do_not_count(store: Store) -> None:
    entrants = league_plan(["greedy(improved, seed=2)", "greedy(center, seed=2)"]).entrants
    plan = Plan("match", entrants, (Match(0, 1),), 20, board="4x4", repeats=2, stop=SPRT)
    found = results(play(store, plan))
    assert found.matches[0].repeats == 10
    for chart in ("score", "llr"):
        assert draw(chart, found).axes[0].lines[0].get_xdata()[-1] == 10


# -- budgets --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worth(store: Store) -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("knightfall.arena.worth.nodes_within", lambda *_: [(10, 30), (100, 300)])
        plan = worth_plan(
            "center", nodes=["10", "40", "160"], times=["2ms", "1ms"], board="4x4", pairs=8
        )
    return results(play(store, plan))


def test_worth_has_equal_nodes_on_the_left_and_equal_time_on_the_right(worth: Results) -> None:
    figure = draw("worth", worth)
    left, right = figure.axes
    scores = list(naive_pairs(worth.run).values())
    for axes, amounts, mine in (
        (left, [10, 40, 160], scores[:3]),
        (right, [1000, 2000], scores[3:]),
    ):
        (at, rate), bars = dots(axes)
        assert axes.get_xscale() == "log"
        assert list(at) == amounts
        assert list(rate) == pytest.approx([50 * sum(won) / len(won) for won in mine])
        for bar, won in zip(bars, mine, strict=True):
            assert bar[:, 1] == pytest.approx(
                [100 * end for end in statistics.rate_interval(five(won))]
            )
        assert any(list(line.get_ydata()) == [50, 50] for line in axes.lines)
    assert left.get_ylim() == right.get_ylim()
    check_share_axis(
        left, [100 * end for won in scores for end in statistics.rate_interval(five(won))]
    )
    assert "equal nodes" in left.get_title("left")
    assert "after paying for itself" in right.get_title("left")
    assert [label.get_text() for label in right.get_xticklabels()] == ["1 ms", "2 ms"]
    assert "What center is worth against improved" in text_of(figure)


def test_worth_without_time_is_one_panel(store: Store) -> None:
    plan = worth_plan("center", nodes=["1000"], times=[], board="4x4", pairs=2)
    (axes,) = draw("worth", results(play(store, plan))).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1,000"]


# -- charts for each kind of run ------------------------------------------------------------------


def test_every_chart_fits_some_run(
    league: Results, tested: Results, tournament: Results, worth: Results
) -> None:
    assert charts_for(league) == ("ratings", "crosstable")
    assert charts_for(tested) == ("llr", "score")
    assert charts_for(tournament) == ("tournament", "ratings")
    assert charts_for(worth) == ("worth",)
    every = {name for found in (league, tested, tournament, worth) for name in charts_for(found)}
    assert every == set(CHARTS)


def test_no_chart_has_a_colour_of_matplotlib_s_own(
    league: Results, tested: Results, tournament: Results, worth: Results
) -> None:
    """Check all lines, areas and texts: a drawing without a colour gets one of the default ones."""
    defaults = {to_hex(f"C{number}") for number in range(10)}
    for found in (league, tested, tournament, worth):
        for name in charts_for(found):
            for artist in draw(name, found).findobj():
                if getattr(artist, "get_array", lambda: None)() is not None:
                    continue  # its colours stand for values
                for get in ("get_color", "get_facecolor", "get_edgecolor"):
                    colours = getattr(artist, get, list)()
                    shown = {to_hex(one) for one in to_rgba_array(colours)}
                    assert not shown & defaults, (name, artist)


def test_what_does_not_fit_is_refused(league: Results, store: Store) -> None:
    with pytest.raises(KnightfallError, match=r"league.*no chart 'llr'; .* ratings, crosstable"):
        draw("llr", league)
    with pytest.raises(KnightfallError, match=r"unknown chart 'rating'.*did you mean 'ratings'"):
        draw("rating", league)
    match = results(play(store, match_plan(pairs=3)))
    with pytest.raises(KnightfallError, match=r"match without a sequential test.* has: score"):
        draw("llr", match)
    nothing = results(play(store, match_plan(pairs=4, seed=5), played=0))
    with pytest.raises(KnightfallError, match="no games yet"):
        draw("score", nothing)


def test_an_unfinished_run_says_so(store: Store) -> None:
    found = results(play(store, match_plan(seed=9), played=5))
    assert "10 games of 80" in text_of(draw("score", found))


# -- files ----------------------------------------------------------------------------------------


def test_files_are_images(league: Results, tmp_path: Path) -> None:
    figure = draw("crosstable", league)
    for name in ("one.png", "two.SVG", "three.pdf"):
        save(figure, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG\r\n")
    pixels = matplotlib.image.imread(tmp_path / "one.png")  # type: ignore[attr-defined]
    assert pixels.shape[:2] == tuple(int(side * 150) for side in figure.get_size_inches()[::-1])
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20
    pdf = (tmp_path / "three.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf
    svg = (tmp_path / "two.SVG").read_text("utf-8")
    assert "<svg" in svg
    assert "greedy(improved)" in svg  # text that can be searched
    assert "<dc:date>" not in svg
    with pytest.raises(KnightfallError, match=r"chart\.jpg.*must end in \.svg, \.png or \.pdf"):
        save(figure, tmp_path / "chart.jpg")
    assert not (tmp_path / "chart.jpg").exists()


DRAW = """
import sys
from knightfall.arena.charts import draw
from knightfall.arena.chart_style import image
from knightfall.arena.results import results
from knightfall.arena.store import Store
with Store.open(sys.argv[1], read_only=True) as store:
    for run, name in zip(sys.argv[2::2], sys.argv[3::2]):
        found = results(store.run(int(run)))
        sys.stdout.buffer.write(image(draw(name, found), "svg"))
"""


def test_the_same_run_gives_the_same_bytes(
    league: Results, tested: Results, tournament: Results, worth: Results, store: Store,
    tmp_path: Path,
) -> None:  # fmt: skip
    every = {
        name: found for found in (league, tested, tournament, worth) for name in charts_for(found)
    }
    here = b"".join(image(draw(name, found), "svg") for name, found in every.items())
    # Another process with another hash seed and other matplotlib settings.
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\naxes.grid: True\n")
    runs = [word for name, found in every.items() for word in (str(found.run.id), name)]
    env = {**os.environ, "PYTHONHASHSEED": "77", "MATPLOTLIBRC": str(tmp_path)}
    command = [sys.executable, "-c", DRAW, str(store.file.path), *runs]
    there = subprocess.run(command, env=env, capture_output=True, check=True, timeout=300).stdout
    assert len(here) > 10_000
    assert here == there


def test_drawing_leaves_no_settings_behind(league: Results) -> None:
    before = dict(matplotlib.rcParams)
    image(draw("ratings", league), "png")
    assert dict(matplotlib.rcParams) == before


# -- room -----------------------------------------------------------------------------------------


HAIR = 0.5
"""Pixels by which a text may be too long: fonts differ a little between machines."""


def boxes(figure: Figure, texts: list[Any]) -> list[Any]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return [text.get_window_extent(canvas.get_renderer()) for text in texts if text.get_text()]


@pytest.mark.parametrize("opponents", [1, 4, 12])
def test_rates_by_opponent_have_room(opponents: int, tmp_path: Path) -> None:
    against = [f"random(seed={at + 1})" for at in range(opponents)]
    plan = tournament_of(["greedy(improved)", "greedy(open)"], against, pairs=1)
    figure = draw("tournament", found_in(tmp_path / "s", plan))
    whole, each = figure.axes
    cells = boxes(figure, each.texts)
    assert len(cells) == 2 * opponents
    assert all(not a.overlaps(b) for a, b in combinations(cells, 2))
    assert all(each.bbox.x0 <= box.x0 and box.x1 <= each.bbox.x1 for box in cells)
    assert whole.bbox.width / figure.dpi >= 2  # inches, however many opponents there are
    for box in boxes(figure, [*whole.get_yticklabels(), *each.get_xticklabels()]):
        assert figure.bbox.x0 - HAIR <= box.x0
        assert box.x1 <= figure.bbox.x1 + HAIR


@pytest.mark.parametrize("size", [2, 16, at_length(40)])
def test_names_have_room(size: int, tmp_path: Path) -> None:
    agents = [f"random(seed={at + 1})" for at in range(size)]
    plan = league_plan(agents, pairs=1, board="3x3")
    long = [replace(entrant, name=f"{'long ' * 9}{entrant.name}") for entrant in plan.entrants[::2]]
    found = found_in(tmp_path / "s", replace(plan, entrants=(*long, *plan.entrants[1::2])))
    for name in charts_for(found):
        figure = draw(name, found)
        (axes,) = figure.axes
        beside = boxes(figure, axes.get_yticklabels())
        cells = boxes(figure, axes.texts)
        assert len(beside) == size
        for above, below in pairwise(beside):
            assert above.y0 > below.y1
        inside = figure.bbox
        for box in (*beside, *cells):
            assert inside.x0 - HAIR <= box.x0
            assert box.x1 <= inside.x1 + HAIR
        assert all(not a.overlaps(b) for a, b in combinations(cells[:80], 2))


def test_names_are_short_and_all_different() -> None:
    def named(*agents: str) -> list[Entrant]:
        return [Entrant(agent, agent) for agent in agents]

    assert labels(named("id(open, nodes=500)", "id(main, nodes=500)")) == (
        ["open", "main"],
        "heuristics play as id(…, nodes=500)",
    )
    apart = ["id(open, nodes=500)", "id(main, nodes=5)"]
    assert labels(named(*apart)) == (apart, "")
    assert labels(named("id(open, nodes=5)", "random")) == (
        ["open", "random"],
        "heuristics play as id(…, nodes=5)",
    )
    with_course = [Entrant("id(improved, nodes=2500, plain)", "AB_Improved")]
    with_course += named("id(main, nodes=2500, plain)", "id(open, nodes=2500, plain)")
    assert labels(with_course)[0] == ["AB_Improved", "main", "open"]
    mine = [
        Entrant(f"id(/home/me/{at}/mine.py:score, nodes=5)", f"id({at}/mine.py:score, nodes=5)")
        for at in "ab"
    ]
    assert labels(mine)[0] == [entrant.name for entrant in mine]  # both are mine.py:score
    assert labels([mine[0], *named("id(open, nodes=5)")])[0] == ["mine.py:score", "open"]
    unknown = [Entrant("id(gone, nodes=5)", "id(gone, nodes=5)"), *named("id(open, nodes=5)")]
    assert labels(unknown)[0] == ["gone", "open"]
    long = [Entrant("random", f"{'x' * 40}{at}{'y' * 40}") for at in range(12)]
    cut = labels(long)[0]
    assert len(set(cut)) == 12
    assert all(len(name) <= 38 for name in cut)
    assert shortened("abcdefghij", 7) == "abc…hij"
    assert shortened("abcdefg", 7) == "abcdefg"


def test_a_course_name_leaves_other_charts_their_short_names() -> None:
    """Check that only entrants named as in the course are labelled so: the same agents by their
    strings get their usual short labels.
    """
    entrants = enter(["2017b:AB_Open", "2017b:AB_Improved"])
    assert [entrant.name for entrant in entrants] == ["2017b:AB_Open", "2017b:AB_Improved"]
    spelt = [Entrant(entrant.agent, entrant.agent) for entrant in entrants]
    assert labels(spelt)[0] == ["open", "improved"]
    assert labels(entrants) == (["AB_Open", "AB_Improved"], "")
