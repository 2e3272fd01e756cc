"""Parse agent strings: a kind with arguments, a name from the course, or only a heuristic."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from knightfall.agents.base import Agent, TimeControl
from knightfall.agents.kinds import (
    AGENT_KINDS,
    CORE_KINDS,
    COURSE_NODES,
    AlphaBetaAgent,
    DeepeningAgent,
    MinimaxAgent,
    RandomAgent,
    variant_words,
)
from knightfall.errors import KnightfallError, nearest
from knightfall.position import Position
from knightfall.search.budget import KINDS, Budget
from knightfall.user_files import local_function, without_digits

# -- the names that the course and the studies gave to their agents -----------------------------


def _minimax(heuristic: str) -> Agent:
    return MinimaxAgent(heuristic, Budget(depth=3))


def _alphabeta(heuristic: str) -> Agent:
    return AlphaBetaAgent(heuristic, Budget(depth=5))


def _deepening(heuristic: str) -> Agent:
    return DeepeningAgent(heuristic, Budget(nodes=COURSE_NODES), plain=True)


PROTOCOL_SEARCH = _deepening("")
"""The search and budget of a heuristic alone in the tournaments of 2017."""

COURSE: dict[str, dict[str, Agent]] = {
    # The later tournament: every AB_ agent deepens.
    "2017b": {
        "Random": RandomAgent(),
        "MM_Open": _minimax("open"),
        "MM_Center": _minimax("center"),
        "MM_Improved": _minimax("improved"),
        "AB_Open": _deepening("open"),
        "AB_Center": _deepening("center"),
        "AB_Improved": _deepening("improved"),
    },
    # The earlier tournament: AB_ agents search five plies, only ID_ and Student deepen.
    "2017a": {
        "Random": RandomAgent(),
        "MM_Null": _minimax("null"),
        "MM_Open": _minimax("open"),
        "MM_Improved": _minimax("improved"),
        "AB_Null": _alphabeta("null"),
        "AB_Open": _alphabeta("open"),
        "AB_Improved": _alphabeta("improved"),
        "ID_Improved": _deepening("improved"),
        "Student": _deepening(""),
    },
    # The three agents that each study of the later tournament entered.
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
"""Agents by name, for each protocol and study.  A bare name is looked up in the protocol in force,
then in this order; ``2017a:AB_Open`` and ``aggressive:AB_Custom_2`` say which one is meant."""


FOR_STUDENTS = ("AB_Custom", "AB_Custom_2", "AB_Custom_3", "Student")
"""The names that the course left to its students: they accept a heuristic as argument."""


def course_agent(name: str, protocol: str = "") -> Agent | None:
    """Return the course agent with a name such as ``AB_Open`` or ``2017a:AB_Open``, or None.

    A bare name is looked up first in `protocol`, the protocol in force.
    """
    group = group_of(name, protocol)
    if not group:
        return None
    return replace(COURSE[group][name.rpartition(":")[2]], label=name)


def group_of(name: str, protocol: str = "") -> str:
    """Return the protocol or study of a course name (see `course_agent`); "" if there is none."""
    group, _, bare = name.rpartition(":")
    groups = [group] if group else [protocol, *COURSE]
    return next((one for one in groups if bare in COURSE.get(one, {})), "")


def from_another_protocol(name: str, protocol: str) -> str:
    """Return a warning if a name is not an agent of this protocol but of another one; "" if not.

    A protocol is one of the course's tournaments.  There is no warning if the name is in none of
    them, or means the same agent in both.
    """
    bare = name.rpartition(":")[2]
    group = group_of(name, protocol)
    if protocol not in COURSE or group in ("", protocol) or "Random" not in COURSE[group]:
        return ""
    here, there = COURSE[protocol].get(bare), COURSE[group][bare]
    if here == there:
        return ""
    instead = f"in {protocol} it is {here}" if here else f"{protocol} has no agent of that name"
    return f"{name} is an agent of {group}, {there}; {instead}"


def borrowed(called: str, agent: Agent) -> str:
    """Return a warning if an agent named ``AB_Custom`` or the like uses a study's heuristic.

    The user may have meant a heuristic of their own.  An empty string if the agent was given a
    heuristic, or its name says which study it is from.
    """
    name = called.partition("(")[0].partition("#")[0].strip()  # duplicates get "Student #1"
    if name not in FOR_STUDENTS:
        return ""
    study = next(group for group, names in COURSE.items() if name in names)
    if agent.heuristic != COURSE[study][name].heuristic:
        return ""
    return (
        f"{name} plays the heuristic of the {study} study, {agent}; "
        f"{name}(mine.py:score) plays your own"
    )


# -- values of Python ---------------------------------------------------------------------------


class Chooser(Protocol):
    """An object that chooses moves; every `Agent` is one."""

    def choose(self, position: Position) -> str:
        """Return the name of the cell to move to."""


AnAgent = str | Agent | Chooser | Callable[..., Any]
"""What is accepted where an agent is expected (see `agent_text`)."""


def agent_text(value: AnAgent) -> str:
    """Return the agent string of a value.

    The value is an agent string; an `Agent`; a heuristic, which is a function of five arguments; a
    function of a position that returns the name of a cell; or a class or an object with such a
    method `choose`.
    """
    if isinstance(value, str | Agent):
        return str(value)
    text = str(local_function(value))
    return text if _is_heuristic(value) else f"python({text})"


def agent_texts(values: Iterable[AnAgent], in_process: bool = False) -> list[str]:
    """Return the agent strings of some values.

    With `in_process`, ``python`` agents are called by the process that plays; raise an error if
    there are none.
    """
    texts = [agent_text(value) for value in values]
    if not in_process:
        return texts
    direct = [
        str(parse_agent(text).with_options({"in_process": ""}))
        if (agent_parts(text) or ("",))[0] == "python"
        else text
        for text in texts
    ]
    if not any(text.startswith("python(") for text in direct):
        raise KnightfallError(
            "in_process applies to agents written in Python: name one, as in python(mine.py:choose)"
        )
    return direct


def _is_heuristic(value: Any) -> bool:
    """Return whether a Python value is a heuristic; raise an error if it is no agent either."""
    if callable(getattr(value, "choose", None)):
        return False
    taken = ""
    if callable(value) and not isinstance(value, type):
        function = getattr(value, "py_func", value)
        shown = inspect.signature(function)
        taken = f", which takes {shown},"
        given = list(shown.parameters.values())
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            given, shown = [], inspect.Signature()  # it returns neither a move nor a value
            taken = ", a generator or coroutine function,"
        if len(given) == 5 and all(one.kind is one.POSITIONAL_OR_KEYWORD for one in given):
            return True
        with suppress(TypeError):
            shown.bind(None)
            return False
    raise KnightfallError(
        f"{getattr(value, '__qualname__', repr(value)):.60}{taken} is not an agent: accepted are a "
        "string such as 'random', a heuristic with the arguments (board, open, me, opp, to_move), "
        "a function of one position, and a class or an object with a method choose(position)"
    )


# -- agent strings ------------------------------------------------------------------------------


_CALL = re.compile(
    r"\s*([A-Za-z0-9_]+(?::[A-Za-z0-9_]+)?)\s*(?:\((.*)\))?\s*", re.ASCII | re.DOTALL
)
_LEADING = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?=[:(]|$)", re.ASCII)
"""The word before a colon or parenthesis."""


def agent(text: AnAgent) -> Agent:
    """Return an agent, compiled and ready to play.

    Args:
        text: A string such as "id(improved, nodes=2500)"; a heuristic, which is a function of five
            arguments; a function of a position that returns the name of the cell to move to; or a
            class or an object with such a method `choose`.

    Example:
        >>> kf.agent("id(improved, depth=4)").choose(kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w"))
        'd6'
        >>> kf.agent(lambda position: position.legal_moves[0]).choose(kf.Position.start())
        'a7'
    """
    return parse_agent(agent_text(text)).prepare()


def parse_agent(text: str, search: Agent | None = None, protocol: str = "") -> Agent:
    """Return the agent that a string describes.

    A heuristic alone plays with the search and budget of `search`, by default those of `id`.  A
    course name is looked up first in `protocol`, the protocol in force.
    """
    if not isinstance(text, str):
        raise KnightfallError(f"an agent must be a string such as 'random', not {text!r}")
    kind = _kind_that_reads_itself(text)
    if kind is not None:
        return kind.read(text)
    match = _CALL.fullmatch(text)
    name, inside = (match[1], match[2]) if match else ("", None)
    named = course_agent(name, protocol)
    if named is None and name not in AGENT_KINDS:
        default = search or DeepeningAgent(budget=DeepeningAgent.default)
        return _with_heuristic(default, text, name)
    arguments = _split(inside) if inside is not None else []
    if named is None:
        found = AGENT_KINDS.with_arguments(name, arguments)
        named = found(budget=found.default)
    fillable = bool(named.argument) and (
        not named.heuristic or named.label.rpartition(":")[2] in FOR_STUDENTS
    )
    return named.with_arguments(text, arguments, fillable=fillable)


def _kind_that_reads_itself(text: str) -> type[Agent] | None:
    """Return the kind of a string if only that kind can parse it, else None."""
    leading = _LEADING.match(text)
    name = leading[1] if leading else ""
    if name in CORE_KINDS or name not in AGENT_KINDS:
        return None
    return AGENT_KINDS[name] if AGENT_KINDS[name].reads_itself else None


def agent_parts(text: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Return an agent's kind, its heuristic and its other arguments, as they are written.

    No name is looked up.  None if the text cannot be an agent string.
    """
    kind = _kind_that_reads_itself(text)
    if kind is not None:
        return kind.kind, *kind.split(text)
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    arguments = _split(match[2] or "")
    words = _words_of(match[1])
    first = [one for one in arguments[:1] if "=" not in one and one not in words]
    return match[1], "".join(first), tuple(arguments[len(first) :])


def _words_of(kind: str) -> tuple[str, ...]:
    """Return the words, such as ``plain``, that strings of a kind and its variants may contain."""
    if kind not in CORE_KINDS and kind not in AGENT_KINDS:
        return ()
    words = AGENT_KINDS[kind].words
    return words if AGENT_KINDS[kind].argument else (*words, *variant_words(kind))


class OtherDifferences(NamedTuple):
    """The parts, apart from the heuristic, in which two agents differ; falsy if there are none.

    `str` continues a sentence: "in search, too" where the heuristics differ as well, "in search and
    budget only" where they do not.
    """

    parts: tuple[str, ...] = ()
    heuristic: bool = False

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __str__(self) -> str:
        return f"in {self.named}{', too' if self.heuristic else ' only'}" if self else ""

    @property
    def named(self) -> str:
        """The parts as a phrase: "search and budget"."""
        return " and ".join(self.parts)


def other_differences(a: str, b: str) -> OtherDifferences:
    """Return in which parts, apart from the heuristic, two full agent strings differ.

    Empty if one of them takes no heuristic as an argument: such agents are compared as a whole.
    """
    one, other = agent_parts(a), agent_parts(b)
    if one is None or other is None:
        return OtherDifferences()
    kinds = [AGENT_KINDS.get(spelt[0]) for spelt in (one, other)]
    if any(kind is None or kind.argument != "a heuristic" for kind in kinds):
        return OtherDifferences()
    parts = {_part(argument) for argument in {*one[2]} ^ {*other[2]}}
    parts |= {"search"} if one[0] != other[0] else set()
    return OtherDifferences(tuple(part for part in _PARTS if part in parts), one[1] != other[1])


_PARTS = ("search", "budget", "settings", "seed")


def _part(argument: str) -> str:
    """Return which of `_PARTS` an argument of an agent string belongs to."""
    key = argument.partition("=")[0].strip()
    if key in DeepeningAgent.words:
        return "search"
    return "budget" if key in KINDS else "seed" if key == "seed" else "settings"


def time_control(text: str) -> TimeControl | None:
    """Return the time control of a full agent string; None if it has no time limit."""
    kind, _, options = agent_parts(text) or ("", "", ())
    return AGENT_KINDS[kind].clock(options) if kind in AGENT_KINDS else None


class Submitted(NamedTuple):
    """A submission that takes part in a run: its path, its clock, and the time per move."""

    path: str
    clock: str
    time: str

    def __str__(self) -> str:
        by = "the wall clock" if self.clock == "wall" else self.clock
        return f"submission {self.path}, {self.time} a move by {by}"


def submissions(texts: Iterable[str]) -> list[Submitted]:
    """Return the submissions among full agent strings, each once."""
    found = []
    for text in texts:
        with suppress(KnightfallError):  # a stored string may be invalid
            kind, clock = _kind_that_reads_itself(text), time_control(text)
            agent = None if kind is None else kind.read(text)
            if agent is not None and clock is not None and agent.remembers_game:
                found.append(Submitted(agent.files[0], *clock))
    return list(dict.fromkeys(found))


def without_folder(heuristic: str) -> str:
    """Return ``file.py:name`` for ``folder/file.py:name``, and any other heuristic unchanged."""
    text = without_digits(heuristic)
    return text.rpartition("/")[2] if text.count(".py:") == 1 else text


def _with_heuristic(search: Agent, text: str, name: str) -> Agent:
    """Return `search` with the heuristic `text`.

    Raise a `KnightfallError` if there is none; `name` may then be a misspelt agent.
    """
    from knightfall.heuristics.expression import parse_heuristic
    from knightfall.heuristics.registry import REGISTRY, all_printed_names, meanings

    try:
        heuristic = parse_heuristic(text)
    except KnightfallError:
        if ".py:" in text or "course:" in text or name in REGISTRY or meanings(name):
            raise
        if name == "stage" or (not name and ("phase" in text or "stage" in text)):
            raise  # only a heuristic contains these words
        if not name:
            raise KnightfallError(
                f"agent {text!r} cannot be read: agents look like {DeepeningAgent.example}, "
                "random or AB_Improved"
            ) from None
        known = [*AGENT_KINDS, *(alias for names in COURSE.values() for alias in names), *REGISTRY]
        known += all_printed_names()
        raise KnightfallError(
            f"unknown agent {name!r}{nearest(name, known)} (knightfall agents lists them all, "
            "knightfall heuristics lists the heuristics)"
        ) from None
    return replace(search, heuristic=str(heuristic))


_known: dict[str, Agent] = {}


def cached_agent(text: str) -> Agent:
    """Return the agent of a string, parsed only once."""
    if text not in _known:
        cache_agent(parse_agent(text), text)
    return _known[text]


def cache_agent(agent: Agent, text: str = "") -> str:
    """Add an agent to the cache of `cached_agent` without parsing; return its string.

    Without a `text`, the agent is stored under its full string and without its label.
    """
    if not text:
        text, agent = str(agent), replace(agent, label="")
    _known[text] = replace(agent)  # a copy without prepared state; players copy it again
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
