"""Short explanations of technical terms, printed once below the numbers that use them."""

from __future__ import annotations

TERMS = {
    "pair": "two games from one opening, with the seats swapped (L lost, W won)",
    "nElo": "normalized Elo, the advantage relative to how much results vary",
    "LOS": "likelihood of superiority, the chance that the first agent is the better one",
    "LLR": "log-likelihood ratio; the test ends when it reaches one of its two bounds",
    "hunter": "the player that can take escape cells from the other knight",
    "runner": "the player that cannot",
}
"""A phrase for each term."""


def legend(*terms: str) -> str:
    """Return one sentence that explains the given `TERMS`."""
    return "; ".join(f"{term}: {TERMS[term]}" for term in terms) + "."
