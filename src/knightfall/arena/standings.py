"""The numbers of a report: rates with their intervals, ratings with their errors, differences.

Everything is computed from what the store holds; nothing is kept.
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

REAL = 0.05
"""A difference is called real if chance would show such a one less often than this."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant, all its matches together."""

    number: int
    name: str
    agent: str
    pairs: tuple[int, int, int]
    """LL, WL and WW."""
    rate: float
    low: float
    high: float
    elo: float
    elo_error: float
    fared: EntrantResult

    def roles_and_effort(self) -> list[str]:
        """Return four cells: wins as hunter and as runner, depth and nodes of a move."""
        fared, effort = self.fared, self.fared.effort
        return [
            percent(fared.hunter.rate),
            percent(fared.runner.rate),
            mean(effort.mean_depth),
            mean(effort.mean_nodes),
        ]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two entrants on the same openings against the same opponents, in points of the win rate."""

    a: str
    b: str
    pairs: int
    difference: float
    low: float
    high: float
    p: float
    """Adjusted for the number of comparisons made."""
    same: bool = False
    """Whether the two are one agent, so that there is nothing to compare."""

    @property
    def real(self) -> bool:
        """Whether there is a difference, as far as 95 % sure."""
        return self.p < REAL

    def settled(self, within: float) -> bool:
        """Return whether there surely is a difference, or it is known to within so much."""
        return self.same or self.real or (self.high - self.low) / 2 <= within

    @property
    def uncertain(self) -> bool:
        """Whether it only looks like one: by itself it would be sure, among so many it is not."""
        return not self.real and (self.low > 0 or self.high < 0)


def pair_statistics(pairs: Sequence[int]) -> statistics.MatchEstimate:
    """Score, Elo and all that of pairs that ended LL, WL and WW."""
    return statistics.of_pairs(pair_counts(pairs))


def pair_counts(pairs: Sequence[int]) -> PairCounts:
    """Return LL, WL and WW as the five classes of pairs, of which those with draws are empty."""
    lost, split, won = pairs
    return lost, 0, split, 0, won


class Rated:
    """The entrants of a run as players with ratings; whoever entered twice is one player."""

    def __init__(self, plan: Plan, ratings: Ratings, player: Sequence[int]) -> None:
        self.plan = plan
        self.player = player
        self.ratings = ratings

    def elo(self, entrant: int) -> float:
        """An entrant's rating."""
        return float(self.ratings.elo[self.player[entrant]])

    def error(self, entrant: int) -> float:
        """How far off it may be."""
        return self.ratings.error(self.player[entrant])

    def difference(self, a: int, b: int) -> tuple[float, float]:
        """How much better a is than b, and how far off that may be."""
        return self.ratings.difference(self.player[a], self.player[b])

    def anchored(self, entrant: int) -> Rated:
        """The same seen from one entrant, whose rating is 0."""
        return Rated(self.plan, self.ratings.anchored(self.player[entrant]), self.player)

    def ranking(self, entrants: Sequence[int]) -> list[int]:
        """Some entrants, the best first."""
        return sorted(entrants, key=lambda entrant: (-self.elo(entrant), entrant))


def rated(plan: Plan, outcomes: npt.NDArray[np.int8]) -> Rated:
    """Ratings from the outcomes of the first pairs of a schedule (see `outcomes_of`).

    What an opening decides in several matches at once is known to the errors.  Where an agent
    entered twice, only the first of two matches that are the same games is taken.
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
    return Rated(plan, found, player.tolist())


def outcomes_of(run: Run) -> npt.NDArray[np.int8]:
    """For each pair twice whether a won moving first, plus whether it won moving second.

    −1 where a pair repeats an earlier one and does not count.
    """
    _, scores, firsts, repeats = run.outcomes()
    return np.where(repeats, -1, 2 * firsts + (scores - firsts)).astype(np.int8)


def standings(results: Results, entrants: Sequence[int], ratings: Rated) -> list[Standing]:
    """What there is to say of each of some entrants, in the order given."""
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
                fared=results.entrant(number),
            )
        )
    return found


def compared(
    plan: Plan,
    outcomes: npt.NDArray[np.int8],
    tests: Sequence[int] | None = None,
    *,
    sequential: bool = False,
) -> list[Compared]:
    """Compare each test agent of a tournament but the first with the first, opening by opening.

    `tests` are the numbers of the agents that take part, by default of all that were tested;
    `outcomes` are those of the first pairs of the schedule (see `outcomes_of`), of which only whole
    rounds count.  With `sequential` the intervals and p-values hold however often one looks.
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
    # One agent entered twice is no comparison that could be wrong.
    adjusted = iter(
        statistics.holm([one.p for one, again in zip(found, same, strict=True) if not again])
    )
    return [
        Compared(
            plan.entrants[a].name, plan.entrants[b].name, one.pairs, one.mean, one.low, one.high,
            1.0 if again else next(adjusted), again,
        )
        for (a, b), one, again in zip(couples, found, same, strict=True)
    ]  # fmt: skip


def _by_opponent(
    plan: Plan, outcomes: npt.NDArray[np.int8]
) -> dict[int, dict[tuple[int, int], npt.NDArray[np.float64]]]:
    """Return each test agent's pair scores against each opponent, nan where a pair is repeated."""
    rounds = len(outcomes) // len(plan.matches)
    whole = outcomes[: rounds * len(plan.matches)].reshape(rounds, len(plan.matches))
    table = np.where(whole < 0, np.nan, (whole // 2 + whole % 2) / 2)
    scores: dict[int, dict[tuple[int, int], npt.NDArray[np.float64]]] = {}
    for number, match in enumerate(plan.matches):
        scores.setdefault(match.a, {})[match.b, match.series] = table[:, number]
    return scores


# -- in words and as data ----------------------------------------------------------------------


def entrant_dict(row: Standing) -> dict[str, Any]:
    """An entrant's figures."""
    fared, effort = row.fared, row.fared.effort
    return {
        "name": row.name,
        "agent": row.agent,
        "games": fared.total.games,
        "won": fared.total.won,
        "lost": fared.total.lost,
        "pairs": list(row.pairs),
        "rate": row.rate,
        "low": row.low,
        "high": row.high,
        "elo": for_json(row.elo),
        "elo_error": for_json(row.elo_error),
        "as_first": fared.first.rate,
        "as_second": fared.second.rate,
        "as_hunter": fared.hunter.rate,
        "as_runner": fared.runner.rate,
        "losses": dict(fared.losses),
        "mean_depth": effort.mean_depth,
        "mean_nodes": effort.mean_nodes,
        "mean_microseconds": effort.mean_microseconds,
    }


def losses(row: Standing) -> str:
    """The reasons of lost games, the ordinary one first."""
    parts = [f"{row.fared.losses[why]} {why}" for why in REASONS if row.fared.losses.get(why)]
    return ", ".join(parts) or "none"


def short_names(entrants: Sequence[Entrant]) -> list[str]:
    """Return names for narrow columns: the heuristic alone where all search with one alike."""
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
