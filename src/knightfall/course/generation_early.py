"""Generation "early" (19 February to 27 March 2017): the course's board with a placement bug.

The constructor wrote player 2's "not placed yet" mark into cell (0, 0) by mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knightfall.course import generation_2017a
from knightfall.course.generation_2017a import GenerationBefore2017b, uses_get_moves
from knightfall.course.generation_2017b import own
from knightfall.course.generations import BoardSource, GenerationEvidence, Strength


@own
class Board(generation_2017a.Board):
    """The board of 2017a with (0, 0) never open and player 2 standing there before placement.

    Player 2 can therefore be placed only on (1, 2) or (2, 1).
    """

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        super().__init__(player_1, player_2, width, height)
        self._board_state[-2] = 0
        self._board_state[0] = None


class EarlyGeneration(GenerationBefore2017b):
    """See `Generation`."""

    name = "early"
    board = Board

    @property
    def examined_on(self) -> Any:
        """See `Generation`; the board of 2017a, on which every cell is open at first."""
        return generation_2017a.Board

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """See `Generation`."""
        yield from self.own_board(found)
        later = sorted(found.used & {"_board_state", "_player_1", "_player_2", "hash"})
        if uses_get_moves(found) and later:
            words = f"it uses __get_moves__ and {later[0]}, as before 27 March 2017"
            yield Strength.METHOD_NAMES, words

    def board_sign(self, source: BoardSource) -> str:
        """See `Generation`."""
        if not source.is_flat or source.marked & {"-2", "-2:"}:
            return ""
        if "-1" in source.marked:
            return "does not mark player 2 as not placed yet"
        if "__get_moves__" in source.methods:
            return "keeps a flat _board_state and has __get_moves__"
        return ""


GENERATION = EarlyGeneration()
