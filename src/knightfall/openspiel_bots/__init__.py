"""Bots of OpenSpiel as agents: ``openspiel(mcts, simulations=100)``."""

from knightfall.extensions import Extension

EXTENSION = Extension(agents={"openspiel": "knightfall.openspiel_bots.agent:OpenSpielAgent"})
"""The kind of agents whose moves a bot of OpenSpiel chooses."""
