"""Checks of `minimax` and `alphabeta`: best moves, pruning, and what they answer without moves."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from knightfall.course.board_common import Cell
from knightfall.course.checker.examination import Finding, Kind
from knightfall.course.checker.fixtures import EARLY, LATE, MIDDLE, PUZZLES, STUCK, TIES, Place
from knightfall.course.checker.recording_board import Clock, Path, ScoreFn, Watch, scrambled
from knightfall.course.checker.submission_api import WAYS, Subject, is_move, is_no_move, shown
from knightfall.course.checker.textbook_search import (
    Answer,
    alphabeta,
    best_of,
    explanation,
    minimax,
    order_of,
)
from knightfall.course.scores import improved_score

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
    if not subject.generation.answers_values and _is_pair_with_move(answer.move):
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


# -- pruning -----------------------------------------------------------------------------------


PRUNED = ((EARLY, 24624, 3), (MIDDLE, 69693, 3), (MIDDLE, 69693, 4), (LATE, 12770, 3))


def prunes(subject: Subject) -> str:
    """Count the positions that alphabeta scores, and compare with the textbook's."""
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
            "goes on where values are equal to a bound",
            (
                f"With equal values it scores {len(found)} positions and the textbook "
                f"{len(usual)}: a branch can be left as soon as a value equals the bound (>= beta, "
                "<= alpha), not only when it is beyond.",
            ),
            place=TIES,
            mark="warning",
        )
    return f"{mine} leaves scored; the textbook {textbook}, minimax {without}"


def _too_many(answer: Answer, usual: list[Path], every: list[Path]) -> Finding:
    """Return the finding of a search that scores more than it need."""
    depth, found = answer.depth, answer.watch.leaves(answer.depth)
    own_order = found != sorted(found)
    whose = "your" if own_order else "the board's"
    counts = (
        f"alphabeta(game, depth={depth}) scored {len(found)} positions {plies(depth)} ahead. "
        f"Textbook alpha-beta, which takes moves in {whose} order, "
        f"scores {len(usual)} of them and minimax {len(every)}."
    )
    if own_order and len(found) < len(every):
        before = [path for path, _ in answer.watch.scored if 0 < len(path) < depth]
        sorts = f"It also scored {len(before)} positions less far ahead." if before else ""
        return Finding(
            "orders moves itself, and scores more for it",
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
            f"For instance it scored what comes after {example}: by then it was known that this "
            "branch would not be chosen."
            if example
            else "It scored positions that could not matter any more.",
            "At your own moves, leave the loop when the best value is at least beta, else raise "
            "alpha to it; at the opponent's, leave when the least is at most alpha, else lower "
            "beta. Both bounds go down with every call.",
        ),
        f"at most {len(usual)} positions scored",
        f"{len(found)}",
        answer.place,
    )


def _answer(subject: Subject, place: Place, score: ScoreFn, depth: int) -> Answer:
    """Return what alphabeta answers where pruning is looked at; it has to be minimax's move."""
    answer = ask_fairly(subject, "alphabeta", place, score, depth)
    if answer.extends:
        raise extension("alphabeta", answer)
    values = answer.values
    if not is_move(answer.move, best_of(values)):
        raise Finding(
            "prunes what matters",
            (
                f"alphabeta(game, depth={depth}) has to answer what minimax does. Your moves are "
                f"worth: {listed(values)}.",
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
    """What the textbook scores, with moves in the board's order or in that of other leaves."""
    watch = Watch()
    game = place.board("reference", watch)
    if not pruning:
        minimax(game, depth, watch.scorer(score), "reference")
        return watch.leaves(depth)
    order = order_of(like or [], depth)
    alphabeta(game, depth, watch.scorer(score), "reference", order=order)
    return watch.leaves(depth)
