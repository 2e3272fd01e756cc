"""Rate some heuristics of the studies in a league and draw the ratings."""

import sys

import knightfall as kf

if __name__ == "__main__":
    file = sys.argv[1] if len(sys.argv) > 1 else "ratings.svg"
    ids = ("null", "improved", "bfs_reach", "main", "lookahead_mobility")
    league = kf.league([f"id({id}, nodes=500)" for id in ids], pairs=20)
    print(league)
    league.plot("ratings").savefig(file)
    print(f"\nWrote the ratings to {file}.")
