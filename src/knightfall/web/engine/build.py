"""``python -m knightfall.web.engine.build``: compile the kernels to WebAssembly for browsers.

This takes about a minute, because everything is compiled from source: Numba's cache holds machine
code for this computer only.  The result is part of the package; a test fails if the kernels have
changed since.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

HERE = Path(__file__).parent
ENGINE, ABOUT = HERE / "engine.wasm", HERE / "engine.json"
PAGE = 1 << 16

MADE_FROM = ("knightfall.web.engine.entry_points", "knightfall.web.engine.llvm_to_wasm")
"""The modules that the engine is built from, with all their imports; heuristics are added."""


def source_hash() -> str:
    """Return the hash of the sources that the shipped engine must have been built from."""
    from knightfall.heuristics.registry import REGISTRY, USER
    from knightfall.kernel.source_hashes import hash_of

    scores = {row.module for row in REGISTRY.values() if row.study != USER}
    return hash_of(*MADE_FROM, *sorted(scores), lazy=False)


def main() -> None:
    """Build the engine and print its size."""
    os.environ["KNIGHTFALL_CACHE_DIR"] = os.devnull + "/none"  # cached code is machine code only
    os.environ["KNIGHTFALL_QUIET"] = "1"
    from knightfall.display.printable import print_line
    from knightfall.heuristics.c_signature import HEURISTIC
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.web.engine import llvm_to_wasm, memory_layout
    from knightfall.web.engine.entry_points import EXPORTED, METHODS, SUM_ID, heuristics

    scores = heuristics()
    module, machine = llvm_to_wasm.module_of(EXPORTED, scores, HEURISTIC)
    exports = [*EXPORTED, "heuristic_address", "clock_address"]
    memory = -(-(memory_layout.SIZE + (1 << 20)) // PAGE) * PAGE
    content = llvm_to_wasm.linked(module, machine, exports, memory)
    about = {
        "sources": source_hash(),
        "memory": memory_layout.SIZE,
        "entries": memory_layout.ENTRIES,
        "methods": METHODS,
        "heuristics": [
            {"id": id} if id == SUM_ID
            else {
                "id": id, "symmetric": REGISTRY[id].symmetric,
                "costly": REGISTRY[id].costly, "parameter": bool(REGISTRY[id].parameter),
            }
            for id in scores
        ],
    }  # fmt: skip
    ENGINE.write_bytes(content)
    ABOUT.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    size = f"{len(content):,} bytes"
    print_line(f"{ENGINE.name}: {size}, {len(EXPORTED)} functions, {len(scores)} heuristics")


if __name__ == "__main__":
    main()
