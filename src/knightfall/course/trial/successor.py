"""The successor's tournament: a submission for 11×9 against that course's own players.

Its board has 99 cells, which no store and no solver here can hold, so that these games are played,
counted and told, and nothing more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from knightfall.agents import Agent
from knightfall.arena.game.agent_process import Hosted
from knightfall.course import sample_players_successor as samples
from knightfall.course.reference import Reference
from knightfall.course.submission import Submission
from knightfall.course.successor import Isolation
from knightfall.course.trial.plan import TIME
from knightfall.display.numbers import count, interval, percent
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

Ask = Callable[[Isolation], int]


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
) -> SuccessorReport:
    """Play so many pairs against each opponent, from random placements, under its own rules."""
    for name in opponents:
        if name not in OPPONENTS:
            raise KnightfallError(
                f"the successor has no opponent {name!r}{nearest(name, OPPONENTS)} "
                f"(there are {', '.join(OPPONENTS)})"
            )
    agent = Agent("course", str(reference), Budget(time=time))
    report = SuccessorReport(found)
    try:
        for name in opponents or OPPONENTS:
            games = report.played[name] = [0, 0]
            for number in range(2 * (pairs or PAIRS)):
                drawn = random.Random(f"{seed}/{number // 2}")
                start = _opening(drawn)
                seat, one = number % 2, 1 + drawn.randrange(2**30)
                detail = _game(replace(agent, seed=one), OPPONENTS[name], start, seat)
                games[detail is not None] += 1
                if detail:
                    report.lost_by[detail[0]] += 1
                    report.first.setdefault(*detail)
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


def _game(
    agent: Agent, opponent: Callable[[int], Any], state: Isolation, seat: int
) -> tuple[()] | tuple[str, str] | None:
    """None if the submission wins; else what it lost by, and more of that: nothing on the board."""
    host, other = Hosted(agent), opponent(1 - seat)
    random.seed(agent.seed)
    try:
        host.prepare()
        while not state.terminal_test():
            if state.player() == seat:
                board, ply, locs = state
                state = state.result(host.act((board, ply, locs)))
            else:
                other.queue = _Last()
                other.get_action(state)
                state = state.result(other.queue.action)
        return None if state.utility(seat) > 0 else ()
    except AgentFailure as failure:
        return failure.reason, str(failure)
    finally:
        host.close()


class _Last:
    """A queue that keeps what was put last."""

    action: Any = None

    def put(self, action: Any) -> None:
        """Put an action."""
        self.action = action
