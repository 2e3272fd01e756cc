"""JSON Schemas of the lab's requests, which are checked here and shown in `/openapi.json`.

An error names the field, what was given and what is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from knightfall.display.printable import one_line
from knightfall.errors import KnightfallError
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
from knightfall.web.lab.guard import RequestRefused

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

RUN_ID = whole("A run's number.", 1, 2**53 - 1)
JOB_ID = {"type": "string", "pattern": "^[0-9]{1,9}$", "description": "A job's id."}


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

    Only the parts of JSON Schema that the requests above use are supported.
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
