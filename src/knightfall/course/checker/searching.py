"""Does a search find the best moves, and what does it answer without moves?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from knightfall.course.checker.outcome import Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import (
    best_of,
    last_of_equals,
    order_of,
    values_of_moves,
)
from knightfall.course.checker.subject import WAYS, Subject, is_move, is_no_move, shown
from knightfall.course.checker.watched import Clock, ScoreFn, Watch, scrambled
from knightfall.course.knights import Cell
from knightfall.course.scores import improved_score

EARLY = Place("56 02 35 23 14 31 33 52 45")
MIDDLE = Place("01 46 22 65 41 53 60 61 52 40 44 32")
LATE = Place("15 36 23 24 04 03 25 11 06 32 14 40 22 52 30")
TIES = Place("15 13 34 01 22 20 14 12 35 31 23 43")
NEAR_THE_END = Place("32 64 53 43 41 35 20 14 12 06 24 25 03 33 15 52 34 44 55")
STUCK = (
    Place("03 10 22 02 01 21 20 33 41 54 53 42 45 61 66 40"),
    Place("41 12 22 24 43 45 31 33 52 54 40 42 32 21 53 00 65"),
)

# At depths 1 to 4 another move is best each time, and none is best with the signs turned around.
PUZZLES: tuple[tuple[Place, ScoreFn, str], ...] = (
    (EARLY, scrambled(29035), "made-up scores"),
    (MIDDLE, scrambled(27404), "made-up scores"),
    (LATE, scrambled(93619), "made-up scores"),
    (NEAR_THE_END, improved_score, "improved_score"),
)

DEPTHS = (1, 2, 3)


# -- values ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a search answered in a position, and what is right there."""

    place: Place
    depth: int
    score: ScoreFn
    value: float | None
    move: Any
    watch: Watch
    agent: Any

    @property
    def values(self) -> dict[Cell, float]:
        """What each move is worth."""
        return values_of_moves(self.place.board("reference"), self.depth, self.score)

    @property
    def is_right(self) -> bool:
        """Whether it is a best move, with its value if there is one."""
        values = self.values
        right = self.value is None or _same(self.value, max(values.values()))
        return is_move(self.move, best_of(values)) and right

    @property
    def extends(self) -> bool:
        """Whether some lines were looked at further than told, as in a quiescence search."""
        return self.depth in self.watch.depths and max(self.watch.depths) > self.depth


def ask(subject: Subject, kind: Kind, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Ask a search for its move (and value, before 2017b) with a score that is given to it."""
    watch = Watch()
    agent, value, move = subject.ask_search(kind, depth, place, watch, score)
    return Answer(place, depth, score, value, move, watch, agent)


def ask_fairly(subject: Subject, kind: Kind, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Ask a search; if that is not right, load the submission anew and ask in every way.

    The way that is right is kept for what is asked later.  If none is, what was answered first
    counts, or was raised.
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
    """Ask for moves (and values, before 2017b) at each depth in each of the puzzles."""
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
                f"{kind}(game, depth) gives the right answers {way.but}. The tournament asks "
                "get_move of a player that it makes with a score alone, so this costs no game "
                "there.",
            ),
            mark="warning",
        )
    return f"right at depths {DEPTHS[0]} to {DEPTHS[-1]} in {len(PUZZLES)} positions"


def _wrong(subject: Subject, kind: Kind, answer: Answer, name: str) -> Finding:
    """Return the finding of a search that does not answer the best move or its value."""
    values, depth, value = answer.values, answer.depth, answer.value
    right = max(values.values())
    came = shown(answer.move) if value is None else f"value {value:g} with {shown(answer.move)}"
    return Finding(
        f"wrong at depth {depth}",
        (
            f"{kind}(game, depth={depth}) with {name} does not give the right answer. Looked at "
            f"{plies(depth)} ahead, your moves are worth: {listed(values)}.",
            *hints_for(subject, kind, answer),
        ),
        expected(best_of(values), None if value is None else right),
        came,
        answer.place,
    )


def extension(kind: Kind, answer: Answer) -> Finding:
    return Finding(
        "looks further than it is told",
        (
            f"{kind}(game, depth={answer.depth}) scored positions {plies(answer.depth)} ahead and "
            f"others {plies(max(answer.watch.depths))} ahead. A search that extends some lines "
            "may be a good one, but its answers cannot be compared with minimax's.",
        ),
        place=answer.place,
        mark="warning",
    )


def _same(value: float, right: float) -> bool:
    return value == right or abs(value - right) < 1e-9


def expected(best: list[Cell], value: float | None) -> str:
    moves = " or ".join(map(str, best))
    return moves if value is None else f"value {value:g} with {moves}"


def plies(depth: int) -> str:
    return "one ply" if depth == 1 else f"{depth} plies"


def listed(values: dict[Cell, float]) -> str:
    return ", ".join(f"{move} {value:g}" for move, value in values.items())


def hints_for(subject: Subject, kind: Kind, answer: Answer) -> tuple[str, ...]:
    """Return what is known about why an answer is wrong; nothing that is only suspected."""
    hints = []
    watch, depth = answer.watch, answer.depth
    deepest = max(watch.depths, default=0)
    if not watch.scored:
        hints.append("It never asked self.score for a value.")
    elif deepest != depth:
        hints.append(
            f"It scored positions {plies(deepest) if deepest else 'no ply'} ahead instead of "
            f"{plies(depth)}: with depth=1, the positions right after your moves are scored."
        )
    if any(player != answer.agent for _, player in watch.scored):
        hints.append(
            "It asked for the opponent's score. Every position is scored for yourself, "
            "self.score(game, self), whoever is to move there."
        )
    if isinstance(answer.move, list):
        hints.append("A move is a tuple, (row, column); the board does not know lists.")
    if not hints:
        with suppress(Finding):
            hints += _explanation(subject, kind)
    return tuple(hints)


def _explanation(subject: Subject, kind: Kind) -> list[str]:
    """Return the known mistake with which every answer of a search agrees, if there is one.

    Searches with that mistake are asked the same questions, right answers included.
    """
    questions = [(place, score) for place, score, _ in PUZZLES] + [(TIES, improved_score)]
    answers = [
        ask(subject, kind, place, score, depth) for place, score in questions for depth in DEPTHS
    ]
    if all(is_move(answer.move, best_of(answer.values)) for answer in answers):
        return []
    for hard in (False, True) if kind == "alphabeta" else ():
        if all(answer.move == _last_of_equals(answer, hard) for answer in answers):
            return [
                "Its answers are those of an alpha-beta that takes a move whose value is equal to "
                "the best one (>= instead of >). What comes back from a branch that was cut off "
                "is only a bound: the move may be worse. Take a move only if its value is greater."
            ]
    for first, own, other in product((max, min), repeat=3):
        if (first, own, other) == (max, max, min):
            continue
        if all(
            answer.move in best_of(
                values_of_moves(
                    answer.place.board("reference"), answer.depth, answer.score, own, other
                ),
                first,
            )
            for answer in answers
        ):  # fmt: skip
            wrong = ["the least value among the first moves"] if first is min else []
            wrong += ["the least value at your own later moves"] if own is min else []
            wrong += ["the greatest value at the opponent's moves"] if other is max else []
            return [
                f"Its answers are those of a search that takes {' and '.join(wrong)}. You take the "
                "greatest value at your own moves, the opponent the least at its moves."
            ]
    return []


def _last_of_equals(answer: Answer, hard: bool) -> Cell:
    order = order_of([path for path, _ in answer.watch.scored], answer.depth)
    board = answer.place.board("reference")
    return last_of_equals(board, answer.depth, answer.score, fail_hard=hard, order=order)


# -- no moves ----------------------------------------------------------------------------------


def says_so_without_moves(subject: Subject, kind: Kind) -> str:
    """Where there is nothing to be done, searches and get_move answer (-1, -1).

    The tournament asks get_move there, too, so that it must not raise anything.  Another answer is
    a warning: the game is lost already.
    """
    for place in STUCK:
        asked = subject.afresh(partial(_get_move_without_moves, subject, kind, place))
        _expect_no_move(asked, "get_move", place)
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


HARMLESS = "There is no legal move here, and the course asks for (-1, -1). It costs no game."


def _get_move_without_moves(subject: Subject, kind: Kind, place: Place) -> Any:
    watch = Watch()
    agent = subject.player(kind, watch.scorer(improved_score))
    game = subject.board(place, agent, watch)
    return subject.get_move(agent, game, Clock(watch, 150.0), place)


def _expect_no_move(answer: Any, what: str, place: Place) -> None:
    if not is_no_move(answer):
        raise Finding(
            f"{what} answers {shown(answer)}",
            (HARMLESS,),
            "(-1, -1)",
            shown(answer),
            place,
            mark="warning",
        )
