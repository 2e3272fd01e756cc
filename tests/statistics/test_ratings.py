"""Ratings of many agents, compared with other implementations and with simulated leagues."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np
import pytest
import scipy
from helpers import some_and_all
from hypothesis import given, settings
from hypothesis import strategies as st

from knightfall.errors import KnightfallError
from knightfall.statistics.bradley_terry import BradleyTerryFit, _groups, _seat_is_unlimited
from knightfall.statistics.ratings import (
    FIRSTS,
    LL,
    SECONDS,
    WW,
    Pairs,
    Ratings,
    _ratings,
    of_pairs,
)

ELO = 400 / math.log(10)
Games = dict[tuple[int, int], tuple[int, int]]


def games_of(pairs: Mapping[tuple[int, int], tuple[int, int, int, int]]) -> Games:
    """Return the results of pairs as counts of single games."""
    games: dict[tuple[int, int], list[int]] = {}
    for (a, b), counts in pairs.items():
        for outcome, count in enumerate(counts):
            first = games.setdefault((a, b), [0, 0])
            first[0 if outcome in (FIRSTS, WW) else 1] += count
            second = games.setdefault((b, a), [0, 0])
            second[0 if outcome in (FIRSTS, LL) else 1] += count
    return {couple: (wins, losses) for couple, (wins, losses) in games.items()}


def of_games(
    agents: int, games: Mapping[tuple[int, int], tuple[float, float]], *, seat: bool = True
) -> Ratings:
    """Return ratings from independent games: (first, second) to (first's wins, second's wins).

    A game of an agent with itself tells only about the seat.  Without `seat`, moving first is
    assumed to be worth nothing.
    """
    won, played = np.zeros((2, agents, agents))
    for couple, (first, second) in games.items():
        won[couple] += first
        played[couple] += first + second
    model = BradleyTerryFit(won, played, seat)
    return _ratings(model, model.inverse)


def finite(ratings: Ratings) -> bool:
    parts = [ratings.elo, ratings.covariance, ratings.seat_elo, ratings.seat_error]
    return all(np.isfinite(part).all() for part in parts)


# -- maximum likelihood ----------------------------------------------------------------------


def test_three_agents_as_published() -> None:
    ratings = of_games(3, {(0, 1): (2, 0), (1, 2): (1, 0), (2, 0): (1, 0)}, seat=False)
    assert ratings.elo / ELO == pytest.approx([0.419617624, -0.419617624, 0], rel=1e-3, abs=1e-9)
    assert ratings.seat_elo == ratings.seat_error == 0


def league(agents: int, games: int, seed: int, seat: float = 0.0) -> tuple[Games, np.ndarray]:
    """Return random games of every ordered couple, and the true strengths."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=agents)
    results: Games = {}
    for i in range(agents):
        for j in range(agents):
            if i != j:
                won = int(
                    rng.binomial(games, scipy.special.expit(strengths[i] - strengths[j] + seat))
                )
                results[i, j] = (won, games - won)
    return results, strengths - strengths.mean()


@pytest.mark.parametrize("seed", range(3))
def test_without_a_seat_it_agrees_with_choix(seed: int) -> None:
    import choix

    games, _ = league(7, 12, seed)
    data = [
        winner
        for (i, j), (won, lost) in games.items()
        for winner in [(i, j)] * won + [(j, i)] * lost
    ]
    known = choix.ilsr_pairwise(7, data, alpha=0)
    ratings = of_games(7, games, seat=False)
    assert ratings.elo / ELO == pytest.approx(known - known.mean(), abs=1e-4)
    assert len(set(ratings.group)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_with_a_seat_it_agrees_with_a_blind_search(seed: int) -> None:
    games, _ = league(4, 20, seed, seat=0.7)
    games[2, 2] = (15, 5)

    def unlikelihood(x: np.ndarray) -> float:
        total = 0.0
        for (i, j), (won, lost) in games.items():
            odds = x[i] - x[j] + x[4]
            total += won * np.logaddexp(0, -odds) + lost * np.logaddexp(0, odds)
        return total + float(x[:4].sum()) ** 2

    found = scipy.optimize.minimize(
        unlikelihood, np.zeros(5), method="BFGS", options={"gtol": 1e-8}
    ).x
    ratings = of_games(4, games)
    assert ratings.elo / ELO == pytest.approx(found[:4] - found[:4].mean(), abs=1e-3)
    assert ratings.seat_elo / ELO == pytest.approx(found[4], abs=1e-3)
    # The curvature at the maximum, by finite differences, gives the ordinary errors.
    step, at = 1e-3, np.eye(5) * 1e-3
    hessian = np.array(
        [
            [
                (
                    unlikelihood(found + at[k] + at[m])
                    - unlikelihood(found + at[k] - at[m])
                    - unlikelihood(found - at[k] + at[m])
                    + unlikelihood(found - at[k] - at[m])
                )
                / (4 * step * step)
                for m in range(5)
            ]
            for k in range(5)
        ]
    )
    known = np.linalg.inv(hessian) * ELO**2
    assert ratings.seat_error == pytest.approx(1.959964 * math.sqrt(known[4, 4]), rel=1e-3)
    variance = known[0, 0] + known[1, 1] - 2 * known[0, 1]
    assert ratings.difference(0, 1)[1] == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-3)


def test_the_fit_is_where_likelihood_and_prior_together_are_greatest() -> None:
    model = BradleyTerryFit(np.array([[0.0, 9], [3, 0]]), np.array([[0.0, 10], [10, 0]]), True)
    assert np.abs(model.theta).min() > 0.1
    slope = [
        model._value(model.theta + step) - model._value(model.theta - step)
        for step in np.eye(3) * 1e-3
    ]
    assert np.array(slope) / 2e-3 == pytest.approx(np.zeros(3), abs=1e-5)


def test_truth_is_found() -> None:
    games, strengths = league(10, 20_000, seed=5, seat=0.3)
    ratings = of_games(10, games)
    assert ratings.elo / ELO == pytest.approx(strengths, abs=0.03)
    assert ratings.seat_elo / ELO == pytest.approx(0.3, abs=0.01)
    assert float(ratings.elo.mean()) == pytest.approx(0, abs=1e-6)


def test_self_play_speaks_of_the_seat_only() -> None:
    games, _ = league(3, 10, seed=1)
    with_self = of_games(3, {**games, (1, 1): (900, 100)})
    assert with_self.seat_elo == pytest.approx(ELO * math.log(9), rel=0.15)
    assert of_games(3, {(1, 1): (900, 100)}).elo.tolist() == [0, 0, 0]
    alone = of_pairs(1, Pairs.counted({(0, 0): (1, 20, 60, 2)}))
    assert finite(alone)
    assert alone.seat_elo == pytest.approx(ELO * math.log(123 / 43), rel=1e-3)


def test_pairs_and_games_are_the_same_results() -> None:
    counts = {
        (0, 1): (3, 4, 6, 9),
        (2, 1): (5, 5, 1, 2),
        (0, 2): (2, 2, 2, 2),
        (1, 0): (1, 1, 0, 0),
    }
    by_pairs, by_games = of_pairs(3, Pairs.counted(counts)), of_games(3, games_of(counts))
    assert by_pairs.elo == pytest.approx(by_games.elo)
    assert by_pairs.seat_elo == pytest.approx(by_games.seat_elo)
    one_by_one = [
        (a, b, outcome)
        for (a, b), given in counts.items()
        for outcome, count in enumerate(given)
        for _ in range(count)
    ]
    rows = of_pairs(3, Pairs(*np.array(one_by_one).T))
    assert rows.elo == pytest.approx(by_pairs.elo)
    assert rows.covariance == pytest.approx(by_pairs.covariance)
    # Openings that are used only once change nothing.
    named = Pairs(*np.array(one_by_one).T, opening=np.arange(len(one_by_one)) * 7 - 3)
    assert of_pairs(3, named).covariance == pytest.approx(by_pairs.covariance)


def test_three_counts_for_each_couple_will_do() -> None:
    three = of_pairs(2, Pairs.counted({(0, 1): (3, 20, 9)}))
    four = of_pairs(2, Pairs.counted({(0, 1): (3, 10, 10, 9)}))
    assert three.elo == pytest.approx(four.elo)
    assert three.difference(0, 1) == pytest.approx(four.difference(0, 1))


# -- properties of ratings -------------------------------------------------------------------


def test_differences_have_their_own_errors() -> None:
    games, _ = league(5, 30, seed=2)
    ratings = of_games(5, games)
    gap, error = ratings.difference(0, 3)
    assert gap == pytest.approx(ratings.elo[0] - ratings.elo[3])
    assert error < ratings.error(0) + ratings.error(3)
    assert ratings.difference(3, 0) == pytest.approx((-gap, error))
    assert ratings.los(0, 3) + ratings.los(3, 0) == pytest.approx(1)
    assert (ratings.los(0, 3) > 0.5) == (gap > 0)
    assert ratings.difference(2, 2) == (0, 0)
    assert ratings.los(2, 2) == 0.5


def test_anchors_move_everything_but_the_differences() -> None:
    games, _ = league(5, 30, seed=3, seat=0.4)
    free = of_games(5, games)
    tied = free.anchored(2)
    assert tied.elo[2] == 0
    assert tied.error(2) == pytest.approx(0, abs=1e-4)
    assert tied.error(4) == pytest.approx(free.difference(4, 2)[1])
    assert tied.difference(0, 1) == pytest.approx(free.difference(0, 1))
    assert (tied.seat_elo, tied.seat_error) == pytest.approx((free.seat_elo, free.seat_error))
    assert tied.anchored(1).elo == pytest.approx(free.elo - free.elo[1])


# -- one-sided results -----------------------------------------------------------------------


def test_nothing_played() -> None:
    for nothing in (of_games(3, {}), of_pairs(3, Pairs.counted({})), of_games(3, {(0, 1): (0, 0)})):
        assert finite(nothing)
        assert nothing.elo.tolist() == [0, 0, 0]
        assert nothing.difference(0, 1)[1] > 10_000
        assert nothing.los(0, 1) == 0.5
        assert nothing.group[0] != nothing.group[1]


def test_an_agent_that_lost_everything_blurs_no_other_rating() -> None:
    others = {(i, j): (5, 4, 6, 6) for i in range(4) for j in range(i)}
    alone = of_pairs(4, Pairs.counted(others))
    with_loser = of_pairs(5, Pairs.counted({**others, **{(i, 4): (0, 0, 0, 20) for i in range(4)}}))
    assert finite(with_loser)
    # 160 : 0 counts like 160½ : ½.
    assert with_loser.elo[4] == pytest.approx(-ELO * math.log(160.5 / 0.5), rel=0.03)
    assert with_loser.los(0, 4) > 0.999
    assert 300 < with_loser.error(4) < 1000
    for agent in range(4):
        assert with_loser.elo[agent] == pytest.approx(alone.elo[agent], abs=2)
        assert with_loser.error(agent) == pytest.approx(alone.error(agent), rel=0.1)
        assert with_loser.group[agent] != with_loser.group[4]
    assert with_loser.group[0] == with_loser.group[3]


def test_one_pair_is_not_much() -> None:
    won = of_pairs(2, Pairs.counted({(0, 1): (0, 0, 0, 1)}))
    assert 0.5 < won.los(0, 1) < 0.95
    gap, error = won.difference(0, 1)
    assert 0 < gap < error
    split = of_pairs(2, Pairs.counted({(0, 1): (0, 0, 1, 0)}))
    assert split.difference(0, 1)[0] == pytest.approx(0, abs=1e-9)
    assert split.difference(0, 1)[1] > 200


def test_more_wins_without_a_loss_are_better() -> None:
    gaps = [
        of_pairs(2, Pairs.counted({(0, 1): (0, 0, 0, wins)})).difference(0, 1)[0]
        for wins in (1, 3, 10, 100)
    ]
    assert gaps == sorted(gaps)
    once_lost = of_pairs(2, Pairs.counted({(0, 1): (0, 1, 0, 99)}))
    assert once_lost.difference(0, 1)[0] < gaps[-1]


def test_groups_that_never_met_are_not_compared() -> None:
    apart = of_pairs(5, Pairs.counted({(0, 1): (9, 5, 6, 9), (2, 3): (9, 5, 6, 19)}))
    assert finite(apart)
    assert apart.difference(0, 1)[1] < 150
    assert apart.difference(0, 2)[1] > 10_000
    assert apart.group[0] == apart.group[1]
    assert apart.group[1] != apart.group[2]
    assert apart.group[1] != apart.group[4]


def test_seats_without_limit_are_those_that_contradict_no_result() -> None:
    rng = np.random.default_rng(3)
    unlimited = 0
    for _ in range(150):
        n = int(rng.integers(2, 7))
        met = rng.random((n, n)) < rng.choice([0.2, 0.4, 0.7])
        seat_decides = rng.random((n, n)) < rng.choice([0.3, 1.0])
        won = np.where(met, np.where(seat_decides, 1, rng.integers(0, 2, (n, n))), 0).astype(float)
        played = met.astype(float)
        # Strengths exist under which a seat worth 1 (or −1) contradicts no result.
        rows = []
        for i, j in np.argwhere(met):
            row = np.zeros(n)
            row[i] += 1
            row[j] -= 1
            rows.append((-row, won[i, j]))
        found = []
        for seat in (1.0, -1.0):
            limits = [(row, seat) if win else (-row, -seat) for row, win in rows]
            a = np.array([row for row, _ in limits]).reshape(-1, n)
            b = [limit for _, limit in limits]
            found.append(
                not limits or scipy.optimize.linprog(np.zeros(n), a, b, bounds=(None, None)).success
            )
        assert _seat_is_unlimited(won > 0, played - won > 0) == any(found)
        unlimited += any(found)
    assert 30 < unlimited < 120


def test_groups_are_strongly_connected_components() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        beat = rng.random((n, n)) < rng.choice([0.1, 0.2, 0.4])
        beat |= np.eye(n, dtype=np.bool_) & bool(rng.integers(0, 2))  # agents play themselves, too
        _, known = scipy.sparse.csgraph.connected_components(beat, connection="strong")
        found = _groups(beat)
        assert (np.equal.outer(found, found) == np.equal.outer(known, known)).all()


def test_a_seat_that_wins_everything() -> None:
    first = of_pairs(2, Pairs.counted({(0, 1): (0, 0, 30, 0)}))
    assert finite(first)
    assert first.seat_elo == pytest.approx(ELO * math.log(60.5 / 0.5), rel=0.01)
    assert first.difference(0, 1)[0] == pytest.approx(0, abs=1e-6)
    second = of_pairs(2, Pairs.counted({(0, 1): (0, 30, 0, 0)}))
    assert second.seat_elo == pytest.approx(-first.seat_elo)
    always_first = of_games(2, {(0, 1): (10, 0)})  # seat and strength cannot be told apart
    assert finite(always_first)
    assert always_first.difference(0, 1)[1] > 5000


cells = st.tuples(*[st.sampled_from([0, 0, 0, 1, 2, 10, 1000])] * 4)
couples = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(deadline=None)
@given(st.dictionaries(couples, cells, max_size=6), st.booleans())
def test_any_results_give_finite_ratings(
    counts: dict[tuple[int, int], tuple[int, int, int, int]], seat: bool
) -> None:
    pairs = Pairs.counted(counts)
    shared = Pairs(pairs.a, pairs.b, pairs.outcome, pairs.count, np.arange(len(pairs.a)) % 3)
    for ratings in (
        of_pairs(4, pairs, seat=seat),
        of_pairs(4, shared, seat=seat),
        of_games(4, games_of(counts), seat=seat),
    ):
        assert finite(ratings)
        for i in range(4):
            assert 0 <= ratings.los(i, 0) <= 1
            assert i == 0 or ratings.difference(i, 0)[1] > 0
    assert of_pairs(4, shared, seat=seat).error(0) >= 0.999 * of_pairs(4, pairs, seat=seat).error(0)


@settings(deadline=None)
@given(st.dictionaries(couples, cells, max_size=6))
def test_names_and_sides_do_not_matter(
    counts: dict[tuple[int, int], tuple[int, int, int, int]],
) -> None:
    ratings = of_pairs(4, Pairs.counted(counts))
    renamed = of_pairs(4, Pairs.counted({(3 - a, 3 - b): n for (a, b), n in counts.items()}))
    assert renamed.difference(3, 2) == pytest.approx(ratings.difference(0, 1), rel=1e-3, abs=1e-2)
    turned: dict[tuple[int, int], list[int]] = {}
    for (a, b), (ll, seconds, firsts, ww) in counts.items():
        there = turned.setdefault((b, a), [0, 0, 0, 0])
        for at, n in enumerate((ww, seconds, firsts, ll)):
            there[at] += n
    seen_from_b = of_pairs(4, Pairs.counted(turned))
    assert seen_from_b.elo == pytest.approx(ratings.elo, rel=1e-3, abs=1e-2)
    assert seen_from_b.seat_elo == pytest.approx(ratings.seat_elo, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: of_pairs(2, Pairs.counted({(0, 2): (1, 1, 1)})), "no agent 2: 0 to 1"),
        (lambda: of_pairs(2, Pairs.counted({(-1, 0): (1, 1, 1)})), "no agent -1"),
        (lambda: of_pairs(2, Pairs.counted({(0, 1): (-1, 1, 1)})), "-1 is not a count of pairs"),
        (lambda: of_pairs(2, Pairs.counted({(0, 1): (math.nan, 1, 1)})), "nan is not a count"),
        (lambda: of_pairs(0, Pairs.counted({})), "0 agents"),
        (lambda: Pairs.counted({(0, 1): (1, 2)}), "2 counts of pairs"),
        (lambda: of_pairs(2, Pairs(*np.array([[0], [1], [4]]))), "4 is not the outcome"),
    ],
)
def test_results_that_make_no_sense_are_refused(wrong: object, named: str) -> None:
    with pytest.raises(KnightfallError, match=named):
        wrong()  # type: ignore[operator]


# -- errors against simulated leagues --------------------------------------------------------


def simulated(
    strengths: np.ndarray, bias: float, openings: int, rng: np.random.Generator, shared: bool
) -> Pairs:
    """Return simulated pairs between all agents; each opening favours a seat by lognormal odds
    around e^0.2.
    """
    i, j = np.triu_indices(len(strengths), 1)
    odds = 0.2 + bias * rng.standard_normal((1 if shared else len(i), openings))
    gap = (strengths[i] - strengths[j])[:, None]
    won_first = rng.random((len(i), openings)) < scipy.special.expit(gap + odds)
    won_second = rng.random((len(i), openings)) < scipy.special.expit(gap - odds)
    return Pairs(
        np.repeat(i, openings),
        np.repeat(j, openings),
        (2 * won_first + won_second).ravel(),
        opening=np.tile(np.arange(openings), len(i)) if shared else None,
    )


def as_games(pairs: Pairs) -> Games:
    counts: dict[tuple[int, int], list[int]] = {}
    for a, b, outcome in zip(
        pairs.a.tolist(), pairs.b.tolist(), pairs.outcome.tolist(), strict=True
    ):
        counts.setdefault((a, b), [0, 0, 0, 0])[outcome] += 1
    return games_of({couple: tuple(four) for couple, four in counts.items()})  # type: ignore[misc]


@some_and_all
@pytest.mark.parametrize("shared", [False, True])
def test_errors_cover_95_percent(shared: bool, step: int) -> None:
    rng = np.random.default_rng(11)
    strengths = np.linspace(-1.2, 1.2, 5)
    times, matches = (5, 400) if step == 1 else (2, 160)
    truths = [of_pairs(5, simulated(strengths, 3, 20_000, rng, False)) for _ in range(times)]
    gap = float(np.mean([t.difference(4, 0)[0] for t in truths]))
    near = float(np.mean([t.difference(2, 1)[0] for t in truths]))
    seat = float(np.mean([t.seat_elo for t in truths]))
    hits: dict[str, list[bool]] = {}
    for _ in range(matches):
        pairs = simulated(strengths, 3, 50, rng, shared)
        ratings, plain = of_pairs(5, pairs), of_games(5, as_games(pairs))
        for name, (found, error), truth in (
            ("far", ratings.difference(4, 0), gap),
            ("near", ratings.difference(2, 1), near),
            ("seat", (ratings.seat_elo, ratings.seat_error), seat),
            ("plain near", plain.difference(2, 1), near),
            ("plain seat", (plain.seat_elo, plain.seat_error), seat),
        ):
            hits.setdefault(name, []).append(abs(found - truth) <= error)
    covered = {name: sum(hit) / len(hit) for name, hit in hits.items()}
    for name in ("far", "near", "seat"):
        assert 0.91 < covered[name] < 0.985, covered
    # Ordinary errors are too wide for agents and too narrow for the seat, as documented.
    assert covered["plain near"] > 0.985
    assert covered["plain seat"] < 0.93


def drawn_anew(agents: int, pairs: Pairs, n: int) -> list[Ratings]:
    """Return ratings of `n` bootstrap samples of openings; if no opening is shared, of pairs."""
    rng = np.random.default_rng(1)
    named = np.arange(len(pairs.a)) if pairs.opening is None else pairs.opening
    places = [np.flatnonzero(named == opening) for opening in np.unique(named)]
    found = []
    for _ in range(n):
        at = np.concatenate([places[k] for k in rng.integers(len(places), size=len(places))])
        found.append(of_pairs(agents, Pairs(pairs.a[at], pairs.b[at], pairs.outcome[at])))
    return found


@pytest.mark.parametrize("shared", [False, True])
def test_bootstrap_agrees(shared: bool) -> None:
    rng = np.random.default_rng(12)
    pairs = simulated(np.linspace(-1, 1, 4), 3, 200, rng, shared)
    ratings, drawn = of_pairs(4, pairs), drawn_anew(4, pairs, 200)

    def spread(i: int, j: int) -> float:
        return 1.96 * float(np.std([one.difference(i, j)[0] for one in drawn]))

    for i, j in ((0, 1), (0, 3), (1, 2)):
        assert ratings.difference(i, j)[1] == pytest.approx(spread(i, j), rel=0.2)
    seats = 1.96 * float(np.std([one.seat_elo for one in drawn]))
    assert ratings.seat_error == pytest.approx(seats, rel=0.2)
    if not shared:  # it detects that ordinary errors are a fifth too wide
        plain = of_games(4, as_games(pairs))
        assert plain.difference(0, 1)[1] > 1.15 * spread(0, 1)


def test_a_million_games_take_a_moment() -> None:
    rng = np.random.default_rng(13)
    a = rng.integers(0, 60, 500_000)
    b = (a + rng.integers(1, 60, a.size)) % 60
    pairs = Pairs(a, b, rng.integers(0, 4, a.size), opening=rng.integers(0, 2352, a.size))
    start = time.process_time()
    assert finite(of_pairs(60, pairs))
    assert time.process_time() - start < 1.5


def test_outcomes_are_what_they_say() -> None:
    assert (LL, SECONDS, FIRSTS, WW) == (0, 1, 2, 3)
    # Agent 0 won moving first and lost moving second: the first players won both.
    firsts = of_pairs(2, Pairs.counted({(0, 1): (1, 0, 20, 1)}))
    assert firsts.seat_elo > 100


@pytest.mark.parametrize("games", [1, 7, 40])
def test_who_won_every_game_is_rated_as_if_half_a_game_were_lost_and_half_won(games: int) -> None:
    found = of_games(2, {(0, 1): (games, 0.0)}, seat=False)
    wanted = 400 * math.log10((games + 0.5) / 0.5)
    assert found.difference(0, 1)[0] == pytest.approx(wanted, rel=0.01)


def test_results_on_both_sides_are_hardly_shrunk() -> None:
    """Check that if both agents have won games, the wide prior (10,000 Elo) hardly changes the
    ratings.
    """
    found = of_games(2, {(0, 1): (30.0, 10.0)}, seat=False)
    assert found.difference(0, 1)[0] == pytest.approx(400 * math.log10(3), rel=1e-3)
    error = 1.959964 * 400 / math.log(10) / math.sqrt(40 * 0.75 * 0.25)
    assert found.difference(0, 1)[1] == pytest.approx(error, rel=1e-2)


def test_of_agents_that_never_met_only_the_prior_is_known() -> None:
    found = of_games(2, {}, seat=False)
    assert found.difference(0, 1) == (0.0, pytest.approx(1.959964 * 10_000 * math.sqrt(2)))
