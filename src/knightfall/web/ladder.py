"""``python -m knightfall.web.ladder``: the page's opponents, rated in a league of their own.

The ratings are measured here, on 7×7 from random openings, and shipped with the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from knightfall.display.printable import print_line

FILE = Path(__file__).parent / "ladder.json"

LADDER = (
    ("Beginner", "random"),
    ("Casual", "greedy(open)"),
    ("Club player", "alphabeta(improved, depth=3)"),
    ("Course player", "alphabeta(improved, depth=5)"),
    ("Strong", "id(improved, nodes=2500)"),
    ("Expert", "id(bfs_reach, nodes=50000)"),
    ("Perfect", "perfect(time=1500ms)"),
)
"""From beginner to perfect: what a person calls them, and the agent that they are."""

USUAL = "Casual"
"""Whom a newcomer meets."""

PAIRS = 60
"""Of games for each couple; perfect takes most of the time."""


def measured(pairs: int = PAIRS, workers: int | None = None) -> list[dict[str, Any]]:
    """The ladder with ratings around the mean, and their 95 % errors."""
    from knightfall.arena.api import league

    # By nodes, not by the clock: that settles nearly every position, too, and can be repeated.
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
    """Play the league and write the file."""
    found = measured(*map(int, sys.argv[1:2]))
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in found:
        print_line(f"{row['name']:<14}{row['elo']:>8.0f} ± {row['error']:.0f}  {row['agent']}")


if __name__ == "__main__":
    main()
