"""Questions about positions: bounded for each tab, and ended when nobody waits for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request

from knightfall.position import Position
from knightfall.web.lab.guard import CLIENT, Refused
from knightfall.web.lab.lab import Lab
from knightfall.web.lab.names import agent_named, heuristic_named
from knightfall.web.lab.tabs import checked_name


def tab_of(request: Request) -> str | None:
    """The tab that a request comes from, if it says so."""
    return checked_name(request.headers.get(CLIENT))


async def choose(lab: Lab, request: Request, asked: dict[str, Any]) -> Any:
    """See `openapi`."""
    agent = agent_named(asked["agent"], lab.library.paths)
    position, version = Position.from_fen(asked["fen"]), lab.library.version(agent.files)
    if agent.remembers_game:
        version += f" {tab_of(request)}"

    def think() -> Awaitable[Any]:
        return lab.thinkers.choose(agent, version, position, asked["seed"])

    return await _while_wanted(lab, request, think)


async def opinions(lab: Lab, request: Request, asked: dict[str, Any]) -> Any:
    """See `openapi`."""
    position = Position.from_fen(asked["fen"])
    agents = {text: heuristic_named(text, lab.library.paths) for text in asked["heuristics"]}

    async def all_of_them() -> Any:
        return {
            text: await lab.thinkers.opinions(one, lab.library.version(one.files), position)
            for text, one in agents.items()
        }

    found = await _while_wanted(lab, request, all_of_them)
    return {"moves": list(position.legal_moves), "opinions": found}


async def _while_wanted(lab: Lab, request: Request, think: Callable[[], Awaitable[Any]]) -> Any:
    """The answer to a search, which ends if nobody waits for it any more."""

    async def search() -> Any:
        with lab.tabs.searching(tab_of(request) or "nobody"):
            return await think()

    searching = asyncio.ensure_future(search())
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({searching, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not searching.done():
            searching.cancel()
    try:
        return await searching
    except asyncio.CancelledError:
        raise Refused(409, "the search was ended: its page is gone") from None


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
