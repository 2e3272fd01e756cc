"""Play one game, one pair or a chunk of pairs in this process.

Agents that consist of a search with a node or depth budget play whole games in compiled code
(`knightfall.search.game_loop`); all others are asked move by move.  Both ways give the same record.
A compiled game takes half a millisecond, so everything that can be prepared is prepared once and
kept: one more line of Python per game would be measurable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from knightfall.agents import Agent, cached_agent
from knightfall.agents.kinds import random_kept
from knightfall.agents.remote_player import PATIENCE, RemotePlayer, check_time
from knightfall.arena.plan import GameRecord, PairRecord, PairTask, Reason, game_record
from knightfall.board import Board
from knightfall.display.printable import storable
from knightfall.errors import AgentFailure, KnightfallError, RunnerFailure
from knightfall.isolation import sandbox
from knightfall.kernel.interrupt import CLOCK
from knightfall.kernel.rules import geometry, rules_of, words
from knightfall.position import Position, Side, other
from knightfall.processor_cores import ENOUGH, wait_for_core
from knightfall.search import run_search
from knightfall.search.budget import LEAF_STEP_LIMIT, Report
from knightfall.search.game_loop import GAME_DTYPE, RESIGNED, TAMPERED, TOO_LATE, play
from knightfall.search.run_search import settings_for
from knightfall.search.search_state import DTYPE as STATE_DTYPE
from knightfall.search.search_state import SETTINGS_DTYPE
from knightfall.search.transposition_table import new_table

if TYPE_CHECKING:
    from knightfall.heuristics.evaluator import Evaluator

REPLAYS = 3
"""Most times that a game is replayed because an agent was late for want of a core."""

BUSY_PATIENCE = 30.0
"""Seconds to wait for a free core before a game by the wall clock is refused."""


class MoveSource(Protocol):
    """An agent, or a player in another process, that can be asked for a move."""

    def prepare(self, board: Board) -> object:
        """Prepare for a game on a board, before the clock runs."""

    def analyse(self, position: Position) -> Report:
        """Return the chosen move; raise an `AgentFailure` if there is none."""


def agent_with_seed(text: str, seed: int) -> Agent:
    """Return the agent of a string, with the pair's seed unless the string sets one."""
    agent = cached_agent(text)
    return replace(agent, seed=agent.seed or seed)


def play_pair(task: PairTask, ask: Callable[[Agent], MoveSource] | None = None) -> PairRecord:
    """Play both games of a pair, in this process.

    `ask` returns the player that chooses the moves of an agent.  This may be a player in another
    process, for agents that may hang or crash.
    """
    first, second = (_one_game(task, game, ask) for game in (0, 1))
    return PairRecord(task, (first, second))


def _one_game(task: PairTask, game: int, ask: Callable[[Agent], MoveSource] | None) -> GameRecord:
    """Play game 0 or 1 of a pair.

    If an agent was late because no core was free, replay the game, at most `REPLAYS` times.
    """
    if ask is None:
        a, b = searcher(task.a), searcher(task.b)
        if a is not None and b is not None:
            both: dict[Side, Searcher] = {"w": a, "b": b} if game == 0 else {"w": b, "b": a}
            return play_compiled(both, task.opening, task.seed)
    seats = {side: agent_with_seed(text, task.seed) for side, text in task.seats(game).items()}
    opening = Position.from_fen(task.opening)
    for replay in range(REPLAYS + 1):
        for agent in seats.values():
            if agent.needs_core:
                require_core(agent)
        players = {side: ask(agent) if ask else agent for side, agent in seats.items()}
        limits = {  # a remote player measures its time in its own process
            side: None if isinstance(players[side], RemotePlayer) else agent.budget.seconds
            for side, agent in seats.items()
        }
        try:
            timed = {side for side, agent in seats.items() if agent.budget.seconds is not None}
            forgiving = timed if replay < REPLAYS else ()
            return play_move_by_move(players, limits, opening, forgiving)
        except AgentFailure:
            continue
        finally:
            for player in players.values():
                if isinstance(player, RemotePlayer):
                    player.end_game()
    raise AssertionError("unreachable: the last replay records an AgentFailure")


def require_core(agent: Agent) -> None:
    """Wait for a free core; raise a `RunnerFailure` if there is none after `BUSY_PATIENCE`."""
    share = wait_for_core(BUSY_PATIENCE)
    if share < ENOUGH:
        raise RunnerFailure(
            f"{agent.name} plays by the wall clock and needs a core, but for {BUSY_PATIENCE:g} s "
            f"other processes left only {100 * share:.0f} % of one free: play on an idle machine, "
            "or set clock=ticks"
        )


def play_move_by_move(
    players: dict[Side, MoveSource],
    limits: dict[Side, float | None],
    opening: Position,
    forgiving: Collection[Side] = (),
) -> GameRecord:
    """Play a game by asking for each move; a player that exceeds its limit (in seconds) loses.

    Raise the `AgentFailure` of a side in `forgiving` that was late for want of a core.
    """
    for side, player in players.items():
        if limits[side] is not None:
            with suppress(KnightfallError):  # a player that fails here fails again when asked
                player.prepare(opening.board)
    position = opening
    rows: list[tuple[int, Report]] = []
    stopped = _thread_workspace().game["stop"]
    while position.winner is None:
        if stopped[0]:
            raise RunnerFailure("the game was stopped")
        side = position.to_move
        try:
            report = _ask(players[side], position, limits[side])
            position = position.play(report.move)
        except AgentFailure as failure:
            if failure.starved and side in forgiving:
                raise
            return _record(rows, side, failure.reason, str(failure))
        except KnightfallError as error:  # a user's heuristic that raised an error
            return _record(rows, side, "crash", str(error))
        rows.append((position.board.cell(report.move), report))
    return _record(rows, other(position.winner), "no moves")


def _ask(player: MoveSource, position: Position, limit: float | None) -> Report:
    """Return a player's move; raise an `AgentFailure` if it took longer than its limit.

    A search in this process checks the clock, but not while other processes have the core.  So it
    counts as late only if its processor time exceeded the limit as well.
    """
    if not isinstance(player, Agent):
        return check_time(player.analyse(position), limit)
    before = time.process_time()
    report = player.analyse(position)
    return check_time(report, limit, computed=time.process_time() - before)


def _record(
    rows: list[tuple[int, Report]], loser: Side, reason: Reason, detail: str = ""
) -> GameRecord:
    """Return the record of a game from its moves, the loser and the reason."""
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
    """The settings of an agent that consists of a search, ready for compiled code.

    The evaluator is kept for the whole run: editing a heuristic's file does not change it.
    """

    evaluator: Evaluator
    seed: int
    entries: int
    settings: Any  # one record of SETTINGS_DTYPE, without seed and table


@lru_cache(maxsize=512)
def searcher(text: str) -> Searcher | None:
    """Return the searcher of an agent string; None if the agent must be asked move by move."""
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
    """Return the position of a FEN, and the three integers that encode it in compiled code."""
    position = Position.from_fen(fen)
    return position, words(position)


class _Workspace:
    """The arrays that one thread plays in: boards, search state, transposition tables."""

    def __init__(self) -> None:
        self.boards: dict[Board, tuple[Any, Any, Any]] = {}
        self.state = np.zeros(1, STATE_DTYPE)
        self.players = np.zeros(2, SETTINGS_DTYPE)
        self.game = np.zeros(1, GAME_DTYPE)
        self.game["clock"] = CLOCK
        self.game["dial"] = self.game["reading"].ctypes.data
        self.tables: dict[int, Any] = {}

    def board(self, board: Board) -> tuple[Any, Any, Any]:
        """Return the tables of a board for compiled code, and two arrays of uint64 to verify them.

        The first array is a view of the tables, the second their correct beginning: if they differ,
        a heuristic has overwritten the tables.
        """
        if board not in self.boards:
            boards = geometry(board, LEAF_STEP_LIMIT)
            self.boards[board] = boards, boards.view(np.uint64), rules_of(board)
        return self.boards[board]

    def set_player(self, place: int, player: Searcher, seed: int) -> None:
        """Set player number `place`, 0 or 1; player 0 moves first."""
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
    """Play a game in compiled code, from a position that is not over."""
    workspace = _thread_workspace()
    position, start = _start(opening)
    board, mover = workspace.board(position.board), position.to_move
    workspace.set_player(0, seats[mover], seed)
    workspace.set_player(1, seats[other(mover)], seed)
    play(*board, workspace.state, workspace.players, workspace.game, *start)
    game = workspace.game[0]
    plies = int(game["plies"])
    loser = mover if plies % 2 == 0 else other(mover)
    reason: Reason = "no moves"
    detail = ""
    if game["failed"] == TAMPERED:
        del workspace.boards[position.board]  # the next game gets a new one
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
    """Return the error message of a heuristic that failed; "" if it left none."""
    try:
        with evaluator.explaining_errors(boards):
            pass
    except KnightfallError as error:
        return storable(str(error))
    finally:
        boards["failed"] = 0
    return ""


def stopper() -> Callable[[], None]:
    """Return a function by which another thread ends this thread's game and all later ones.

    The records of games that were ended like this are meaningless.
    """
    workspace = _thread_workspace()

    def stop() -> None:
        workspace.game["stop"] = 1
        for boards, _, _ in list(workspace.boards.values()):
            boards["limit"] = 0

    return stop


# -- chunks of pairs ---------------------------------------------------------------------------


def play_chunk(
    tasks: Sequence[PairTask], careful: bool = False, patience: float = PATIENCE
) -> list[PairRecord]:
    """Play some pairs in this process; agents that run users' Python get processes of their own.

    With `careful`, every agent gets one, and users' code may take at most `patience` seconds for a
    move.
    """
    if not careful:
        make_ready(text for task in tasks for text in (task.a, task.b))
    with random_kept():
        return [_play_task(task, careful, patience) for task in tasks]


def _play_task(task: PairTask, careful: bool, patience: float) -> PairRecord:
    """Play a pair as `play_chunk` does."""

    def player(agent: Agent) -> MoveSource:
        return RemotePlayer(agent, patience) if careful or is_python(agent) else agent

    if careful or any(is_python(cached_agent(text)) for text in (task.a, task.b)):
        return play_pair(task, player)
    return play_pair(task)


# -- getting agents ready --------------------------------------------------------------------


def is_python(agent: Agent) -> bool:
    """Return whether an agent's moves are chosen by users' Python code, which may crash or hang."""
    return agent.in_python or agent.heuristic in _not_compiled


def make_ready(texts: Iterable[str]) -> None:
    """Compile the code of agents, unless that is done; users' code is compiled once per run.

    Only one thread compiles at a time.
    """
    for text in texts:
        if text not in _ready:
            with _preparing:
                agent = replace(cached_agent(text))  # a copy: its evaluator is for this run
                if agent.has_users_code:
                    _with_users_code.add(text)
                if not agent.in_python:
                    agent.prepare()
                    searcher(text)  # caches the evaluator
                    if agent.isolated:
                        _not_compiled.add(agent.heuristic)
                _ready.add(text)


def check_agents(texts: Iterable[str]) -> None:
    """Make agents ready; raise a `KnightfallError` if one of them cannot play at all.

    Users' agents are tried in a process of their own, because a file may run any code when it is
    imported.  Submissions of the course are only read; one that cannot be imported loses its games.
    """
    for text in dict.fromkeys(texts):
        make_ready([text])
        if text not in _tried:
            if is_python(agent := cached_agent(text)):
                sandbox.kind()  # tells the user in this process, because workers print nothing
            agent.check()
            _tried.add(text)


def forget_agents() -> None:
    """Forget all agents with users' code, so that a new run reads the users' files again."""
    with _preparing:
        _ready.difference_update(_with_users_code)
        _tried.difference_update(_with_users_code)
        _not_compiled.clear()
        if _with_users_code:
            searcher.cache_clear()
        _with_users_code.clear()


# Sets of agent strings, except for `_not_compiled`.
_ready: set[str] = set()
_tried: set[str] = set()
_with_users_code: set[str] = set()
_not_compiled: set[str] = set()  # ids of heuristics that must be interpreted
_preparing = threading.Lock()
