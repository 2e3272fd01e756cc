"""The game as the course's boards play it, by the wall clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from timeit import default_timer
from typing import Any, Literal

from knightfall.course.knights import Cell

Reason = Literal["timeout", "forfeit", "illegal move"]
"""How a game ended: the loser answered late; illegally though it could have moved; or had no
legal move left, which is the ordinary end."""

TimeLeft = Callable[[], float]
"""The milliseconds left for the move that is being thought about; less than 0 when they are over.

Whoever keeps one from an earlier move is told about the present one.
"""

Ask = Callable[[Any, Any, list[Cell], TimeLeft], Any]
"""How a player is asked: the player, a copy of the board, its legal moves, the time left."""


def answers(board: Any, time_limit: float, ask: Ask) -> Iterator[tuple[Any, list[Cell], bool]]:
    """Ask the active player, again and again: its answer, its legal moves, whether it was late.

    Who goes on makes the move in between.  A player without legal moves is asked, too.
    """
    start = 0.0

    def time_left() -> float:
        return time_limit - 1000.0 * (default_timer() - start)

    while True:
        legal_moves = board.get_legal_moves()
        game_copy = board.copy()
        start = default_timer()
        answer = ask(board.active_player, game_copy, legal_moves, time_left)
        late = time_left() < 0
        yield answer, legal_moves, late


def play_out(
    board: Any, time_limit: float, ask: Ask, record: Callable[[Any], None]
) -> tuple[Any, Reason]:
    """Play to the end on `board` itself; the winner, and how it came about.

    `record` gets each move just before it is made.
    """
    asked = answers(board, time_limit, ask)
    while True:
        answer, legal_moves, late = next(asked)
        if late:
            return board.inactive_player, "timeout"
        if answer not in legal_moves:  # a list [row, column] never is
            return board.inactive_player, "forfeit" if legal_moves else "illegal move"
        record(answer)
        board.apply_move(answer)
