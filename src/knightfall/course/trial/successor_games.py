"""The successor's games on 11×9: players, openings, results, and a submission's tournament.

A player is a string: the name of one of the course's sample players, a submission (``course(…)``),
or one of the searches below, which are plain Python because compiled searches support at most 64
cells.  A game is a value, so any process can play it.  Neither the store nor the solver supports
boards of 99 cells, so the games of the tournament are only counted.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from knightfall.agents import cached_agent, parse_agent, time_control
from knightfall.agents.kinds import DeepeningAgent, FixedDepthAgent, MinimaxAgent
from knightfall.arena.play import REPLAYS, require_core
from knightfall.arena.results import no_verdict, too_late
from knightfall.arena.snapshot import as_played, run_snapshot
from knightfall.course import generation_successor as samples
from knightfall.course.agent import TIME, CourseAgent, RemoteSubmission, course_agent
from knightfall.course.generation_successor import _HEIGHT, _ROW, _WIDTH, Isolation
from knightfall.course.submission import Reference, Submission, checked, parse_reference
from knightfall.course.trial.game_judging import count_loss
from knightfall.display.numbers import count, interval, percent
from knightfall.display.progress import progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import AgentFailure, KnightfallError, nearest
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, on_all_cores, parallel_map
from knightfall.processor_cores import ENOUGH, core_share
from knightfall.statistics.rates import Share
from knightfall.user_files import original_paths

# -- searches in plain Python ------------------------------------------------------------------


SURE = 1000.0
"""The value of a win before its length in plies is subtracted: a shorter win is worth more."""

MIDDLE = (_WIDTH - 1) / 2, (_HEIGHT - 1) / 2

Score = Callable[[Isolation, int], float]


def _open(state: Isolation, me: int) -> float:
    return len(state.liberties(state.locs[me]))


def _improved(state: Isolation, me: int) -> float:
    return _open(state, me) - _open(state, 1 - me)


def _center(state: Isolation, me: int) -> float:
    """Return the squared distance from the centre; far away scores high, as in the course."""
    row, column = divmod(state.locs[me] or 0, _ROW)
    return (column - MIDDLE[0]) ** 2 + (row - MIDDLE[1]) ** 2


SCORES: dict[str, Score] = {
    "null": lambda state, me: 0.0,
    "open": _open,
    "improved": _improved,
    "center": _center,
}
"""The scores that these searches can use, by name."""


class _Late(Exception):
    """Raised when the time or node budget is spent."""


class SuccessorSearch:
    """Alpha-beta with a fixed depth, or iterative deepening within `seconds` or `most_nodes`.

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
        """Return the first of the best actions."""
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
        """Return the value of a position for the player to move."""
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
"""Number of games up to which starting processes does not pay."""


@dataclass(frozen=True, slots=True)
class SuccessorGame:
    """A game to be played: its players as strings, such as ``course:PATH``, and its opening."""

    first: str
    second: str
    opening: int
    seed: int = 0

    @property
    def start(self) -> tuple[Isolation, int]:
        """Return a random start position in which both knights can move, and a random seed."""
        drawn = random.Random(f"{self.seed}/{self.opening}")
        while True:
            state = Isolation()
            for _ in range(2):
                state = state.result(drawn.choice(state.actions()))
            if not state.terminal_test():
                return state, 1 + drawn.randrange(2**30)


@dataclass(frozen=True, slots=True)
class Result:
    """The loser of a game, 0 or 1; `reason` and `detail` are empty if it was played to its end."""

    loser: int
    reason: str = ""
    detail: str = ""


def both_seats(a: str, b: str, pairs: int, seed: int) -> list[SuccessorGame]:
    """Return the games of `pairs` pairs: each opening twice, first with `a` to move, then `b`."""
    return [
        SuccessorGame(*((a, b) if game == 0 else (b, a)), opening, seed)
        for opening in range(pairs)
        for game in (0, 1)
    ]


def play_all(
    games: Sequence[SuccessorGame], options: RunnerOptions = DEFAULT
) -> Iterator[tuple[int, Result]]:
    """Yield (number, result) of each game when it ends, in any order.

    Games by the wall clock are played one at a time, in this process.
    """
    games = [
        replace(game, first=_as_played(game.first), second=_as_played(game.second))
        for game in games
    ]
    timed = any(_by_wall(text) for game in games for text in (game.first, game.second))
    here = timed or (options == DEFAULT and len(games) <= FEW_GAMES)
    for number, result in parallel_map(
        _player_of_games,
        games,
        DEFAULT if here else on_all_cores(options),
        describe=lambda game: original_paths(f"the game of {game.first} and {game.second}"),
    ):
        yield number, replace(result, detail=original_paths(result.detail))


def _as_played(text: str) -> str:
    """Return a player's string that names the copies of the run under way, if there is one."""
    return text if text in SAMPLES else as_played(text)


def _player_of_games() -> Callable[[SuccessorGame], Result]:
    """Return `play`: the setup function that `parallel_map` calls once in each worker."""
    return play


def play(game: SuccessorGame) -> Result:
    """Play a game; play it again if a player was late while the machine was busy."""
    by_wall = [text for text in (game.first, game.second) if _by_wall(text)]
    for _ in range(REPLAYS):
        for text in by_wall:
            if isinstance(cached_agent(text), CourseAgent):
                require_core(cached_agent(text))
        result = _played(game)
        if not by_wall or result.reason != "timeout" or core_share() >= ENOUGH:
            return result
    return _played(game)


def _by_wall(text: str) -> bool:
    found = time_control(text)
    return found is not None and found.clock == "wall"


_one_at_a_time = threading.Lock()
"""Held during a game, because the sample players use Python's global random numbers."""


def _played(game: SuccessorGame) -> Result:
    state, seed = game.start
    with _one_at_a_time, ExitStack() as stack:
        random.seed(seed)
        players = [
            _player(text, seat, seed, stack) for seat, text in enumerate((game.first, game.second))
        ]
        while not state.terminal_test():
            mover = state.player()
            try:
                state = state.result(players[mover](state))
            except AgentFailure as failure:
                return Result(mover, failure.reason, str(failure))
    return Result(0 if state.utility(0) < 0 else 1)


# -- players -----------------------------------------------------------------------------------


def entered(name: str) -> str:
    """Check that a player plays on 11×9; return its string with absolute paths.

    Raise `KnightfallError` if the player is unknown or plays on 7×7.
    """
    if name in SAMPLES:
        return name
    try:
        agent = parse_agent(name)
    except KnightfallError:
        raise KnightfallError(
            f"unknown opponent {name!r} on 11×9{nearest(name, SAMPLES)} (accepted: "
            f"{', '.join(SAMPLES)}, course:PATH of another submission for 11×9, and "
            "minimax(SCORE, depth=3), alphabeta(SCORE, depth=5) or id(SCORE, nodes=2500) with the "
            f"scores {', '.join(SCORES)})"
        ) from None
    if isinstance(agent, CourseAgent):
        if not checked(parse_reference(agent.heuristic)).generation.on_11x9:
            raise KnightfallError(f"{name} is a submission for 7×7, not for 11×9")
    elif not isinstance(agent, FixedDepthAgent | DeepeningAgent) or agent.heuristic not in SCORES:
        raise KnightfallError(
            f"{name!r} does not play on 11×9: only minimax, alphabeta and id do, with the scores "
            f"{', '.join(SCORES)}"
        )
    return str(agent.absolute())


Act = Callable[[Isolation], int]
"""Returns a player's action in a position; raises an `AgentFailure` that loses the game."""


def _player(text: str, seat: int, seed: int, game: ExitStack) -> Act:
    """Return the function that chooses a player's moves.

    A submission plays in a process of its own; its game ends when the stack `game` is closed.
    """
    if text in SAMPLES:
        return _sample(SAMPLES[text](seat))
    agent = cached_agent(text)
    if isinstance(agent, CourseAgent):
        host = RemoteSubmission(replace(agent, seed=seed))
        game.callback(host.end_game)
        return partial(_ask_submission, host)
    # The search gets 95 % of the time; the rest is for everything around it.
    seconds = None if agent.budget.seconds is None else 0.95 * agent.budget.seconds
    search = SuccessorSearch(
        SCORES[agent.heuristic],
        agent.budget.depth,
        seconds,
        agent.budget.nodes,
        prunes=not isinstance(agent, MinimaxAgent),
    )
    return lambda state: int(search.action(state))


def _ask_submission(host: RemoteSubmission, state: Isolation) -> int:
    """Return a submission's action; the first call waits until its process has loaded it."""
    board, ply, locs = state
    action = host.act((board, ply, locs))
    if action not in state.actions():
        raise AgentFailure("illegal", f"{action} is no legal action")
    return action


def _sample(player: samples.BasePlayer) -> Act:
    """Return the function that runs a sample player in this process and returns its action."""
    player.queue = SimpleQueue()

    def act(state: Isolation) -> int:
        player.get_action(state)
        return int(player.queue.get())

    return act


PAIRS = 10

CLOCKS = {
    True: "each method call on the state costs 0.015 ms, so the result repeats exactly",
    False: "by the wall clock, one game at a time",
}
"""The description of the clock, by whether time is counted in ticks."""


@dataclass(repr=False)
class SuccessorReport(Displayable):
    """The results of a submission's games on 11×9."""

    submission: Submission
    player: str
    """The name of the class that played."""
    counted: bool = True
    played: dict[str, list[int]] = field(default_factory=dict)
    """By opponent, the numbers of games won and lost."""
    lost_by: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For timeouts, illegal answers and crashes: how many games were lost, and the first detail."""
    interrupted: bool = False
    edited: list[str] = field(default_factory=list)
    """Sentences on the files that were edited during the games."""

    @property
    def games(self) -> int:
        """Return the number of games played."""
        return sum(map(sum, self.played.values()))

    @property
    def nothing_measured(self) -> str:
        """Return a sentence if each game was lost by timeout, illegal answer or crash, else ""."""
        if not self.games or sum(games for games, _ in self.lost_by.values()) < self.games:
            return ""
        return f"Every game was lost by {' or '.join(self.lost_by)}: nothing was measured."

    @property
    def no_verdict(self) -> str:
        """Return why there is no verdict: too many games lost to the wall clock; else ""."""
        late = self.lost_by.get("timeout", (0, ""))[0]
        if self.counted or not too_late(late, self.games):
            return ""
        said = f"{self.player} lost {late:,} of {count(self.games, 'game')} to the clock"
        return no_verdict([said], ticks=True)

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        found = self.submission
        yield Heading(f"{found.file.parent.name}/{found.file.name}")
        yield f"generation {found.generation}: {found.why}; 11×9, {CLOCKS[self.counted]}"
        yield from found.choice(self.player)
        yield ""
        won = sum(games[0] for games in self.played.values())
        share = Share(won, self.games)
        table = Table(
            ["Opponent", "Won | Lost"], align="center", footer=["Win rate", percent(share.rate)]
        )
        for name, games in self.played.items():
            table.add(name, f"{games[0]:>3} | {games[1]:<4}")
        yield table
        yield ""
        for reason, (times, first) in self.lost_by.items():
            yield f"lost by {reason}: {times} (first: {first})"
        span = interval(*share.interval, unit=" %")
        rate = f"95 % interval {span}, over {count(self.games, 'game')}"
        yield self.nothing_measured or self.no_verdict or rate
        if self.interrupted:
            yield "interrupted: these games are not stored"
        yield from self.edited

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        return {
            "file": str(self.submission.file),
            "generation": self.submission.generation.name,
            "player": self.player,
            "clock": "ticks" if self.counted else "wall",
            "table": self.played,
            "lost_by": {
                reason: {"games": games, "first": first}
                for reason, (games, first) in self.lost_by.items()
            },
            "nothing_measured": bool(self.nothing_measured),
            "no_verdict": self.no_verdict,
            "interrupted": self.interrupted,
            "edited": self.edited,
        }


def successor_trial(
    reference: Reference,
    found: Submission,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int = TIME,
    counted: bool = True,
    seed: int = 0,
    options: RunnerOptions = DEFAULT,
    show: bool = False,
) -> SuccessorReport:
    """Play `pairs` pairs of games against each opponent, from random placements."""
    us = str(course_agent(reference.absolute(), time, counted))
    against = {name: entered(name) for name in opponents or SAMPLES}
    report = SuccessorReport(found, reference.name or found.default, counted)
    report.played = {name: [0, 0] for name in against}
    games = {name: both_seats(us, them, pairs or PAIRS, seed) for name, them in against.items()}
    places = [(name, number % 2) for name in games for number in range(len(games[name]))]
    unusual: dict[int, tuple[str, str]] = {}
    try:
        with (
            run_snapshot() as taken,
            progress("games", len(places), after=0.0 if show else 1e9) as tell,
        ):
            every = [game for some in games.values() for game in some]
            for number, result in play_all(every, options):
                name, seat = places[number]
                lost = result.loser == seat
                report.played[name][lost] += 1
                if lost and result.reason:
                    unusual[number] = result.reason, result.detail
                tell(tell.done + 1)
            report.edited = taken.edited()
    except KeyboardInterrupt:
        report.interrupted = True
    for _, (reason, detail) in sorted(unusual.items()):  # results come in any order
        count_loss(report.lost_by, reason, detail)
    return report
