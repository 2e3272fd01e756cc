"""Games of the successor on 11×9: who plays them, from which openings, and what comes of them.

A player is a string: one of the course's samples by its name, a submission (``course(…)``), or a
search of ours in plain Python, since compiled ones have 64 cells.  A game is a value, so any
process can play it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any, Protocol

from knightfall.agents import Agent, cached_agent, parse_agent, time_control
from knightfall.agents.kinds import DeepeningAgent, FixedDepthAgent, MinimaxAgent
from knightfall.arena.play import REPLAYS, need_core
from knightfall.course import generation_successor as samples
from knightfall.course.agent import CourseAgent, RemoteSubmission
from knightfall.course.generation_successor import _HEIGHT, _ROW, _WIDTH, Isolation
from knightfall.course.submission import checked, parse_reference
from knightfall.errors import AgentFailure, KnightfallError, nearest
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, on_all_cores, parallel_map
from knightfall.machine import ENOUGH, core_share

# -- our searches ------------------------------------------------------------------------------


SURE = 1000.0
"""What a win is worth less the plies that it takes, so that the shortest is the best."""

MIDDLE = (_WIDTH - 1) / 2, (_HEIGHT - 1) / 2

Score = Callable[[Isolation, int], float]


def _open(state: Isolation, me: int) -> float:
    return len(state.liberties(state.locs[me]))


def _improved(state: Isolation, me: int) -> float:
    return _open(state, me) - _open(state, 1 - me)


def _center(state: Isolation, me: int) -> float:
    """Squared distance from the middle: far scores high, as the course has it."""
    row, column = divmod(state.locs[me] or 0, _ROW)
    return (column - MIDDLE[0]) ** 2 + (row - MIDDLE[1]) ** 2


SCORES: dict[str, Score] = {
    "null": lambda state, me: 0.0,
    "open": _open,
    "improved": _improved,
    "center": _center,
}
"""What these searches can judge a position by."""


class _Late(Exception):
    """The budget is spent."""


class SuccessorSearch:
    """Alpha-beta to a depth, or deeper and deeper until some seconds or nodes are spent.

    Without `prunes` it is plain minimax, which finds the same values.
    """

    def __init__(
        self,
        score: Score,
        depth: int | None = None,
        seconds: float | None = None,
        most_nodes: int | None = None,
        *,
        prunes: bool = True,
    ) -> None:
        self._score, self._depth, self._seconds = score, depth, seconds
        self._prunes = prunes
        self._most_nodes = inf if most_nodes is None else most_nodes
        self._until = inf
        self.nodes = 0

    def action(self, state: Isolation) -> Any:
        """The first of the best actions."""
        self.nodes, self._until = 0, inf
        if self._depth is not None and self._most_nodes == inf:
            return self._best(state, self._depth, state.actions())[1]
        if self._seconds is not None:
            self._until = perf_counter() + self._seconds
        order = state.actions()
        best = order[0]
        try:
            for depth in range(1, 1 + (self._depth or _WIDTH * _HEIGHT)):
                value, best = self._best(state, depth, order)
                if abs(value) > SURE / 2:
                    break
                order.sort(key=lambda action: action != best)
        except _Late:
            pass
        return best

    def _best(self, state: Isolation, depth: int, order: list[Any]) -> tuple[float, Any]:
        best, choice = -inf, order[0]
        for action in order:
            value = -self._value(state.result(action), depth - 1, -inf, -best)
            if value > best:
                best, choice = value, action
        return best, choice

    def _value(self, state: Isolation, depth: int, alpha: float, beta: float) -> float:
        """What a position is worth to the player to move."""
        self.nodes += 1
        if self.nodes > self._most_nodes or perf_counter() > self._until:
            raise _Late
        me = state.player()
        if state.terminal_test():
            return (SURE - state.ply_count) * (1 if state.utility(me) > 0 else -1)
        if depth <= 0:
            return self._score(state, me)
        best = -inf
        for action in state.actions():
            best = max(best, -self._value(state.result(action), depth - 1, -beta, -alpha))
            if self._prunes:
                alpha = max(alpha, best)
                if alpha >= beta:
                    break
        return best


# -- games -------------------------------------------------------------------------------------


SAMPLES: dict[str, type[samples.BasePlayer]] = {
    "Random": samples.RandomPlayer,
    "Greedy": samples.GreedyPlayer,
    "Minimax": samples.MinimaxPlayer,
}

FEW_GAMES = 8
"""Games up to which it does not pay to start processes."""


@dataclass(frozen=True, slots=True)
class SuccessorGame:
    """Two players by their strings, the first to move first, and where their game begins."""

    first: str
    second: str
    opening: int
    seed: int = 0

    @property
    def start(self) -> tuple[Isolation, int]:
        """Return the position in which both knights are placed and can move, and a seed."""
        drawn = random.Random(f"{self.seed}/{self.opening}")
        while True:
            state = Isolation()
            for _ in range(2):
                state = state.result(drawn.choice(state.actions()))
            if not state.terminal_test():
                return state, 1 + drawn.randrange(2**30)


@dataclass(frozen=True, slots=True)
class Result:
    """Who lost a game, 0 or 1, and by what, unless it was on the board."""

    loser: int
    reason: str = ""
    detail: str = ""


def both_seats(a: str, b: str, pairs: int, seed: int) -> list[SuccessorGame]:
    """Return the games of so many pairs: each opening twice, with `a` first and then with `b`."""
    return [
        SuccessorGame(*((a, b) if game == 0 else (b, a)), opening, seed)
        for opening in range(pairs)
        for game in (0, 1)
    ]


def play_all(
    games: Sequence[SuccessorGame], options: RunnerOptions = DEFAULT
) -> Iterator[tuple[int, Result]]:
    """Yield the result of each game with its number, as they come to their end.

    Games by the wall clock are played one at a time, in this process.
    """
    timed = any(_by_wall(text) for game in games for text in (game.first, game.second))
    here = timed or (options == DEFAULT and len(games) <= FEW_GAMES)
    yield from parallel_map(
        _player_of_games,
        games,
        DEFAULT if here else on_all_cores(options),
        describe=lambda game: f"the game of {game.first} and {game.second}",
    )


def _player_of_games() -> Callable[[SuccessorGame], Result]:
    """Return the function that plays a game: to find it, a worker imports what it needs."""
    return play


def play(game: SuccessorGame) -> Result:
    """Play a game; once more if a player was late on a busy machine."""
    by_wall = [text for text in (game.first, game.second) if _by_wall(text)]
    for _ in range(REPLAYS):
        for text in by_wall:
            if isinstance(cached_agent(text), CourseAgent):
                need_core(cached_agent(text))
        result = _played(game)
        if not by_wall or result.reason != "timeout" or core_share() >= ENOUGH:
            return result
    return _played(game)


def _by_wall(text: str) -> bool:
    found = time_control(text)
    return found is not None and found.clock == "wall"


def _played(game: SuccessorGame) -> Result:
    with _one_at_a_time:
        return _play_out(game)


_one_at_a_time = threading.Lock()
"""Held during a game: the course's samples draw from the random numbers of the whole process."""


def _play_out(game: SuccessorGame) -> Result:
    state, seed = game.start
    random.seed(seed)
    players = [_player(text, seat, seed) for seat, text in enumerate((game.first, game.second))]
    try:
        while not state.terminal_test():
            mover = state.player()
            try:
                state = state.result(players[mover].act(state))
            except AgentFailure as failure:
                return Result(mover, failure.reason, str(failure))
        return Result(0 if state.utility(0) < 0 else 1)
    finally:
        for player in players:
            player.close()


# -- who plays -------------------------------------------------------------------------------


def entered(name: str) -> str:
    """Return a player's string in full; raise a `KnightfallError` if it cannot play on 11×9."""
    if name in SAMPLES:
        return name
    try:
        agent = parse_agent(name)
    except KnightfallError:
        raise KnightfallError(
            f"the successor has no opponent {name!r}{nearest(name, SAMPLES)} (there are "
            f"{', '.join(SAMPLES)}, course:PATH of another submission for 11×9, and "
            "minimax(SCORE, depth=3), alphabeta(SCORE, depth=5) and id(SCORE, nodes=2500) with "
            f"{', '.join(SCORES)})"
        ) from None
    if isinstance(agent, CourseAgent):
        if not checked(parse_reference(agent.heuristic)).generation.on_11x9:
            raise KnightfallError(f"{name} is no submission for 11×9")
    elif not isinstance(agent, FixedDepthAgent | DeepeningAgent) or agent.heuristic not in SCORES:
        raise KnightfallError(
            f"{name!r} does not play on 11×9: minimax, alphabeta and id do, with "
            f"{', '.join(SCORES)}"
        )
    return str(agent.absolute())


class SuccessorPlayer(Protocol):
    """One that plays one game."""

    def act(self, state: Isolation) -> int:
        """Return the action; raise an `AgentFailure` that costs the game."""

    def close(self) -> None:
        """End what was there for this game."""


def _player(text: str, seat: int, seed: int) -> SuccessorPlayer:
    if text in SAMPLES:
        return _Sample(SAMPLES[text](seat))
    agent = cached_agent(text)
    if isinstance(agent, CourseAgent):
        return _Submission(replace(agent, seed=seed))
    score, budget = SCORES[agent.heuristic], agent.budget
    prunes = not isinstance(agent, MinimaxAgent)
    # What is left of the time is for the move itself.
    seconds = None if budget.seconds is None else 0.95 * budget.seconds
    return _Search(SuccessorSearch(score, budget.depth, seconds, budget.nodes, prunes=prunes))


class _Submission:
    """A submission, in a process of its own for each game."""

    def __init__(self, agent: Agent) -> None:
        self._host = RemoteSubmission(agent)
        self._ready = False

    def act(self, state: Isolation) -> int:
        """See `SuccessorPlayer`."""
        if not self._ready:
            self._host.prepare()
            self._ready = True
        board, ply, locs = state
        action = self._host.act((board, ply, locs))
        if action not in state.actions():
            raise AgentFailure("illegal", f"{action} is no legal action")
        return action

    def close(self) -> None:
        """See `SuccessorPlayer`."""
        self._host.close()


class _Sample:
    """A player of the course's, in this process: it is ours."""

    def __init__(self, player: samples.BasePlayer) -> None:
        self._player = player

    def act(self, state: Isolation) -> int:
        """See `SuccessorPlayer`."""
        self._player.queue = self
        self._player.get_action(state)
        return int(self._action)

    def put(self, action: Any) -> None:
        """Take an answer of the player; the last one counts."""
        self._action = action

    def close(self) -> None:
        """See `SuccessorPlayer`."""


class _Search:
    def __init__(self, search: SuccessorSearch) -> None:
        self._search = search

    def act(self, state: Isolation) -> int:
        """See `SuccessorPlayer`."""
        return int(self._search.action(state))

    def close(self) -> None:
        """See `SuccessorPlayer`."""
