"""An agent in a user's Python file: a function or a class that is asked for moves.

A function gets a `Position` and returns the name of the cell to move to.  Of a class, one instance
is made for each game, without arguments; its method ``choose(position)`` does the same, and an
instance without such a method is called instead.  If there is a method ``new_game()``, it is called
once before the first move of the game.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.user_files import UserFunction, describe, parse_function


def parse_chooser(text: str) -> UserFunction:
    """Return what ``file.py:name`` names, checked for its form; the file is looked at later."""
    function = parse_function(text)
    if function is None:
        raise KnightfallError(f"{text!r} is not a function or class in a file: mine.py:choose")
    return function


def load_player(text: str) -> Any:
    """Return the function or class of ``file.py:name``; refuse what cannot be asked for moves."""
    parsed = parse_chooser(text)
    found = parsed.load("agent")
    if callable(getattr(found, "choose", None)):
        return found
    if isinstance(found, type):
        if not any("__call__" in vars(base) for base in found.__mro__):
            raise KnightfallError(
                f"agent {text}: class {parsed.name!r} has no method choose(position)"
            )
    elif not callable(found):
        raise KnightfallError(f"agent {text}: {parsed.name!r} is neither a function nor a class")
    return found


class GamePlayer:
    """A user's agent in one game; whatever it does but move is an `AgentFailure`."""

    def __init__(self, text: str) -> None:
        """Load the file unless it is loaded, make the instance of a class, begin the game."""
        self._text = text
        self._file = str(parse_chooser(text).file("agent"))
        found = load_player(text)
        player = self._run(found) if isinstance(found, type) else found
        self._choose: Callable[[Position], Any] = getattr(player, "choose", player)
        begin = getattr(player, "new_game", None)
        if callable(begin):
            self._run(begin)

    def analyse(self, position: Position) -> Report:
        """Return the agent's move.  It is not interrupted."""
        start = time.perf_counter()
        answer = self._run(self._choose, position)
        seconds = time.perf_counter() - start
        if answer is None:
            raise AgentFailure("forfeit", f"{self._text} answered nothing")
        if not isinstance(answer, str) or answer not in position.legal_moves:
            said = f"{self._text} answered {answer!r:.60}, which is no legal move"
            raise AgentFailure("illegal", said)
        return Report(answer, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(answer,))

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # sys.exit() is no way to move, either
            raise AgentFailure("crash", describe(self._file, error, self._text)) from None
