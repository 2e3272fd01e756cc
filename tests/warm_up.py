"""Fill the disk cache of compiled code, unless it is full already.

python tests/warm_up.py
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

import knightfall
from knightfall.kernel.compile import cache_folder
from knightfall.kernel.source_hashes import hash_of

NOT_KEPT = (
    "__main__", "web.engine", "knightfall.env", "knightfall.notebook", "knightfall.openspiel",
)  # fmt: skip
"""Modules that are not imported: the command line, the browser's engine (never cached), and the
adapters, whose packages may not be installed yet."""


def compile_everything() -> None:
    """Import every module, which compiles the kernels, and compile every heuristic."""
    for module in pkgutil.walk_packages(
        knightfall.__path__, "knightfall.", onerror=lambda package: None
    ):
        if not any(name in module.name for name in NOT_KEPT):
            import_module(module.name)
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.heuristics.registry import REGISTRY

    for id, row in REGISTRY.items():
        if not row.parameter:
            evaluator(id)


if __name__ == "__main__":
    folder = cache_folder()
    complete = f"complete-{hash_of('knightfall', lazy=False)}"
    if folder is not None and not (folder / complete).exists():
        compile_everything()
        (folder / complete).touch()
