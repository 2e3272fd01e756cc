"""Build and load `alphabeta.cpp`; its record layouts are generated from the NumPy types."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.kernel import geometry
from knightfall.search import state

SOURCE = Path(__file__).parent / "alphabeta.cpp"
_C_TYPES = {"int8": "int8_t", "int64": "int64_t", "uint64": "uint64_t", "float64": "double"}


def compiler() -> str | None:
    """The C++ compiler there is ($CXX, g++, clang++), or None."""
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name):
            return name
    return None


def compiler_version() -> str:
    """The first line of what the compiler says about itself; a note if there is none."""
    name = compiler()
    if name is None:
        return "none"
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    return said.splitlines()[0]


def _struct(name: str, dtype: np.dtype[Any]) -> str:
    """A C struct that lies in memory as the record does, and says so to the compiler."""
    lines, checks = [], []
    assert dtype.fields is not None
    for field, (kind, offset, *_) in dtype.fields.items():
        extents = "".join(f"[{extent}]" for extent in kind.shape)
        lines.append(f"    {_C_TYPES[kind.base.name]} {field}{extents};")
        checks.append(f"static_assert(offsetof({name}, {field}) == {offset});")
    checks.append(f"static_assert(sizeof({name}) == {dtype.itemsize});")
    return "\n".join([f"struct {name} {{", *lines, "};", *checks, ""])


@cache
def _folder() -> Path:
    """Where to build: a folder that goes when this process does."""
    folder = Path(tempfile.mkdtemp(prefix="knightfall-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def build(*flags: str) -> ctypes.CDLL:
    """The library compiled with the given flags.

    Raises `subprocess.CalledProcessError` (with the compiler's words in `stderr`) if it does not
    compile; there must be a compiler.
    """
    layouts = _struct("Geometry", geometry.DTYPE) + _struct("State", state.DTYPE)
    (_folder() / "layout.h").write_text(layouts)
    return build_from(SOURCE, *flags)


def build_from(source: Path, *flags: str) -> ctypes.CDLL:
    """`build`, from any source file."""
    folder = _folder()
    name = source.stem + "".join(flag.replace("=", "_") for flag in flags) + ".so"
    library = folder / name
    # Built beside and moved into place: a library that is already loaded must not be overwritten.
    fresh = folder / f"{os.getpid()}-{name}"
    command = [compiler() or "g++", "-std=c++17", *flags, "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run(
        [*command, str(source), "-o", str(fresh)],
        capture_output=True,
        text=True,
        check=True,
    )
    fresh.replace(library)
    return ctypes.CDLL(str(library))


def search_of(library: ctypes.CDLL) -> Callable[..., None]:
    """The library's search with its own `improved`: called with (boards, states, open, …).

    The heuristic goes in by its address, so that the compiler cannot see through it.
    """
    heuristic = ctypes.cast(library.improved, ctypes.c_void_p).value
    entry = library.alphabeta
    entry.restype = None
    entry.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64]

    def search(boards: Any, states: Any, open: int, mover: int, waiter: int) -> None:
        states["heuristic"] = heuristic
        entry(boards.ctypes.data, states.ctypes.data, open, mover, waiter)

    return search
