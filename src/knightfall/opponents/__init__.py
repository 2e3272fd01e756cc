"""Play for practical chances: choose moves after which real opponents tend to err."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={
        "champion": "knightfall.opponents.champion_agent:ChampionAgent",
        "perfect(swindle)": "knightfall.opponents.champion_agent:SwindlingAgent",
    }
)
