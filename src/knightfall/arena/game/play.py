"""One game, one pair.

Agents that are nothing but a search with a node or depth budget play whole games in compiled code
(`knightfall.search.game_loop`); all others are asked move by move.  Both ways give the same record.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol, runtime_checkable

from knightfall.agents import Agent, known_agent
from knightfall.arena.game.compiled import Searcher, play_compiled, searcher
from knightfall.arena.game.limits import in_time
from knightfall.arena.game.records import GameRecord, PairRecord, PairTask, Reason, game_record
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError, RunnerFailure
from knightfall.machine import ENOUGH, wait_for_core
from knightfall.position import Position, Side, other
from knightfall.search.budget import Report

REPLAYS = 3
"""Times that a game is played again in which an agent was late because it had no core."""

BUSY_PATIENCE = 30.0
"""Seconds to wait for a core before a submission's game by the wall clock is refused."""


class MoveSource(Protocol):
    """Whoever can be asked for a move."""

    def prepare(self, board: Board) -> object:
        """Get ready for a game on a board, before the clock runs."""

    def analyse(self, position: Position) -> Report:
        """The move; an `AgentFailure` if there is none."""


@runtime_checkable
class _ForOneGame(Protocol):
    """A player in a process of its own, which has its time taken there."""

    def over(self) -> None:
        """Let go what was there for that game."""


def seated(text: str, seed: int) -> Agent:
    """The agent of a string, with the pair's seed unless it brings its own."""
    agent = known_agent(text)
    return replace(agent, seed=agent.seed or seed)


def play_pair(task: PairTask, ask: Callable[[Agent], MoveSource] | None = None) -> PairRecord:
    """Play both games of a pair, in this process.

    `ask` gives the player to be asked in an agent's place: one that runs elsewhere, for agents
    that may hang or die.
    """
    first, second = (_one_game(task, game, ask) for game in (0, 1))
    return PairRecord(task, (first, second))


def _one_game(task: PairTask, game: int, ask: Callable[[Agent], MoveSource] | None) -> GameRecord:
    if ask is None:
        a, b = searcher(task.a), searcher(task.b)
        if a is not None and b is not None:
            both: dict[Side, Searcher] = {"w": a, "b": b} if game == 0 else {"w": b, "b": a}
            return play_compiled(both, task.opening, task.seed)
    seats = {side: seated(text, task.seed) for side, text in task.seats(game).items()}
    opening = Position.from_fen(task.opening)
    for replay in range(REPLAYS + 1):
        for agent in seats.values():
            if agent.needs_core:
                need_core(agent)
        players = {side: ask(agent) if ask else agent for side, agent in seats.items()}
        limits = {
            side: None if isinstance(players[side], _ForOneGame) else agent.budget.seconds
            for side, agent in seats.items()
        }
        try:
            return play_asking(players, limits, opening, forgiving=replay < REPLAYS)
        except AgentFailure:
            continue
        finally:
            for player in players.values():
                if isinstance(player, _ForOneGame):
                    player.over()
    raise AssertionError("the last game is not forgiven")


def need_core(agent: Agent) -> None:
    """Wait for a core; raise a `RunnerFailure` if other processes do not leave one."""
    share = wait_for_core(BUSY_PATIENCE)
    if share < ENOUGH:
        raise RunnerFailure(
            f"{agent.name} plays by the wall clock, and other processes left it {100 * share:.0f} "
            f"% of a core for {BUSY_PATIENCE:g} s: play on an idle machine, or with clock ticks"
        )


def play_asking(
    players: dict[Side, MoveSource],
    limits: dict[Side, float | None],
    opening: Position,
    *,
    forgiving: bool = False,
) -> GameRecord:
    """Play a game in which each move is asked for; an agent that exceeds its limit loses.

    If `forgiving`, raise the `AgentFailure` of an agent that exceeded its limit for want of a core.
    """
    for side, player in players.items():
        if limits[side] is not None:
            with suppress(KnightfallError):  # whoever cannot get ready will fail when asked
                player.prepare(opening.board)
    position = opening
    rows: list[tuple[int, Report]] = []
    while position.winner is None:
        side = position.to_move
        try:
            report = _ask(players[side], position, limits[side])
            position = position.play(report.move)
        except AgentFailure as failure:
            if forgiving and failure.starved and limits[side] is not None:
                raise
            return _record(rows, side, failure.reason, str(failure))
        except KnightfallError as error:  # a user's heuristic that raised an error
            return _record(rows, side, "crash", str(error))
        rows.append((position.board.cell(report.move), report))
    return _record(rows, other(position.winner), "no moves")


def _ask(player: MoveSource, position: Position, limit: float | None) -> Report:
    """Return a player's move; raise an `AgentFailure` if it took longer than its limit.

    A search in this process stops by the clock.  While others have the processor, it cannot: so it
    is late only if it also computed for longer than its limit.
    """
    if not isinstance(player, Agent):
        return in_time(player.analyse(position), limit)
    before = time.process_time()
    report = player.analyse(position)
    return in_time(report, limit, computed=time.process_time() - before)


def _record(
    rows: list[tuple[int, Report]], loser: Side, reason: Reason, detail: str = ""
) -> GameRecord:
    reports = [report for _, report in rows]
    return game_record(
        other(loser),
        reason,
        cells=[cell for cell, _ in rows],
        scores=[report.score for report in reports],
        depths=[report.depth for report in reports],
        nodes=[report.nodes for report in reports],
        seconds=[report.seconds for report in reports],
        detail=detail,
    )
