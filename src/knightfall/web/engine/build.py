"""``python -m knightfall.web.engine.build``: make the browser's engine from the kernels.

Takes about a minute: everything is compiled anew, for what is kept of earlier runs is machine code
already.  The result is part of the package; a test notices when the kernels have changed since.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

HERE = Path(__file__).parent
ENGINE, ABOUT = HERE / "engine.wasm", HERE / "engine.json"
PAGE = 1 << 16

MADE_FROM = ("knightfall.web.engine.entry_points", "knightfall.web.engine.llvm")
"""The modules whose imports, with those of the heuristics, are what the engine is made from."""


def source_hash() -> str:
    """Return the hash of the sources that the shipped engine must have been built from."""
    from knightfall.heuristics.registry import REGISTRY, USER
    from knightfall.kernel.sources import hash_of

    scores = {row.module for row in REGISTRY.values() if row.study != USER}
    return hash_of(*MADE_FROM, *sorted(scores), lazy=False)


def main() -> None:
    """Build it and say how large it is."""
    os.environ["KNIGHTFALL_CACHE_DIR"] = os.devnull + "/none"  # code that is kept has no source
    os.environ["KNIGHTFALL_QUIET"] = "1"
    from knightfall.display.printable import print_line
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.heuristics.signature import HEURISTIC
    from knightfall.web.engine import layout, llvm
    from knightfall.web.engine.entry_points import EXPORTED, METHODS, SUM_ID, heuristics

    scores = heuristics()
    module, machine = llvm.module_of(EXPORTED, scores, HEURISTIC)
    exports = [*EXPORTED, "heuristic_address", "clock_address"]
    memory = -(-(layout.SIZE + (1 << 20)) // PAGE) * PAGE
    content = llvm.linked(module, machine, exports, memory)
    about = {
        "sources": source_hash(),
        "memory": layout.SIZE,
        "entries": layout.ENTRIES,
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
