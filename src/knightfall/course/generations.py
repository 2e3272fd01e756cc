"""The generations of the course: the interface, board and tournament of each.

Each generation is a module, `generation_NAME`, with its board, its sample players and `GENERATION`,
an instance of a subclass of `Generation`.  To add one, write that module, add its name to `NAMES`,
and put the modules `isolation`, `isolation.isolation` and `sample_players` that its scripts import
into `paths/generation_NAME`.
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
"""The generations of the first course from the newest to the oldest, then the successor."""


class Generation:
    """A generation of the course; each subclass describes the submissions of one generation."""

    name: str
    board: Any
    """The class of the board (or state) that players get."""
    on_11x9 = False
    """Whether this is the successor's 11×9 game, which the store and the solver do not support."""
    sample_players: ClassVar[Mapping[str, Any]]
    """The contents of its module `sample_players`, by name."""

    # -- players -------------------------------------------------------------------------------

    gives_moves = False
    """Whether `get_move` gets the list of legal moves as an argument before `time_left`."""
    classes: ClassVar[Mapping[str, str]]
    """The names of the classes that search by `minimax` and by `alphabeta`."""
    constructor: tuple[str, ...]
    """The arguments that the tournament passes to a player's constructor."""
    methods: ClassVar[Mapping[str, tuple[tuple[str, ...], ...]]]
    """Lists of positional arguments, without self, with which each method may be called.  A player
    must accept the first list."""
    scores: tuple[str, ...]
    """The names of the score functions that the course requires."""
    timeout: str
    """The name of the exception that a search raises when its time is over."""
    answers_values = False
    """Whether searches return (value, move) instead of the move alone."""
    endless_depth: int | None = None
    """The `search_depth` with which the course's tests asked players to deepen without limit."""

    # -- board and tournament ------------------------------------------------------------------

    shuffles = True
    """Whether the board gives legal moves in random order."""
    protocol: str
    """The name of the tournament protocol."""
    no_move = "forfeit"
    """The tournament's word for an answer that is not a legal move."""

    @property
    def examined_on(self) -> Any:
        """Return the board class on which submissions are checked."""
        return self.board

    def tested(self, player: str, scores: list[str]) -> list[tuple[str, str]]:
        """Return the test agents of the tournament as (label, score name).

        The course's own score comes first, then the student's scores; all use the class `player`.
        """
        raise NotImplementedError

    # -- recognition ---------------------------------------------------------------------------

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """Yield (strength, reason) for each sign that a submission is of this generation."""
        yield from ()

    def board_sign(self, source: BoardSource) -> str:
        """Return why a board file is of this generation, as a verb phrase; "" if it is not."""
        return ""

    def guess(self, file: Path, text: str) -> str:
        """Return why a file that Python cannot parse is likely of this generation, else ""."""
        return ""

    # -- folder, printing, pickling ------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Return the folder from which old scripts can import this generation's modules."""
        return Path(__file__).resolve().parent / "paths" / f"generation_{self.name}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"generation_named({self.name!r})"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return generation_named, (self.name,)


@cache
def generation_named(name: str) -> Generation:
    """Return the generation with this name; raise `KnightfallError` if there is none."""
    if name not in NAMES:
        raise KnightfallError(
            f"unknown generation {name!r} of the course; known: {', '.join(NAMES)}"
            + nearest(str(name), NAMES)
        )
    found: Generation = import_module(f"knightfall.course.generation_{name}").GENERATION
    return found


def all_generations() -> list[Generation]:
    """Return all generations in the order of `NAMES`."""
    return [generation_named(name) for name in NAMES]


def default_generation() -> Generation:
    """Return the generation assumed when a submission shows no evidence: the most common."""
    return generation_named(NAMES[0])


# -- evidence of a generation ------------------------------------------------------------------


class Strength(IntEnum):
    """How strong a piece of evidence for a generation is; a lower number is stronger."""

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
class GenerationEvidence:
    """The facts about a submission from which its generation is inferred."""

    file: Path
    acts: bool
    """Whether a player has the method `get_action`."""
    takes: frozenset[int | None]
    """The number of arguments of `get_move` in the class that the tournament uses."""
    players: frozenset[str]
    """The names of its player classes."""
    used: frozenset[str]
    """The attribute names that its code uses."""
    board: BoardFile | None
    """The course's board file beside the submission, if any."""


@dataclass(frozen=True, slots=True)
class BoardFile:
    """A board's file and generation; `sign` says by what it was recognised, as a verb phrase."""

    file: Path
    generation: Generation
    sign: str


class BoardSource:
    """Facts about the source of a board file, as needed to recognise its generation."""

    def __init__(self, tree: ast.Module) -> None:
        self.classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        board = self.classes.get("Board")
        nodes = [] if board is None else list(ast.walk(board))
        self.names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        """The attribute names that the class `Board` uses."""
        body = [] if board is None else board.body
        self.methods = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        self.asked = {
            len(node.args)
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get_move"
        }
        """The numbers of arguments with which it calls `get_move`."""

    @property
    def is_flat(self) -> bool:
        """Return whether the board keeps all cells in one flat list."""
        return "_board_state" in self.names

    @property
    def marked(self) -> set[str]:
        """Return the indices of `_board_state` that `__init__` assigns: -1 is player 1's cell,
        -2 player 2's."""
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
