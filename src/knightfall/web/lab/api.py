"""The answers to what can be asked (`openapi.ENDPOINTS`), one function each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from knightfall import __version__
from knightfall.display.printable import json_line, printable
from knightfall.errors import NotFound
from knightfall.web.lab import inputs, schemas
from knightfall.web.lab.guard import Refused
from knightfall.web.lab.lab import Lab
from knightfall.web.lab.openapi import ENDPOINTS, PARAMETERS, Endpoint
from knightfall.web.lab.positions import choose, opinions, tab_of
from knightfall.web.lab.starting import game_spec, grading_spec, resuming

Asked = dict[str, Any]
"""What a request says: its body, or its parameters; and those of its path."""

Handler = Callable[[Lab, Request, Asked], Awaitable[Any]]


def endpoint_of(lab: Lab, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """The function that Starlette calls for an endpoint."""
    handler = HANDLERS[endpoint.name]

    async def answer(request: Request) -> Response:
        asked = _of_path(request)
        if endpoint.body is not None:
            tab_of(request)  # a name that cannot be is refused, whatever else is asked
            inputs.read_query(_query(request), {})
            kind = request.headers.get("content-type", "")
            asked |= inputs.read_body(await request.body(), kind, endpoint.body)
        else:
            asked |= inputs.read_query(_query(request), endpoint.query)
        found = await handler(lab, request, asked)
        if isinstance(found, Response):
            return found
        return json_answer(found, int(endpoint.status))

    return answer


def json_answer(content: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(json_line(content).encode(), status, media_type="application/json")


def _query(request: Request) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    return found


def _of_path(request: Request) -> Asked:
    found = {name: [text] for name, text in request.path_params.items()}
    return inputs.read_query(found, {name: PARAMETERS[name] for name in found})


# -- reading ---------------------------------------------------------------------------------


async def about(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    from knightfall.agents import AGENT_KINDS
    from knightfall.arena.tournament_plan import PROTOCOLS
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.web.lab import jobs, tabs, thinkers

    return {
        "name": "knightfall",
        "version": __version__,
        "server": lab.id,
        "store": printable(lab.store),
        "limits": {
            "runs": jobs.AT_ONCE,
            "searches": tabs.SEARCHES,
            "seconds": thinkers.SECONDS,
            "grace": tabs.GRACE,
            "agents": schemas.MOST_AGENTS,
            "pairs": schemas.MOST_PAIRS,
        },
        "heuristics": [row.id for row in REGISTRY.values() if not row.parameter],
        "kinds": [{"name": kind.kind, "example": kind.example} for kind in AGENT_KINDS.values()],
        "protocols": {
            name: {**asdict(one), "tests": list(one.tests)} for name, one in PROTOCOLS.items()
        },
    }


async def events(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    name = asked.get("client", "nobody")
    lab.tabs.check_room()

    async def told() -> Any:
        with lab.tabs.stream(name):
            async for line in lab.news.stream():
                yield line

    return StreamingResponse(told(), media_type="text/event-stream")


async def state(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return lab.state()


async def files(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return {"files": lab.library.to_list()}


async def studies(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    from knightfall.web.lab.studies import in_short

    return await asyncio.to_thread(in_short)


async def runs(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "runs", **asked})


async def run(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    found = await lab.archive.ask({"ask": "run", **asked})
    why = resuming(lab, found.pop("resume"))
    playing = lab.jobs.playing(run=asked["run"])
    if playing is not None:
        why = "It is being played."
    job = None if playing is None else playing.to_dict()
    return {**found, "resumable": not why, "why_not": why, "job": job}


async def games(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "games", **asked})


async def game(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "game", **asked})


async def truth(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.judge.ask({"ask": "truth", **asked})


# -- runs and gradings -----------------------------------------------------------------------


def _starts(kind: str) -> Handler:
    async def start(lab: Lab, request: Request, asked: Asked) -> Any:
        make = grading_spec if kind == "grading" else game_spec
        return lab.jobs.start(*make(lab, kind, asked)).to_dict()

    return start


async def resume(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    found = await run(lab, request, asked)
    if not found["resumable"]:
        raise Refused(409, f"run {asked['run']} cannot be gone on with: {found['why_not']}")
    names = [entrant["name"] for entrant in found["entrants"]]
    spec = {"kind": found["kind"], "run": asked["run"], "store": lab.store}
    return lab.jobs.start({**spec, "files": lab.library.paths}, names).to_dict()


async def stop(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    job = lab.jobs.playing(run=asked["run"])
    if job is None:
        await lab.archive.ask({"ask": "run", **asked})
        raise Refused(409, f"run {asked['run']} is not being played here")
    lab.jobs.stop(job)
    return job.to_dict()


async def gradings(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "gradings"})


async def grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    found = await lab.archive.ask({"ask": "grading", **asked})
    del found["agent"]
    why = resuming(lab, found.pop("resume"))
    playing = lab.jobs.playing(grading=asked["grading"])
    if playing is not None:
        why = "It is being played."
    job = None if playing is None else playing.to_dict()
    return {**found, "resumable": not why, "why_not": why, "job": job}


async def resume_grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    id = asked["grading"]
    found = await grading(lab, request, asked)
    if not found["resumable"]:
        raise Refused(409, f"grading {id} cannot be gone on with: {found['why_not']}")
    about = found["grading"]
    stored = await lab.archive.ask({"ask": "grading", **asked})
    spec = {
        "kind": "grading", "grading": id, "agent": stored["agent"], "store": lab.store,
        "files": lab.library.paths,
        **{name: about[name] for name in ("board", "openings", "seed")},
    }  # fmt: skip
    return lab.jobs.start(spec, [about["name"]]).to_dict()


async def stop_grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    job = lab.jobs.playing(grading=asked["grading"])
    if job is None:
        await lab.archive.ask({"ask": "grading", **asked})
        raise Refused(409, f"grading {asked['grading']} is not being played here")
    lab.jobs.stop(job)
    return job.to_dict()


async def dismiss(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    job = lab.jobs.all.get(asked["job"])
    if job is None:
        raise NotFound(f"there is no job {asked['job']}")
    if not job.over:
        raise Refused(409, f"job {job.id} is not over: stop it first")
    lab.jobs.dismiss(job)
    return job.to_dict()


HANDLERS: dict[str, Handler] = {
    "about": about, "events": events, "state": state, "files": files, "studies": studies,
    "runs": runs, "run": run, "games": games, "game": game, "resume": resume, "stop": stop,
    "truth": truth, "gradings": gradings, "grading": grading, "resume_grading": resume_grading,
    "stop_grading": stop_grading, "dismiss": dismiss,
    "choose": choose, "opinions": opinions, "grade": _starts("grading"),
    **{kind: _starts(kind) for kind in ("match", "tournament", "league")},
}  # fmt: skip

assert HANDLERS.keys() == {endpoint.name for endpoint in ENDPOINTS}
