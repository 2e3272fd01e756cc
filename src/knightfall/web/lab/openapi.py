"""The lab's HTTP API as data: endpoints, schemas of responses, and `/openapi.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knightfall.web.lab import schemas as s
from knightfall.web.lab.guard import CLIENT, TOKEN
from knightfall.web.lab.page_parts import NAME

# -- responses --------------------------------------------------------------------------------


Schema = dict[str, Any]


def _object(required: str, **more: Schema) -> Schema:
    """Return the schema of an object with at least these fields; `more` maps some to schemas."""
    names = required.split()
    return {"type": "object", "required": names, "properties": {n: {} for n in names} | more}


_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_MAYBE: Schema = {"type": ["integer", "null"]}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


ERROR = _object("error", error=_TEXT)
JOB = _object(
    "id kind title names state run grading done total error notices",
    id=_TEXT,
    state={"type": "string", "enum": ["starting", "playing", "finished", "stopped", "failed"]},
    names=_list(_TEXT),
    run=_MAYBE,
    grading=_MAYBE,
    done=_WHOLE,
    total=_WHOLE,
    error=_TEXT,
    notices=_list(_TEXT),
)
FUNCTION = _object("name id summary error", name=_TEXT, id=_TEXT, summary=_TEXT, error=_TEXT)
FILE = _object(
    "name error line heuristics agents looking",
    name=_TEXT,
    error=_TEXT,
    line=_MAYBE,
    heuristics=_list(FUNCTION),
    agents=_list(FUNCTION),
    looking=_FLAG,
)
RUN_IN_SHORT = _object(
    "id kind names short played total created finished verdict",
    id=_WHOLE,
    names=_list(_TEXT),
    short=_list(_TEXT),
    verdict=_TEXT,
    played=_WHOLE,
    total=_WHOLE,
    created=_TEXT,
    finished=_MAYBE_TEXT,
)
GAME_IN_SHORT = _object(
    "id run pair game first second winner reason plies opening hunter opening_winner",
    id=_TEXT,
    first=_WHOLE,
    second=_WHOLE,
    winner={"type": "string", "enum": ["w", "b"]},
    plies=_WHOLE,
    opening=_TEXT,
    opening_winner={"enum": ["w", "b", None]},
)
GRADING_IN_SHORT = _object(
    "id name short board seed games openings created finished kept",
    id=_WHOLE,
    name=_TEXT,
    short=_TEXT,
    games=_WHOLE,
    openings=_WHOLE,
    finished=_FLAG,
)

ANSWERS: dict[str, Schema] = {
    "About": _object("name version server store limits heuristics kinds protocols"),
    "State": _object("server store jobs files", jobs=_list(JOB), files=_list(FILE)),
    "Files": _object("files", files=_list(FILE)),
    "Runs": _object("runs pending", runs=_list(RUN_IN_SHORT), pending=_FLAG),
    "Run": _object(
        "run report entrants matches text recent llr resumable why_not",
        run=_WHOLE,
        recent=_list(GAME_IN_SHORT),
        resumable=_FLAG,
        why_not=_TEXT,
    ),
    "Games": _object("games names short more", games=_list(GAME_IN_SHORT), more=_FLAG),
    "Game": GAME_IN_SHORT,
    "Job": JOB,
    "Truth": _object("opening thrown known_from", thrown=_list(_WHOLE), known_from=_WHOLE),
    "Gradings": _object("gradings", gradings=_list(GRADING_IN_SHORT)),
    "Grading": _object(
        "grading grade games resumable why_not job", grading=GRADING_IN_SHORT, resumable=_FLAG
    ),
    "Move": _object("move score proven plies depth nodes seconds pv", move=_TEXT),
    "Opinions": _object("moves opinions", moves=_list(_TEXT)),
    "Parts": _object("parts", parts=_list(_object("name title", name=_TEXT, title=_TEXT))),
    "Part": _object("name title html", name=_TEXT, title=_TEXT, html=_TEXT),
    "Studies": _object("studies report", report=_FLAG),
}


# -- endpoints --------------------------------------------------------------------------------


REASONS = {
    "400": "The body is not JSON.",
    "403": "The request comes from another site's page, or lacks the token.",
    "404": "The run, game, grading, job or view does not exist.",
    "405": "The address does not support this method.",
    "409": "Not possible now: too many runs are being played, or this one is, or is not.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
    "422": "A value is invalid; the error names it and says what is accepted.",
    "429": "Too many searches or streams at the same time.",
}
ALWAYS = ("403", "405", "422")
OF_BODIES = ("400", "413", "415")


@dataclass(frozen=True)
class Endpoint:
    """An endpoint of the API: its address, and what it takes and returns.

    `errors` lists statuses beside those of every endpoint, of bodies and of path parameters (404).
    """

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


def _get(name: str, path: str, summary: str, answer: str, **more: Any) -> Endpoint:
    return Endpoint(name, "GET", path, summary, answer, **more)


def _job(
    name: str, path: str, summary: str, body: s.Schema = s.NOTHING, status: str = "202"
) -> Endpoint:
    """Return an endpoint that changes a job and returns it."""
    return Endpoint(name, "POST", path, summary, "Job", body, errors=("409",), status=status)


_RUN, _GRADING = "/api/runs/{run}", "/api/gradings/{grading}"
_GAME = f"{_RUN}/games/{{pair}}/{{game}}"
ENDPOINTS = (
    _get("about", "/api/about", "The lab's version and limits.", "About"),
    _get(
        "events", "/api/events", "Server-sent events; each contains the whole state.", "State",
        query={"client": s.CLIENT_NAME}, errors=("429",), kind="text/event-stream",
    ),
    _get("state", "/api/state", "The state that the events contain, once.", "State"),
    _get("files", "/api/files", "The user's files, with what is in them.", "Files"),
    _get(
        "runs", "/api/runs", "The stored runs, the latest first.", "Runs",
        query={"limit": s.whole("Most runs to return.", 1, 10_000, default=200)},
    ),
    _get("run", _RUN, "One run with its report.", "Run"),
    _get("games", f"{_RUN}/games", "Games that pass filters.", "Games", query=s.GAMES),
    _get("game", _GAME, "One game, move by move.", "Game"),
    _job("match", "/api/matches", "Begin a match.", s.MATCH),
    _job("tournament", "/api/tournaments", "Begin a tournament.", s.TOURNAMENT),
    _job("league", "/api/leagues", "Begin a league.", s.LEAGUE),
    _job("resume", f"{_RUN}/resume", "Resume a run."),
    _job("stop", f"{_RUN}/stop", "Stop a run; what was played is kept."),
    _get(
        "truth", f"{_GAME}/truth",
        "Who was winning a game at its opening, and where wins were thrown away.", "Truth",
    ),
    _get("gradings", "/api/gradings", "The stored gradings, the latest first.", "Gradings"),
    _job("grade", "/api/gradings", "Begin a grading.", s.GRADING),
    _get("grading", _GRADING, "One grading with its games.", "Grading"),
    _job("resume_grading", f"{_GRADING}/resume", "Resume a grading."),
    _job("stop_grading", f"{_GRADING}/stop", "Stop a grading; its games are kept."),
    _job(
        "dismiss", "/api/jobs/{job}/dismiss", "Remove a job that has ended from the list.",
        status="200",
    ),
    Endpoint(
        "choose", "POST", "/api/choose", "The move that an agent chooses.", "Move", s.CHOOSE,
        errors=("429",),
    ),
    Endpoint(
        "opinions", "POST", "/api/opinions", "Values of legal moves by heuristics.", "Opinions",
        s.OPINIONS, errors=("429",),
    ),
    _get("studies", "/api/studies", "The five studies in short.", "Studies", errors=("404",)),
    _get("parts", "/api/parts", "The views that extensions add to the page.", "Parts"),
    _get("part", "/api/parts/{part}", "The HTML of a view that an extension adds.", "Part"),
)  # fmt: skip

PARAMETERS: dict[str, s.Schema] = {
    "run": s.RUN_ID,
    "job": s.JOB_ID,
    "grading": s.whole("A grading's number.", 1, 2**53 - 1),
    "pair": s.whole("A pair's number, from 0 on.", 0, 2**40),
    "game": s.whole("The game of the pair: 0 or 1.", 0, 1),
    "part": s.text("The name of a view that an extension adds.", 20, pattern=NAME),
}


def description(version: str) -> dict[str, Any]:
    """Return the OpenAPI description of all endpoints."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "knightfall's lab",
            "version": version,
            "description": "The requests of the lab's own page, for use on this machine.",
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
        parameters.append(_parameter(CLIENT, "header", s.CLIENT_NAME))
    answer = {"$ref": f"#/components/schemas/{endpoint.answer}"}
    if endpoint.kind != "application/json":
        answer = {"type": "string"}
    codes = {*ALWAYS, *endpoint.errors, *(OF_BODIES if changes else ())}
    codes |= {"404"} if "{" in endpoint.path else set()
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
