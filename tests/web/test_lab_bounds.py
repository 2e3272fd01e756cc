"""Tests of the lab's description of itself and of the size limit of requests, without a server."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

import knightfall as kf
from knightfall.agents import parse_agent
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.web.lab import agent_pool, api, jobs, openapi
from knightfall.web.lab import lab_state as tabs
from knightfall.web.lab.guard import MOST_BYTES, Guard, RequestRefused
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
        "agents": openapi.MOST_AGENTS,
        "pairs": openapi.MOST_PAIRS,
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


def served(guard: Guard, path: str, headers: dict[str, str], query: str = "") -> list[Any]:
    """Return what a guard sends for a request; the application's answer has the status 200."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    coded = [(k.encode(), v.encode()) for k, v in {"host": "127.0.0.1:80", **headers}.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": coded}
    asyncio.run(guard({**scope, "query_string": query.encode()}, receive, send))
    return sent


def test_a_lab_with_a_key_is_served_only_to_who_has_it() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(app, Address("127.0.0.1", 80), "token", "secret")
    for path in ("/", "/page.js", "/api/state", "/openapi.json"):
        for headers in ({}, {"cookie": "knightfall-80=other"}, {"cookie": "knightfall-81=secret"}):
            for query in ("", "key=", "key=secre", "key=secret2"):
                assert served(guard, path, headers, query)[0]["status"] == 403, (path, query)
    assert served(guard, "/api/state", {}, "key=secret")[0]["status"] == 403
    opened = served(guard, "/", {}, "key=secret")[0]
    given = dict(opened["headers"])
    assert (opened["status"], given[b"location"]) == (303, b"/")
    cookie, *attributes = given[b"set-cookie"].decode().split("; ")
    assert {"SameSite=Strict", "HttpOnly"} <= set(attributes)
    for path in ("/", "/page.js", "/api/state"):
        assert served(guard, path, {"cookie": f"a=b; {cookie}"})[0]["status"] == 200
    # Without a key, every user of this machine can read the page.
    assert served(Guard(app, Address("127.0.0.1", 80), "token"), "/", {})[0]["status"] == 200


def test_streams_beyond_the_limit_are_answered_with_429() -> None:
    """Open all streams at the same time, before any of them has sent its first byte."""

    async def opened() -> list[int]:
        lab: Any = SimpleNamespace(tabs=tabs.Tabs(), events=tabs.EventStream(lambda: {"a": 1}))
        begun = asyncio.Event()
        statuses: list[int] = []

        async def receive() -> Any:
            await begun.wait()
            return {"type": "http.disconnect"}

        async def one(number: int) -> None:
            async def send(message: Any) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])
                await asyncio.sleep(0)

            response = await api.events(lab, SimpleNamespace(), {"client": f"tab{number}"})  # type: ignore[arg-type]
            await asyncio.sleep(0)
            try:
                await response({"type": "http"}, receive, send)
            except RequestRefused as refused:
                statuses.append(refused.status)

        asked = [asyncio.create_task(one(number)) for number in range(tabs.MOST_STREAMS + 6)]
        while len(statuses) < len(asked):
            await asyncio.sleep(0)
        begun.set()
        await asyncio.wait(asked)
        assert lab.tabs.watching == 0
        return statuses

    statuses = asyncio.run(opened())
    assert statuses.count(200) == tabs.MOST_STREAMS
    assert statuses.count(429) == 6


def test_the_description_says_how_the_token_is_sent() -> None:
    told = openapi.description("1")
    scheme = {"type": "apiKey", "in": "header", "name": "x-knightfall-token"}
    assert told["components"]["securitySchemes"] == {"token": scheme}
    for path in told["paths"].values():
        for method, operation in path.items():
            assert operation.get("security") == (None if method == "get" else [{"token": []}])


@pytest.mark.parametrize(
    ("handler", "asked", "stored", "spec", "names"),
    [
        (
            api.resume_grading,
            {"grading": 3},
            {
                "agent": "random",
                "grading": {"name": "Ada", "board": "5x5", "openings": 12, "seed": 7},
            },
            {"kind": "grading", "grading": 3, "agent": "random", "board": "5x5"}
            | {"openings": 12, "seed": 7},
            ["Ada"],
        ),
        (
            api.resume,
            {"run": 4},
            {"kind": "league", "entrants": [{"name": "Ada"}, {"name": "Bob"}]},
            {"kind": "league", "run": 4},
            ["Ada", "Bob"],
        ),
    ],
)
def test_what_is_resumed_is_what_was_stored(
    handler: Any,
    asked: dict[str, Any],
    stored: dict[str, Any],
    spec: dict[str, Any],
    names: list[str],
) -> None:
    begun: list[Any] = []

    async def ask(question: dict[str, Any]) -> dict[str, Any]:
        (kind,) = asked
        assert question == {"ask": kind, **asked}
        return {**stored, "resume": {"why_not": "", "files": ["/a/mine.py"]}}

    def start(spec: dict[str, Any], names: list[str]) -> Any:
        begun.append((spec, names))
        return SimpleNamespace(to_dict=dict)

    lab: Any = SimpleNamespace(
        store="runs.sqlite",
        files=SimpleNamespace(paths={"mine.py": "/a/mine.py"}),
        reader=SimpleNamespace(ask=ask),
        jobs=SimpleNamespace(start=start, playing=lambda kind, number: None),
    )
    asyncio.run(handler(lab, None, asked))
    everywhere = {"store": "runs.sqlite", "files": {"mine.py": "/a/mine.py"}}
    assert begun == [(spec | everywhere, names)]


def maxima(schema: Any) -> Iterator[float]:
    """Yield every bound of a number in a description."""
    if isinstance(schema, dict):
        if "maximum" in schema:
            yield schema["maximum"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from maxima(part)


def test_no_number_is_larger_than_javascript_holds_exactly() -> None:
    assert max(maxima(openapi.description("1"))) == 2**53 - 1


@pytest.mark.parametrize("kind", ["match", "tournament", "league"])
def test_defaults_of_a_run_are_those_of_the_function(kind: str) -> None:
    parameters = inspect.signature(getattr(kf, kind)).parameters
    told = {
        name: field["default"]
        for name, field in getattr(openapi, kind.upper())["properties"].items()
        if "default" in field
    }
    assert {"board", "seed", "stratify", "again"} <= told.keys()
    for name, value in told.items():
        default = parameters[name].default
        assert value == (list(default) if isinstance(default, tuple) else default), name


OF_ANY_TYPE = {
    "About": "name version server store limits heuristics kinds protocols",
    "State": "server store", "State.jobs": "kind title", "Job": "kind title", "Truth": "opening",
    "Runs.runs": "kind", "Run": "report entrants matches text llr", "Games": "names short",
    "Game": "run pair game reason hunter", "Gradings.gradings": "board seed created kept",
    "Grading": "grade games job", "Grading.grading": "board seed created kept",
    "Move": "score proven plies depth nodes seconds pv", "Opinions": "opinions",
    "Studies": "studies",
}  # fmt: skip
"""The fields of each object in an answer whose values the description leaves open."""
OF_ANY_TYPE["Run.recent"] = OF_ANY_TYPE["Games.games"] = OF_ANY_TYPE["Game"]


def objects(path: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of a schema's objects, of those in its fields and in their lists too."""
    if schema.get("type") == "array":
        yield from objects(path, schema["items"])
    elif schema.get("type") == "object":
        yield path, schema["properties"]
        for name, field in schema["properties"].items():
            yield from objects(f"{path}.{name}", field)


def test_all_other_fields_of_answers_have_a_type() -> None:
    for answer, schema in openapi.ANSWERS.items():
        for path, fields in objects(answer, schema):
            open = [name for name, field in fields.items() if not field]
            assert open == OF_ANY_TYPE.get(path, "").split(), path


class _Process:
    """A stand-in for `AgentProcess` that counts how often it is ended."""

    ended = 0

    def begin(self) -> None:
        pass

    def end(self) -> None:
        self.ended += 1

    def reported(self, failure: Exception) -> bool:
        return False


@pytest.mark.parametrize(
    ("failure", "kept"),
    [
        (None, True),
        (TimeoutError(), False),
        (OSError("broken pipe"), False),
        (AgentFailure("crash", "it ended"), False),
    ],
)
def test_only_a_process_that_answered_is_asked_again(
    failure: Exception | None, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[_Process] = []

    def start(*_: Any, **__: Any) -> _Process:
        started.append(_Process())
        return started[-1]

    def answer(process: Any) -> Any:
        if failure is not None:
            raise failure
        return process

    async def ask_twice() -> None:
        pool = agent_pool.AgentPool()
        for _ in range(2):
            with suppress(OSError, AgentFailure, KnightfallError):
                assert await pool._ask(parse_agent("random"), "", answer) is started[-1]
        pool._executor.shutdown(wait=True)

    monkeypatch.setattr(agent_pool, "AgentProcess", start)
    asyncio.run(ask_twice())
    assert [one.ended for one in started] == ([0] if kept else [1, 1])
