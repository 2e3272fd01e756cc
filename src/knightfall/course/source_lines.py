"""Find the lines of a submission's code that raised an error or returned an answer."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# -- errors ------------------------------------------------------------------------------------


def describe(error: BaseException, here: Path, name: str) -> str:
    """Return a one-line description of an error with its last line in the submission's files."""
    top = os.path.join(str(here), "")
    where = name
    if isinstance(error, SyntaxError) and str(error.filename).startswith(top):
        where = f"{str(error.filename)[len(top) :]}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        for frame in reversed(frames):
            if frame.filename.startswith(top):
                inside = f", in {frame.name}" if frame.name != "<module>" else ""
                where = f"{frame.filename[len(top) :]}, line {frame.lineno}{inside}"
                break
    try:
        said = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
        said = without_addresses(said)
    except BaseException:
        said = "it cannot be printed"
    return f"{where}: {type(error).__name__}{f': {said:.300}' if said else ''}"


def without_addresses(said: str) -> str:
    """Remove object addresses, which differ from run to run, from a text."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", said)


# -- answers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Returned:
    """The source line that returned an answer; `ended` if its function ended without `return`."""

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

    If a function passes on another's result (`return self.search(game)`), the inner one counts.
    The line is None if no function of a file in `folder` returned the answer.
    """
    top = os.path.join(str(folder), "")
    inner: dict[int, _Return] = {}  # calling frame → last return to it
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
    """A return event of a traced function; `inner` is that of the last function it called."""

    code: CodeType
    line: int
    value: Any
    inner: _Return | None


def _return_statement(found: _Return) -> ast.Return | None:
    """Return the `return` statement that contains the last executed line; None if there is none."""
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(Path(found.code.co_filename).read_bytes())):
            if isinstance(node, ast.Return) and node.lineno <= found.line <= (node.end_lineno or 0):
                return node
    return None
