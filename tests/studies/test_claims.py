"""Tests that judge claims on simulated results whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest
import scipy

from knightfall.display.numbers import signed
from knightfall.errors import KnightfallError
from knightfall.kernel import rules
from knightfall.oracle.graded_games import PHASES
from knightfall.statistics.pairs import Difference, difference
from knightfall.statistics.rates import Share
from knightfall.studies import claims
from knightfall.studies import computed_facts as facts
from knightfall.studies.claims import (
    COST_ERROR,
    ONCE,
    Evidence,
    chance_to_win,
    judge,
    judge_claim,
    judge_cost,
    judge_order,
    meaning,
    phase_choices,
)
from knightfall.studies.comparisons import Range, chance, compare_scores, compare_spreads
from knightfall.studies.computed_facts import FACTS, FactInputs, judge_fact, judge_prevention
from knightfall.studies.oracle_grades import choice_positions, choices, choosing_heuristics
from knightfall.studies.plans import PLIES, SIZES
from knightfall.studies.playing_conditions import Condition
from knightfall.studies.published import (
    CHANCE,
    Claim,
    Fact,
    Form,
    Study,
    read_studies,
    studies,
)

OPPONENTS = 7
FEW, MANY, VERY_MANY = 20, 1_000, 20_000


def results(strength: dict[str, float], openings: int, seed: int = 0) -> dict[str, Any]:
    """Return simulated pair scores of agents with these chances to win, varied by opening and
    opponent.
    """
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
        where="nowhere",
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
        # Small, but significant.
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
        (0.95, 0.55, MANY, "holds"),  # an agent that nearly always wins varies least
        (0.55, 0.95, MANY, "does not hold"),
        (0.60, 0.60, VERY_MANY, "does not hold"),
        (0.70, 0.60, FEW, "cannot be told apart"),
    ],
)
def test_steadier(a: float, b: float, openings: int, expected: str) -> None:
    assert verdict("steadier", a, b, openings) == expected
    made = results({"a": a, "b": b}, openings)
    spread = {  # of the totals of tournaments of 5 pairs against each opponent
        id: 100 * float(np.sqrt(rows.var(axis=1).mean() / (5 * OPPONENTS)))
        for id, rows in made.items()
    }
    found = judge(claim("steadier"), made)
    assert found.difference == pytest.approx(spread["b"] - spread["a"])


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


def test_errors_of_the_verdicts_are_as_rare_as_they_should_be() -> None:
    """Check that of many pairs of equal agents about one in twenty is called different."""
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
    # The closest comparison comes first.
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
    """Check that one significant comparison refutes a claim alone, but not among many, by Holm's
    correction.
    """
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
    unknown = Difference(1, 0.5, -1.0, 1.0, 1.0)  # of one pair, an interval that says nothing
    assert chance(unknown, 0.0, above=True) == 1
    assert chance(unknown, -math.inf, above=True) == 0


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
        drawn = rng.integers(0, MANY, (20_000, 5))  # the same openings for both
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
        (0.70, 0.70, FEW, 9, "cannot be told apart"),  # unlikely at equal strength
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


# -- opponents, depth, choices ---------------------------------------------------------------


def test_a_claim_may_be_about_some_opponents_only() -> None:
    measured = results({"a": 0.6, "b": 0.6}, VERY_MANY)
    strong = results({"a": 0.9}, VERY_MANY)
    mixed = {**measured, "a": np.vstack([strong["a"][:1], measured["a"][1:]])}
    assert judge(claim("better", against=(0,)), mixed).verdict == "holds"
    assert judge(claim("better", against=(1, 2)), mixed).verdict == "does not hold"
    assert judge(claim("better", against=(1, 2)), mixed).games == 2 * 2 * VERY_MANY
    few = {id: row[:, :5] for id, row in measured.items()}
    assert judge(claim("better", against=(0,)), few).verdict == "cannot be told apart"


@pytest.mark.parametrize(
    ("deeper", "openings", "unimpaired", "better"),
    [
        (0.0, 700, "holds", "does not hold"),
        (-0.3, 700, "holds", "does not hold"),
        (0.4, 700, "holds", "holds"),
        (-1.2, 700, "does not hold", "does not hold"),
        (0.0, 3, "cannot be told apart", "cannot be told apart"),
    ],
)
def test_depth(deeper: float, openings: int, unimpaired: str, better: str) -> None:
    rng = np.random.default_rng(3)
    plies = {id: 6 + at + rng.normal(0, 1, (7, openings)) for id, at in (("a", deeper), ("b", 0))}
    measured = {id: row / 10 for id, row in plies.items()}
    asked = claim("better_by", measure="depth", between=(-0.5, 100.0))
    found = judge(asked, measured)
    assert found.verdict == unimpaired
    assert found.difference == pytest.approx((plies["a"] - plies["b"]).mean())
    assert found.unit == "plies"
    assert judge(claim("better", measure="depth"), measured).verdict == better


def test_choices_are_judged_by_phase() -> None:
    rng = np.random.default_rng(4)

    def kept(share: float, positions: int = 4000) -> Any:
        return (rng.random((1, positions)) < share).astype(float)

    made = {
        "opening": {"a": kept(0.7), "b": kept(0.7), CHANCE: np.full((1, 4000), 0.7)},
        "middle": {"a": kept(0.5), "b": kept(0.8), CHANCE: np.full((1, 4000), 0.5)},
        "end": {"a": kept(0.9, 3), "b": kept(0.9, 3), CHANCE: np.full((1, 3), 0.5)},
    }
    evidence = Evidence(FactInputs(studies()["staged"], "early"), choices=made)

    def asked(phase: Any, than: str = "b") -> str:
        one = claim("better", than=than, measure="choices", phase=phase)
        return judge_claim(one, evidence)[ONCE].verdict

    assert asked("middle") == "does not hold"
    assert asked("end") == "cannot be told apart"
    reverse = claim("better", who="b", than="a", measure="choices", phase="middle")
    assert judge_claim(reverse, evidence)[ONCE].verdict == "holds"
    alike = claim("alike", than=CHANCE, measure="choices", phase="opening", between=(-10.0, 10.0))
    assert judge_claim(alike, evidence)[ONCE].verdict == "holds"
    assert phase_choices(made, None)["a"].shape == (1, 8003)
    assert phase_choices({}, None) == {}
    assert judge_claim(reverse, Evidence(FactInputs(studies()["staged"], "early"))) == {}


def test_choices_are_real_and_repeat() -> None:
    for phase in PHASES:
        asked = list(choice_positions(phase, 3, seed=1))
        assert asked == list(choice_positions(phase, 3, seed=1))
        for one in asked:
            assert 0 < len(one.winning) < len(one.position.legal_moves)
            assert 0 < one.chance < 1
            assert (len(one.position.open) > 32) == (phase == "opening")
            assert (len(one.position.open) <= 16) == (phase == "end")
    found = choices(["improved"], 3, seed=1)
    assert set(found) == set(PHASES)
    for row in found.values():
        assert set(row) == {CHANCE, "improved"}
        assert set(row["improved"].ravel()) <= {0.0, 1.0}
    assert "longest_win" in choosing_heuristics([studies()["staged"]])
    assert CHANCE not in choosing_heuristics(list(studies().values()))


# -- cost ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "cheaper", "comparable"),
    [
        (0.3, "holds", "does not hold"),
        (0.7, "holds", "holds"),
        (0.95, "cannot be told apart", "holds"),
        (1.05, "does not hold", "holds"),
        (1.45, "does not hold", "cannot be told apart"),
        (3.0, "does not hold", "does not hold"),
    ],
)
def test_cost(ratio: float, cheaper: str, comparable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"improved": 1000.0 * ratio, "open": 1000.0}
    monkeypatch.setattr(claims, "evaluation_cost", lambda board, id: costs[id])
    who = {"who": "improved", "than": "open", "measure": "cost"}
    found = judge_cost(claim("better", **who), "later")
    assert found.verdict == cheaper
    assert found.difference == pytest.approx(ratio)
    assert found.low == pytest.approx(ratio * (1 - COST_ERROR))
    assert judge_cost(claim("alike", between=(-50.0, 50.0), **who), "later").verdict == comparable


def test_the_author_of_directional_has_the_costs_the_wrong_way_round() -> None:
    (dearer,) = [c for c in studies()["directional"].claims if "is dearer to compute" in c.sentence]
    for board in ("early", "later"):
        assert judge_cost(dearer, board).verdict == "does not hold"


# -- facts -----------------------------------------------------------------------------------


def test_every_fact_has_a_function_and_a_claim() -> None:
    told = {one.fact for study in studies().values() for one in study.claims if one.fact}
    assert set(get_args(Fact)) == {*FACTS, "prevents_forfeits"} == told


@pytest.mark.parametrize(
    ("fact", "holds", "told"),
    [
        ("second_player_wins", True, "against every placement"),
        ("parity_changes", True, "240 of the board's 240"),
        ("parity_proves", False, "2,344 of 2,352 openings by exact solution; the others need more"),
        ("centre_term_reaches_6", False, "−4.24 to +4.24"),
        ("edges_have_fewer_moves", True, "2 to 4 moves"),
        ("no_timeouts", True, "10 ms are kept in reserve"),
        ("doubling_presses", True, "over 1,000 positions"),
        ("cluster_breaks_ties", True, "at most 0.71"),
        ("depth_first_grows", True, "looks at one on either board"),
    ],
)
def test_facts(fact: Fact, holds: bool, told: str) -> None:
    found = judge_fact(fact, FactInputs(studies()["reachability"], "early"))
    assert found is not None
    assert found.verdict == ("holds" if holds else "does not hold")
    assert told in found.words
    assert (found.difference, found.games) == (None, 0)


def test_facts_can_turn_out_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = studies()["staged"]
    monkeypatch.setattr(facts, "RESERVE", 0.01)
    slow = judge_fact("no_timeouts", FactInputs(staged, "early"))
    assert slow is not None
    assert slow.verdict == "does not hold"


def test_evaluations_that_take_too_long_are_counted_by_phase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = {"opening": facts.GAMES, "middle": facts.GAMES // 2, "end": 0}
    monkeypatch.setattr(
        facts, "positions_of_phase", lambda phase: [at < late[phase] for at in range(facts.GAMES)]
    )
    monkeypatch.setattr(rules, "words", lambda is_late: (is_late, 0, 0))
    monkeypatch.setattr(
        facts, "tree_size", lambda board, is_late, mover, waiter, most: most * is_late
    )
    found = facts.values_in_time(Condition())
    names = ("in the opening", "in the middle game", "near the end")
    assert [found.numbers[f"late {name}"] for name in names] == [100, 50, 0]
    for name, interval in zip(names, ("99 to 100", "44 to 56", "0 to 1"), strict=True):
        assert f"{name} ({interval})" in found.words


# -- with and without a precaution -----------------------------------------------------------


@pytest.mark.parametrize(
    ("careful", "careless", "games", "expected"),
    [
        (0.0, 0.30, 2000, "holds"),
        (0.0, 0.02, 2000, "holds"),
        (0.05, 0.30, 2000, "does not hold"),  # more than 1 % remain
        (0.30, 0.05, 2000, "does not hold"),
        (0.0, 0.0, 2000, "does not hold"),  # hardly any game was resigned without it
        (0.0, 0.30, 40, "cannot be told apart"),  # the remaining share may be above 1 %
        (0.0, 0.0, 40, "cannot be told apart"),
        (0.0, 0.01, 300, "cannot be told apart"),
    ],
)
def test_a_precaution_is_judged_by_contrast(
    careful: float, careless: float, games: int, expected: str
) -> None:
    shares = [Share(round(rate * games), games) for rate in (careful, careless)]
    found = judge_prevention(*shares)
    assert found.verdict == expected
    assert found.difference == pytest.approx(100 * (careless - careful))
    assert f"{signed(100 * (careless - careful), 1)} points" in found.words
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.difference <= found.high
    assert f"without it the same agents give up {100 * careless:.1f} %" in found.words
    inputs = FactInputs(studies()["directional"], "later", *shares)
    assert judge_fact("prevents_forfeits", inputs) == found
    for missing in (replace(inputs, given_up=None), replace(inputs, careless=None)):
        assert judge_fact("prevents_forfeits", missing) is None


def test_the_interval_of_two_shares_is_newcombe_s() -> None:
    """Compare with Newcombe 1998, method 10, example (a): 56 of 70 less 48 of 80."""
    found = judge_prevention(Share(48, 80), Share(56, 70))
    assert found.difference == pytest.approx(20.0)
    assert (found.low, found.high) == pytest.approx((5.24, 33.39), abs=0.01)


# -- a ply deeper ----------------------------------------------------------------------------


def duels(rate: float, openings: int, rows: int, seed: int = 0) -> dict[str, Any]:
    """Return pair scores of games that a wins against b with this chance, varied by opening."""
    rng = np.random.default_rng(seed)
    p = np.clip(rate + rng.uniform(-0.2, 0.2, (1, openings)), 0, 1)
    won = (rng.random((rows, openings)) < p) / 2 + (rng.random((rows, openings)) < p) / 2
    return {"a": won, "b": 1 - won}


@pytest.mark.parametrize(
    ("rate", "openings", "expected"),
    [
        (0.60, MANY, "holds"),
        (0.40, MANY, "does not hold"),
        (0.50, 8 * VERY_MANY, "does not hold"),
        (0.50, FEW, "cannot be told apart"),
    ],
)
def test_a_ply_deeper(rate: float, openings: int, expected: str) -> None:
    measured = duels(rate, openings, len(PLIES))
    evidence = Evidence(FactInputs(studies()["aggressive"], "later"), plies=measured)
    found = judge_claim(claim("better", measure="ply"), evidence)[ONCE]
    assert found.verdict == expected
    # The same from the games won and lost.
    assert found.difference == pytest.approx(100 * (2 * measured["a"].mean() - 1))
    assert found.games == 2 * measured["a"].size
    for depth, row in zip(PLIES, measured["a"], strict=True):
        assert f"{100 * row.mean():.1f} % at depth {depth + 1} against {depth}" in found.words
    assert judge_claim(claim("better", measure="ply"), made_up_nothing()) == {}


def made_up_nothing() -> Evidence:
    return Evidence(FactInputs(studies()["aggressive"], "later"))


# -- a larger board --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("small", "large", "openings", "expected"),
    [
        (0.50, 0.56, VERY_MANY, "holds"),
        (0.40, 0.46, VERY_MANY, "holds"),  # behind on both boards, but by less on the larger
        (0.56, 0.50, VERY_MANY, "does not hold"),
        (0.60, 0.60, 16 * VERY_MANY, "does not hold"),  # ahead by the same on both boards
        (0.50, 0.50, FEW, "cannot be told apart"),
        (0.50, 0.56, 0, "cannot be told apart"),
    ],
)
def test_a_larger_board(small: float, large: float, openings: int, expected: str) -> None:
    boards = {"7x7": duels(small, openings, 1, 5), "8x8": duels(large, openings + 7, 1, 6)}
    if not openings:
        boards = {size: {id: row[:, :0] for id, row in one.items()} for size, one in boards.items()}
    evidence = Evidence(FactInputs(studies()["staged"], "early"), boards=boards)
    found = judge_claim(claim("better", measure="board"), evidence)[ONCE]
    assert found.verdict == expected
    if openings:
        gaps = [2 * one["a"].ravel() - 1 for one in boards.values()]
        expected_gap = 100 * (gaps[1].mean() - gaps[0].mean())
        assert found.difference == pytest.approx(expected_gap)
        error = 100 * math.sqrt(sum(gap.var(ddof=1) / gap.size for gap in gaps))
        if openings > FEW:
            assert found.high == pytest.approx(expected_gap + 1.96 * error, abs=0.02)
    assert "on 7×7" in found.words
    beside = claim("better", measure="board", fact="depth_first_grows")
    assert "looks at one on either board" in judge_claim(beside, evidence)[ONCE].words
    assert judge_claim(beside, made_up_nothing()) == {}


def test_an_opinion_gets_its_reason() -> None:
    opinion = claim("untestable", who="", than="", reason="who can say")
    found = judge_claim(opinion, Evidence(FactInputs(studies()["staged"], "early")))[ONCE]
    assert found.mark == "– not a claim that can be tested"
    assert (found.words, found.measured()) == ("who can say", "")


# -- words and tables ------------------------------------------------------------------------


def test_one_rule_for_every_about() -> None:
    text = """
[made]
title = "Made up"
protocol = "2017b"
games_per_opponent = 10

[[made.tables]]
name = "the tournament"
place = "there"
rates = { improved = 60, open = 50 }

[[made.claims]]
sentence = "about five"
where = "there"
form = "better_by"
about = [5]
who = ["improved"]
than = ["open"]

[[made.claims]]
sentence = "about ten to fifteen"
where = "there, too"
form = "better_by"
about = [10, 15]
who = ["improved"]
than = ["open"]
"""
    five, ten = read_studies(text)["made"].claims
    assert (five.between, ten.between) == ((2.5, 7.5), (5.0, 22.5))
    assert meaning(five) == "2.5 to 7.5 points ahead; by games in the study's tournament"
    with pytest.raises(KnightfallError, match="unknown opponent 'AB_Opne'"):
        read_studies(text + 'against = ["AB_Opne"]\n')


def test_the_order_of_a_table_is_judged_couple_by_couple() -> None:
    measured = results({"a": 0.8, "b": 0.6, "c": 0.6, "d": 0.7}, MANY)
    found = judge_order({"a": 70.0, "b": 65.0, "c": 65.0, "d": 60.0}, measured)
    # a ahead of all is right, d behind b and c is wrong, b and c are equal in print.
    assert (found.confirmed, found.reversed, found.open) == (3, 2, 0)
    few = {id: row[:, :3] for id, row in results({"a": 0.6, "b": 0.6}, FEW).items()}
    assert judge_order({"a": 1.0, "b": 0.0}, few).open == 1


# -- all of it -------------------------------------------------------------------------------


def made_up_evidence(study: Study) -> Evidence:
    """Return made-up evidence: results simulated with the published win rates as the true ones."""
    strength = {name: float(study.figure(name)) / 100 for name in study.heuristics}
    games = results(strength, VERY_MANY)
    asked = (*choosing_heuristics([study]), CHANCE)
    return Evidence(
        FactInputs(study, "early", Share(0, 1000), Share(300, 1000)),
        games={"course": games, "nodes": games},
        depths={"course": games},
        power=games,
        plies={id: rows[: len(PLIES)] for id, rows in games.items()},
        boards=dict.fromkeys(SIZES, games),
        choices={phase: results(dict.fromkeys(asked, 0.7), FEW) for phase in PHASES},
    )


@pytest.mark.parametrize("id", studies())
def test_every_claim_of_every_study_can_be_judged(id: str) -> None:
    study = studies()[id]
    evidence = made_up_evidence(study)
    for each in study.claims:
        found = judge_claim(each, evidence)
        assert found, f"{each.sentence}: no verdict"
        assert meaning(each)
        by_games = each.measure == "games" and each.form not in ("fact", "untestable")
        keys = (
            {"course", "nodes"} if by_games else {"course"} if each.measure == "depth" else {ONCE}
        )
        assert set(found) == keys
        for one in found.values():
            assert one.words
            if one.low is not None:
                assert one.high is not None
                assert one.difference is not None
                assert one.low <= one.difference <= one.high
            # The claims that would hold if the published figures were the truth.
            if by_games and each.form in ("better", "not_better") and each.against is None:
                assert one.verdict == "holds", one.words


def test_results_that_do_not_fit_are_refused() -> None:
    measured = results({"a": 0.7, "b": 0.7}, FEW)
    with pytest.raises(KnightfallError, match="no results of 'c'; there are results of a, b"):
        judge(claim("better", than="c"), measured)
    with pytest.raises(KnightfallError, match=r"\(7, 20\) and \(7, 19\)"):
        judge(claim("better"), {**measured, "b": measured["b"][:, 1:]})
    with pytest.raises(KnightfallError, match=r"shape \(7,\)"):
        judge(claim("better"), {**measured, "a": measured["a"].mean(axis=1)})
