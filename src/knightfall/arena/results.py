"""The results of a run so far, and the base class of all reports.

Results are the wins of each entrant as first and second player and as hunter and runner, and the
cost of its moves.

Counts are read from the tallies that the store keeps, so they take the same time after a million
games as after ten.  Pairs that repeat an earlier one are left out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.agents import agent_parts, submissions, time_control
from knightfall.arena.plan import REASONS, Entrant, Plan, Reason, may_repeat
from knightfall.arena.report_statistics import (
    EntrantRatings,
    PairOutcomes,
    outcomes_of,
    rate_entrants,
    scores_of,
)
from knightfall.arena.store import Run
from knightfall.arena.store_file import SUMS, is_known_ending
from knightfall.arena.stored_games import Games
from knightfall.display.numbers import count, some
from knightfall.display.report import Displayable, Part
from knightfall.optional_dependencies import require
from knightfall.position import Side
from knightfall.statistics.pairs import PairCounts
from knightfall.statistics.rates import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from knightfall.arena.run_loop import Scoreboard


@dataclass(frozen=True, slots=True)
class Wins(Share):
    """Games won, out of games played; there are no draws."""

    count: int = 0
    of: int = 0

    @property
    def won(self) -> int:
        """The number of games won."""
        return self.count

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.of

    @property
    def lost(self) -> int:
        """The number of games lost."""
        return self.of - self.count

    def __add__(self, more: Wins) -> Wins:
        return Wins(self.count + more.count, self.of + more.of)


@dataclass(frozen=True, slots=True)
class Effort:
    """The cost of an entrant's moves: depth, nodes and time, each in total and per move.

    A mean is None if no move was made; depth and nodes also if the agent reported none.
    """

    moves: int = 0
    depths: int = 0
    nodes: int = 0
    microseconds: int = 0

    @property
    def mean_depth(self) -> float | None:
        """Mean depth of the search for a move, in plies."""
        return self.depths / self.moves if self.depths else None

    @property
    def mean_nodes(self) -> float | None:
        """Mean nodes per move."""
        return self.nodes / self.moves if self.nodes else None

    @property
    def mean_microseconds(self) -> float | None:
        """Mean time per move, in microseconds."""
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
    """The wins, losses and costs of an entrant in one match, or in all its matches."""

    first: Wins = Wins()
    """Games as the first player, N."""
    second: Wins = Wins()
    hunter: Wins = Wins()
    """Games with the knight that can take escape cells from the other."""
    runner: Wins = Wins()
    losses: Mapping[Reason, int] = field(default_factory=dict)
    """Lost games by reason, without reasons that did not occur."""
    effort: Effort = Effort()

    @property
    def total(self) -> Wins:
        """Wins and games as first and second player together."""
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
    """The result of a match between entrants number `a` and `b`."""

    a: int
    b: int
    pairs: tuple[int, int, int]
    """The pairs that ended LL, WL and WW for `a`."""
    repeats: int
    """Pairs left out because they are identical to an earlier one."""
    of_a: EntrantResult
    of_b: EntrantResult

    @property
    def games(self) -> int:
        """The number of games, without those of repeated pairs."""
        return 2 * sum(self.pairs)


@dataclass(frozen=True)
class Results:
    """The results of all matches of a run at one moment."""

    run: Run
    played: int
    entrants: tuple[Entrant, ...]
    matches: tuple[MatchResult, ...]

    @cached_property
    def outcomes(self) -> PairOutcomes:
        """The outcome of each pair that was played (see `outcomes_of`)."""
        return outcomes_of(self.run)[: self.played]

    @cached_property
    def ratings(self) -> EntrantRatings:
        """Bradley-Terry ratings of all entrants."""
        return rate_entrants(self.run.plan, self.outcomes)

    @property
    def repeats(self) -> int:
        """Pairs left out because they are identical to an earlier one."""
        return sum(match.repeats for match in self.matches)

    @cached_property
    def pairs_between(self) -> dict[tuple[int, int], tuple[int, int, int]]:
        """The numbers of pairs that ended LL, WL and WW for a against b, by (a, b).

        Two entrants that met are included in both orders.
        """
        found: dict[tuple[int, int], tuple[int, int, int]] = {}
        for match in self.matches:
            lost, split, won = found.get((match.a, match.b), (0, 0, 0))
            more_lost, more_split, more_won = match.pairs
            pairs = lost + more_lost, split + more_split, won + more_won
            found[match.a, match.b], found[match.b, match.a] = pairs, pairs[::-1]
        return {couple: pairs for couple, pairs in found.items() if any(pairs)}

    def entrant(self, number: int) -> EntrantResult:
        """Return the result of an entrant in all its matches."""
        result = EntrantResult()
        for match in self.matches:
            if match.a == number:
                result += match.of_a
            if match.b == number:
                result += match.of_b
        return result

    def pair_scores(self, match: int) -> npt.NDArray[np.float64]:
        """Return the games `a` won in each round: 0, 1 or 2, or nan where the pair does not count.

        Matches of one series have the same opening and seed in the same round.
        """
        return scores_of(self.outcomes[match :: len(self.matches)])

    def running_counts(self, match: int) -> list[PairCounts]:
        """Return the counts of pairs of a match after 0, 1, 2, … of its pairs."""
        scores = self.pair_scores(match)
        counts = [0, 0, 0]
        running: list[PairCounts] = [(0, 0, 0, 0, 0)]
        for score in scores[~np.isnan(scores)].astype(int):
            counts[score] += 1
            running.append((counts[0], 0, counts[1], 0, counts[2]))
        return running


class _Tally(NamedTuple):
    """A row of the table `tallies`: number and total costs of games with equal first six fields."""

    match: int
    score: int
    game: int
    hunter: Side
    winner: Side
    reason: Reason
    games: int
    sums: Sequence[int]
    """The columns `SUMS`, w and b alternating."""


def results(run: Run) -> Results:
    """Return the results of a run so far."""
    with run.file.snapshot():
        played = run.played
        rows = run.file.rows(
            f"SELECT match, score, game, hunter, winner, reason, games, {', '.join(SUMS)}"
            " FROM tallies WHERE run = ?",
            (run.id,),
            (int, int, int, str, str, str, *(int,) * (1 + len(SUMS))),
        )
    plan = run.plan
    tallies: list[list[_Tally]] = [[] for _ in plan.matches]
    for row in rows:
        match, score, game, hunter, winner, reason, games, *sums = row
        tally = _Tally(match, score, game, hunter, winner, reason, games, sums)
        right = 0 <= tally.match < len(plan.matches) and tally.game in (0, 1)
        if not right or not is_known_ending(tally.winner, tally.reason):
            raise run.file.damaged(
                f"run {run.id} has win counts with an unknown match, game, winner or reason"
            )
        tallies[tally.match].append(tally)
    matches, may_differ = [], may_repeat(plan)
    for number, match in enumerate(plan.matches):
        of_it = tallies[number]
        lost, split, won = (
            sum(tally.games for tally in of_it if tally.game == 0 and tally.score == score)
            for score in (0, 1, 2)
        )
        repeats = len(range(number, played, len(plan.matches))) - lost - split - won
        if repeats < 0 or (repeats and not may_differ):
            raise run.file.damaged(f"the tallies of run {run.id} are not those of its pairs")
        matches.append(
            MatchResult(
                a=match.a,
                b=match.b,
                pairs=(lost, split, won),
                repeats=repeats,
                of_a=_entrant_result(of_it, ("w", "b")),
                of_b=_entrant_result(of_it, ("b", "w")),
            )
        )
    return Results(run, played, plan.entrants, tuple(matches))


def _entrant_result(tallies: Sequence[_Tally], seats: tuple[Side, Side]) -> EntrantResult:
    """Return the result of one entrant of a match; `seats` holds its sides in games 0 and 1."""
    first = second = hunter = runner = Wins()
    losses: Counter[Reason] = Counter()
    effort = Effort()
    for tally in tallies:
        side = seats[tally.game]
        wins = Wins(tally.games if tally.winner == side else 0, tally.games)
        if side == "w":
            first += wins
            effort += Effort(*tally.sums[0::2])
        else:
            second += wins
            effort += Effort(*tally.sums[1::2])
        if side == tally.hunter:
            hunter += wins
        else:
            runner += wins
        if tally.winner != side:
            losses[tally.reason] += tally.games
    return EntrantResult(first, second, hunter, runner, dict(losses), effort)


# -- reports ----------------------------------------------------------------------------------


MOST_NAMED = 5
"""Most submissions that a report lists with their paths."""

FEW_LATE, SHARE_LATE = 3, 0.01
"""Games lost to the wall clock, in number or as a share, that still allow a verdict."""


class RunReport(Displayable):
    """The report of a run, finished or not, at the moment when the report was made.

    `interrupted` is true if Ctrl-C ended the run early; the same call resumes it if it is stored.
    """

    kind: ClassVar[str]

    def __init__(self, run: Run, *, interrupted: bool = False) -> None:
        self.results: Results = results(run)
        self.interrupted = interrupted
        self.commands = True
        """Whether the report suggests commands to type next."""

    @property
    def run(self) -> Run:
        """The run in its store."""
        return self.results.run

    @property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self.run.plan

    @property
    def finished(self) -> bool:
        """Whether all pairs were played, or a rule ended the run early."""
        return self.run.finished is not None

    @cached_property
    def ratings(self) -> EntrantRatings:
        """Bradley-Terry ratings of all entrants."""
        return self.results.ratings

    # -- contents --------------------------------------------------------------------------

    def in_one_line(self) -> str:
        return f"{self._heading()} · {some([one.name for one in self.plan.entrants])}"

    @property
    def games(self) -> Games:
        """The games, in the order of the schedule."""
        return Games(self.run, self.results.played)

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with a row for each game.

        `first` plays the knight N, `second` n, as sides w and b.  `depth_w` and the like are sums
        over the moves of a side; times are in microseconds.
        """
        require("to_frame()", "pandas")
        from pandas import DataFrame

        names = [entrant.name for entrant in self.plan.entrants]
        rows = []
        for game in self.run.games(limit=2 * self.results.played):
            players = {"first": names[game.first], "second": names[game.second]}
            rows.append({**asdict(game), **players, "plies": game.plies})
        return DataFrame(rows)

    @abstractmethod
    def body(self) -> Iterable[Part]:
        """Yield the parts of the report after its heading."""

    @abstractmethod
    def body_dict(self) -> dict[str, Any]:
        """Return the content of `body` as plain values."""

    @staticmethod
    @abstractmethod
    def live(board: Scoreboard) -> Iterable[Part]:
        """Return the parts that are shown while a run is played."""

    def parts(self) -> Iterator[Part]:
        yield self._heading()
        yield from self._submissions()
        yield ""
        nothing = self.nothing_measured()
        if nothing:
            yield from self.unusual_losses()
            yield ""
            yield nothing
            return
        yield from self.body()

    def to_dict(self) -> dict[str, Any]:
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
        """Return a chart of the run; `kind` names it if the run has several charts."""
        from knightfall.arena.charts import charts_to_draw, draw

        return draw(charts_to_draw(self.results, kind)[0], self.results)

    # -- parts -----------------------------------------------------------------------------

    def _heading(self) -> str:
        """Return the first line: run, games, board and seed."""
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
        """Yield a line for each submission whose name in the tables is not its path."""
        found = submissions(
            entrant.agent for entrant in self.plan.entrants if entrant.name != entrant.agent
        )
        yield from map(str, found[:MOST_NAMED])
        if len(found) > MOST_NAMED:
            yield f"and {count(len(found) - MOST_NAMED, 'more submission')}"

    def unusual_losses(self) -> Iterator[str]:
        """Yield a line for each reason other than "no moves" for which an entrant lost games.

        The line names the first such game.
        """
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
                first = f" ({'; '.join(more)})" if more else ""
                yield f"{entrant.name} lost by: {losses[reason]:,} {reason}{first}"

    @cached_property
    def no_verdict(self) -> str:
        """A sentence if too many games were lost to the wall clock for a verdict; else ""."""
        late: list[str] = []
        kinds: set[str] = set()
        for place, entrant in enumerate(self.results.entrants):
            clock, result = time_control(entrant.agent), self.results.entrant(place)
            lost, games = result.losses.get("timeout", 0), result.total.games
            if clock and clock.clock == "wall" and too_late(lost, games):
                late.append(f"{entrant.name} lost {lost:,} of {count(games, 'game')} to the clock")
                kinds.add((agent_parts(entrant.agent) or ("",))[0])
        return no_verdict(late, ticks=kinds == {"course"})

    def nothing_measured(self) -> str:
        """Return a sentence if nothing was measured, as no game ended by lack of moves; else ""."""
        ways = self._ways_lost
        if not ways or "no moves" in ways:
            return ""
        return f"Every game was lost by {' or '.join(ways)}: nothing was measured."

    @property
    def broken(self) -> bool:
        """Whether every game ended by a timeout, an illegal move or a crash."""
        ways = self._ways_lost
        return bool(ways) and not {"no moves", "forfeit"} & set(ways)

    @property
    def _ways_lost(self) -> list[str]:
        """The reasons for which games were lost, in the order of `REASONS`."""
        lost = Counter[str]()
        for match in self.results.matches:
            lost.update(match.of_a.losses)
            lost.update(match.of_b.losses)
        return [reason for reason in REASONS if reason in lost]


def too_late(lost: int, games: int) -> bool:
    """Return whether an agent lost too many games to the wall clock for a verdict."""
    return lost > max(FEW_LATE, SHARE_LATE * games)


def no_verdict(late: Sequence[str], *, ticks: bool) -> str:
    """Return the sentence that replaces a verdict; "" if no agent was late.

    `late` has a clause for each agent that was late; with `ticks` it suggests clock=ticks.
    """
    if not late:
        return ""
    instead = "play on an idle machine"
    if ticks:
        instead += ", or with --clock ticks (clock=ticks in an agent), by which results repeat"
    return (
        f"No verdict: {'; '.join(late)}. Such results depend on what else the machine did: "
        f"{instead}."
    )
