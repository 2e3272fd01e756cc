"""Rate the page's opponents in a league: ``python -m benchmarks.rate_opponents``.

The ratings are measured on 7×7 from random openings and shipped with the page.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from knightfall.display.printable import print_line
from knightfall.web.site import LADDER as FILE

LADDER = (
    ("Beginner", "random"),
    ("Casual", "greedy(open)"),
    ("Club player", "alphabeta(improved, depth=3)"),
    ("Course player", "alphabeta(improved, depth=5)"),
    ("Strong", "id(improved, nodes=2500)"),
    ("Expert", "id(bfs_reach, nodes=50000)"),
    ("Perfect", "perfect(time=1500ms)"),
)
"""The opponents from the weakest to the strongest: the name on the page, and the agent."""

USUAL = "Casual"
"""The name of the opponent that is chosen by default."""

PAIRS = 60
"""Pairs of games between each two opponents; the perfect one takes most of the time."""


def measured(pairs: int = PAIRS, workers: int | None = None) -> list[dict[str, Any]]:
    """Play the league; return the opponents with their Elo above the mean and its 95 % error."""
    from knightfall.arena.api import league

    # A limit of nodes instead of time is repeatable, and still proves nearly every position.
    played = [agent.replace("time=1500ms", "nodes=3000000") for _, agent in LADDER]
    report = league(played, pairs=pairs, workers=workers)
    if report.interrupted:
        raise KeyboardInterrupt
    return [
        {
            "name": name,
            "agent": agent,
            "elo": round(report.ratings.elo(number), 1),
            "error": round(report.ratings.error(number), 1),
            "usual": name == USUAL,
        }
        for number, (name, agent) in enumerate(LADDER)
    ]


def main() -> None:
    """Play the league, write the file and print the ratings."""
    found = measured(*map(int, sys.argv[1:2]))
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in found:
        print_line(f"{row['name']:<14}{row['elo']:>8.0f} ± {row['error']:.0f}  {row['agent']}")


if __name__ == "__main__":
    main()
