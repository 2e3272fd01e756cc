"""Does a search find the best moves, and what does it answer without moves?"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from knightfall.course.checker.mistakes import Answer, explanation
from knightfall.course.checker.outcome import Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import best_of
from knightfall.course.checker.subject import WAYS, Subject, is_no_move, shown
from knightfall.course.checker.watched import Clock, ScoreFn, Watch, scrambled
from knightfall.course.knights import Cell
from knightfall.course.scores import improved_score

EARLY = Place("56 02 35 23 14 31 33 52 45")
MIDDLE = Place("01 46 22 65 41 53 60 61 52 40 44 32")
LATE = Place("15 36 23 24 04 03 25 11 06 32 14 40 22 52 30")
TIES = Place("15 13 34 01 22 20 14 12 35 31 23 43")
NEAR_THE_END = Place("32 64 53 43 41 35 20 14 12 06 24 25 03 33 15 52 34 44 55")
WON = Place("22 15 03 34 24 53 05 32 26 40 14 52 33 60")
"""Only (4, 1) wins at once."""
RISKY = Place("22 15 03 34 11 55 32 43 51 62 30 54 42 46 50 65 31 44 52")
"""After (6, 3) the opponent's best reply leaves no move."""
STUCK = (
    Place("03 10 22 02 01 21 20 33 41 54 53 42 45 61 66 40"),
    Place("41 12 22 24 43 45 31 33 52 54 40 42 32 21 53 00 65"),
)

# In the first three, another move is best at each of the depths 1 to 4, and none is best with the
# signs turned around or by the opponent's score, negated.  In the last two, a game ends before the
# horizon.
PUZZLES: tuple[tuple[Place, ScoreFn, str], ...] = (
    (EARLY, scrambled(24624), "made-up scores"),
    (MIDDLE, scrambled(69693), "made-up scores"),
    (LATE, scrambled(12770), "made-up scores"),
    (NEAR_THE_END, improved_score, "improved_score"),
    (MIDDLE, improved_score, "improved_score"),  # which has ties, unlike made-up scores
    (WON, scrambled(25753), "made-up scores"),
    (RISKY, scrambled(39493), "made-up scores"),
)

DEPTHS = (1, 2, 3)


# -- values ------------------------------------------------------------------------------------


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
            f"{subject.direct_call(kind, depth)} with {name} does not give the right answer. "
            f"Looked at {plies(depth)} ahead, your moves are worth: {listed(values)}.",
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


def expected(best: list[Cell], value: float | None) -> str:
    moves = " or ".join(map(str, best))
    return moves if value is None else f"value {value:g} with {moves}"


def plies(depth: int) -> str:
    return "one ply" if depth == 1 else f"{depth} plies"


def listed(values: dict[Cell, float]) -> str:
    return ", ".join(f"{move} {value:g}" for move, value in values.items())


def hints_for(subject: Subject, kind: Kind, answer: Answer) -> tuple[str, ...]:
    """Return what is known about why an answer is wrong; nothing that is only suspected."""
    answers = _answers(subject, kind)
    hints = []
    watch, depth = answer.watch, answer.depth
    deepest = max(watch.depths, default=0)
    if not watch.scored and not any(other.watch.scored for other in answers):
        hints.append("It never asked self.score for a value.")
    elif watch.scored and deepest != depth:
        hints.append(
            f"It scored positions {plies(deepest) if deepest else 'no ply'} ahead instead of "
            f"{plies(depth)}: with depth=1, the positions right after your moves are scored."
        )
    if isinstance(answer.move, list):
        hints.append("A move is a tuple, (row, column); the board does not know lists.")
    if subject.generation == "2017b" and _is_pair_with_move(answer.move):
        hints.append(
            "It answers a pair that ends with a move. Since 2017b the move alone is wanted."
        )
    explained = [] if hints else explanation(kind, answers)
    if not explained and any(player != answer.agent for _, player in watch.scored):
        hints.append(
            "It asked for the opponent's score. Every position is scored for yourself, "
            "self.score(game, self), whoever is to move there."
        )
    return (*hints, *explained)


def _is_pair_with_move(answer: Any) -> bool:
    return isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], (tuple, list))


def _answers(subject: Subject, kind: Kind) -> list[Answer]:
    """Return a search's answers to all questions; none if it does not answer one of them."""
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
