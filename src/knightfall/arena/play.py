"""One game, one pair.

Agents that are nothing but a search with a node or depth budget play whole games in compiled code
(`knightfall.search.game_loop`); all others are asked move by move.  Both ways give the same record.
A compiled game takes half a millisecond, so what is prepared for it is prepared once and kept: a
line more of Python per game would show.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from knightfall.agents import Agent, cached_agent
from knightfall.agents.remote_player import check_time
from knightfall.arena.plan import GameRecord, PairRecord, PairTask, Reason, game_record
from knightfall.board import Board
from knightfall.display.printable import storable
from knightfall.errors import AgentFailure, KnightfallError, RunnerFailure
from knightfall.kernel.geometry import rules_of
from knightfall.kernel.interrupt import clock_address
from knightfall.kernel.rules import words
from knightfall.machine import ENOUGH, wait_for_core
from knightfall.position import Position, Side, other
from knightfall.search import run_search
from knightfall.search.budget import Report
from knightfall.search.game_loop import GAME_DTYPE, RESIGNED, TAMPERED, TOO_LATE, play
from knightfall.search.run_search import board_for, settings_for
from knightfall.search.search_state import DTYPE as STATE_DTYPE
from knightfall.search.search_state import SETTINGS_DTYPE
from knightfall.search.table import new_table

if TYPE_CHECKING:
    from knightfall.board import Board
    from knightfall.heuristics.evaluator import Evaluator

REPLAYS = 3
"""Times that a game is played again in which an agent was late because it had no core."""

BUSY_PATIENCE = 30.0
"""Seconds to wait for a core before a submission's game by the wall clock is refused."""


class MoveSource(Protocol):
    """Whoever can be asked for a move."""

    def prepare(self, board: Board) -> object:
        """Get ready for a game on a board, before the clock runs."""

    def analyse(self, position: Position) -> Report:
        """The move; an `AgentFailure` if there is none."""


@runtime_checkable
class _ForOneGame(Protocol):
    """A player in a process of its own, which has its time taken there."""

    def end_game(self) -> None:
        """Let go what was there for that game."""


def seated(text: str, seed: int) -> Agent:
    """The agent of a string, with the pair's seed unless it brings its own."""
    agent = cached_agent(text)
    return replace(agent, seed=agent.seed or seed)


def play_pair(task: PairTask, ask: Callable[[Agent], MoveSource] | None = None) -> PairRecord:
    """Play both games of a pair, in this process.

    `ask` gives the player to be asked in an agent's place: one that runs elsewhere, for agents
    that may hang or die.
    """
    first, second = (_one_game(task, game, ask) for game in (0, 1))
    return PairRecord(task, (first, second))


def _one_game(task: PairTask, game: int, ask: Callable[[Agent], MoveSource] | None) -> GameRecord:
    if ask is None:
        a, b = searcher(task.a), searcher(task.b)
        if a is not None and b is not None:
            both: dict[Side, Searcher] = {"w": a, "b": b} if game == 0 else {"w": b, "b": a}
            return play_compiled(both, task.opening, task.seed)
    seats = {side: seated(text, task.seed) for side, text in task.seats(game).items()}
    opening = Position.from_fen(task.opening)
    for replay in range(REPLAYS + 1):
        for agent in seats.values():
            if agent.needs_core:
                need_core(agent)
        players = {side: ask(agent) if ask else agent for side, agent in seats.items()}
        limits = {
            side: None if isinstance(players[side], _ForOneGame) else agent.budget.seconds
            for side, agent in seats.items()
        }
        try:
            return play_asking(players, limits, opening, forgiving=replay < REPLAYS)
        except AgentFailure:
            continue
        finally:
            for player in players.values():
                if isinstance(player, _ForOneGame):
                    player.end_game()
    raise AssertionError("the last game is not forgiven")


def need_core(agent: Agent) -> None:
    """Wait for a core; raise a `RunnerFailure` if other processes do not leave one."""
    share = wait_for_core(BUSY_PATIENCE)
    if share < ENOUGH:
        raise RunnerFailure(
            f"{agent.name} plays by the wall clock, and other processes left it {100 * share:.0f} "
            f"% of a core for {BUSY_PATIENCE:g} s: play on an idle machine, or with clock ticks"
        )


def play_asking(
    players: dict[Side, MoveSource],
    limits: dict[Side, float | None],
    opening: Position,
    *,
    forgiving: bool = False,
) -> GameRecord:
    """Play a game in which each move is asked for; an agent that exceeds its limit loses.

    If `forgiving`, raise the `AgentFailure` of an agent that exceeded its limit for want of a core.
    """
    for side, player in players.items():
        if limits[side] is not None:
            with suppress(KnightfallError):  # whoever cannot get ready will fail when asked
                player.prepare(opening.board)
    position = opening
    rows: list[tuple[int, Report]] = []
    while position.winner is None:
        side = position.to_move
        try:
            report = _ask(players[side], position, limits[side])
            position = position.play(report.move)
        except AgentFailure as failure:
            if forgiving and failure.starved and limits[side] is not None:
                raise
            return _record(rows, side, failure.reason, str(failure))
        except KnightfallError as error:  # a user's heuristic that raised an error
            return _record(rows, side, "crash", str(error))
        rows.append((position.board.cell(report.move), report))
    return _record(rows, other(position.winner), "no moves")


def _ask(player: MoveSource, position: Position, limit: float | None) -> Report:
    """Return a player's move; raise an `AgentFailure` if it took longer than its limit.

    A search in this process stops by the clock.  While others have the processor, it cannot: so it
    is late only if it also computed for longer than its limit.
    """
    if not isinstance(player, Agent):
        return check_time(player.analyse(position), limit)
    before = time.process_time()
    report = player.analyse(position)
    return check_time(report, limit, computed=time.process_time() - before)


def _record(
    rows: list[tuple[int, Report]], loser: Side, reason: Reason, detail: str = ""
) -> GameRecord:
    reports = [report for _, report in rows]
    return game_record(
        other(loser),
        reason,
        cells=[cell for cell, _ in rows],
        scores=[report.score for report in reports],
        depths=[report.depth for report in reports],
        nodes=[report.nodes for report in reports],
        seconds=[report.seconds for report in reports],
        detail=detail,
    )


# -- compiled games -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Searcher:
    """An agent that is nothing but a search, ready for compiled code.

    The evaluator is kept for the whole run: a file edited meanwhile does not change the player.
    """

    evaluator: Evaluator
    seed: int
    entries: int
    settings: Any  # one record, all but its seed and its table


@lru_cache(maxsize=512)
def searcher(text: str) -> Searcher | None:
    """Return the searcher of an agent string; None if more than compiled code must play it."""
    from knightfall.heuristics.evaluator import evaluator

    agent = cached_agent(text)
    search = agent.search
    if search is None or agent.timed:
        return None
    heuristic = evaluator(agent.heuristic or "null")
    if not heuristic.compiled:
        return None
    settings = settings_for(search.search, heuristic, search.budget)[0]
    return Searcher(heuristic, agent.seed, int(settings["entries"]), settings)


@lru_cache(maxsize=4096)
def _start(fen: str) -> tuple[Position, tuple[int, int, int]]:
    position = Position.from_fen(fen)
    return position, words(position)


class _Workspace:
    """The memory in which one thread plays: its boards, its scratch space, its tables."""

    def __init__(self) -> None:
        self.boards: dict[Board, tuple[Any, Any, Any]] = {}
        self.state = np.zeros(1, STATE_DTYPE)
        self.players = np.zeros(2, SETTINGS_DTYPE)
        self.game = np.zeros(1, GAME_DTYPE)
        self.game["clock"] = clock_address()
        self.game["dial"] = self.game["reading"].ctypes.data
        self.tables: dict[int, Any] = {}

    def board(self, board: Board) -> tuple[Any, Any, Any]:
        """Return the geometry of a board, for the searches of this thread alone.

        As a record, as words, and the words that it must begin with.
        """
        if board not in self.boards:
            boards = board_for(board)
            self.boards[board] = boards, boards.view(np.uint64), rules_of(board)
        return self.boards[board]

    def seat(self, place: int, player: Searcher, seed: int) -> None:
        """Set up a player; the one in place 0 moves first."""
        if player.entries not in self.tables:
            table = new_table(player.entries)
            self.tables[player.entries] = table, table.ctypes.data
        here = self.players
        here[place] = player.settings
        here["seed"][place] = player.seed or seed
        here["table"][place] = self.tables[player.entries][1]


_thread = threading.local()


def _thread_workspace() -> _Workspace:
    """Return this thread's workspace, creating it on first use."""
    if not hasattr(_thread, "workspace"):
        _thread.workspace = _Workspace()
    found: _Workspace = _thread.workspace
    return found


def play_compiled(seats: dict[Side, Searcher], opening: str, seed: int) -> GameRecord:
    """Play a game from a position that is not over."""
    workspace = _thread_workspace()
    position, start = _start(opening)
    board, mover = workspace.board(position.board), position.to_move
    workspace.seat(0, seats[mover], seed)
    workspace.seat(1, seats[other(mover)], seed)
    play(*board, workspace.state, workspace.players, workspace.game, *start)
    game = workspace.game[0]
    plies = int(game["plies"])
    loser = mover if plies % 2 == 0 else other(mover)
    reason: Reason = "no moves"
    detail = ""
    if game["failed"] == TAMPERED:
        del workspace.boards[position.board]  # the next game gets another one
        reason, detail = "crash", storable(str(seats[loser].evaluator.tampered()))
    elif game["failed"] in (RESIGNED, TOO_LATE):
        reason = "forfeit"
        detail = run_search.RESIGNS if game["failed"] == RESIGNED else run_search.TOO_LATE
    elif game["failed"]:
        reason, detail = "crash", _explanation(seats[loser].evaluator, board[0])
    return GameRecord(
        other(loser),
        reason,
        cells=game["cells"][:plies].tobytes(),
        scores=game["scores"][:plies].tobytes(),
        depths=game["depths"][:plies].tobytes(),
        nodes=game["nodes"][:plies].tobytes(),
        microseconds=game["microseconds"][:plies].tobytes(),
        detail=detail,
    )


def _explanation(evaluator: Evaluator, boards: Any) -> str:
    """Say what went wrong in a heuristic that failed."""
    try:
        with evaluator.errors_explained(boards):
            pass
    except KnightfallError as error:
        return storable(str(error))
    finally:
        boards["failed"] = 0
    return ""


def stopper() -> Callable[[], None]:
    """Return a function that ends this thread's game, and all later ones, from another thread.

    The records of such games mean nothing.
    """
    workspace = _thread_workspace()

    def stop() -> None:
        workspace.game["stop"] = 1
        for boards, _, _ in list(workspace.boards.values()):
            boards["limit"] = 0

    return stop
