"""What a heuristic costs in the course's conditions, and so how many nodes its agent gets.

The studies' agents ran in plain Python for 150 ms a move: whoever used a dear heuristic searched
fewer nodes.  Ours are compiled and count nodes, so the price has to be set.  Each heuristic is
timed here as a student would have written it (`in_python`), in the search a student
had, and the nodes it gets through in the time in which `improved` gets through 2,500 are
its budget.

``python -m knightfall.studies.costs.course_conditions`` measures anew and writes `costs.toml`.
"""

from __future__ import annotations

import gc
import platform
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path

from knightfall.agents import COURSE_NODES
from knightfall.errors import KnightfallError, nearest
from knightfall.position import Position
from knightfall.studies.costs.course_board import CourseBoard, PlainSearch, Score, set_up
from knightfall.studies.costs.course_positions import FENS
from knightfall.studies.costs.in_python import SCORES

FILE = "costs.toml"
BASELINE = "improved"

NODES = 1000
"""A search deepens until it has searched so many: two or three plies short of a move's time."""

FEW_NODES = 30
"""The same for the heuristics that play out whole games from nearly every leaf."""

PLAYING_OUT = ("longest_win", "longest_win_difference")
ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    """What a node costs with a heuristic, in nodes of `improved`."""

    ratio: float

    @property
    def nodes(self) -> int:
        """What is left of the course's budget at this price: at least one node."""
        return max(1, round(COURSE_NODES / self.ratio))


# -- as recorded ---------------------------------------------------------------------------


@cache
def recorded_costs() -> Mapping[str, Cost]:
    """The costs that were measured once and for all, by heuristic."""
    text = resources.files("knightfall.studies.costs").joinpath(FILE).read_text("utf-8")
    return {id: Cost(row["ratio"]) for id, row in tomllib.loads(text)["cost"].items()}


def course_budget(heuristic: str) -> int:
    """The nodes an agent gets for a heuristic in the course's conditions; 2,500 for `improved`."""
    costs = recorded_costs()
    if heuristic not in costs:
        raise KnightfallError(
            f"nobody has timed {heuristic!r} in the course's conditions{nearest(heuristic, costs)} "
            "(only the studies' heuristics were)"
        )
    return costs[heuristic].nodes


# -- measuring -----------------------------------------------------------------------------


def measure_costs(
    scores: Mapping[str, Score] = SCORES,
    positions: Sequence[str] = FENS,
    rounds: int = ROUNDS,
    nodes: int = NODES,
    told: Callable[[int], None] = lambda round: None,
) -> dict[str, Cost]:
    """The cost of each heuristic, the baseline among them; `told` hears of every finished round.

    In each position all heuristics take turns, so that a slow spell of the machine hits all of
    them, and the fastest of several rounds counts.  Time is the processor's, spent on this thread.
    What is averaged over the positions is how many nodes are searched in the time of one of the
    baseline's, not how long a node takes: a move has so much time, and a heuristic that is dear
    only towards the end of a game still searches far at its beginning.
    """
    if BASELINE not in scores:
        raise KnightfallError(f"{BASELINE} must be among the heuristics: it is what others cost")
    best = {id: [0.0] * len(positions) for id in scores}
    was_on = gc.isenabled()
    gc.disable()
    try:
        for round in range(rounds):
            for at, fen in enumerate(positions):
                for id, score in scores.items():
                    wanted = min(nodes, FEW_NODES) if id in PLAYING_OUT else nodes
                    best[id][at] = max(best[id][at], _nodes_per_second(score, fen, wanted))
            told(round + 1)
    finally:
        if was_on:
            gc.enable()
    return {id: Cost(1 / _relative(speeds, best[BASELINE])) for id, speeds in best.items()}


def _relative(speeds: Iterable[float], baseline: Iterable[float]) -> float:
    ratios = [mine / theirs for mine, theirs in zip(speeds, baseline, strict=True)]
    return sum(ratios) / len(ratios)


def _nodes_per_second(score: Score, fen: str, nodes: int) -> float:
    search = PlainSearch(score)
    game = set_up(CourseBoard, Position.from_fen(fen), search)
    order = game.get_legal_moves()
    start = time.thread_time()
    search.deepen(game, order, nodes)
    return search.nodes / (time.thread_time() - start)


# -- recording -----------------------------------------------------------------------------


def _processor() -> str:
    """The model's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def as_toml(costs: Mapping[str, Cost], rounds: int = ROUNDS) -> str:
    """What `costs.toml` holds."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    lines = [
        "# What a node costs with each heuristic in the course's conditions, in nodes of improved,",
        "# and the nodes that leaves.  Written by studies/costs/course_conditions.py.",
        "",
        f"date = {date.today().isoformat()}",
        f'machine = "{_processor()}, {platform.system()}"',
        f'python = "{python}"',
        f"positions = {len(FENS)}",
        f"rounds = {rounds}",
        "",
        "[cost]",
    ]
    wide = max(len(id) for id in costs) + 2
    for id, cost in costs.items():
        name = id if id.isidentifier() else f'"{id}"'
        lines.append(f"{name:<{wide}} = {{ ratio = {cost.ratio:.3f}, nodes = {cost.nodes} }}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print a table, and write the file."""

    def told(round: int) -> None:
        print(f"round {round} of {ROUNDS}", file=sys.stderr, flush=True)

    costs = measure_costs(told=told)
    # What is written is what counts, to the last digit.
    costs = {id: Cost(round(cost.ratio, 3)) for id, cost in costs.items()}
    Path(__file__).with_name(FILE).write_text(as_toml(costs), "utf-8")
    print(f"{'heuristic':<26}{'cost':>9}{'nodes':>7}")
    for id, cost in costs.items():
        print(f"{id:<26}{cost.ratio:>9.3f}{cost.nodes:>7}")


if __name__ == "__main__":
    main()
