"""The line of a submission from which an answer came, found by asking under Python's profiler."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class Returned:
    """The place where an answer was returned; `ended` if the function ended without `return`."""

    file: str
    line: int
    function: str
    text: str
    ended: bool

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}, in {self.function}"
        return f"{where}, which ends without return" if self.ended else f"{where}: {self.text}"


def find_return(work: Callable[[], Any], folder: Path) -> tuple[Any, Returned | None]:
    """Run `work` and return its answer, with the line in `folder` that the answer came from.

    An answer that one function hands on (`return self.search(game)`) comes from the inner one.
    The line is None if no function of a file in `folder` returned.
    """
    top = os.path.join(str(folder), "")
    inner: dict[int, _Return] = {}  # by the frame that called, the last one that returned to it
    outermost: list[_Return] = []

    def note(frame: FrameType, event: str, value: Any) -> None:
        if event != "return" or not frame.f_code.co_filename.startswith(top):
            return
        found = _Return(frame.f_code, frame.f_lineno, value, inner.pop(id(frame), None))
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename.startswith(top):
            inner[id(caller)] = found
        else:
            outermost[:] = [found]

    sys.setprofile(note)
    try:
        answer = work()
    finally:
        sys.setprofile(None)
    if not outermost or outermost[0].value is not answer:
        return answer, None
    found = outermost[0]
    statement = _return_statement(found)
    while (
        statement is not None
        and isinstance(statement.value, ast.Call)
        and found.inner is not None
        and found.inner.value is answer
    ):
        found = found.inner
        statement = _return_statement(found)
    file, line = found.code.co_filename, found.line
    text = linecache.getline(file, line).strip()
    return answer, Returned(file[len(top) :], line, found.code.co_name, text, statement is None)


@dataclass(frozen=True, slots=True)
class _Return:
    """A function that returned a value, and the last one that returned to it before."""

    code: CodeType
    line: int
    value: Any
    inner: _Return | None


def _return_statement(found: _Return) -> ast.Return | None:
    """Return the `return` that a function was at; None if it ended without one."""
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(Path(found.code.co_filename).read_bytes())):
            if isinstance(node, ast.Return) and node.lineno <= found.line <= (node.end_lineno or 0):
                return node
    return None
