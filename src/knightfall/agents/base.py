"""The base class of all kinds of agents: its string, its properties, and the moves it chooses."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side
from knightfall.search.budget import Budget, Report, parse_budget
from knightfall.user_files import (
    PRIVATE_COPY,
    LocalFunction,
    UserFunction,
    snapshot_root,
    without_digits,
)

if TYPE_CHECKING:
    from pathlib import Path

    from knightfall.agents.remote_player import RemotePlayer
    from knightfall.heuristics.evaluator import Evaluator
    from knightfall.heuristics.expression import Atom, Expression
    from knightfall.isolation.host_process import PrivateCopy
    from knightfall.search.run_search import Search

MOST_SEED = 2**63 - 1

_MADE_HERE = ("evaluator", "host", "memory", "_atoms")
"""Cached values that are not pickled: most hold machine code or processes."""


class CompiledSearch(NamedTuple):
    """The compiled search that makes an agent's choices, with its budget."""

    search: Search
    budget: Budget


class TimeControl(NamedTuple):
    """The clock that limits an agent's moves, and the time per move as text, such as ``150ms``."""

    clock: str
    time: str


@dataclass(frozen=True)
class Agent:
    """An agent as an immutable value; parsing `str(agent)` gives an equal agent.

    Each kind of agent is a subclass.  It sets the class attributes, and overrides `analyse_with`
    and `prepare`; the defaults of the other methods suit agents that are a single search.  It has a
    `heuristic`, a `budget` per move and a `seed`, which breaks ties.  `label` is the name that the
    agent was given (such as a course name); it takes no part in equality.
    """

    kind: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    example: ClassVar[str] = ""
    argument: ClassVar[str] = "a heuristic"
    """What the first argument of its string is; empty if it takes none."""
    budgets: ClassVar[tuple[str, ...]] = ()
    default: ClassVar[Budget] = Budget()
    words: ClassVar[tuple[str, ...]] = ()
    """Words that its string may hold in addition to budgets and the seed."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Names of options with a value that its string may hold."""
    reads_itself: ClassVar[bool] = False
    """Whether `read` and `split` parse its whole string, which may hold a path with any characters.
    """
    in_python: ClassVar[bool] = False
    """Whether a user's Python function or another program chooses its moves, in its own process."""

    heuristic: str = ""
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    label: str = field(default="", compare=False, kw_only=True)

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in vars(self).items() if key not in _MADE_HERE}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        if self.timed and not self.in_python:
            self.prepare()

    def __str__(self) -> str:
        parts = [self.heuristic] if self.heuristic else []
        parts += [str(self.budget)] if self.budget else []
        parts += [*self.options(), *([f"seed={self.seed}"] if self.seed else [])]
        return f"{self.kind}({', '.join(parts)})" if parts else self.kind

    @property
    def name(self) -> str:
        """The name of the agent in tables."""
        text = self.label or str(self)
        return without_digits(text) if "~" in text else text

    @cached_property
    def evaluator(self) -> Evaluator:
        """The compiled heuristic."""
        from knightfall.heuristics.evaluator import evaluator

        return evaluator(self.heuristic or "null")

    # -- its string ------------------------------------------------------------------------

    def options(self) -> Iterator[str]:
        """Yield the options of the agent's string, such as ``plain``; not its budget and seed."""
        return iter(())

    @classmethod
    def read(cls, text: str) -> Agent:
        """Parse a whole agent string; only kinds with `reads_itself` implement this."""
        raise NotImplementedError

    @classmethod
    def split(cls, text: str) -> tuple[str, tuple[str, ...]]:
        """Split a string into first argument and options; only for kinds with `reads_itself`."""
        raise NotImplementedError

    @classmethod
    def read_argument(cls, text: str) -> UserFunction | Expression:
        """Parse the first argument of the string."""
        from knightfall.heuristics.expression import parse_heuristic

        return parse_heuristic(text)

    def with_options(self, given: Mapping[str, str]) -> Self:
        """Return the agent with these options set; an option without value maps to ""."""
        return self

    def with_arguments(self, text: str, arguments: list[str], *, fillable: bool) -> Agent:
        """Return the agent with the settings that the arguments of its string `text` describe.

        `fillable` is whether the first of them may be the heuristic.
        """
        heuristic, seed = self.heuristic, self.seed
        budgets, options = dict[str, str](), dict[str, str]()
        given = [argument.partition("=")[0].strip() for argument in arguments]
        for key in given:
            if given.count(key) > 1:
                raise KnightfallError(f"agent {text!r}: {key} is given twice")
        for number, argument in enumerate(arguments):
            key, equals, value = (part.strip() for part in argument.partition("="))
            if key in (self.keys if equals else self.words):
                options[key] = value
            elif equals and key == "seed":
                seed = read_seed(value)
            elif equals and key in self.budgets:
                budgets[key] = value
            elif not equals and number == 0 and fillable:
                heuristic = str(self.read_argument(argument))
            else:
                accepted = [self.argument] if fillable else []
                from knightfall.agents.kinds import variant_words  # avoids a circular import

                accepted += [*self.budgets, "seed", *self.words, *variant_words(self.kind)]
                accepted += [key for key in self.keys if key not in self.budgets]
                raise KnightfallError(
                    f"agent {text!r}: cannot use {argument!r}; {self.kind} takes "
                    f"{', '.join(accepted)}, as in {self.example}"
                )
        if self.argument and not heuristic:
            hint = " (knightfall heuristics lists them)" if self.argument == "a heuristic" else ""
            example = f"{self.label}(mine.py:score)" if self.label else self.example
            raise KnightfallError(
                f"agent {text!r} needs {self.argument} first, as in {example}{hint}"
            )
        budget = parse_budget(budgets) if budgets else self.budget
        if self.default.depth is not None and budget.depth is None:
            budget = replace(budget, depth=self.budget.depth)  # the kind keeps its fixed depth
        label = text.strip() if self.label else ""
        found = replace(self, heuristic=heuristic, budget=budget, seed=seed, label=label)
        try:
            return found.with_options(options)
        except KnightfallError as error:
            raise KnightfallError(f"agent {text!r}: {error}") from None

    # -- its properties --------------------------------------------------------------------

    @property
    def timed(self) -> bool:
        """Whether the agent's moves depend on the clock."""
        return self.budget.time is not None

    @classmethod
    def clock(cls, options: tuple[str, ...]) -> TimeControl | None:
        """Return the time control of an agent with these options; None if it has no time limit."""
        times = [option.removeprefix("time=") for option in options if option.startswith("time=")]
        return TimeControl("wall", times[0]) if times else None

    @property
    def time_is_counted(self) -> bool:
        """Whether the clock counts calls (ticks); real time may then exceed the limit per move."""
        return False

    @property
    def users_functions(self) -> tuple[UserFunction, ...]:
        """The functions in users' files that the agent calls."""
        return tuple(
            atom
            for atom in self._atoms
            if isinstance(atom, UserFunction) and not isinstance(atom, LocalFunction)
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of users' files in the agent's string, as they are written there."""
        return tuple(function.path for function in self.users_functions)

    def sources(self) -> Iterable[str]:
        """Return all files that determine the agent's moves, including imported ones."""
        return [path for function in self.users_functions for path in function.sources()]

    def folders(self) -> list[str]:
        """Return the folders that its process must be able to read: those of its files."""
        return [folder for function in self.users_functions for folder in function.folders()]

    @property
    def has_users_code(self) -> bool:
        """Whether the agent runs code written by a user, which may do anything."""
        return bool(self.users_functions) or self.is_process_local

    @property
    def is_process_local(self) -> bool:
        """Whether it uses a function of this process, such as one defined in a notebook."""
        return any(
            isinstance(atom if isinstance(atom, UserFunction) else atom.absolute(), LocalFunction)
            for atom in self._atoms
        )

    @property
    def isolated(self) -> bool:
        """Whether its user code runs in a process of its own, and this process only asks it."""
        if self.in_python or self.is_process_local or not self.users_functions:
            return self.in_python
        return not self.evaluator.compiled

    @property
    def may_hang(self) -> bool:
        """Whether the agent runs user code inside a search, so that it could block the process."""
        return not self.in_python and self.has_users_code

    @property
    def remembers_game(self) -> bool:
        """Whether moves depend on earlier moves of the game, so that games must not be mixed."""
        return False

    @property
    def needs_core(self) -> bool:
        """Whether the agent may lose games on time unless it has a processor core to itself."""
        return False

    @property
    def beside(self) -> Path | None:
        """The file whose folder is copied as the working folder of the agent's process, or None."""
        return None

    def absolute(self) -> Self:
        """Return the same agent with absolute paths, valid in any working directory."""
        if not self.has_users_code:
            return self
        return replace(self, heuristic=str(self.read_argument(self.heuristic).absolute()))

    def relocated(self, moved: Callable[[str, bool], str]) -> Self:
        """Return the same agent with each path replaced by what `moved` returns for it.

        The second argument of `moved` is whether symbolic links are followed when the
        file is loaded.  Files of a git revision keep their paths.
        """
        if not self.users_functions:
            return self
        read = self.read_argument(self.heuristic)

        def there(atom: Any) -> Any:
            if not isinstance(atom, UserFunction) or atom.revision:
                return atom
            return replace(atom, path=moved(atom.path, True))

        found = there(read) if isinstance(read, UserFunction) else read.with_atoms(there)
        return replace(self, heuristic=str(found), label="")

    def private_copy(self) -> PrivateCopy | None:
        """Copy its files for one process, if they are copies in a snapshot themselves; else None.

        So the user's code cannot find out where the snapshot is.
        """
        trees = {snapshot_root(path) for path in self.files} - {""}
        if not trees:
            return None
        here = os.getcwd()
        trees |= {snapshot_root(here)} - {""}
        from knightfall.isolation import sandbox
        from knightfall.isolation.host_process import PrivateCopy
        from knightfall.isolation.scratch_folder import remove_folder

        folder = os.path.realpath(tempfile.mkdtemp(prefix=PRIVATE_COPY))
        places = {tree: f"{folder}/{number}" for number, tree in enumerate(sorted(trees))}

        def moved(path: str, resolve: bool) -> str:
            tree = snapshot_root(path)
            return places[tree] + path.removeprefix(tree) if tree else path

        try:
            for tree, place in places.items():
                shutil.copytree(tree, place, symlinks=True)
            text = str(self.relocated(moved))
        except BaseException:
            remove_folder(folder)
            raise
        originals = {place: tree for tree, place in places.items()}
        working_folder = moved(here, False) if snapshot_root(here) else None
        for copied in (place + here for place in originals if sandbox.kind() != "none"):
            # In a sandbox it cannot write to the working folder, so it may as well get the copy.
            if os.path.isdir(copied) and os.path.realpath(copied) == copied:
                working_folder = copied
        return PrivateCopy(folder, text, originals, working_folder)

    @cached_property
    def _atoms(self) -> list[Atom]:
        if not self.heuristic:
            return []
        read = self.read_argument(self.heuristic)
        return [read] if isinstance(read, UserFunction) else [*read.atoms()]

    # -- in a tournament -------------------------------------------------------------------

    def with_search_budget(self, budget: Budget) -> Self:
        """Return the agent with the budget that a tournament gives to all its deepening agents."""
        return self

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """Return the agent for moves of `limit` microseconds.

        A search leaves `threshold` microseconds of them unused.  Agents without a clock are
        returned unchanged.
        """
        return self

    def of_generation(self, generation: str) -> Self | None:
        """Return the agent with this course generation; None if it is not a course submission."""
        return None

    def check(self) -> None:
        """Raise a `KnightfallError` if the agent cannot play at all."""

    def trial_load(self) -> Iterator[str]:
        """Load the agent once, as a test, in a process of its own; yield messages for the user."""
        return iter(())

    def notes(self) -> Iterator[str]:
        """Yield what the user should know about how the agent's string was understood."""
        return iter(())

    # -- playing ---------------------------------------------------------------------------

    @property
    def search(self) -> CompiledSearch | None:
        """The compiled search that alone chooses the agent's moves; None if there is none."""
        return None

    def for_game(self, board: Board) -> Self:
        """Return the same agent without memory of other games, ready for a game on a board."""
        fresh = replace(self)
        if fresh.timed:
            fresh.prepare(board)
        return fresh

    @cached_property
    def host(self) -> RemotePlayer:
        """The player that runs the agent in a process of its own."""
        from knightfall.agents.remote_player import RemotePlayer  # avoids a circular import

        return RemotePlayer(self)

    def prepare(self, board: Board | None = None) -> Self:
        """Compile and warm up for a board (default 7×7), so that the first move is not slow."""
        raise NotImplementedError

    def choose(self, position: Position) -> str:
        """Return the move that the agent plays in a `position`, as the name of its destination."""
        return self.analyse(position).move

    def analyse(self, position: Position) -> Report:
        """Return the agent's move in a `position`, with the report of its search."""
        if not isinstance(position, Position):
            raise KnightfallError(
                f"an agent needs a Position, not {position!r}; Position.from_fen parses a FEN"
            )
        return self.analyse_with(position)

    def analyse_with(self, position: Position) -> Report:
        """Return the agent's move; each subclass implements it."""
        raise NotImplementedError

    # -- in a process of its own -----------------------------------------------------------

    def load(self) -> None:
        """Load the agent in a process of its own; this runs the top-level code of its files."""
        if self.has_users_code:
            import_module("numpy")  # loaded first, so that `seed_random` seeds it, too
            from knightfall.isolation.limits import seed_random

            seed_random(0)
        self.warm_up()

    def warm_up(self, board: Board | None = None) -> None:
        """Prepare for a board without calling a user's Python heuristic, which might have state."""
        if not self.users_functions or self.evaluator.compiled:
            self.prepare(board)
        else:
            replace(self, heuristic="null").prepare(board)

    def new_game(self, seed: int, side: Side) -> Any:
        """Return the object that plays one side of a game; called in the agent's own process."""
        if self.has_users_code:
            from knightfall.isolation.limits import seed_random

            seed_random(seed, side)
        return replace(self, seed=seed)

    def loaded_files(self) -> list[str]:
        """Return the files that determine the agent's moves; call it after `load`."""
        return list(self.sources())

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request that only this kind of agent supports; ``question["ask"]`` names it."""
        raise KeyError(question["ask"])


def read_seed(text: str) -> int:
    """Parse a seed.  Raise a `KnightfallError` unless it is a whole number in range."""
    if text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MOST_SEED:
        return int(text)
    raise KnightfallError(f"seed={text} must be a whole number from 0 to {MOST_SEED:,}")
