"""The course's board from 19 February to 27 March 2017 (generation early), with its mistake.

The mark for "not placed yet" that player 2 should have had stood on the first cell instead.
"""

from __future__ import annotations

from typing import Any

from knightfall.course import generation_2017a
from knightfall.course.generation_2017b import own


@own
class Board(generation_2017a.Board):
    """The same, but (0, 0) is never open, and player 2 stands there before its placement.

    So player 2 can be placed nowhere but on (1, 2) and (2, 1).
    """

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        super().__init__(player_1, player_2, width, height)
        self._board_state[-2] = 0
        self._board_state[0] = None
