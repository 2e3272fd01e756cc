"""The course's board from 19 February to 27 March 2017 (generation early), with its mistake.

The mark for "not placed yet" that player 2 should have had stood on the first cell instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knightfall.course import generation_2017a
from knightfall.course.generation_2017a import GenerationBefore2017b, uses_get_moves
from knightfall.course.generation_2017b import own
from knightfall.course.generations import BoardSource, Evidence, Strength


@own
class Board(generation_2017a.Board):
    """The same, but (0, 0) is never open, and player 2 stands there before its placement.

    So player 2 can be placed nowhere but on (1, 2) and (2, 1).
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
        """See `Generation`: the later board, on which every cell is open."""
        return generation_2017a.Board

    def signs(self, found: Evidence) -> Iterator[tuple[Strength, str]]:
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
