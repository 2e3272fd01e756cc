"""What a run says so far: who won how often, from which seat and in which role, at what cost.

Everything is read from the tallies that the store keeps, so it is as quick after a million games
as after ten.  Pairs that repeat an earlier one are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.game.records import Reason
from knightfall.arena.plan.plan import Entrant
from knightfall.arena.store.file import SUMS
from knightfall.arena.store.pair_rows import right_game
from knightfall.arena.store.run import Run
from knightfall.position import Side
from knightfall.statistics.pairs import PairCounts


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
