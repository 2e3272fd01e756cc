"""The engine for browsers: the same kernels, compiled to WebAssembly."""

from pathlib import Path

ENGINE = Path(__file__).parent / "engine.wasm"
ABOUT = ENGINE.with_suffix(".json")
"""The compiled engine, and the description of its heuristics and its memory."""
