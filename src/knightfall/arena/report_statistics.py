"""The statistics in a report: win rates with intervals, ratings with errors, and differences.

All are computed from the stored pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.agents import agent_parts, without_folder
from knightfall.arena.plan import REASONS, Entrant, Plan
from knightfall.arena.store import Run
from knightfall.display.numbers import for_json, mean, percent
from knightfall.statistics import pairs as statistics
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import PairCounts
from knightfall.statistics.ratings import Pairs, Ratings

if TYPE_CHECKING:
    from knightfall.arena.results import EntrantResult, Results

PairOutcomes = npt.NDArray[np.int8]
"""The outcomes of the first pairs of a schedule, see `outcomes_of`."""

REAL = 0.05
"""A difference is called real if its p-value is below this."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The win rate, rating and costs of an entrant over all its matches."""

    number: int
    name: str
    agent: str
    pairs: tuple[int, int, int]
    """The pairs that ended LL, WL and WW."""
    rate: float
    low: float
    high: float
    elo: float
    elo_error: float
    result: EntrantResult

    def roles_and_effort(self) -> list[str]:
        """Return four cells of a table: win rates as hunter and runner, mean depth and nodes."""
        result, effort = self.result, self.result.effort
        return [
            percent(result.hunter.rate),
            percent(result.runner.rate),
            mean(effort.mean_depth),
            mean(effort.mean_nodes),
        ]


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The difference of the win rates (0 to 1) of a test agent `a` and the baseline `b`.

    Both played the same opponents from the same openings.  `low` and `high` are the ends of the
    95 % interval.
    """

    a: str
    b: str
    pairs: int
    difference: float
    low: float
    high: float
    p: float
    """The p-value, adjusted for the number of comparisons (Holm)."""
    same: bool = False
    """Whether both entrants are the same agent, so that there is nothing to compare."""

    @property
    def real(self) -> bool:
        """Whether the difference is significant at the level of 5 %."""
        return self.p < REAL

    def settled(self, within: float) -> bool:
        """Return whether the difference is significant, or its interval at most ±`within` wide."""
        return self.same or self.real or (self.high - self.low) / 2 <= within

    @property
    def uncertain(self) -> bool:
        """Whether the difference is significant alone, but not as one of several comparisons."""
        return not self.real and (self.low > 0 or self.high < 0)


def pair_statistics(pairs: Sequence[int]) -> statistics.MatchEstimate:
    """Return score, Elo and their errors from the counts of pairs that ended LL, WL and WW."""
    return statistics.of_pairs(pair_counts(pairs))


def pair_counts(pairs: Sequence[int]) -> PairCounts:
    """Return the counts of LL, LD, WL, WD and WW from LL, WL and WW; there are no draws."""
    lost, split, won = pairs
    return lost, 0, split, 0, won


class EntrantRatings:
    """The ratings of the entrants of a run, with 95 % errors.

    `player` maps entrants to rated players: an agent that entered twice is one player.
    """

    def __init__(self, plan: Plan, ratings: Ratings, player: Sequence[int]) -> None:
        self.plan = plan
        self.player = player
        self.ratings = ratings

    def elo(self, entrant: int) -> float:
        """Return an entrant's rating."""
        return float(self.ratings.elo[self.player[entrant]])

    def error(self, entrant: int) -> float:
        """Return the 95 % error of an entrant's rating."""
        return self.ratings.error(self.player[entrant])

    def difference(self, a: int, b: int) -> tuple[float, float]:
        """Return by how much Elo a is better than b, and the 95 % error."""
        return self.ratings.difference(self.player[a], self.player[b])

    def anchored(self, entrant: int) -> EntrantRatings:
        """Return the ratings shifted so that an entrant has rating 0."""
        return EntrantRatings(self.plan, self.ratings.anchored(self.player[entrant]), self.player)

    def ranking(self, entrants: Sequence[int]) -> list[int]:
        """Return the given entrants sorted by rating, the best first; equal ones keep their order.

        Ratings within a millionth of an Elo are equal: rounding must not decide a tie.
        """
        return sorted(entrants, key=lambda entrant: (-round(self.elo(entrant), 6), entrant))


def rate_entrants(plan: Plan, outcomes: PairOutcomes) -> EntrantRatings:
    """Return Bradley-Terry ratings from the outcomes of the first pairs of a schedule.

    The errors take into account that matches from the same opening are not independent.  If an
    agent entered twice, only the first of two matches with the same games counts.
    """
    agents = list(dict.fromkeys(entrant.agent for entrant in plan.entrants))
    player = np.array([agents.index(entrant.agent) for entrant in plan.entrants])
    a, b, series = np.array([(match.a, match.b, match.series) for match in plan.matches]).T
    same = list(zip(player[a].tolist(), player[b].tolist(), series.tolist(), strict=True))
    new = np.array([same.index(what) == at for at, what in enumerate(same)])
    rounds, places = np.divmod(np.arange(len(outcomes)), len(plan.matches))
    numbers = np.flatnonzero((outcomes >= 0) & new[places])
    rounds, places = rounds[numbers], places[numbers]
    fens = {fen: number for number, fen in enumerate(dict.fromkeys(plan.starts))}
    orders = np.array([[fens[fen] for fen in plan.order(one)] for one in range(series.max() + 1)])
    pairs = Pairs(
        a=player[a[places]],
        b=player[b[places]],
        outcome=outcomes[numbers].astype(np.int64),
        opening=orders[series[places], rounds // plan.repeats],
    )
    found = bradley_terry.of_pairs(len(agents), pairs)
    return EntrantRatings(plan, found, player.tolist())


def outcomes_of(run: Run) -> PairOutcomes:
    """Return an item per pair: 2 if `a` won moving first, plus 1 if it won moving second.

    The item is −1 where a pair repeats an earlier one and does not count.
    """
    _, scores, firsts, repeats = run.outcomes()
    return np.where(repeats, -1, 2 * firsts + (scores - firsts)).astype(np.int8)


def scores_of(outcomes: PairOutcomes) -> npt.NDArray[np.float64]:
    """Return the games that `a` won in each pair, 0, 1 or 2; nan where the pair does not count."""
    return np.where(outcomes < 0, np.nan, outcomes // 2 + outcomes % 2)


def standings(results: Results, entrants: Sequence[int], ratings: EntrantRatings) -> list[Standing]:
    """Return win rate, rating and costs of the given entrants, in the same order."""
    found = []
    for number in entrants:
        pairs = np.zeros(3, int)
        for match in results.matches:
            if match.a == number:
                pairs += match.pairs
            if match.b == number:
                pairs += match.pairs[::-1]
        lost, split, won = (int(count) for count in pairs)
        verdict = pair_statistics((lost, split, won))
        found.append(
            Standing(
                number=number,
                name=results.entrants[number].name,
                agent=results.entrants[number].agent,
                pairs=(lost, split, won),
                rate=verdict.score,
                low=verdict.low,
                high=verdict.high,
                elo=ratings.elo(number),
                elo_error=ratings.error(number),
                result=results.entrant(number),
            )
        )
    return found


def compare_with_baseline(
    plan: Plan,
    outcomes: PairOutcomes,
    tests: Sequence[int] | None = None,
    *,
    sequential: bool = False,
) -> list[BaselineComparison]:
    """Compare each test agent of a tournament with the first one, opening by opening.

    `tests` are the numbers of the test agents to compare, by default of all; of `outcomes` only
    whole rounds count.  With `sequential`, intervals and p-values stay valid under repeated looks.
    """
    scores = _by_opponent(plan, outcomes)
    measure = statistics.sequential_difference if sequential else statistics.difference
    first, *others = range(plan.options["tests"]) if tests is None else tests
    couples = [(test, first) for test in others]
    found = []
    for a, b in couples:
        shared = [key for key in scores[a] if key in scores[b]]
        mine = np.concatenate([scores[a][key] for key in shared]) if shared else np.zeros(0)
        theirs = np.concatenate([scores[b][key] for key in shared]) if shared else np.zeros(0)
        counts = ~(np.isnan(mine) | np.isnan(theirs))
        found.append(measure(mine[counts], theirs[counts]))
    agents = [entrant.agent for entrant in plan.entrants]
    same = [agents[a] == agents[b] for a, b in couples]
    # The comparison of an agent with itself does not count for the adjustment.
    adjusted = iter(
        statistics.holm([one.p for one, again in zip(found, same, strict=True) if not again])
    )
    return [
        BaselineComparison(
            plan.entrants[a].name, plan.entrants[b].name, one.pairs, one.mean, one.low, one.high,
            1.0 if again else next(adjusted), again,
        )
        for (a, b), one, again in zip(couples, found, same, strict=True)
    ]  # fmt: skip


def _by_opponent(
    plan: Plan, outcomes: PairOutcomes
) -> dict[int, dict[tuple[int, int], npt.NDArray[np.float64]]]:
    """Return the scores of pairs, 0 to 1, by test agent, opponent and series; nan for repeats."""
    rounds = len(outcomes) // len(plan.matches)
    whole = outcomes[: rounds * len(plan.matches)].reshape(rounds, len(plan.matches))
    table = scores_of(whole) / 2
    scores: dict[int, dict[tuple[int, int], npt.NDArray[np.float64]]] = {}
    for number, match in enumerate(plan.matches):
        scores.setdefault(match.a, {})[match.b, match.series] = table[:, number]
    return scores


# -- texts and plain values --------------------------------------------------------------------


def entrant_dict(row: Standing) -> dict[str, Any]:
    """Return an entrant's win rate, rating and costs as plain values."""
    result, effort = row.result, row.result.effort
    return {
        "name": row.name,
        "agent": row.agent,
        "games": result.total.games,
        "won": result.total.won,
        "lost": result.total.lost,
        "pairs": list(row.pairs),
        "rate": row.rate,
        "low": row.low,
        "high": row.high,
        "elo": for_json(row.elo),
        "elo_error": for_json(row.elo_error),
        "as_first": result.first.rate,
        "as_second": result.second.rate,
        "as_hunter": result.hunter.rate,
        "as_runner": result.runner.rate,
        "losses": dict(result.losses),
        "mean_depth": effort.mean_depth,
        "mean_nodes": effort.mean_nodes,
        "mean_microseconds": effort.mean_microseconds,
    }


def losses(row: Standing) -> str:
    """Return the number of lost games by reason: "12 no moves, 1 timeout", or "none"."""
    parts = [f"{row.result.losses[why]} {why}" for why in REASONS if row.result.losses.get(why)]
    return ", ".join(parts) or "none"


def shortened(name: str, most: int) -> str:
    """Return a name with its middle replaced by … if it is longer than `most`."""
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def short_names(entrants: Sequence[Entrant]) -> list[str]:
    """Return names for narrow columns: only the heuristic if all agents search in the same way."""
    names = [entrant.name for entrant in entrants]
    spelled = [agent_parts(entrant.agent) for entrant in entrants]
    alike = len({(how[0], how[2]) for how in spelled if how and how[1]}) == 1
    short = []
    for how, name in zip(spelled, names, strict=True):
        if "(" not in name:
            short.append(name.rpartition(":")[2])
        elif alike and how and how[1]:
            short.append(without_folder(how[1]))
        else:
            short.append(name)
    return [one if short.count(one) == 1 else name for one, name in zip(short, names, strict=True)]
