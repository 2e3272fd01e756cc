"""An agent as a value: what it is, what can be asked of it, and the moves it chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.search.budget import KINDS, Budget
from knightfall.search.habits import Habits
from knightfall.search.report import Report
from knightfall.user_files import UserFunction

if TYPE_CHECKING:
    from knightfall.heuristics.evaluator import Evaluator
    from knightfall.heuristics.expression import Atom, Expression
    from knightfall.search.settings import StudentSettings

COURSE_NODES = 2500
"""A low estimate of what the course's pure-Python agents got out of their 150 ms in 2017.

On a machine of today, agents that students handed in visit a median of 10,600 from an opening."""

STUDENTS_TIME = 25_000
"""Microseconds that explain most of what students published of their 150 ms of 2017: their machines
were slower, and so was their Python."""

MOST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Kind:
    """A kind of agent: what it is, which budgets it takes, and the search behind it."""

    name: str
    summary: str
    example: str
    needs_heuristic: bool = True
    budgets: tuple[str, ...] = ()
    default: Budget = field(default_factory=Budget)
    method: str = ""


AGENT_KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "random",
            "any legal move",
            "random(seed=7)",
            needs_heuristic=False,
            method="any_move",
        ),
        Kind(
            "greedy",
            "the move after which the heuristic is best",
            "greedy(improved)",
            method="alphabeta",
        ),
        Kind(
            "minimax",
            "every line to a fixed depth",
            "minimax(open, depth=3)",
            budgets=("depth", "time"),
            default=Budget(depth=3),
            method="minimax",
        ),
        Kind(
            "alphabeta",
            "plain alpha-beta to a fixed depth",
            "alphabeta(improved, depth=5)",
            budgets=("depth", "time"),
            default=Budget(depth=5),
            method="alphabeta",
        ),
        Kind(
            "id",
            "iterative deepening with table, ordering and separation; add plain to do without",
            "id(bfs_reach, nodes=2500)",
            budgets=KINDS,
            default=Budget(nodes=COURSE_NODES),
            method="deepening",
        ),
        Kind(
            "student",
            "as students of the course wrote theirs: resigns when every line it sees is lost",
            "student(improved, time=25ms)",
            budgets=("depth", "time"),
            method="student",
        ),
        Kind(
            "perfect",
            "atlas, then exact solver: never leaves a won position it had time to solve; "
            "add swindle to play lost ones for mistakes",
            "perfect(time=150ms)",
            needs_heuristic=False,
            budgets=("nodes", "time"),
            default=Budget(time=150_000),
        ),
        Kind(
            "champion",
            "the best we have: keeps what is won, takes what is lost from those who can be fooled",
            "champion(time=150ms)",
            needs_heuristic=False,
            budgets=("nodes", "time"),
            default=Budget(time=150_000),
        ),
        Kind(
            "python",
            "a function or class of your own that gets a Position and names the cell to move to",
            "python(mine.py:choose, time=1s)",
            budgets=("time",),
            default=Budget(time=1_000_000),
        ),
        Kind(
            "course",
            "a submission of the course as it was handed in: game_agent.py, my_custom_player.py",
            "course(game_agent.py#AlphaBetaPlayer(custom_score_2), time=150ms)",
            needs_heuristic=False,
            budgets=("time",),
            default=Budget(time=150_000),
        ),
    )
}


_MADE_HERE = ("evaluator", "_host", "_memory")


@dataclass(frozen=True)
class Agent:
    """An agent as a value; `str` prints it as it parses.

    `label` is what it was called (a course name, say); it takes no part in equality.
    """

    kind: str
    heuristic: str = ""
    budget: Budget = field(default_factory=Budget)
    plain: bool = False
    seed: int = 0
    habits: Habits | None = None
    """Of a student's agent; its time is in there, for no clock measures it."""
    ticks: int | None = None
    """Of a submission whose clock counts questions: its microseconds, which no clock measures."""
    swindle: bool = False
    """Of `perfect`: lost positions are played for the mistakes of usual players."""
    label: str = field(default="", compare=False)

    def __getstate__(self) -> dict[str, object]:
        # A ready evaluator is machine code: another process makes its own.
        return {key: value for key, value in vars(self).items() if key not in _MADE_HERE}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        if self.timed and not self.in_python:
            self.prepare()

    def __str__(self) -> str:
        parts = [self.heuristic] if self.heuristic else []
        if self.budget:
            parts.append(str(self.budget))
        if self.ticks is not None:
            parts += [str(Budget(time=self.ticks)), "clock=ticks"]
        if self.plain:
            parts.append("plain")
        if self.swindle:
            parts.append("swindle")
        if self.habits:
            parts += self.habits.words()
        if self.seed:
            parts.append(f"seed={self.seed}")
        return f"{self.kind}({', '.join(parts)})" if parts else self.kind

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return self.label or str(self)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The heuristic, ready to use."""
        from knightfall.heuristics.evaluator import evaluator

        return evaluator(self.heuristic or "null")

    # -- questions about it ----------------------------------------------------------------

    @property
    def timed(self) -> bool:
        """Whether its moves depend on the clock."""
        return self.budget.time is not None

    @property
    def in_python(self) -> bool:
        """Whether it is a user's own Python and nothing else, asked in a process of its own."""
        return self.kind in ("python", "course")

    @property
    def users_functions(self) -> tuple[UserFunction, ...]:
        """The functions in users' files it is made of."""
        return tuple(atom for atom in self._atoms if isinstance(atom, UserFunction))

    @property
    def files(self) -> tuple[str, ...]:
        """The users' files it comes from, as they are named."""
        if self.kind == "course":
            from knightfall.course.reference import parse_reference

            return (parse_reference(self.heuristic).path,)
        return tuple(function.path for function in self.users_functions)

    @property
    def has_users_code(self) -> bool:
        """Whether anything in it was written by somebody else, and may do anything at all."""
        if self.kind == "course" or self.users_functions:
            return True
        from knightfall.heuristics.published import USER
        from knightfall.heuristics.registry import REGISTRY

        return any(REGISTRY[atom.name].study == USER for atom in self._atoms)

    @property
    def only_here(self) -> bool:
        """Whether only this process knows its heuristic: one declared in a notebook, say."""
        declared = [atom for atom in self._atoms if not isinstance(atom, UserFunction)]
        if not declared:
            return False
        from knightfall.heuristics.published import USER
        from knightfall.heuristics.registry import REGISTRY

        return any(REGISTRY[atom.name].study == USER for atom in declared)

    @property
    def may_hang(self) -> bool:
        """Whether it could keep a process that searches for it from ever going on."""
        return not self.in_python and self.has_users_code

    def absolute(self) -> Agent:
        """The same agent, its files named by their full paths: good in any folder."""
        if self.kind == "course":
            from knightfall.course.reference import parse_reference

            return replace(self, heuristic=str(parse_reference(self.heuristic).absolute()))
        if not self.users_functions:
            return self
        return replace(self, heuristic=str(read_argument(self.kind, self.heuristic).absolute()))

    def relocated(self, moved: Callable[[str, bool], str]) -> Agent:
        """Return the same agent, its files named by other paths.

        `moved` gets each path, and whether symbolic links in it are followed when the file is
        loaded.  Former versions of files stay where git has them.
        """
        if self.kind == "course":
            from knightfall.course.reference import parse_reference

            reference = parse_reference(self.heuristic)
            return replace(
                self, heuristic=str(replace(reference, path=moved(reference.path, False)))
            )
        if not self.users_functions:
            return self
        read = read_argument(self.kind, self.heuristic)

        def there(atom: Any) -> Any:
            if not isinstance(atom, UserFunction) or atom.revision:
                return atom
            return replace(atom, path=moved(atom.path, True))

        if isinstance(read, UserFunction):
            return replace(self, heuristic=str(there(read)), label="")
        return replace(self, heuristic=str(read.with_atoms(there)), label="")

    @property
    def _atoms(self) -> list[Atom]:
        if not self.heuristic or self.kind == "course":
            return []
        read = read_argument(self.kind, self.heuristic)
        return [read] if isinstance(read, UserFunction) else [*read.atoms()]

    # -- playing ---------------------------------------------------------------------------

    @property
    def method(self) -> str:
        """The search that makes the choice; empty for agents that are more than a search."""
        return "plain_deepening" if self.plain else AGENT_KINDS[self.kind].method

    @property
    def effort(self) -> Budget:
        """The budget of that search."""
        return Budget(depth=1) if self.kind == "greedy" else self.budget

    @property
    def student_settings(self) -> StudentSettings:
        """What a student's search is told beside its budget."""
        from knightfall.search.settings import NOT_A_STUDENT

        if self.habits is None:
            return NOT_A_STUDENT
        from knightfall.agents.student_costs import student_costs

        costs = student_costs(self.habits.board, self.heuristic)
        style = self.habits.style(at_once=self.budget.depth is not None)
        return (style, self.habits.nanoseconds, *astuple(costs))

    @property
    def _champions_heuristic(self) -> str:
        """What it searches with if it plays for practical chances; empty if it does not."""
        if self.kind == "champion":
            return "learned_net"
        return "improved" if self.swindle else ""

    @cached_property
    def _memory(self) -> Any:
        """What a perfect player or a champion remembers from one move to the next."""
        if self._champions_heuristic:
            from knightfall.practical.champion import GameMemory

            return GameMemory()
        from knightfall.solver.engine import KeptEngines

        return KeptEngines()

    def for_game(self, board: Board) -> Agent:
        """Return the same agent with nothing remembered, ready for a game on a board."""
        fresh = replace(self)
        return fresh.prepare(board) if fresh.timed else fresh

    @cached_property
    def _host(self) -> Any:
        """The player that asks a user's agent in a process of its own.

        Named and not imported, for that is the business of rooms above this one.
        """
        return import_module("knightfall.arena.game.agent_process").Hosted(self)

    @property
    def _course_time(self) -> int:
        """A submission's microseconds for a move, by whichever clock."""
        return self.ticks or self.budget.time or AGENT_KINDS["course"].default.time or 0

    def prepare(self, board: Board | None = None) -> Agent:
        """Compile and warm up for games on a board (7×7), so that no first move is a slow one."""
        board = board or Board.of(7, 7)
        if self._champions_heuristic:
            from knightfall.practical import champion

            champion.warm_up(board, self.budget, self._memory, self._champions_heuristic)
        elif self.kind == "perfect":
            from knightfall.solver import perfect

            perfect.warm_up(board, self.budget, self._memory)
        elif self.kind == "python":
            self._host.prepare(board)
        elif self.kind == "course":
            from knightfall.course.player import ready

            ready(self.heuristic, self._course_time, counted=self.ticks is not None)
        else:
            from knightfall.search.think import warm_up

            warm_up(board, self.method, self.evaluator, self.effort, self.student_settings)
        return self

    def choose(self, position: Position) -> str:
        """The move the agent plays: the name of its destination."""
        return self.analyse(position).move

    def analyse(self, position: Position) -> Report:
        """The move with all the search has to say about it."""
        if not isinstance(position, Position):
            raise KnightfallError(
                f"an agent needs a Position, not {position!r}; Position.from_fen reads a FEN"
            )
        return self._think(position, self.effort)

    def _think(self, position: Position, budget: Budget) -> Report:
        if self._champions_heuristic:
            from knightfall.practical import champion

            heuristic = self._champions_heuristic
            return champion.choose(position, budget, self.seed, self._memory, heuristic)
        if self.kind == "perfect":
            from knightfall.solver.perfect import choose

            return choose(position, budget, self.seed, self._memory)
        if self.kind == "python":
            return self._host.analyse(position)  # type: ignore[no-any-return]
        if self.kind == "course":
            from knightfall.course.player import ask, is_at_home

            if not is_at_home():
                return self._host.analyse(position)  # type: ignore[no-any-return]
            counted = self.ticks is not None
            move, seconds = ask(
                self.heuristic, self._course_time, position, self.seed, counted=counted
            )
            return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))
        from knightfall.search.think import think

        settings = self.student_settings
        return think(position, self.method, self.evaluator, budget, self.seed, settings)


def read_argument(kind: str, text: str) -> UserFunction | Expression:
    """The function a `python` agent asks, or the heuristic any other kind asks."""
    if kind == "python":
        from knightfall.python_agent import parse_chooser

        return parse_chooser(text)
    from knightfall.heuristics.expression import parse_heuristic

    return parse_heuristic(text)
