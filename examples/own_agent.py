"""An agent that is a Python function: it gets a position and names the cell it moves to.

It plays in a process of its own, where it may crash, hang or print as it likes.
"""

import knightfall as kf


def flee(position):
    """Go where the opponent's knight is furthest away, and most moves are left."""
    board, enemy = position.board, position.knight("b" if position.to_move == "w" else "w")

    def value(move):
        cell = board.cell(move)
        return board.distance[cell][enemy], len(position.play(move).targets(position.to_move))

    return max(position.legal_moves, key=value)


if __name__ == "__main__":
    print(kf.match(f"python({__file__}:flee, time=1s)", "greedy(improved)", pairs=5))
