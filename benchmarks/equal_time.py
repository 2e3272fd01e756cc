"""Leagues of the studies' heuristics and the learned ones, at equal nodes and equal time.

The cost of a node is measured first, in games in which all heuristics alternate; then a time is
converted to nodes for each heuristic. First all play all, then the best of the studies play the
learned ones in many more games. Run it with `python -m benchmarks.equal_time`, followed by `8x8`
for another board.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import knightfall as kf
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.worth import node_costs
from knightfall.board import Board
from knightfall.heuristics.registry import published_ids
from knightfall.openings import openings

from .result import Ratio, Result

SUMMARY = "Elo by which `learned_net` is ahead of the best heuristic of the studies"
LEARNED = ("learned_net", "learned_linear")
TOO_COSTLY = ("longest_win", "longest_win_difference")  # a second a game
NODES = 2500
TIMES = (0.02, 0.05, 0.1)
"""Milliseconds per move; with more, hunters make so few mistakes that nearly all results are
equal.
"""
WEIGHED_AT = 3000
BEST = 5
FEW, MANY = 8, 300


def run(
    board: str = "7x7", few: int = FEW, many: int = MANY, studied: Sequence[str] | None = None
) -> Result:
    """Play, at each budget, a league of all heuristics with `few` pairs per match, and then one of
    the best with `many`.
    """
    if studied is None:
        studied = [name for name in published_ids() if name not in (*TOO_COSTLY, *LEARNED)]
    known = [*LEARNED, *studied]
    costs = _costs(known, board)
    rows, ratios = [], {}
    budgets = {f"{NODES:,} nodes": dict.fromkeys(known, NODES)}
    for time in TIMES:
        budgets[f"{time:g} ms"] = {name: _nodes(time / costs[name]) for name in known}
    for equal, nodes in budgets.items():
        order = _names(_league(known, nodes, board, few, seed=1))
        best = [name for name in order if name not in LEARNED][:BEST]
        league = _league([*LEARNED, *best], nodes, board, many, seed=2)
        names = _names(league)
        first = league.order[names.index("learned_net")]
        rivals = [at for at, name in zip(league.order, names, strict=True) if name not in LEARNED]
        lead, error = league.ratings.difference(first, rivals[0])
        ratios[f"{equal}: Elo ahead of the best of the studies, less its 95 % error"] = Ratio(
            lead - error, at_least=0
        )
        for number, name in zip(league.order, names, strict=True):
            ahead = league.ratings.difference(first, number) if number != first else (0.0, 0.0)
            met = league.met(first, number) or (0, 0)
            rows.append(
                {
                    "equal": equal,
                    "heuristic": name,
                    "nodes": nodes[name],
                    "Elo": league.ratings.elo(number),
                    "± 95 %": league.ratings.error(number),
                    "learned_net is ahead by": ahead[0],
                    "± 95 % of that": ahead[1],
                    "learned_net won": met[0] / max(1, sum(met)),
                }
            )
    return Result(
        ratios=ratios,
        figures={
            "board": board,
            "pairs a match, all": few,
            "pairs a match, the best": many,
            "ns a node, improved": 1e6 * costs["improved"],
            **{f"a node of {name} ÷ improved": costs[name] / costs["improved"] for name in LEARNED},
        },
        rows=rows,
    )


def _costs(known: Sequence[str], board: str) -> dict[str, float]:
    """Return the milliseconds of a node with each heuristic."""
    couples = [(_agent(name, WEIGHED_AT), _agent("improved", WEIGHED_AT)) for name in known]
    measured = node_costs(couples, openings(Board.named(board)))
    return {name: cost / 1000 for name, (cost, _) in zip(known, measured, strict=True)}


def _nodes(budget: float) -> int:
    return max(1, int(float(f"{budget:.3g}")))


def _agent(name: str, nodes: int) -> str:
    return f"id({name}, nodes={nodes})"


def _league(
    known: Sequence[str], nodes: dict[str, int], board: str, pairs: int, seed: int
) -> LeagueReport:
    agents = [_agent(name, nodes[name]) for name in known]
    return kf.league(agents, pairs=pairs, board=board, seed=seed, workers=1, progress=False)


def _names(league: LeagueReport) -> list[str]:
    """Return the heuristics by rating, the best first."""
    entrants = league.plan.entrants
    return [kf.agent(entrants[at].agent).heuristic for at in league.order]


if __name__ == "__main__":
    from rich.console import Console

    from .report import print_results

    on = sys.argv[1] if len(sys.argv) > 1 else "7x7"
    found = {"equal_time": {"about": SUMMARY, "seconds": 0.0, **run(on).to_json()}}
    print_results(Console(width=120), {"machine": {}, "benchmarks": found})
