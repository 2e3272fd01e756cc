"""Grade a player: how often it keeps a win, and how well its scores predict the winner.

A win rate gives one result per game; a grade judges every move of the game by the exact solver.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from knightfall.agents import Agent, cache_agent, cached_agent, parse_agent
from knightfall.agents.parse import AnAgent, agent_texts
from knightfall.agents.remote_player import player as ready_player
from knightfall.arena.snapshot import Snapshot, run_snapshot
from knightfall.board import Board
from knightfall.display.numbers import count, duration, for_json, interval, percent
from knightfall.display.progress import OnProgress, progress_or_callback
from knightfall.display.report import Displayable, Heading, Part, legend, unicode_is_shown
from knightfall.display.table import Table
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.oracle.graded_games import (
    PHASES,
    ROLES,
    Analyst,
    Decision,
    Record,
    draw_openings,
    records_of,
)
from knightfall.statistics.rates import Auc, Bin, Scored, Share, auc, clustered_error, quantile_bins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class WinsKept:
    """How often a win was kept, over a set of decisions.

    `kept` counts real choices only: positions in which some moves win and some lose.  `forced` is
    the number of won positions in which every move wins.  `chance` is the expected rate of random
    moves in the same positions.
    """

    positions: int
    won: int
    forced: int
    kept: Share
    error: float | None
    """Standard error of the rate, clustered by families of games from mirrored openings."""
    chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and rates as JSON values."""
        return {
            "positions": self.positions,
            "won": self.won,
            "without_losing_move": self.forced,
            "kept": _share_dict(self.kept),
            "standard_error": self.error,
            "at_random": self.chance,
        }


@dataclass(frozen=True, slots=True)
class FirstBlunder:
    """The ply of the first blunder of each game, by either side."""

    without: Share
    """The share of games without a blunder."""
    plies: dict[int, int]
    """Number of games by the ply of their first blunder, counted from 1."""

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """The lower quartile, median and upper quartile of the plies; None if there are none."""
        plies = sorted(Counter(self.plies).elements())
        if not plies:
            return None
        if len(plies) == 1:
            return (plies[0],) * 3
        low, median, high = statistics.quantiles(plies, n=4, method="inclusive")
        return low, median, high

    def parts(self) -> Iterator[Part]:
        """Yield the share of games without a blunder, and quartiles of the first blunder's ply."""
        without = self.without
        yield (
            f"none in {without.count} of {without.of} games: {percent(without.rate)} "
            f"({interval(*without.interval, unit=' %')})"
        )
        if self.quartiles is not None:
            low, median, high = self.quartiles
            yield f"otherwise at move {median:g} (median), half between {low:g} and {high:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "games_without": _share_dict(self.without),
            "quartiles": self.quartiles,
            "games_by_ply": {str(ply): games for ply, games in self.plies.items()},
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """How a player's scores for the side to move compare with the exact winner.

    Scores that the search had proven are counted separately: `proven` is the share that was right.
    """

    scored: int
    proven: Share
    auc: Auc | None
    bins: list[Bin]

    def parts(self) -> Iterator[Part]:
        """Yield the table of positions by score, the AUC, and the proven scores."""
        if self.bins:
            yield self._table()
        yield f"AUC {_auc(self.auc)} over {self.scored:,} scores"
        if self.proven.of:
            all_right = self.proven.count == self.proven.of
            right = "all" if all_right else f"only {self.proven.count:,}"
            yield f"and {self.proven.of:,} proven scores, {right} of them right"

    def _table(self) -> Table:
        square = "▪" if unicode_is_shown() else "#"
        table = Table(["score", "positions", "won", "95 %", ""], labels=0, left=[4])
        for each in self.bins:
            table.add(
                score_range(each),
                f"{each.won.of:,}",
                percent(each.won.rate),
                interval(*each.won.interval, unit=" %"),
                square * round(20 * (each.won.rate or 0.0)),
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and rates as JSON values."""
        auc = None
        if self.auc is not None:
            low, high = self.auc.interval
            error = self.auc.error
            auc = {"value": self.auc.value, "standard_error": error, "low": low, "high": high}
        return {
            "scored": self.scored,
            "proven_right": _share_dict(self.proven),
            "auc": auc,
            "bins": [
                {
                    "lowest": for_json(each.lowest),
                    "highest": for_json(each.highest),
                    "won": _share_dict(each.won),
                }
                for each in self.bins
            ],
        }


@dataclass(frozen=True, repr=False)
class Grade(Displayable):
    """The grade of a `player` on a `board`; `reliability` is None if it gives no scores.

    It covers `games` games, fewer than the `openings` if `partial`, in the order of `seed`, and
    took `seconds`.  `first_blunder` says when a game was first given away.
    """

    player: str
    board: Board
    openings: int
    seed: int
    games: int
    wins_kept: dict[str, WinsKept]
    """Wins kept: ``overall``, by role, and by phase."""
    first_blunder: FirstBlunder
    reliability: Reliability | None
    seconds: float
    timed: bool = False
    """Whether the player has a time budget: then the grade does not repeat exactly."""
    edited: tuple[str, ...] = ()
    """Sentences on the player's files that were edited during the games."""

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the last game."""
        return self.games < self.openings

    def parts(self) -> Iterator[Part]:
        """Yield how often wins were kept, the first blunders, and the reliability of the scores."""
        overall = self.wins_kept["overall"]
        yield Heading(f"{self.player} on {self.board.width}×{self.board.height}, seed {self.seed}")
        games = count(self.games, "game")
        if self.partial:
            games = f"PARTIAL: the first {self.games} of {self.openings} games"
        yield f"{games} against itself, {duration(self.seconds)}"
        yield (
            f"{overall.positions:,} positions, {overall.won:,} won for the mover: "
            f"{overall.kept.of:,} with a real choice, {overall.forced:,} without a losing move"
        )
        yield ""
        yield Heading("Keeps the win")
        yield self._wins_kept_table()
        yield ""
        yield legend("hunter", "runner")
        yield ""
        yield Heading("First blunder")
        yield from self.first_blunder.parts()
        yield ""
        yield Heading("Score against truth")
        if self.reliability is None:
            yield "This agent gives no scores."
        else:
            yield from self.reliability.parts()
        if self.timed:
            yield ""
            yield "A time budget does not repeat exactly: expect slightly different numbers."
        yield from self.edited

    def _wins_kept_table(self) -> Table:
        table = Table(["", "kept", "of", "rate", "95 %", "std. error", "at random"])
        for name, row in self.wins_kept.items():
            table.add(
                name,
                f"{row.kept.count:,}",
                f"{row.kept.of:,}",
                percent(row.kept.rate),
                interval(*row.kept.interval, unit=" %"),
                # At a rate of 0 or 1 the standard error is 0, which is misleading: leave it out.
                percent(row.error or None, 2),
                percent(row.chance),
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the grade as JSON values."""
        return {
            "agent": self.player,
            "board": f"{self.board.width}x{self.board.height}",
            "openings": self.openings,
            "seed": self.seed,
            "games": self.games,
            "partial": self.partial,
            "keeps": {name: row.to_dict() for name, row in self.wins_kept.items()},
            "first_blunder": self.first_blunder.to_dict(),
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
            "seconds": self.seconds,
            "edited": list(self.edited),
        }

    def plot(self) -> Figure:
        """Plot the wins kept by role and phase, and the share of won positions by score."""
        from knightfall.oracle.plots import grade_plot

        return grade_plot(self)


def score_range(bin: Bin) -> str:
    """Return the range of a bin's scores as text."""

    def shown(score: float) -> str:
        return f"{score:.4g}".replace("-", "−").replace("inf", "∞")

    low, high = shown(bin.lowest), shown(bin.highest)
    return low if bin.lowest == bin.highest else f"{low} to {high}"


def _auc(auc: Auc | None) -> str:
    if auc is None:
        return "is not defined without won and lost positions"
    if auc.error is None:
        return f"{auc.value:.3f}"
    low, high = auc.interval
    return f"{auc.value:.3f} ± {auc.error:.3f} (95 %: {low:.3f} to {high:.3f})"


def _share_dict(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"count": share.count, "of": share.of, "rate": share.rate, "low": low, "high": high}


# -- from games to a grade ---------------------------------------------------------------------


OPENINGS = 50
BINS = 10


def grade(
    player: AnAgent | Analyst,
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    board: str | Board = "7x7",
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    in_process: bool = False,
    progress: bool | OnProgress = True,
) -> Grade:
    """Let a player play itself from a number of openings, and judge every move by the solver.

    Ctrl-C ends the work and returns the grade of the games so far, if there is one.

    Args:
        player: An agent (see `agent`), or an object whose method `analyse` returns a `Report`.
        openings: Number of openings; the same as those of a match with this seed.
        seed: Draws the openings, and determines nothing else.
        board: Width and height of the board, in cells.
        workers: Number of worker processes; None and 0 play in this process.
        dask: Address of a Dask cluster that plays instead of workers.
        executor: Executor that plays instead of workers.
        in_process: Call an agent written in Python directly (see `match`).
        progress: Whether to show how many games have ended, or a function called with that number.

    Example:
        >>> found = kf.grade("greedy(improved)", openings=5, board="5x5")
        >>> found.wins_kept["overall"].kept
        Share(count=19, of=25)
    """
    enable_keyboard_interrupt()
    start = time.perf_counter()
    options = RunnerOptions(workers, dask, executor)
    options.check()
    board = Board.named(board) if isinstance(board, str) else board
    drawn = draw_openings(board, openings, seed)
    who: Agent | Analyst = cast(Analyst, player)
    if in_process or not hasattr(player, "analyse"):
        who = parse_agent(agent_texts([cast(AnAgent, player)], in_process)[0])
    records: list[Record] = []
    with run_snapshot() as taken:
        asked = ready_player(_copied(who, taken), board) if isinstance(who, Agent) else who
        try:
            with progress_or_callback(progress, "games", openings) as tell:
                for record in records_of(asked, drawn, options):
                    records.append(record)
                    tell(len(records))
        except KeyboardInterrupt:
            if not records:
                raise
        edited = taken.edited()
    found = grade_of_records(who, board, openings, seed, records, time.perf_counter() - start)
    return replace(found, edited=tuple(edited))


def _copied(agent: Agent, taken: Snapshot) -> Agent:
    """Return an agent that is loaded from copies of its files."""
    return cached_agent(taken.agent(cache_agent(agent.absolute()))) if agent.files else agent


def grade_of_records(
    who: Agent | Analyst,
    board: Board,
    openings: int,
    seed: int,
    records: Sequence[Record],
    seconds: float = 0.0,
) -> Grade:
    """Return the grade computed from the records of the games played so far."""
    return Grade(
        player=who.name if isinstance(who, Agent) else type(who).__name__,
        board=board,
        openings=openings,
        seed=seed,
        games=len(records),
        wins_kept=wins_kept_by_kind(records),
        first_blunder=first_blunder(records),
        reliability=reliability(records),
        seconds=seconds,
        timed=isinstance(who, Agent) and who.budget.time is not None,
    )


# -- summing up ------------------------------------------------------------------------------


def wins_kept_by_kind(records: Sequence[Record]) -> dict[str, WinsKept]:
    """Count the wins kept overall, for each role, and for each phase."""
    cases = [(record.family, decision) for record in records for decision in record.decisions]
    kinds = {"overall": cases}
    kinds |= {role: [case for case in cases if case[1].role == role] for role in ROLES}
    kinds |= {phase: [case for case in cases if case[1].phase == phase] for phase in PHASES}
    return {name: count_wins_kept(of_it) for name, of_it in kinds.items()}


def count_wins_kept(cases: Sequence[tuple[Hashable, Decision]]) -> WinsKept:
    """Count how often a win was kept, over cases (family, decision).

    The family is that of the game in which the decision was made; see `Record`.
    """
    real = [(family, decision) for family, decision in cases if decision.real]
    won = sum(decision.won for _, decision in cases)
    return WinsKept(
        positions=len(cases),
        won=won,
        forced=won - len(real),
        kept=Share(sum(decision.kept for _, decision in real), len(real)),
        error=clustered_error((family, decision.kept, 1) for family, decision in real),
        chance=statistics.fmean(d.winning / d.legal for _, d in real) if real else None,
    )


def first_blunder(records: Sequence[Record]) -> FirstBlunder:
    """Return the first blunder of each game."""
    plies = [
        next((decision.ply for decision in record.decisions if decision.blunder), None)
        for record in records
    ]
    return FirstBlunder(
        without=Share(plies.count(None), len(plies)),
        plies=dict(sorted(Counter(ply for ply in plies if ply is not None).items())),
    )


def reliability(records: Sequence[Record]) -> Reliability | None:
    """Compare the scores with the exact winners; None if there are no scores."""
    cases: list[Scored] = []
    proven, right = 0, 0
    for record in records:
        for decision in record.decisions:
            if decision.score is None:
                continue
            if decision.proven:
                proven += 1
                right += (decision.score > 0) == decision.won
            else:
                cases.append(Scored(decision.score, decision.won, record.family))
    if not cases and not proven:
        return None
    return Reliability(
        scored=len(cases),
        proven=Share(right, proven),
        auc=auc(cases),
        bins=quantile_bins(cases, BINS),
    )
