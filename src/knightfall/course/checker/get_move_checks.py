"""Checks of `get_move`: stopping in time, answering in time, deepening, and not resigning.

Time is counted in calls (`Clock`), so the results do not depend on the machine's load.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import product
from math import inf
from typing import Any

from knightfall.course.board_common import Cell
from knightfall.course.checker.check_report import Finding, Kind
from knightfall.course.checker.recording_board import (
    CALL_MILLIS,
    EARLY,
    LATE,
    LOST,
    MIDDLE,
    NEAR_THE_END,
    TIES,
    Clock,
    Place,
    Watch,
)
from knightfall.course.checker.submission_api import WAYS, Subject, is_move, is_no_move, shown
from knightfall.course.scores import improved_score
from knightfall.course.submission_player import Returned

THRESHOLD = 10.0
"""Milliseconds before the end at which the course's players stop."""

MOVE_MILLIS, LONG_MILLIS = 150.0, 900.0
DEEP = 12
"""More plies than any search can finish in the given time."""

QUESTIONS = (1, 25, 180, 700)
"""Numbers of calls that a search can make before the threshold."""

SHORT_MILLIS = THRESHOLD + 180 * CALL_MILLIS
"""A time too short for the fixed depth of minimax players, as on a slow machine."""

LATE_BY = 1.0
OVERTIME_CALLS = 15_000
"""Milliseconds by which a timeout may be late, and the most calls allowed after the end."""


def timed(millis: float, worst: float = -inf) -> tuple[Watch, Clock]:
    """Return a `Watch` and its clock; the watch stops a player that goes on long after the end."""
    watch = Watch(int(millis / CALL_MILLIS) + OVERTIME_CALLS, worst)
    return watch, Clock(watch, millis)


def ask_move(
    subject: Subject,
    kind: Kind,
    place: Place,
    millis: float,
    *,
    worst: float = -inf,
    search_depth: int | None = None,
) -> tuple[Any, Watch, Clock]:
    """Call `get_move` of a fresh player with `improved_score`.

    Return its answer, the record of its calls and its clock.  A lost game counts `worst`.
    """
    watch, clock = timed(millis, worst)
    agent = subject.player(kind, watch.scorer(improved_score), search_depth=search_depth)
    answer = subject.get_move(agent, subject.board(place, agent, watch), clock, place)
    return answer, watch, clock


# -- timeouts ----------------------------------------------------------------------------------


def stops_in_time(subject: Subject, kind: Kind) -> str:
    """Check that a search raises its timeout exception when `time_left` runs out."""
    try:
        stopped = _times_stopped(subject, kind)
    except Finding as found:
        if found.mark == "wrong" and (other := _other_way(subject, kind)):
            raise Finding(
                other,
                (
                    f"Asked for {DEEP} plies, {kind} stops in time {other}; otherwise it "
                    f"{found.short}. The tournament asks for fewer plies, so this costs no game.",
                ),
                mark="warning",
            ) from None
        if found.mark == "wrong" and _has_its_own_clock(subject, kind):
            raise Finding(
                "measures time with its own clock",
                (
                    "It reads Python's clock instead of time_left(), and get_move answers in time. "
                    "If a move has more or less time than it expects, it will not notice. Whether "
                    "the search stops when time_left() runs out could not be tested.",
                ),
                mark="warning",
            ) from None
        if found.mark == "wrong" and subject.ways.get(kind, WAYS[0]).sets_depth:
            found.mark = "warning"  # the tournament never sets search_depth
        raise
    if not stopped:
        raise Finding(f"not tried: {kind} ends before its time limit", mark="skipped")
    name, early = subject.timeout.__name__, len(QUESTIONS) - stopped
    if early:
        return f"{name} is raised; {early} of {len(QUESTIONS)} searches ended before the limit"
    return f"{name} is raised, {stopped} times of {stopped}"


def _times_stopped(subject: Subject, kind: Kind) -> int:
    """Return how many test searches raised their timeout; raise a `Finding` if one goes on."""
    return sum(subject.afresh(partial(_stops, subject, kind, q)) for q in QUESTIONS)


def _other_way(subject: Subject, kind: Kind) -> str:
    """Return which other way of calling makes the searches stop in time; "" if none does."""
    usual = subject.ways.get(kind, WAYS[0])
    for way in WAYS:
        if way is usual:
            continue
        subject.ways[kind] = way
        try:
            if _times_stopped(subject, kind):
                return way.but
        except Finding:
            continue
        finally:
            subject.ways[kind] = usual
    return ""


def _stops(subject: Subject, kind: Kind, questions: int) -> bool:
    """Call a search with too little time for its depth; return whether it raised its timeout.

    A search that finishes before it could notice the end of its time returns False.
    """
    timeout = subject.timeout
    watch, clock = timed(THRESHOLD + questions * CALL_MILLIS)
    expected = f"{timeout.__name__} raised out of {kind}"
    try:
        agent, _, answer = subject.ask_search(kind, DEEP, MIDDLE, watch, improved_score, clock)
    except timeout:
        if clock.left() < -LATE_BY:
            raise Finding(
                "stops too late",
                (
                    f"It raises {timeout.__name__}, but only after {watch.calls} calls to the "
                    "board, long after the time was over. Call self.time_left() at the start of "
                    "every recursive call, not only in the first one.",
                ),
                place=MIDDLE,
            ) from None
        return True
    except Finding as found:
        if found.code == "endless":
            raise _goes_on(kind, clock, expected) from None
        raise
    if clock.left() < -LATE_BY and clock.least >= _threshold(agent):
        raise _goes_on(kind, clock, expected)
    if clock.least >= _threshold(agent):
        return False
    raise Finding(
        "answers although its time is over",
        (
            f"The time ran out in the middle of {kind}(game, depth={DEEP}), but it returned an "
            f"answer. {kind} must let {timeout.__name__} pass, so that get_move knows that this "
            "depth was not finished: catch it in get_move and nowhere else.",
        ),
        expected,
        f"the answer {shown(answer)}",
        MIDDLE,
    )


def _threshold(agent: Any) -> float:
    """Return the milliseconds before the end at which a player must stop.

    This is `THRESHOLD`, or the player's own threshold if that is smaller.
    """
    own = getattr(agent, "TIMER_THRESHOLD", THRESHOLD)
    return min(THRESHOLD, own) if isinstance(own, (int, float)) else THRESHOLD


def _has_its_own_clock(subject: Subject, kind: Kind) -> bool:
    """Return whether `get_move` reads Python's clocks instead of `time_left` and is in time."""
    with suppress(Finding):
        _, _, clock = ask_move(subject, kind, EARLY, MOVE_MILLIS)
        return clock.read_elsewhere > 0 and not clock.questions and clock.left() >= 0
    return False


def _goes_on(kind: Kind, clock: Clock, expected: str) -> Finding:
    """Return the finding for a search that does not stop when its time is over."""
    asked = f"It called self.time_left() {clock.questions} times and went on."
    if not clock.questions:
        asked = "It never called self.time_left()."
    return Finding(
        "goes on when its time is over",
        (
            f"{kind}(game, depth={DEEP}) went on searching after its time was over. {asked} "
            "Every call of the search, for both players, must begin with: if self.time_left() < "
            "self.TIMER_THRESHOLD, raise the exception.",
        ),
        expected,
        "a search that goes on",
        MIDDLE,
    )


# -- get_move ----------------------------------------------------------------------------------


def answers_in_time(subject: Subject, kind: Kind) -> str:
    """Check that `get_move` returns a legal move in time, even if the search times out."""
    fixed = kind == "minimax"  # without deepening, it has no answer if time is short
    millis = LONG_MILLIS if fixed else MOVE_MILLIS
    for place in (EARLY, LATE, TIES, NEAR_THE_END):
        subject.afresh(partial(_answers, subject, kind, place, millis))
    if fixed:
        subject.afresh(partial(_answers, subject, kind, EARLY, SHORT_MILLIS, or_none=True))
    return "a legal move in time"


def _stands_for_none(answer: Any) -> bool:
    """Return whether an answer is a usual placeholder for "no move found yet"."""
    empty = isinstance(answer, tuple | list | dict | set | str) and not answer
    return answer is None or is_no_move(answer) or empty


def _answers(
    subject: Subject, kind: Kind, place: Place, millis: float, *, or_none: bool = False
) -> None:
    """Check `get_move` in one position; with `or_none` it may also answer (-1, -1) or None."""
    moves = place.board("reference").get_legal_moves()
    answer, _, clock = ask_move(subject, kind, place, millis)
    if or_none and clock.read_elsewhere and not clock.questions:
        return  # its own clock assumes the tournament's limit
    if clock.left() < 0:
        raise Finding(
            "answers too late",
            (
                f"get_move was {-clock.left():g} ms late. It had {millis:g} ms, by a clock that "
                f"counts {CALL_MILLIS:g} ms for each call to the board. It called time_left() "
                f"{clock.questions} times.",
            ),
            place=place,
        )
    if is_move(answer, moves) or (or_none and _stands_for_none(answer)):
        return
    hint = "Any other answer is a forfeit."
    if isinstance(answer, list):
        hint = "A move is a tuple, (row, column); a list is a forfeit."
    line = subject.source_of(lambda: ask_move(subject, kind, place, millis)[0], answer)
    raise Finding(
        f"answers {shown(answer)}",
        (
            f"There were legal moves and {millis:g} ms of time. {hint}",
            *source_sentence(line, answer),
        ),
        " or ".join(map(str, moves)),
        shown(answer),
        place,
    )


def source_sentence(line: Returned | None, answer: Any) -> tuple[str, ...]:
    """Return a sentence that names the line an answer came from, if it is known."""
    if line is None:
        return ()
    if line.ended:
        return (
            f"The None comes from {line.function}, which ends without return after line "
            f"{line.line} of {line.file}.",
        )
    return (f"{shown(answer)} comes from {line}",)


# -- deepening ---------------------------------------------------------------------------------


def deepens(subject: Subject) -> str:
    """Check that alpha-beta starts at a low depth and searches deeper with more time."""
    try:
        return subject.afresh(partial(_deepens, subject))
    except Finding as found:
        endless = subject.generation.endless_depth
        if found.code != "stays" or endless is None:
            raise
        # Before 2017b the course's own tests created iterative players with search_depth=-1.
        with suppress(Finding):
            further = _deepens(subject, search_depth=endless)
            found.mark = "warning"
            found.why = (
                *found.why,
                f"If it is created with search_depth={endless}, it deepens: {further}. The "
                "tournament does not set search_depth, so there it stops.",
            )
        raise


def _deepens(subject: Subject, search_depth: int | None = None) -> str:
    """Make the check `deepens` with a player that is created with this `search_depth`."""
    reached: list[list[int]] = []
    left: list[float] = []
    for millis in (MOVE_MILLIS, LONG_MILLIS):
        _, watch, clock = ask_move(subject, "alphabeta", EARLY, millis, search_depth=search_depth)
        reached.append(watch.depths or [0])
        left.append(clock.left())
    short, long = (max(depths) for depths in reached)
    depths_reached = (
        f"By counted time, get_move searched {short} plies deep in {MOVE_MILLIS:g} ms and {long} "
        f"in {LONG_MILLIS:g} ms."
    )
    # A player with its own time limit need not use more than the tournament's time.
    by_itself = left[0] < MOVE_MILLIS / 2 and left[1] > LONG_MILLIS / 2 and len(reached[0]) > 1
    if long < 2 or (long <= short and not by_itself):
        raise Finding(
            f"stays at depth {long}",
            (
                f"{depths_reached} It had {left[0]:.0f} and {left[1]:.0f} ms left.",
                "Iterative deepening searches at depth 1, then 2, then 3 and so on until the time "
                "runs out, and returns the move of the last finished depth.",
                f"The check passes if the search is deeper in {LONG_MILLIS:g} ms than in "
                f"{MOVE_MILLIS:g}, or if it deepens until it has used most of the {MOVE_MILLIS:g} "
                "ms and then stops by a limit of its own.",
            ),
            "a greater depth with more time",
            f"depth {short}, then depth {long}",
            EARLY,
            code="stays",
        )
    if len(reached[1]) < 2 or min(reached[0]) > 2:
        raise Finding(
            "starts at too great a depth",
            (
                depths_reached,
                f"But its first search was {reached[0][0]} plies deep. A search that starts deep "
                "may have no answer when the time runs out. Start with depth 1.",
            ),
            "depth 1, then 2, then 3",
            f"depths {', '.join(map(str, reached[1]))}",
            EARLY,
            mark="warning",
        )
    if long <= short:
        return f"{short} plies ahead in {MOVE_MILLIS:g} ms, then stops by a limit of its own"
    return f"{short} plies ahead in {MOVE_MILLIS:g} ms, {long} in {LONG_MILLIS:g}"


# -- lost positions ----------------------------------------------------------------------------


def plays_on(subject: Subject, kinds: list[Kind]) -> str:
    """Check that `get_move` still moves where every move loses; warn if it resigns."""
    given_up: dict[Kind, tuple[Place, Any]] = {}
    for kind, place in product(kinds, LOST):
        answer = _in_lost_position(subject, kind, place)
        if kind not in given_up and not is_move(answer, _legal(place)):
            given_up[kind] = place, answer
    if not given_up:
        return "still moves where every move loses"
    shown_place, shown_answer = next(iter(given_up.values()))
    why = [
        "Every move loses here against best play, but the opponent may err. Called with "
        "improved_score, the tournament's first score:"
    ]
    for kind, (place, answer) in given_up.items():
        where = "" if place is shown_place else f" in {place.fen}, which is also lost"
        why.append(
            f"{subject.named(kind, 'get_move')} answers {shown(answer)}{where}: a forfeit, though "
            "there are legal moves."
        )
        line = subject.source_of(partial(_in_lost_position, subject, kind, place), answer)
        why += source_sentence(line, answer)
        if is_move(_in_lost_position(subject, kind, place, worst=-1e6), _legal(place)):
            why.append(
                "If a lost game counts -1,000,000 instead of -inf, it moves: it takes only a move "
                "with a value above -inf. Start with any legal move as the answer, for instance "
                "the first."
            )
    why.append(
        "Most of the course's agents did this, and it cost them games: the deeper they searched, "
        "the more often they resigned to opponents that had not seen the win. docs/studies gives "
        'the numbers, under "What they really measured".'
    )
    raise Finding(
        "resigns where every line it sees loses",
        tuple(why),
        " or ".join(map(str, _legal(shown_place))),
        shown(shown_answer),
        shown_place,
        mark="warning",
    )


def _legal(place: Place) -> list[Cell]:
    moves: list[Cell] = place.board("reference").get_legal_moves()
    return moves


def _in_lost_position(subject: Subject, kind: Kind, place: Place, worst: float = -inf) -> Any:
    """Return the answer of `get_move` in a lost position, with a loss valued at `worst`."""
    millis = LONG_MILLIS if kind == "minimax" else MOVE_MILLIS
    return ask_move(subject, kind, place, millis, worst=worst)[0]
