"""Does a search stop when its time is over, does get_move answer in time, does it deepen?

Time is counted (`Clock`), so that a busy machine changes nothing.
"""

from __future__ import annotations

from math import inf
from typing import Any

from knightfall.course.checker.outcome import Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import values_of_moves
from knightfall.course.checker.searching import EARLY, LATE, MIDDLE, NEAR_THE_END
from knightfall.course.checker.subject import Subject, is_move, is_no_move, shown
from knightfall.course.checker.watched import CALL_MILLIS, Clock, Watch
from knightfall.course.scores import improved_score

THRESHOLD = 10.0
"""Milliseconds before the end at which the course's players stop."""

MOVE_MILLIS, LONG_MILLIS = 150.0, 900.0
DEEP = 12
"""More plies than anybody can look ahead in the time there is."""

QUESTIONS = (1, 25, 180, 700)
"""How much can be asked before the threshold."""

LATE_BY = 1.0
OVERTIME_CALLS = 15_000
"""Milliseconds by which a timeout may be late, and what can be asked after the end at most."""

LOST = (
    Place("65 22 53 10 41 31 33 23 54 35 66 16 45 24 26 05 14 13"),
    Place("62 04 43 12 31 24 10 32 22 51 34 30 13 11 25 23 44 15 63"),
)


def timed(millis: float) -> tuple[Watch, Clock]:
    """A watch and its clock; whoever goes on for long after the end is stopped."""
    watch = Watch(int(millis / CALL_MILLIS) + OVERTIME_CALLS)
    return watch, Clock(watch, millis)


# -- timeouts ----------------------------------------------------------------------------------


def stops_in_time(subject: Subject, kind: Kind) -> str:
    """When `time_left` runs out in the middle, the exception comes out of the search."""
    timeout = subject.timeout
    for questions in QUESTIONS:
        watch, clock = timed(THRESHOLD + questions * CALL_MILLIS)
        agent = subject.player(kind, DEEP, watch.scorer(improved_score))
        game = MIDDLE.board(agent, watch)
        expected = f"{timeout.__name__} raised out of {kind}"
        try:
            _, answer = subject.search(kind, agent, game, DEEP, MIDDLE, clock)
        except timeout:
            if clock.left() < -LATE_BY:
                raise Finding(
                    "stops too late",
                    (
                        f"It raises {timeout.__name__}, but only after {watch.calls} questions "
                        f"asked of the board, when the time had been over for long: ask "
                        "self.time_left() in every call of the search, not only at its top.",
                    ),
                    place=MIDDLE,
                ) from None
            continue
        except Finding as found:
            if found.short == "does not come to an end":
                raise _goes_on(kind, clock, expected) from None
            raise
        if not clock.questions:
            raise _goes_on(kind, clock, expected)
        raise Finding(
            "answers although its time is over",
            (
                f"The time ran out in the middle of {kind}(game, depth={DEEP}), which answered all "
                f"the same. {timeout.__name__} has to leave {kind}, so that get_move knows that "
                "this depth was not finished: catch it in get_move and nowhere else.",
            ),
            expected,
            f"the answer {shown(answer)}",
            MIDDLE,
        )
    return f"{timeout.__name__} comes out, {len(QUESTIONS)} times of {len(QUESTIONS)}"


def _goes_on(kind: Kind, clock: Clock, expected: str) -> Finding:
    asked = f"It asked self.time_left() {clock.questions} times and went on."
    if not clock.questions:
        asked = "It never asked self.time_left()."
    return Finding(
        "goes on when its time is over",
        (
            f"{kind}(game, depth={DEEP}) went on searching after its time was over. {asked} "
            "Every call of the search, on both sides, has to begin with: if self.time_left() < "
            "self.TIMER_THRESHOLD, raise the exception.",
        ),
        expected,
        "a search that goes on",
        MIDDLE,
    )


# -- get_move ----------------------------------------------------------------------------------


def answers_in_time(subject: Subject, kind: Kind) -> str:
    """`get_move` answers a legal move before the time is over, whatever the search raises."""
    fixed = kind == "minimax"  # deepens not: a depth that is too great finds nothing, in time
    for depth, place in ((3, MIDDLE), (DEEP, EARLY), (3, LATE), (3, NEAR_THE_END)):
        millis = LONG_MILLIS if fixed and depth == 3 else MOVE_MILLIS
        watch, clock = timed(millis)
        agent = subject.player(kind, depth, watch.scorer(improved_score))
        game = place.board(agent, watch)
        moves = place.board("reference").get_legal_moves()
        answer = subject.get_move(agent, game, clock, place)
        left = clock.left()
        asked = clock.questions
        if left < 0:
            raise Finding(
                "answers too late",
                (
                    f"get_move had {millis:g} ms by a clock that counts {CALL_MILLIS:g} ms for "
                    f"each question asked of the board, and was {-left:g} ms late. It asked "
                    f"time_left() {asked} times.",
                ),
                place=place,
            )
        if is_move(answer, moves) or (fixed and depth == DEEP and is_no_move(answer)):
            continue
        raise _no_answer(answer, moves, millis, place)
    return "a legal move in time"


def _no_answer(answer: Any, moves: list[Any], millis: float, place: Place) -> Finding:
    hint = "The board takes any other answer for a forfeit."
    if isinstance(answer, list):
        hint = "A move is a tuple, (row, column); the board takes a list for a forfeit."
    if answer is None:
        hint = "None comes from a function that ends without return."
    return Finding(
        f"answers {shown(answer)}",
        (f"There were {millis:g} ms and legal moves. {hint}",),
        " or ".join(map(str, moves)),
        shown(answer),
        place,
    )


# -- deepening ---------------------------------------------------------------------------------


def deepens(subject: Subject) -> str:
    """With more time it looks further ahead, and it begins with little."""
    reached: list[list[int]] = []
    for millis in (MOVE_MILLIS, LONG_MILLIS):
        watch, clock = timed(millis)
        agent = subject.player("alphabeta", 3, watch.scorer(improved_score))
        game = EARLY.board(agent, watch)
        subject.get_move(agent, game, clock, EARLY)
        reached.append(watch.depths or [0])
    short, long = (max(depths) for depths in reached)
    told = (
        f"By a counted clock, get_move looked {short} plies ahead in {MOVE_MILLIS:g} ms and {long} "
        f"in {LONG_MILLIS:g} ms."
    )
    if long < 2 or long <= short:
        raise Finding(
            f"stays at depth {long}",
            (
                told,
                "Iterative deepening searches at depth 1, then 2, then 3 and so on until the time "
                "runs out, and answers the move of the last depth that it finished. It ends by "
                "SearchTimeout, not by search_depth.",
            ),
            "a greater depth with more time",
            f"depth {short}, then depth {long}",
            EARLY,
        )
    if len(reached[1]) < 2 or min(reached[0]) > 2:
        raise Finding(
            "begins deep",
            (
                told,
                f"But it began {reached[0][0]} plies ahead: a search that begins with a great "
                "depth has no answer when the time runs out. Begin with depth 1.",
            ),
            "depth 1, then 2, then 3",
            f"depths {', '.join(map(str, reached[1]))}",
            EARLY,
        )
    return f"{short} plies ahead in {MOVE_MILLIS:g} ms, {long} in {LONG_MILLIS:g}"


# -- resigning ---------------------------------------------------------------------------------


def plays_on(subject: Subject, kinds: list[Kind]) -> str:
    """Where every line loses there are still moves, and opponents err."""
    given_up = []
    for kind in kinds:
        for place in LOST:
            watch, clock = timed(LONG_MILLIS if kind == "minimax" else MOVE_MILLIS)
            agent = subject.player(kind, 3, watch.scorer(improved_score))
            game = place.board(agent, watch)
            moves = place.board("reference").get_legal_moves()
            answer = subject.get_move(agent, game, clock, place)
            if not is_move(answer, moves):
                given_up.append((subject.named(kind, "get_move"), place, answer, moves))
    if not given_up:
        return "moves where every line loses"
    who = " and ".join(dict.fromkeys(name for name, *_ in given_up))
    _, place, answer, moves = given_up[0]
    assert set(values_of_moves(place.board("r"), 2, improved_score).values()) == {-inf}
    raise Finding(
        "gives up where every line it sees loses",
        (
            f"Every move loses here, if the opponent finds the replies, and {who} says "
            f"{shown(answer)}: a forfeit, though there are legal moves. As a rule, such a search "
            "begins with the worst value and no move, and takes a move only if it is better; when "
            "all are equally bad, none is.",
            "Most of the course's agents did so, and it cost them games: the deeper they looked, "
            "the more of them they gave away to opponents that had not seen the win. How much it "
            'cost is told in docs/studies, under "What they really measured".',
            "Begin with any legal move as the answer, for instance the first.",
        ),
        " or ".join(map(str, moves)),
        shown(answer),
        place,
        mark="warning",
    )
