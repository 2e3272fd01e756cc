"""Every published heuristic by its id: the registry, its families and sums spelled out."""

from __future__ import annotations

SUMMED_WITH_BFS_REACH = ("near_center", "near_edges", "near_opponent", "far_opponent")
"""The heuristics the reachability study also tried added to `bfs_reach`."""


def published_ids() -> list[str]:
    """The ids in the order of the registry, the sums right after `bfs_reach`."""
    from knightfall.heuristics import REGISTRY
    from knightfall.heuristics.registry import YOURS

    ids: list[str] = []
    for row in REGISTRY.values():
        if row.study == YOURS:
            continue
        if row.parameter:
            ids += [f"{row.id}({value})" for value in row.published]
        else:
            ids.append(row.id)
        if row.id == "bfs_reach":
            ids += [f"{name}+bfs_reach" for name in SUMMED_WITH_BFS_REACH]
    return ids
