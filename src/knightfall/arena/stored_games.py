"""Find stored runs and games by their names, and return games as scoresheets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knightfall.arena.store_file import position
from knightfall.errors import KnightfallError
from knightfall.notation import Scoresheet

if TYPE_CHECKING:
    from knightfall.arena.plan import PairRecord, Plan
    from knightfall.arena.store import Run, Store

LAST = "last"
_GAME = re.compile(r"([0-9]{1,18}|last)\.([0-9]{1,18})\.([01])", re.ASCII)


def find_run(store: Store, text: str) -> Run:
    """Return the run with the given number, or the last run if the text is `last`."""
    if text == LAST:
        return store.last()
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        raise KnightfallError(f"run {text!r} must be a number or last (knightfall runs lists them)")
    return store.run(int(text))


def is_game_name(text: str) -> bool:
    """Return whether a text is the name of a stored game, for example ``3.17.0``."""
    return _GAME.fullmatch(text) is not None


def find_game(store: Store, text: str) -> tuple[Run, int, int]:
    """Return the run, pair and game of a name, for example ``3.17.0``.

    `last` is game 0 of the last pair of the last run.
    """
    if text == LAST:
        run = store.last()
        if not run.played:
            raise KnightfallError(f"run {run.id} has no games yet")
        return run, run.played - 1, 0
    match = _GAME.fullmatch(text)
    if match is None:
        raise KnightfallError(
            f"game {text!r} must be RUN.PAIR.GAME, where GAME is 0 or 1, as in 3.17.0, or last "
            "(knightfall games lists them)"
        )
    return find_run(store, match[1]), int(match[2]), int(match[3])


def scoresheet(plan: Plan, record: PairRecord, game: int) -> Scoresheet:
    """Return game 0 or 1 of a pair as a scoresheet; its moves are not checked."""
    task, played = record.task, record.games[game]
    match = plan.matches[task.number % len(plan.matches)]
    seats = (match.a, match.b) if game == 0 else (match.b, match.a)
    white, black = (plan.entrants[seat].name for seat in seats)
    tags = {
        "Pair": str(task.number),
        "Game": str(game),
        "White": white,
        "Black": black,
        "Seed": str(task.seed),
    }
    if played.detail:
        tags["Detail"] = played.detail
    opening = position(task.opening)
    return Scoresheet(opening, played.moves(opening), played.winner, played.reason, tags)
