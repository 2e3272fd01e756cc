"""An agent that is a Python function: it gets a `Position` and names the cell to move to."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position
from knightfall.search.report import Report
from knightfall.user_files import UserFunction, describe, parse_function


def parse_chooser(text: str) -> UserFunction:
    """``file.py:function``, checked for its form; the file is looked at later."""
    function = parse_function(text)
    if function is None:
        raise KnightfallError(f"{text!r} is not a function in a file, as in mine.py:choose")
    return function


def load_chooser(text: str) -> Callable[[Position], Any]:
    """The function of ``file.py:function``."""
    parsed = parse_chooser(text)
    function = parsed.load("agent")
    if not callable(function):
        raise KnightfallError(f"agent {text}: {parsed.name!r} is not a function")
    return function  # type: ignore[no-any-return]


def ask_chooser(text: str, position: Position) -> Report:
    """The function's move; whatever else it does is an `AgentFailure`.  It is not interrupted."""
    choose = load_chooser(text)
    start = time.perf_counter()
    try:
        answer = choose(position)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() is no way to move, either
        said = describe(choose.__code__.co_filename, error, text) if _plain(choose) else repr(error)
        raise AgentFailure("crash", said) from None
    seconds = time.perf_counter() - start
    if answer is None:
        raise AgentFailure("forfeit", f"{text} answered nothing")
    if not isinstance(answer, str) or answer not in position.legal_moves:
        raise AgentFailure("illegal", f"{text} answered {answer!r:.60}, which is no legal move")
    return Report(answer, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(answer,))


def _plain(function: Any) -> bool:
    return hasattr(function, "__code__")
