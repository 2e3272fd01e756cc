"""What the lab answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(required: str, **more: Schema) -> Schema:
    """An object that has at least these fields; of some it is said what they are."""
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
    "id kind title state run done total error notices",
    id=_TEXT,
    state={"type": "string", "enum": ["starting", "playing", "finished", "stopped", "failed"]},
    run=_MAYBE,
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
    "id kind names played total created finished verdict",
    id=_WHOLE,
    names=_list(_TEXT),
    played=_WHOLE,
    total=_WHOLE,
    created=_TEXT,
    finished=_MAYBE_TEXT,
)
GAME_IN_SHORT = _object(
    "id run pair game first second winner reason plies opening hunter",
    id=_TEXT,
    first=_WHOLE,
    second=_WHOLE,
    winner={"type": "string", "enum": ["w", "b"]},
    plies=_WHOLE,
    opening=_TEXT,
)

ANSWERS: dict[str, Schema] = {
    "About": _object("name version server store limits heuristics kinds protocols"),
    "State": _object("server store jobs files", jobs=_list(JOB), files=_list(FILE)),
    "Files": _object("files", files=_list(FILE)),
    "Runs": _object("runs", runs=_list(RUN_IN_SHORT)),
    "Run": _object(
        "run report entrants matches text recent llr resumable why_not",
        run=_WHOLE,
        recent=_list(GAME_IN_SHORT),
        resumable=_FLAG,
        why_not=_TEXT,
    ),
    "Games": _object("games names more", games=_list(GAME_IN_SHORT), more=_FLAG),
    "Game": GAME_IN_SHORT,
    "Job": JOB,
    "Gradings": _object("gradings", gradings=_list(JOB)),
    "Grading": _object("job grade games", job=JOB),
    "Move": _object("move score proven plies depth nodes seconds pv", move=_TEXT),
    "Opinions": _object("moves opinions", moves=_list(_TEXT)),
    "Studies": _object("studies report", report=_FLAG),
}
