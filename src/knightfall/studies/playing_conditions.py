"""The conditions of a study: how its authors' agents searched, mistakes included.

The same classes played the test agents and the course's opponents, so a condition applies to a
whole tournament. How a heuristic's own code treated the end of a game, and where the code differed
from the text, is recorded by heuristic.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace

from knightfall.agents import parse_agent
from knightfall.agents.kinds import DeepeningAgent, MinimaxAgent
from knightfall.search.budget import Budget
from knightfall.studies.published import Coded, Study
from knightfall.studies.student_options import CHOICES, StudentAgent, StudentOptions


def as_coded(study: Study, heuristic: str) -> Coded:
    """Return a heuristic as the study's author coded it.

    A sum that is not in the table is composed of the terms that are.
    """
    table = study.as_coded
    if heuristic in table:
        return table[heuristic]
    words = re.findall(r"[a-z_]+", heuristic)
    ends = {table[word].ends for word in words if word in table}
    id = re.sub(r"[a-z_]+", lambda at: table[at[0]].id if at[0] in table else at[0], heuristic)
    return Coded(id, ends.pop() if len(ends) == 1 else "board")


@dataclass(frozen=True, slots=True)
class Condition:
    """How a study's agents searched: mistakes, board, and time per move."""

    lost: str = "forfeits"
    ties: str = "first"
    leaves: str = "call"
    board: str = "later"
    time: int = 25_000

    def student_options(self, *, ends: str = "board", minimax: bool = False) -> StudentOptions:
        """Return the options of one agent under this condition."""
        search = "minimax" if minimax else "alphabeta"
        return StudentOptions(search=search, ends=ends, **asdict(self))

    def test_agent(self, study: Study, heuristic: str) -> str:
        """Return the study's own agent with a heuristic, as its author coded it."""
        coded = as_coded(study, heuristic)
        return self.agent(coded.id, coded.ends)

    def agent(self, heuristic: str, ends: str = "board") -> str:
        """Return the student agent with a heuristic and iterative deepening, as a string."""
        return str(StudentAgent(heuristic, student_options=self.student_options(ends=ends)))

    def opponent(self, name: str) -> str:
        """Return an opponent of the course; as in the course, it uses the student's search."""
        ideal = parse_agent(name)
        if not ideal.heuristic:
            return str(ideal)
        depth = None if isinstance(ideal, DeepeningAgent) else ideal.budget.depth
        options = self.student_options(minimax=isinstance(ideal, MinimaxAgent))
        return str(StudentAgent(ideal.heuristic, Budget(depth=depth), student_options=options))

    def never_resigning(self) -> Condition:
        """Return this condition without the agents' mistakes.

        The agents never resign but play the last best move, and take the first of equal moves.
        """
        return replace(self, lost="keeps", ties="first")

    def words(self) -> str:
        """Return the condition without its time, as options in an agent string."""
        others = replace(self.student_options(), time=None, lost=CHOICES["lost"][0])
        return ", ".join([self.lost, *others.words()])


# -- variants ------------------------------------------------------------------------------
#
# Three authors' programs are public and show their condition; for the other two it can only be
# inferred from the numbers.  The report lists all variants, not only the chosen ones.


TIMES = (8_000, 10_000, 12_500, 16_000, 20_000, 25_000, 32_000, 40_000)
"""Times per move to try, in microseconds at the recorded costs; each is about 25 % longer."""

_BEHAVIOURS = (
    Condition(lost="forfeits"),
    Condition(lost="legal"),
    Condition(lost="keeps"),
    Condition(ties="last"),
)

UNKNOWN_TEXT = "its text does not tell: chosen by the numbers alone"


def variants(study: Study) -> tuple[Condition, ...]:
    """Return every condition to try for a study, with the default time.

    The earlier course had two boards; one known program scores leaves in their parent's loop.
    """
    if study.protocol != "2017a":
        return _BEHAVIOURS
    both = [replace(one, board=board) for board in ("early", "later") for one in _BEHAVIOURS]
    return (*both, Condition(board="early", ties="last", leaves="loop"))


def known_condition(study: Study) -> Condition | None:
    """Return the condition that a study documents, with the default time; None if unknown."""
    parts = {part: word for part, word in study.known_condition.items() if part != "told"}
    return Condition(**parts) if study.known_condition else None  # type: ignore[arg-type]


def plausible(study: Study) -> tuple[Condition, ...]:
    """Return the variants to choose among: the documented one, or all of them."""
    known = known_condition(study)
    return variants(study) if known is None else (known,)


def condition_source(study: Study) -> str:
    """Return what is known about a study's agents, with its source."""
    return study.known_condition.get("told", UNKNOWN_TEXT)
