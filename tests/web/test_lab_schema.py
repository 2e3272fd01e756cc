"""Send generated requests, valid and invalid by /openapi.json: none may cause a server error.

Schemathesis generates the requests.  No games are played and nothing is searched here; other test
modules check what a started job does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

schemathesis: Any = pytest.importorskip("schemathesis", reason="it generates the requests")
pytest.importorskip("starlette", reason="the lab needs it")
uvicorn: Any = pytest.importorskip("uvicorn", reason="the lab needs it")

from hypothesis import HealthCheck, Phase, settings  # noqa: E402
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance  # noqa: E402

from knightfall import __version__  # noqa: E402
from knightfall.web.lab.application import application  # noqa: E402
from knightfall.web.lab.jobs import LabJob  # noqa: E402
from knightfall.web.lab.lab_state import Lab  # noqa: E402
from knightfall.web.lab.openapi import description  # noqa: E402
from knightfall.web.lab.server import listen  # noqa: E402

TOKEN = "a token"
HEADERS = {"X-Knightfall-Token": TOKEN}


class IdleLab(Lab):
    """A lab whose only subprocesses are those that read its store."""

    def __init__(self, store: str) -> None:
        super().__init__([], store)

        def start(spec: dict[str, Any], names: list[str]) -> LabJob:
            return LabJob("1", spec["kind"], names)

        async def think(*asked: Any) -> dict[str, Any]:
            await asyncio.sleep(0)
            fields = ("score", "proven", "plies", "depth", "nodes", "seconds", "pv", "note")
            return {"move": "a1", **dict.fromkeys(fields)}

        self.jobs.start = start  # type: ignore[method-assign]
        self.agent_pool.choose = think  # type: ignore[method-assign]
        self.agent_pool.opinions = think  # type: ignore[method-assign]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self.events.end()  # otherwise a request for the event stream would never end
        yield
        await self.reader.end()
        await self.judge.end()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    listening, address = listen("127.0.0.1", 0)
    lab = IdleLab(str(tmp_path_factory.mktemp("lab") / "runs.sqlite"))
    app = application(lab, address, TOKEN)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    running = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    running.start()
    yield address.url.rstrip("/")
    server.should_exit = True
    running.join(30)


schema = schemathesis.openapi.from_dict(description(__version__))


@schema.parametrize()
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_question_is_an_error_of_ours(case: Any, url: str) -> None:
    # Two checks are left out: every request carries the token, so a missing one cannot be tested;
    # and the schema does not describe the grammars of agents and positions.
    but = [ignored_auth, positive_data_acceptance]
    case.call_and_validate(base_url=url, headers=HEADERS, excluded_checks=but)


def test_the_description_is_the_one_that_is_served(url: str) -> None:
    requests: Any = pytest.importorskip("requests")
    assert requests.get(f"{url}/openapi.json", timeout=60).json() == description(__version__)
