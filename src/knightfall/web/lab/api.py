"""Handlers of the lab's HTTP endpoints (`openapi.ENDPOINTS`), one function each."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from knightfall import __version__
from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.display.printable import json_line, one_line, printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.position import Position
from knightfall.search.budget import read_budget
from knightfall.untrusted_input import (
    MOST,
    Between,
    Items,
    OneOf,
    Text,
    Whole,
    check,
    parse_json,
    shown,
)
from knightfall.web.lab.agent_names import agent_named, heuristic_named
from knightfall.web.lab.guard import CLIENT, RequestRefused
from knightfall.web.lab.lab_state import (
    GRACE,
    SEARCHES,
    Lab,
    fragment_of,
    page_part,
    page_parts,
)
from knightfall.web.lab.openapi import (
    CLIENT_NAME,
    ENDPOINTS,
    MOST_AGENTS,
    MOST_PAIRS,
    PARAMETERS,
    Endpoint,
    Schema,
)

Asked = dict[str, Any]
"""The fields of a request: of its body or query, and of its path."""

Handler = Callable[[Lab, Request, Asked], Awaitable[Any]]

ANONYMOUS = "anonymous"
"""The name of a tab that does not send one."""


def endpoint_of(lab: Lab, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that Starlette calls for an endpoint."""
    handler = HANDLERS[endpoint.name]

    async def answer(request: Request) -> Response:
        asked = _of_path(request)
        if endpoint.body is not None:
            tab_of(request)  # raises a KnightfallError if the client's name is invalid
            read_query(_query(request), {})
            kind = request.headers.get("content-type", "")
            asked |= read_body(await request.body(), kind, endpoint.body)
        else:
            asked |= read_query(_query(request), endpoint.query)
        found = await handler(lab, request, asked)
        if isinstance(found, Response):
            return found
        return json_answer(found, int(endpoint.status))

    return answer


def json_answer(content: Any, status: int = 200) -> Response:
    """Return a response with a content as JSON."""
    return Response(json_line(content).encode(), status, media_type="application/json")


def _query(request: Request) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    return found


def _of_path(request: Request) -> Asked:
    found = {name: [text] for name, text in request.path_params.items()}
    return read_query(found, {name: PARAMETERS[name] for name in found})


# -- reading a request ------------------------------------------------------------------------


SHOWN = 80
"""Most characters of an invalid value that an error repeats."""


def read_body(body: bytes, kind: str, schema: Schema) -> dict[str, Any]:
    """Return the fields of a request's body, with defaults; an empty body has no fields."""
    if not body:
        value: Any = {}
    elif kind.partition(";")[0].strip().lower() != "application/json":
        raise RequestRefused(
            415, f"the body must be application/json, not {kind[:SHOWN] or 'unspecified'!r}"
        )
    else:
        try:
            value = parse_json(body.decode("utf-8"))
        except (KnightfallError, UnicodeDecodeError) as error:
            raise RequestRefused(
                400, f"the body is not JSON: {one_line(str(error))[:200]}"
            ) from None
    check(shape_of(schema), value)
    return {**_defaults(schema["properties"]), **value}


def read_query(given: Mapping[str, list[str]], schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the parameters of an address; a missing one has its default or stays absent."""
    found = _defaults(schemas)
    for name, texts in given.items():
        if name not in schemas:
            known = ", ".join(schemas) or "none"
            raise KnightfallError(f"unknown parameter {shown(name)}; known: {known}")
        if len(texts) > 1:
            raise KnightfallError(f"{name} is given {len(texts)} times")
        found[name] = _converted(schemas[name], texts[0])
        check(shape_of(schemas[name]), found[name], name)
    return found


def _converted(schema: Schema, text: str) -> Any:
    """Return the text, converted to a whole number if the schema requires one and it is one."""
    if schema.get("type") == "integer" and re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        return int(text)
    return text


def _defaults(fields: Mapping[str, Schema]) -> dict[str, Any]:
    return {name: field["default"] for name, field in fields.items() if "default" in field}


# -- schemas as checks -------------------------------------------------------------------------


def shape_of(schema: Schema) -> Any:
    """Convert a schema to the form in which `knightfall.untrusted_input.check` takes it.

    Only the parts of JSON Schema that the requests of `openapi` use are supported.
    """
    match schema["type"]:
        case "object":
            required, fields = schema["required"], schema["properties"].items()
            return {n if n in required else f"{n}?": shape_of(field) for n, field in fields}
        case "array":
            return Items(shape_of(schema["items"]), schema["minItems"], schema["maxItems"])
        case "integer":
            return Whole(schema.get("minimum", -MOST), schema.get("maximum", MOST))
        case "number":
            return Between(schema["minimum"], schema["maximum"])
        case "boolean":
            return bool
    if "enum" in schema:
        return OneOf(schema["enum"])
    longest, shortest = schema.get("maxLength", MOST), schema.get("minLength", 0)
    example = schema.get("examples", [""])[0]
    return Text(longest, shortest, schema.get("pattern", ""), example)


# -- stored and installed things ---------------------------------------------------------------


async def about(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return the lab's version, limits, heuristics, kinds of agents and protocols."""
    from knightfall.agents import AGENT_KINDS
    from knightfall.arena.tournament_plan import PROTOCOLS
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.web.lab.agent_pool import SECONDS
    from knightfall.web.lab.jobs import AT_ONCE

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
            "agents": MOST_AGENTS,
            "pairs": MOST_PAIRS,
        },
        "heuristics": [row.id for row in REGISTRY.values() if not row.parameter],
        "kinds": [{"name": kind.kind, "example": kind.example} for kind in AGENT_KINDS.values()],
        "protocols": {
            name: {**asdict(one), "tests": list(one.tests)} for name, one in PROTOCOLS.items()
        },
    }


async def events(lab: Lab, request: Request, asked: Asked) -> Any:
    """Stream the state as server-sent events: once at the start and after each change."""
    return EventResponse(lab, asked.get("client", ANONYMOUS))


class EventResponse(StreamingResponse):
    """A response with the lab's events; it is refused if too many are open."""

    def __init__(self, lab: Lab, name: str) -> None:
        super().__init__(lab.events.stream(), media_type="text/event-stream")
        self._tabs, self._name = lab.tabs, name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; the stream counts as open from here on, before its first byte."""
        self._tabs.check_room()
        with self._tabs.stream(self._name):
            await super().__call__(scope, receive, send)


async def state(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return the state: jobs, files and the version of the store."""
    return lab.state()


async def files(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return the files of the command line with their heuristics and agents."""
    return {"files": lab.files.to_list()}


async def studies(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return a summary of the five studies: the data of the page part `studies`."""
    part = page_part("studies")
    if part.data is None:
        raise NotFound("the studies' summary is not available")
    return await asyncio.to_thread(part.data)


async def parts(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return the names and titles of the views that extensions add to the page."""
    return {"parts": [{"name": name, "title": one.title} for name, one in page_parts().items()]}


async def part(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return the HTML of a view that an extension adds."""
    name = asked["part"]
    html = await asyncio.to_thread(fragment_of, name)
    return {"name": name, "title": page_part(name).title, "html": html}


def _reads(what: str, *, judge: bool = False) -> Handler:
    """Return the handler that answers a request with the method `what` of `StoreReader`."""

    async def read(lab: Lab, request: Request, asked: Asked) -> Any:
        return await (lab.judge if judge else lab.reader).ask({"ask": what, **asked})

    return read


async def run(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return a run with its report and latest games, and whether it can be resumed."""
    return await _with_job(lab, "run", asked)


async def _with_job(lab: Lab, kind: str, asked: Asked) -> Asked:
    """Return a stored run or grading, its job, and whether it can be resumed or why not."""
    found = await lab.reader.ask({"ask": kind, **asked})
    why = resuming(lab, found.pop("resume"))
    playing = lab.jobs.playing(kind, asked[kind])
    if playing is not None:
        why = "It is being played."
    job = None if playing is None else playing.to_dict()
    return {**found, "resumable": not why, "why_not": why, "job": job}


async def _resumable(lab: Lab, kind: str, asked: Asked) -> Asked:
    """Return what `_with_job` returns; raise `RequestRefused` if resuming is impossible."""
    found = await _with_job(lab, kind, asked)
    if not found["resumable"]:
        raise RequestRefused(409, f"{kind} {asked[kind]} cannot be resumed: {found['why_not']}")
    return found


# -- runs and gradings -----------------------------------------------------------------------


def _starts(kind: str) -> Handler:
    """Return the handler that starts a job of this kind and returns the job."""

    async def start(lab: Lab, request: Request, asked: Asked) -> Any:
        make = grading_spec if kind == "grading" else game_spec
        return lab.jobs.start(*make(lab, kind, asked)).to_dict()

    return start


async def resume(lab: Lab, request: Request, asked: Asked) -> Any:
    """Resume a run; return its job."""
    found = await _resumable(lab, "run", asked)
    names = [entrant["name"] for entrant in found["entrants"]]
    spec = {"kind": found["kind"], "run": asked["run"], "store": lab.store}
    return lab.jobs.start({**spec, "files": lab.files.paths}, names).to_dict()


def _stops(kind: str) -> Handler:
    """Return the handler that stops the job of a run or a grading and returns the job."""

    async def stop(lab: Lab, request: Request, asked: Asked) -> Any:
        job = lab.jobs.playing(kind, asked[kind])
        if job is None:
            await lab.reader.ask({"ask": kind, **asked})  # raises NotFound if it does not exist
            raise RequestRefused(409, f"{kind} {asked[kind]} is not being played here")
        lab.jobs.stop(job)
        return job.to_dict()

    return stop


async def grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """Return a grading with its games, and whether it can be resumed."""
    found = await _with_job(lab, "grading", asked)
    del found["agent"]  # it may hold full paths
    return found


async def resume_grading(lab: Lab, request: Request, asked: Asked) -> Any:
    """Resume a grading; return its job."""
    found = await _resumable(lab, "grading", asked)
    about = found["grading"]
    spec = {
        "kind": "grading", "grading": asked["grading"], "agent": found["agent"],
        "store": lab.store, "files": lab.files.paths,
        **{name: about[name] for name in ("board", "openings", "seed")},
    }  # fmt: skip
    return lab.jobs.start(spec, [about["name"]]).to_dict()


async def dismiss(lab: Lab, request: Request, asked: Asked) -> Any:
    """Remove a job that has ended from the list of jobs."""
    job = lab.jobs.all.get(asked["job"])
    if job is None:
        raise NotFound(f"there is no job {asked['job']}")
    if not job.over:
        raise RequestRefused(409, f"job {job.id} has not ended: stop it first")
    lab.jobs.dismiss(job)
    return job.to_dict()


# -- positions --------------------------------------------------------------------------------


def tab_of(request: Request) -> str | None:
    """Return the name of the browser tab that sent a request; None if it sent no name."""
    given = request.headers.get(CLIENT)
    if given is not None:
        check(shape_of(CLIENT_NAME), given, CLIENT)
    return given


async def choose(lab: Lab, request: Request, asked: dict[str, Any]) -> Any:
    """Return the move that an agent chooses in a position."""
    agent = agent_named(asked["agent"], lab.files.paths)
    position, version = Position.from_fen(asked["fen"]), lab.files.version(agent.files)
    if agent.remembers_game:
        version += f" {tab_of(request)}"

    def search() -> Awaitable[Any]:
        return lab.agent_pool.choose(agent, version, position, asked["seed"])

    return await _while_connected(lab, request, search)


async def opinions(lab: Lab, request: Request, asked: dict[str, Any]) -> Any:
    """Return the value of each legal move by each of some heuristics."""
    position = Position.from_fen(asked["fen"])
    agents = {text: heuristic_named(text, lab.files.paths) for text in asked["heuristics"]}

    async def evaluate_all() -> Any:
        return {
            text: await lab.agent_pool.opinions(one, lab.files.version(one.files), position)
            for text, one in agents.items()
        }

    found = await _while_connected(lab, request, evaluate_all)
    return {"moves": list(position.legal_moves), "opinions": found}


async def _while_connected(lab: Lab, request: Request, search: Callable[[], Awaitable[Any]]) -> Any:
    """Return the result of a search; cancel the search if the client disconnects."""

    async def counted_search() -> Any:
        with lab.tabs.searching(tab_of(request) or ANONYMOUS):
            return await search()

    searching = asyncio.ensure_future(counted_search())
    disconnecting = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({searching, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        disconnecting.cancel()
        if not searching.done():
            searching.cancel()
    try:
        return await searching
    except asyncio.CancelledError:
        raise RequestRefused(409, "the search was cancelled: its page was closed") from None


async def _disconnected(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- job descriptions -------------------------------------------------------------------------


AGENTS = {"match": ("a", "b"), "tournament": ("tests", "against"), "league": ("agents",)}
"""The request's fields that name agents, for each kind of run."""


def game_spec(lab: Lab, kind: str, asked: Asked) -> tuple[Asked, list[str]]:
    """Return the job description of a run, and its agents as the browser named them."""
    spec = {**asked, "kind": kind, "store": lab.store, "files": lab.files.paths}
    spec["board"] = Board.named(asked["board"]).text
    read_budget(asked.get("budget"))  # raises a KnightfallError if it is invalid
    if "sprt" in asked and asked["sprt"][0] >= asked["sprt"][1]:
        low, high = asked["sprt"]
        raise KnightfallError(
            f"sprt is [{low:g}, {high:g}]: the first must be less than the second"
        )
    if "gauntlet" in asked and asked["gauntlet"] >= len(asked["agents"]):
        raise KnightfallError(
            f"gauntlet={asked['gauntlet']} leaves no opponents: "
            f"it must be less than the number of agents, {len(asked['agents'])}"
        )
    shown: list[str] = []
    for field in AGENTS[kind]:
        given = asked[field]
        names = [given] if isinstance(given, str) else given
        texts = [_text(agent_named(one, lab.files.paths)) for one in names]
        spec[field] = texts[0] if isinstance(given, str) else texts
        shown += names
    return spec, shown


def grading_spec(lab: Lab, kind: str, asked: Asked) -> tuple[Asked, list[str]]:
    """Return the job description of a grading, and its agent as the browser named it."""
    agent = agent_named(asked["agent"], lab.files.paths)
    spec = {**asked, "kind": kind, "agent": _text(agent), "board": Board.named(asked["board"]).text}
    return {**spec, "store": lab.store, "files": lab.files.paths}, [asked["agent"]]


def resuming(lab: Lab, found: Asked) -> str:
    """Return why a stored run or grading cannot be resumed; empty if it can.

    It cannot if its agents come from a file that is not on the command line.
    """
    unknown = [path for path in found["files"] if path not in lab.files.paths.values()]
    if found["why_not"] or not unknown:
        return str(found["why_not"])
    names = ", ".join(printable(path.rpartition("/")[2]) for path in unknown)
    return f"Its agents come from {names}: start knightfall serve with that file."


def _text(agent: Agent) -> str:
    """Return a string that parses to this agent: its label (agents of the course have one), else
    its usual string.
    """
    return agent.label or str(agent)


# -- the table of handlers --------------------------------------------------------------------


HANDLERS: dict[str, Handler] = {
    "about": about, "events": events, "state": state, "files": files, "studies": studies,
    "parts": parts, "part": part, "run": run, "resume": resume, "stop": _stops("run"),
    "grading": grading, "resume_grading": resume_grading, "stop_grading": _stops("grading"),
    "dismiss": dismiss, "choose": choose, "opinions": opinions, "grade": _starts("grading"),
    "truth": _reads("truth", judge=True),
    **{what: _reads(what) for what in ("runs", "games", "game", "gradings")},
    **{kind: _starts(kind) for kind in ("match", "tournament", "league")},
}  # fmt: skip

assert HANDLERS.keys() == {endpoint.name for endpoint in ENDPOINTS}
