"""How often a heuristic's own choice of a move keeps a won position won, by phase of the game.

The positions are the same for all heuristics.  Each comes from a game of random moves of its own,
has a side to move that wins, and offers both moves that keep the win and moves that give it away.
A heuristic chooses by a search of one ply, so that its judgement counts and not the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import get_args

import numpy as np

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.openings import openings, shuffled
from knightfall.oracle.record import phase_of
from knightfall.oracle.truth import Truth
from knightfall.position import Position
from knightfall.studies.judging.comparisons import PairScores
from knightfall.studies.published.published import CHANCE, Phase, Study

POSITIONS = 300
"""For each phase."""

PHASES: tuple[Phase, ...] = get_args(Phase)

Choices = Mapping[str, Mapping[str, PairScores]]
"""By phase, then by heuristic: one row, a 1 for each position whose win is kept and a 0 for each
that is given away.  `CHANCE` has the share of winning moves among the legal ones instead."""


@dataclass(frozen=True)
class Question:
    """A position with a real choice, and the moves that keep its win."""

    position: Position
    winning: tuple[str, ...]

    @property
    def chance(self) -> float:
        """Return the probability that a random legal move keeps the position won."""
        return len(self.winning) / len(self.position.legal_moves)


def choosing_heuristics(studies: Sequence[Study]) -> tuple[str, ...]:
    """The heuristics that some claim compares by their choices."""
    claims = [claim for study in studies for claim in study.claims if claim.measure == "choices"]
    named = [id for claim in claims for id in (*claim.who, *claim.than) if id != CHANCE]
    return tuple(dict.fromkeys(named))


def choices(
    heuristics: Sequence[str],
    positions: int = POSITIONS,
    seed: int = 0,
    told: Callable[[int], None] = lambda done: None,
) -> Choices:
    """Ask every heuristic about so many positions of each phase."""
    agents = {id: parse_agent(f"id({id}, depth=1, plain)") for id in heuristics}
    found: dict[str, dict[str, PairScores]] = {}
    for number, phase in enumerate(PHASES):
        asked = list(questions(phase, positions, seed))
        found[phase] = {CHANCE: np.array([[one.chance for one in asked]])}
        for id, agent in agents.items():
            kept = [agent.analyse(one.position).move in one.winning for one in asked]
            found[phase][id] = np.array([kept], float)
        told(number + 1)
    return found


def questions(phase: Phase, number: int, seed: int) -> Iterator[Question]:
    """Positions of a phase with a real choice, the same for the same seed."""
    board = Board.of(7, 7)
    truth, found = Truth(board), 0
    starts = shuffled(openings(board), seed)
    rng = Random(f"{phase}/{seed}")
    while found < number:
        position = _random_position(Position.from_fen(rng.choice(starts)), phase, rng)
        if position is None or len(position.legal_moves) < 2:
            continue
        winning = truth.winning_moves(position)
        if 0 < len(winning) < len(position.legal_moves):
            found += 1
            yield Question(position, winning)


def _random_position(start: Position, phase: Phase, rng: Random) -> Position | None:
    """A position of a phase in a game of random moves; None if the game ends before."""
    cells = start.board.cells
    first, last = {"opening": (2, cells // 3), "middle": (cells // 3, 2 * cells // 3)}.get(
        phase, (2 * cells // 3, cells - 6)
    )
    position, wanted = start, rng.randint(first, last)
    while cells - len(position.open) < wanted or phase_of(position) != phase:
        if position.winner is not None or phase_of(position) == _after(phase):
            return None
        position = position.play(rng.choice(position.legal_moves))
    return position if position.winner is None else None


def _after(phase: Phase) -> str:
    return {"opening": "middle", "middle": "end"}.get(phase, "")
