"""The table of all heuristics, readable without compiling them, and the decorator for new ones.

A heuristic is a pure function ``(board, open, me, opp, to_move) -> float``:

- ``board`` is the geometry record (`knightfall.kernel.rules`): sizes, knight moves, distances;
- ``open`` is the set of open cells, one bit each;
- ``me`` and ``opp`` are the cells of the player evaluated and of its opponent;
- ``to_move`` is the cell of the side to move, so ``to_move == me`` means that it is my turn.

The value is always from me's point of view, for either side to move.  A heuristic is only called
when both knights are on the board.

A published heuristic is a function of the same name in the module of its study.  Extensions add
tables of more heuristics, and of aliases.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, overload

from knightfall.errors import KnightfallError
from knightfall.extensions import added, load_added, warn_left_out

STUDIES = ("course", "lookahead", "directional", "reachability", "staged", "aggressive")
"""The modules of the core's heuristics."""
USER = "user"
"""The study of users' own heuristics."""
LEARNED = "learned"
"""The study of the heuristics that knightfall's authors have learned from solved positions."""
CODED = "coded:"
"""Prefix of the ids of heuristics as a study's program computes them, where its text differs."""

Score = Callable[..., float]
"""A heuristic's Python function."""

PARAMETERS = ("board", "open", "me", "opp", "to_move")


@dataclass(frozen=True)
class Declared:
    """One row of the registry: a heuristic, or a family of heuristics if `parameter` is set.

    A `symmetric` one promises that mirrored and rotated positions have the same value.  A `costly`
    one searches on its own and obeys `kernel.interrupt.steps_left`.
    """

    id: str
    study: str
    formula: str
    summary: str
    symmetric: bool = True
    costly: bool = False
    parameter: str = ""
    published: tuple[Fraction, ...] = ()
    function: Any = field(default=None, repr=False)
    """The dispatcher of a user's own heuristic; others are found by name."""
    module_name: str = ""
    """The module of the function; if empty, the module of the study in `knightfall.heuristics`."""
    listed: bool = True
    """Whether ``--heuristic all`` includes it."""

    @property
    def coded(self) -> bool:
        """Whether the heuristic follows a study's program, which differs from the study's text."""
        return self.id.startswith(CODED)

    @property
    def score(self) -> Any:
        """The Numba dispatcher; of a family, the function that makes a member."""
        if self.study == USER:
            return self.function
        try:
            return getattr(import_module(self.module), self.id.removeprefix(CODED))
        except (ModuleNotFoundError, AttributeError) as error:
            raise KnightfallError(f"heuristic {self.id!r} has no function: {error}") from None

    @property
    def module(self) -> str:
        """The import path of the function's module; without meaning for a user's own heuristic."""
        return self.module_name or f"knightfall.heuristics.{self.study}"


# -- published -----------------------------------------------------------------------------

PUBLISHED = (
    # -- the course's own, the baseline every study starts from
    Declared("null", "course", "0", "Always 0: a search sees only won and lost games."),
    Declared("open", "course", "M(me)", "Own mobility."),
    Declared(
        "center",
        "course",
        "|me − C*|²",
        "Squared distance from the centre: the course rewards being far from it.",
        symmetric=False,  # C* lies half a cell below and right of the true centre
    ),
    Declared("improved", "course", "M(me) − M(opp)", "Own mobility less the opponent's."),
    # -- one own move further, and where on the board a knight stands
    Declared(
        "lookahead_mobility",
        "lookahead",
        "[M(me) + Σ deg(x)] − [M(opp) + Σ deg(x)]",
        "Ways to make one or two moves in a row, less the opponent's.",
    ),
    Declared(
        "center_pull",
        "lookahead",
        "M(me) − M(opp) + d(opp) − d(me)",
        "Mobility difference, plus the opponent's distance from the centre less the own.",
        symmetric=False,  # C* again
    ),
    Declared(
        "corner_averse",
        "lookahead",
        "(M(me) − corners(me)) − (M(opp) − corners(opp))",
        "Mobility difference that does not count moves into a corner.",
    ),
    # -- mobility weighed by place
    Declared(
        "weighted_mobility",
        "directional",
        "M(me)·ω(me)",
        "Own mobility, weighted by how central the knight stands.",
    ),
    Declared(
        "weighted_difference",
        "directional",
        "M(me)·ω(me) − M(opp)·ω(opp)",
        "Mobility difference, each side weighted by how central its knight stands.",
    ),
    Declared(
        "weighted_moves",
        "directional",
        "Σ ω(x), x ∈ moves(me) − Σ ω(x), x ∈ moves(opp)",
        "Mobility difference, each move weighted by how central its target cell is.",
    ),
    # -- how much of the board a knight can get to, and how soon
    Declared(
        "near_center",
        "reachability",
        "L1(opp,C) − L1(me,C)",
        "How much nearer the own knight is to the centre than the opponent's.",
    ),
    Declared(
        "near_edges",
        "reachability",
        "L1(me,C) − L1(opp,C)",
        "How much farther the own knight is from the centre than the opponent's.",
    ),
    Declared(
        "near_opponent", "reachability", "−L1(me,opp)", "The closer the two knights, the better."
    ),
    Declared(
        "far_opponent",
        "reachability",
        "L1(me,opp)",
        "The farther apart the two knights, the better.",
    ),
    Declared(
        "static_reach",
        "reachability",
        "Σ r^δ(me,x) − Σ r^δ(opp,x)",
        "Sum of r^distance over open cells (moves on an empty board), less the opponent's sum.",
        parameter="r",
        published=tuple(Fraction(1, n) for n in range(2, 11)),
    ),
    Declared(
        "bfs_reach",
        "reachability",
        "Σ 1/(1+d(me,x)) − Σ 1/(1+d(opp,x))",
        "Sum of 1/(1 + distance) over the cells within reach, less the opponent's sum.",
    ),
    # -- one after the other, with the phase of the game
    Declared(
        "mobility",
        "staged",
        "M(me) − M(opp)",
        "Own mobility less the opponent's, under the name this study gives it.",
    ),
    Declared("open_space", "staged", "open8(me)", "Open cells that touch the own knight."),
    Declared(
        "open_space_difference",
        "staged",
        "open8(me) − open8(opp)",
        "Open cells around the own knight, less those around the opponent's.",
    ),
    Declared(
        "open_space_next",
        "staged",
        "max of open8(me) over the mover's moves",
        "Most open cells around the own knight that any next move can leave.",
    ),
    Declared(
        "longest_win",
        "staged",
        "plies of the longest continuation that me wins",
        "Length of the longest continuation, both sides helping, that ends in a win; "
        "0 if none does.",
        symmetric=False,  # mirror images may differ once the steps are spent
        costly=True,
    ),
    Declared(
        "longest_win_difference",
        "staged",
        "longest_win(me) − longest_win(opp)",
        "The longest way to win, less the opponent's longest.",
        symmetric=False,
        costly=True,
    ),
    Declared(
        "main_less",
        "staged",
        "phase·mobility + open_space_difference",
        "Mobility difference, fading as the board fills, plus the open-space difference.",
    ),
    Declared(
        "main_less_more",
        "staged",
        "phase·improved + open_space_difference",
        "Own mobility less the opponent's, fading as the board fills, plus open-space difference.",
    ),
    Declared(
        "main",
        "staged",
        "phase < 0.2: longest_win_difference; else main_less",
        "Fading mobility and open space; under 20 % open, the longest win less the opponent's.",
        costly=True,
    ),
    Declared(
        "main_alt",
        "staged",
        "phase < 0.2: longest_win; else main_less",
        "Fading mobility and open space; with under 20 % of the cells open, the longest win.",
        costly=True,
    ),
    Declared(
        "main_alt_01",
        "staged",
        "phase < 0.1: longest_win; else main_less",
        "Fading mobility and open space; with under 10 % of the cells open, the longest win.",
        costly=True,
    ),
    Declared(
        "main_alt_03",
        "staged",
        "phase < 0.3: longest_win; else main_less",
        "Fading mobility and open space; with under 30 % of the cells open, the longest win.",
        costly=True,
    ),
    Declared(
        "main_prop",
        "staged",
        "phase < 0.2: longest_win; else phase·mobility + (1 − phase)·open_space_difference",
        "Mobility gives way to open space as the board fills; under 20 % open, the longest win.",
        costly=True,
    ),
    Declared(
        "main_staggered",
        "staged",
        "phase > 0.7: mobility; phase < 0.2: longest_win_difference; else open_space_difference",
        "First mobility, then open space, at last the longest win; each less the opponent's.",
        costly=True,
    ),
    Declared(
        "main_alt_staggered",
        "staged",
        "phase > 0.7: mobility; phase < 0.2: longest_win; else open_space_difference",
        "First mobility, then open space, at last the longest win.",
        costly=True,
    ),
    # -- against the opponent's mobility more than for the own
    Declared(
        "aggressive",
        "aggressive",
        "M(me) − 2·M(opp)",
        "Own mobility less twice the opponent's.",
    ),
    Declared(
        "lookahead_ratio",
        "aggressive",
        "mean of M'(me)/M'(opp) over x ∈ moves(me), me on x",
        "Ratio of own to opponent's mobility after an own move, averaged over all own moves.",
    ),
    Declared(
        "open_cluster",
        "aggressive",
        "aggressive + (H+W−L1(me,k))/(H+W)",
        "As aggressive, plus nearness to the emptiest quarter once 1/5 of the board is blocked.",
        # Among equal windows the first in scanning order counts, and k is half a cell off the
        # centre of an even window.
        symmetric=False,
    ),
)
"""The core's published heuristics, in the order of the studies."""

LEARNED_HEURISTICS = (
    Declared(
        "learned_linear",
        LEARNED,
        "Σ (w₀ + w₁·phase + w₂·phase²)·x",
        "Weighted sum of counts of cells, with learned weights for hunter and runner.",
        listed=False,
    ),
    Declared(
        "learned_net",
        LEARNED,
        "w·max(0, W·x + b) + c",
        "Small neural network on counts of cells reached first, trained on solutions and games.",
        listed=False,
    ),
)

SUMMED_WITH_BFS_REACH = ("near_center", "near_edges", "near_opponent", "far_opponent")
"""The heuristics that the reachability study also tested in a sum with `bfs_reach`."""


def published_ids() -> dict[str, str]:
    """Return the ids of all published heuristics, each with its study, in the registry's order.

    Families are listed member by member; the sums with `bfs_reach` follow it.
    """
    ids: dict[str, str] = {}
    for row in REGISTRY.values():
        if not row.listed or row.study == USER:
            continue
        if row.parameter:
            ids |= {f"{row.id}({value})": row.study for value in row.published}
        else:
            ids[row.id] = row.study
        if row.id == "bfs_reach":
            ids |= {f"{name}+bfs_reach": row.study for name in SUMMED_WITH_BFS_REACH}
    return ids


# -- tables of extensions ------------------------------------------------------------------


@dataclass(frozen=True)
class HeuristicTable:
    """Heuristics that an extension adds, and aliases of heuristics.

    Each row names the module of its function, which must be decorated by
    `knightfall.heuristics.c_signature.published`.
    """

    rows: tuple[Declared, ...] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By group (a study), then by alias: an id, or a sum of ids.  Also written ``group:alias``."""


@cache
def added_tables() -> tuple[HeuristicTable, ...]:
    """Return the tables of all extensions; one that fails to load is left out with a warning."""
    found = []
    for name, (extension, _) in added("tables").items():
        try:
            found.append(load_added("tables", name)())
        except Exception as error:
            warn_left_out(extension, error)
    return tuple(found)


def printed_groups() -> dict[str, Mapping[str, str]]:
    """Return the aliases of heuristics that extensions add: ids by alias, by group."""
    return {group: names for table in added_tables() for group, names in table.names.items()}


def meanings(name: str) -> dict[str, str]:
    """Return the ids that an alias has in the studies that use it, by ``study:alias``."""
    study, _, bare = name.rpartition(":")
    return {
        f"{each}:{bare}": names[bare]
        for each, names in printed_groups().items()
        if bare in names and study in ("", each)
    }


def canonical(name: str) -> str | None:
    """Return the id that a name printed in studies stands for; None if unknown or ambiguous."""
    ids = set(meanings(name).values())
    return ids.pop() if len(ids) == 1 else None


def printed_names(id: str) -> list[str]:
    """Return the names that studies print for an id, as ``study:name``."""
    return [
        f"{study}:{name}"
        for study, names in printed_groups().items()
        for name, other in names.items()
        if other == id
    ]


def all_printed_names() -> list[str]:
    """Return all names that studies print: as ``study:name``, and alone if unambiguous."""
    groups = printed_groups()
    bare = dict.fromkeys(name for names in groups.values() for name in names)
    whole = [f"{study}:{name}" for study, names in groups.items() for name in names]
    return [*(name for name in bare if canonical(name)), *whole]


# -- the registry --------------------------------------------------------------------------


class Registry(MutableMapping[str, Declared]):
    """Every declared heuristic by its id: the core's, those of extensions, then users' own.

    The tables of extensions are loaded on the first access to an id that the core does not have.
    """

    def __init__(self, *rows: Declared) -> None:
        self._rows = {row.id: row for row in rows}
        self._complete = False

    def _all(self) -> dict[str, Declared]:
        if not self._complete:
            self._complete = True
            for table in added_tables():
                for row in table.rows:
                    self._rows.setdefault(row.id, row)
        return self._rows

    def __getitem__(self, id: str) -> Declared:
        return self._rows[id] if id in self._rows else self._all()[id]

    def __setitem__(self, id: str, row: Declared) -> None:
        self._all()[id] = row

    def __delitem__(self, id: str) -> None:
        del self._all()[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


REGISTRY = Registry(*PUBLISHED, *LEARNED_HEURISTICS)


@overload
def heuristic(function: Score) -> Any: ...
@overload
def heuristic(*, formula: str = ..., symmetric: bool = ...) -> Callable[[Score], Any]: ...
def heuristic(function: Score | None = None, *, formula: str = "", symmetric: bool = False) -> Any:
    """Declare a user's heuristic; its id is the function's name.

    Return the function as a Numba dispatcher, callable from other heuristics and from Python.  It
    is compiled on first use.

    Args:
        function: A function of the arguments (board, open, me, opp, to_move).
        formula: A formula for lists of heuristics.
        symmetric: A promise that mirrored and rotated positions have the same value, which lets a
            search skip mirror images; `check` tests it.

    Example:
        >>> from knightfall.heuristics import mobility
        >>> @kf.heuristic(symmetric=True)
        ... def timid(board, open, me, opp, to_move):
        ...     return -mobility(board, open, opp)
        >>> kf.match(timid, "random", pairs=5, workers=0).pairs
        (0, 0, 5)
    """

    def declare(score: Score) -> Any:
        from knightfall.kernel.compile import compile_later  # here, because it imports the compiler

        id = score.__name__
        known = REGISTRY.get(id)
        if known is not None and known.study != USER:
            raise KnightfallError(
                f"heuristic id {id!r} is taken by the {known.study} study: choose another name"
            )
        dispatcher = compile_later(score, cache=False)
        summary = (inspect.getdoc(score) or "").split("\n")[0]
        REGISTRY[id] = Declared(id, USER, formula, summary, symmetric, function=dispatcher)
        return dispatcher

    return declare if function is None else declare(function)


def ready_for_python() -> None:
    """Compile the function `each` for sets of cells, and forbid compiling it for other types.

    In Python a set of cells is an int, for which Numba would otherwise compile another version,
    with signed words that have no bit for cell 63.  Published heuristics need no such call.
    """
    from numba import types

    from knightfall.kernel.bits import each

    with _forbidding:  # otherwise one thread forbids what another is compiling
        if not each.signatures:
            each.compile((types.uint64,))
        each.disable_compile()


_forbidding = threading.Lock()


def check_parameters(score: Score) -> None:
    """Raise an error if a function does not take the five arguments of a heuristic."""
    try:
        given = list(inspect.signature(getattr(score, "py_func", score)).parameters.values())
    except (TypeError, ValueError):
        given = []
    if len(given) != len(PARAMETERS) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in given):
        name = getattr(score, "__name__", repr(score))
        raise KnightfallError(
            f"heuristic {name!r} must take exactly ({', '.join(PARAMETERS)}), "
            f"not ({', '.join(str(p) for p in given)})"
        )
