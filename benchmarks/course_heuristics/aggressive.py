"""The heuristics of the aggressive study on the course's board."""

from __future__ import annotations

from math import inf

from ..course_board import Cell, CourseBoard, Score
from .course import ends_first


def _pressing(game: CourseBoard, player: object) -> float:
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - 2 * opponent)


def _moved(game: CourseBoard, player: object, move: Cell) -> CourseBoard:
    """Return the board after a move of either player; `forecast_move` only moves the active one."""
    if player == game.active_player:
        return game.forecast_move(move)
    board = game.copy()
    board.turn_to(player)
    board.apply_move(move)
    return board


@ends_first
def lookahead_ratio(game: CourseBoard, player: object) -> float:
    """Return own mobility ÷ the opponent's after an own move, averaged over all own moves."""
    moves = game.get_legal_moves(player)
    if not moves:
        return -inf
    total = 0.0
    for move in moves:
        board = _moved(game, player, move)
        escapes = len(board.get_legal_moves(board.get_opponent(player)))
        if escapes == 0:
            return inf
        total += len(board.get_legal_moves(player)) / escapes
    return total / len(moves)


def _emptiest(game: CourseBoard, open: set[Cell]) -> Cell:
    """Return the centre of the window with the most open cells, the first by columns."""
    high, wide = round(game.height / 2), round(game.width / 2)
    most, center = -1, (0, 0)
    for left in range(game.width - wide + 1):
        for top in range(game.height - high + 1):
            here = 0
            for row in range(top, top + high):
                for column in range(left, left + wide):
                    if (row, column) in open:
                        here += 1
            if here > most:
                most, center = here, (top + high // 2, left + wide // 2)
    return center


@ends_first
def open_cluster(game: CourseBoard, player: object) -> float:
    """Return `aggressive`; once a fifth of the board is blocked, plus the nearness to its emptiest
    quarter.
    """
    open = set(game.get_blank_spaces())
    cells = game.width * game.height
    if 5 * (cells - len(open)) < cells:
        return _pressing(game, player)
    row, column = game.get_player_location(player)
    down, right = _emptiest(game, open)
    sides = game.height + game.width
    return _pressing(game, player) + (sides - abs(row - down) - abs(column - right)) / sides


SCORES: dict[str, Score] = {
    "aggressive": ends_first(_pressing),
    "lookahead_ratio": lookahead_ratio,
    "open_cluster": open_cluster,
}
