"""Measure what a heuristic is worth at equal nodes, and at equal time after paying its cost."""

import knightfall as kf

if __name__ == "__main__":
    worth = kf.worth("bfs_reach", "improved", nodes=[500, 2500], times=["0.1ms"], pairs=30)
    print(worth)
    for budget in worth.to_dict()["budgets"]:
        print(f"{budget['budget']:>12}: {100 * budget['rate']:.0f} % won")
