"""The agent `champion` keeps won positions and plays lost ones for practical chances.

Atlas, reflection and solver come first, as for the perfect player.  A won position is won as
quickly as the time allows to find out.  A lost position, or an undecided one in which the champion
is the runner (who nearly always loses), is played for practical chances: it chooses the move after
which the opponents that it may be playing, given their moves so far, err most often (`mcts.py`).
All other positions (undecided and the champion hunts, a placement, a budget too small for trials)
are searched with a heuristic.

Searches, trials and the solver share one budget of nodes or time.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from knightfall.board import Board
from knightfall.display.numbers import percent
from knightfall.errors import KnightfallError
from knightfall.kernel.rules import NO_LIMIT
from knightfall.opponents.mcts import best_chance, last_search_nodes
from knightfall.opponents.mcts import warm_up as warm_up_mcts
from knightfall.opponents.opponent_models import GameHistory, Posterior
from knightfall.position import Position
from knightfall.search.budget import Budget, Report, without_reserve
from knightfall.solver import perfect
from knightfall.solver.engine import Engine, KeptEngines, Limits
from knightfall.solver.perfect import (
    SOLVER_SHARE,
    PerfectChoice,
    heuristic_move,
    settle,
    time_budget,
)

NODES_PER_SECOND = 25_000_000
"""A low estimate, to convert time to nodes: 150 ms are about 4 million nodes."""

MCTS_NODES = 30_000
"""Smallest budget for trials: with fewer nodes a search plays better.

Win rates against id(improved, nodes=2500) from 100 lost positions each, measured with fewer models:
at 20,000 nodes trials win 28 % and searches 28 to 36 %; at 100,000 nodes trials win 59 % and
searches 35 to 39 %."""

RESERVE = 0.3, 0.0005, 0.05
"""Part of a time budget that is held back (see `run_search.RESERVE`).  Trials use the time
to its end, so a busy machine would delay some moves beyond it.  A quarter more trials would hardly
win more games."""


@dataclass(frozen=True)
class GameMemory:
    """What one champion keeps from move to move: solver tables, and posteriors of its opponents."""

    engines: KeptEngines = field(default_factory=KeptEngines)
    history: GameHistory = field(default_factory=GameHistory)


def proof_nodes(cells: int) -> float:
    """Return about how many nodes a proof takes with this many open cells (medians on 7×7).

    27 cells: 70 nodes, 31: 200, 35: 2,000, 39: 12,000, 43: 110,000, 45: 500,000.
    """
    return 200.0 * math.pow(2.9, (cells - 31) / 2)


@dataclass
class _RemainingBudget:
    """The part of a budget that is left."""

    nodes: int
    deadline: float | None
    spent: int = 0

    def spend(self, nodes: int) -> None:
        """Deduct nodes."""
        self.spent += nodes
        if self.nodes < NO_LIMIT:
            self.nodes -= nodes

    @property
    def node_estimate(self) -> float:
        """The remaining budget in nodes; time is converted at `NODES_PER_SECOND`."""
        if self.deadline is None:
            return self.nodes
        left = max(0.0, self.deadline - time.perf_counter()) * NODES_PER_SECOND
        return min(self.nodes, left)

    @property
    def budget(self) -> Budget:
        """The remaining budget, for a search that uses all of it."""
        if self.deadline is None:
            return Budget(nodes=max(1, self.nodes))
        nodes = None if self.nodes >= NO_LIMIT else max(1, self.nodes)
        return time_budget(self.deadline - time.perf_counter(), nodes)


def choose(
    position: Position, budget: Budget, seed: int, memory: GameMemory, heuristic: str
) -> Report:
    """Return the champion's move; a time budget starts with this call.

    `heuristic` is for searches in positions that the solver cannot decide.
    """
    start = time.perf_counter()
    if not position.legal_moves:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to choose")
    seconds, deadline = budget.seconds, None
    if seconds is not None:
        deadline = start + without_reserve(seconds, *RESERVE)
    remaining = _RemainingBudget(budget.nodes or NO_LIMIT, deadline)
    engine = memory.engines.for_budget(position.board, budget)
    report = _settled(position, engine, remaining, seed, start)
    if report is not None and report.score > 0:
        return replace(report, seconds=time.perf_counter() - start)
    posterior = memory.history.posterior_at(position)
    played, posterior = _played(
        position, engine, remaining, seed, heuristic, posterior, lost=report is not None
    )
    memory.history.record(position.play(played.move), posterior)
    if report is not None and not played.proven:
        note = f"lost; {played.note}" if played.note else "lost"
        played = replace(played, score=-math.inf, proven=True, plies=None, note=note)
    return replace(played, nodes=remaining.spent, seconds=time.perf_counter() - start)


def _settled(
    position: Position, engine: Engine, remaining: _RemainingBudget, seed: int, start: float
) -> Report | None:
    """Decide a position exactly; return None if that is impossible within a share of the budget.

    Tried in turn: the atlas of solved openings, the reflection strategy, and the
    solver.  If the position is lost, the report's move is arbitrary.
    """
    nodes, solve_by = remaining.nodes, None
    if remaining.deadline is not None:
        solve_by = start + (remaining.deadline - start) * SOLVER_SHARE
    if nodes < NO_LIMIT:
        nodes = int(nodes * SOLVER_SHARE)
    if proof_nodes(len(position.open)) > remaining.node_estimate * SOLVER_SHARE:
        nodes = 0  # too expensive to solve; atlas and reflection need no nodes
    choice = PerfectChoice(position, engine, Limits(nodes, solve_by), seed, resists=False)
    report, spent = settle(choice)
    remaining.spend(spent)
    return report


def _played(
    position: Position,
    engine: Engine,
    remaining: _RemainingBudget,
    seed: int,
    heuristic: str,
    posterior: Posterior,
    *,
    lost: bool,
) -> tuple[Report, Posterior]:
    """Return a move for a position that is not known to be won, and the new posterior.

    The move comes from trials or, if there is no budget for them, from a heuristic search.
    """
    if lost and len(position.legal_moves) == 1:
        only = position.legal_moves[0]
        return Report(only, 0.0, False, None, 0, 0, 0.0, (only,), note="the only move"), posterior
    runs = position.placed and position.hunter != position.to_move
    if position.placed and (lost or runs) and remaining.node_estimate >= MCTS_NODES:
        most = remaining.nodes - remaining.nodes // 20  # the rest is for a search if no trial ends
        chance, posterior = best_chance(
            position,
            engine,
            most,
            remaining.deadline,
            seed,
            posterior,
            min(most, remaining.node_estimate),
        )
        remaining.spend(last_search_nodes())
        if chance is not None:
            note = (
                f"wins {percent(chance.rate, 0)} of {chance.trials} trials against typical players"
            )
            move, score = chance.move, 2.0 * chance.rate - 1.0
            return Report(move, score, False, None, 0, 0, 0.0, (move,), note=note), posterior
    report = heuristic_move(position, heuristic, remaining.budget, seed)
    remaining.spend(report.nodes)
    return report, posterior


def warm_up(board: Board, budget: Budget, memory: GameMemory, heuristic: str) -> None:
    """Prepare everything that the first move on a board needs, so that it is not slow."""
    perfect.warm_up(board, budget, memory.engines, heuristic)
    warm_up_mcts(board)
