"""The successor's tournament: a submission for 11×9 against that course's own players.

Opponents may also be other submissions, and searches of ours in plain Python.  Its board has 99
cells, which no store and no solver here can hold, so that these games are played, counted and told,
and nothing more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from knightfall.agents import Agent, parse_agent
from knightfall.arena.game.agent_process import Hosted
from knightfall.course import sample_players_successor as samples
from knightfall.course.reference import Reference, parse_reference
from knightfall.course.submission import Submission, checked
from knightfall.course.successor import Isolation
from knightfall.course.successor_search import SCORES, Search
from knightfall.course.trial.plan import TIME
from knightfall.display.numbers import count, interval, percent
from knightfall.display.progress import progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import AgentFailure, KnightfallError, nearest
from knightfall.search.budget import Budget
from knightfall.statistics.rates import Share

OPPONENTS: dict[str, Callable[[int], Any]] = {
    "Random": samples.RandomPlayer,
    "Greedy": samples.GreedyPlayer,
    "Minimax": samples.MinimaxPlayer,
}
PAIRS = 10


class Player(Protocol):
    """Whoever plays one game."""

    def act(self, state: Isolation) -> int:
        """What to do; an `AgentFailure` costs the game."""

    def close(self) -> None:
        """The game is over."""


Seat = Callable[[int, int], Player]
"""A player for a seat and a game's seed."""


@dataclass
class SuccessorReport(Displayable):
    """A submission's games on 11×9."""

    submission: Submission
    played: dict[str, list[int]] = field(default_factory=dict)
    """By opponent, the games won and lost."""
    lost_by: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        found = self.submission
        yield Heading(f"{found.file.parent.name}/{found.file.name}")
        yield f"generation successor: {found.why}; 11×9, by the wall clock, one game at a time"
        yield ""
        won, lost = (sum(games[at] for games in self.played.values()) for at in (0, 1))
        share = Share(won, won + lost)
        table = Table(
            ["Opponent", "Won | Lost"], align="center", footer=["Win rate", percent(share.rate)]
        )
        for name, games in self.played.items():
            table.add(name, f"{games[0]:>3} | {games[1]:<4}")
        yield table
        yield ""
        yield f"95 % interval {interval(*share.interval)} %, over {count(won + lost, 'game')}"
        for reason, times in self.lost_by.items():
            yield f"lost by {reason}: {times} (first: {self.first[reason]})"
        if self.interrupted:
            yield "interrupted: these games are not kept"

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        return {
            "file": str(self.submission.file),
            "generation": "successor",
            "table": self.played,
            "lost_by": {
                reason: {"games": games, "first": self.first[reason]}
                for reason, games in self.lost_by.items()
            },
            "interrupted": self.interrupted,
        }


def successor_trial(
    reference: Reference,
    found: Submission,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int = TIME,
    seed: int = 0,
    show: bool = False,
) -> SuccessorReport:
    """Play so many pairs against each opponent, from random placements, under its own rules."""
    against = {name: _opponent(name, time) for name in opponents or OPPONENTS}
    us = _submission(reference, time)
    report = SuccessorReport(found)
    games = 2 * (pairs or PAIRS)
    try:
        with progress("games", games * len(against), after=0.0 if show else 1e9) as tell:
            for name, them in against.items():
                table = report.played[name] = [0, 0]
                for number in range(games):
                    drawn = random.Random(f"{seed}/{number // 2}")
                    start = _opening(drawn)
                    seats = (us, them) if number % 2 == 0 else (them, us)
                    loser, *told = play(start, seats, 1 + drawn.randrange(2**30))
                    lost = loser == number % 2
                    table[lost] += 1
                    if lost and told:
                        report.lost_by[told[0]] += 1
                        report.first.setdefault(*told)
                    tell(tell.done + 1)
    except KeyboardInterrupt:
        report.interrupted = True
    return report


def _opening(drawn: random.Random) -> Isolation:
    """Both knights placed at random, where either can move."""
    while True:
        state = Isolation()
        for _ in range(2):
            state = state.result(drawn.choice(state.actions()))
        if not state.terminal_test():
            return state


def play(
    state: Isolation, seats: tuple[Seat, Seat], seed: int
) -> tuple[int] | tuple[int, str, str]:
    """Who loses a game; and by what, and more of that, unless it is on the board."""
    random.seed(seed)
    players = seats[0](0, seed), seats[1](1, seed)
    try:
        while not state.terminal_test():
            mover = state.player()
            try:
                state = state.result(players[mover].act(state))
            except AgentFailure as failure:
                return mover, failure.reason, str(failure)
        return (0 if state.utility(0) < 0 else 1,)
    finally:
        for player in players:
            player.close()


# -- who plays -------------------------------------------------------------------------------


def _opponent(name: str, time: int) -> Seat:
    """One of the course's, another submission, or a search of ours."""
    if name in OPPONENTS:
        return lambda seat, seed: _Sample(OPPONENTS[name](seat))
    try:
        agent = parse_agent(name)
    except KnightfallError:
        raise KnightfallError(
            f"the successor has no opponent {name!r}{nearest(name, OPPONENTS)} (there are "
            f"{', '.join(OPPONENTS)}, course:PATH of another submission for 11×9, and "
            "minimax(SCORE, depth=3), alphabeta(SCORE, depth=5) and id(SCORE, time=150ms) with "
            f"{', '.join(SCORES)})"
        ) from None
    if agent.kind == "course":
        reference = parse_reference(agent.heuristic).absolute()
        if checked(reference).generation != "successor":
            raise KnightfallError(f"{name} is no submission for 11×9")
        return _submission(reference, agent.budget.time or time)
    if agent.kind not in ("minimax", "alphabeta", "id") or agent.heuristic not in SCORES:
        raise KnightfallError(
            f"{name!r} does not play on 11×9: minimax, alphabeta and id do, with "
            f"{', '.join(SCORES)}"
        )
    if agent.kind == "id":
        # What is left of the time is for the move itself.
        seconds = 0.95 * (agent.budget.time or time) / 1e6
        return lambda seat, seed: _Search(Search(SCORES[agent.heuristic], seconds=seconds))
    depth, prunes = agent.budget.depth, agent.kind == "alphabeta"
    return lambda seat, seed: _Search(Search(SCORES[agent.heuristic], depth, prunes=prunes))


def _submission(reference: Reference, time: int) -> Seat:
    agent = Agent("course", str(reference), Budget(time=time))
    return lambda seat, seed: _Hosted(replace(agent, seed=seed))


class _Hosted:
    """A submission, in a process of its own for each game."""

    def __init__(self, agent: Agent) -> None:
        self._host = Hosted(agent)
        self._ready = False

    def act(self, state: Isolation) -> int:
        """See `Player`."""
        if not self._ready:
            self._host.prepare()
            self._ready = True
        board, ply, locs = state
        action = self._host.act((board, ply, locs))
        if action not in state.actions():
            raise AgentFailure("illegal", f"{action} is no legal action")
        return action

    def close(self) -> None:
        """See `Player`."""
        self._host.close()


class _Sample:
    """A player of the course's, in this process: it is ours."""

    def __init__(self, player: Any) -> None:
        self._player = player

    def act(self, state: Isolation) -> int:
        """See `Player`."""
        self._player.queue = self
        self._player.get_action(state)
        return int(self._action)

    def put(self, action: Any) -> None:
        """What the player does with its answers: the last one counts."""
        self._action = action

    def close(self) -> None:
        """See `Player`."""


class _Search:
    def __init__(self, search: Search) -> None:
        self._search = search

    def act(self, state: Isolation) -> int:
        """See `Player`."""
        return int(self._search.action(state))

    def close(self) -> None:
        """See `Player`."""
