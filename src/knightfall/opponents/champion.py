"""The champion: keeps what is won, and takes what is lost from opponents who can be fooled.

Atlas, reflection and solver come first, as for the perfect player.  A won position is won, as
quickly as there is time to find out.  A lost one, or one that nobody could settle in which it is
the runner (who nearly always is lost), is played for practical chances: the move after which the
players that the opponent may be, by its moves so far, most often go wrong (`practice.py`,
`beliefs.py`).  What is left (an unsettled position in which it hunts, a placement, a budget too
small for games) is searched with a heuristic.

Everything counts: searches, trials and the solver share one budget of nodes or of time.
"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass, field, replace

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.geometry import NO_LIMIT
from knightfall.opponents.beliefs import Beliefs, Recollection
from knightfall.opponents.practice import best_chance, spent_here
from knightfall.opponents.practice import warm_up as warm_up_practice
from knightfall.position import Position
from knightfall.search.budget import Budget, Report
from knightfall.solver import perfect
from knightfall.solver.engine import Engine, KeptEngines, Limits
from knightfall.solver.perfect import LEAST_TIME, SOLVER_SHARE, PerfectChoice, settle

HEURISTIC = "learned_net"
"""What the champion searches with where it cannot know."""

NODES_PER_SECOND = 25_000_000
"""A modest guess, to judge by what fits into a time: 150 ms are some 4 million nodes."""

PRACTICE_NODES = 30_000
"""With fewer nodes than this there are too few trials: a search knows more.

Against id(improved, nodes=2500), 100 lost games each, when there were fewer models: of budgets of
20,000 nodes trials win 28 % and searches 28 to 36 %, of 100,000 nodes trials win 59 % and searches
35 to 39 %."""

RESERVE_SHARE, LEAST_RESERVE, MOST_RESERVE = 0.3, 0.0005, 0.05
"""What is held back of a time budget: trials use all the time there is, move by move, so that on a
busy machine one of them will have to wait.  A quarter more of them would hardly win more."""


@dataclass(frozen=True)
class GameMemory:
    """What one champion remembers from move to move: proofs, and what it believes of opponents."""

    engines: KeptEngines = field(default_factory=KeptEngines)
    recollection: Recollection = field(default_factory=Recollection)


def proof_nodes(cells: int) -> float:
    """About what it takes to prove who wins, with so many open cells (medians on 7×7).

    27 cells: 70 nodes, 31: 200, 35: 2,000, 39: 12,000, 43: 110,000, 45: 500,000.
    """
    return 200.0 * math.pow(2.9, (cells - 31) / 2)


@dataclass
class _Purse:
    """What is left of a budget."""

    nodes: int
    deadline: float | None
    spent: int = 0

    def pay(self, nodes: int) -> None:
        """Note what was taken out of it."""
        self.spent += nodes
        if self.nodes < NO_LIMIT:
            self.nodes -= nodes

    @property
    def worth(self) -> float:
        """In nodes, by a guess if it is time."""
        if self.deadline is None:
            return self.nodes
        left = max(0.0, self.deadline - time.perf_counter()) * NODES_PER_SECOND
        return min(self.nodes, left)

    @property
    def budget(self) -> Budget:
        """For a search that takes all of it."""
        if self.deadline is None:
            return Budget(nodes=max(1, self.nodes))
        left = int((self.deadline - time.perf_counter()) * 1e6)
        nodes = None if self.nodes >= NO_LIMIT else max(1, self.nodes)
        return Budget(nodes=nodes, time=max(LEAST_TIME, left))


def choose(
    position: Position, budget: Budget, seed: int, memory: GameMemory, heuristic: str = HEURISTIC
) -> Report:
    """Return the champion's move; the budget counts from the call."""
    if budget.time is None or not gc.isenabled():
        return _choose(position, budget, seed, memory, heuristic)
    gc.disable()  # a full collection takes longer than many a move
    try:
        return _choose(position, budget, seed, memory, heuristic)
    finally:
        gc.enable()


def _choose(
    position: Position, budget: Budget, seed: int, memory: GameMemory, heuristic: str
) -> Report:
    start = time.perf_counter()
    if not position.legal_moves:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to choose")
    seconds, deadline = budget.seconds, None
    if seconds is not None:
        reserve = min(max(seconds * RESERVE_SHARE, LEAST_RESERVE), MOST_RESERVE, seconds / 2)
        deadline = start + seconds - reserve
    purse = _Purse(budget.nodes or NO_LIMIT, deadline)
    engine = memory.engines.for_budget(position.board, budget)
    report = _settled(position, engine, purse, seed, start)
    if report is not None and report.score > 0:
        return replace(report, seconds=time.perf_counter() - start)
    beliefs = memory.recollection.recall(position)
    played, beliefs = _played(
        position, engine, purse, seed, heuristic, beliefs, lost=report is not None
    )
    memory.recollection.keep(position.play(played.move), beliefs)
    if report is not None and not played.proven:
        note = f"lost; {played.note}" if played.note else "lost"
        played = replace(played, score=-math.inf, proven=True, plies=None, note=note)
    return replace(played, nodes=purse.spent, seconds=time.perf_counter() - start)


def _settled(
    position: Position, engine: Engine, purse: _Purse, seed: int, start: float
) -> Report | None:
    """What atlas, reflection and solver say within their share of the purse; None if nothing.

    Of a lost position only that it is: its move means nothing.
    """
    nodes, solve_by = purse.nodes, None
    if purse.deadline is not None:
        solve_by = start + (purse.deadline - start) * SOLVER_SHARE
    if nodes < NO_LIMIT:
        nodes = int(nodes * SOLVER_SHARE)
    if proof_nodes(len(position.open)) > purse.worth * SOLVER_SHARE:
        nodes = 0  # what is known without a search is still found
    choice = PerfectChoice(position, engine, Limits(nodes, solve_by), seed, resists=False)
    report, spent = settle(choice)
    purse.pay(spent)
    return report


def _played(
    position: Position,
    engine: Engine,
    purse: _Purse,
    seed: int,
    heuristic: str,
    beliefs: Beliefs,
    *,
    lost: bool,
) -> tuple[Report, Beliefs]:
    """A move where no win is known: by practical chances, or a heuristic search.

    With it comes what is believed of the opponent now.
    """
    if lost and len(position.legal_moves) == 1:
        only = position.legal_moves[0]
        return Report(only, 0.0, False, None, 0, 0, 0.0, (only,), note="the only move"), beliefs
    runs = position.placed and position.hunter != position.to_move
    if position.placed and (lost or runs) and purse.worth >= PRACTICE_NODES:
        most = purse.nodes - purse.nodes // 20  # a little is kept, in case nothing comes of it
        chance, beliefs = best_chance(
            position, engine, most, purse.deadline, seed, beliefs, min(most, purse.worth)
        )
        purse.pay(spent_here())
        if chance is not None:
            note = f"wins {chance.rate:.0%} of {chance.trials} trials against usual players"
            report = Report(
                move=chance.move,
                score=2.0 * chance.rate - 1.0,
                proven=False,
                plies=None,
                depth=0,
                nodes=chance.nodes,
                seconds=0.0,
                pv=(chance.move,),
                note=note,
            )
            return report, beliefs
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.run_search import SEARCHES, run_search

    report = run_search(position, SEARCHES["deepening"], evaluator(heuristic), purse.budget, seed)
    purse.pay(report.nodes)
    note = "" if report.proven else f"the move is that of id({heuristic})"
    return replace(report, note=note), beliefs


def warm_up(board: Board, budget: Budget, memory: GameMemory, heuristic: str = HEURISTIC) -> None:
    """Do what the first choice on a board would do beside searching, so that none is a slow one."""
    perfect.warm_up(board, budget, memory.engines, heuristic)
    warm_up_practice(board)
