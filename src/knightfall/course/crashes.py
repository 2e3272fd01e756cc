"""Whatever a submission raises, told in one line that names its own file and line."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from typing import Any

from knightfall.errors import AgentFailure, KnightfallError


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
