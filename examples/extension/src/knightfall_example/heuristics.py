"""Heuristics of this package; ``example:elbow_room`` names the function below."""

from knightfall.heuristics import space


def elbow_room(board, open, me, opp, to_move):
    """Count the open cells around my knight less those around the opponent's."""
    return float(space(board, open, me) - space(board, open, opp))
