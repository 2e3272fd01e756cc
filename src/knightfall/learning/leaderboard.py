"""Ask agents the same won positions, and rank them by how often they keep the win.

The positions are test positions of a set that ``learn data`` made.  In each one the side to move
has a real choice: some of its moves win and some lose.  Every agent gets each position as if it
began a game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from knightfall.agents import Agent, cache_agent, cached_agent, parse_agent
from knightfall.agents.remote_player import player as ready_player
from knightfall.arena.snapshot import run_snapshot
from knightfall.board import Board
from knightfall.display.numbers import count, interval, percent
from knightfall.display.progress import OnProgress, progress_or_callback
from knightfall.display.report import Displayable, Heading, Part, legend
from knightfall.display.table import Table
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, in_order, parallel_map
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.learning import data
from knightfall.learning.shard_builder import position_of
from knightfall.oracle.grade import WinsKept, wins_kept_by_kind
from knightfall.oracle.graded_games import Decision, Record
from knightfall.position import Position
from knightfall.solver.solve import Solver
from knightfall.statistics.rates import wilson

POSITIONS = 1000
CHUNK = 50
"""Positions in one call of the map."""


@dataclass(frozen=True, slots=True)
class WonPosition:
    """A position that the side to move wins with some of its moves only."""

    position: Position
    family: int
    """The class of the opening of its game; positions of one class resemble each other."""
    ply: int
    winning: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """How often an agent kept the win: overall, by role and by phase."""

    agent: str
    wins_kept: dict[str, WinsKept]

    def to_dict(self) -> dict[str, Any]:
        """Return the rates with their intervals as JSON values."""
        rates = {}
        for name, row in self.wins_kept.items():
            low, high = kept_interval(row)
            rates[name] = {
                "kept": row.kept.count, "of": row.kept.of, "rate": row.kept.rate,
                "low": low, "high": high, "at_random": row.chance,
            }  # fmt: skip
        return {"agent": self.agent, "keeps": rates}


def kept_interval(row: WinsKept) -> tuple[float, float]:
    """Return the 95 % interval of a rate of wins kept.

    Positions from one class of openings are related, so Wilson's interval is computed for the
    number of independent positions that would give the same standard error, if that is smaller.
    """
    rate, of = row.kept.rate or 0.0, float(row.kept.of)
    if row.error:
        of = min(of, rate * (1 - rate) / row.error**2)
    return wilson(rate, of)


@dataclass(frozen=True, repr=False)
class Leaderboard(Displayable):
    """The scores of agents on the same positions, the best first."""

    board: str
    positions: int
    seed: int
    scores: tuple[Score, ...]
    waiting: int = 0
    """Agents that were not asked, because Ctrl-C came before."""
    edited: tuple[str, ...] = field(default=())
    """Sentences on the agents' files that were edited meanwhile."""

    def parts(self) -> Iterator[Part]:
        """Yield the number of positions and the table of rates."""
        board = self.board.replace("x", "×")
        yield Heading(f"Wins kept in {count(self.positions, 'position')} on {board}")
        yield (
            "Each position is won for the side to move, and some of its moves lose. Per cent of "
            "positions in which the agent chose a winning move, with 95 % intervals."
        )
        yield ""
        yield self.table()
        yield ""
        yield legend("hunter", "runner")
        if self.waiting:
            yield f"INTERRUPTED: {count(self.waiting, 'agent')} not asked."
        yield from self.edited

    def table(self) -> Table:
        """Return the table of all agents, with a last row for random moves."""
        names = tuple(self.scores[0].wins_kept) if self.scores else ("overall",)
        titles = ["", "agent"]
        for name in names:
            titles += [name, "95 %"]
        table = Table(titles, labels=2)
        for place, score in enumerate(self.scores, start=1):
            cells = []
            for name in names:
                row = score.wins_kept[name]
                cells += [percent(row.kept.rate), interval(*kept_interval(row), unit=" %")]
            table.add(str(place), score.agent, *cells)
        if self.scores:
            chances = [self.scores[0].wins_kept[name].chance for name in names]
            table.add("", "at random", *(text for one in chances for text in (percent(one), "")))
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as JSON values."""
        return {
            "board": self.board,
            "positions": self.positions,
            "seed": self.seed,
            "scores": [score.to_dict() for score in self.scores],
            "not_asked": self.waiting,
            "edited": list(self.edited),
        }


def built_in_agents() -> list[str]:
    """Return an agent of each kind, and iterative deepening with each published heuristic.

    Their budgets are nodes and depths, so that the scores repeat.
    """
    from knightfall.heuristics.registry import REGISTRY, USER

    heuristics = [
        id
        for id, row in REGISTRY.items()
        if not row.parameter and ":" not in id and row.study != USER
    ]
    return [
        "random",
        "greedy(open)",
        "greedy(improved)",
        "minimax(improved, depth=3)",
        "alphabeta(improved, depth=5)",
        *(f"id({id}, nodes=2500)" for id in heuristics),
        "id(learned_net, nodes=50000)",
        "champion(nodes=50000)",
        "perfect(nodes=3000000)",
    ]


def leaderboard(
    folder: str | Path,
    agents: Sequence[str] = (),
    *,
    board: str = "7x7",
    positions: int = POSITIONS,
    seed: int = 0,
    options: RunnerOptions = DEFAULT,
    progress: bool | OnProgress = True,
) -> Leaderboard:
    """Ask agents, by default the `built_in_agents`, won positions of a set; return their scores.

    `seed` draws the positions from the test split of the set; a smaller number gives the first ones
    of a larger number.  Ctrl-C ends the work and returns the scores of the agents that are done.
    """
    enable_keyboard_interrupt()
    options.check()
    asked = won_positions(folder, board, positions, seed, options)
    chunks = _chunks(asked)
    scores: list[Score] = []
    with run_snapshot() as taken:
        # All files are copied before any of them is loaded.
        playing = {
            text: cached_agent(taken.agent(cache_agent(parse_agent(text).absolute())))
            for text in dict.fromkeys(agents or built_in_agents())
        }
        work = [(agent, chunk) for agent in playing.values() for chunk in chunks]
        answers = parallel_map(
            partial(_asker, Board.named(board)),
            work,
            options,
            describe=lambda item: f"the positions asked of {item[0].name}",
        )
        ordered = in_order(answers)
        try:
            with progress_or_callback(progress, "positions", len(playing) * len(asked)) as tell:
                for done, text in enumerate(playing):
                    records: list[Record] = []
                    for _ in chunks:
                        records += next(ordered)
                        tell(done * len(asked) + len(records))
                    scores.append(Score(text, wins_kept_by_kind(records)))
        except KeyboardInterrupt:
            if not scores:
                raise
        finally:
            answers.close()
        edited = taken.edited()
    waiting = len(playing) - len(scores)
    scores.sort(key=lambda score: -(score.wins_kept["overall"].kept.rate or 0.0))
    return Leaderboard(
        Board.named(board).text, len(asked), seed, tuple(scores), waiting, tuple(edited)
    )


def won_positions(
    folder: str | Path, board: str, number: int, seed: int, options: RunnerOptions = DEFAULT
) -> list[WonPosition]:
    """Draw test positions that the side to move wins with some of its moves only."""
    name = Board.named(board).text
    found = data.read(folder, "test", name)
    found = found.where(found.wins == 1)
    order = np.random.default_rng(seed).permutation(len(found))
    rows = [
        (name, (int(found.open[at]), int(found.mover[at]), int(found.waiter[at])),
         int(found.opening[at]), int(found.ply[at]) + 1)
        for at in order
    ]  # fmt: skip
    drawn: list[WonPosition] = []
    judged = parallel_map(_judge, _chunks(rows), options, describe=lambda _: "the exact winner")
    for positions in in_order(judged):
        drawn += positions
        if len(drawn) >= number:
            judged.close()
            return drawn[:number]
    raise KnightfallError(
        f"positions={number}: the test split of {str(folder)!r} has {len(drawn)} won positions on "
        f"{name} with a real choice; make a larger set with knightfall learn data"
    )


Item = TypeVar("Item")


def _chunks(items: Sequence[Item]) -> list[Sequence[Item]]:
    return [items[at : at + CHUNK] for at in range(0, len(items), CHUNK)]


Row = tuple[str, tuple[int, int, int], int, int]
"""The board of a position, its packed words, the class of its opening, and the next ply."""


def _judge() -> Callable[[Sequence[Row]], list[WonPosition]]:
    """Return a function that finds the winning moves of positions and keeps the real choices."""
    solvers: dict[str, Solver] = {}

    def judge(rows: Sequence[Row]) -> list[WonPosition]:
        found = []
        for name, words, family, ply in rows:
            board = Board.named(name)
            if name not in solvers:
                solvers[name] = Solver.of(board)
            position = position_of(board, words)
            winning = tuple(solvers[name].winning_moves(position))
            if 0 < len(winning) < len(position.legal_moves):
                found.append(WonPosition(position, family, ply, winning))
        return found

    return judge


def _asker(board: Board) -> Callable[[tuple[Agent, Sequence[WonPosition]]], list[Record]]:
    """Return a function that asks an agent for its moves, and records what they gave away."""
    players: dict[str, Any] = {}

    def ask(item: tuple[Agent, Sequence[WonPosition]]) -> list[Record]:
        agent, asked = item
        key = str(agent)
        if key not in players:
            players.clear()  # a worker asks one agent after the other
            players[key] = ready_player(agent, board)
        return [_record(players[key], one) for one in asked]

    return ask


def _record(player: Any, asked: WonPosition) -> Record:
    """Ask for one move; a player that resigns or answers too late has not kept the win."""
    if isinstance(player, Agent):
        player = player.for_game(asked.position.board)
    try:
        move = player.analyse(asked.position).move
    except AgentFailure as failure:
        if failure.reason == "crash":
            raise
        move = None
    decision = Decision.of(asked.position, asked.ply, move, asked.winning)
    return Record((0, asked.family), (decision,))
