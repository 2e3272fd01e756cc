"""How often a player keeps a won position won, and how far its scores can be trusted.

Win rates ask "who was better?" once a game; this asks "was that right?" at every move, and an
exact solver answers.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from knightfall.agents import Agent, agent
from knightfall.board import Board
from knightfall.oracle.games import records_of
from knightfall.oracle.measures import (
    Auc,
    Bin,
    Scored,
    auc,
    clustered_error,
    quantile_bins,
)
from knightfall.oracle.record import PHASES, ROLES, Decision, Player, Record, draw_openings
from knightfall.statistics.rates import Share

OPENINGS = 50
BINS = 10

Listener = Callable[[int], None]


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

    @property
    def median(self) -> float | None:
        """The middle one of the first blunders."""
        return None if self.quartiles is None else self.quartiles[1]


@dataclass(frozen=True, slots=True)
class Reliability:
    """A player's scores for the side to move against the truth.

    What its search had proven is counted apart: `proven` of so many were right.
    """

    scored: int
    proven: Share
    auc: Auc | None
    bins: list[Bin]


@dataclass(frozen=True, slots=True)
class Grade:
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

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the last game."""
        return self.games < self.openings


def grade(
    player: str | Player,
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    board: Board | None = None,
    workers: int = 1,
    listener: Listener | None = None,
) -> Grade:
    """Let a player play itself from so many openings and judge every move.

    The seed draws the openings and does nothing else; the result does not depend on `workers`.
    `listener` hears how many games are over.  Ctrl-C, too, ends it with what is known by then,
    once a game is over.
    """
    start = time.perf_counter()
    board = board or Board.of(7, 7)
    drawn = draw_openings(board, openings, seed)
    who = agent(player) if isinstance(player, str) else player
    records: list[Record] = []
    try:
        for record in records_of(who, drawn, workers):
            records.append(record)
            if listener is not None:
                listener(len(records))
    except KeyboardInterrupt:
        if not records:
            raise
    return Grade(
        player=who.name if isinstance(who, Agent) else type(who).__name__,
        board=board,
        openings=openings,
        seed=seed,
        games=len(records),
        keeping=keeping_by_kind(records),
        first_blunder=first_blunder(records),
        reliability=reliability(records),
        seconds=time.perf_counter() - start,
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
