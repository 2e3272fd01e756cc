"""Numba types with the interface of the course's board, stored as bit masks.

A game is an immutable value: the address of the geometry, the open cells, the two knights' cells
and the player to move.  Players are the numbers 0 and 1.  `forecast_move` returns a new value.  A
score that uses anything else of the course's board does not compile.

There are two such types.  One gives moves as `Cells`, which support the most common operations of
scores: it counts moves, iterates over them and tests membership.  A mask with one bit per cell
gives the same answers in the same order as a list: the course's order of knight moves is the order
of the bits by rows, and open cells come by columns.  The other type gives real lists, which are
allocated each time and support all operations of Numba's lists.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import operator
from collections.abc import Callable
from math import inf
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import StructModel
from numba.core.imputils import RefType, iternext_impl
from numba.extending import (
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
    register_model,
)

from knightfall.kernel.bits import address_of, bit, count, each, first, records, rest
from knightfall.kernel.board_view import BOARD_VIEW
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import moves as moves_of

CELL = types.UniTuple(types.int64, 2)
"""The Numba type of a cell, (row, column)."""

_u64, _i64 = types.uint64, types.int64


class _Walk(types.SimpleIteratorType):  # type: ignore[misc]
    """Numba iterator type over `Cells`, whose bits number the cells by rows or by columns."""

    def __init__(self, *, by_column: bool) -> None:
        self.by_column = by_column
        super().__init__(f"walk through cells by {'column' if by_column else 'row'}", CELL)


class Cells(types.IterableType):  # type: ignore[misc]
    """Numba type of a list of cells, stored as a mask and the length of a row or column (`side`).

    If `by_column`, bit n is the cell in row n % side of column n // side; otherwise it is the cell
    in column n % side of row n // side.
    """

    def __init__(self, *, by_column: bool) -> None:
        self.by_column = by_column
        super().__init__(f"cells by {'column' if by_column else 'row'}")

    @property
    def iterator_type(self) -> Any:
        """Return the Numba iterator type over the cells."""
        return _Walk(by_column=self.by_column)


BY_ROW, BY_COLUMN = Cells(by_column=False), Cells(by_column=True)


@register_model(Cells)
class _CellsModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("word", _u64), ("side", _i64)])


@register_model(_Walk)
class _WalkModel(StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        left = types.EphemeralPointer(_u64)
        super().__init__(manager, kind, [("left", left), ("side", _i64)])


make_attribute_wrapper(Cells, "word", "_word")
make_attribute_wrapper(Cells, "side", "_side")


def _cells_maker(kind: Cells) -> Any:
    @intrinsic
    def make(typing: Any, word: Any, side: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = cgutils.create_struct_proxy(kind)(context, builder)
            made.word, made.side = values
            return made._getvalue()

        return kind(_u64, _i64), emit

    return make


by_row, by_column = _cells_maker(BY_ROW), _cells_maker(BY_COLUMN)
"""Compiled constructors: make `Cells` from a mask and the length of a row (or column)."""


# -- numbers and cells -----------------------------------------------------------------------


@compiled(CELL(_i64, _i64))
def row_first(number: int, width: int) -> tuple[int, int]:
    """Return (row, column) of a cell number that counts by rows."""
    row = number // width
    return row, number - row * width


@compiled(CELL(_i64, _i64))
def column_first(number: int, height: int) -> tuple[int, int]:
    """Return (row, column) of a cell number that counts by columns."""
    column = number // height
    return number - column * height, column


@compiled(_u64(_u64, _i64, _i64))
def turned(word: int, width: int, height: int) -> int:
    """Convert a mask whose bits number the cells by rows into one that numbers them by columns."""
    found = _u64(0)
    while word != _u64(0):
        number = first(word)
        row = number // width
        found |= bit(row + (number - row * width) * height)
        word = rest(word)
    return found  # type: ignore[no-any-return]


@compiled(_i64(_u64, _i64))
def nth(word: int, index: int) -> int:
    """Return the bit number of the `index`-th set bit; a negative index counts from the end."""
    size = count(word)
    if index < 0:
        index += size
    if index < 0 or index >= size:
        raise IndexError("list index out of range")
    for _ in range(index):
        word = rest(word)
    return first(word)


# -- list operations -------------------------------------------------------------------------


def _of(cells: Any) -> Callable[[int, int], tuple[int, int]]:
    """Return the function that converts a bit's number into (row, column) for this Numba type."""
    return column_first if cells.by_column else row_first


def _can(operation: Any, of: Any) -> None:
    """Register a compiled implementation of a one-argument operation on `Cells`."""
    overload(operation)(lambda cells: of if isinstance(cells, Cells) else None)


_can(len, lambda cells: count(cells._word))
_can(bool, lambda cells: cells._word != _u64(0))
_can(operator.not_, lambda cells: cells._word == _u64(0))


@overload(operator.getitem)
def _getitem(cells: Any, index: Any) -> Any:
    if not isinstance(cells, Cells) or not isinstance(index, types.Integer):
        return None
    cell = _of(cells)

    def getitem(cells: Any, index: Any) -> Any:
        return cell(nth(cells._word, index), cells._side)

    return getitem


@overload(operator.contains)
def _contains(cells: Any, cell: Any) -> Any:
    if not isinstance(cells, Cells) or cell != CELL:
        return None
    where = 1 if cells.by_column else 0

    def contains(cells: Any, cell: Any) -> bool:
        line, place = cell[where], cell[1 - where]
        number = line * cells._side + place
        if line < 0 or place < 0 or place >= cells._side or number > 63:
            return False
        return bool((cells._word & bit(number)) != _u64(0))

    return contains


@lower_builtin("getiter", Cells)
def _walk(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    cells = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0])
    walk = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    walk.left = cgutils.alloca_once_value(builder, cells.word)
    walk.side = cells.side
    return walk._getvalue()


@lower_builtin("iternext", _Walk)
@iternext_impl(RefType.UNTRACKED)
def _next(context: Any, builder: Any, signature: Any, values: Any, result: Any) -> None:
    (kind,) = signature.args
    cell = _of(kind)
    walk = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    left = builder.load(walk.left)
    more = builder.icmp_unsigned("!=", left, ir.Constant(left.type, 0))
    result.set_valid(more)
    with builder.if_then(more):
        found = context.compile_internal(
            builder, lambda left, side: cell(first(left), side), CELL(_u64, _i64),
            [left, walk.side],
        )  # fmt: skip
        result.yield_(found)
        after = context.compile_internal(builder, lambda left: rest(left), _u64(_u64), [left])
        builder.store(after, walk.left)


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


def _game_maker(kind: GameType) -> Any:
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

_MAKERS = {game: _game_maker(game) for game in GAMES}

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
