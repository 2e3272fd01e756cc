"""The names that the studies print for their heuristics, and the id of each.

An id is ours; an author's name is an alias for it.  ``staged:heuristic1`` says whose it is, and
``heuristic1`` alone will do where no other study means something else by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_OF_THE_COURSE = {"open_move_score": "open", "center_score": "center", "improved_score": "improved"}


def _three(first: str, second: str, third: str) -> dict[str, str]:
    """Return the names that the course of 2017b left to its students, for three ids."""
    ids = (first, second, third)
    ends = ("", "_2", "_3")
    names = {f"custom_score{end}": id for end, id in zip(ends, ids, strict=True)}
    return names | {f"AB_Custom{end}": id for end, id in zip(ends, ids, strict=True)}


PRINTED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "lookahead": {
            **_three("lookahead_mobility", "center_pull", "corner_averse"),
            # Printed with a space and in either case.
            "Custom_heuristic_1": "lookahead_mobility",
            "Custom_heuristic_2": "center_pull",
            "Custom_heuristic_3": "corner_averse",
            "custom_heuristic_1": "lookahead_mobility",
            "custom_heuristic_2": "center_pull",
            "custom_heuristic_3": "corner_averse",
        },
        "directional": {
            **_three("weighted_mobility", "weighted_difference", "weighted_moves"),
            **_OF_THE_COURSE,
        },
        "reachability": {
            "close_to_center_score": "near_center",
            "far_from_center_score": "near_edges",
            "close_to_opponent_score": "near_opponent",
            "far_from_opponent_score": "far_opponent",
            "bfs_score": "bfs_reach",
            "custom_score": "near_opponent+bfs_reach",
            # The rows of its tables.
            "Value_Center": "near_center",
            "Value_Edges": "near_edges",
            "Close": "near_opponent",
            "Far": "far_opponent",
        },
        "staged": {
            "heuristic1": "mobility",
            "heuristic2": "open_space_difference",
            "heursitic2": "open_space_difference",  # as its table spells it
            "heurisic3": "open_space_next",  # as its text spells it once
            "heuristic3": "open_space_next",
            "heuristic4": "open_space",
            "heuristic5": "longest_win_difference",
            "heuristic6": "longest_win",
            "heuristic_main": "main",
            "heuristic_main_staggered": "main_staggered",
            "heuristic_mainalt": "main_alt",
            "heuristic_mainalt_prop": "main_prop",
            "heuristic_mainalt_staggered": "main_alt_staggered",
            "heuristic_main_alt_01": "main_alt_01",
            "heuristic_main_alt_03": "main_alt_03",
            "heuristic_main_alt_less": "main_less",
            "heuristic_main_alt_less_more": "main_less_more",
            "improved_score": "improved",
        },
        "aggressive": _three("aggressive", "lookahead_ratio", "open_cluster"),
    }
)
"""By study and printed name; an id may be a sum."""


def meanings(name: str) -> dict[str, str]:
    """Return the ids that a printed name stands for, by the name with its study."""
    study, _, bare = name.rpartition(":")
    return {
        f"{each}:{bare}": names[bare]
        for each, names in PRINTED.items()
        if bare in names and study in ("", each)
    }


def canonical(name: str) -> str | None:
    """Return the id that a printed name stands for; None if it is none, or stands for several."""
    ids = set(meanings(name).values())
    return ids.pop() if len(ids) == 1 else None


def printed_names(id: str) -> list[str]:
    """Return the names, with their studies, that were printed for an id."""
    return [
        f"{study}:{name}"
        for study, names in PRINTED.items()
        for name, other in names.items()
        if other == id
    ]


def all_printed() -> list[str]:
    """Return every name that can be written: with its study, and alone where that is clear."""
    bare = dict.fromkeys(name for names in PRINTED.values() for name in names)
    whole = [f"{study}:{name}" for study, names in PRINTED.items() for name in names]
    return [*(name for name in bare if canonical(name)), *whole]
