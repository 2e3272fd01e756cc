"""The games of a grade, one after the other or spread over processes: the same either way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knightfall.errors import KnightfallError
from knightfall.kernel.interrupt import ctrl_c_later
from knightfall.oracle.process_pool import process_pool
from knightfall.oracle.record import Analyst, Record, play_out
from knightfall.oracle.truth import Truth
from knightfall.position import Position

MOST_WORKERS = 64


def records_of(player: Analyst, openings: Sequence[Position], workers: int = 1) -> Iterator[Record]:
    """Play from every opening; the records come in the order of the openings, whoever is first.

    Processes are spawned, so the player must be one that can be pickled.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise KnightfallError(f"workers={workers} must be from 1 to {MOST_WORKERS}")
    if workers == 1 or len(openings) == 1:
        truth = Truth(openings[0].board)
        return (play_out(player, opening, truth) for opening in openings)
    return _spread(player, openings, min(workers, len(openings)))


def _spread(player: Analyst, openings: Sequence[Position], workers: int) -> Iterator[Record]:
    with process_pool(workers, _begin, player, openings[0]) as pool:
        with ctrl_c_later():
            games = [pool.submit(_game, opening) for opening in openings]
        for game in games:
            yield game.result()


# -- in a process of its own -----------------------------------------------------------------

_table: list[tuple[Analyst, Truth]] = []
"""Who plays here, and who judges."""


def _begin(player: Analyst, opening: Position) -> None:
    _table[:] = [(player, Truth(opening.board))]


def _game(opening: Position) -> Record:
    player, truth = _table[0]
    return play_out(player, opening, truth)
