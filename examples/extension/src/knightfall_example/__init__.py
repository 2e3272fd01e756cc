"""An extension of knightfall: a kind of agent, a heuristic and a command."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={"worst": "knightfall_example.agent:WorstAgent"},
    heuristics={"example:": "knightfall_example.heuristics"},
    commands={"mirror": "knightfall_example.command:mirror"},
)
