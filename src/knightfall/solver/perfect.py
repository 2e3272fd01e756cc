"""The perfect player: atlas, then reflection, then solver.

In a won position it plays a winning move, the quickest that it finds within its budget.  In a lost
one it plays the move that is hardest to answer: longest resistance first, and among equals the move
to which the fewest replies win.  If the budget ends before the winner is known, it plays the move
of a heuristic search, and its report says so.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.rules import NO_LIMIT
from knightfall.openings import seeded_order
from knightfall.position import Position
from knightfall.search.budget import Budget, Report
from knightfall.solver.atlas import lookup
from knightfall.solver.engine import SMALLEST_MB, Engine, KeptEngines, Limits, OutOfBudget
from knightfall.solver.reflection import loses_by_reflection, mirror_move
from knightfall.solver.solve import Solver

FALLBACK = "improved"
"""The heuristic of the search that chooses a move if the solver cannot."""

SOLVER_SHARE = 0.65
"""The solver's share of a time budget; a heuristic search may need most of the rest."""

FALLBACK_NODES = 100_000
"""Nodes of the heuristic search under a node budget."""

RESERVE = 0.1
"""The share of a time budget that is held back for everything but search."""

LEAST_TIME = 100
"""Microseconds that a heuristic search gets even if no time is left."""


class PerfectChoice:
    """Chooses the perfect move in one position; its attributes keep what was found so far."""

    def __init__(
        self,
        position: Position,
        engine: Engine,
        limits: Limits,
        seed: int,
        *,
        resists: bool = True,
    ) -> None:
        """Prepare the choice.  Without `resists` no move is searched for in a lost position."""
        self.resists = resists
        self.position = position
        drawn = f"{seed} {position.fen}"  # shuffles the moves: the first of equal ones is played
        self.moves = seeded_order(position.legal_moves, lambda move: f"{drawn} {move}")
        self.after = {move: position.play(move) for move in self.moves}
        self.solver = Solver(engine, limits=limits)
        self.wins: bool | None = None
        self.move = mirror_move(position) or ""
        self.by_reflection = bool(self.move) or loses_by_reflection(position)
        if self.by_reflection:
            self.wins = bool(self.move)
        self.plies: int | None = None

    def decide(self) -> None:
        """Find the move, and set `wins`, `move` and `plies`.

        Raise `OutOfBudget` if the budget ends first; what was found until then is set.
        """
        entry = lookup(self.position)
        if entry is not None and entry.best is not None:
            self.wins, self.move, self.plies = entry.mover_wins, entry.best, entry.plies
            return
        if not self.position.placed and not _stored(self.position):
            raise OutOfBudget  # too many openings to solve during a game
        if self.position.placed and not self.by_reflection:
            self._settle()
        winning = []
        if self.wins is not False:
            for move in self.moves:
                if not self.solver.wins(self.after[move]):
                    self.wins, self.move = True, self.move or move
                    winning.append(move)
        if winning:
            self._choose_quickest(winning)
        else:
            self.wins = False
            if self.resists:
                self._choose_hardest()

    def _settle(self) -> None:
        """Find the winner by one search, and a winning move if the table has one."""
        engine = self.solver.engine
        wins = self.solver.wins(self.position)
        if wins:
            for move in self.moves:
                if self.after[move].legal_moves and engine.known(self.after[move]) is False:
                    self.move = move
                    break
            else:
                return  # won, but the winning move is unknown
        self.wins = wins

    def _choose_quickest(self, winning: list[str]) -> None:
        """Choose the winning move with the shortest game, the first of equal ones."""
        if not self.position.placed:
            lengths = {move: self.solver.plies(self.after[move]) for move in winning}
            self.plies = 1 + min(lengths.values())
            self.move = next(m for m in winning if lengths[m] + 1 == self.plies)
            return
        plies = 0
        while True:
            for move in winning:
                if self._ends(move, plies):
                    self.move, self.plies = move, plies + 1
                    return
            plies += 2

    def _choose_hardest(self) -> None:
        """Choose the move with the longest game, and of these one with the fewest refutations."""
        left = list(self.moves)
        if not self.position.placed:
            lengths = {move: self.solver.plies(self.after[move]) for move in left}
            longest = max(lengths.values())
            left = [move for move in left if lengths[move] == longest]
            self.plies = longest + 1
        else:
            plies = 1
            while len(left) > 1 or self.plies is None:
                longer = [move for move in left if not self._ends(move, plies)]
                if not longer:
                    self.plies = plies + 1
                    break
                left, plies = longer, plies + 2
                self.move = left[0]
        fewest = math.inf
        for move in left:
            keeping = len(self.solver.winning_moves(self.after[move]))
            if keeping < fewest:
                fewest, self.move = keeping, move

    def _ends(self, move: str, plies: int) -> bool:
        after = self.after[move]
        if not after.legal_moves:
            return plies % 2 == 0
        return self.solver.engine.ends_within(after, plies, self.solver.limits)


def choose(position: Position, budget: Budget, seed: int, kept: KeptEngines) -> Report:
    """Return the perfect move, or the best one that is found within the budget.

    A time budget counts from the call.  Without a node budget, the engines in `kept` reuse the
    proofs of earlier moves.
    """
    start = time.perf_counter()
    if not position.legal_moves:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to choose")
    seconds = budget.seconds
    deadline = None if seconds is None else start + seconds * SOLVER_SHARE
    engine = kept.for_budget(position.board, budget)
    choice = PerfectChoice(position, engine, Limits(budget.nodes or NO_LIMIT, deadline), seed)
    report, spent = settle(choice)
    if report is None or not (choice.move or position.placed):
        left = None if seconds is None else start + seconds * (1 - RESERVE) - time.perf_counter()
        return _fallback(choice, left, seed, start, spent)
    return replace(report, seconds=time.perf_counter() - start)


def settle(choice: PerfectChoice) -> tuple[Report | None, int]:
    """Choose by atlas, reflection and solver; return the report and the nodes spent.

    The report is None if the winner is unknown.
    """
    engine, note = choice.solver.engine, ""
    before = engine.nodes
    try:
        choice.decide()
    except OutOfBudget:
        note = _unfinished(choice)
    spent = engine.nodes - before
    if choice.wins is None:
        return None, spent
    move = choice.move or choice.moves[0]
    report = Report(
        move=move,
        score=math.inf if choice.wins else -math.inf,
        proven=True,
        plies=choice.plies,
        depth=choice.plies or 0,
        nodes=spent,
        seconds=0.0,
        pv=(move,),
        note=note,
    )
    return report, spent


def warm_up(board: Board, budget: Budget, kept: KeptEngines, fallback: str = FALLBACK) -> None:
    """Do the one-time work of a first choice, so that the next one is not slower than others."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.run_search import SEARCHES
    from knightfall.search.run_search import warm_up as warm_up_search

    corners = board.name(0), board.name(board.cells - 1)
    opening = Position.from_moves(corners, board.width, board.height)
    lookup(opening)
    if budget.nodes is None:
        kept.on(board)
    engine = Engine(board, table_mb=SMALLEST_MB)
    with suppress(OutOfBudget):
        engine.wins(opening, Limits(nodes=1))
    with suppress(OutOfBudget):
        engine.ends_within(opening, 2, Limits(nodes=1))
    if budget.time is None:
        warm_up_search(
            board, SEARCHES["deepening"], evaluator(fallback), Budget(nodes=FALLBACK_NODES)
        )
        return
    # The time left for the heuristic search, and so the size of its table, varies.
    left = budget.time
    while left >= LEAST_TIME:
        warm_up_search(board, SEARCHES["deepening"], evaluator(fallback), Budget(time=left))
        left //= 2


def _unfinished(choice: PerfectChoice) -> str:
    """Return the note about a choice whose budget ended before the best move was known."""
    if choice.wins is None:
        return ""
    how = " by reflection" if choice.by_reflection else ""
    if choice.wins:
        return f"wins{how}; there was no time to find the quickest win"
    return f"lost{how}; there was no time to find the longest resistance"


def _fallback(
    choice: PerfectChoice, seconds: float | None, seed: int, start: float, spent: int
) -> Report:
    """Return the report of a heuristic search of at most `seconds`.

    Its nodes include those that the solver `spent`, and its time is counted from `start`.
    """
    budget = Budget(nodes=FALLBACK_NODES) if seconds is None else time_budget(seconds)
    report = heuristic_move(choice.position, FALLBACK, budget, seed)
    if choice.wins is False and not report.proven:  # a placement: which one is hardest is unknown
        note = f"lost by reflection; {report.note}"
        report = replace(report, score=-math.inf, proven=True, note=note)
    elif report.note:
        report = replace(report, note=f"not solved in time: {report.note}")
    return replace(report, nodes=report.nodes + spent, seconds=time.perf_counter() - start)


def heuristic_move(position: Position, heuristic: str, budget: Budget, seed: int) -> Report:
    """Return the move of a heuristic search; unless it is proven, the report's note says so."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.run_search import SEARCHES, run_search

    report = run_search(position, SEARCHES["deepening"], evaluator(heuristic), budget, seed)
    return report if report.proven else replace(report, note=f"the move is that of id({heuristic})")


def time_budget(seconds: float, nodes: int | None = None) -> Budget:
    """Return a budget of the seconds that are left, at least `LEAST_TIME`."""
    return Budget(nodes=nodes, time=max(LEAST_TIME, int(seconds * 1e6)))


def _stored(position: Position) -> bool:
    """Return whether the openings that a placement leads to are in the atlas."""
    while not position.placed:
        position = position.play(position.legal_moves[0])
    return lookup(position) is not None
