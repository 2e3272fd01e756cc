"""A game held against the truth: which moves kept the win, which gave it away."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from knightfall.arena.store import scoresheets
from knightfall.arena.store.scoresheets import is_game_name
from knightfall.display.progress import OnProgress, shown_or_told
from knightfall.errors import KnightfallError, nearest
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.notation.reader import looks_like_a_game, read_game
from knightfall.notation.saved_games import LAST, games_folder, read_game_file, saved_games
from knightfall.notation.scoresheet import Scoresheet
from knightfall.oracle.annotation import Annotation, Remark
from knightfall.oracle.truth import Truth
from knightfall.position import Position, Side, other


def annotate(
    game: str | Scoresheet,
    *,
    store: str | os.PathLike[str] | None = None,
    progress: bool | OnProgress = True,
) -> Annotation:
    """Judge every placement and move of a game.

    The game is given as a text: its moves, after a FEN if it did not begin on an empty 7×7 board,
    or whatever else `find_game` knows (a file, a saved game, the name of one in the store, which
    is the user's own unless another file is given).

    The end is judged first, because it is easy: what is known when Ctrl-C comes stays.
    `progress` shows how many moves, of all that could have been played, have been decided, or is
    a function that hears it.
    """
    sheet = find_game(game, store) if isinstance(game, str) else game
    if not sheet.moves:
        raise KnightfallError(
            f"the game from {sheet.start.fen!r} has no moves: give placements and moves in order, "
            "as in 'b5 e2 d4 f4'"
        )
    with shown_or_told(progress, "moves judged", questions(sheet)) as tell:
        winning, last = _judge(sheet, tell)
    return Annotation(
        game=sheet,
        remarks=tuple(_remarks(sheet, winning)),
        winners=(*_winners(sheet, winning), last),
    )


def questions(game: Scoresheet) -> int:
    """What progress will have counted up to at the end."""
    return sum(len(position.legal_moves) for position in game.positions[:-1])


def _judge(game: Scoresheet, on_progress: OnProgress) -> tuple[list[tuple[str, ...] | None], Side]:
    """The winning moves of each position that has a move, and who wins the last position."""
    enable_keyboard_interrupt()
    truth = Truth(game.start.board)
    winning: list[tuple[str, ...] | None] = [None] * len(game.moves)
    last: Side | None = None
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        on_progress(done)

    try:
        last = _winner(game.final, truth.wins(game.final))
        for at in range(len(game.moves) - 1, -1, -1):
            position, before = game.positions[at], done
            winning[at] = truth.winning_moves(position, lambda: tell(1))
            tell(before + len(position.legal_moves) - done)
    except KeyboardInterrupt:
        if last is None:
            raise
    return winning, last


def _remarks(game: Scoresheet, winning: Sequence[tuple[str, ...] | None]) -> list[Remark]:
    return [
        Remark(
            ply=at + 1,
            side=position.to_move,
            move=move,
            legal=len(position.legal_moves),
            winning=winning[at],
            placement=position.knight(position.to_move) is None,
        )
        for at, (position, move) in enumerate(zip(game.positions, game.moves, strict=False))
    ]


def _winners(game: Scoresheet, winning: Sequence[tuple[str, ...] | None]) -> list[Side | None]:
    return [
        None if moves is None else _winner(position, bool(moves))
        for position, moves in zip(game.positions, winning, strict=False)
    ]


def _winner(position: Position, mover_wins: bool) -> Side:
    return position.to_move if mover_wins else other(position.to_move)


# -- which game a text means ------------------------------------------------------------------


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
