"""Does it play on where every line that it sees is lost?"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import inf
from typing import Any

from knightfall.course.checker.outcome import Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import values_of_moves
from knightfall.course.checker.subject import Subject, is_move, shown
from knightfall.course.checker.timing import LONG_MILLIS, MOVE_MILLIS, timed, told_source
from knightfall.course.knights import Cell
from knightfall.course.scores import improved_score

LOST = (
    Place("65 22 53 10 41 31 33 23 54 35 66 16 45 24 26 05 14 13"),
    Place("62 04 43 12 31 24 10 32 22 51 34 30 13 11 25 23 44 15 63"),
)


def plays_on(subject: Subject, kinds: list[Kind]) -> str:
    """Where every line loses there are still moves, and opponents err."""
    given_up: dict[Kind, tuple[Place, Any]] = {}
    for kind, place in product(kinds, LOST):
        answer = _in_lost_position(subject, kind, place)
        if kind not in given_up and not is_move(answer, _legal(place)):
            given_up[kind] = place, answer
    if not given_up:
        return "moves where every line loses"
    shown_place, shown_answer = next(iter(given_up.values()))
    assert set(values_of_moves(shown_place.board("r"), 2, improved_score).values()) == {-inf}
    why = [
        "Every move loses here, if the opponent finds the replies. Asked with improved_score, as "
        "the tournament does first:"
    ]
    for kind, (place, answer) in given_up.items():
        where = "" if place is shown_place else f" in {place.fen}, which is as lost"
        why.append(
            f"{subject.named(kind, 'get_move')} answers {shown(answer)}{where}: a forfeit, though "
            "there are legal moves."
        )
        line = subject.source_of(partial(_in_lost_position, subject, kind, place), answer)
        why += told_source(line, answer)
        if is_move(_in_lost_position(subject, kind, place, worst=-1e6), _legal(place)):
            why.append(
                "If a lost game is worth -1,000,000 instead of -inf, it moves: it takes a move "
                "only if that is worth more than -inf. Begin with any legal move as the answer, "
                "for instance the first."
            )
    why.append(
        "Most of the course's agents did so, and it cost them games: the deeper they looked, the "
        "more of them they gave away to opponents that had not seen the win. How much it cost is "
        'told in docs/studies, under "What they really measured".'
    )
    raise Finding(
        "gives up where every line it sees loses",
        tuple(why),
        " or ".join(map(str, _legal(shown_place))),
        shown(shown_answer),
        shown_place,
        mark="warning",
    )


def _legal(place: Place) -> list[Cell]:
    return place.board("reference").get_legal_moves()


def _in_lost_position(subject: Subject, kind: Kind, place: Place, worst: float = -inf) -> Any:
    """Return what `get_move` answers where every move loses; a loss is worth `worst`."""
    watch, clock = timed(LONG_MILLIS if kind == "minimax" else MOVE_MILLIS)
    watch.worst = worst
    agent = subject.player(kind, watch.scorer(improved_score))
    return subject.get_move(agent, subject.board(place, agent, watch), clock, place)
