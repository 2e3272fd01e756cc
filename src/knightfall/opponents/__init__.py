"""Practical chances: moves after which real opponents go wrong."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={
        "champion": "knightfall.opponents.agent:ChampionAgent",
        "perfect(swindle)": "knightfall.opponents.agent:SwindlingAgent",
    }
)
