"""The heuristics that no study has published, known without compiling any."""

from __future__ import annotations

from knightfall.heuristics.published import LEARNED, WISHED, Declared

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
    Declared(
        "shortest_win",
        WISHED,
        "W·H − plies of the shortest continuation that me wins; 0 if there is none",
        "The shorter the shortest continuation, both sides helping, that ends in a win, the more.",
        symmetric=False,  # mirror images may differ once the steps are spent
        costly=True,
    ),
    Declared(
        "shortest_win_difference",
        WISHED,
        "shortest_win(me) − shortest_win(opp)",
        "How many plies shorter the own shortest way to win is than the opponent's.",
        symmetric=False,
        costly=True,
    ),
)
