"""Every published heuristic by its id: the registry, its families and sums spelled out."""

from __future__ import annotations

from knightfall.heuristics import REGISTRY
from knightfall.heuristics.registry import USER

SUMMED_WITH_BFS_REACH = ("near_center", "near_edges", "near_opponent", "far_opponent")
"""The heuristics the reachability study also tried added to `bfs_reach`."""


def published_ids() -> dict[str, str]:
    """Each id with its study, in the order of the registry, the sums right after `bfs_reach`."""
    ids: dict[str, str] = {}
    for row in REGISTRY.values():
        if row.study == USER:
            continue
        if row.parameter:
            ids |= {f"{row.id}({value})": row.study for value in row.published}
        else:
            ids[row.id] = row.study
        if row.id == "bfs_reach":
            ids |= {f"{name}+bfs_reach": row.study for name in SUMMED_WITH_BFS_REACH}
    return ids
