"""What the opponent model adds to knightfall."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={
        "champion": "knightfall.practical.agent:ChampionAgent",
        "perfect(swindle)": "knightfall.practical.agent:SwindlingAgent",
    }
)
