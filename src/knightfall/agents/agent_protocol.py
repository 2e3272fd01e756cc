"""The protocol of an agent in a process of its own: requests, answers, and their validation.

`HostedAgent` answers requests in the agent's process.  The functions below it parse the answers in
the main process.  They validate every field, because user code in the agent's process can write
anything to the connection.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import Any

from knightfall.agents.base import Agent
from knightfall.agents.parse import parse_agent
from knightfall.board import Board
from knightfall.display.printable import storable
from knightfall.errors import AgentFailure
from knightfall.isolation.host_process import LONGEST_TEXT, Broken, check_answer
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.untrusted_input import Real, Text, Whole, shown

HOSTED = f"{__name__}:HostedAgent"
"""The import path that a host is given."""

MOST_FILES, LONGEST_PATH, MOST_WARNINGS, MOST_DEPTH = 10_000, 4096, 10, 10_000


class HostedAgent:
    """An agent in a process of its own: loaded once, then asked about the positions of a game."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._agent: Agent
        self._player: Any = None  # the result of `Agent.new_game`

    def load(self) -> dict[str, Any]:
        """Load the agent; return the paths of its files, and the warnings from knightfall."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._agent = parse_agent(self._text)
            self._agent.load()
        ours = [one for one in caught if one.category.__module__.startswith("knightfall.")]
        return {
            "files": self._agent.loaded_files(),
            "warnings": [str(one.message)[:LONGEST_TEXT] for one in ours[:MOST_WARNINGS]],
        }

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; ``question["ask"]`` says what is requested."""
        agent, asked = self._agent, question["ask"]
        if asked == "game":
            self._player = agent.new_game(question["seed"], question["side"])
            return {}
        if asked == "move":
            position = Position.from_fen(question["fen"])
            if question["last"] is not None:
                position = replace(position, last=tuple(question["last"]))
            return asdict((self._player or agent).analyse(position))
        if asked == "board":
            agent.warm_up(Board.of(*question["board"]))
            return {}
        if asked == "value":
            position = Position.from_fen(question["fen"])
            value, exact = agent.evaluator.measure(position, question["side"], question["steps"])
            return {"value": value, "exact": exact}
        return agent.answer(question)


# -- reading the answers ---------------------------------------------------------------------

_LOADED = {"files": [Text(LONGEST_PATH)], "warnings": [Text(LONGEST_TEXT)]}
_REPORT = {
    **{"move": object, "score": Real, "proven": bool, "plies": (None, Whole(0, MOST_DEPTH))},
    **{"depth": Whole(0, MOST_DEPTH), "nodes": Whole(), "seconds": object, "pv": [str]},
    **{"cut": Whole(), "note": Text(LONGEST_TEXT)},
}


def read_loaded(answer: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the files and warnings that an answer lists.  Raise `Broken` if it is invalid."""
    check_answer(_LOADED, answer)
    files, warnings = answer["files"], answer["warnings"]
    if len(files) > MOST_FILES or len(warnings) > MOST_WARNINGS:
        raise Broken(f"a list of too many files ({len(files)}) or warnings ({len(warnings)})")
    if not all(path.startswith("/") or path[1:3] == ":\\" for path in files):
        raise Broken("file paths that are not absolute")
    if any("\0" in path for path in files):
        raise Broken("file names that contain a NUL character")
    return files, [storable(text) for text in warnings]


def read_value(answer: dict[str, Any]) -> tuple[float, bool]:
    """Return a heuristic's value, and whether it is exact.  Raise `Broken` if it is invalid."""
    check_answer({"value": Real, "exact": bool}, answer)
    return float(answer["value"]), answer["exact"]


def read_report(answer: dict[str, Any], position: Position, seconds: float) -> Report:
    """Return the report on a position; `seconds` replaces the agent's own timing.

    Raise an `AgentFailure` for an illegal move, and `Broken` for any other invalid field.
    """
    check_answer(_REPORT, answer)
    move, line, board = answer["move"], answer["pv"], position.board
    if not isinstance(move, str) or move not in position.legal_moves:
        raise AgentFailure("illegal", f"{storable(shown(move, 60))} is not a legal move")
    names = {board.name(cell) for cell in range(board.cells)}
    if len(line) > board.cells + 2 or not names.issuperset(line):
        raise Broken(
            f"a principal variation of {len(line)} moves that is too long or has unknown cells"
        )
    score, note = float(answer["score"]), storable(answer["note"])
    return Report(**{**answer, "score": score, "seconds": seconds, "pv": tuple(line), "note": note})
