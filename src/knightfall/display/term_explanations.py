"""Short explanations of technical terms, printed once below the numbers that use them."""

from __future__ import annotations

TERMS = {
    "pair": "two games from one opening, seats swapped (L lost, W won)",
    "nElo": "normalized Elo, relative to how much results vary",
    "LOS": "likelihood of superiority, the chance of being the stronger agent",
    "LLR": "log-likelihood ratio, which ends the test at either bound",
    "hunter": "can take escape cells from the other knight",
    "runner": "cannot",
}
"""A phrase for each term."""


def legend(*terms: str) -> str:
    """Return one sentence that explains the given `TERMS`."""
    return "; ".join(f"{term}: {TERMS[term]}" for term in terms) + "."
