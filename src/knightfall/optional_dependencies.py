"""Optional dependencies, and the extra of ``pip install knightfall[extra]`` that installs each."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

from knightfall.errors import KnightfallError

EXTRAS = {
    "parquet": {"pyarrow"},
    "fit": {"pyarrow", "sklearn"},
    "net": {"pyarrow", "sklearn", "torch"},
    "dask": {"distributed"},
    "openspiel": {"pyspiel", "open_spiel"},
    "notebook": {"anywidget", "traitlets"},
    "env": {"gymnasium", "pettingzoo", "PIL"},
    "pandas": {"pandas"},
}
"""The modules that each extra of `pyproject.toml` installs, smaller extras first."""


def require(purpose: str, *modules: str) -> None:
    """Raise a KnightfallError if one of the modules that a purpose needs is not installed.

    The error ends in the command that installs what is missing.  Nothing is imported.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        lacking = f"{', '.join(missing)} (not installed)"
        raise KnightfallError(f"{purpose} needs {lacking}: {install(missing)}")


def install(missing: list[str]) -> str:
    """Return the shell command that installs the smallest extra with all the missing modules."""
    extra = next(name for name, brings in EXTRAS.items() if brings >= set(missing))
    # The build with CUDA is ten times as large, and knightfall does not use a GPU.
    smaller = " (torch's CPU-only build is enough)" if "torch" in missing else ""
    return f"{pip()} install 'knightfall[{extra}]'{smaller}"


def pip() -> str:
    """Return ``pip`` if it belongs to this Python, else the command of this Python's own pip."""
    beside = Path(sys.executable).parent
    found = shutil.which("pip")
    return "pip" if found and Path(found).parent == beside else f"{quote(sys.executable)} -m pip"
