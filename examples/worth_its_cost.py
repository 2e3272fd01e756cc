"""Is a heuristic worth its cost?  At equal nodes only judgement counts; time tells the rest."""

import knightfall as kf

if __name__ == "__main__":
    worth = kf.worth("bfs_reach", "improved", nodes=[500, 2500], times=["0.1ms"], pairs=30)
    print(worth)
    for budget in worth.to_dict()["budgets"]:
        print(f"{budget['budget']:>12}: {100 * budget['rate']:.0f} % won")
