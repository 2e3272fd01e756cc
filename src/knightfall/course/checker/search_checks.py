"""Checks of `minimax` and `alphabeta`: best moves, pruning, positions without moves.

A submission's answers are compared with reference searches.  If they differ, and a search with a
known mistake gives the same answers in all positions, that mistake is the explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf
from typing import Any

from knightfall.course.board_common import Cell
from knightfall.course.checker.check_report import Finding, Kind
from knightfall.course.checker.get_move_checks import MOVE_MILLIS, ask_move
from knightfall.course.checker.recording_board import (
    EARLY,
    LATE,
    MIDDLE,
    PUZZLES,
    STUCK,
    TIES,
    Path,
    Place,
    ScoreFn,
    Watch,
    scrambled,
)
from knightfall.course.checker.submission_api import WAYS, Subject, is_move, is_no_move, shown
from knightfall.course.scores import improved_score

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


DEPTHS = (1, 2, 3)


# -- values ------------------------------------------------------------------------------------


def ask(subject: Subject, kind: Kind, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Call a search with a given score and return its move (and value, before 2017b)."""
    watch = Watch()
    agent, value, move = subject.ask_search(kind, depth, place, watch, score)
    return Answer(place, depth, score, value, move, watch, agent)


def ask_fairly(subject: Subject, kind: Kind, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Call a search; if the answer is wrong, reload the submission and try every way of calling.

    A way that gives the right answer is kept for later calls.  If none does, return the first
    answer or raise the first `Finding`.
    """
    first: Answer | Finding | None = None
    way = subject.ways.get(kind, WAYS[0])
    for number, subject.ways[kind] in enumerate((way, *WAYS)):
        if number:
            subject.load()
        try:
            answer = ask(subject, kind, place, score, depth)
        except Finding as found:
            first = first or found
            if found.mark != "wrong" or found.fatal:
                raise
            continue
        first = first or answer
        if answer.is_right or answer.extends:
            return answer
    subject.ways[kind] = way
    if isinstance(first, Finding):
        raise first
    assert first is not None
    return first


def finds_best_moves(subject: Subject, kind: Kind) -> str:
    """Check the moves (and values, before 2017b) at each depth in each of the puzzles."""
    for place, score, name in PUZZLES:
        for depth in DEPTHS:
            answer = ask_fairly(subject, kind, place, score, depth)
            if not answer.is_right and answer.extends:
                raise extension(kind, answer)
            if not answer.is_right:
                raise _wrong(subject, kind, answer, name)
    way = subject.ways[kind]
    if way.but:
        raise Finding(
            way.but,
            (
                f"{kind}(game, depth) gives the right answers {way.but}. The tournament only "
                "calls get_move of a player that it creates with a score, so this costs no game.",
            ),
            mark="warning",
        )
    return f"right at depths {DEPTHS[0]} to {DEPTHS[-1]} in {len(PUZZLES)} positions"


def _wrong(subject: Subject, kind: Kind, answer: Answer, name: str) -> Finding:
    """Return the finding for a wrong move or value."""
    values, depth, value = answer.values, answer.depth, answer.value
    right = max(values.values())
    came = shown(answer.move) if value is None else f"value {value:g} with {shown(answer.move)}"
    return Finding(
        f"wrong at depth {depth}",
        (
            f"{subject.direct_call(kind, depth)} with {name} gives a wrong answer. "
            f"The values of your moves, {plies(depth)} ahead: {listed(values)}.",
            *hints_for(subject, kind, answer),
        ),
        expected(best_of(values), None if value is None else right),
        came,
        answer.place,
    )


def extension(kind: Kind, answer: Answer) -> Finding:
    """Return the warning for a search that extends some lines beyond the given depth."""
    return Finding(
        "searches deeper than asked",
        (
            f"{kind}(game, depth={answer.depth}) scored positions {plies(answer.depth)} ahead and "
            f"others {plies(max(answer.watch.depths))} ahead. Extending some lines may be a good "
            "idea, but the answers cannot be compared with minimax's.",
        ),
        place=answer.place,
        mark="warning",
    )


def expected(best: list[Cell], value: float | None) -> str:
    moves = " or ".join(map(str, best))
    return moves if value is None else f"value {value:g} with {moves}"


def plies(depth: int) -> str:
    return "one ply" if depth == 1 else f"{depth} plies"


def listed(values: dict[Cell, float]) -> str:
    return ", ".join(f"{move} {value:g}" for move, value in values.items())


def hints_for(subject: Subject, kind: Kind, answer: Answer) -> tuple[str, ...]:
    """Return sentences that explain a wrong answer; only causes that are certain are named."""
    answers = _answers(subject, kind)
    hints = []
    watch, depth = answer.watch, answer.depth
    deepest = max(watch.depths, default=0)
    if not watch.scored and not any(other.watch.scored for other in answers):
        hints.append("It never called self.score.")
    elif watch.scored and deepest != depth:
        hints.append(
            f"It scored positions {plies(deepest) if deepest else 'no ply'} ahead instead of "
            f"{plies(depth)}: with depth=1, the positions right after your moves are scored."
        )
    if isinstance(answer.move, list):
        hints.append("A move is a tuple, (row, column), not a list.")
    if not subject.generation.answers_values and _is_pair_with_move(answer.move):
        hints.append(
            "It returns a pair that ends with a move. In 2017b it must return the move alone."
        )
    explained = [] if hints else explanation(kind, answers)
    if not explained and any(player != answer.agent for _, player in watch.scored):
        hints.append(
            "It called the score for the opponent. Score every position for yourself, "
            "self.score(game, self), no matter who is to move there."
        )
    return (*hints, *explained)


def _is_pair_with_move(answer: Any) -> bool:
    return isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], (tuple, list))


def _answers(subject: Subject, kind: Kind) -> list[Answer]:
    """Return a search's answers in all positions; an empty list if one call fails."""
    questions = [(place, score) for place, score, _ in PUZZLES] + [(TIES, improved_score)]
    with suppress(Finding):
        return [
            ask(subject, kind, place, score, depth)
            for place, score in questions
            for depth in DEPTHS
        ]
    return []


# -- no moves ----------------------------------------------------------------------------------


def says_so_without_moves(subject: Subject, kind: Kind) -> str:
    """Check that searches and get_move return (-1, -1) when there is no legal move.

    The tournament calls get_move there, too, so it must not raise an exception.  Another answer is
    only a warning, because the game is lost already.
    """
    for place in STUCK:
        asked = subject.afresh(partial(ask_move, subject, kind, place, MOVE_MILLIS))
        _expect_no_move(asked[0], "get_move", place)
        for depth in (1, 3):
            question = partial(subject.ask_search, kind, depth, place, Watch(), improved_score)
            try:
                _, _, answer = subject.afresh(question)
            except Finding as found:
                if found.mark == "wrong" and not found.fatal:
                    found.mark = "warning"
                    found.why = (*found.why, HARMLESS)
                raise
            _expect_no_move(answer, f"{kind}(game, depth={depth})", place)
    return "(-1, -1), as it should be"


HARMLESS = "There is no legal move here, and the course requires (-1, -1). It costs no game."


def _expect_no_move(answer: Any, what: str, place: Place) -> None:
    """Raise a warning unless the answer is (-1, -1)."""
    if not is_no_move(answer):
        raise Finding(
            f"{what} answers {shown(answer)}",
            (HARMLESS,),
            "(-1, -1)",
            shown(answer),
            place,
            mark="warning",
        )


# -- pruning -----------------------------------------------------------------------------------


PRUNED = ((EARLY, 24624, 3), (MIDDLE, 69693, 3), (MIDDLE, 69693, 4), (LATE, 12770, 3))


def prunes(subject: Subject) -> str:
    """Check that alphabeta scores no more positions than textbook alpha-beta."""
    mine = textbook = without = 0
    for place, salt, depth in PRUNED:
        score = scrambled(salt)
        answer = _answer(subject, place, score, depth)
        found = answer.watch.leaves(depth)
        usual = _reference_leaves(place, score, depth)
        every = _reference_leaves(place, score, depth, pruning=False)
        if len(found) > len(usual) and found != sorted(found):
            usual = _reference_leaves(place, score, depth, like=found)
        if len(found) > len(usual):
            raise _too_many(answer, usual, every)
        mine, textbook, without = mine + len(found), textbook + len(usual), without + len(every)
    found = _answer(subject, TIES, improved_score, 3).watch.leaves(3)
    usual = _reference_leaves(TIES, improved_score, 3)
    if len(found) > len(usual) and found == sorted(found):
        raise Finding(
            "does not prune when a value equals a bound",
            (
                f"With equal values it scores {len(found)} positions, textbook alpha-beta "
                f"{len(usual)}. A branch can be cut as soon as a value equals the bound (>= beta, "
                "<= alpha), not only when it exceeds it.",
            ),
            place=TIES,
            mark="warning",
        )
    return f"scores {mine} leaves; textbook alpha-beta {textbook}, minimax {without}"


def _too_many(answer: Answer, usual: list[Path], every: list[Path]) -> Finding:
    """Return the finding for a search that scores more positions than necessary."""
    depth, found = answer.depth, answer.watch.leaves(answer.depth)
    own_order = found != sorted(found)
    whose = "your" if own_order else "the board's"
    counts = (
        f"alphabeta(game, depth={depth}) scored {len(found)} positions {plies(depth)} ahead. "
        f"Textbook alpha-beta, taking moves in {whose} order, "
        f"scores {len(usual)} of them and minimax {len(every)}."
    )
    if own_order and len(found) < len(every):
        before = [path for path, _ in answer.watch.scored if 0 < len(path) < depth]
        sorts = f"It also scored {len(before)} positions nearer to the root." if before else ""
        return Finding(
            "its move ordering scores more positions",
            (f"{counts} {sorts}".strip(),),
            place=answer.place,
            mark="warning",
        )
    extra = [path for path in found if path not in set(usual)]
    example = " ".join(map(str, extra[0])) if extra else ""
    return Finding(
        "does not prune" if len(found) >= len(every) else "does not prune enough",
        (
            counts,
            f"For instance it scored the position after {example}: by then it was certain that "
            "this branch would not be chosen."
            if example
            else "It scored positions that could no longer change the result.",
            "At your own moves, leave the loop when the best value is at least beta, else raise "
            "alpha to it. At the opponent's moves, leave the loop when the least value is at most "
            "alpha, else lower beta to it. Pass both bounds to every recursive call.",
        ),
        f"at most {len(usual)} positions scored",
        f"{len(found)}",
        answer.place,
    )


def _answer(subject: Subject, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Return alphabeta's answer in a pruning test; raise a `Finding` if minimax differs."""
    answer = ask_fairly(subject, "alphabeta", place, score, depth)
    if answer.extends:
        raise extension("alphabeta", answer)
    values = answer.values
    if not is_move(answer.move, best_of(values)):
        raise Finding(
            "prunes the best move",
            (
                f"alphabeta(game, depth={depth}) must return the same move as minimax. The values "
                f"of your moves: {listed(values)}.",
                *hints_for(subject, "alphabeta", answer),
            ),
            expected(best_of(values), None),
            shown(answer.move),
            place,
        )
    return answer


def _reference_leaves(
    place: Place,
    score: ScoreFn,
    depth: int,
    *,
    pruning: bool = True,
    like: list[Path] | None = None,
) -> list[Path]:
    """Return the leaves that textbook alpha-beta scores, in the board's or a given order."""
    watch = Watch()
    game = place.board("reference", watch)
    if not pruning:
        minimax(game, depth, watch.scorer(score), "reference")
        return watch.leaves(depth)
    order = order_of(like or [], depth)
    alphabeta(game, depth, watch.scorer(score), "reference", order=order)
    return watch.leaves(depth)
