"""What a run says so far: who won how often, from which seat and in which role, at what cost; and
what the reports on all kinds of runs have in common.

Counts are read from the tallies that the store keeps, so they are as quick after a million games
as after ten.  Pairs that repeat an earlier one are left out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.agents import spelling, submissions, timing
from knightfall.arena.plan import REASONS, Entrant, Plan, Reason
from knightfall.arena.standings import Rated, outcomes_of, rated
from knightfall.arena.store import Run
from knightfall.arena.store_file import SUMS, right_game
from knightfall.display.numbers import count
from knightfall.display.report import Displayable, Part
from knightfall.position import Side
from knightfall.statistics.pairs import PairCounts
from knightfall.statistics.rates import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knightfall.arena.run_loop import Scoreboard


@dataclass(frozen=True, slots=True)
class Wins(Share):
    """So many games won of so many; there are no draws."""

    count: int = 0
    of: int = 0

    @property
    def won(self) -> int:
        """The games won."""
        return self.count

    @property
    def games(self) -> int:
        """All games."""
        return self.of

    @property
    def lost(self) -> int:
        """The others."""
        return self.of - self.count

    def __add__(self, more: Wins) -> Wins:
        return Wins(self.count + more.count, self.of + more.of)


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


# -- reports ----------------------------------------------------------------------------------


MOST_NAMED = 5
"""Submissions of a run that are named with their paths."""

FEW_LATE, SHARE_LATE = 3, 0.01
"""Games lost to the wall clock, or the share of all, up to which an agent's results are judged."""


class RunReport(Displayable):
    """A run, finished or not, as of the moment the report was made.

    `interrupted` tells that Ctrl-C came before the end; the same call goes on from there if the
    run is stored.
    """

    kind: ClassVar[str]

    def __init__(self, run: Run, *, interrupted: bool = False) -> None:
        self.results: Results = results(run)
        self.interrupted = interrupted
        self.commands = True
        """Whether it names commands of the command line that would tell more."""

    @property
    def run(self) -> Run:
        """The run in its store."""
        return self.results.run

    @property
    def plan(self) -> Plan:
        """What was to be played."""
        return self.run.plan

    @property
    def finished(self) -> bool:
        """Whether all was played that was to be, or a rule ended it sooner."""
        return self.run.finished is not None

    @cached_property
    def ratings(self) -> Rated:
        """Bradley and Terry's ratings of all entrants."""
        return rated(self.plan, outcomes_of(self.run))

    # -- what it says ----------------------------------------------------------------------

    @abstractmethod
    def body(self) -> Iterable[Part]:
        """What comes after the heading."""

    @abstractmethod
    def body_dict(self) -> dict[str, Any]:
        """The same as plain values."""

    @staticmethod
    @abstractmethod
    def live(board: Scoreboard) -> Iterable[Part]:
        """What is shown while a run goes on."""

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        yield self._heading()
        yield from self._submissions()
        yield ""
        nothing = self.nothing_measured()
        if nothing:
            yield from self.accidents()
            yield ""
            yield nothing
            return
        yield from self.body()

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        found, plan = self.results, self.plan
        return {
            "run": self.run.id,
            "kind": plan.kind,
            "pairs": found.played,
            "planned": plan.total,
            "finished": self.finished,
            "repeats": found.repeats,
            "board": plan.board,
            "submissions": [
                one._asdict() for one in submissions(entrant.agent for entrant in plan.entrants)
            ],
            "seed": plan.seed,
            "outcome": self.run.outcome,
            "nothing_measured": bool(self.nothing_measured()),
            "no_verdict": self.no_verdict,
            **self.body_dict(),
        }

    def plot(self, kind: str | None = None) -> Figure:
        """A chart of the run; `kind` says which where several fit."""
        from knightfall.arena.charts import checked, draw

        return draw(checked(self.results, kind)[0], self.results)

    # -- parts of it -----------------------------------------------------------------------

    def _heading(self) -> str:
        found, plan = self.results, self.plan
        where = "a book" if plan.book else plan.board.replace("x", "×")
        run = "" if self.run.file.in_memory else f"run {self.run.id}: "
        parts = [f"{run}{count(2 * found.played, 'game')} on {where}"]
        parts.append(f"seed {plan.seed}")
        if plan.options.get("given_budget"):
            parts.append(f"all who deepen get {plan.options['given_budget']}")
        if not self.finished:
            parts.append("unfinished" if plan.stop else f"unfinished, {2 * plan.total:,} planned")
        if found.repeats:
            games = count(2 * found.repeats, "game")
            parts.append(f"{games} were repeated move for move and are counted only once")
        return " · ".join(parts)

    def _submissions(self) -> Iterator[str]:
        """Name the submissions that play under other names than their paths."""
        found = submissions(
            entrant.agent for entrant in self.plan.entrants if entrant.name != entrant.agent
        )
        yield from map(str, found[:MOST_NAMED])
        if len(found) > MOST_NAMED:
            yield f"and {count(len(found) - MOST_NAMED, 'more submission')}"

    def accidents(self) -> Iterator[str]:
        """For each entrant that lost otherwise than on the board: why, and a game to look at."""
        found = self.results
        for place, entrant in enumerate(found.entrants):
            losses = found.entrant(place).losses
            for reason in sorted(set(losses) - {"no moves"}):
                game = next(iter(self.run.games(lost_by=[place], reason=reason, limit=1)), None)
                if game is None:
                    continue
                detail = self.run.pair(game.pair).games[game.game].detail
                more = [f"first: {detail}"] if detail else []
                if self.commands and not self.run.file.in_memory:
                    more.append(f"knightfall runs replay {game.id}")
                told = f" ({'; '.join(more)})" if more else ""
                yield f"{entrant.name} lost by: {losses[reason]:,} {reason}{told}"

    @cached_property
    def no_verdict(self) -> str:
        """Return why nothing is concluded: too many games lost to the wall clock; "" if not."""
        late: list[str] = []
        kinds: set[str] = set()
        for place, entrant in enumerate(self.results.entrants):
            clock, fared = timing(entrant.agent), self.results.entrant(place)
            lost, games = fared.losses.get("timeout", 0), fared.total.games
            if clock and clock.clock == "wall" and too_late(lost, games):
                late.append(f"{entrant.name} lost {lost:,} of {count(games, 'game')} to the clock")
                kinds.add((spelling(entrant.agent) or ("",))[0])
        return no_verdict(late, ticks=kinds == {"course"})

    def nothing_measured(self) -> str:
        """Return a sentence if no game came to its ordinary end, so that nothing can be counted."""
        ways = self._ways_lost
        if not ways or "no moves" in ways:
            return ""
        return f"Every game was lost by {' or '.join(ways)}: nothing was measured."

    @property
    def broken(self) -> bool:
        """Return whether no game came to its end, and none was given up: nobody played."""
        ways = self._ways_lost
        return bool(ways) and not {"no moves", "forfeit"} & set(ways)

    @property
    def _ways_lost(self) -> list[str]:
        lost = Counter[str]()
        for match in self.results.matches:
            lost.update(match.of_a.losses)
            lost.update(match.of_b.losses)
        return [reason for reason in REASONS if reason in lost]


def too_late(lost: int, games: int) -> bool:
    """Return whether so many games lost to the wall clock spoil an agent's results."""
    return lost > max(FEW_LATE, SHARE_LATE * games)


def no_verdict(late: Sequence[str], *, ticks: bool) -> str:
    """Return the sentence in a verdict's place, from what each late agent lost; "" if none was."""
    if not late:
        return ""
    instead = "play on an idle machine"
    if ticks:
        instead += ", or with --clock ticks (clock=ticks in an agent), by which results repeat"
    return (
        f"No verdict: {'; '.join(late)}. Such results depend on what else the machine did: "
        f"{instead}."
    )
