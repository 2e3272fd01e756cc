"""Generation 2017a (March and April 2017): its board, sample players and recognition.

The board is that of the course's March tag.  It differs from 2017b's only in the arguments of
`get_move`.  Of the scores, only `center_score` changed, on 25 April 2017; this is the earlier one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from knightfall.course import generation_2017b
from knightfall.course.board_common import Cell, TimeLeft
from knightfall.course.generation_2017b import any_of, best_of, chosen_from, own
from knightfall.course.generations import BoardSource, Generation, GenerationEvidence, Strength
from knightfall.course.scores import center_score_until_april
from knightfall.course.scores import improved_score as improved_score
from knightfall.course.scores import null_score as null_score
from knightfall.course.scores import open_move_score as open_move_score

center_score = center_score_until_april


def ask_with_moves(player: Any, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Any:
    """Call `get_move` with the legal moves, as all boards before 2017b do."""
    return player.get_move(game, legal_moves, time_left)


@own
class Board(generation_2017b.Board):
    """The board of generation 2017b, except that `get_move` also gets the list of legal moves.

    A player's answer is checked against the same list that the player gets.
    """

    _ask = staticmethod(ask_with_moves)


# -- sample players ----------------------------------------------------------------------------


class RandomPlayer:
    """A player that chooses a random legal move."""

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """Return a random legal move; (-1, -1) if there is none."""
        return any_of(legal_moves)


class GreedyPlayer:
    """A player that chooses the move with the highest score one ply ahead."""

    def __init__(self, score_fn: Callable[[Any, Any], float] = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """Return the move with the highest score; (-1, -1) if there is no move."""
        return best_of(legal_moves, game, self)


class HumanPlayer:
    """A player whose moves are typed in at the keyboard."""

    def get_move(self, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Cell:
        """Return the move whose number is typed in; (-1, -1) if there is no move."""
        return chosen_from(legal_moves)


# -- the generation ----------------------------------------------------------------------------


class GenerationBefore2017b(Generation):
    """The common interface of the generations before 2017b, with one class `CustomPlayer`."""

    gives_moves = True
    sample_players: ClassVar = {
        "GreedyPlayer": GreedyPlayer,
        "HumanPlayer": HumanPlayer,
        "RandomPlayer": RandomPlayer,
        "center_score": center_score,
        "improved_score": improved_score,
        "null_score": null_score,
        "open_move_score": open_move_score,
    }
    classes: ClassVar = {"minimax": "CustomPlayer", "alphabeta": "CustomPlayer"}
    constructor = ("score_fn", "iterative", "method")
    methods: ClassVar = {
        "get_move": (("game", "legal_moves", "time_left"),),
        "minimax": (("game", "depth"), ("game", "depth", "maximizing_player")),
        "alphabeta": (
            ("game", "depth"),
            ("game", "depth", "alpha", "beta"),
            ("game", "depth", "alpha", "beta", "maximizing_player"),
        ),
    }
    scores = ("custom_score",)
    timeout = "Timeout"
    answers_values = True
    endless_depth = -1
    protocol = "2017a"

    def tested(self, player: str, scores: list[str]) -> list[tuple[str, str]]:
        """See `Generation`."""
        return [("ID_Improved", "improved_score"), ("Student", "custom_score")]

    def own_board(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """Yield (strength, reason) if a board file beside the submission is of this generation."""
        if found.board is not None and found.board.generation is self:
            place = os.path.relpath(found.board.file, found.file.parent)
            yield Strength.OWN_BOARD, f"{place} beside it {found.board.sign}"


def uses_get_moves(found: GenerationEvidence) -> bool:
    """Return whether a submission without a board file uses the board's method `__get_moves__`.

    The course's board had this name for the method until 27 March 2017.
    """
    named = "__get_moves__" in found.used and "_Board__get_moves" not in found.used
    return found.board is None and named


class Generation2017a(GenerationBefore2017b):
    """See `Generation`."""

    name = "2017a"
    board = Board

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """See `Generation`."""
        if 3 in found.takes:
            yield Strength.THREE_ARGUMENTS, "get_move takes game, legal_moves and time_left"
        if "CustomPlayer" in found.players:
            yield Strength.CLASSES, "it has CustomPlayer"
        if found.board is not None and found.board.generation is self:
            yield Strength.BOARD, f"the board beside it {found.board.sign}"

    def board_sign(self, source: BoardSource) -> str:
        """See `Generation`; recognised by the three arguments that `play` passes to `get_move`."""
        asks = source.is_flat and source.asked == {3}
        return "asks get_move(game, legal_moves, time_left)" if asks else ""

    def guess(self, file: Path, text: str) -> str:
        """See `Generation`."""
        return "it has CustomPlayer" if re.search(r"^class\s+CustomPlayer\b", text, re.M) else ""


GENERATION = Generation2017a()
