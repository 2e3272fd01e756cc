"""Engines of other programs as agents, and knightfall's own engine for other programs."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={
        "uci": "knightfall.engines.engine_agent:UciAgent",
        "engine": "knightfall.engines.engine_agent:LineAgent",
    },
    commands={"uci": "knightfall.engines.commands:uci"},
    panels={"uci": "Play"},
)
