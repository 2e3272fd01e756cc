"""Agent strings read: kinds with their arguments, course names, heuristics alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Literal, NamedTuple

from knightfall.agents.base import AGENT_KINDS, MOST_SEED, STUDENTS_TIME, Agent, read_argument
from knightfall.agents.course import COURSE, FOR_STUDENTS, course_agent
from knightfall.errors import KnightfallError, nearest
from knightfall.search.budget import KINDS, Budget, parse_budget
from knightfall.search.habits import CHOICES, WORDS, Habits, read_habits

_WORD_OF = {"id": "plain", "perfect": "swindle"}
"""The word that a kind may be given."""

_CALL = re.compile(
    r"\s*([A-Za-z0-9_]+(?::[A-Za-z0-9_]+)?)\s*(?:\((.*)\))?\s*", re.ASCII | re.DOTALL
)


# A path may hold whatever it likes, so that its options are looked for from the end.
_SUBMISSION = re.compile(r"\s*course(?::\s*(.*\S)|\s*\((.*)\))?:?\s*", re.DOTALL)
_OPTION = re.compile(r",\s*(time|clock|seed|generation)\s*=\s*([^,=()]*?)\s*$")


def agent(text: str) -> Agent:
    """The agent a string describes, ready to play: compiled and warm."""
    return parse_agent(text).prepare()


def parse_agent(text: str, search: Agent | None = None, protocol: str = "") -> Agent:
    """Return the agent that a string describes.

    A heuristic alone plays with the search and budget of `search`, by default those of `id`.  A
    course name is that of `protocol`, the protocol in force, where that has it.
    """
    if not isinstance(text, str):
        raise KnightfallError(f"an agent must be a string such as 'random', not {text!r}")
    submission = _SUBMISSION.fullmatch(text)
    if submission is not None:
        return _submission(text, submission[1], submission[2])
    match = _CALL.fullmatch(text)
    name, inside = (match[1], match[2]) if match else ("", None)
    named = course_agent(name, protocol)
    if named is None and name not in AGENT_KINDS:
        return _with_heuristic(search or Agent("id", budget=AGENT_KINDS["id"].default), text, name)
    base = named or Agent(name, budget=AGENT_KINDS[name].default)
    return _with_arguments(base, text, _split(inside) if inside is not None else [])


def spelling(text: str) -> tuple[str, str, tuple[str, ...]] | None:
    """An agent's kind, its heuristic and its other arguments as they are written.

    Nothing is looked up, so it costs no import; None if the text cannot be an agent's.
    """
    submission = _SUBMISSION.fullmatch(text)
    if submission is not None:
        inside = submission[1] or submission[2] or ""
        path, options = _peeled(inside, with_options=not submission[1])
        return "course", path, tuple(f"{key}={value}" for key, value in options.items())
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    arguments = _split(match[2] or "")
    words = _WORD_OF.values()
    first = [one for one in arguments[:1] if "=" not in one and one not in words]
    return match[1], "".join(first), tuple(arguments[len(first) :])


class OtherDifferences(NamedTuple):
    """In which parts beside the heuristic two agents differ; false if in none.

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
    """Return in what two full agent strings differ beside the heuristic.

    Agents that search with no heuristic of the user's choice, or are programs of their own, are
    compared as a whole, so nothing is said of them.
    """
    one, other = spelling(a), spelling(b)
    if one is None or other is None or {one[0], other[0]} - _WITH_HEURISTIC:
        return OtherDifferences()
    parts = {_part(argument) for argument in {*one[2]} ^ {*other[2]}}
    parts |= {"search"} if one[0] != other[0] else set()
    return OtherDifferences(tuple(part for part in _PARTS if part in parts), one[1] != other[1])


_WITH_HEURISTIC = {name for name, kind in AGENT_KINDS.items() if kind.needs_heuristic} - {"python"}
_PARTS = ("search", "budget", "settings", "seed")


def _part(argument: str) -> str:
    """Return which of `_PARTS` an argument of an agent string belongs to."""
    key = argument.partition("=")[0].strip()
    if key in _WORD_OF.values():
        return "search"
    return "budget" if key in KINDS else "seed" if key == "seed" else "settings"


class Timing(NamedTuple):
    """By which clock an agent has how much time for a move, as in ``150ms``."""

    clock: Literal["wall", "ticks"]
    time: str


def timing(text: str) -> Timing | None:
    """Return by which clock the agent of a string plays; None if by none.

    `text` is in full, as `str` prints an agent.  Nothing is looked up.
    """
    kind, _, options = spelling(text) or ("", "", ())
    times = [option.removeprefix("time=") for option in options if option.startswith("time=")]
    if not times or kind == "student":  # whose time is counted in nodes
        return None
    return Timing("ticks" if "clock=ticks" in options else "wall", times[0])


class Submitted(NamedTuple):
    """A submission that plays: its path, and by which clock it has how much time for a move."""

    path: str
    clock: str
    time: str

    def __str__(self) -> str:
        by = "the wall clock" if self.clock == "wall" else self.clock
        return f"submission {self.path}, {self.time} a move by {by}"


def submissions(texts: Iterable[str]) -> list[Submitted]:
    """Return the submissions among agents, each once; see `timing` for their strings."""
    from knightfall.course.reference import parse_reference

    found = []
    for text in texts:
        with suppress(KnightfallError):  # a stored string may be anything
            kind, named, _ = spelling(text) or ("", "", ())
            clock = timing(text)
            if kind == "course" and clock is not None:
                found.append(Submitted(parse_reference(named).path, *clock))
    return list(dict.fromkeys(found))


def without_folder(heuristic: str) -> str:
    """A heuristic as written, less the folder if it is a function of a file."""
    return heuristic.rpartition("/")[2] if heuristic.count(".py:") == 1 else heuristic


def _with_heuristic(search: Agent, text: str, name: str) -> Agent:
    """Return `search` with the heuristic `text`; if there is none, `name` may be misspelt."""
    from knightfall.heuristics.expression import parse_heuristic
    from knightfall.heuristics.printed_names import all_printed, meanings
    from knightfall.heuristics.registry import REGISTRY

    try:
        heuristic = parse_heuristic(text)
    except KnightfallError:
        if ".py:" in text or "course:" in text or name in REGISTRY or meanings(name):
            raise
        if name == "stage" or (not name and ("phase" in text or "stage" in text)):
            raise  # only a heuristic is written so
        if not name:
            raise KnightfallError(
                f"agent {text!r} cannot be read: agents look like {AGENT_KINDS['id'].example}, "
                "random or AB_Improved"
            ) from None
        known = [*AGENT_KINDS, *(alias for names in COURSE.values() for alias in names), *REGISTRY]
        known += all_printed()
        raise KnightfallError(
            f"unknown agent {name!r}{nearest(name, known)} (knightfall agents lists them all, "
            "knightfall heuristics what they search with)"
        ) from None
    return replace(search, heuristic=str(heuristic))


def _peeled(inside: str, *, with_options: bool) -> tuple[str, dict[str, str]]:
    """What names a submission, and the options behind it."""
    found: list[tuple[str, str]] = []
    while with_options and (option := _OPTION.search(inside)):
        found.append((option[1], option[2]))
        inside = inside[: option.start()]
    for key, _ in found:
        if [name for name, _ in found].count(key) > 1:
            raise KnightfallError(f"agent 'course({inside}, …)': {key} is given twice")
    return inside.strip(), dict(reversed(found))


def _submission(text: str, after_colon: str | None, inside: str | None) -> Agent:
    """Return the agent of ``course:PATH#Class(score)`` or ``course(PATH…, time=1s, clock=ticks)``.

    Its clock is ticks.  A time alone is by the wall clock, as every other agent's is.  The
    generation is kept with the path: what reads the submission needs both.
    """
    from knightfall.course.reference import parse_reference

    kind = AGENT_KINDS["course"]
    path, options = _peeled(after_colon or inside or "", with_options=after_colon is None)
    if not path:
        raise KnightfallError(f"agent {text!r} needs a file or folder first, as in {kind.example}")
    clock = options.get("clock", "wall" if "time" in options else "ticks")
    if clock not in ("wall", "ticks"):
        raise KnightfallError(f"agent {text!r}: clock={clock} must be wall or ticks")
    budget = parse_budget({"time": options["time"]}) if "time" in options else kind.default
    counted = clock == "ticks"
    if "generation" in options:
        path += f", generation={options['generation']}"
    return Agent(
        "course",
        str(parse_reference(path)),
        budget=Budget() if counted else budget,
        ticks=budget.time if counted else None,
        seed=_seed(options["seed"]) if "seed" in options else 0,
    )


_known: dict[str, Agent] = {}


def known_agent(text: str) -> Agent:
    """The agent of a string that was read before: for whoever has to ask about it again."""
    if text not in _known:
        remember(parse_agent(text), text)
    return _known[text]


def remember(agent: Agent, text: str = "") -> str:
    """Let `known_agent` know an agent without reading its string; that string.

    Under its full string an agent has no label, as if that string had been read.
    """
    if not text:
        text, agent = str(agent), replace(agent, label="")
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
    heuristic, word, seed = base.heuristic, base.plain or base.swindle, base.seed
    fillable = kind.needs_heuristic and (
        not base.heuristic or base.label.rpartition(":")[2] in FOR_STUDENTS
    )
    budgets: dict[str, str] = {}
    habits: dict[str, str] = {}
    given = [argument.partition("=")[0].strip() for argument in arguments]
    for key in given:
        if given.count(key) > 1:
            raise KnightfallError(f"agent {text!r}: {key} is given twice")
    for number, argument in enumerate(arguments):
        key, equals, value = (part.strip() for part in argument.partition("="))
        if argument == _WORD_OF.get(base.kind):
            word = True
        elif equals and key == "seed":
            seed = _seed(value)
        elif base.kind == "student" and (key in WORDS if not equals else key in _HABITS):
            habits[key] = value
        elif equals and key in kind.budgets:
            budgets[key] = value
        elif not equals and number == 0 and fillable:
            heuristic = str(read_argument(base.kind, argument))
        else:
            accepted = [_WANTED.get(base.kind, "a heuristic")] if fillable else []
            accepted += [*kind.budgets, "seed"]
            accepted += [_WORD_OF[base.kind]] if base.kind in _WORD_OF else []
            accepted += [*WORDS, *CHOICES] if base.kind == "student" else []
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
    budget = parse_budget(budgets) if budgets else base.budget
    if kind.default.depth is not None and budget.depth is None:
        budget = replace(budget, depth=base.budget.depth)  # a fixed depth stays one
    return replace(
        base,
        heuristic=heuristic,
        budget=budget,
        habits=_habits(text, habits, budget) if base.kind == "student" else None,
        plain=word and base.kind == "id",
        swindle=word and base.kind == "perfect",
        seed=seed,
        label=text.strip() if base.label else "",
    )


_WANTED = {"python": "a function"}
_HABITS = ("time", *CHOICES)


def _habits(text: str, given: dict[str, str], budget: Budget) -> Habits:
    try:
        habits = read_habits(given)
    except KnightfallError as error:
        raise KnightfallError(f"agent {text!r}: {error}") from None
    if habits.time is None and budget.depth is None:
        return replace(habits, time=STUDENTS_TIME)
    return habits


def _seed(text: str) -> int:
    if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) and int(text) <= MOST_SEED:
        return int(text)
    raise KnightfallError(f"seed={text} must be a whole number from 0 to {MOST_SEED:,}")
