"""The statistics of matches: published values, properties, and simulations."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from functools import cache
from itertools import chain, combinations, count

import numpy as np
import pytest
import scipy
from helpers import some_and_all
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from knightfall.errors import KnightfallError
from knightfall.statistics.pairs import (
    MatchEstimate,
    PairCounts,
    difference,
    elo_of,
    holm,
    of_games,
    of_pairs,
    rate_interval,
    score_of,
    sequential_difference,
)
from knightfall.statistics.sprt import MODELS, NELO, Sprt, forecast, pair_distribution

SCORES = np.array([0, 0.25, 0.5, 0.75, 1])


def within_a_percent(value: float) -> object:
    return pytest.approx(value, rel=0.01)


# -- published vectors -----------------------------------------------------------------------


def test_games_as_published() -> None:
    first = of_games(136, 96, 111)
    assert first.elo == within_a_percent(40.70)
    assert first.elo_error == within_a_percent(30.43)
    assert first.nelo == within_a_percent(49.77)
    assert first.nelo_error == within_a_percent(36.77)
    assert first.los == within_a_percent(0.9960)
    second = of_games(76, 89, 123)
    assert second.nelo == within_a_percent(-20.76)
    assert second.nelo_error == within_a_percent(40.13)
    assert second.los == within_a_percent(0.1553)


def test_pairs_as_published() -> None:
    first = of_pairs((34, 54, 63, 64, 75))
    assert first.elo == within_a_percent(55.58)
    assert first.elo_error == within_a_percent(27.65)
    assert first.nelo == within_a_percent(57.94)
    assert first.nelo_error == within_a_percent(28.28)
    second = of_pairs((332, 433, 498, 333, 334))
    assert second.elo == within_a_percent(-8.64)
    assert second.elo_error == within_a_percent(10.33)
    assert second.nelo == within_a_percent(-9.17)
    assert second.nelo_error == within_a_percent(10.96)
    assert second.los == within_a_percent(0.0505)


def test_llr_as_published() -> None:
    normalized, logistic = Sprt(0, 2), Sprt(0.5, 2.5, model="logistic")
    assert normalized.llr_of_games(36433, 36027, 68692) == within_a_percent(0.92)
    assert logistic.llr_of_games(21404, 21184, 40708) == within_a_percent(-1.57)
    assert normalized.llr((365, 16618, 36229, 16974, 390)) == within_a_percent(2.25)
    assert logistic.llr((223, 9863, 21279, 10037, 246)) == within_a_percent(-3.07)
    assert Sprt(0, 50).llr((10, 0, 80, 0, 30)) == pytest.approx(4.676, abs=0.0006)


# -- a match ---------------------------------------------------------------------------------

sizes = [0, 0, 1, 2, 3, 7, 40, 1000, 10**6]
counts = st.tuples(*[st.sampled_from(sizes)] * 5)
huge_counts = st.tuples(*[st.sampled_from([*sizes, 10**12, 2**63 - 1])] * 5)
small_counts = st.tuples(*[st.integers(0, 60)] * 5)


def numbers(verdict: MatchEstimate) -> list[float]:
    return [getattr(verdict, name) for name in MatchEstimate.__slots__]


@given(huge_counts)
def test_nothing_is_ever_nan(pairs: PairCounts) -> None:
    for verdict in (of_pairs(pairs), of_games(pairs[4], pairs[0], pairs[2])):
        assert not any(math.isnan(value) for value in numbers(verdict))
        assert 0 <= verdict.low <= verdict.score <= verdict.high <= 1
        assert 0 <= verdict.los <= 1


@given(counts)
def test_errors_are_never_0(pairs: PairCounts) -> None:
    for verdict in (of_pairs(pairs), of_games(pairs[4], pairs[0], pairs[2])):
        assert min(verdict.se, verdict.elo_error, verdict.nelo_error) > 0


@given(counts)
def test_the_other_side_sees_the_opposite(pairs: PairCounts) -> None:
    here, there = of_pairs(pairs), of_pairs(pairs[::-1])
    assert here.score == pytest.approx(1 - there.score)
    assert here.elo == pytest.approx(-there.elo, abs=1e-4)
    assert here.nelo == pytest.approx(-there.nelo, rel=1e-5, abs=1e-6)
    assert here.los == pytest.approx(1 - there.los, abs=1e-6)
    assert here.low == pytest.approx(1 - there.high)
    for name in ("units", "se", "elo_error", "nelo_error"):
        assert getattr(here, name) == pytest.approx(getattr(there, name))


@given(small_counts, st.integers(0, 3))
def test_a_better_pair_raises_score_and_elo(pairs: PairCounts, at: int) -> None:
    assume(pairs[at] > 0)
    better = list(pairs)
    better[at] -= 1
    better[at + 1] += 1
    before, after = of_pairs(pairs), of_pairs(tuple(better))  # type: ignore[arg-type]
    assert after.score > before.score
    assert after.elo > before.elo


def test_few_and_one_sided_results_are_defined() -> None:
    nothing = of_pairs((0, 0, 0, 0, 0))
    assert (nothing.units, nothing.score, nothing.elo, nothing.nelo, nothing.los) == (
        0,
        0.5,
        0.0,
        0.0,
        0.5,
    )
    assert nothing.elo_error == nothing.nelo_error == math.inf
    assert (nothing.low, nothing.high) == (0, 1)
    for wins in (1, 5, 1000):
        won, lost = of_pairs((0, 0, 0, 0, wins)), of_pairs((wins, 0, 0, 0, 0))
        assert won.elo == won.nelo == won.elo_error == won.nelo_error == math.inf
        assert lost.elo == lost.nelo == -math.inf
        assert won.los == 1 - 0.5 ** (wins + 1)
        assert lost.los == 0.5 ** (wins + 1)
        for one in (won, lost):  # a 95 % interval is as wide as 2 · 1.96 standard errors
            assert one.se == pytest.approx((one.high - one.low) / 3.91993, rel=1e-5)
        # Wilson's interval shows the uncertainty of a small sample.
        assert won.high == 1
        assert won.low == pytest.approx(wins / (wins + 1.959964**2))
        assert won.elo_interval == (elo_of(won.low), math.inf)
    one = of_pairs((0, 0, 1, 0, 0))
    assert one.elo == one.nelo == 0
    assert one.los == 0.5
    assert 300 < one.elo_error < math.inf
    assert one.nelo_error == math.inf
    many = of_pairs((0, 0, 1000, 0, 0))
    assert 0.5 < many.elo_error < 2
    assert of_games(3, 0).elo == math.inf
    assert str(of_pairs((0, 0, 7, 0, 0)).elo) == "0.0"  # and not -0.0


def test_numbers_that_are_no_counts_are_named() -> None:
    with pytest.raises(KnightfallError, match="-3 is not a count"):
        of_pairs((0, 0, -3, 0, 0))
    with pytest.raises(KnightfallError, match="4 counts of pairs were given: 5"):
        Sprt(0, 5).llr((1, 2, 3, 4))  # type: ignore[arg-type]
    with pytest.raises(KnightfallError, match="nan"):
        of_games(math.nan, 1)  # type: ignore[arg-type]


@given(st.floats(-5000, 5000))
def test_elo_and_score_are_inverse(elo: float) -> None:
    assert elo_of(score_of(elo)) == pytest.approx(elo, abs=1e-3 if abs(elo) < 2000 else math.inf)
    assert score_of(elo) + score_of(-elo) == pytest.approx(1)


def test_elo_and_score_at_the_ends() -> None:
    assert score_of(400) == pytest.approx(10 / 11)
    assert (elo_of(0), elo_of(1), elo_of(-1), elo_of(2)) == (-math.inf, math.inf) * 2
    assert (score_of(math.inf), score_of(-math.inf), score_of(1e9), score_of(-1e9)) == (1, 0, 1, 0)


# -- intervals cover what they claim ---------------------------------------------------------


def exact_coverage(pairs: int, chances: tuple[float, float, float]) -> float:
    """Return the probability that the interval contains the true score, summed over all results."""
    p, total = np.array(chances), 0.0
    truth = p[1] / 2 + p[2]
    for lost in range(pairs + 1):
        for split in range(pairs + 1 - lost):
            low, high = rate_interval((lost, 0, split, 0, pairs - lost - split))
            if low - 1e-12 <= truth <= high + 1e-12:
                n = np.array([lost, split, pairs - lost - split])
                log = (
                    scipy.special.gammaln(pairs + 1)
                    - scipy.special.gammaln(n + 1).sum()
                    + (n * np.log(p)).sum()
                )
                total += math.exp(log)
    return total


@pytest.mark.parametrize(("pairs", "least"), [(5, 0.89), (10, 0.91), (35, 0.93)])
def test_rate_intervals_cover(pairs: int, least: float) -> None:
    tiny = 1e-12
    cases = [pair_distribution(e, s, "logistic") for s in (0.5, 0.67, 0.9) for e in (0, 100, 400)]
    skewed = [(tiny, 0.1, 0.9), (0.02, 0.03, 0.95), (tiny, 0.9, 0.1), (0.3, tiny, 0.7)]
    covered = [exact_coverage(pairs, chances) for chances in (*cases, *skewed)]
    assert min(covered) > least
    assert 0.945 < sum(covered) / len(covered) < 0.99


@pytest.mark.parametrize("p", [(0.1, 0.05, 0.5, 0.15, 0.2), (0.3, 0.0, 0.4, 0.0, 0.3)])
def test_elo_errors_cover_95_percent(p: tuple[float, ...]) -> None:
    truth = elo_of(float(SCORES @ np.array(p)))
    rng = np.random.default_rng(7)
    results = [of_pairs(tuple(row)) for row in rng.multinomial(300, p, size=2000).tolist()]
    for error in (
        [abs(r.elo - truth) <= r.elo_error for r in results],
        [r.elo_interval[0] <= truth <= r.elo_interval[1] for r in results],
    ):
        assert 0.935 < sum(error) / len(error) < 0.965


def test_los_is_a_likelihood() -> None:
    # Between equals the value is uniformly distributed.
    rng = np.random.default_rng(8)
    rows = rng.multinomial(400, (0.25, 0, 0.5, 0, 0.25), size=2000).tolist()
    los = np.array([of_pairs(tuple(row)).los for row in rows])
    for share in (0.05, 0.5, 0.95):
        assert (los <= share).mean() == pytest.approx(share, abs=0.03)


# -- the sequential test ---------------------------------------------------------------------

tests_of_any_kind = st.builds(
    lambda ends, model: Sprt(ends[0], ends[1], model=model),
    st.sampled_from(list(combinations([-900, -300, -50, -3, 0, 0.5, 2, 40, 200, 999], 2))),
    st.sampled_from(MODELS),
)


@settings(deadline=None)
@given(tests_of_any_kind, huge_counts)
def test_llr_is_finite_and_antisymmetric(test: Sprt, pairs: PairCounts) -> None:
    llr = test.llr(pairs)
    assert math.isfinite(llr)
    mirrored = Sprt(-test.elo1, -test.elo0, model=test.model)
    assert mirrored.llr(pairs[::-1]) == pytest.approx(-llr, rel=1e-5, abs=1e-5)


@settings(deadline=None)
@given(small_counts)
def test_llr_grows_with_the_score(pairs: PairCounts) -> None:
    assume(pairs[0] > 0)
    test = Sprt(0, 20, model="logistic")
    better = (pairs[0] - 1, *pairs[1:4], pairs[4] + 1)
    assert test.llr(better) > test.llr(pairs)


def test_llr_of_few_and_one_sided_pairs() -> None:
    for model in MODELS:
        test = Sprt(0, 10, model=model)
        assert test.llr((0, 0, 0, 0, 0)) == test.llr_of_games(0, 0) == 0
        won = [test.llr((0, 0, 0, 0, wins)) for wins in (1, 10, 100, 10_000)]
        assert sorted(won) == won
        assert 0 < won[0] < 0.1
        assert test.verdict(won[-1]) == "H1"
        assert test.verdict(test.llr((10_000, 0, 0, 0, 0))) == "H0"
        assert test.llr((0, 0, 1, 0, 0)) < 0  # a split pair is evidence for the smaller difference


def likeliest(frequencies: np.ndarray, hypothesis: float, model: str) -> float:
    """Return the largest likelihood under a hypothesis, found by a general optimiser."""

    def distribution(x: np.ndarray) -> np.ndarray:
        powers = np.exp(x - x.max())
        return np.asarray(powers / powers.sum())

    def unmet(x: np.ndarray) -> float:
        p = distribution(x)
        mean = p @ SCORES
        if model == "logistic":
            return float(mean - score_of(hypothesis))
        deviation = math.sqrt(p @ (SCORES - mean) ** 2)
        return float(mean - 0.5 - hypothesis * math.sqrt(2) / NELO * deviation)

    best, rng = -math.inf, np.random.default_rng(0)
    for start in rng.dirichlet(np.ones(5), size=4):
        found = scipy.optimize.minimize(
            lambda x: -float(frequencies @ np.log(distribution(x))),
            np.log(start),
            constraints={"type": "eq", "fun": unmet},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if abs(unmet(found.x)) < 1e-7:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("pairs", [(10, 3, 20, 4, 8), (1, 2, 3, 4, 5), (30, 20, 9, 5, 1)])
def test_llr_is_the_ratio_of_the_largest_likelihoods(pairs: PairCounts, model: str) -> None:
    test, n = Sprt(-10, 60, model=model), sum(pairs)
    frequencies = np.array(pairs) / n
    slow = n * (likeliest(frequencies, test.elo1, model) - likeliest(frequencies, test.elo0, model))
    assert test.llr(pairs) == pytest.approx(slow, abs=1e-4)


def test_llr_is_fast() -> None:
    test = Sprt(0, 5)
    start = time.process_time()
    for k in range(300):
        test.llr((50 + k, 0, 300, 0, 90))
    assert (time.process_time() - start) / 300 < 1e-3


def test_bounds_and_verdicts() -> None:
    test = Sprt(0, 5, alpha=0.02, beta=0.1)
    lower, upper = test.bounds
    assert lower == pytest.approx(math.log(0.1 / 0.98))
    assert upper == pytest.approx(math.log(0.9 / 0.02))
    assert test.verdict(lower) == "H0"
    assert test.verdict(upper) == "H1"
    assert test.verdict((lower + upper) / 2) is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"elo0": 5, "elo1": 5}, "5,5"),
        ({"elo0": 7, "elo1": 5}, "7,5"),
        ({"elo0": math.nan, "elo1": 5}, "nan"),
        ({"elo0": 0, "elo1": math.inf}, "inf"),
        ({"elo0": 0, "elo1": 1001}, "1001"),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha 0 "),
        ({"elo0": 0, "elo1": 5, "beta": 0.5}, "beta 0.5 "),
        ({"elo0": 0, "elo1": 5, "alpha": math.nan}, "nan"),
        ({"elo0": 0, "elo1": 5, "model": "logstic"}, "did you mean 'logistic'"),
    ],
)
def test_tests_that_make_no_sense_are_refused(wrong: dict[str, float], named: str) -> None:
    with pytest.raises(KnightfallError, match=named):
        Sprt(**wrong)  # type: ignore[arg-type]


def played(test: Sprt, true_elo: float, matches: int, seed: int) -> tuple[float, float]:
    """Simulate matches; return the share that accepts H1 and the mean number of pairs."""
    chances = np.cumsum(pair_distribution(true_elo, model=test.model)).tolist()
    rng = np.random.default_rng(seed)
    draws = chain.from_iterable(rng.random(10_000).tolist() for _ in count())

    @cache
    def verdict(lost: int, split: int, won: int) -> str | None:
        return test.verdict(test.llr((lost, 0, split, 0, won)))

    accepted = pairs = 0
    for _ in range(matches):
        state = [0, 0, 0]
        while (end := verdict(*state)) is None:
            state[bisect_left(chances, next(draws))] += 1
        accepted += end == "H1"
        pairs += sum(state)
    return accepted / matches, pairs / matches


@some_and_all
@pytest.mark.parametrize("model", MODELS)
def test_error_rates_and_lengths_are_as_promised(model: str, step: int) -> None:
    test = Sprt(0, 100, model=model) if model == "normalized" else Sprt(0, 80, model=model)
    matches = 1000 // step
    noise = 3 * math.sqrt(0.05 * 0.95 / matches)
    for truth, most_wrong in ((test.elo0, test.alpha), (test.elo1, test.beta)):
        passed, pairs = played(test, truth, matches, seed=1)
        wrong = passed if truth == test.elo0 else 1 - passed
        assert wrong < most_wrong + noise
        expected = forecast(test, truth)
        assert passed == pytest.approx(expected.passes, abs=0.045)
        assert pairs == pytest.approx(expected.pairs, rel=0.12)


@some_and_all
def test_plans_between_the_hypotheses(step: int) -> None:
    # Where tests take longest, a forecast without overshoot would be 15 % too short.
    test = Sprt(0, 100)
    passed, pairs = played(test, 50, 600 if step == 1 else 240, seed=2)
    expected = forecast(test, 50)
    assert passed == pytest.approx(expected.passes, abs=0.06)
    assert pairs == pytest.approx(expected.pairs, rel=0.08)


@settings(deadline=None)
@given(
    st.floats(-300, 300),
    st.floats(0.5, 0.999),
    st.sampled_from(MODELS),
)
def test_plans_are_sane(true_elo: float, split: float, model: str) -> None:
    test = Sprt(-3, 5, model=model)
    lost, even, won = pair_distribution(true_elo, split, model)
    assert lost + even + won == pytest.approx(1)
    assert min(lost, even, won) >= 0
    score = won + even / 2
    variance = lost * score**2 + even * (0.5 - score) ** 2 + won * (1 - score) ** 2
    if model == "logistic":
        assert elo_of(score) == pytest.approx(true_elo, abs=1e-5)
    else:
        assert (score - 0.5) / math.sqrt(2 * variance) * NELO == pytest.approx(true_elo, abs=1e-5)
    assert pair_distribution(0, split, model)[1] == pytest.approx(split)
    expected = forecast(test, true_elo, split)
    assert 0 <= expected.passes <= 1
    assert 0 < expected.pairs < math.inf
    if true_elo < 290:
        assert forecast(test, true_elo + 10, split).passes >= expected.passes - 1e-9


def test_plans_that_make_no_sense_are_refused() -> None:
    for split in (0.4, 1, math.nan):
        with pytest.raises(KnightfallError, match="split pairs"):
            forecast(Sprt(0, 5), 0, split)
    with pytest.raises(KnightfallError, match="2000"):
        forecast(Sprt(0, 5), 2000)


# -- comparisons -----------------------------------------------------------------------------


def test_difference_of_many_pairs_is_students() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.choice([0, 0.5, 1], size=(2, 3000), p=[0.2, 0.5, 0.3])
    found, known = difference(a, b), scipy.stats.ttest_rel(a, b)
    assert found.mean == pytest.approx(float((a - b).mean()))
    assert found.p == pytest.approx(known.pvalue, rel=0.02)
    interval = known.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=0.02)


def test_difference_of_few_pairs_leaves_doubt() -> None:
    assert difference([], []) == difference((), ())
    nothing = difference([], [])
    assert (nothing.pairs, nothing.mean, nothing.low, nothing.high, nothing.p) == (0, 0, -1, 1, 1)
    one = difference([1.0], [0.0])
    assert one.mean == 1
    assert one.low < 0 < one.high <= 1
    assert one.p > 0.05
    same = difference([0.5, 1.0, 0.0], [0.5, 1.0, 0.0])
    assert (same.mean, same.p) == (0, 1)
    assert same.low < -0.2 < 0.2 < same.high
    assert difference([1.0] * 20, [0.5] * 20).p < 1e-6


pair_scores = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])] * 2), min_size=1, max_size=30
)


@settings(deadline=None)
@given(pair_scores)
def test_difference_is_consistent(scores: list[tuple[float, float]]) -> None:
    a, b = [pair[0] for pair in scores], [pair[1] for pair in scores]
    here, there = difference(a, b), difference(b, a)
    assert here.low <= here.mean <= here.high
    assert (here.p < 0.05) == (not here.low <= 0 <= here.high)
    assert (here.mean, here.low, here.high) == pytest.approx((-there.mean, -there.high, -there.low))
    assert here.p == pytest.approx(there.p)


@pytest.mark.parametrize("pairs", [5, 20, 100])
def test_differences_cover_95_percent(pairs: int) -> None:
    rng = np.random.default_rng(4)
    covered = []
    for _ in range(1000):
        a = rng.choice([0, 0.5, 1], size=pairs, p=[0.1, 0.6, 0.3])
        b = rng.choice([0, 0.5, 1], size=pairs, p=[0.2, 0.7, 0.1])
        found = difference(a, b)
        covered.append(found.low <= 0.6 - 0.45 <= found.high)
    assert 0.93 < np.mean(covered) < 0.999


def test_a_sequential_difference_is_a_mixture_of_likelihoods() -> None:
    rng = np.random.default_rng(2)
    for pairs, lead in ((30, 0.0), (200, 0.03), (3000, -0.05)):
        a = rng.choice(3, pairs, p=(0.2, 0.5, 0.3)) / 2
        b = np.clip(a - lead + rng.choice([-0.3, 0, 0.3], pairs), 0, 1)
        found = sequential_difference(a, b)
        mean = float(np.mean(a - b))
        error = float(np.std([*(a - b), 0.5, -0.5])) / math.sqrt(pairs)

        def evidence(true: float, mean: float = mean, error: float = error) -> float:
            """Return the likelihood ratio between gaps distributed around `true` and gaps exactly
            `true`.
            """
            spread = scipy.stats.norm(true, 0.03)
            ends = (min(mean, true) - 0.3, max(mean, true) + 0.3)
            mixed, _ = scipy.integrate.quad(
                lambda gap: scipy.stats.norm.pdf(mean, gap, error) * spread.pdf(gap),
                *ends,
                points=[mean, true],
                limit=200,
            )
            return float(mixed / scipy.stats.norm.pdf(mean, true, error))

        assert found.pairs == pairs
        assert found.mean == pytest.approx(mean)
        assert found.p == pytest.approx(min(1.0, 1 / evidence(0.0)), rel=1e-5)
        for end in (found.low, found.high):
            assert abs(end) == 1 or evidence(end) == pytest.approx(20, rel=1e-5)
        fixed = difference(a, b)
        assert found.low < fixed.low < fixed.high < found.high


def test_a_sequential_difference_of_few_pairs_leaves_doubt() -> None:
    assert sequential_difference([], []) == difference([], [])
    one = sequential_difference([1.0], [0.0])
    assert (one.low, one.high) == (-1.0, 1.0)
    assert one.p > 0.9
    alike = sequential_difference([0.5] * 400, [0.5] * 400)
    assert (alike.mean, alike.p) == (0.0, 1.0)
    assert 0 < alike.high < 0.02


def test_differences_that_make_no_sense_are_refused() -> None:
    with pytest.raises(KnightfallError, match=r"\(2,\) and \(1,\)"):
        difference([1.0, 0.0], [1.0])
    for wrong in (1.5, -0.5, math.nan):
        with pytest.raises(KnightfallError, match="not a pair score"):
            difference([wrong], [0.0])


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.03]) == [0.03]
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.5]) == [1.0, 1.0]
    with pytest.raises(KnightfallError, match=r"1\.5 is not a p-value"):
        holm([0.1, 1.5])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_the_order_and_only_adds(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


def test_holm_errs_in_5_percent_of_all_families() -> None:
    rng = np.random.default_rng(5)
    families = 2 * scipy.stats.norm.sf(np.abs(rng.standard_normal((2000, 10))))
    naive = (families.min(1) < 0.05).mean()
    wrong = np.mean([min(holm(list(family))) < 0.05 for family in families])
    assert naive > 0.35
    assert 0.03 < wrong < 0.065
