"""Which game a text means: moves, a file, a saved game or one of the store."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from knightfall.arena.store import scoresheets
from knightfall.arena.store.scoresheets import is_game_name
from knightfall.errors import KnightfallError, nearest
from knightfall.notation.reader import looks_like_a_game, read_game
from knightfall.notation.saved_games import LAST, games_folder, read_game_file, saved_games
from knightfall.notation.scoresheet import Scoresheet

StorePath = str | os.PathLike[str] | None


def find_game(text: str, store: StorePath = None) -> Scoresheet:
    """The game that a text is or names.

    A name is that of a file, of a saved game, or of a stored one such as ``3.17.0``; ``last`` is
    the game that was played last: the newest saved one, or that of the store's last run (game 0
    of its last pair) if that run is newer.
    """
    if _is_file(text):
        return read_game_file(Path(text).expanduser())
    if looks_like_a_game(text):
        return read_game(text)
    if is_game_name(text):
        return _stored(text, store)
    saved = saved_games()
    files = {path.stem: path for path in saved}
    if text in files:
        return read_game_file(files[text])
    if text == LAST:
        run_time = _last_run(store)
        if run_time is not None and (not saved or run_time >= saved[0].stat().st_mtime):
            return _stored(LAST, store)
        if saved:
            return read_game_file(saved[0])
    raise KnightfallError(
        f"there is no game {text!r}, neither as moves, nor as a file, nor saved in "
        f"{games_folder()}, nor by a name such as 3.17.0 in the store{nearest(text, files)}"
    )


def _is_file(text: str) -> bool:
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # too long for a name, no such home, a zero byte
        return False


def _stored(name: str, store: StorePath) -> Scoresheet:
    from knightfall.arena.store.store import Store

    with Store.open(store, read_only=True) as opened:
        run, pair, game = scoresheets.find_game(opened, name)
        return scoresheets.scoresheet(run.plan, run.pair(pair), game)


def _last_run(store: StorePath) -> float | None:
    """When the last run was finished or, failing that, begun; None if it has no games."""
    from knightfall.arena.store.store import Store

    try:
        with Store.open(store, read_only=True) as opened:
            run = opened.last()
            if not run.played:
                return None
            return datetime.fromisoformat(run.finished or run.created).timestamp()
    except KnightfallError:  # no store, or nothing in it
        return None
