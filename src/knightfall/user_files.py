"""A user's Python file: loaded by path, its errors told with its own line numbers."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from knightfall.errors import KnightfallError, nearest

_loaded: dict[tuple[Path, int], Any] = {}


def line_in(path: str, error: BaseException) -> int | None:
    """The line of a file in which an error arose, or None if the file had no part in it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else None


def describe(path: str, error: BaseException, shown: str) -> str:
    """One line: where in the file, and what."""
    line = line_in(path, error)
    where = f"{shown}, line {line}" if line else shown
    what = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{where}: {type(error).__name__}: {what}"


def named_in(path: str, name: str, what: str) -> Any:
    """Whatever the file at `path` calls `name`; `what` it should be is for the error."""
    try:
        file = Path(path).expanduser()
        exists = file.is_file()
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown
        raise KnightfallError(f"{what} {path}:{name}: {error}") from None
    if not exists:
        raise KnightfallError(f"{what} {path}:{name}: there is no file {path!r}")
    module = _module(file.resolve(), path)
    found = getattr(module, name, None)
    if found is None:
        callables = [key for key, value in vars(module).items() if callable(value)]
        raise KnightfallError(
            f"{what} {path}:{name}: {path} defines no {name!r}{nearest(name, callables)}"
        )
    return found


def _module(file: Path, shown: str) -> Any:
    key = (file, file.stat().st_mtime_ns)
    if key in _loaded:
        return _loaded[key]
    spec = importlib.util.spec_from_file_location(f"knightfall_user_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise KnightfallError(f"{shown} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    # The file may import its neighbours, as it could when run by itself.
    sys.path.insert(0, str(file.parent))
    before = set(sys.modules)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except KnightfallError as error:
        raise KnightfallError(f"{shown}: {error}") from None
    except BaseException as error:  # a file that calls sys.exit() is an error like any other
        raise KnightfallError(describe(str(file), error, shown)) from None
    finally:
        with suppress(ValueError):
            sys.path.remove(str(file.parent))
        _forget_neighbours(file.parent, before)
    _loaded[key] = module
    return module


def _forget_neighbours(folder: Path, before: set[str]) -> None:
    """Let the next user's file import its own neighbour of the same name, not this one's."""
    for name in set(sys.modules) - before:
        where = getattr(sys.modules[name], "__file__", None)
        if where and Path(where).parent == folder:
            del sys.modules[name]
