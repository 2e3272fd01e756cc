"""The conditions of a study as agents: who its students' agents were, mistakes included.

The same classes played the test agents and the course's opponents, so a condition holds for all of
a tournament.  What a heuristic's own code did at the end of a game, and where the code differed
from the words, is told by heuristic.
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
    """Return a heuristic as a study's author had it, or would have had it from the same terms.

    A sum that is not in the table is made of the terms that are.
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
    """How the agents of a study searched; the time of a move is the one number that is fitted."""

    lost: str = "forfeits"
    ties: str = "first"
    leaves: str = "call"
    board: str = "later"
    time: int = 25_000

    def student_options(self, *, ends: str = "board", minimax: bool = False) -> StudentOptions:
        """The same, of one agent."""
        search = "minimax" if minimax else "alphabeta"
        return StudentOptions(search=search, ends=ends, **asdict(self))

    def test_agent(self, study: Study, heuristic: str) -> str:
        """The agent that a study entered with a heuristic."""
        coded = as_coded(study, heuristic)
        return self.agent(coded.id, coded.ends)

    def agent(self, heuristic: str, ends: str = "board") -> str:
        """An agent that deepens with a heuristic."""
        return str(StudentAgent(heuristic, student_options=self.student_options(ends=ends)))

    def opponent(self, name: str) -> str:
        """One of the course's opponents, played by the student's own classes."""
        ideal = parse_agent(name)
        if not ideal.heuristic:
            return str(ideal)
        depth = None if isinstance(ideal, DeepeningAgent) else ideal.budget.depth
        options = self.student_options(minimax=isinstance(ideal, MinimaxAgent))
        return str(StudentAgent(ideal.heuristic, Budget(depth=depth), student_options=options))

    def never_resigning(self) -> Condition:
        """The same agents without their mistakes.

        They never give up but play what looked best before all was lost, and take the first of
        equal moves.
        """
        return replace(self, lost="keeps", ties="first")

    def words(self) -> str:
        """The condition as an agent's string has it, without the time."""
        others = replace(self.student_options(), time=None, lost=CHOICES["lost"][0])
        return ", ".join([self.lost, *others.words()])


# -- variants ------------------------------------------------------------------------------
#
# Three authors' programs are public and say what they did; of the other two only the numbers can
# tell.  All variants stay in the report, whatever the numbers prefer.


TIMES = (8_000, 10_000, 12_500, 16_000, 20_000, 25_000, 32_000, 40_000)
"""Of a move, in microseconds of the machine whose prices are recorded: steps of a quarter."""

_BEHAVIOURS = (
    Condition(lost="forfeits"),
    Condition(lost="legal"),
    Condition(lost="keeps"),
    Condition(ties="last"),
)

UNKNOWN_TEXT = "its text does not tell: chosen by the numbers alone"


def variants(study: Study) -> tuple[Condition, ...]:
    """Every plausible variant of a study, without a time.

    The earlier course had two boards, and leaves scored in the loop are known of one program.
    """
    if study.protocol != "2017a":
        return _BEHAVIOURS
    both = [replace(one, board=board) for board in ("early", "later") for one in _BEHAVIOURS]
    return (*both, Condition(board="early", ties="last", leaves="loop"))


def known_condition(study: Study) -> Condition | None:
    """Return what an author's text or program tells of the agents, without the time, if it does."""
    parts = {part: word for part, word in study.known_condition.items() if part != "told"}
    return Condition(**parts) if study.known_condition else None  # type: ignore[arg-type]


def plausible(study: Study) -> tuple[Condition, ...]:
    """The variants to choose among: the one that is known, or all of them."""
    known = known_condition(study)
    return variants(study) if known is None else (known,)


def told(study: Study) -> str:
    """What is known of a study's agents, and from where."""
    return study.known_condition.get("told", UNKNOWN_TEXT)
