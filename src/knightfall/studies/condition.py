"""The conditions of a study as agents: who its students' agents were, mistakes included.

The same classes played the test agents and the course's opponents, so a condition holds for all of
a tournament.  What a heuristic's own code did at the end of a game, and where the code differed
from the words, is told by heuristic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from knightfall.agents import parse_agent
from knightfall.agents.kinds import DeepeningAgent, MinimaxAgent
from knightfall.search.budget import Budget
from knightfall.search.habits import CHOICES, Habits
from knightfall.studies.published import Study
from knightfall.studies.student_agent import StudentAgent


@dataclass(frozen=True, slots=True)
class Coded:
    """A study's heuristic as its author's program had it.

    `ends` is how it saw that the game was over (`knightfall.search.habits`), `id` the heuristic.
    """

    id: str
    ends: str = "board"


_SCORE = "score"
_REACH = {
    id: Coded(id, "either")
    for id in (
        *("near_opponent", "far_opponent", "bfs_reach"),
        *(f"static_reach(1/{r})" for r in range(2, 11)),
        *("near_opponent+bfs_reach", "far_opponent+bfs_reach"),
    )
}
_REACH |= {
    id: Coded(f"coded:{id}", "either")
    for id in ("near_center", "near_edges", "near_center+bfs_reach", "near_edges+bfs_reach")
}
_STAGED = {
    "mobility": Coded("mobility", _SCORE),
    "open_space": Coded("open_space", _SCORE),
    "open_space_difference": Coded("open_space_difference", _SCORE),
    "open_space_next": Coded("open_space_next", _SCORE),
    # The path search below a small phase was never reached, so these three were one function.
    **{id: Coded("coded:main_less", _SCORE) for id in ("main", "main_alt", "main_less")},
    "main_less_more": Coded("coded:main_less_more"),
    "main_prop": Coded("coded:main_prop", _SCORE),
    "main_staggered": Coded("coded:main_staggered", _SCORE),
    "main_alt_staggered": Coded("coded:main_alt_staggered", _SCORE),
}

CODED: Mapping[str, Mapping[str, Coded]] = MappingProxyType(
    {
        "lookahead": {},
        "directional": {
            id: Coded(id, _SCORE)
            for id in ("weighted_mobility", "weighted_difference", "weighted_moves")
        },
        "reachability": _REACH,
        "staged": _STAGED,
        "aggressive": {
            "aggressive": Coded("aggressive", _SCORE),
            "lookahead_ratio": Coded("coded:lookahead_ratio"),
            # Its positional part never ran.
            "open_cluster": Coded("aggressive", _SCORE),
        },
    }
)
"""By study and heuristic, where it is not simply the heuristic with the board's word on ends."""


def as_coded(study: Study, heuristic: str) -> Coded:
    """Return a heuristic as a study's author had it, or would have had it from the same terms.

    A sum that is not in the table is made of the terms that are.
    """
    table = CODED[study.id]
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

    def habits(self, *, ends: str = "board", minimax: bool = False) -> Habits:
        """The same, of one agent."""
        return Habits(
            search="minimax" if minimax else "alphabeta",
            lost=self.lost,
            ties=self.ties,
            leaves=self.leaves,
            ends=ends,
            board=self.board,
            time=self.time,
        )

    def test_agent(self, study: Study, heuristic: str) -> str:
        """The agent that a study entered with a heuristic."""
        coded = as_coded(study, heuristic)
        return self.agent(coded.id, coded.ends)

    def agent(self, heuristic: str, ends: str = "board") -> str:
        """An agent that deepens with a heuristic."""
        return str(StudentAgent(heuristic, habits=self.habits(ends=ends)))

    def opponent(self, name: str) -> str:
        """One of the course's opponents, played by the student's own classes."""
        ideal = parse_agent(name)
        if not ideal.heuristic:
            return str(ideal)
        depth = None if isinstance(ideal, DeepeningAgent) else ideal.budget.depth
        habits = self.habits(minimax=isinstance(ideal, MinimaxAgent))
        return str(StudentAgent(ideal.heuristic, Budget(depth=depth), habits=habits))

    def never_resigning(self) -> Condition:
        """The same agents without their mistakes.

        They never give up but play what looked best before all was lost, and take the first of
        equal moves.
        """
        return replace(self, lost="keeps", ties="first")

    def words(self) -> str:
        """The condition as an agent's string has it, without the time."""
        others = replace(self.habits(), time=None, lost=CHOICES["lost"][0])
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

KNOWN: Mapping[str, tuple[Condition, str]] = MappingProxyType(
    {
        "directional": (
            Condition(lost="legal"),
            "its author says that forfeits were prevented, and the program answers the first of "
            "the shuffled legal moves",
        ),
        "reachability": (
            Condition(board="early"),
            "the author's program is of the early course and gives up when every line is lost",
        ),
        "staged": (
            Condition(board="early", ties="last", leaves="loop"),
            "the author's program is of the early course, takes the last of equal moves and "
            "scores leaves in their parent's loop",
        ),
    }
)
"""What an author's text or program tells, without the time, and where it is told."""

UNKNOWN_TEXT = "its text does not tell: chosen by the numbers alone"


def variants(study: Study) -> tuple[Condition, ...]:
    """Every plausible variant of a study, without a time.

    The earlier course had two boards, and leaves scored in the loop are known of one program.
    """
    if study.protocol != "2017a":
        return _BEHAVIOURS
    both = [replace(one, board=board) for board in ("early", "later") for one in _BEHAVIOURS]
    return (*both, Condition(board="early", ties="last", leaves="loop"))


def plausible(study: Study) -> tuple[Condition, ...]:
    """The variants to choose among: the one that is known, or all of them."""
    return (KNOWN[study.id][0],) if study.id in KNOWN else variants(study)


def told(study: Study) -> str:
    """What is known of a study's agents, and from where."""
    return KNOWN[study.id][1] if study.id in KNOWN else UNKNOWN_TEXT
