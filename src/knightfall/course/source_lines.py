"""The lines of a submission that an error or an answer came from."""

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

from knightfall.errors import AgentFailure, KnightfallError

# -- errors ------------------------------------------------------------------------------------


class Telling:
    """Turns whatever a submission raises into a crash that names its line."""

    def __init__(self, here: Path, name: str) -> None:
        self._here, self._name = here, name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, KnightfallError):
            return
        raise AgentFailure("crash", describe(error, self._here, self._name)) from None


def describe(error: BaseException, here: Path, name: str) -> str:
    """One line: the last place in the submission's files that an error went through, and what."""
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
    """Return a text without the addresses of objects, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", said)


# -- answers -----------------------------------------------------------------------------------


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
