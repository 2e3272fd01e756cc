"""Moves and opinions, thought of in processes of their own: agents may hang, crash or lie there.

They are the processes of `knightfall.agents.remote_player`.  A few are kept, so that the next
question to the same agent is answered in a millisecond.  A position that goes on with the game of
one of them is asked there; any other begins a game, with a fresh state.
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
"""The longest that anybody may think about a position."""

LATE = 1.0
"""Seconds beyond its own time that an agent may take: nothing is at stake here."""

STARTING = 60.0
"""Seconds in which an agent must be loaded, compiled and ready."""

KEPT = 6
"""Processes that are kept for the next question."""

SIDES = 2
"""Processes of one agent that are kept in their games: it may play either side of one."""

STEPS = 20_000_000
"""Steps that a costly heuristic may spend on one position."""

Answer = TypeVar("Answer")


class Thinkers:
    """Whoever is asked about positions."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self._hands = ThreadPoolExecutor(8, "knightfall-ask")

    async def choose(self, agent: Agent, version: str, position: Position, seed: int) -> Any:
        """An agent's move with all that it says of it."""
        if not position.legal_moves:
            raise KnightfallError(f"there is no move in {position.fen!r}: the game is over")
        seed = agent.seed or seed

        own = agent.budget.seconds
        if own is not None and own > SECONDS:
            raise KnightfallError(
                f"{agent.name} thinks too long: here it has {SECONDS:g} s at most"
            )
        limit = SECONDS
        if own is not None and agent.has_users_code:  # a search of ours stops by itself
            limit = min(SECONDS, own + LATE)

        def ask(child: AgentProcess) -> dict[str, Any]:
            child.prepare_board(position.board)
            return asdict(child.analyse(position, seed, limit))

        report = await self._ask(agent, version, ask, (position, seed))
        return {**report, "score": for_json(report["score"]), "note": printable(report["note"])}

    async def opinions(self, asked: Agent, version: str, position: Position) -> dict[str, Any]:
        """What a heuristic says of each legal move, for the side that makes it."""
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
        """Ask the agent's process; it ends if it fails, takes too long, or nobody waits for it.

        `move` is the position that it is asked to move in, with the seed.
        """
        text = str(replace(agent, seed=0))
        key = f"{text}\n{version}"
        asked = self._take(key, move) or await self._start(agent, text)
        well = False
        try:
            await asyncio.wait_for(self._in_thread(asked.begin), STARTING)
            answer = await asyncio.wait_for(self._in_thread(lambda: ask(asked)), SECONDS + 5)
            well = True
        except AgentFailure as failure:
            well = asked.told_of(failure) or failure.reason in RECOVERABLE
            raise
        except TimeoutError:
            raise KnightfallError(f"{text} did not answer in time") from None
        finally:
            self._give_back(key, asked, well)
        return answer

    async def _start(self, agent: Agent, text: str) -> AgentProcess:
        try:
            return await self._in_thread(lambda: _started(agent, text))
        except OSError as error:
            raise KnightfallError(str(error)) from None

    # -- processes -------------------------------------------------------------------------

    def _take(self, key: str, move: tuple[Position, int] | None = None) -> AgentProcess | None:
        """Take a process out of those kept: the one whose game the move belongs to, or the oldest.

        None if there is none, or fewer than an agent may need for the sides of a game.
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

    def _give_back(self, key: str, child: AgentProcess, well: bool) -> None:
        if not well:
            self._hands.submit(child.end)
            return
        self._kept.setdefault(key, []).append(child)
        self._kept.move_to_end(key)
        while sum(len(some) for some in self._kept.values()) > KEPT:
            oldest = next(iter(self._kept))
            unused = self._take(oldest)
            if unused is not None:
                self._hands.submit(unused.end)

    def _in_thread(self, work: Callable[[], Answer]) -> asyncio.Future[Answer]:
        return asyncio.get_running_loop().run_in_executor(self._hands, work)

    def end(self) -> None:
        """End all processes."""
        for child in [child for some in self._kept.values() for child in some]:
            child.end()
        self._kept.clear()
        self._hands.shutdown(wait=False, cancel_futures=True)


def _started(agent: Agent, text: str) -> AgentProcess:
    return AgentProcess(text, beside=agent.beside)
