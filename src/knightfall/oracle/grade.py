"""How often a player keeps a won position won, and how far its scores can be trusted.

Win rates ask "who was better?" once a game; this asks "was that right?" at every move, and an
exact solver answers.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from knightfall.agents import Agent, parse_agent
from knightfall.agents.remote_player import player as ready_player
from knightfall.board import Board
from knightfall.display.numbers import count, duration, for_json, interval, percent
from knightfall.display.progress import OnProgress, shown_or_told
from knightfall.display.report import Displayable, Heading, Part, unicode_is_shown
from knightfall.display.table import Table
from knightfall.display.terms import legend
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.oracle.measures import Auc, Bin, Scored, auc, clustered_error, quantile_bins
from knightfall.oracle.record import (
    PHASES,
    ROLES,
    Analyst,
    Decision,
    Record,
    draw_openings,
    records_of,
)
from knightfall.statistics.rates import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Keeping:
    """How often a win was kept, over decisions of some kind.

    `kept` counts real choices only: some moves won and some lost.  `forced` positions were won
    whatever was played.  `chance` is what random moves would have kept in the same positions.
    """

    positions: int
    won: int
    forced: int
    kept: Share
    error: float | None
    """The standard error of the rate; the unit is the family of games from mirrored openings."""
    chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
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
    """When a game's first win was given away, by either side."""

    without: Share
    """The games in which none was."""
    plies: dict[int, int]
    """Where there was one: games by ply, counted from 1."""

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """A quarter, half and three quarters of the first blunders come up to these plies."""
        plies = sorted(Counter(self.plies).elements())
        if not plies:
            return None
        if len(plies) == 1:
            return (plies[0],) * 3
        low, median, high = statistics.quantiles(plies, n=4, method="inclusive")
        return low, median, high

    def parts(self) -> Iterator[Part]:
        """How many games had none, and when it came in the others."""
        without = self.without
        yield (
            f"none in {without.count} of {without.of} games: {percent(without.rate)} "
            f"({interval(*without.interval, unit=' %')})"
        )
        if self.quartiles is not None:
            low, median, high = self.quartiles
            yield f"otherwise at move {median:g} (median), half between {low:g} and {high:g}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "games_without": _share_dict(self.without),
            "quartiles": self.quartiles,
            "games_by_ply": {str(ply): games for ply, games in self.plies.items()},
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """A player's scores for the side to move against the truth.

    What its search had proven is counted apart: `proven` of so many were right.
    """

    scored: int
    proven: Share
    auc: Auc | None
    bins: list[Bin]

    def parts(self) -> Iterator[Part]:
        """The positions by score, and how well the scores tell won ones from lost ones."""
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
        """As plain values."""
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


@dataclass(frozen=True)
class Grade(Displayable):
    """What the truth says of a player; `reliability` is None for one that gives no scores.

    A `partial` grade is that of the first `games` openings.
    """

    player: str
    board: Board
    openings: int
    seed: int
    games: int
    keeping: dict[str, Keeping]
    """``overall``, by role, and by phase."""
    first_blunder: FirstBlunder
    reliability: Reliability | None
    seconds: float
    timed: bool = False
    """Whether it played by the clock: then another grade will differ."""

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the last game."""
        return self.games < self.openings

    def parts(self) -> Iterator[Part]:
        """How often wins were kept, when the first was not, and what the scores are worth."""
        overall = self.keeping["overall"]
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
        yield self._keeping_table()
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

    def _keeping_table(self) -> Table:
        table = Table(["", "kept", "of", "rate", "95 %", "std. error", "at random"])
        for name, row in self.keeping.items():
            table.add(
                name,
                f"{row.kept.count:,}",
                f"{row.kept.of:,}",
                percent(row.kept.rate),
                interval(*row.kept.interval, unit=" %"),
                # All or nothing varies nowhere; the interval knows better than an error of 0.
                percent(row.error or None, 2),
                percent(row.chance),
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "agent": self.player,
            "board": f"{self.board.width}x{self.board.height}",
            "openings": self.openings,
            "seed": self.seed,
            "games": self.games,
            "partial": self.partial,
            "keeps": {name: row.to_dict() for name, row in self.keeping.items()},
            "first_blunder": self.first_blunder.to_dict(),
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
            "seconds": self.seconds,
        }

    def plot(self) -> Figure:
        """Wins kept by role and phase, and the share of won positions by score."""
        from knightfall.oracle.plots import grade_plot

        return grade_plot(self)


def score_range(bin: Bin) -> str:
    """The scores of a bin, from the lowest to the highest."""

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
    player: str | Analyst,
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    board: str | Board = "7x7",
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool | OnProgress = True,
) -> Grade:
    """Let a player play itself from so many openings and judge every move.

    The seed draws the openings, those that a match of that seed begins with, and does nothing
    else; the result does not depend on who plays: this process, so many `workers`, the Dask
    cluster with the address `dask`, or an `executor`.  `progress` shows how many games are
    over, or is a function that hears it.  Ctrl-C, too, ends it with what is known by then, once a
    game is over.
    """
    enable_keyboard_interrupt()
    start = time.perf_counter()
    options = RunnerOptions(workers, dask, executor)
    options.check()
    board = Board.named(board) if isinstance(board, str) else board
    drawn = draw_openings(board, openings, seed)
    who = parse_agent(player) if isinstance(player, str) else player
    asked = ready_player(who, board) if isinstance(who, Agent) else who
    records: list[Record] = []
    try:
        with shown_or_told(progress, "games", openings) as tell:
            for record in records_of(asked, drawn, options):
                records.append(record)
                tell(len(records))
    except KeyboardInterrupt:
        if not records:
            raise
    return summed_up(who, board, openings, seed, records, time.perf_counter() - start)


def summed_up(
    who: Agent | Analyst,
    board: Board,
    openings: int,
    seed: int,
    records: Sequence[Record],
    seconds: float = 0.0,
) -> Grade:
    """The grade that the records of the first games come to."""
    return Grade(
        player=who.name if isinstance(who, Agent) else type(who).__name__,
        board=board,
        openings=openings,
        seed=seed,
        games=len(records),
        keeping=keeping_by_kind(records),
        first_blunder=first_blunder(records),
        reliability=reliability(records),
        seconds=seconds,
        timed=isinstance(who, Agent) and who.budget.time is not None,
    )


# -- summing up ------------------------------------------------------------------------------


def keeping_by_kind(records: Sequence[Record]) -> dict[str, Keeping]:
    """Overall, for each role, for each phase."""
    cases = [(record.family, decision) for record in records for decision in record.decisions]
    return {
        "overall": keeping(cases),
        **{role: keeping([case for case in cases if case[1].role == role]) for role in ROLES},
        **{phase: keeping([case for case in cases if case[1].phase == phase]) for phase in PHASES},
    }


def keeping(cases: Sequence[tuple[Hashable, Decision]]) -> Keeping:
    """How often the win was kept, over decisions with the families of their games."""
    real = [(family, decision) for family, decision in cases if decision.real]
    won = sum(decision.won for _, decision in cases)
    return Keeping(
        positions=len(cases),
        won=won,
        forced=won - len(real),
        kept=Share(sum(decision.kept for _, decision in real), len(real)),
        error=clustered_error((family, decision.kept, 1) for family, decision in real),
        chance=statistics.fmean(d.winning / d.legal for _, d in real) if real else None,
    )


def first_blunder(records: Sequence[Record]) -> FirstBlunder:
    """The first blunder of every game, if it had one."""
    plies = [
        next((decision.ply for decision in record.decisions if decision.blunder), None)
        for record in records
    ]
    return FirstBlunder(
        without=Share(plies.count(None), len(plies)),
        plies=dict(sorted(Counter(ply for ply in plies if ply is not None).items())),
    )


def reliability(records: Sequence[Record]) -> Reliability | None:
    """The scores against the truth; None if there are no scores."""
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
