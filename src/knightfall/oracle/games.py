"""The games of a grade, one after the other or spread over processes: the same either way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from knightfall.agents import Agent
from knightfall.arena.runners.calls import Calls, in_order
from knightfall.arena.runners.worker import Job
from knightfall.arena.runners.workers import MOST_WORKERS, Workers
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.oracle.record import Analyst, Record, play_out
from knightfall.oracle.truth import Truth
from knightfall.position import Position


def records_of(player: Analyst, openings: Sequence[Position], workers: int = 1) -> Iterator[Record]:
    """Play from every opening; the records come in the order of the openings, whoever is first.

    More than one worker are processes, so the player must be one that can be pickled.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise KnightfallError(f"workers={workers} must be from 1 to {MOST_WORKERS}")
    board = openings[0].board
    if workers == 1 or len(openings) == 1:
        truth = Truth(board)
        return (play_out(player, opening, truth) for opening in openings)
    if isinstance(player, Agent) and player.only_here:
        raise KnightfallError(
            f"{player.name} uses a heuristic that was declared in this process: other processes "
            "do not know it; grade with one worker, or put it into a file"
        )
    return _spread(player, board, openings, min(workers, len(openings)))


def _spread(
    player: Analyst, board: Board, openings: Sequence[Position], workers: int
) -> Iterator[Record]:
    name = player.name if isinstance(player, Agent) else type(player).__name__
    calls = Calls(_game, openings, lambda opening: f"the game of {name} from {opening.fen!r}")
    with Workers(workers, Job(_begin, (player, board))) as crew:
        yield from in_order(crew.do(calls))


# -- in a process of its own -----------------------------------------------------------------

_table: list[tuple[Analyst, Truth]] = []
"""Who plays here, and who judges."""


def _begin(player: Analyst, board: Board) -> None:
    if isinstance(player, Agent):
        with suppress(KnightfallError):  # it is told when a game asks for the same
            player.prepare(board)
    _table[:] = [(player, Truth(board))]


def _game(opening: Position) -> Record:
    player, truth = _table[0]
    return play_out(player, opening, truth)
