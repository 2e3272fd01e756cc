"""Write a heuristic, evaluate a position with it, and play a match against `improved`."""

import knightfall as kf
from knightfall.heuristics import heuristic, mobility, space


@heuristic
def cosy(board, open, me, opp, to_move):
    """Return the open cells around me, less half of the opponent's moves."""
    return space(board, open, me) - 0.5 * mobility(board, open, opp)


position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
print("cosy evaluates the position as", kf.evaluator("cosy").value(position))
print("and moves to", kf.agent("id(cosy, nodes=2500)").choose(position))
print()

result = kf.match("id(cosy)", "id(improved)", pairs=50)
print(result)
