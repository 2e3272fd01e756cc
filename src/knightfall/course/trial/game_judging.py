"""Judge a submission's games: how often it keeps a won position, resigns, or loses by a failure.

A submission that never makes a legal move loses every game at its first turn.  That says nothing
about how it plays, so it gets no rank, no rating and no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from knightfall.agents import cached_agent
from knightfall.arena.plan import GameRecord, PairRecord, PairTask, Plan
from knightfall.arena.play import play_pair
from knightfall.arena.report_statistics import PairOutcomes, outcomes_of
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.snapshot import as_played
from knightfall.arena.store import Run
from knightfall.board import Board
from knightfall.course.agent import CourseAgent, RemoteSubmission
from knightfall.errors import AgentFailure
from knightfall.oracle.grade import WinsKept, count_wins_kept
from knightfall.oracle.graded_games import Decision
from knightfall.picture import text as picture
from knightfall.position import Position, Side
from knightfall.solver.atlas import canonical
from knightfall.solver.solve import Solver

# -- never moved -------------------------------------------------------------------------------


_ANSWER = re.compile(r"answered (.*?)(?:, which is none of its legal moves)?$")
"""The end of the detail text of a forfeited game; the group is the answer."""


class PlayedGames(Protocol):
    """A plan and its games: a stored `Run`, or a copy of one in memory."""

    @property
    def plan(self) -> Plan:
        """Return the plan: the entrants and the matches between them."""

    def pairs(self) -> Iterator[PairRecord]:
        """Yield the pairs in schedule order."""


@dataclass(frozen=True, slots=True)
class NeverMoved:
    """A submission whose first answer was illegal in every one of its games."""

    games: int
    answers: tuple[str, ...]
    """Its distinct answers."""
    fen: str
    """The position of its first answer."""
    line: str
    """The line of its code that returned that answer; empty if unknown."""

    @property
    def words(self) -> str:
        """Return a verb phrase such as ``never made a move: answered (9, 9) in 40 of 40 games``."""
        said = " or ".join(self.answers)
        games = "the only game" if self.games == 1 else f"{self.games} of {self.games} games"
        return f"never made a move: answered {said} in {games}"

    @property
    def picture(self) -> str:
        """Return a text picture of the position in which the submission answered first."""
        return picture(Position.from_fen(self.fen))


def never_moved(run: PlayedGames, tests: Sequence[int]) -> dict[int, NeverMoved]:
    """Return the entrants that never made a legal move, by number; only `tests` are examined."""
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
    """Return whether a side lost the game by an illegal first answer."""
    first = 0 if Position.from_fen(task.opening).to_move == side else 1
    gave_no_move = game.reason in ("forfeit", "illegal") and game.winner != side
    return gave_no_move and game.plies == first


def _described(agent: str, played: Sequence[tuple[PairTask, GameRecord, Side]]) -> NeverMoved:
    """Describe an agent that never moved: its answers, and the line that returned the first one."""
    answers = dict.fromkeys(
        match[1] for _, game, _ in played if (match := _ANSWER.search(game.detail))
    )
    task, game, _ = played[0]
    position = Position.from_fen(task.opening)
    for move in game.moves(position):
        position = position.play(move)
    line = ""
    # The submission is called once more, and this time it may fail in another way.
    with (
        suppress(AgentFailure),
        RemoteSubmission(cached_agent(as_played(agent))) as player,
    ):
        line = player.answer_line(position, task.seed)
    return NeverMoved(len(played), tuple(answers) or ("no move",), position.fen, line)


class MovedOnly(TournamentReport):
    """A tournament's report without the test agents `left_out`; at least one must remain."""

    def __init__(self, run: Run, left_out: Iterable[int], *, interrupted: bool = False) -> None:
        super().__init__(run, interrupted=interrupted)
        self._left_out = set(left_out)

    def unusual_losses(self) -> Iterator[str]:
        """Yield nothing: `TrialReport` reports lost games itself, in the course's terms."""
        yield from ()

    @property
    def tests(self) -> list[int]:
        """See `TournamentReport`."""
        return [test for test in super().tests if test not in self._left_out]

    @cached_property
    def outcomes(self) -> PairOutcomes:
        """See `TournamentReport`; games of agents left out count as not played."""
        outcomes, matches = outcomes_of(self.run), self.plan.matches
        lost = [place for place, match in enumerate(matches) if match.a in self._left_out]
        outcomes[np.isin(np.arange(len(outcomes)) % len(matches), lost)] = -1  # not played
        return outcomes


# -- judging by the solver ---------------------------------------------------------------------


SUBSTITUTE = "AB_Improved"
"""The agent that plays on after a resignation: the course's own deepening player."""

OWN_CLOCK = "reads other clocks than time_left(); each such call costs a tick, too"
"""What reports say of a submission that is timed in ticks and reads Python's clocks."""

TRIES = 4
"""How often a resigned game is continued, each time with another seed for tie-breaking."""


@dataclass
class Resignations:
    """The resigned games of an agent, and what continuing them would have gained."""

    games: int = 0
    won: int = 0
    """Games that the agent resigned in a won position, as proven by the solver."""
    tries: int = 0
    """Continuations played by `SUBSTITUTE` against the same opponent."""
    saved: int = 0
    """Continuations that it won."""

    @property
    def cost(self) -> float:
        """Return the estimated number of resigned games that would have been won by playing on."""
        return self.games * self.saved / self.tries if self.tries else 0.0


@dataclass
class Judged:
    """The judgement on one test agent's games."""

    keeping: WinsKept
    resigned: Resignations
    unusual: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For each of `KINDS`: the number of games lost in this way, and the first one's detail."""
    never_moved: NeverMoved | None = None
    """Set if it never made a legal move; reports then show nothing else of it."""
    own_clock: bool = False
    """Whether it is timed in ticks and reads Python's clocks."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision in a game, with the winning moves; `move` is None for a resignation."""

    position: Position
    ply: int
    move: str | None
    winning: tuple[str, ...]


KINDS = ("timeout", "resigned", "illegal answer", "crash")
"""The ways to lose while legal moves are left; the course called the second and third forfeits."""


OnChoices = Callable[[int, Sequence[Choice], Position, GameRecord], None]


def judge(
    run: PlayedGames,
    tests: Sequence[int],
    on_game: Callable[[int], None] = lambda done: None,
    on_choices: OnChoices = lambda match, made, opening, game: None,
    truth: Solver | None = None,
) -> list[Judged]:
    """Judge every game of the test agents, except the games of agents that never moved.

    `on_game` is called with the number of games done, `on_choices` with a test agent's choices in
    each game, the number of the match, the opening and the game.
    """
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
            cases[match.a] += [
                (canonical(opening), Decision.of(one.position, one.ply, one.move, one.winning))
                for one in made
            ]
            on_choices(place, made, opening, game)
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
    """Return whether a submission timed in ticks reads Python's clocks during its first move."""
    agent = cached_agent(as_played(run.plan.entrants[test].agent))
    if isinstance(agent, CourseAgent) and agent.time_is_counted:
        # A failure is ignored here, because it is reported with the games.
        with suppress(AgentFailure), RemoteSubmission(agent) as player:
            return player.asks_other_clocks(Position.from_fen(run.plan.order(0)[0]))
    return False


def count_loss(losses: dict[str, tuple[int, str]], kind: str, detail: str) -> None:
    """Count a game lost by `kind`, one of `KINDS`; the first detail of each kind is kept."""
    games, first = losses.get(kind, (0, detail))
    losses[kind] = games + 1, first


def kind_of(game: GameRecord) -> str:
    """Return how a game was lost: one of `KINDS`, or "" if the loser had no legal move left."""
    return {"no moves": "", "late": "timeout", "no answer": "timeout"}.get(game.ending, game.ending)


def choices(
    game: GameRecord, opening: Position, side: Side, truth: Solver, resigned: bool
) -> tuple[list[Choice], Position]:
    """Return a side's decisions, including a resignation, and the game's last position."""
    positions, moves = [opening], game.moves(opening)
    for move in moves:
        positions.append(positions[-1].play(move))
    found = []
    for ply in range(len(positions) - 1, -1, -1):  # solving the end first speeds up the rest
        position, gave_up = positions[ply], ply == len(moves)
        if position.to_move != side or not position.legal_moves or (gave_up and not resigned):
            continue
        made = None if gave_up else moves[ply]
        found.append(Choice(position, ply + 1, made, truth.winning_moves(position)))
    return found[::-1], positions[-1]


def _play_on(found: Resignations, task: PairTask, position: Position, side: Side) -> None:
    """Let `SUBSTITUTE` continue a resigned game against the same opponent, `TRIES` times."""
    if cached_agent(task.b).has_users_code:
        return  # users' code plays only the games of the plan
    substitute = str(cached_agent(SUBSTITUTE))
    game = 0 if side == "w" else 1
    for number in range(TRIES):
        again = PairTask(0, substitute, task.b, position.fen, task.seed + number)
        record = play_pair(again).games[game]
        found.tries += 1
        found.saved += record.winner == side
