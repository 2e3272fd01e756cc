"""Checks of a submission for the successor course's 11×9 game: `CustomPlayer.get_action`.

Each move is asked in a fork, as in a game, and timed in method calls on states, so the results do
not depend on the machine's load.  A player need not deepen nor take a win in one: those checks give
only warnings.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from knightfall.course.checker.check_report import Finding
from knightfall.course.checker.submission_api import Subject, error_text, shown
from knightfall.course.generation_successor import DebugState, Isolation
from knightfall.course.successor_moves import Put, all_puts

MOVE_MILLIS, LONG_MILLIS, QUICK_MILLIS = 150.0, 900.0, 30.0
SILENT = 3.0
"""Multiple of the limit, in processor time, after which a player that stops calling the state is
killed."""

PLIES = (0, 1, 2, 9, 24, 41)
"""Numbers of plies after which random games are tested for legal actions."""

SLOW = 40
"""Multiple of the limit within which a late player must put an action."""

NEAR = 6
"""Number of positions near the end of the game that are tested."""


@dataclass(frozen=True)
class Place:
    """A position of the 11×9 game that a finding shows."""

    state: Isolation

    @property
    def picture(self) -> str:
        """Return the board as the course draws it, with a line that explains the symbols."""
        you = DebugState.player_symbols[self.state.player()]
        drawn = str(DebugState.from_state(self.state)).strip("\n")
        return f"{drawn}\nYou are {you} and to move; X is a blocked cell."

    @property
    def fen(self) -> str:
        """Return the position as a Python expression, because 11×9 has no FEN."""
        return f"Isolation{tuple(self.state)}"


# -- positions ---------------------------------------------------------------------------------


def random_state(plies: int) -> Isolation:
    """Return a position `plies` plies into a random game that is not over."""
    seed = 0
    while True:
        drawn, state = random.Random(f"{plies}/{seed}"), Isolation()
        while state.ply_count < plies and not (state.ply_count > 1 and state.terminal_test()):
            state = state.result(drawn.choice(state.actions()))
        if state.ply_count == plies and (plies < 2 or not state.terminal_test()):
            return state
        seed += 1000


def last_states(number: int) -> list[Isolation]:
    """Return positions in which some action wins at once, from random games."""
    found: list[Isolation] = []
    seed = 0
    while len(found) < number:
        drawn, state = random.Random(f"end/{seed}"), Isolation()
        seed += 1
        while state.ply_count < 2 or not state.terminal_test():
            before, state = state, state.result(drawn.choice(state.actions()))
        if _winning(before):
            found.append(before)
    return found


def _winning(state: Isolation) -> list[Any]:
    """Return the actions that win at once."""
    me = state.player()
    return [action for action in state.actions() if state.result(action).utility(me) > 0]


# -- asking the player -------------------------------------------------------------------------


def _player_class(subject: Subject) -> Any:
    made = getattr(subject.module, "CustomPlayer", None)
    if not isinstance(made, type):
        raise Finding(
            "there is no class CustomPlayer",
            ("The course's run_match.py imports CustomPlayer from my_custom_player.py.",),
        )
    return made


def _made(subject: Subject, seat: int) -> Any:
    return subject.call(lambda: _player_class(subject)(player_id=seat), "CustomPlayer(player_id)")


class _Deepest:
    """Records the greatest number of plies that a player looks ahead from a position."""

    def __init__(self, state: Isolation) -> None:
        self._start = state.ply_count
        self.plies = 0

    def begin(self) -> None:
        """Record all calls of `Isolation.result` in this process from now on."""
        random.seed(self._start)
        result: Callable[..., Isolation] = Isolation.result

        def watched(state: Isolation, action: int) -> Isolation:
            after = result(state, action)
            self.plies = max(self.plies, after.ply_count - self._start)
            return after

        Isolation.result = watched  # type: ignore[assignment, method-assign]


def _asked(
    subject: Subject, player: Any, state: Isolation, millis: float, *, silent: float = SILENT
) -> list[Put]:
    """Return the actions that a player queues in time; `note` is the depth searched before each."""
    watch, place = _Deepest(state), Place(state)
    puts, wrong = all_puts(
        player,
        state,
        millis,
        partial(_described, subject),
        begin=watch.begin,
        note=lambda: watch.plies,
        counted=True,
        silent=silent,
    )
    if wrong:
        error, *trace = wrong.split("\n")
        after = " after it has put an action, which counts" if puts else ""
        raise Finding(
            f"raises {error.partition(':')[0]}",
            (f"get_action raises {error}{after}.",),
            place=place,
            trace=tuple(trace),
            mark="warning" if puts else "wrong",
        )
    if not puts:
        longer = all_puts(
            player, state, SLOW * millis, partial(_described, subject), counted=True, silent=0.5
        )[0]
        quick = "On a fast machine it may be in time, on a slow one not. " if longer else ""
        raise Finding(
            "puts its action late" if longer else "puts no action",
            (
                f"get_action put nothing into self.queue in {millis:g} ms, counted as "
                f"{millis / 0.015:,.0f} method calls on the state. {quick}Put some legal "
                "action at once, and better ones as you find them: the last one counts.",
            ),
            "self.queue.put(action)",
            "nothing",
            place,
            mark="warning" if longer else "wrong",
        )
    _check_legal(puts[-1].action, state)
    for put in puts[:-1]:
        _check_legal(put.action, state, last=False)
    return puts


def _check_legal(action: Any, state: Isolation, *, last: bool = True) -> None:
    """Raise a `Finding` if an action is illegal: an error if it is the `last`, else a warning."""
    legal = state.actions()
    try:
        if action in legal:
            return
    except Exception as error:  # the action's own == may raise
        action = error
    what = "the number of an open cell" if state.ply_count < 2 else "one of state.actions()"
    raise Finding(
        f"puts {shown(action)}",
        (f"Every action put into the queue must be {what}.",),
        ", ".join(map(shown, legal[:8])) + (", …" if len(legal) > 8 else ""),
        shown(action),
        Place(state),
        mark="wrong" if last else "warning",
    )


def _described(subject: Subject, error: BaseException) -> str:
    """Return an error and the submission's lines in its traceback, one per line."""
    return "\n".join([error_text(error).replace("\n", " "), *subject.trace(error)])


# -- checks ------------------------------------------------------------------------------------


def has_player(subject: Subject) -> str:
    """Check that `CustomPlayer(player_id=…)` works and has `get_action(state)`."""
    made = _player_class(subject)
    action = getattr(made, "get_action", None)
    if not callable(action):
        raise Finding(
            "CustomPlayer has no method get_action",
            ("The course calls get_action(state), which puts actions into self.queue.",),
        )
    try:
        inspect.signature(action).bind("self", "state")
    except TypeError:
        raise Finding(
            "get_action cannot be called as get_action(state)",
            ("The course calls get_action(state), with no other argument.",),
        ) from None
    _made(subject, 0)
    return "CustomPlayer(player_id) with get_action(state)"


def puts_legal_actions(subject: Subject) -> str:
    """Check that the player queues legal actions in time, as first and as second player."""
    for plies in PLIES:
        state = random_state(plies)
        _asked(subject, _made(subject, state.player()), state, MOVE_MILLIS)
    return f"in time, in {len(PLIES)} positions from the empty board on"


def sees_the_end(subject: Subject) -> str:
    """Check positions in which some action wins at once; warn if the win is missed."""
    missed = []
    states = last_states(NEAR)
    for state in states:
        put = _asked(subject, _made(subject, state.player()), state, MOVE_MILLIS)[-1]
        if put.action not in _winning(state):
            missed.append((state, put.action))
    if not missed:
        return f"wins in one move in {NEAR} of {NEAR} positions"
    state, action = missed[0]
    raise Finding(
        f"misses a win in one move in {len(missed)} of {NEAR} positions",
        (
            "One action here leaves the opponent without a move. A search finds it at depth 1 if "
            "it calls state.terminal_test() and state.utility(self.player_id).",
        ),
        " or ".join(map(shown, _winning(state))),
        shown(action),
        Place(state),
        mark="warning",
    )


def plays_games(subject: Subject) -> str:
    """Check that whole games against random moves are played to the end from both seats."""
    moves = 0
    for seat in (0, 1):
        drawn, state = random.Random(f"game/{seat}"), Isolation()
        player = _made(subject, seat)
        while state.ply_count < 2 or not state.terminal_test():
            if state.player() == seat:
                player.context, action, _ = _asked(
                    subject, player, state, QUICK_MILLIS, silent=1.0
                )[-1]
                moves += 1
            else:
                action = drawn.choice(state.actions())
            state = state.result(action)
    return f"{moves} moves in a game from each seat"


def looks_further(subject: Subject) -> str:
    """Warn if the player does not look ahead, or neither deepens nor queues several actions."""
    state = random_state(PLIES[3])
    reached, puts = [], 0
    for millis in (MOVE_MILLIS, LONG_MILLIS):
        player = _made(subject, state.player())
        found = _asked(subject, player, state, millis, silent=1.0)
        reached.append(max(put.note for put in found))
        puts = max(puts, len(found))
    short, long = reached
    said = f"{short} plies ahead in {MOVE_MILLIS:g} ms, {long} in {LONG_MILLIS:g}"
    if long > short or (long and puts > 1):
        return said
    raise Finding(
        "searches no deeper with more time" if long else "does not look ahead with state.result()",
        (
            f"By counted time it put {puts} action{'s' if puts != 1 else ''}, at most {said}. "
            "Iterative deepening puts the best action of depth 1, then of depth 2, and so on, "
            "until its time is over; StopSearch ends it.",
        ),
        "a greater depth with more time",
        f"depth {short}, then depth {long}",
        Place(state),
        mark="warning",
    )
