"""The heuristics that were learned here, known without compiling any."""

from __future__ import annotations

from knightfall.heuristics.published import LEARNED, Declared

OURS = (
    Declared(
        "learned_linear",
        LEARNED,
        "Σ (w₀ + w₁·phase + w₂·phase²)·x",
        "Learned weights of what can be counted on the board, for hunter and runner apart.",
    ),
    Declared(
        "learned_net",
        LEARNED,
        "w·max(0, W·x + b) + c",
        "A small net over who gets where first, learned from the solver's truth and from games.",
    ),
)
