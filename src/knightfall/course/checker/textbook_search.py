"""Reference minimax and alpha-beta, and searches with known mistakes.

A submission's answers are compared with the reference.  If they differ, and a search with a known
mistake gives the same answers in all positions, that mistake is the explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf
from typing import Any

from knightfall.course.board_common import Cell
from knightfall.course.checker.check_report import Kind
from knightfall.course.checker.fixtures import Place
from knightfall.course.checker.recording_board import Path, ScoreFn, Watch
from knightfall.course.checker.submission_api import is_move

Order = Callable[[list[Path]], list[Path]]
Pick = Callable[[list[float]], float]
End = Callable[[Any, Any, int], float]
"""The value of a position without moves, given the board, the player and the plies left."""


def utility(game: Any, player: Any, depth: int) -> float:
    """Return the board's utility of a finished game for a player."""
    return float(game.utility(player))


def minimax(
    game: Any,
    depth: int,
    score: ScoreFn,
    player: Any,
    own: Pick = max,
    other: Pick = min,
    end: End = utility,
) -> float:
    """Return the minimax value of a position for a player, `depth` plies deep.

    `own` and `other` choose a value at the player's moves and at the opponent's; `end` gives the
    value of finished games.
    """
    moves = game.get_legal_moves()
    if not moves:
        return end(game, player, depth)
    if depth == 0:
        return score(game, player)
    values = [
        minimax(game.forecast_move(move), depth - 1, score, player, own, other, end)
        for move in moves
    ]
    return own(values) if game.active_player == player else other(values)


def values_of_moves(game: Any, depth: int, score: ScoreFn, **rules: Any) -> dict[Cell, float]:
    """Return the value of each move for the active player; `rules` are passed on to `minimax`."""
    return {
        move: minimax(game.forecast_move(move), depth - 1, score, game.active_player, **rules)
        for move in game.get_legal_moves()
    }


def best_of(values: dict[Cell, float], pick: Pick = max) -> list[Cell]:
    """Return the moves with the highest value, or with the value that `pick(values)` returns."""
    most = pick(list(values.values()))
    return [move for move, value in values.items() if value == most]


def alphabeta(
    game: Any,
    depth: int,
    score: ScoreFn,
    player: Any,
    alpha: float = -inf,
    beta: float = inf,
    *,
    order: Order = sorted,
) -> float:
    """Return the minimax value, computed with cut-offs; `order` gives the order of the moves."""
    moves = game.get_legal_moves()
    if not moves:
        return float(game.utility(player))
    if depth == 0:
        return score(game, player)
    ours = game.active_player == player
    best = -inf if ours else inf
    for path in order([(*game.path, move) for move in moves]):
        ahead = game.forecast_move(path[-1])
        value = alphabeta(ahead, depth - 1, score, player, alpha, beta, order=order)
        if ours:
            best = max(best, value)
            if best >= beta:
                break
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            if best <= alpha:
                break
            beta = min(beta, best)
    return best


def last_of_equals(
    game: Any, depth: int, score: ScoreFn, *, fail_hard: bool, order: Order = sorted
) -> Cell:
    """Return the move of an alpha-beta that compares with `>=` at the root, a common mistake.

    A branch that was cut off returns only a bound, which may equal the best value although the
    move is worse.  A `fail_hard` search returns the bound of its window there.
    """
    player, alpha, chosen = game.active_player, -inf, (-1, -1)
    for path in order([(*game.path, move) for move in game.get_legal_moves()]):
        ahead = game.forecast_move(path[-1])
        value = alphabeta(ahead, depth - 1, score, player, alpha, inf, order=order)
        if fail_hard and depth > 1 and ahead.get_legal_moves():
            value = max(value, alpha)
        if value >= alpha:
            alpha, chosen = value, path[-1]
    return chosen


def order_of(scored: list[Path], depth: int) -> Order:
    """Return the move order of a search, inferred from the positions it scored.

    Positions it did not reach come last, in the board's order.  Leaves `depth` plies ahead take
    precedence, because other positions may have been scored only to sort moves.
    """
    ranks: dict[Path, int] = {}
    leaves = [(rank, path) for rank, path in enumerate(scored) if len(path) == depth]
    for rank, path in [*leaves, *enumerate(scored)]:
        for length in range(1, len(path) + 1):
            ranks.setdefault(path[:length], rank)
    last = len(scored)

    def order(paths: list[Path]) -> list[Path]:
        return sorted(paths, key=lambda path: (ranks.get(path, last), path))

    return order


# -- known mistakes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A search's answer in a position, with the data to decide whether it is right."""

    place: Place
    depth: int
    score: ScoreFn
    value: float | None
    move: Any
    watch: Watch
    agent: Any

    @property
    def values(self) -> dict[Cell, float]:
        """Return the value of each move by textbook minimax."""
        return values_of_moves(self.place.board("reference"), self.depth, self.score)

    @property
    def is_right(self) -> bool:
        """Return whether the move is a best one and the value, if given, is right."""
        values = self.values
        right = self.value is None or _same(self.value, max(values.values()))
        return is_move(self.move, best_of(values)) and right

    @property
    def extends(self) -> bool:
        """Return whether some lines were searched beyond `depth`, as in quiescence search."""
        return self.depth in self.watch.depths and max(self.watch.depths) > self.depth


def _same(value: float, right: float) -> bool:
    return value == right or abs(value - right) < 1e-9


def explanation(kind: Kind, answers: list[Answer]) -> list[str]:
    """Return the known mistake that reproduces every answer of a search, if there is one.

    The mistake must reproduce the right answers, too.
    """
    if all(is_move(answer.move, best_of(answer.values)) for answer in answers):
        return []
    for words, moves_of in _known_mistakes(kind):
        if all(answer.move in moves_of(answer) for answer in answers):
            return [words]
    return []


def _known_mistakes(kind: Kind) -> Iterator[tuple[str, Callable[[Answer], list[Cell]]]]:
    """Yield each known mistake as a sentence, with a function for the moves it leads to."""
    for hard in (False, True) if kind == "alphabeta" else ():
        yield (
            "Its answers are those of an alpha-beta that takes a move whose value is equal to "
            "the best one (>= instead of >). A branch that was cut off returns only a bound: "
            "the move may be worse. Take a move only if its value is greater.",
            partial(_last_of_equals, hard=hard),
        )
    for first, own, other in product((max, min), repeat=3):
        wrong = ["the least value among the first moves"] if first is min else []
        wrong += ["the least value at your own later moves"] if own is min else []
        wrong += ["the greatest value at the opponent's moves"] if other is max else []
        if wrong:
            yield (
                f"Its answers are those of a search that takes {' and '.join(wrong)}. You take the "
                "greatest value at your own moves, the opponent the least at its moves.",
                partial(_best_by, first=first, own=own, other=other),
            )
    for value, at_horizon in product((-inf, 0.0, inf), (False, True)):
        yield (
            f"Its answers are those of a search in which a finished game counts {value:g}, "
            "whoever has lost it. A player to move without moves has lost: that is -inf if it is "
            "you and inf if it is the opponent, as game.utility(self) returns.",
            partial(_best_by, end=partial(_constant_end, value, at_horizon)),
        )
    for negated in (_negated_opponents, _negated_if_opponent_moves):
        yield (
            "Its answers are those of a search that scores positions for the opponent and turns "
            "the sign around. A score need not be symmetric: its values for the two players need "
            "not be opposite. Score every position for yourself, self.score(game, self), no "
            "matter who is to move there.",
            partial(_best_by, changed=negated),
        )


def _best_by(
    answer: Answer,
    *,
    first: Pick = max,
    changed: Callable[[ScoreFn], ScoreFn] = lambda score: score,
    **rules: Any,
) -> list[Cell]:
    """Return the moves that a minimax with the given mistake considers best."""
    board = answer.place.board("reference")
    return best_of(values_of_moves(board, answer.depth, changed(answer.score), **rules), first)


def _constant_end(value: float, at_horizon: bool, game: Any, player: Any, depth: int) -> float:
    return value if depth or at_horizon else utility(game, player, depth)


def _negated_opponents(score: ScoreFn) -> ScoreFn:
    return lambda game, player: -score(game, game.get_opponent(player))


def _negated_if_opponent_moves(score: ScoreFn) -> ScoreFn:
    negated = _negated_opponents(score)
    return lambda game, player: (score if game.active_player == player else negated)(game, player)


def _last_of_equals(answer: Answer, *, hard: bool) -> list[Cell]:
    order = order_of([path for path, _ in answer.watch.scored], answer.depth)
    board = answer.place.board("reference")
    return [last_of_equals(board, answer.depth, answer.score, fail_hard=hard, order=order)]
