"""How often a player keeps a won position won, and how far its scores can be trusted.

Win rates ask "who was better?" once a game; this asks "was that right?" at every move, and an
exact solver answers.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Hashable, Sequence

from knightfall.agents import Agent, parse_agent
from knightfall.arena.game.agent_process import player as ready_player
from knightfall.board import Board
from knightfall.display.progress import OnProgress, shown_or_told
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.oracle.grade_report import FirstBlunder, Grade, Keeping, Reliability
from knightfall.oracle.measures import Scored, auc, clustered_error, quantile_bins
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

OPENINGS = 50
BINS = 10


def grade(
    player: str | Analyst,
    *,
    openings: int = OPENINGS,
    seed: int = 0,
    board: str | Board = "7x7",
    workers: int = 1,
    progress: bool | OnProgress = True,
) -> Grade:
    """Let a player play itself from so many openings and judge every move.

    The seed draws the openings, those that a match of that seed begins with, and does nothing
    else; the result does not depend on `workers`.  `progress` shows how many games are
    over, or is a function that hears it.  Ctrl-C, too, ends it with what is known by then, once a
    game is over.
    """
    enable_keyboard_interrupt()
    start = time.perf_counter()
    board = Board.named(board) if isinstance(board, str) else board
    drawn = draw_openings(board, openings, seed)
    who = parse_agent(player) if isinstance(player, str) else player
    asked = ready_player(who, board) if isinstance(who, Agent) else who
    records: list[Record] = []
    try:
        with shown_or_told(progress, "games", openings) as tell:
            for record in records_of(asked, drawn, workers):
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
