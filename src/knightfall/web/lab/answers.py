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
    "Studies": _object("studies report", report=_FLAG),
}
