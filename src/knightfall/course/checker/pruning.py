"""Does alpha-beta prune, and nothing that matters?"""

from __future__ import annotations

from knightfall.course.checker.outcome import Finding
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import alphabeta, best_of, minimax, order_of
from knightfall.course.checker.searching import (
    EARLY,
    LATE,
    MIDDLE,
    TIES,
    Answer,
    ask_fairly,
    expected,
    extension,
    hints_for,
    listed,
    plies,
)
from knightfall.course.checker.subject import Subject, is_move, shown
from knightfall.course.checker.watched import Path, ScoreFn, Watch, scrambled
from knightfall.course.scores import improved_score

PRUNED = ((EARLY, 29035, 3), (MIDDLE, 27404, 3), (MIDDLE, 27404, 4), (LATE, 93619, 3))


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
