"""What requests may say, as JSON Schema: checked by `inputs`, shown in `/openapi.json`."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

MOST_AGENTS = 40
MOST_PAIRS = 100_000
MOST_SEED = 2**53 - 1
"""Whole numbers up to here are the same in every browser."""
MOST_OPENINGS = 10_000
LONGEST_AGENT = 500
MOST_GAMES = 500
CLIENT_PATTERN = "^[A-Za-z0-9_-]{1,40}$"


def text(about: str, longest: int = LONGEST_AGENT, **more: Any) -> Schema:
    """Some letters."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": about, **more}


def whole(about: str, least: int, most: int, **more: Any) -> Schema:
    """A whole number."""
    return {"type": "integer", "minimum": least, "maximum": most, "description": about, **more}


def listed(items: Schema, least: int, most: int, about: str, **more: Any) -> Schema:
    """Several of the same."""
    bounds = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items, **bounds, "description": about, **more}


def fields(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


AGENT = text(
    "An agent string, as everywhere in knightfall; files only by the names that /api/files lists.",
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
SEED = whole("Decides the openings and every broken tie.", 0, MOST_SEED, default=0)
PAIRS = whole("Pairs of games a match.", 1, MOST_PAIRS)

OPENINGS: dict[str, Schema] = {
    "board": BOARD,
    "seed": SEED,
    "stratify": {
        "type": "boolean",
        "default": False,
        "description": "Openings where the mover hunts and where it runs take turns.",
    },
    "budget": text("For every agent that deepens, as in nodes=2500.", 40, examples=["nodes=2500"]),
    "again": {
        "type": "boolean",
        "default": False,
        "description": "Play anew even if this run is in the store.",
    },
}
"""What every run takes."""

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
    tests=listed(AGENT, 0, MOST_AGENTS, "Who is tested; by default the studies' six.", default=[]),
    against=listed(AGENT, 0, MOST_AGENTS, "Opponents; by default the course's.", default=[]),
    protocol={"type": "string", "enum": ["2017b", "2017a"], "default": "2017b"},
    pairs=PAIRS,
    **OPENINGS,
)
LEAGUE = fields(
    ("agents",),
    agents=listed(AGENT, 2, MOST_AGENTS, "Who is rated."),
    gauntlet=whole("Only the first so many meet all the others.", 1, MOST_AGENTS),
    until={
        "type": "number",
        "minimum": 0.1,
        "maximum": 9999,
        "description": "Stop once neighbours are told apart or known to within so many Elo.",
    },
    pairs={**PAIRS, "default": 50},
    **OPENINGS,
)
GRADING = fields(
    ("agent",),
    agent=AGENT,
    openings=whole("Games against itself.", 1, MOST_OPENINGS, default=50),
    seed=SEED,
    board=BOARD,
)
CHOOSE = fields(("agent", "fen"), agent=AGENT, fen=FEN, seed=SEED)
OPINIONS = fields(
    ("heuristics", "fen"),
    heuristics=listed(
        text("A heuristic's id, as in mine.py:cosy.", examples=["improved"]), 1, 8, "Who is asked."
    ),
    fen=FEN,
)
NOTHING = fields()

_NUMBER = whole("An entrant's number.", 0, 1000)
GAMES: dict[str, Schema] = {
    "match": whole("Games of this match only.", 0, 10_000),
    "of": _NUMBER,
    "won_by": _NUMBER,
    "lost_by": _NUMBER,
    "first": {**_NUMBER, "description": "Who moves first."},
    "hunter": {**_NUMBER, "description": "Who hunts."},
    "runner": {**_NUMBER, "description": "Who runs."},
    "reason": {
        "type": "string",
        "enum": ["no moves", "timeout", "forfeit", "illegal", "crash"],
        "description": "What it was lost by.",
    },
    "score": whole("Games that the first of the match's two won in the pair.", 0, 2),
    "skip": whole("So many games are left out at the beginning.", 0, 10**9, default=0),
    "limit": whole("At most so many games.", 1, MOST_GAMES, default=100),
}
"""Which games of a run are wanted."""

RUN_ID = whole("A run's number.", 1, 2**53 - 1)
JOB_ID = {"type": "string", "pattern": "^[0-9]{1,9}$", "description": "What a start answered."}
