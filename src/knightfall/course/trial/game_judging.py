"""What is to be said of a submission's games: wins kept, resignations, and who never moved.

Submissions that never make a move lose every game at their first turn.  That says nothing about
how they play, so they have no rank and no rating, and no verdict is given on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from knightfall.agents import cached_agent
from knightfall.arena.plan import GameRecord, PairRecord, PairTask, Plan
from knightfall.arena.play import play_pair
from knightfall.arena.reports.tournament import Outcomes, TournamentReport
from knightfall.arena.standings import outcomes_of
from knightfall.arena.store import Run
from knightfall.board import Board
from knightfall.course.agent import CourseAgent, RemoteSubmission
from knightfall.errors import AgentFailure
from knightfall.oracle.grade import WinsKept, count_wins_kept
from knightfall.oracle.record import Decision, phase_of
from knightfall.picture import text as picture
from knightfall.position import Position, Side
from knightfall.solver.atlas import canonical
from knightfall.solver.solve import Solver

# -- never moved -------------------------------------------------------------------------------


_ANSWER = re.compile(r"answered (.*?)(?:, which is none of its legal moves)?$")
"""How the detail of a forfeited game ends."""


class PlayedGames(Protocol):
    """The games of a plan: those of a stored `Run`, or a copy of them."""

    @property
    def plan(self) -> Plan:
        """Who played whom."""

    def pairs(self) -> Iterator[PairRecord]:
        """Yield the pairs in schedule order."""


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


def never_moved(run: PlayedGames, tests: Sequence[int]) -> dict[int, NeverMoved]:
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
    player = RemoteSubmission(cached_agent(agent))
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

    def accidents(self) -> Iterator[str]:
        """See `TournamentReport`: a trial tells them itself, with what the course made of them."""
        yield from ()

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


# -- what the solver says ----------------------------------------------------------------------


SUBSTITUTE = "AB_Improved"
"""Who plays on in the place of one that resigned: the course's own deepening player."""

OWN_CLOCK = "goes by a clock of its own, which was counted as well"
"""What is said of a submission that plays by ticks and asks Python for the time."""

TRIES = 4
"""How often a resigned game is played on, each time with ties broken another way."""


@dataclass
class Resignations:
    """The games that were given up: with what on the board, and what playing on would have won."""

    games: int = 0
    won: int = 0
    """By the solver: the game was won for the one who gave it up."""
    tries: int = 0
    saved: int = 0
    """Of so many games played on by the substitute against the same opponent, those it won."""

    @property
    def cost(self) -> float:
        """The games that resigning cost, as far as the substitute tells."""
        return self.games * self.saved / self.tries if self.tries else 0.0


@dataclass
class Judged:
    """One test agent's games by the truth."""

    keeping: WinsKept
    resigned: Resignations
    unusual: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Lost otherwise than on the board: the reason, how often, and the first detail."""
    never_moved: NeverMoved | None = None
    """If it never made a move; then nothing else is told of it."""
    own_clock: bool = False
    """Whether it asks Python's clocks, where time is counted."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision with all that there was to know: `move` is None where the game was given up."""

    position: Position
    ply: int
    move: str | None
    winning: tuple[str, ...]

    @property
    def decision(self) -> Decision:
        """The same as one of many."""
        position = self.position
        return Decision(
            ply=self.ply,
            role="hunter" if position.hunter == position.to_move else "runner",
            phase=phase_of(position),
            legal=len(position.legal_moves),
            winning=len(self.winning),
            kept=self.move in self.winning,
            score=None,
            proven=False,
        )


OnGame = Callable[[int], None]
OnChoice = Callable[[int, PairTask, Choice], None]
"""Hears each choice of a test agent, by the number of its match, and what pair it was in."""

KINDS = ("timeout", "resigned", "illegal answer", "crash")
"""What games are lost by otherwise than on the board; the course called the two in the middle
forfeits."""


def judge(
    run: PlayedGames,
    tests: Sequence[int],
    on_game: OnGame = lambda done: None,
    on_choice: OnChoice = lambda match, task, choice: None,
    truth: Solver | None = None,
) -> list[Judged]:
    """Look at every stored game of the test agents but those who never made a move."""
    plan = run.plan
    idle = never_moved(run, tests)
    truth = truth or Solver.of(Board.named(plan.board))
    cases: list[list[tuple[Hashable, Decision]]] = [[] for _ in tests]
    resigned = [Resignations() for _ in tests]
    unusual: list[dict[str, tuple[int, str]]] = [{} for _ in tests]
    done = 0
    for pair in run.pairs():
        place = pair.task.number % len(plan.matches)
        match = plan.matches[place]
        if match.a in idle:
            done += 2
            on_game(done)
            continue
        opening = Position.from_fen(pair.task.opening)
        for number, game in enumerate(pair.games):
            side: Side = "w" if number == 0 else "b"
            kind = kind_of(game) if game.winner != side else ""
            made, last = choices(game, opening, side, truth, kind == "resigned")
            cases[match.a] += [(canonical(opening), choice.decision) for choice in made]
            for choice in made:
                on_choice(place, pair.task, choice)
            if kind:
                count_loss(unusual[match.a], kind, game.detail)
            if kind == "resigned":
                resigned[match.a].games += 1
                resigned[match.a].won += truth.wins(last)
                _play_on(resigned[match.a], pair.task, last, side)
            done += 1
            on_game(done)
    return [
        Judged(count_wins_kept(mine), given_up, kinds, idle.get(test), _has_own_clock(run, test))
        for test, mine, given_up, kinds in zip(tests, cases, resigned, unusual, strict=True)
    ]


def _has_own_clock(run: PlayedGames, test: int) -> bool:
    """Return whether a submission that plays by ticks asks Python's clocks for its first move."""
    agent = cached_agent(run.plan.entrants[test].agent)
    if not isinstance(agent, CourseAgent) or not agent.time_is_counted:
        return False
    player = RemoteSubmission(agent)
    try:
        return player.asks_other_clocks(Position.from_fen(run.plan.order(0)[0]))
    except AgentFailure:
        return False  # its games tell what is wrong
    finally:
        player.close()


def count_loss(losses: dict[str, tuple[int, str]], kind: str, detail: str) -> None:
    """Count a game that was lost otherwise than on the board; the first detail is kept."""
    games, first = losses.get(kind, (0, detail))
    losses[kind] = games + 1, first


def kind_of(game: GameRecord) -> str:
    """Return one of `KINDS`, or "" for a game that was lost on the board."""
    return {"no moves": "", "late": "timeout", "no answer": "timeout"}.get(game.ending, game.ending)


def choices(
    game: GameRecord, opening: Position, side: Side, truth: Solver, resigned: bool
) -> tuple[list[Choice], Position]:
    """A side's decisions, giving up among them, and the position in which the game ended."""
    positions, moves = [opening], game.moves(opening)
    for move in moves:
        positions.append(positions[-1].play(move))
    found = []
    for ply in range(len(positions) - 1, -1, -1):  # the end is easy, and helps with the rest
        position, gave_up = positions[ply], ply == len(moves)
        if position.to_move != side or not position.legal_moves or (gave_up and not resigned):
            continue
        made = None if gave_up else moves[ply]
        found.append(Choice(position, ply + 1, made, truth.winning_moves(position)))
    return found[::-1], positions[-1]


def _play_on(found: Resignations, task: PairTask, position: Position, side: Side) -> None:
    """Let the substitute play on from where somebody gave up, against the same opponent."""
    if cached_agent(task.b).has_users_code:
        return  # an opponent that may do anything is not asked for more than the tournament
    substitute = str(cached_agent(SUBSTITUTE))
    game = 0 if side == "w" else 1
    for number in range(TRIES):
        again = PairTask(0, substitute, task.b, position.fen, task.seed + number)
        record = play_pair(again).games[game]
        found.tries += 1
        found.saved += record.winner == side
