"""Generation 2017b, the course's last and most common: its board and players, name by name.

Students read the board's private names and some write them, so they are part of the interface:
nothing is kept twice, and whatever is written there counts from then on.  It is quicker than the
original only by looking knights' moves up and by shuffling them in place
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
from knightfall.course.generations import BoardSource, Evidence, Generation, Strength
from knightfall.course.scores import center_score as center_score
from knightfall.course.scores import improved_score as improved_score
from knightfall.course.scores import null_score as null_score
from knightfall.course.scores import open_move_score as open_move_score

TIME_LIMIT_MILLIS = 150

OUR_OWN: set[type] = set()
"""The boards of this package, as opposed to those that somebody derives from them."""

Kind = TypeVar("Kind", bound="type[Board]")


def own(kind: Kind) -> Kind:
    """A board of this package: of which even the copies of what is derived from it are."""
    OUR_OWN.add(kind)
    kind._own = kind
    return kind


class Board:
    """A position of two players, who are any objects and are told apart by `==`.

    `_board_state` is a flat list: the cells column by column, 0 where nobody has been and else 1;
    then 0 or 1 for who is to move, the number of player 2's cell, and that of player 1's (None
    before it is placed).
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
        """Whose turn it is."""
        return self._active_player

    @property
    def inactive_player(self) -> Any:
        """Whose turn it is not."""
        return self._inactive_player

    def get_opponent(self, player: Any) -> Any:
        """The other player; RuntimeError for somebody who does not play here."""
        if player == self._active_player:
            return self._inactive_player
        if player == self._inactive_player:
            return self._active_player
        raise RuntimeError(f"{player!r} is not a player of this game")

    def get_player_location(self, player: Any) -> Cell | None:
        """The cell of a player, None before it is placed."""
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
        """Where a player (the active one by default) may go, in random order.

        One that is not placed yet may go to any open cell, and those come column by column.
        """
        # The hot spot, and so written out: finding the location, `__get_moves` and
        # `knights.shuffle` would be three calls.
        if type(self) not in OUR_OWN:  # which may have some of these of its own
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
        except AttributeError:  # put together by hand
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
        """Where a knight on that cell may go, shuffled; every open cell if it is not placed."""
        if loc is None:
            return self.get_blank_spaces()
        row, column = loc
        cells = [(row + down, column + right) for down, right in KNIGHT_STEPS]
        moves = [cell for cell in cells if self.move_is_legal(cell)]
        shuffle(moves)
        return moves

    __get_moves__ = __get_moves  # which some call it

    def get_blank_spaces(self) -> list[Cell]:
        """The open cells, column by column."""
        cells = cells_by_column(self.width, self.height)
        return [cell for cell, value in zip(cells, self._board_state, strict=False) if value == 0]

    def move_is_legal(self, move: Cell) -> bool:
        """Whether a cell is on the board and open, however far from any knight."""
        row, column = move[0], move[1]  # what follows them does not count
        return (
            0 <= row < self.height
            and 0 <= column < self.width
            and bool(self._board_state[row + column * self.height] == 0)
        )

    def apply_move(self, move: Cell) -> None:
        """Move the active player here and now, legal or not."""
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
        """A copy on which the active player has moved: `copy`, then `apply_move`."""
        kind = type(self)
        if kind not in OUR_OWN:  # which may have a `copy` of its own
            board = self.copy()
            board.apply_move(move)
            return board
        # Both in one, which saves a search a good part of its time.
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
        """A board that can be changed without changing this one.

        It is a plain one, also of a derived class; what somebody has hung on it stays behind.
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

    # -- ends ----------------------------------------------------------------------------------
    #
    # Each looks for moves only where the answer hangs on it: a shuffle less or more would give
    # every later move another order.

    def is_loser(self, player: object) -> bool:
        """Whether the player is to move and cannot."""
        return player == self._active_player and not self.get_legal_moves(self._active_player)

    def is_winner(self, player: object) -> bool:
        """Whether the opponent is to move and cannot."""
        return player == self._inactive_player and not self.get_legal_moves(self._active_player)

    def utility(self, player: Any) -> float:
        """−inf for the loser and inf for the winner, 0.0 while the active player can move."""
        if not self.get_legal_moves(self._active_player):
            if player == self._inactive_player:
                return float("inf")
            if player == self._active_player:
                return float("-inf")
        return 0.0

    def play(self, time_limit: float = TIME_LIMIT_MILLIS) -> tuple[Any, list[list[int]], Reason]:
        """Play to the end on this board: the winner, the moves as [row, column], the reason.

        Players are asked by `get_move(game_copy, time_left)`.
        """
        history: list[list[int]] = []

        def ask(player: Any, game: Any, legal_moves: list[Cell], time_left: TimeLeft) -> Any:
            return player.get_move(game, time_left)

        winner, reason = play_out(self, time_limit, ask, lambda move: history.append(list(move)))
        return winner, history, reason

    # -- as a value ----------------------------------------------------------------------------

    def hash(self) -> int:
        """Equal for equal positions of one process.  (The board itself hashes by identity.)"""
        return hash(str(self._board_state))

    def to_string(self, symbols: Any = ("1", "2")) -> str:
        """A picture: the players by their symbols, `-` where somebody was."""
        state = self._board_state

        def symbol(row: int, column: int) -> str:
            index = row + column * self.height
            if not state[index]:  # the early board's first cell, which is None, too
                return " "
            if index in (state[-1], state[-2]):
                return str(symbols[0 if index == state[-1] else 1])
            return "-"

        return draw(self.width, self.height, symbol)

    def print_board(self) -> str:
        """The same; it prints nothing."""
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
"""What the course's players answer when they cannot move."""


class RandomPlayer:
    """Any legal move."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """One of the legal moves, (-1, -1) if there are none."""
        return any_of(game.get_legal_moves())


class GreedyPlayer:
    """The move after which the score is best."""

    def __init__(self, score_fn: Callable[[Any, Any], float] = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """The move with the best score, (-1, -1) if there are no moves."""
        return best_of(game.get_legal_moves(), game, self)


class HumanPlayer:
    """Whoever sits at the keyboard."""

    def get_move(self, game: Any, time_left: TimeLeft) -> Cell:
        """The move that is typed in by its number, (-1, -1) if there are none."""
        moves = game.get_legal_moves()
        if moves:
            print(game.to_string())
        return chosen_from(moves)


def any_of(moves: list[Cell]) -> Cell:
    """A random one, by one number of the global generator."""
    return random.choice(moves) if moves else NO_MOVE


def best_of(moves: list[Cell], game: Any, player: Any) -> Cell:
    """The one after which the player's score is best; of equals the greatest (row, column)."""
    scored = [(player.score(game.forecast_move(move), player), move) for move in moves]
    return max(scored)[1] if scored else NO_MOVE


def chosen_from(moves: list[Cell]) -> Cell:
    """The one whose number is typed in; asks until it is one of them."""
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

    def signs(self, found: Evidence) -> Iterator[tuple[Strength, str]]:
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
        """See `Generation`: the flat board that is no earlier one's."""
        return "asks get_move(game, time_left)" if source.is_flat else ""


GENERATION = Generation2017b()
