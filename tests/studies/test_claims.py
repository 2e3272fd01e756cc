"""Claims are judged on made-up results of which the truth is known."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import scipy

from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import difference
from knightfall.studies.judging.claims import chance_to_win, judge, judge_placement
from knightfall.studies.judging.comparisons import Range, chance, compare_scores, compare_spreads
from knightfall.studies.published.published import Claim, Form, studies

OPPONENTS = 7
FEW, MANY, VERY_MANY = 20, 1_000, 20_000


def results(strength: dict[str, float], openings: int, seed: int = 0) -> dict[str, Any]:
    """Pair scores of agents that win each game with this chance, give or take what the opening and
    the opponent do to all of them."""
    rng = np.random.default_rng(seed)
    opponent = rng.uniform(-0.1, 0.1, (OPPONENTS, 1))
    opponent -= opponent.mean()
    opening = rng.uniform(-0.1, 0.1, (OPPONENTS, openings))
    made = {}
    for id, chance_of_winning in strength.items():
        p = np.clip(chance_of_winning + opponent + opening, 0, 1)
        made[id] = (rng.random(p.shape) < p) / 2 + (rng.random(p.shape) < p) / 2
    return made


def claim(form: Form, who: str = "a", than: str = "b", **more: Any) -> Claim:
    ids = (*who.split(), *than.split())
    return Claim(
        study="made up",
        sentence=f"{who} {form} {than}",
        form=form,
        who=tuple(who.split()),
        than=tuple(than.split()),
        games_per_opponent=10,
        published=dict.fromkeys(ids, Decimal("70.0")),
        **more,
    )


def verdict(form: Form, a: float, b: float, openings: int, **more: Any) -> str:
    return judge(claim(form, **more), results({"a": a, "b": b}, openings)).verdict


# -- one comparison --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "openings", "better", "not_better"),
    [
        (0.75, 0.65, MANY, "holds", "does not hold"),
        (0.65, 0.75, MANY, "does not hold", "holds"),
        (0.70, 0.70, FEW, "cannot be told apart", "cannot be told apart"),
        (0.70, 0.70, VERY_MANY, "does not hold", "holds"),
        # Small, but beyond doubt.
        (0.708, 0.700, 2 * VERY_MANY, "holds", "does not hold"),
    ],
)
def test_better_and_its_opposite(
    a: float, b: float, openings: int, better: str, not_better: str
) -> None:
    assert verdict("better", a, b, openings) == better
    assert verdict("not_better", a, b, openings) == not_better


@pytest.mark.parametrize(
    ("ahead", "openings", "expected"),
    [
        (0.05, VERY_MANY, "holds"),
        (0.10, VERY_MANY, "does not hold"),
        (0.00, VERY_MANY, "does not hold"),
        (-0.05, VERY_MANY, "does not hold"),
        (0.05, FEW, "cannot be told apart"),
        (0.30, FEW, "does not hold"),
    ],
)
def test_better_by_so_many_points(ahead: float, openings: int, expected: str) -> None:
    assert verdict("better_by", 0.6 + ahead, 0.6, openings, between=(2.5, 7.5)) == expected


@pytest.mark.parametrize(
    ("ahead", "openings", "expected"),
    [
        (0.00, VERY_MANY, "holds"),
        (0.03, VERY_MANY, "holds"),
        (-0.03, VERY_MANY, "holds"),
        (0.08, VERY_MANY, "does not hold"),
        (-0.08, VERY_MANY, "does not hold"),
        (0.00, FEW, "cannot be told apart"),
    ],
)
def test_alike(ahead: float, openings: int, expected: str) -> None:
    assert verdict("alike", 0.6 + ahead, 0.6, openings, between=(-5.0, 5.0)) == expected


@pytest.mark.parametrize(
    ("a", "b", "openings", "expected"),
    [
        (0.95, 0.55, MANY, "holds"),  # who wins nearly always varies least
        (0.55, 0.95, MANY, "does not hold"),
        (0.60, 0.60, VERY_MANY, "does not hold"),
        (0.70, 0.60, FEW, "cannot be told apart"),
    ],
)
def test_steadier(a: float, b: float, openings: int, expected: str) -> None:
    assert verdict("steadier", a, b, openings) == expected


def test_no_results_tell_nothing() -> None:
    for form in ("better", "not_better", "steadier"):
        assert verdict(form, 0.9, 0.1, 0) == "cannot be told apart"
    assert verdict("alike", 0.5, 0.5, 0, between=(-5.0, 5.0)) == "cannot be told apart"
    assert verdict("won_tournaments", 0.5, 0.5, 0, tournaments=(3, 10)) == "cannot be told apart"


def test_a_judgement_tells_its_numbers() -> None:
    measured = results({"a": 0.75, "b": 0.65}, MANY)
    found = judge(claim("better"), measured)
    assert found.difference == pytest.approx(100 * (measured["a"] - measured["b"]).mean())
    assert found.low is not None
    assert found.high is not None
    assert 7 < found.low < 10 < found.high < 13
    assert found.games == 2 * OPPONENTS * MANY
    assert found.words.startswith(f"a against b: {found.difference:+.1f} points (")
    reverse = judge(claim("better", who="b", than="a"), measured)
    assert reverse.words.endswith("less than 1 point counts as none unless it is proven")
    apart = judge(claim("alike", between=(-5.0, 5.0)), measured)
    assert apart.words.endswith("alike means at most 5 points apart")


def test_errors_of_the_verdicts_are_as_rare_as_they_should_be() -> None:
    """Equal agents, few games: no more than one in twenty is called better or worse."""
    said = []
    for seed in range(400):
        measured = results({"a": 0.7, "b": 0.7}, 60, seed)
        said.append(compare_scores(measured, "a", "b", Range(above=0.0, too_low=0.0)))
    assert np.mean([min(part.p_for, part.p_against) < 0.05 for part in said]) <= 0.07


# -- several comparisons ---------------------------------------------------------------------


def test_all_must_be_borne_out() -> None:
    strong = results({"a": 0.80, "b": 0.60, "c": 0.65, "d": 0.70}, MANY)
    found = judge(claim("better", than="b c d"), strong)
    assert found.verdict == "holds"
    # The closest comes first.
    assert found.words.startswith("3 of 3 comparisons borne out; the closest: a against d:")
    assert found.difference == pytest.approx(100 * (strong["a"] - strong["d"]).mean())


def test_one_that_is_refuted_refutes_all() -> None:
    found = judge(
        claim("better", than="b c d"),
        results({"a": 0.70, "b": 0.60, "c": 0.60, "d": 0.78}, MANY),
    )
    assert found.verdict == "does not hold"
    assert "2 of 3 comparisons borne out; refuted by a against d" in found.words


def test_one_that_is_in_doubt_leaves_all_in_doubt() -> None:
    found = judge(
        claim("better", who="a b", than="c"),
        results({"a": 0.85, "b": 0.60, "c": 0.60}, FEW),
    )
    assert found.verdict == "cannot be told apart"
    assert "least clear: b against c" in found.words


def test_many_comparisons_take_more_to_refute_than_one() -> None:
    """The opposite of one part is only believed after Holm's correction."""
    ids = [f"h{n}" for n in range(20)]
    level = np.full((OPPONENTS, 40), 0.5)
    lucky = level.copy()
    lucky[:, :8], lucky[:, 8] = 1.0, 0.0
    measured = {**dict.fromkeys(ids, level), "h1": lucky}
    part = compare_scores(measured, "h1", "h0", Range(too_high=0.0))
    assert 0.05 / 20 < part.p_against < 0.05
    alone = judge(claim("not_better", who="h1", than="h0"), measured)
    assert alone.verdict == "does not hold"
    among = judge(claim("not_better", who=" ".join(ids[1:]), than="h0"), measured)
    assert among.verdict == "cannot be told apart"


# -- p-values --------------------------------------------------------------------------------


@pytest.mark.parametrize("openings", [3, 20, 500])
def test_the_chance_beyond_0_is_the_p_value(openings: int) -> None:
    measured = results({"a": 0.75, "b": 0.65}, openings, seed=openings)
    found = difference(measured["a"].mean(axis=0), measured["b"].mean(axis=0))
    assert found.mean > 0
    assert chance(found, 0.0, above=True) == pytest.approx(found.p, rel=1e-9)
    assert chance(found, 0.0, above=False) == 1
    for end, above in ((found.low, True), (found.high, False)):
        assert chance(found, end, above=above) == pytest.approx(0.05, rel=1e-9)
    assert chance(found, -math.inf, above=True) == 0
    assert chance(found, math.inf, above=False) == 0
    assert chance(found, math.inf, above=True) == 1


def test_an_interval_that_is_cut_off_tells_no_more_than_it_knows() -> None:
    one_sided = difference([1.0, 1.0, 1.0, 0.5, 1.0], [0.0, 0.0, 0.5, 0.0, 0.0])
    assert one_sided.high == 1
    assert chance(one_sided, one_sided.low, above=True) == pytest.approx(0.05, rel=1e-9)
    assert chance(one_sided, 0.0, above=True) == pytest.approx(one_sided.p, rel=1e-9)
    unknown = difference([0.5], [0.5])
    assert (unknown.low, unknown.high) == (-1, 1)
    for threshold in (-0.9, -0.01, 0.01, 0.9):
        assert chance(unknown, threshold, above=threshold < 0) == 1


def test_spread_is_the_standard_deviation_of_a_tournament() -> None:
    measured = results({"a": 0.9, "b": 0.6}, VERY_MANY)
    part = compare_spreads(measured, "a", "b", 5, Range())
    rng = np.random.default_rng(1)
    spread = {}
    for id in "ab":
        rows = [rng.choice(row, (20_000, 5)) for row in measured[id]]
        spread[id] = 100 * np.concatenate(rows, axis=1).mean(axis=1).std()
    assert part.difference == pytest.approx(spread["b"] - spread["a"], abs=0.1)


# -- tournaments -----------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(0.7, 0.7), (0.66, 0.7), (0.8, 0.65)])
def test_the_chance_to_win_a_tournament_is_that_of_many_tournaments(a: float, b: float) -> None:
    measured = results({"a": a, "b": b}, MANY)
    ahead = 100 * (measured["a"] - measured["b"]).mean()
    rng = np.random.default_rng(2)
    wins = np.zeros(20_000)
    for mine, theirs in zip(measured["a"], measured["b"], strict=True):
        drawn = rng.integers(0, MANY, (20_000, 5))  # both play the same openings
        wins += (mine[drawn] - theirs[drawn]).sum(axis=1)
    assert chance_to_win(measured, "a", "b", 5, ahead) == pytest.approx((wins > 0).mean(), abs=0.02)


@pytest.mark.parametrize(
    ("a", "b", "openings", "won", "expected"),
    [
        (0.70, 0.70, VERY_MANY, 3, "holds"),
        (0.70, 0.70, VERY_MANY, 8, "holds"),  # luck
        (0.70, 0.70, VERY_MANY, 10, "does not hold"),
        (0.60, 0.75, VERY_MANY, 1, "holds"),
        (0.60, 0.75, VERY_MANY, 8, "does not hold"),
        (0.80, 0.60, VERY_MANY, 3, "does not hold"),
        (0.70, 0.70, 5, 3, "cannot be told apart"),
        (0.70, 0.70, FEW, 9, "cannot be told apart"),  # unlikely at level, but they may not be
    ],
)
def test_tournaments_won(a: float, b: float, openings: int, won: int, expected: str) -> None:
    assert verdict("won_tournaments", a, b, openings, tournaments=(won, 10)) == expected


@pytest.mark.parametrize("won", range(11))
def test_luck_reaches_as_far_as_the_binomial_says(won: int) -> None:
    measured = results({"a": 0.7, "b": 0.7}, FEW)
    words = judge(claim("won_tournaments", tournaments=(won, 10)), measured).words
    told = words.partition("any chance from ")[2].split()[:3:2]
    chances = np.linspace(0.001, 0.999, 999)
    ordinary = chances[
        (scipy.stats.binom.cdf(won, 10, chances) > 0.025)
        & (scipy.stats.binom.sf(won - 1, 10, chances) > 0.025)
    ]
    expected = [100 * ordinary.min(), 100 * ordinary.max()]
    assert [float(word.rstrip("%,")) for word in told] == pytest.approx(expected, abs=0.65)


# -- all of it -------------------------------------------------------------------------------


@pytest.mark.parametrize("id", studies())
def test_every_claim_of_every_study_can_be_judged(id: str) -> None:
    study = studies()[id]
    strength = {name: float(study.figure(name)) / 100 for name in study.heuristics}
    measured = results(strength, VERY_MANY)
    for each in study.claims:
        found = judge(each, measured)
        assert found.words
        if found.low is not None:
            assert found.high is not None
            assert found.difference is not None
            assert found.low <= found.difference <= found.high
        # Were the published figures the truth, these are the claims they would bear out.
        if each.form in ("better", "not_better"):
            contradicted = each.sentence == "near_opponent+bfs_reach is the best of all"
            assert (found.verdict == "holds") != contradicted, found.words


def test_the_placement_is_settled_by_the_solver() -> None:
    (conjecture,) = [c for c in studies()["reachability"].claims if c.form == "second_player_wins"]
    found = judge(conjecture, {})
    assert found.verdict == "holds"
    assert (found.difference, found.games) == (None, 0)
    assert judge_placement(False).verdict == "does not hold"


def test_results_that_do_not_fit_are_refused() -> None:
    measured = results({"a": 0.7, "b": 0.7}, FEW)
    with pytest.raises(KnightfallError, match="no results of 'c': there are some of a, b"):
        judge(claim("better", than="c"), measured)
    with pytest.raises(KnightfallError, match=r"\(7, 20\) and \(7, 19\)"):
        judge(claim("better"), {**measured, "b": measured["b"][:, 1:]})
    with pytest.raises(KnightfallError, match=r"shape \(7,\)"):
        judge(claim("better"), {**measured, "a": measured["a"].mean(axis=1)})
