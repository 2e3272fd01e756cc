"""What a node costs with each heuristic, as measured once, and so how many nodes its agent gets.

At equal time whoever uses a dear heuristic searches fewer nodes.  Games by the clock never repeat,
so time is turned into nodes: a heuristic gets as many as its compiled search gets through in the
time in which that of `improved` gets through 2,500.

``python -m benchmarks.costs`` in a checkout measures anew and writes the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources

from knightfall.agents import COURSE_NODES
from knightfall.errors import KnightfallError, nearest
from knightfall.reading import decoded, parse_toml
from knightfall.shape import Between, Whole, check

COMPILED_FILE = "compiled_costs.toml"
WISH_FILE = "wish_costs.toml"
LARGE_FILE = "compiled_costs_8x8.toml"
BASELINE = "improved"


@dataclass(frozen=True)
class NodeCosts:
    """What a node costs with each heuristic, in nodes of `improved`."""

    ratios: Mapping[str, float]
    conditions: str
    """Where that was measured, in words."""
    microseconds: float | None = None
    """What 2,500 nodes of `improved` took, where anybody noted it."""

    def nodes(self, heuristic: str) -> int:
        """What is left of the course's 2,500 nodes at this price: at least one."""
        if heuristic not in self.ratios:
            raise KnightfallError(
                f"nobody has timed {heuristic!r} in {self.conditions}"
                f"{nearest(heuristic, self.ratios)} (only the studies' heuristics were)"
            )
        return max(1, round(COURSE_NODES / self.ratios[heuristic]))


@cache
def compiled_costs() -> NodeCosts:
    """The costs in our own searches."""
    return _recorded(COMPILED_FILE, "compiled searches")


@cache
def wish_costs() -> NodeCosts:
    """The same of the heuristics that the studies' authors wished for."""
    return _recorded(WISH_FILE, "compiled searches")


@cache
def large_costs() -> NodeCosts:
    """The costs on 8×8, in nodes of `improved` there, of the heuristics that are played there."""
    return _recorded(LARGE_FILE, "compiled searches on 8×8")


def equal_time_nodes(heuristic: str) -> int:
    """Return the nodes of a heuristic at equal time, whether a study entered or wished for it."""
    entered, wished = compiled_costs(), wish_costs()
    known = heuristic in entered.ratios or heuristic not in wished.ratios
    return (entered if known else wished).nodes(heuristic)


def _recorded(file: str, conditions: str) -> NodeCosts:
    there = resources.files("knightfall.studies.costs").joinpath(file)
    return read_costs(decoded(there.read_bytes(), file), conditions)


def read_costs(text: str, conditions: str) -> NodeCosts:
    """The costs that a file of TOML tells; an error says what is wrong with it."""
    try:
        table = parse_toml(text)
        check(_SHAPE, table)
    except KnightfallError as error:
        raise KnightfallError(
            f"what a node costs in {conditions} cannot be read: {error}"
        ) from None
    ratios = {id: float(row["ratio"]) for id, row in table["cost"].items()}
    return NodeCosts(ratios, conditions, table.get("microseconds"))


_SHAPE = {
    "date": date,
    "machine": str,
    "python": str,
    "positions": Whole(),
    "rounds": Whole(),
    "microseconds?": Between(0, 1e12),
    "cost": {str: {"ratio": Between(1e-6, 1e6), "nodes": Whole(1)}},
}
