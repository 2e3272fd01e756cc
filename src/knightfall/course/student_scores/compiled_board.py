"""Numba type with the interface of the course's board, stored as bit masks.

A game is an immutable value: the address of the geometry, the open cells, the two knights' cells
and the player to move.  Players are the numbers 0 and 1.  `forecast_move` returns a new value.  A
score that uses anything else of the course's board does not compile.

There are two such types.  One gives moves as `Cells`, which support the most common operations of
scores.  The other gives real lists, which support all operations of Numba's lists.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from math import inf
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import StructModel
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
    register_model,
)

from knightfall.course.student_scores.cell_list_type import (
    CELL,
    by_column,
    by_row,
    row_first,
    turned,
)
from knightfall.kernel.bits import address_of, bit, count, each, records
from knightfall.kernel.board_view import BOARD_VIEW
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import moves as moves_of

_u64, _i64 = types.uint64, types.int64

PLAYER = _i64
"""The Numba type of a player: 0 is the player who is evaluated, 1 the opponent."""


class GameType(types.Type):  # type: ignore[misc]
    """Numba type of a course board; its methods return Numba lists if `lists`, else `Cells`."""

    def __init__(self, *, lists: bool) -> None:
        self.lists = lists
        super().__init__(f"course board{' with lists' if lists else ''}")


@register_model(GameType)
class _GameModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("board", _u64), ("open", _u64), ("mine", _i64), ("theirs", _i64)]
        super().__init__(manager, kind, [*members, ("turn", _i64)])


for _member in ("board", "open", "mine", "theirs", "turn"):
    make_attribute_wrapper(GameType, _member, f"_kf_{_member}")


def _maker(kind: GameType) -> Any:
    @intrinsic
    def make(typing: Any, board: Any, open: Any, mine: Any, theirs: Any, turn: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            game = cgutils.create_struct_proxy(kind)(context, builder)
            game.board, game.open, game.mine, game.theirs, game.turn = values
            return game._getvalue()

        return kind(_u64, _u64, _i64, _i64, _i64), emit

    return make


GAMES = (GameType(lists=False), GameType(lists=True))
"""The two game types, in the order in which compilation is tried."""

_MAKERS = {game: _maker(game) for game in GAMES}

_view_at = records(BOARD_VIEW)


@register_jitable
def _board(game: Any) -> Any:
    return _view_at(game._kf_board, _u64(0))


def asking(kind: GameType, score: Any) -> Any:
    """Return a function with a heuristic's five arguments that calls a score(game, player)."""
    make = _MAKERS[kind]

    def asked(board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> Any:
        turn = _i64(0) if to_move == me else _i64(1)
        return score(make(address_of(board), open, me, opp, turn), _i64(0))

    return asked


# -- knights and moves -----------------------------------------------------------------------


@register_jitable
def _knight(game: Any, player: Any) -> Any:
    return game._kf_mine if player == 0 else game._kf_theirs


@register_jitable
def _moves(game: Any, player: Any) -> Any:
    return moves_of(_board(game), game._kf_open, _knight(game, player))


@register_jitable
def _stuck(game: Any) -> Any:
    return _moves(game, game._kf_turn) == _u64(0)


@compiled(types.boolean(CELL, _i64, _i64))
def _on_board(cell: tuple[int, int], width: int, height: int) -> bool:
    return 0 <= cell[0] < height and 0 <= cell[1] < width


def _listed(game: GameType) -> Any:
    """Return the compiled function that turns a mask into the list of cells of this game type."""
    if not game.lists:
        return register_jitable(lambda game, word: by_row(word, _board(game).width))

    @register_jitable
    def listed(game: Any, word: Any) -> Any:
        width = _board(game).width
        return [row_first(number, width) for number in each(word)]

    return listed


# -- attributes ------------------------------------------------------------------------------


def _attribute(name: str, of: Any) -> None:
    overload_attribute(GameType, name)(lambda game: of)


_attribute("width", lambda game: _board(game).width)
_attribute("height", lambda game: _board(game).height)
_attribute("move_count", lambda game: _board(game).cells - count(game._kf_open))
for _name in ("active_player", "_active_player"):
    _attribute(_name, lambda game: game._kf_turn)
for _name in ("inactive_player", "_inactive_player"):
    _attribute(_name, lambda game: 1 - game._kf_turn)
_attribute("BLANK", lambda game: 0)
_attribute("NOT_MOVED", lambda game: None)


@overload(float)
def _float(truth: Any) -> Any:
    """Implement ``float(a == b)``, which students write and Numba does not support."""
    if not isinstance(truth, types.Boolean):
        return None

    def as_number(truth: Any) -> float:
        return 1.0 if truth else 0.0

    return as_number


# -- methods ---------------------------------------------------------------------------------


def _method(name: str, of: Any) -> None:
    """Register `of` as a method of the compiled game; its argument, if any, is a player."""
    if of.__code__.co_argcount == 1:
        overload_method(GameType, name)(lambda game: of)
    else:
        overload_method(GameType, name)(
            lambda game, player: of if isinstance(player, types.Integer) else None
        )


_method("get_opponent", lambda game, player: 1 - player)
_method(
    "get_player_location",
    lambda game, player: row_first(_knight(game, player), _board(game).width),
)
_method("is_loser", lambda game, player: player == game._kf_turn and _stuck(game))
_method("is_winner", lambda game, player: player != game._kf_turn and _stuck(game))
_method("copy", lambda game: game)


@overload_method(GameType, "utility")
def _utility(game: Any, player: Any) -> Any:
    def utility(game: Any, player: Any) -> float:
        if _stuck(game):
            return -inf if player == game._kf_turn else inf
        return 0.0

    return utility


@overload_method(GameType, "get_legal_moves")
def _get_legal_moves(game: Any, player: Any = None) -> Any:
    listed = _listed(game)

    def active(game: Any, player: Any = None) -> Any:
        return listed(game, _moves(game, game._kf_turn))

    def of_player(game: Any, player: Any = None) -> Any:
        return listed(game, _moves(game, player))

    omitted = player in (None, types.none) or isinstance(player, types.Omitted)
    return active if omitted else of_player


@overload_method(GameType, "get_blank_spaces")
def _get_blank_spaces(game: Any) -> Any:
    if not game.lists:

        def spaces(game: Any) -> Any:
            board = _board(game)
            return by_column(turned(game._kf_open, board.width, board.height), board.height)

        return spaces

    def listed(game: Any) -> Any:
        board = _board(game)
        return [
            (row, column)
            for column in range(board.width)
            for row in range(board.height)
            if game._kf_open & bit(row * board.width + column) != _u64(0)
        ]

    return listed


@overload_method(GameType, "move_is_legal")
def _move_is_legal(game: Any, move: Any) -> Any:
    if move != CELL:
        return None

    def legal(game: Any, move: Any) -> bool:
        board = _board(game)
        if not _on_board(move, board.width, board.height):
            return False
        return bool(game._kf_open & bit(move[0] * board.width + move[1]) != _u64(0))

    return legal


def _get_moves(game: Any, loc: Any) -> Any:
    if loc != CELL:
        return None
    listed = _listed(game)

    def moves(game: Any, loc: Any) -> Any:
        board, found = _board(game), _u64(0)
        for down, right in ((-2, 1), (-1, 2), (1, 2), (2, 1)):
            for side in (-right, right):
                cell = loc[0] + down, loc[1] + side
                if _on_board(cell, board.width, board.height):
                    found |= bit(cell[0] * board.width + cell[1])
        return listed(game, found & game._kf_open)

    return moves


for _name in ("__get_moves__", "_Board__get_moves"):
    overload_method(GameType, _name)(_get_moves)


@overload_method(GameType, "forecast_move")
def _forecast_move(game: Any, move: Any) -> Any:
    if move != CELL:
        return None
    make = _MAKERS[game]

    def forecast(game: Any, move: Any) -> Any:
        board = _board(game)
        if not _on_board(move, board.width, board.height):
            raise IndexError("there is no such cell on this board")
        cell = move[0] * board.width + move[1]
        open = game._kf_open & ~bit(cell)
        if game._kf_turn == 0:
            return make(game._kf_board, open, cell, game._kf_theirs, _i64(1))
        return make(game._kf_board, open, game._kf_mine, cell, _i64(0))

    return forecast
