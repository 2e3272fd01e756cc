"""Submissions that never make a move: found in their games, with the line of code that answers.

They lose every game at their first turn.  That says nothing about how they play, so they have no
rank and no rating, and no verdict is given on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from knightfall.agents import known_agent
from knightfall.arena.game.agent_process import Hosted
from knightfall.arena.plan import GameRecord, PairTask
from knightfall.arena.reports.tournament import Outcomes, TournamentReport
from knightfall.arena.results import outcomes_of
from knightfall.arena.store import Run
from knightfall.errors import AgentFailure
from knightfall.picture import text as picture
from knightfall.position import Position, Side

_ANSWER = re.compile(r"answered (.*?)(?:, which is none of its legal moves)?$")
"""How the detail of a forfeited game ends."""


@dataclass(frozen=True, slots=True)
class NeverMoved:
    """A submission that answered no legal move at its first turn in each of its games."""

    games: int
    answers: tuple[str, ...]
    """What it answered, each once."""
    fen: str
    """The first position in which it was asked."""
    line: str
    """Where the answer came from there; empty if that was not found."""

    @property
    def words(self) -> str:
        """Return the finding as half a sentence."""
        said = " or ".join(self.answers)
        games = "the only game" if self.games == 1 else f"{self.games} of {self.games} games"
        return f"never made a move: answered {said} in {games}"

    @property
    def picture(self) -> str:
        """Return the first position as text."""
        return picture(Position.from_fen(self.fen))


def never_moved(run: Run, tests: Sequence[int]) -> dict[int, NeverMoved]:
    """Return those of some entrants who never made a move in a run, by their numbers."""
    games: dict[int, list[tuple[PairTask, GameRecord, Side]]] = {test: [] for test in tests}
    for pair in run.pairs():
        entrant = run.plan.matches[pair.task.number % len(run.plan.matches)].a
        if entrant in games:
            games[entrant] += zip([pair.task] * 2, pair.games, ("w", "b"), strict=True)
    found: dict[int, NeverMoved] = {}
    for entrant, played in games.items():
        if played and all(_lost_at_once(*each) for each in played):
            found[entrant] = _described(run.plan.entrants[entrant].agent, played)
    return found


def _lost_at_once(task: PairTask, game: GameRecord, side: Side) -> bool:
    """Whether a side lost by its first answer, which was no legal move."""
    first = 0 if Position.from_fen(task.opening).to_move == side else 1
    gave_no_move = game.reason in ("forfeit", "illegal") and game.winner != side
    return gave_no_move and game.plies == first


def _described(agent: str, played: Iterable[tuple[PairTask, GameRecord, Side]]) -> NeverMoved:
    played = list(played)
    answers = dict.fromkeys(
        match[1] for _, game, _ in played if (match := _ANSWER.search(game.detail))
    )
    task, game, _ = played[0]
    position = Position.from_fen(task.opening)
    for move in game.moves(position):
        position = position.play(move)
    player = Hosted(known_agent(agent))
    try:
        line = player.answer_line(position, task.seed)
    except AgentFailure:
        line = ""  # it does otherwise if it is asked again
    finally:
        player.close()
    return NeverMoved(len(played), tuple(answers) or ("no move",), position.fen, line)


class MovedOnly(TournamentReport):
    """A tournament's report on those of its test agents who made moves; there must be one."""

    def __init__(self, run: Run, left_out: Iterable[int], *, interrupted: bool = False) -> None:
        super().__init__(run, interrupted=interrupted)
        self._left_out = set(left_out)

    @property
    def tests(self) -> list[int]:
        """See `TournamentReport`."""
        return [test for test in super().tests if test not in self._left_out]

    @cached_property
    def outcomes(self) -> Outcomes:
        """See `TournamentReport`: those left out have no games."""
        outcomes, matches = outcomes_of(self.run), self.plan.matches
        lost = [place for place, match in enumerate(matches) if match.a in self._left_out]
        outcomes[np.isin(np.arange(len(outcomes)) % len(matches), lost)] = -1  # as if not played
        return outcomes
