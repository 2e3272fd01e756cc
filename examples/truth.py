"""Ask the exact solver who wins a position and which moves of a game threw a win away."""

import knightfall as kf

position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
print(kf.solve(position))
print()

player = kf.agent("id(improved, nodes=500)")
moves, here = ["b5", "e2"], position
while here.winner is None:
    moves.append(player.choose(here))
    here = here.play(moves[-1])
print(kf.annotate(" ".join(moves)))
print()

print(kf.grade("id(improved, nodes=500)", openings=5))
