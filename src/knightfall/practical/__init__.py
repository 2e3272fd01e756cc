"""Practical chances: moves after which real opponents go wrong."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={
        "champion": "knightfall.practical.agent:ChampionAgent",
        "perfect(swindle)": "knightfall.practical.agent:SwindlingAgent",
    }
)
