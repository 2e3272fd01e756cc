"""The generations of the course: what the submissions of each define, import and are asked.

Each generation is a module, `generation_NAME`, with its board, its sample players and a
`GENERATION` that answers the questions of `Generation`.  To add one, write that module, name it in
`NAMES`, and put what its scripts import into `paths/generation_NAME`: first on PYTHONPATH, that
folder offers the modules `isolation`, `isolation.isolation` and `sample_players`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from knightfall.errors import KnightfallError, nearest

NAMES = ("2017b", "2017a", "early", "oldest", "successor")
"""The newest of the first course's boards, back to its oldest, and the successor's."""


class Generation:
    """One generation; the subclass of each answers what is asked about its submissions."""

    name: str
    board: Any
    """The board, or the state, that its players get."""
    on_11x9 = False
    """Whether it is the successor's game, which no store and no solver here can hold."""
    sample_players: ClassVar[Mapping[str, Any]]
    """What its `sample_players` offers, by name."""

    # -- its players ---------------------------------------------------------------------------

    gives_moves = False
    """Whether `get_move` gets the list of legal moves before the time left."""
    classes: ClassVar[Mapping[str, str]]
    """The class that searches by `minimax` and by `alphabeta`."""
    constructor: tuple[str, ...]
    """What the tournament gives to a player's constructor."""
    methods: ClassVar[Mapping[str, tuple[tuple[str, ...], ...]]]
    """How methods are called, beside self, by position: the first way is needed, others usual."""
    scores: tuple[str, ...]
    """The names of the scores that the course asks for."""
    timeout: str
    """The name of the exception that searches raise when their time is over."""
    answers_values = False
    """Whether searches answer (value, move) instead of the move alone."""
    endless_depth: int | None = None
    """The `search_depth` with which the course's own tests had players deepen without end."""

    # -- its board and tournament --------------------------------------------------------------

    shuffles = True
    """Whether the board gives legal moves in random order."""
    protocol: str
    """The name of its tournament's protocol."""
    no_move = "forfeit"
    """What its tournament called an answer that is no legal move."""

    @property
    def examined_on(self) -> Any:
        """The board that its submissions are examined on."""
        return self.board

    def tested(self, player: str, scores: list[str]) -> list[tuple[str, str]]:
        """Return whom its tournament tested: the label and the score of each.

        The course's own score comes first, then the student's; all think with `player`.
        """
        raise NotImplementedError

    # -- how it is known -----------------------------------------------------------------------

    def signs(self, found: Evidence) -> Iterator[tuple[Strength, str]]:
        """Yield what tells that a submission is of this generation."""
        yield from ()

    def board_sign(self, source: BoardSource) -> str:
        """Return what tells that a file's board is of this generation: a sentence's end, or ""."""
        return ""

    def guess(self, file: Path, text: str) -> str:
        """Return what tells that a file is of this generation that is no valid Python, or ""."""
        return ""

    # -- as a value ----------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder from which old scripts import its modules."""
        return Path(__file__).resolve().parent / "paths" / f"generation_{self.name}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"generation_named({self.name!r})"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return generation_named, (self.name,)


@cache
def generation_named(name: str) -> Generation:
    """Return the generation of a name; raise a `KnightfallError` if there is none."""
    if name not in NAMES:
        raise KnightfallError(
            f"no generation {name!r} of the course: there are {', '.join(NAMES)}"
            + nearest(str(name), NAMES)
        )
    found: Generation = import_module(f"knightfall.course.generation_{name}").GENERATION
    return found


def all_generations() -> list[Generation]:
    """Return all generations in the order of `NAMES`."""
    return [generation_named(name) for name in NAMES]


def default_generation() -> Generation:
    """Return the generation of what shows no sign of any: the most common one."""
    return generation_named(NAMES[0])


# -- the signs of a generation -----------------------------------------------------------------


class Strength(IntEnum):
    """How sure a sign of a generation is; the least number is the surest, and counts."""

    ANOTHER_GAME = 0
    TWO_ARGUMENTS = 1
    OWN_BOARD = 2
    BOARD_AND_CLASSES = 3
    PRIVATE_NAMES = 4
    METHOD_NAMES = 5
    THREE_ARGUMENTS = 6
    CLASSES = 7
    BOARD = 8


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a submission shows of its generation."""

    file: Path
    acts: bool
    """Whether a player has `get_action`."""
    takes: frozenset[int | None]
    """How many arguments the `get_move` takes that the tournament asks."""
    players: frozenset[str]
    """The names of its players."""
    used: frozenset[str]
    """The attributes that it names."""
    board: BoardFile | None
    """The course's board beside it."""


@dataclass(frozen=True, slots=True)
class BoardFile:
    """A board's file; `sign` is what tells its generation: a sentence without its subject."""

    file: Path
    generation: Generation
    sign: str


class BoardSource:
    """The source of a file that `import isolation` finds, and what is asked about it."""

    def __init__(self, tree: ast.Module) -> None:
        self.classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        board = self.classes.get("Board")
        nodes = [] if board is None else list(ast.walk(board))
        self.names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        """The attributes that its board names."""
        body = [] if board is None else board.body
        self.methods = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        self.asked = {
            len(node.args)
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get_move"
        }
        """With how many arguments it asks players for their moves."""

    @property
    def is_flat(self) -> bool:
        """Whether its board keeps all cells in one list."""
        return "_board_state" in self.names

    @property
    def marked(self) -> set[str]:
        """Where a new board writes into `_board_state`: -1 is player 1's cell, -2 player 2's."""
        if "__init__" not in self.methods:
            return set()
        return {
            ast.unparse(node.slice)
            for node in ast.walk(self.methods["__init__"])
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "_board_state"
        }
