"""The lab's HTTP API as data: requests, responses, endpoints, and `/openapi.json`.

`api` checks requests by the JSON Schemas of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knightfall.web.lab.guard import CLIENT, TOKEN

# -- the requests -----------------------------------------------------------------------------


Schema = dict[str, Any]

MOST_AGENTS = 40
MOST_PAIRS = 100_000
MOST_SEED = 2**53 - 1
"""Largest whole number that JavaScript represents exactly."""
MOST_OPENINGS = 10_000
LONGEST_AGENT = 500
MOST_GAMES = 500
CLIENT_NAME = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$", "maxLength": 40}
"""The name that a browser tab gives itself."""


def text(about: str, longest: int = LONGEST_AGENT, **more: Any) -> Schema:
    """Return the schema of a non-empty string."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": about, **more}


def whole(about: str, least: int, most: int, **more: Any) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most, "description": about, **more}


def listed(items: Schema, least: int, most: int, about: str, **more: Any) -> Schema:
    """Return the schema of a list."""
    bounds = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items, **bounds, "description": about, **more}


def fields(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


AGENT = text(
    "An agent string; files are named as /api/files lists them.",
    examples=["id(improved, nodes=2500)"],
)
BOARD = {
    "type": "string",
    "pattern": "^[0-9]{1,2}x[0-9]{1,2}$",
    "maxLength": 5,
    "default": "7x7",
    "examples": ["7x7"],
    "description": "Width and height; up to 64 cells.",
}
FEN = text("A position.", 200, examples=["7/7/1N5/7/7/4n2/7 w"])
SEED = whole("Seed of the openings and of random choices.", 0, MOST_SEED, default=0)
PAIRS = whole("Pairs of games in each match.", 1, MOST_PAIRS)

OPENINGS: dict[str, Schema] = {
    "board": BOARD,
    "seed": SEED,
    "stratify": {
        "type": "boolean",
        "default": False,
        "description": "Alternate openings in which the first player is hunter and runner.",
    },
    "budget": text("Budget of every agent with iterative deepening.", 40, examples=["nodes=2500"]),
    "again": {
        "type": "boolean",
        "default": False,
        "description": "Play again even if this run is in the store.",
    },
}
"""The fields that every kind of run takes."""

MATCH = fields(
    ("a", "b"),
    a=AGENT,
    b=AGENT,
    pairs=PAIRS,
    sprt=listed(
        {"type": "number", "minimum": -1000, "maximum": 1000},
        2,
        2,
        "Play until one of two hypotheses about A's normalized Elo is accepted, as in [0, 20].",
    ),
    **OPENINGS,
)
TOURNAMENT = fields(
    (),
    tests=listed(AGENT, 0, MOST_AGENTS, "Agents to test; default: the studies' six.", default=[]),
    against=listed(AGENT, 0, MOST_AGENTS, "Opponents; default: the course's seven.", default=[]),
    protocol={"type": "string", "enum": ["2017b", "2017a"], "default": "2017b"},
    pairs=PAIRS,
    **OPENINGS,
)
LEAGUE = fields(
    ("agents",),
    agents=listed(AGENT, 2, MOST_AGENTS, "Agents to rate."),
    gauntlet=whole(
        "Number of agents, from the first, that meet all others; the others do not meet.",
        1,
        MOST_AGENTS,
    ),
    until={
        "type": "number",
        "minimum": 0.1,
        "maximum": 9999,
        "description": "Stop once each neighbour in the ranking is told apart, or its Elo "
        "difference has at most this error.",
    },
    pairs={**PAIRS, "default": 50},
    **OPENINGS,
)
GRADING = fields(
    ("agent",),
    agent=AGENT,
    openings=whole("Games that the agent plays against itself.", 1, MOST_OPENINGS, default=50),
    seed=SEED,
    board=BOARD,
)
CHOOSE = fields(("agent", "fen"), agent=AGENT, fen=FEN, seed=SEED)
OPINIONS = fields(
    ("heuristics", "fen"),
    heuristics=listed(
        text("A heuristic's id, as in mine.py:cosy.", examples=["improved"]),
        1,
        8,
        "Heuristics to evaluate.",
    ),
    fen=FEN,
)
NOTHING = fields()

_NUMBER = whole("An entrant's number.", 0, 1000)
GAMES: dict[str, Schema] = {
    "match": whole("The number of the match.", 0, 10_000),
    "of": _NUMBER,
    "won_by": _NUMBER,
    "lost_by": _NUMBER,
    "first": {**_NUMBER, "description": "The entrant that moves first."},
    "hunter": {**_NUMBER, "description": "The entrant that is the hunter."},
    "runner": {**_NUMBER, "description": "The entrant that is the runner."},
    "reason": {
        "type": "string",
        "enum": ["no moves", "timeout", "forfeit", "illegal", "crash"],
        "description": "Why the game was lost.",
    },
    "score": whole("Games of the pair that the match's first agent won.", 0, 2),
    "skip": whole("Number of games to leave out at the beginning.", 0, 10**9, default=0),
    "limit": whole("Most games to return.", 1, MOST_GAMES, default=100),
}
"""Filters for the games of a run."""

PART_NAME = "^[a-z]{1,20}$"
"""Pattern of the name of a page part, which becomes a word in the page's address."""

RUN_ID = whole("A run's number.", 1, 2**53 - 1)
JOB_ID = {"type": "string", "pattern": "^[0-9]{1,9}$", "description": "A job's id."}


# -- responses --------------------------------------------------------------------------------


_TYPES: dict[str, Schema] = {
    "": {},
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "flag": {"type": "boolean"},
    "text?": {"type": ["string", "null"]},
    "whole?": {"type": ["integer", "null"]},
    "texts": {"type": "array", "items": {"type": "string"}},
    "wholes": {"type": "array", "items": {"type": "integer"}},
}


def _object(fields: str, **more: Schema) -> Schema:
    """Return the schema of an object with at least these fields: ``name`` or ``name:type`` each.

    Types are those of `_TYPES`; `more` has the fields that have a schema of their own.
    """
    named = (field.partition(":") for field in fields.split())
    properties = {name: _TYPES[kind] for name, _, kind in named} | more
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


ERROR = _object("error:text")
JOB = _object(
    "id:text kind title names:texts run:whole? grading:whole? done:whole total:whole error:text "
    "notices:texts",
    state={"type": "string", "enum": ["starting", "playing", "finished", "stopped", "failed"]},
)
FUNCTION = _object("name:text id:text summary:text error:text")
FILE = _object(
    "name:text error:text line:whole? looking:flag",
    heuristics=_list(FUNCTION),
    agents=_list(FUNCTION),
)
RUN_IN_SHORT = _object(
    "id:whole kind names:texts short:texts played:whole total:whole created:text finished:text? "
    "verdict:text"
)
GAME_IN_SHORT = _object(
    "id:text run pair game first:whole second:whole reason plies:whole opening:text hunter",
    winner={"type": "string", "enum": ["w", "b"]},
    opening_winner={"enum": ["w", "b", None]},
)
GRADING_IN_SHORT = _object(
    "id:whole name:text short:text board seed games:whole openings:whole created finished:flag kept"
)

ANSWERS: dict[str, Schema] = {
    "About": _object("name version server store limits heuristics kinds protocols"),
    "State": _object("server store", jobs=_list(JOB), files=_list(FILE)),
    "Files": _object("", files=_list(FILE)),
    "Runs": _object("pending:flag refused:texts", runs=_list(RUN_IN_SHORT)),
    "Run": _object(
        "run:whole report entrants matches text llr resumable:flag why_not:text",
        recent=_list(GAME_IN_SHORT),
    ),
    "Games": _object("names short more:flag", games=_list(GAME_IN_SHORT)),
    "Game": GAME_IN_SHORT,
    "Job": JOB,
    "Truth": _object("opening thrown:wholes known_from:whole"),
    "Gradings": _object("", gradings=_list(GRADING_IN_SHORT)),
    "Grading": _object("grade games resumable:flag why_not:text job", grading=GRADING_IN_SHORT),
    "Move": _object("move:text score proven plies depth nodes seconds pv"),
    "Opinions": _object("moves:texts opinions"),
    "Parts": _object("", parts=_list(_object("name:text title:text"))),
    "Part": _object("name:text title:text html:text"),
    "Studies": _object("studies report:flag"),
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
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    status: str = "200"
    kind: str = "application/json"


def _get(name: str, path: str, summary: str, answer: str, **more: Any) -> Endpoint:
    return Endpoint(name, "GET", path, summary, answer, **more)


def _job(
    name: str, path: str, summary: str, body: Schema = NOTHING, status: str = "202"
) -> Endpoint:
    """Return an endpoint that changes a job and returns it."""
    return Endpoint(name, "POST", path, summary, "Job", body, errors=("409",), status=status)


_RUN, _GRADING = "/api/runs/{run}", "/api/gradings/{grading}"
_GAME = f"{_RUN}/games/{{pair}}/{{game}}"
ENDPOINTS = (
    _get("about", "/api/about", "The lab's version and limits.", "About"),
    _get(
        "events", "/api/events", "Server-sent events; each contains the whole state.", "State",
        query={"client": CLIENT_NAME}, errors=("429",), kind="text/event-stream",
    ),
    _get("state", "/api/state", "The state that the events contain, once.", "State"),
    _get("files", "/api/files", "The user's files, with what is in them.", "Files"),
    _get(
        "runs", "/api/runs", "The stored runs, the latest first.", "Runs",
        query={"limit": whole("Most runs to return.", 1, 10_000, default=200)},
    ),
    _get("run", _RUN, "One run with its report.", "Run"),
    _get("games", f"{_RUN}/games", "Games that pass filters.", "Games", query=GAMES),
    _get("game", _GAME, "One game, move by move.", "Game"),
    _job("match", "/api/matches", "Begin a match.", MATCH),
    _job("tournament", "/api/tournaments", "Begin a tournament.", TOURNAMENT),
    _job("league", "/api/leagues", "Begin a league.", LEAGUE),
    _job("resume", f"{_RUN}/resume", "Resume a run."),
    _job("stop", f"{_RUN}/stop", "Stop a run; what was played is kept."),
    _get(
        "truth", f"{_GAME}/truth",
        "Who was winning a game at its opening, and where wins were thrown away.", "Truth",
    ),
    _get("gradings", "/api/gradings", "The stored gradings, the latest first.", "Gradings"),
    _job("grade", "/api/gradings", "Begin a grading.", GRADING),
    _get("grading", _GRADING, "One grading with its games.", "Grading"),
    _job("resume_grading", f"{_GRADING}/resume", "Resume a grading."),
    _job("stop_grading", f"{_GRADING}/stop", "Stop a grading; its games are kept."),
    _job(
        "dismiss", "/api/jobs/{job}/dismiss", "Remove a job that has ended from the list.",
        status="200",
    ),
    Endpoint(
        "choose", "POST", "/api/choose", "The move that an agent chooses.", "Move", CHOOSE,
        errors=("429",),
    ),
    Endpoint(
        "opinions", "POST", "/api/opinions", "Values of legal moves by heuristics.", "Opinions",
        OPINIONS, errors=("429",),
    ),
    _get("studies", "/api/studies", "The five studies in short.", "Studies", errors=("404",)),
    _get("parts", "/api/parts", "The views that extensions add to the page.", "Parts"),
    _get("part", "/api/parts/{part}", "The HTML of a view that an extension adds.", "Part"),
)  # fmt: skip

PARAMETERS: dict[str, Schema] = {
    "run": RUN_ID,
    "job": JOB_ID,
    "grading": whole("A grading's number.", 1, 2**53 - 1),
    "pair": whole("A pair's number, from 0 on.", 0, 2**40),
    "game": whole("The game of the pair: 0 or 1.", 0, 1),
    "part": text("The name of a view that an extension adds.", 20, pattern=PART_NAME),
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
        parameters.append(_parameter(CLIENT, "header", CLIENT_NAME))
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


def _parameter(name: str, where: str, schema: Schema, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": schema}


def _error(code: str) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/Error"}
    return {
        "description": REASONS[code],
        "content": {"application/json": {"schema": reference}},
    }
