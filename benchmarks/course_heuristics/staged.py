"""The heuristics of the staged study on the course's board.

Its `mobility` has no terminal values, and differs from `improved` only in that. So the study is
taken to leave the end of the game to the search, except where it uses `improved` itself.
"""

from __future__ import annotations

from knightfall.search.run_search import LEAF_STEP_LIMIT

from ..course_board import CourseBoard, Score, improved_score
from .course import mobility


def open_space(game: CourseBoard, player: object) -> float:
    """Count the open cells that touch the own knight."""
    row, column = game.get_player_location(player)
    around = [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return float(sum(game.move_is_legal(cell) for cell in around))  # its own cell is never open


def open_space_difference(game: CourseBoard, player: object) -> float:
    """Return the open cells around the own knight less those around the opponent's."""
    return open_space(game, player) - open_space(game, game.get_opponent(player))


def open_space_next(game: CourseBoard, player: object) -> float:
    """Return the most open cells around the own knight after a next move."""
    after = [game.forecast_move(move) for move in game.get_legal_moves()]
    return max((open_space(board, player) for board in after), default=0.0)


def _longest(game: CourseBoard, player: object, step_limit: int) -> int:
    """Return the length of the longest line that the player wins, visiting at most `step_limit`
    positions.
    """
    best, left = 0, step_limit

    def follow(board: CourseBoard, length: int) -> None:
        nonlocal best, left
        left -= 1
        moves = board.get_legal_moves()
        if not moves and board.inactive_player == player:
            best = max(best, length)
        for move in moves:
            if left > 0:
                follow(board.forecast_move(move), length + 1)

    follow(game, 0)
    return best


def longest_win(game: CourseBoard, player: object, step_limit: int = LEAF_STEP_LIMIT) -> float:
    """Return the length of the longest continuation that the player wins, with both sides' moves
    chosen freely.

    All continuations are played out one after the other. If they have more than `step_limit`
    positions, the longest found in that many counts. The compiled search has the same limit but
    skips lines that cannot be longer, so beyond the limit it finds more, and values differ.
    """
    return float(_longest(game, player, step_limit))


def longest_win_difference(
    game: CourseBoard, player: object, step_limit: int = LEAF_STEP_LIMIT
) -> float:
    """Return the longest win of the player less that of the opponent; each gets half the steps."""
    mine = _longest(game, player, step_limit // 2)
    theirs = _longest(game, game.get_opponent(player), step_limit // 2)
    return float(mine - theirs)


def _phase(game: CourseBoard) -> float:
    """Return the open share of the board."""
    return len(game.get_blank_spaces()) / (game.width * game.height)


def main_less(game: CourseBoard, player: object) -> float:
    """Return mobility weighted by the open share of the board, plus the open-space difference."""
    return _phase(game) * mobility(game, player) + open_space_difference(game, player)


def main_less_more(game: CourseBoard, player: object) -> float:
    """Return `improved` weighted by the open share of the board, plus the open-space difference."""
    return _phase(game) * improved_score(game, player) + open_space_difference(game, player)


def _by_shares(game: CourseBoard, player: object) -> float:
    """Return mobility weighted by the open share of the board, plus open space weighted by the
    rest; `longest_win` when less than a fifth is open.
    """
    phase = _phase(game)
    if phase < 0.2:
        return longest_win(game, player)
    return phase * mobility(game, player) + (1 - phase) * open_space_difference(game, player)


def _late(below: float, last: Score) -> Score:
    """Return a score that is `last` below a phase, and `main_less` above it."""

    def score(game: CourseBoard, player: object) -> float:
        phase = _phase(game)
        if phase < below:
            return last(game, player)
        return phase * mobility(game, player) + open_space_difference(game, player)

    return score


def _staggered(last: Score) -> Score:
    """Return a score of three stages: mobility, then open space, then `last`."""

    def score(game: CourseBoard, player: object) -> float:
        phase = _phase(game)
        if phase > 0.7:
            return mobility(game, player)
        if phase < 0.2:
            return last(game, player)
        return open_space_difference(game, player)

    return score


SCORES: dict[str, Score] = {
    "mobility": mobility,
    "open_space": open_space,
    "open_space_difference": open_space_difference,
    "open_space_next": open_space_next,
    "longest_win": longest_win,
    "longest_win_difference": longest_win_difference,
    "main": _late(0.2, longest_win_difference),
    "main_alt": _late(0.2, longest_win),
    "main_alt_01": _late(0.1, longest_win),
    "main_alt_03": _late(0.3, longest_win),
    "main_prop": _by_shares,
    "main_less": main_less,
    "main_less_more": main_less_more,
    "main_staggered": _staggered(longest_win_difference),
    "main_alt_staggered": _staggered(longest_win),
}
