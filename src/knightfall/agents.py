"""An agent is a string: it parses to a value, prints back, and chooses moves.

::

    random                            greedy(improved)
    minimax(open, depth=3)            alphabeta(improved, depth=5)
    id(bfs_reach, nodes=2500)         id(improved, time=150ms, plain)
    perfect(time=150ms)               python(mine.py:choose, time=1s)

A heuristic alone (``improved``, ``mine.py:cosy``) is an `id` agent that uses it.  `plain` deepens
as the course's agents do, without table and ordering.  Every kind takes ``seed=N``; ties among
equal moves (all moves, for `random`) are broken by the seed and the position alone, so the same
seed plays the same game on every machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from knightfall.board import Board
from knightfall.errors import KnightfallError, nearest
from knightfall.position import Position
from knightfall.search.budget import KINDS, Budget, parse_budget
from knightfall.search.report import Report

if TYPE_CHECKING:
    from knightfall.heuristics.evaluator import Evaluator
    from knightfall.heuristics.expression import Atom, Expression
    from knightfall.user_files import UserFunction

COURSE_NODES = 2500
"""A low estimate of what the course's pure-Python agents got out of their 150 ms in 2017.

On a machine of today, agents that students handed in visit a median of 10,600 from an opening."""

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
            budgets=("depth",),
            default=Budget(depth=3),
            method="minimax",
        ),
        Kind(
            "alphabeta",
            "plain alpha-beta to a fixed depth",
            "alphabeta(improved, depth=5)",
            budgets=("depth",),
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
            "perfect",
            "atlas, then exact solver: never leaves a won position it had time to solve",
            "perfect(time=150ms)",
            needs_heuristic=False,
            budgets=("nodes", "time"),
            default=Budget(time=150_000),
        ),
        Kind(
            "python",
            "a function of your own that gets a Position and names the cell to move to",
            "python(mine.py:choose, time=1s)",
            budgets=("time",),
            default=Budget(time=1_000_000),
        ),
    )
}


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
    label: str = field(default="", compare=False)

    def __getstate__(self) -> dict[str, object]:
        # A ready evaluator is machine code: another process makes its own.
        return {key: value for key, value in vars(self).items() if key != "evaluator"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        if self.timed:
            self.prepare()

    def __str__(self) -> str:
        parts = [self.heuristic] if self.heuristic else []
        if self.budget:
            parts.append(str(self.budget))
        if self.plain:
            parts.append("plain")
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
    def users_functions(self) -> tuple[UserFunction, ...]:
        """The functions in users' files it is made of."""
        from knightfall.user_files import UserFunction

        return tuple(atom for atom in self._atoms if isinstance(atom, UserFunction))

    @property
    def files(self) -> tuple[str, ...]:
        """The users' files it comes from, as they are named."""
        return tuple(function.path for function in self.users_functions)

    @property
    def has_users_code(self) -> bool:
        """Whether anything in it was written by somebody else, and may do anything at all."""
        if self.users_functions:
            return True
        from knightfall.heuristics.registry import REGISTRY, USER

        return any(REGISTRY[atom.name].study == USER for atom in self._atoms)

    @property
    def only_here(self) -> bool:
        """Whether only this process knows its heuristic: one declared in a notebook, say."""
        if self.kind == "python":
            return False
        from knightfall.heuristics.registry import REGISTRY, USER
        from knightfall.user_files import UserFunction

        declared = (atom for atom in self._atoms if not isinstance(atom, UserFunction))
        return any(REGISTRY[atom.name].study == USER for atom in declared)

    @property
    def may_hang(self) -> bool:
        """Whether it could keep a process that searches for it from ever going on."""
        return self.kind != "python" and self.has_users_code

    def absolute(self) -> Agent:
        """The same agent, its files named by their full paths: good in any folder."""
        if not self.users_functions:
            return self
        return replace(self, heuristic=str(_read(self.kind, self.heuristic).absolute()))

    @property
    def _atoms(self) -> list[Atom]:
        if not self.heuristic:
            return []
        from knightfall.user_files import UserFunction

        read = _read(self.kind, self.heuristic)
        return [read] if isinstance(read, UserFunction) else [atom for _, atom in read.terms]

    # -- playing ---------------------------------------------------------------------------

    @property
    def method(self) -> str:
        """The search that makes the choice; empty for agents that are more than a search."""
        return "plain_deepening" if self.plain else AGENT_KINDS[self.kind].method

    @property
    def effort(self) -> Budget:
        """The budget of that search."""
        return Budget(depth=1) if self.kind == "greedy" else self.budget

    def prepare(self, board: Board | None = None) -> Agent:
        """Compile and warm up for games on a board (7×7), so that no first move is a slow one."""
        board = board or Board.of(7, 7)
        if self.kind == "perfect":
            from knightfall.solver import perfect

            perfect.warm_up(board, self.budget)
        elif self.kind == "python":
            from knightfall.python_agent import load_chooser

            load_chooser(self.heuristic)
        else:
            from knightfall.search.think import warm_up

            warm_up(board, self.method, self.evaluator, self.effort)
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
        if self.kind == "perfect":
            from knightfall.solver.perfect import choose

            return choose(position, budget, self.seed)
        if self.kind == "python":
            from knightfall.python_agent import ask_chooser

            return ask_chooser(self.heuristic, position)
        from knightfall.search.think import think

        return think(position, self.method, self.evaluator, budget, self.seed)


# -- the course's names --------------------------------------------------------------------


def _minimax(heuristic: str) -> Agent:
    return Agent("minimax", heuristic, Budget(depth=3))


def _alphabeta(heuristic: str) -> Agent:
    return Agent("alphabeta", heuristic, Budget(depth=5))


def _deepening(heuristic: str) -> Agent:
    return Agent("id", heuristic, Budget(nodes=COURSE_NODES), plain=True)


COURSE: dict[str, dict[str, Agent]] = {
    # The later tournament: every AB_ agent deepens.
    "2017b": {
        "Random": Agent("random"),
        "MM_Open": _minimax("open"),
        "MM_Center": _minimax("center"),
        "MM_Improved": _minimax("improved"),
        "AB_Open": _deepening("open"),
        "AB_Center": _deepening("center"),
        "AB_Improved": _deepening("improved"),
    },
    # The earlier one: AB_ agents search five plies, only ID_ and the student's agent deepen.
    "2017a": {
        "Random": Agent("random"),
        "MM_Null": _minimax("null"),
        "MM_Open": _minimax("open"),
        "MM_Improved": _minimax("improved"),
        "AB_Null": _alphabeta("null"),
        "AB_Open": _alphabeta("open"),
        "AB_Improved": _alphabeta("improved"),
        "ID_Improved": _deepening("improved"),
        "Student": _deepening(""),
    },
    # What the studies of the later tournament entered as their own three agents.
    "lookahead": {
        "AB_Custom": _deepening("lookahead_mobility"),
        "AB_Custom_2": _deepening("center_pull"),
        "AB_Custom_3": _deepening("corner_averse"),
    },
    "directional": {
        "AB_Custom": _deepening("weighted_mobility"),
        "AB_Custom_2": _deepening("weighted_difference"),
        "AB_Custom_3": _deepening("weighted_moves"),
    },
    "aggressive": {
        "AB_Custom": _deepening("aggressive"),
        "AB_Custom_2": _deepening("lookahead_ratio"),
        "AB_Custom_3": _deepening("open_cluster"),
    },
}
"""The names of each protocol and study.  A bare name means the first protocol that has it;
``2017a:AB_Open`` and ``aggressive:AB_Custom_2`` say which."""


FOR_STUDENTS = ("AB_Custom", "AB_Custom_2", "AB_Custom_3", "Student")
"""The names the course left to its students: they may be given a heuristic of one's own."""


def course_agent(name: str) -> Agent | None:
    """The agent of a course name, with or without its protocol or study."""
    group, _, bare = name.rpartition(":")
    groups = [COURSE.get(group, {})] if group else list(COURSE.values())
    for names in groups:
        if bare in names:
            return replace(names[bare], label=name)
    return None


# -- reading -------------------------------------------------------------------------------

_CALL = re.compile(
    r"\s*([A-Za-z0-9_]+(?::[A-Za-z0-9_]+)?)\s*(?:\((.*)\))?\s*", re.ASCII | re.DOTALL
)


def agent(text: str) -> Agent:
    """The agent a string describes, ready to play: compiled and warm."""
    return parse_agent(text).prepare()


def parse_agent(text: str) -> Agent:
    """The agent a string describes."""
    if not isinstance(text, str):
        raise KnightfallError(f"an agent must be a string such as 'random', not {text!r}")
    match = _CALL.fullmatch(text)
    name, inside = (match[1], match[2]) if match else ("", None)
    named = course_agent(name)
    if named is None and name not in AGENT_KINDS:
        return _deepening_with(text, name)
    base = named or Agent(name, budget=AGENT_KINDS[name].default)
    return _with_arguments(base, text, _split(inside) if inside is not None else [])


def spelling(text: str) -> tuple[str, str, tuple[str, ...]] | None:
    """An agent's kind, its heuristic and its other arguments as they are written.

    Nothing is looked up, so it costs no import; None if the text cannot be an agent's.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    arguments = _split(match[2] or "")
    first = arguments[:1] if arguments and "=" not in arguments[0] != "plain" else []
    return match[1], "".join(first), tuple(arguments[len(first) :])


def _deepening_with(text: str, name: str) -> Agent:
    """The agent that a heuristic alone stands for; if it is none, `name` may be misspelt."""
    from knightfall.heuristics.expression import parse_heuristic
    from knightfall.heuristics.registry import REGISTRY

    try:
        heuristic = parse_heuristic(text)
    except KnightfallError:
        if ".py:" in text or name in REGISTRY:
            raise
        if not name:
            raise KnightfallError(
                f"agent {text!r} cannot be read: agents look like {AGENT_KINDS['id'].example}, "
                "random or AB_Improved"
            ) from None
        known = [*AGENT_KINDS, *(alias for names in COURSE.values() for alias in names), *REGISTRY]
        raise KnightfallError(
            f"unknown agent {name!r}{nearest(name, known)} (knightfall agents lists them all, "
            "knightfall heuristics what they search with)"
        ) from None
    return Agent("id", str(heuristic), AGENT_KINDS["id"].default)


_known: dict[str, Agent] = {}


def known_agent(text: str) -> Agent:
    """The agent of a string that was read before: for whoever has to ask about it again."""
    if text not in _known:
        remember(parse_agent(text), text)
    return _known[text]


def remember(agent: Agent, text: str = "") -> str:
    """Let `known_agent` know an agent without reading its string; that string."""
    text = text or str(agent)
    _known[text] = replace(agent)  # a value: whoever wants to play takes a copy
    return text


def _split(inside: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(inside):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(inside[start:at].strip())
            start = at + 1
    parts.append(inside[start:].strip())
    return [] if parts == [""] else parts


def _with_arguments(base: Agent, text: str, arguments: list[str]) -> Agent:
    kind = AGENT_KINDS[base.kind]
    heuristic, plain, seed = base.heuristic, base.plain, base.seed
    fillable = kind.needs_heuristic and (
        not base.heuristic or base.label.rpartition(":")[2] in FOR_STUDENTS
    )
    budgets: dict[str, str] = {}
    given = [argument.partition("=")[0].strip() for argument in arguments]
    for key in given:
        if given.count(key) > 1:
            raise KnightfallError(f"agent {text!r}: {key} is given twice")
    for number, argument in enumerate(arguments):
        key, equals, value = (part.strip() for part in argument.partition("="))
        if argument == "plain" and base.kind == "id":
            plain = True
        elif equals and key == "seed":
            seed = _seed(value)
        elif equals and key in kind.budgets:
            budgets[key] = value
        elif not equals and number == 0 and fillable:
            heuristic = str(_read(base.kind, argument))
        else:
            accepted = [_WANTED.get(base.kind, "a heuristic")] if fillable else []
            accepted += [*kind.budgets, "seed"] + (["plain"] if base.kind == "id" else [])
            raise KnightfallError(
                f"agent {text!r}: cannot use {argument!r}; {base.kind} takes "
                f"{', '.join(accepted)}, as in {kind.example}"
            )
    if base.kind == "python" and not heuristic:
        raise KnightfallError(f"agent {text!r} needs a function first, as in {kind.example}")
    if kind.needs_heuristic and not heuristic:
        example = f"{base.label}(mine.py:score)" if base.label else kind.example
        raise KnightfallError(
            f"agent {text!r} needs a heuristic first, as in {example} "
            "(knightfall heuristics lists them)"
        )
    return replace(
        base,
        heuristic=heuristic,
        budget=parse_budget(budgets) if budgets else base.budget,
        plain=plain,
        seed=seed,
        label=text.strip() if base.label else "",
    )


_WANTED = {"python": "a function"}


def _read(kind: str, text: str) -> UserFunction | Expression:
    """The function a `python` agent asks, or the heuristic any other kind asks."""
    if kind == "python":
        from knightfall.python_agent import parse_chooser

        return parse_chooser(text)
    from knightfall.heuristics.expression import parse_heuristic

    return parse_heuristic(text)


def _seed(text: str) -> int:
    if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) and int(text) <= MOST_SEED:
        return int(text)
    raise KnightfallError(f"seed={text} must be a whole number from 0 to {MOST_SEED}")


__all__ = [
    "AGENT_KINDS",
    "COURSE",
    "Agent",
    "agent",
    "course_agent",
    "known_agent",
    "parse_agent",
    "remember",
    "spelling",
]
