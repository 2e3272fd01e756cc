"""A game between two searches, played by compiled code from the first move to the last.

Such a game takes half a millisecond, so what is prepared here is prepared once and kept: a line
more of Python per game would show.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from knightfall.agents import known_agent
from knightfall.arena.game.records import GameRecord, Reason, one_line
from knightfall.errors import KnightfallError
from knightfall.kernel.geometry import rules_of
from knightfall.kernel.interrupt import clock_address
from knightfall.kernel.rules import words
from knightfall.position import Position, Side, other
from knightfall.search import run_search
from knightfall.search.game_loop import GAME_DTYPE, RESIGNED, TAMPERED, TOO_LATE, play
from knightfall.search.run_search import board_for, settings_for
from knightfall.search.search_state import DTYPE as STATE_DTYPE
from knightfall.search.search_state import SETTINGS_DTYPE
from knightfall.search.table import new_table

if TYPE_CHECKING:
    from knightfall.board import Board
    from knightfall.heuristics.evaluator import Evaluator


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
    """The searcher of an agent string, or None if it takes more than compiled code to play it."""
    from knightfall.heuristics.evaluator import evaluator

    agent = known_agent(text)
    search = agent.search
    if search is None or agent.timed:
        return None
    heuristic = evaluator(agent.heuristic or "null")
    if not heuristic.compiled:
        return None
    settings = settings_for(search.method, heuristic, search.budget, student=search.student)[0]
    return Searcher(heuristic, agent.seed, int(settings["entries"]), settings)


@lru_cache(maxsize=4096)
def _start(fen: str) -> tuple[Position, tuple[int, int, int]]:
    position = Position.from_fen(fen)
    return position, words(position)


class _Room:
    """Where the games of one thread are played: its boards, its scratch space, its tables."""

    def __init__(self) -> None:
        self.boards: dict[Board, tuple[Any, Any, Any]] = {}
        self.state = np.zeros(1, STATE_DTYPE)
        self.players = np.zeros(2, SETTINGS_DTYPE)
        self.game = np.zeros(1, GAME_DTYPE)
        self.game["clock"] = clock_address()
        self.game["dial"] = self.game["reading"].ctypes.data
        self.tables: dict[int, Any] = {}

    def board(self, board: Board) -> tuple[Any, Any, Any]:
        """The geometry of a board, for the searches of this thread alone.

        As a record, as words, and the words that it must begin with.
        """
        if board not in self.boards:
            boards = board_for(board)
            self.boards[board] = boards, boards.view(np.uint64), rules_of(board)
        return self.boards[board]

    def seat(self, place: int, player: Searcher, seed: int) -> None:
        """Let someone play: place 0 moves first."""
        if player.entries not in self.tables:
            table = new_table(player.entries)
            self.tables[player.entries] = table, table.ctypes.data
        here = self.players
        here[place] = player.settings
        here["seed"][place] = player.seed or seed
        here["table"][place] = self.tables[player.entries][1]


_here = threading.local()


def _room() -> _Room:
    if not hasattr(_here, "room"):
        _here.room = _Room()
    room: _Room = _here.room
    return room


def play_compiled(seats: dict[Side, Searcher], opening: str, seed: int) -> GameRecord:
    """Play a game from a position that is not over."""
    room = _room()
    position, start = _start(opening)
    board, mover = room.board(position.board), position.to_move
    room.seat(0, seats[mover], seed)
    room.seat(1, seats[other(mover)], seed)
    play(*board, room.state, room.players, room.game, *start)
    game = room.game[0]
    plies = int(game["plies"])
    loser = mover if plies % 2 == 0 else other(mover)
    reason: Reason = "no moves"
    detail = ""
    if game["failed"] == TAMPERED:
        del room.boards[position.board]  # the next game gets another one
        reason, detail = "crash", one_line(str(seats[loser].evaluator.tampered()))
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
    """What went wrong in a heuristic that failed."""
    try:
        with evaluator.errors_explained(boards):
            pass
    except KnightfallError as error:
        return one_line(str(error))
    finally:
        boards["failed"] = 0
    return ""


def stopper() -> Callable[[], None]:
    """What ends the game that this thread plays, and all it would play later, from another thread.

    The records of such games mean nothing.
    """
    room = _room()

    def stop() -> None:
        room.game["stop"] = 1
        for boards, _, _ in list(room.boards.values()):
            boards["limit"] = 0

    return stop
