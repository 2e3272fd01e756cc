"""Hypothesis strategies for boards and positions."""

from __future__ import annotations

from hypothesis import strategies as st

from knightfall.board import MOST_CELLS, SMALLEST_SIDE, Board
from knightfall.position import Position, Side

WORDS = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sets(st.integers(0, 63)).map(lambda cells: sum(1 << cell for cell in cells)),
    st.sampled_from([0, 1, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, (1 << 64) - 1]),
)
"""Any 64-bit word; those with few or many bits, or bit 63, are frequent."""


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Draw a board of any size."""
    width = draw(st.integers(SMALLEST_SIDE, MOST_CELLS // SMALLEST_SIDE))
    height = draw(st.integers(SMALLEST_SIDE, MOST_CELLS // width))
    # Width or height is drawn first at random; otherwise tall boards would be rare.
    return draw(st.sampled_from([Board.of(width, height), Board.of(height, width)]))


@st.composite
def positions(draw: st.DrawFn, min_placed: int = 0, board: Board | None = None) -> Position:
    """Draw a position that random legal moves reach from the empty board, in any phase of the game.

    `min_placed` is the least number of knights on the board (0, 1 or 2).
    """
    where = draw(boards()) if board is None else board
    position = Position.start(where.width, where.height)
    for _ in range(draw(st.integers(min_placed, where.cells))):
        legal = position.legal_moves
        if not legal:
            break
        position = position.play(legal[draw(st.integers(0, len(legal) - 1))])
    return position


@st.composite
def odd_positions(draw: st.DrawFn, few: int | None = None) -> Position:
    """Draw any position a FEN can express: blocked cells anywhere, either side to move, pockets.

    With `few`, at most that many cells are open, and these are close to a knight.
    """
    board = draw(boards())
    white, black = draw(
        st.lists(st.integers(0, board.cells - 1), min_size=2, max_size=2, unique=True)
    )
    blocked = draw(st.integers(0, (1 << board.cells) - 1))
    free = {cell for cell in range(board.cells) if not blocked >> cell & 1}
    in_pocket = draw(st.sampled_from([0, 0, 0, 0, 1, 2]))
    if few is not None:  # an unplaced knight's cell may become an open one
        near = sorted(free - {white, black}, key=lambda cell: (board.distance[white][cell], cell))
        free = set(near[: few - in_pocket])
    if in_pocket == 2:
        # Both players need an open cell to place on: those drawn for the knights are used.
        return Position(board, frozenset(free | {white, black}), None, None, "w")
    if in_pocket == 1:
        return Position(board, frozenset((free | {black}) - {white}), white, None, "b")
    side: Side = draw(st.sampled_from(["w", "b"]))
    return Position(board, frozenset(free - {white, black}), white, black, side)
