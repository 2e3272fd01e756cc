"""Moves and values of heuristics, computed in other processes because agents may hang or crash.

The processes are those of `knightfall.agents.remote_player`.  A few idle ones are kept, so that the
next request for the same agent takes a millisecond.  A position that continues the game of a kept
process is sent to that process; any other position begins a game, with a fresh state.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any, TypeVar

from knightfall.agents import Agent
from knightfall.agents.remote_player import RECOVERABLE, AgentProcess
from knightfall.display.numbers import for_json
from knightfall.display.printable import printable
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position

SECONDS = 10.0
"""Most seconds that an agent may search a position."""

LATE = 1.0
"""Seconds by which an agent may exceed its own time limit; no game is at stake here."""

STARTING = 60.0
"""Seconds in which an agent must be loaded, compiled and ready."""

KEPT = 6
"""Most idle processes that are kept for the next request."""

SIDES = 2
"""Idle processes of one agent that keep the state of a game: the agent may play both sides."""

STEPS = 20_000_000
"""Steps that a costly heuristic may spend on one position."""

Answer = TypeVar("Answer")


class AgentPool:
    """The processes that compute agents' moves and values of heuristics."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self._executor = ThreadPoolExecutor(8, "knightfall-ask")

    async def choose(self, agent: Agent, version: str, position: Position, seed: int) -> Any:
        """Return an agent's move with the report of its search."""
        if not position.legal_moves:
            raise KnightfallError(f"there is no move in {position.fen!r}: the game is over")
        seed = agent.seed or seed
        own = agent.budget.seconds
        if own is not None and own > SECONDS:
            raise KnightfallError(
                f"{agent.name} takes {own:g} s for a move: the lab allows at most {SECONDS:g} s"
            )
        limit = SECONDS
        if own is not None and agent.has_users_code:  # built-in searches stop by themselves
            limit = min(SECONDS, own + LATE)

        def ask(child: AgentProcess) -> dict[str, Any]:
            child.prepare_board(position.board)
            return asdict(child.analyse(position, seed, limit))

        report = await self._ask(agent, version, ask, (position, seed))
        return {**report, "score": for_json(report["score"]), "note": printable(report["note"])}

    async def opinions(self, asked: Agent, version: str, position: Position) -> dict[str, Any]:
        """Return a heuristic's value of each legal move, for the side that makes it."""
        moves = position.legal_moves if position.placed else ()
        mover = position.to_move

        def ask(child: AgentProcess) -> dict[str, float | str]:
            child.prepare_board(position.board)
            values = {
                move: child.measure(position.play(move), mover, STEPS, SECONDS)[0] for move in moves
            }
            return {move: for_json(value) for move, value in values.items()}

        return await self._ask(asked, version, ask) if moves else {}

    async def _ask(
        self,
        agent: Agent,
        version: str,
        ask: Callable[[AgentProcess], Answer],
        move: tuple[Position, int] | None = None,
    ) -> Answer:
        """Call `ask` with the agent's process; end the process on failure, timeout or cancellation.

        `move` is the position to move in and the seed; None if no move is asked for.
        """
        text = str(replace(agent, seed=0))
        key = f"{text}\n{version}"
        asked = self._take(key, move) or await self._start(agent, text)
        reusable = False
        try:
            await asyncio.wait_for(self._in_thread(asked.begin), STARTING)
            answer = await asyncio.wait_for(self._in_thread(lambda: ask(asked)), SECONDS + 5)
            reusable = True
        except AgentFailure as failure:
            reusable = asked.reported(failure) or failure.reason in RECOVERABLE
            raise
        except TimeoutError:
            raise KnightfallError(f"{text} did not answer in time") from None
        finally:
            self._release(key, asked, reusable)
        return answer

    async def _start(self, agent: Agent, text: str) -> AgentProcess:
        try:
            return await self._in_thread(lambda: AgentProcess(text, beside=agent.beside))
        except OSError as error:
            raise KnightfallError(str(error)) from None

    # -- processes -------------------------------------------------------------------------

    def _take(self, key: str, move: tuple[Position, int] | None = None) -> AgentProcess | None:
        """Take an idle process: the one whose game the move continues, else the oldest that fits.

        Return None if a new process should be started: none fits, or fewer are idle than an agent
        needs to play both sides of a game.
        """
        found = self._kept.get(key, [])
        chosen = found[:1]
        if move is not None:
            chosen = [child for child in found if child.plays(*move)]
            if not chosen and len(found) >= SIDES:
                chosen = [child for child in found if child.can_play(*move)]
        if not chosen:
            return None
        found.remove(chosen[0])
        if not found:
            del self._kept[key]
        return chosen[0]

    def _release(self, key: str, child: AgentProcess, reusable: bool) -> None:
        """Keep a process for the next request if it is reusable, else end it."""
        if not reusable:
            self._executor.submit(child.end)
            return
        self._kept.setdefault(key, []).append(child)
        self._kept.move_to_end(key)
        while sum(len(some) for some in self._kept.values()) > KEPT:
            oldest = next(iter(self._kept))
            unused = self._take(oldest)
            if unused is not None:
                self._executor.submit(unused.end)

    def _in_thread(self, work: Callable[[], Answer]) -> asyncio.Future[Answer]:
        return asyncio.get_running_loop().run_in_executor(self._executor, work)

    def end(self) -> None:
        """End all processes."""
        for child in [child for some in self._kept.values() for child in some]:
            child.end()
        self._kept.clear()
        self._executor.shutdown(wait=False, cancel_futures=True)
