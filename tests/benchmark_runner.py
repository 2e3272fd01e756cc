"""The benchmarks, loaded as ``knightfall bench`` loads them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "benchmarks"


def load_runner() -> ModuleType:
    """`benchmarks/run.py`, loaded by path as ``knightfall bench`` does."""
    spec = importlib.util.spec_from_file_location("benchmarks_under_test", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
