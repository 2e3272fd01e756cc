"""What an agent's process says, believed only as far as it can be checked.

Whoever runs in that process can write whatever it likes into the connection.  So an answer is what
it should be in every field, or it is a `Broken` one: nothing else comes out of here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from knightfall.arena.plan import one_line
from knightfall.errors import AgentFailure, Failing
from knightfall.position import Position
from knightfall.search.budget import Report

CAUSED: tuple[Failing, ...] = ("timeout", "forfeit", "illegal", "crash")
"""What an agent can lose by; that it had no move left is for the rules to say."""

LONGEST_TEXT = 500
MOST_FILES, LONGEST_PATH, MOST_WARNINGS = 10_000, 4096, 10
MOST_COUNT = 2**63 - 1
MOST_DEPTH = 10_000


class Broken(Exception):
    """An answer that is none: what is wrong with it."""


def read_answer(text: bytes) -> dict[str, Any]:
    """An answer as an object; the agent's own failure is raised as such."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise Broken("no JSON") from None
    if not isinstance(answer, dict):
        raise Broken("no object")
    if answer.keys() == {"reason", "detail"}:
        reason = answer["reason"]
        if reason not in CAUSED:
            raise Broken(f"the reason {_shown(reason)}, which is none to lose by")
        raise AgentFailure(reason, _text(answer, "detail"))
    return answer


def nothing(answer: dict[str, Any]) -> None:
    """An answer that says no more than that something is done."""
    _keys(answer, set())


def loaded(answer: dict[str, Any]) -> tuple[list[str], list[str], bool]:
    """Return the files of an agent, the warnings, and whether its process forks for each game."""
    _keys(answer, {"files", "warnings", "forks"})
    files = _texts(answer, "files", MOST_FILES, LONGEST_PATH)
    if not all(path.startswith("/") or path[1:3] == ":\\" for path in files):
        raise Broken("files without their full paths")
    if any("\0" in path for path in files):
        raise Broken("files with impossible names")
    warnings = [one_line(text) for text in _texts(answer, "warnings", MOST_WARNINGS)]
    return files, warnings, _flag(answer, "forks")


def valued(answer: dict[str, Any]) -> tuple[float, bool]:
    """A heuristic's value, and whether it is exact."""
    _keys(answer, {"value", "exact"})
    return _number(answer, "value"), _flag(answer, "exact")


def acted(answer: dict[str, Any]) -> int:
    """An action of the successor's game; whether it is a legal one is for its rules to say."""
    _keys(answer, {"action"})
    action = answer["action"]
    if type(action) is not int or abs(action) > 1000:
        raise Broken(f"the action {_shown(action)}, which is none")
    return action


def opinions(answer: dict[str, Any], position: Position) -> dict[str, float | None]:
    """A number or nothing for each legal move."""
    _keys(answer, {"opinions"})
    said = answer["opinions"]
    if not isinstance(said, dict) or said.keys() != set(position.legal_moves):
        raise Broken("opinions of other moves than the legal ones")
    return {move: None if said[move] is None else _number(said, move) for move in said}


def line(answer: dict[str, Any]) -> str:
    """Return the words about a line of a submission's code."""
    _keys(answer, {"line"})
    return _text(answer, "line")


def clocks(answer: dict[str, Any]) -> bool:
    """Return whether a submission asks Python's clocks."""
    _keys(answer, {"clocks"})
    return answer["clocks"] is True


def reported(answer: dict[str, Any], position: Position, seconds: float) -> Report:
    """The report on a position; `seconds` are ours, whatever it says of them."""
    _keys(answer, set(Report.__dataclass_fields__))
    move = answer["move"]
    if not isinstance(move, str) or move not in position.legal_moves:
        raise AgentFailure("illegal", f"{_shown(move)} is no legal move")
    cells = position.board.cells
    line = _texts(answer, "pv", cells + 2)
    names = {position.board.name(cell) for cell in range(cells)}
    if not names.issuperset(line):
        raise Broken("a line through cells that are none")
    plies = answer["plies"]
    return Report(
        move=move,
        score=_number(answer, "score"),
        proven=_flag(answer, "proven"),
        plies=None if plies is None else _count(answer, "plies", MOST_DEPTH),
        depth=_count(answer, "depth", MOST_DEPTH),
        nodes=_count(answer, "nodes", MOST_COUNT),
        seconds=seconds,
        pv=tuple(line),
        cut=_count(answer, "cut", MOST_COUNT),
        note=one_line(_text(answer, "note")),
    )


# -- fields ----------------------------------------------------------------------------------


def _keys(answer: dict[str, Any], expected: set[str]) -> None:
    if answer.keys() != expected:
        raise Broken(f"an object with {_shown(sorted(answer))} in it")


def _checked(answer: dict[str, Any], key: str, fits: Callable[[Any], bool], wanted: str) -> Any:
    value = answer[key]
    if not fits(value):
        raise Broken(f"{key} {_shown(value)}, which is not {wanted}")
    return value


def _text(answer: dict[str, Any], key: str) -> str:
    def fits(value: Any) -> bool:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT

    return _checked(answer, key, fits, f"a text of at most {LONGEST_TEXT} letters")  # type: ignore[no-any-return]


def _texts(answer: dict[str, Any], key: str, most: int, longest: int = LONGEST_TEXT) -> list[str]:
    def fits(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= most
            and all(isinstance(text, str) and len(text) <= longest for text in value)
        )

    return _checked(answer, key, fits, f"at most {most} texts")  # type: ignore[no-any-return]


def _flag(answer: dict[str, Any], key: str) -> bool:
    return _checked(answer, key, lambda value: isinstance(value, bool), "true or false")  # type: ignore[no-any-return]


def _count(answer: dict[str, Any], key: str, most: int) -> int:
    def fits(value: Any) -> bool:
        return type(value) is int and 0 <= value <= most

    return _checked(answer, key, fits, f"a whole number from 0 to {most}")  # type: ignore[no-any-return]


def _number(answer: dict[str, Any], key: str) -> float:
    def fits(value: Any) -> bool:
        return type(value) is float or (type(value) is int and abs(value) <= MOST_COUNT)

    return float(_checked(answer, key, fits, "a number"))


def _shown(value: Any) -> str:
    """As much of anything as fits into a line."""
    try:
        return one_line(f"{value!r:.60}")
    except RecursionError:
        return "something in itself, and so on"
