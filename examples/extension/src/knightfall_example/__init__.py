"""An extension of knightfall: a kind of agent, a heuristic, a command and a part of the page."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={"worst": "knightfall_example.agent:WorstAgent"},
    heuristics={"example:": "knightfall_example.heuristics"},
    commands={"mirror": "knightfall_example.command:mirror"},
    pages={"replies": "knightfall_example.page:REPLIES"},
)
