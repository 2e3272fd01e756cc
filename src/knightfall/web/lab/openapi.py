"""What can be asked of the lab, as data: the routes and `/openapi.json` are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knightfall.web.lab import schemas as s
from knightfall.web.lab.answers import ANSWERS, ERROR
from knightfall.web.lab.guard import CLIENT, TOKEN

REASONS = {
    "400": "The body is no JSON.",
    "403": "Another page's request, or one without the token.",
    "404": "There is no such thing.",
    "405": "Not a method of this address.",
    "409": "Not now: as many runs as can be are being played, or this one is (or is not).",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
    "422": "A value that cannot be: the error names it, and what is accepted.",
    "429": "Too much at once.",
}
ALWAYS = ("403", "405")
OF_BODIES = ("400", "413", "415", "422")


@dataclass(frozen=True)
class Endpoint:
    """A question, the schema of what it takes, and what may come of it."""

    name: str
    method: str
    path: str
    summary: str
    answer: str
    body: s.Schema | None = None
    query: Mapping[str, s.Schema] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    status: str = "200"
    kind: str = "application/json"


def _start(name: str, path: str, body: s.Schema) -> Endpoint:
    what = f"Begin a {'grading' if name == 'grade' else name}."
    return Endpoint(name, "POST", path, what, "Job", body=body, status="202", errors=("409",))


_RUN, _GRADING = "/api/runs/{run}", "/api/gradings/{grading}"
ENDPOINTS = (
    Endpoint("about", "GET", "/api/about", "What this lab is, and what it can do.", "About"),
    Endpoint(
        "events", "GET", "/api/events", "News as server-sent events, each the state as a whole.",
        "State", query={"client": {"type": "string", "pattern": s.CLIENT_PATTERN, "maxLength": 40}},
        errors=("422", "429"), kind="text/event-stream",
    ),
    Endpoint("state", "GET", "/api/state", "What the news tell, once.", "State"),
    Endpoint("files", "GET", "/api/files", "The files of the command line, as they are.", "Files"),
    Endpoint(
        "runs", "GET", "/api/runs", "Every stored run, the last one first.", "Runs",
        query={"limit": s.whole("At most so many.", 1, 10_000, default=200)}, errors=("422",),
    ),
    Endpoint("run", "GET", _RUN, "All about one run.", "Run", errors=("404", "422")),
    Endpoint(
        "games", "GET", f"{_RUN}/games", "The games behind a number.", "Games", query=s.GAMES,
        errors=("404", "422"),
    ),
    Endpoint(
        "game", "GET", f"{_RUN}/games/{{pair}}/{{game}}", "One game, move by move.", "Game",
        errors=("404", "422"),
    ),
    _start("match", "/api/matches", s.MATCH),
    _start("tournament", "/api/tournaments", s.TOURNAMENT),
    _start("league", "/api/leagues", s.LEAGUE),
    Endpoint(
        "resume", "POST", f"{_RUN}/resume", "Go on with a run.", "Job", body=s.NOTHING,
        status="202", errors=("404", "409"),
    ),
    Endpoint(
        "stop", "POST", f"{_RUN}/stop", "Stop a run; what was played is kept.", "Job",
        body=s.NOTHING, status="202", errors=("404", "409"),
    ),
    Endpoint(
        "truth", "GET", f"{_RUN}/games/{{pair}}/{{game}}/truth",
        "Who was winning a game at its opening, and where wins were thrown away.", "Truth",
        errors=("404", "422"),
    ),
    Endpoint(
        "gradings", "GET", "/api/gradings", "Every stored grading, the last one first.", "Gradings",
        errors=("422",),
    ),
    _start("grade", "/api/gradings", s.GRADING),
    Endpoint(
        "grading", "GET", _GRADING, "All about one grading.", "Grading", errors=("404", "422")
    ),
    Endpoint(
        "resume_grading", "POST", f"{_GRADING}/resume", "Go on with a grading.", "Job",
        body=s.NOTHING, status="202", errors=("404", "409"),
    ),
    Endpoint(
        "stop_grading", "POST", f"{_GRADING}/stop", "Stop a grading; its games are kept.",
        "Job", body=s.NOTHING, status="202", errors=("404", "409"),
    ),
    Endpoint(
        "dismiss", "POST", "/api/jobs/{job}/dismiss", "Take a job that is over off the list.",
        "Job", body=s.NOTHING, errors=("404", "409"),
    ),
    Endpoint(
        "choose", "POST", "/api/choose", "The move of an agent.", "Move", body=s.CHOOSE,
        errors=("429",),
    ),
    Endpoint(
        "opinions", "POST", "/api/opinions", "What heuristics say of each legal move.", "Opinions",
        body=s.OPINIONS, errors=("429",),
    ),
    Endpoint("studies", "GET", "/api/studies", "The five studies in short.", "Studies"),
)  # fmt: skip

PARAMETERS: dict[str, s.Schema] = {
    "run": s.RUN_ID,
    "job": s.JOB_ID,
    "grading": s.whole("A grading's number.", 1, 2**53 - 1),
    "pair": s.whole("A pair's number, from 0 on.", 0, 2**40),
    "game": s.whole("0 or 1.", 0, 1),
}


def description(version: str) -> dict[str, Any]:
    """The whole of it as OpenAPI has it."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "knightfall's lab",
            "version": version,
            "description": "What the served page asks. Meant for that page, on this machine.",
        },
        "paths": paths,
        "components": {
            "schemas": {**ANSWERS, "Error": ERROR},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN}},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    changes = endpoint.method != "GET"
    parameters = [
        _parameter(name, "path", schema, required=True)
        for name, schema in PARAMETERS.items()
        if f"{{{name}}}" in endpoint.path
    ]
    parameters += [_parameter(name, "query", one) for name, one in endpoint.query.items()]
    if changes:
        tab = {"type": "string", "pattern": s.CLIENT_PATTERN, "maxLength": 40}
        parameters.append(_parameter(CLIENT, "header", tab))
    answer = {"$ref": f"#/components/schemas/{endpoint.answer}"}
    if endpoint.kind != "application/json":
        answer = {"type": "string"}
    codes = {*ALWAYS, *endpoint.errors, *(OF_BODIES if changes else ())}
    codes |= {"422"} if parameters else set()
    responses = {
        endpoint.status: {
            "description": endpoint.summary,
            "content": {endpoint.kind: {"schema": answer}},
        },
        **{code: _error(code) for code in sorted(codes)},
    }
    found: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": responses,
    }
    if endpoint.body is not None:
        needed = bool(endpoint.body["required"])
        content = {"application/json": {"schema": endpoint.body}}
        found |= {"requestBody": {"required": needed, "content": content}}
    if changes:
        found["security"] = [{"token": []}]
    return found


def _parameter(name: str, where: str, schema: s.Schema, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _error(code: str) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/Error"}
    return {
        "description": REASONS[code],
        "content": {"application/json": {"schema": reference}},
    }
