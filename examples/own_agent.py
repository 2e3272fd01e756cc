"""Play a match with an agent that is a Python function of a position and returns a cell.

The function runs in a process of its own. If it crashes or hangs, it loses that game only.
"""

import knightfall as kf


def flee(position):
    """Return the move farthest from the opponent's knight; ties go to the most mobile."""
    board, enemy = position.board, position.knight("b" if position.to_move == "w" else "w")

    def value(move):
        cell = board.cell(move)
        return board.distance[cell][enemy], len(position.play(move).targets(position.to_move))

    return max(position.legal_moves, key=value)


if __name__ == "__main__":
    print(kf.match(f"python({__file__}:flee, time=1s)", "greedy(improved)", pairs=5))
