"""The game as the course's boards play it, by the wall clock."""

from __future__ import annotations

from collections.abc import Callable
from timeit import default_timer
from typing import Any, Literal

from knightfall.course.knights import Cell

Reason = Literal["timeout", "forfeit", "illegal move"]
"""How a game ended: the loser answered late; illegally though it could have moved; or had no
legal move left, which is the ordinary end."""

TimeLeft = Callable[[], float]
"""The milliseconds left for this move; less than 0 when they are over."""

Ask = Callable[[Any, Any, list[Cell], TimeLeft], Any]
"""How a player is asked: the player, a copy of the board, its legal moves, the time left."""


def play_out(
    board: Any, time_limit: float, ask: Ask, record: Callable[[Any], None]
) -> tuple[Any, Reason]:
    """Play to the end on `board` itself; the winner, and how it came about.

    `record` gets each move just before it is made.  A player without legal moves is asked too:
    whatever it answers, it has lost.
    """
    while True:
        legal_moves = board.get_legal_moves()
        game_copy = board.copy()
        start = default_timer()

        def time_left(start: float = start) -> float:
            return time_limit - 1000.0 * (default_timer() - start)

        answer = ask(board.active_player, game_copy, legal_moves, time_left)
        if time_left() < 0:
            return board.inactive_player, "timeout"
        if answer not in legal_moves:  # a list [row, column] never is
            return board.inactive_player, "forfeit" if legal_moves else "illegal move"
        record(answer)
        board.apply_move(answer)
