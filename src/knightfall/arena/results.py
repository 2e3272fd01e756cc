"""What a run says: who won how often and at what cost, rates, ratings and differences.

Counts are read from the tallies that the store keeps, so they are as quick after a million games
as after ten.  Pairs that repeat an earlier one are left out.  Everything else is computed from what
the store holds; nothing is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.plan import Entrant, Plan, Reason
from knightfall.arena.store import Run
from knightfall.arena.store_file import SUMS, right_game
from knightfall.position import Side
from knightfall.statistics import pairs as statistics
from knightfall.statistics import ratings as bradley_terry
from knightfall.statistics.pairs import PairCounts
from knightfall.statistics.ratings import Pairs, Ratings


@dataclass(frozen=True, slots=True)
class Wins:
    """So many games, so many of them won; there are no draws."""

    won: int = 0
    games: int = 0

    @property
    def lost(self) -> int:
        """The others."""
        return self.games - self.won

    @property
    def share(self) -> float | None:
        """The share that was won; None without games."""
        return self.won / self.games if self.games else None

    def __add__(self, more: Wins) -> Wins:
        return Wins(self.won + more.won, self.games + more.games)


@dataclass(frozen=True, slots=True)
class Effort:
    """What an entrant's moves cost: sums, and means for a move.

    A mean is None if no move was made, and depth and nodes also if no search told of any.
    """

    moves: int = 0
    depths: int = 0
    nodes: int = 0
    microseconds: int = 0

    @property
    def mean_depth(self) -> float | None:
        """Plies that a move was searched."""
        return self.depths / self.moves if self.depths else None

    @property
    def mean_nodes(self) -> float | None:
        """Nodes for a move."""
        return self.nodes / self.moves if self.nodes else None

    @property
    def mean_microseconds(self) -> float | None:
        """Time for a move."""
        return self.microseconds / self.moves if self.moves else None

    def __add__(self, more: Effort) -> Effort:
        return Effort(
            self.moves + more.moves,
            self.depths + more.depths,
            self.nodes + more.nodes,
            self.microseconds + more.microseconds,
        )


@dataclass(frozen=True, slots=True)
class EntrantResult:
    """How one of the two fared in a match, or in all its matches."""

    first: Wins = Wins()
    """As the first player, N."""
    second: Wins = Wins()
    hunter: Wins = Wins()
    """With the knight that can take escape cells from the other."""
    runner: Wins = Wins()
    losses: Mapping[Reason, int] = field(default_factory=dict)
    """Lost games by their reason; reasons that did not occur are not in it."""
    effort: Effort = Effort()

    @property
    def total(self) -> Wins:
        """From either seat."""
        return self.first + self.second

    def __add__(self, more: EntrantResult) -> EntrantResult:
        return EntrantResult(
            self.first + more.first,
            self.second + more.second,
            self.hunter + more.hunter,
            self.runner + more.runner,
            dict(Counter(self.losses) + Counter(more.losses)),
            self.effort + more.effort,
        )


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What came of a match between entrants number `a` and `b`."""

    number: int
    a: int
    b: int
    series: int
    pairs: tuple[int, int, int]
    """How many pairs ended LL, WL and WW for `a`."""
    repeats: int
    """Pairs that were left out, being identical to an earlier one."""
    of_a: EntrantResult
    of_b: EntrantResult

    @property
    def games(self) -> int:
        """How many games count."""
        return 2 * sum(self.pairs)


@dataclass(frozen=True)
class Results:
    """A run and all its matches, as of one moment."""

    run: Run
    played: int
    entrants: tuple[Entrant, ...]
    matches: tuple[MatchResult, ...]

    @property
    def repeats(self) -> int:
        """Pairs that were left out, being identical to earlier ones."""
        return sum(match.repeats for match in self.matches)

    def entrant(self, number: int) -> EntrantResult:
        """How an entrant fared in all its matches together."""
        fared = EntrantResult()
        for match in self.matches:
            if match.a == number:
                fared += match.of_a
            if match.b == number:
                fared += match.of_b
        return fared

    def pair_scores(self, match: int) -> npt.NDArray[np.float64]:
        """How many games `a` won in each round, 0, 1 or 2; nan where the pair does not count.

        Matches of one series had the same openings and seeds in the same round.
        """
        _, scores, _, repeats = self.run.outcomes()
        rounds = slice(match, self.played, len(self.matches))
        return np.where(repeats[rounds], np.nan, scores[rounds])

    def prefixes(self, match: int) -> list[PairCounts]:
        """How a match stood before its first pair that counts, after it, after the second, …"""
        scores = self.pair_scores(match)
        counts = [0, 0, 0]
        stood: list[PairCounts] = [(0, 0, 0, 0, 0)]
        for score in scores[~np.isnan(scores)].astype(int):
            counts[score] += 1
            stood.append((counts[0], 0, counts[1], 0, counts[2]))
        return stood


class _Tally(NamedTuple):
    """A row of the tallies: so many games of one kind."""

    match: int
    score: int
    game: int
    hunter: Side
    winner: Side
    reason: Reason
    games: int
    moves_w: int
    moves_b: int
    depth_w: int
    depth_b: int
    nodes_w: int
    nodes_b: int
    microseconds_w: int
    microseconds_b: int


def results(run: Run) -> Results:
    """What a run says so far."""
    with run.file.snapshot():
        played = run.played
        rows = run.file.rows(
            f"SELECT {', '.join(_Tally._fields)} FROM tallies WHERE run = ?",
            (run.id,),
            (int, int, int, str, str, str, *(int,) * (1 + len(SUMS))),
        )
    plan = run.plan
    tallies: list[list[_Tally]] = [[] for _ in plan.matches]
    for row in rows:
        tally = _Tally(*row)
        right = 0 <= tally.match < len(plan.matches) and tally.game in (0, 1)
        if not right or not right_game(tally.winner, tally.reason):
            raise run.file.damaged(f"the sums of run {run.id} make no sense")
        tallies[tally.match].append(tally)
    matches = []
    for number, match in enumerate(plan.matches):
        of_it = tallies[number]
        lost, split, won = (
            sum(tally.games for tally in of_it if tally.game == 0 and tally.score == score)
            for score in (0, 1, 2)
        )
        matches.append(
            MatchResult(
                number=number,
                a=match.a,
                b=match.b,
                series=match.series,
                pairs=(lost, split, won),
                repeats=len(range(number, played, len(plan.matches))) - lost - split - won,
                of_a=_fared(of_it, ("w", "b")),
                of_b=_fared(of_it, ("b", "w")),
            )
        )
    return Results(run, played, plan.entrants, tuple(matches))


def _fared(tallies: Sequence[_Tally], seats: tuple[Side, Side]) -> EntrantResult:
    """How whoever had these sides in games 0 and 1 fared."""
    first = second = hunter = runner = Wins()
    losses: Counter[Reason] = Counter()
    effort = Effort()
    for tally in tallies:
        side = seats[tally.game]
        wins = Wins(tally.games if tally.winner == side else 0, tally.games)
        if side == "w":
            first += wins
            effort += Effort(tally.moves_w, tally.depth_w, tally.nodes_w, tally.microseconds_w)
        else:
            second += wins
            effort += Effort(tally.moves_b, tally.depth_b, tally.nodes_b, tally.microseconds_b)
        if side == tally.hunter:
            hunter += wins
        else:
            runner += wins
        if tally.winner != side:
            losses[tally.reason] += tally.games
    return EntrantResult(first, second, hunter, runner, dict(losses), effort)


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
    lost, split, won = pairs
    return statistics.of_pairs((lost, 0, split, 0, won))


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
