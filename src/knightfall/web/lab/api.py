"""The answers to what can be asked (`openapi.ENDPOINTS`), one function each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from knightfall import __version__
from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.display.printable import json_line, printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.position import Position
from knightfall.search.budget import read_budget
from knightfall.web.lab import schemas
from knightfall.web.lab.guard import CLIENT, Refused
from knightfall.web.lab.lab import GRACE, SEARCHES, Lab, checked_name
from knightfall.web.lab.names import agent_named, heuristic_named
from knightfall.web.lab.openapi import ENDPOINTS, PARAMETERS, Endpoint
from knightfall.web.lab.page_parts import fragment_of, page_part, page_parts

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
            schemas.read_query(_query(request), {})
            kind = request.headers.get("content-type", "")
            asked |= schemas.read_body(await request.body(), kind, endpoint.body)
        else:
            asked |= schemas.read_query(_query(request), endpoint.query)
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
    return schemas.read_query(found, {name: PARAMETERS[name] for name in found})


# -- reading ---------------------------------------------------------------------------------


async def about(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    from knightfall.agents import AGENT_KINDS
    from knightfall.arena.tournament_plan import PROTOCOLS
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.web.lab.jobs import AT_ONCE
    from knightfall.web.lab.thinkers import SECONDS

    return {
        "name": "knightfall",
        "version": __version__,
        "server": lab.id,
        "store": printable(lab.store),
        "limits": {
            "runs": AT_ONCE,
            "searches": SEARCHES,
            "seconds": SECONDS,
            "grace": GRACE,
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
            async for line in lab.events.stream():
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
    part = page_part("studies")
    if part.data is None:
        raise NotFound("the page part 'studies' has no data")
    return await asyncio.to_thread(part.data)


async def parts(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return {"parts": [{"name": name, "title": one.title} for name, one in page_parts().items()]}


async def part(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    name = asked["part"]
    html = await asyncio.to_thread(fragment_of, name)
    return {"name": name, "title": page_part(name).title, "html": html}


async def runs(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "runs", **asked})


async def run(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await _with_job(lab, "run", asked)


async def _with_job(lab: Lab, kind: str, asked: Asked) -> Asked:
    """Return what is stored of a run or a grading, its job, and what is against going on."""
    found = await lab.archive.ask({"ask": kind, **asked})
    why = resuming(lab, found.pop("resume"))
    playing = lab.jobs.playing(**{kind: asked[kind]})
    if playing is not None:
        why = "It is being played."
    job = None if playing is None else playing.to_dict()
    return {**found, "resumable": not why, "why_not": why, "job": job}


async def _resumable(lab: Lab, kind: str, asked: Asked) -> Asked:
    """Return the same of one that can be gone on with; refuse any other."""
    found = await _with_job(lab, kind, asked)
    if not found["resumable"]:
        raise Refused(409, f"{kind} {asked[kind]} cannot be gone on with: {found['why_not']}")
    return found


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
    found = await _resumable(lab, "run", asked)
    names = [entrant["name"] for entrant in found["entrants"]]
    spec = {"kind": found["kind"], "run": asked["run"], "store": lab.store}
    return lab.jobs.start({**spec, "files": lab.library.paths}, names).to_dict()


def _stops(kind: str) -> Handler:
    async def stop(lab: Lab, request: Request, asked: Asked) -> Any:
        job = lab.jobs.playing(**{kind: asked[kind]})
        if job is None:
            await lab.archive.ask({"ask": kind, **asked})  # raises NotFound if there is none
            raise Refused(409, f"{kind} {asked[kind]} is not being played here")
        lab.jobs.stop(job)
        return job.to_dict()

    return stop


async def gradings(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    return await lab.archive.ask({"ask": "gradings"})


async def grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    found = await _with_job(lab, "grading", asked)
    del found["agent"]  # it may hold full paths
    return found


async def resume_grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    found = await _resumable(lab, "grading", asked)
    about = found["grading"]
    spec = {
        "kind": "grading", "grading": asked["grading"], "agent": found["agent"],
        "store": lab.store, "files": lab.library.paths,
        **{name: about[name] for name in ("board", "openings", "seed")},
    }  # fmt: skip
    return lab.jobs.start(spec, [about["name"]]).to_dict()


async def dismiss(lab: Lab, request: Request, asked: Asked) -> Any:
    """See `openapi`."""
    job = lab.jobs.all.get(asked["job"])
    if job is None:
        raise NotFound(f"there is no job {asked['job']}")
    if not job.over:
        raise Refused(409, f"job {job.id} is not over: stop it first")
    lab.jobs.dismiss(job)
    return job.to_dict()


# -- positions --------------------------------------------------------------------------------


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


# -- what is to be played ---------------------------------------------------------------------


AGENTS = {"match": ("a", "b"), "tournament": ("tests", "against"), "league": ("agents",)}
"""The fields of each kind that name agents."""


def game_spec(lab: Lab, kind: str, asked: Asked) -> tuple[Asked, list[str]]:
    """Return what is to be played, and its agents as they were given."""
    spec = {**asked, "kind": kind, "store": lab.store, "files": lab.library.paths}
    spec["board"] = Board.named(asked["board"]).text
    read_budget(asked.get("budget"))  # raises a KnightfallError for one that cannot be
    if "sprt" in asked and asked["sprt"][0] >= asked["sprt"][1]:
        low, high = asked["sprt"]
        raise KnightfallError(
            f"sprt is [{low:g}, {high:g}]: the first must be less than the second"
        )
    if "gauntlet" in asked and asked["gauntlet"] >= len(asked["agents"]):
        raise KnightfallError(f"gauntlet={asked['gauntlet']} leaves no opponents")
    shown: list[str] = []
    for field in AGENTS[kind]:
        given = asked[field]
        shown += [given] if isinstance(given, str) else given
        if isinstance(given, str):
            spec[field] = _text(agent_named(given, lab.library.paths))
        else:
            spec[field] = [_text(agent_named(one, lab.library.paths)) for one in given]
    return spec, shown


def grading_spec(lab: Lab, kind: str, asked: Asked) -> tuple[Asked, list[str]]:
    """Return what is to be graded, and its agent as it was given."""
    agent = agent_named(asked["agent"], lab.library.paths)
    spec = {**asked, "kind": kind, "agent": _text(agent), "board": Board.named(asked["board"]).text}
    return {**spec, "store": lab.store, "files": lab.library.paths}, [asked["agent"]]


def resuming(lab: Lab, found: Asked) -> str:
    """What is against going on with a stored run; it may name files, as anything stored may."""
    unknown = [path for path in found["files"] if path not in lab.library.paths.values()]
    if found["why_not"] or not unknown:
        return str(found["why_not"])
    names = ", ".join(printable(path.rpartition("/")[2]) for path in unknown)
    return f"Its agents come from {names}: name that file when you start knightfall serve."


def _text(agent: Agent) -> str:
    """The agent as it is read again: a course's name stands for itself."""
    return agent.label or str(agent)


# -- all of them ------------------------------------------------------------------------------


HANDLERS: dict[str, Handler] = {
    "about": about, "events": events, "state": state, "files": files, "studies": studies,
    "parts": parts, "part": part,
    "runs": runs, "run": run, "games": games, "game": game, "resume": resume, "stop": _stops("run"),
    "truth": truth, "gradings": gradings, "grading": grading, "resume_grading": resume_grading,
    "stop_grading": _stops("grading"), "dismiss": dismiss,
    "choose": choose, "opinions": opinions, "grade": _starts("grading"),
    **{kind: _starts(kind) for kind in ("match", "tournament", "league")},
}  # fmt: skip

assert HANDLERS.keys() == {endpoint.name for endpoint in ENDPOINTS}
