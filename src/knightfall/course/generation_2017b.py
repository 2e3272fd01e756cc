"""Generation 2017b, the course's last and most common: its board and sample players.

Students' code reads the board's private attributes, and some writes them, so they are part of the
interface: no state is stored twice, and a written value takes effect at once.  This board is faster
than the original only because it looks up knight moves and shuffles inline
(`benchmarks/course_library.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from knightfall.course.board_common import (
    DRAWS,
    KNIGHT_STEPS,
    LIBRARY_SHUFFLE,
    Cell,
    Reason,
    TimeLeft,
    cells_by_column,
    draw,
    draw_bits,
    knight_targets,
    play_out,
    shuffle,
)
from knightfall.course.generations import BoardSource, Generation, GenerationEvidence, Strength
from knightfall.course.scores import center_score as center_score
from knightfall.course.scores import improved_score as improved_score
from knightfall.course.scores import null_score as null_score
from knightfall.course.scores import open_move_score as open_move_score

TIME_LIMIT_MILLIS = 150

OUR_OWN: set[type] = set()
"""The board classes of this package, as opposed to students' subclasses of them."""

Kind = TypeVar("Kind", bound="type[Board]")


def own(kind: Kind) -> Kind:
    """Class decorator for boards: `copy` of a student's subclass returns the decorated class."""
    OUR_OWN.add(kind)
    kind._own = kind
    return kind


class Board:
    """A position with two players, which may be any objects and are compared with `==`.

    `_board_state` is a flat list: the cells column by column, 0 if open and 1 if visited; then 0
    or 1 for the player to move, the number of player 2's cell and of player 1's (None until the
    player is placed).
    """

    BLANK = 0
    NOT_MOVED = None
    _own: type[Board]

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        self.width = width
        self.height = height
        self.move_count = 0
        self._player_1 = player_1
        self._player_2 = player_2
        self._active_player = player_1
        self._inactive_player = player_2
        state: list[Any] = [0] * (width * height + 3)
        state[-1] = state[-2] = None
        self._board_state = state
        self._targets = knight_targets(width, height)

    # -- players -------------------------------------------------------------------------------

    @property
    def active_player(self) -> Any:
        """Return the player to move."""
        return self._active_player

    @property
    def inactive_player(self) -> Any:
        """Return the player who is not to move."""
        return self._inactive_player

    def get_opponent(self, player: Any) -> Any:
        """Return the other player; raise RuntimeError if `player` is not in this game."""
        if player == self._active_player:
            return self._inactive_player
        if player == self._inactive_player:
            return self._active_player
        raise RuntimeError(f"{player!r} is not a player of this game")

    def get_player_location(self, player: Any) -> Cell | None:
        """Return a player's cell, None until it is placed; RuntimeError for an unknown player."""
        if player == self._player_1:
            index = self._board_state[-1]
        elif player == self._player_2:
            index = self._board_state[-2]
        else:
            raise RuntimeError(f"{player!r} is not a player of this game")
        if index is None:
            return None
        return index % self.height, index // self.height

    # -- moves ---------------------------------------------------------------------------------

    def get_legal_moves(self, player: Any = None) -> list[Cell]:
        """Return a player's legal moves (by default the active player's) in random order.

        A player that is not placed yet may go to any open cell; these come column by column.
        """
        # Most of a search's time is spent here, so `get_player_location`, `__get_moves` and
        # `shuffle` are inlined.
        if type(self) not in OUR_OWN:  # a subclass may override any of these
            if player is None:
                player = self.active_player
            return self.__get_moves(self.get_player_location(player))
        state = self._board_state
        if player is None:
            player = self._active_player
        if player == self._player_1:
            index = state[-1]
        elif player == self._player_2:
            index = state[-2]
        else:
            raise RuntimeError(f"{player!r} is not a player of this game")
        if index is None:
            return self.get_blank_spaces()
        try:
            targets = self._targets
        except AttributeError:  # created without __init__
            targets = self._targets = knight_targets(self.width, self.height)
        moves = []
        for target, cell in targets[index]:
            if state[target] == 0:
                moves.append(cell)
        if random.shuffle is not LIBRARY_SHUFFLE:
            random.shuffle(moves)
            return moves
        for place, bits in DRAWS[len(moves)]:
            other = draw_bits(bits)
            while other > place:
                other = draw_bits(bits)
            moves[place], moves[other] = moves[other], moves[place]
        return moves

    def __get_moves(self, loc: Cell | None) -> list[Cell]:
        """Return the moves of a knight on `loc`, shuffled; every open cell if `loc` is None."""
        if loc is None:
            return self.get_blank_spaces()
        row, column = loc
        cells = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        moves = [cell for cell in cells if self.move_is_legal(cell)]
        shuffle(moves)
        return moves

    __get_moves__ = __get_moves  # the name that some agents call

    def get_blank_spaces(self) -> list[Cell]:
        """Return the open cells, column by column."""
        cells = cells_by_column(self.width, self.height)
        return [cell for cell, value in zip(cells, self._board_state, strict=False) if value == 0]

    def move_is_legal(self, move: Cell) -> bool:
        """Return whether a cell is on the board and open; knight reach is not checked."""
        row, column = move[0], move[1]  # further items are ignored, as in the original
        return (
            0 <= row < self.height
            and 0 <= column < self.width
            and bool(self._board_state[row + column * self.height] == 0)
        )

    def apply_move(self, move: Cell) -> None:
        """Move the active player on this board, without checking legality."""
        index = move[0] + move[1] * self.height
        state = self._board_state
        mover = self._active_player
        state[-2 if self.active_player == self._player_2 else -1] = index
        state[index] = 1
        state[-3] ^= 1
        self._active_player = self._inactive_player
        self._inactive_player = mover
        self.move_count += 1

    def forecast_move(self, move: Cell) -> Board:
        """Return a copy with the move made: `copy`, then `apply_move`."""
        kind = type(self)
        if kind not in OUR_OWN:  # a subclass may override `copy`
            board = self.copy()
            board.apply_move(move)
            return board
        # `copy` and `apply_move` inlined: a search spends much of its time here.
        board = _new(kind)
        height = board.height = self.height
        board.width = self.width
        board.move_count = self.move_count + 1
        board._player_1 = self._player_1
        second = board._player_2 = self._player_2
        mover = board._inactive_player = self._active_player
        board._active_player = self._inactive_player
        state = board._board_state = self._board_state.copy()
        try:
            board._targets = self._targets
        except AttributeError:
            board._targets = self._targets = knight_targets(self.width, height)
        index = move[0] + move[1] * height
        state[-2 if mover == second else -1] = index
        state[index] = 1
        state[-3] ^= 1
        return board

    def copy(self) -> Board:
        """Return an independent copy of this board.

        The copy of a subclass is a plain board, and attributes added by an agent are not copied.
        """
        board = _new(self._own)
        board.width = self.width
        board.height = self.height
        board.move_count = self.move_count
        board._player_1 = self._player_1
        board._player_2 = self._player_2
        board._active_player = self._active_player
        board._inactive_player = self._inactive_player
        board._board_state = self._board_state.copy()
        board._targets = knight_targets(self.width, self.height)
        return board

    # -- end of the game -----------------------------------------------------------------------
    #
    # Legal moves are generated only if the answer depends on them, as in the original: an extra
    # shuffle would change the order of all later moves.

    def is_loser(self, player: object) -> bool:
        """Return whether the player is to move and has no legal move."""
        return player == self._active_player and not self.get_legal_moves(self._active_player)

    def is_winner(self, player: object) -> bool:
        """Return whether the player's opponent is to move and has no legal move."""
        return player == self._inactive_player and not self.get_legal_moves(self._active_player)

    def utility(self, player: Any) -> float:
        """Return −inf for the loser, inf for the winner, 0.0 while the active player can move."""
        if not self.get_legal_moves(self._active_player):
            if player == self._inactive_player:
                return float("inf")
            if player == self._active_player:
                return float("-inf")
        return 0.0

    def play(self, time_limit: float = TIME_LIMIT_MILLIS) -> tuple[Any, list[list[int]], Reason]:
        """Play to the end on this board; return (winner, moves as [row, column], reason).

        `get_move(game_copy, time_left)` of the active player is called for each move.
        """
        history: list[list[int]] = []
        winner, reason = play_out(
            self, time_limit, self._ask, lambda move: history.append(list(move))
        )
        return winner, history, reason

    @staticmethod
    def _ask(player: Any, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Any:
        return player.get_move(game, time_left)

    # -- hashing, printing, pickling -----------------------------------------------------------

    def hash(self) -> int:
        """Return a hash of the position, equal for equal positions within one process.

        (Python's `hash(board)` goes by identity.)
        """
        return hash(str(self._board_state))

    def to_string(self, symbols: Any = ("1", "2")) -> str:
        """Return a text picture: the players' symbols, and `-` on visited cells."""
        state = self._board_state

        def symbol(row: int, column: int) -> str:
            index = row + column * self.height
            if not state[index]:  # (0, 0) is None on the early board
                return " "
            if index in (state[-1], state[-2]):
                return str(symbols[0 if index == state[-1] else 1])
            return "-"

        return draw(self.width, self.height, symbol)

    def print_board(self) -> str:
        """Return the same text as `to_string`; despite its name it prints nothing."""
        return self.to_string()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_targets"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._targets = knight_targets(self.width, self.height)


_new = object.__new__
own(Board)


# -- sample players ----------------------------------------------------------------------------


NO_MOVE = (-1, -1)
"""The answer of the course's players when they have no legal move."""


class RandomPlayer:
    """A player that chooses a random legal move."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """Return a random legal move; (-1, -1) if there is none."""
        return any_of(game.get_legal_moves())


class GreedyPlayer:
    """A player that chooses the move with the highest score one ply ahead."""

    def __init__(self, score_fn: Callable[[Any, Any], float] = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """Return the move with the highest score; (-1, -1) if there is no move."""
        return best_of(game.get_legal_moves(), game, self)


class HumanPlayer:
    """A player whose moves are typed in at the keyboard."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """Return the move whose number is typed in; (-1, -1) if there is no move."""
        moves = game.get_legal_moves()
        if moves:
            print(game.to_string())
        return chosen_from(moves)


def any_of(moves: list[Cell]) -> Cell:
    """Return a random one of the moves, by Python's global `random`; (-1, -1) if there is none."""
    return random.choice(moves) if moves else NO_MOVE


def best_of(moves: list[Cell], game: Any, player: Any) -> Cell:
    """Return the move with the highest score; among equals the greatest (row, column)."""
    scored = [(player.score(game.forecast_move(move), player), move) for move in moves]
    return max(scored)[1] if scored else NO_MOVE


def chosen_from(moves: list[Cell]) -> Cell:
    """Return the move whose number is typed in; ask again until the number is valid."""
    if not moves:
        return NO_MOVE
    print("\t".join(f"[{number}] {move}" for number, move in enumerate(moves)))
    while True:
        with suppress(ValueError):
            number = int(input("Number of your move: "))
            if 0 <= number < len(moves):
                return moves[number]
        print(f"Please type a number from 0 to {len(moves) - 1}.")


# -- the generation ----------------------------------------------------------------------------


class Generation2017b(Generation):
    """See `Generation`."""

    name = "2017b"
    board = Board
    sample_players: ClassVar = {
        "GreedyPlayer": GreedyPlayer,
        "HumanPlayer": HumanPlayer,
        "RandomPlayer": RandomPlayer,
        "center_score": center_score,
        "improved_score": improved_score,
        "null_score": null_score,
        "open_move_score": open_move_score,
    }
    classes: ClassVar = {"minimax": "MinimaxPlayer", "alphabeta": "AlphaBetaPlayer"}
    constructor = ("score_fn",)
    methods: ClassVar = {
        "get_move": (("game", "time_left"),),
        "minimax": (("game", "depth"),),
        "alphabeta": (("game", "depth"), ("game", "depth", "alpha", "beta")),
    }
    scores = ("custom_score", "custom_score_2", "custom_score_3")
    timeout = "SearchTimeout"
    protocol = "2017b"

    def tested(self, player: str, scores: list[str]) -> list[tuple[str, str]]:
        """See `Generation`."""
        short = {"AlphaBetaPlayer": "AB", "MinimaxPlayer": "MM"}.get(player, player)
        return [
            (f"{short}_Improved", "improved_score"),
            *((score.replace("custom_score", f"{short}_Custom"), score) for score in scores),
        ]

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """See `Generation`."""
        classes = found.players & set(self.classes.values())
        if 2 in found.takes:
            yield Strength.TWO_ARGUMENTS, "get_move takes game and time_left"
        if classes:
            yield Strength.CLASSES, "it has MinimaxPlayer or AlphaBetaPlayer"
        if found.board is not None and found.board.generation is self:
            strength = Strength.BOARD_AND_CLASSES if classes else Strength.BOARD
            yield strength, f"the board beside it {found.board.sign}"

    def board_sign(self, source: BoardSource) -> str:
        """See `Generation`; a flat board that no earlier generation recognises."""
        return "asks get_move(game, time_left)" if source.is_flat else ""


GENERATION = Generation2017b()
