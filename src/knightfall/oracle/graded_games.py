"""Play games of a player against itself, and record the exact value of every move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from knightfall.agents import Agent
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, in_order, parallel_map
from knightfall.openings import openings, shuffled
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.solver.atlas import canonical
from knightfall.solver.solve import Solver

Role = Literal["hunter", "runner"]
Phase = Literal["opening", "middle", "end"]

ROLES: tuple[Role, ...] = ("hunter", "runner")
PHASES: tuple[Phase, ...] = ("opening", "middle", "end")


class Analyst(Protocol):
    """A player that reports its move with a score: every `Agent` does."""

    def analyse(self, position: Position) -> Report:
        """Return the move, and its score for the side to move."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """A chosen move and its exact effect.

    `ply` counts from 1, the first move after the placements.  `winning` of the `legal` moves keep
    the win: 0 if the position was already lost.  `score` is the player's own score of the position,
    None if it gives none.
    """

    ply: int
    role: Role
    phase: Phase
    legal: int
    winning: int
    kept: bool
    score: float | None = None
    proven: bool = False

    @classmethod
    def of(cls, position: Position, ply: int, move: str | None, winning: Sequence[str]) -> Decision:
        """Return the decision for a move; `winning` are the moves that keep the win."""
        return cls(
            ply=ply,
            role="hunter" if position.hunter == position.to_move else "runner",
            phase=phase_of(position),
            legal=len(position.legal_moves),
            winning=len(winning),
            kept=move in winning,
        )

    @property
    def won(self) -> bool:
        """Whether the position before the move was won."""
        return self.winning > 0

    @property
    def real(self) -> bool:
        """Whether the decision was a real choice: some legal moves win and some lose."""
        return 0 < self.winning < self.legal

    @property
    def blunder(self) -> bool:
        """Whether the move gave a won position away."""
        return self.won and not self.kept


@dataclass(frozen=True, slots=True)
class Record:
    """The decisions of one game, in order.

    `family` is the same for openings that are mirror images: their games resemble each other and,
    if no ties are broken, are mirror images, too.
    """

    family: tuple[int, int] | None
    decisions: tuple[Decision, ...]


def phase_of(position: Position) -> Phase:
    """Return the phase by the share of open cells: over 2/3 opening, over 1/3 middle, else end."""
    thirds = 3 * len(position.open)
    if thirds > 2 * position.board.cells:
        return "opening"
    return "middle" if thirds > position.board.cells else "end"


def draw_openings(board: Board, number: int, seed: int) -> list[Position]:
    """Return the first `number` openings of a match with this seed.

    No opening is repeated, and a smaller number gives the first ones of a larger number.
    """
    every = openings(board)
    if not 1 <= number <= len(every):
        raise KnightfallError(
            f"openings={number} must be from 1 to {len(every)}, the number of openings on a "
            f"{board.width}×{board.height} board"
        )
    return [Position.from_fen(fen) for fen in shuffled(every, seed)[:number]]


def play_out(player: Analyst, opening: Position, truth: Solver) -> Record:
    """Play a game of the player against itself, until it ends or resigns; return its record.

    An agent begins it without memory of other games.
    """
    player = for_game(player, opening.board)
    decisions: list[Decision] = []
    position = opening
    while position.winner is None:
        winning = truth.winning_moves(position)
        try:
            report: Report | None = player.analyse(position)
        except AgentFailure as failure:
            if failure.reason != "forfeit":
                raise
            report = None
        ply = len(decisions) + 1
        if report is None:
            decisions.append(Decision.of(position, ply, None, winning))
            break
        thought = report.depth or report.nodes or report.proven
        score = report.score if thought else None
        made = Decision.of(position, ply, report.move, winning)
        decisions.append(replace(made, score=score, proven=report.proven))
        position = position.play(report.move)
    return Record(canonical(opening), tuple(decisions))


def for_game(player: Analyst, board: Board) -> Analyst:
    """Return the player ready for a game on a board; one that is not an `Agent` is unchanged."""
    return player.for_game(board) if isinstance(player, Agent) else player


# -- one after the other, or in parallel ------------------------------------------------------


def records_of(
    player: Analyst, openings: Sequence[Position], options: RunnerOptions = DEFAULT
) -> Iterator[Record]:
    """Play from every opening; yield the records in the order of the openings.

    The player must be picklable if other processes play.
    """
    options.check()
    if (
        isinstance(player, Agent)
        and player.is_process_local
        and options.leaves
        and len(openings) > 1
    ):
        raise KnightfallError(
            f"{player.name} is a function of this process, which other processes cannot load: "
            "grade without workers, or put it into a file"
        )
    name = player.name if isinstance(player, Agent) else type(player).__name__
    return in_order(
        parallel_map(
            partial(_player_of_games, player, openings[0].board),
            openings,
            options,
            describe=lambda opening: f"the game of {name} from {opening.fen!r}",
        )
    )


def _player_of_games(player: Analyst, board: Board) -> Callable[[Position], Record]:
    """Return a function that plays and records the game from an opening, for one thread."""
    if isinstance(player, Agent):
        player = replace(player)  # a copy, because prepared state belongs to one thread
        player.prepare(board)
    truth = Solver.of(board)
    return lambda opening: play_out(player, opening, truth)
