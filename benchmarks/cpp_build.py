"""Build and load `alphabeta.cpp`; its record layouts are generated from the NumPy types."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

from knightfall.kernel import rules
from knightfall.kernel.compile import cache_folder
from knightfall.search import search_state

SOURCE = Path(__file__).parent / "alphabeta.cpp"
_C_TYPES = {
    "int8": "int8_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}


def compiler() -> str | None:
    """Return the first available C++ compiler of $CXX, g++ and clang++, or None."""
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name):
            return name
    return None


@cache
def compiler_version() -> str:
    """Return the first line of the compiler's version output; "none" if there is no compiler."""
    name = compiler()
    if name is None:
        return "none"
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    return said.splitlines()[0]


def _struct(name: str, dtype: np.dtype[Any]) -> str:
    """Return a C struct with the record's memory layout, checked by static assertions."""
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
    """Return the folder of compiled libraries: the kernel cache, or a temporary folder."""
    folder = cache_folder()
    if folder is not None:
        return folder
    folder = Path(tempfile.mkdtemp(prefix="knightfall-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def build(*flags: str) -> ctypes.CDLL:
    """Return the library compiled with the given flags.

    Raise `subprocess.CalledProcessError`, with the compiler's output in `stderr`, if it does not
    compile. A compiler must exist.
    """
    layouts = _struct("Geometry", rules.DTYPE) + _struct("State", search_state.DTYPE)
    return build_from(SOURCE, *flags, layouts=layouts)


def build_from(source: Path, *flags: str, layouts: str = "") -> ctypes.CDLL:
    """Compile any source file, which may include ``layout.h``, into a library.

    Libraries are cached by the texts, the flags, the compiler and, because of -march=native, the
    processor.
    """
    text = source.read_bytes()
    made_from = (text, layouts, flags, compiler_version(), get_host_cpu_name(), _features())
    key = hashlib.sha256(repr(made_from).encode()).hexdigest()[:16]
    library = _folder() / f"{source.stem}-{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=_folder()) as draft:
            (Path(draft) / "layout.h").write_text(layouts)
            fresh = Path(draft) / library.name
            command = [compiler() or "g++", "-std=c++17", *flags, "-shared", "-fPIC", f"-I{draft}"]
            subprocess.run(
                [*command, str(source), "-o", str(fresh)],
                capture_output=True,
                text=True,
                check=True,
            )
            fresh.replace(library)  # atomic: another process may build it, too
    return ctypes.CDLL(str(library))


@cache
def _features() -> str:
    return str(get_host_cpu_features().flatten())


def search_of(library: ctypes.CDLL) -> Callable[..., None]:
    """Return the library's search with its own `improved`, called with (boards, states, open, …).

    The heuristic is passed by its address, so that the compiler cannot inline it.
    """
    heuristic = ctypes.cast(library.improved, ctypes.c_void_p).value
    entry = library.alphabeta
    entry.restype = None
    entry.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64]

    def search(boards: Any, states: Any, open: int, mover: int, waiter: int) -> None:
        states["heuristic"] = heuristic
        entry(boards.ctypes.data, states.ctypes.data, open, mover, waiter)

    return search
