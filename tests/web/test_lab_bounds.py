"""Tests of the lab's description of itself and of the size limit of requests, without a server."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from knightfall.heuristics import REGISTRY
from knightfall.web.lab import agent_pool, api, jobs, schemas
from knightfall.web.lab import lab as tabs
from knightfall.web.lab.guard import MOST_BYTES, Guard
from knightfall.web.lab.server import Address


def test_the_lab_lists_every_heuristic_that_needs_no_argument() -> None:
    lab: Any = SimpleNamespace(id="here", store="/tmp/there.sqlite")
    told = asyncio.run(api.about(lab, SimpleNamespace(), {}))  # type: ignore[arg-type]
    assert told["heuristics"] == [id for id, row in REGISTRY.items() if not row.parameter]
    assert "improved" in told["heuristics"]
    assert any(row.parameter for row in REGISTRY.values())
    assert (told["server"], told["store"]) == ("here", "/tmp/there.sqlite")
    assert told["limits"] == {
        "runs": jobs.AT_ONCE,
        "searches": tabs.SEARCHES,
        "seconds": agent_pool.SECONDS,
        "grace": tabs.GRACE,
        "agents": schemas.MOST_AGENTS,
        "pairs": schemas.MOST_PAIRS,
    }


def answered(length: str) -> tuple[int, bool]:
    """Return the status for a Content-Length, and whether the request reached the application."""
    sent: list[Any] = []
    passed: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(True)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        raise AssertionError("the body of a request that is too long was read")

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:80"), (b"content-length", length.encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    guard = Guard(app, Address("127.0.0.1", 80), "token")
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], bool(passed)


@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("0", 200),
        (str(1 << 16), 200),
        (str((1 << 16) + 1), 413),
        ("9" * 19, 413),
    ],
)
def test_a_request_that_announces_too_much_is_refused_before_it_is_read(
    length: str, status: int
) -> None:
    assert MOST_BYTES == 1 << 16
    assert answered(length) == (status, status == 200)
