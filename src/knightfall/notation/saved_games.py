"""The games that ``knightfall play`` keeps in the user's data folder, a file each."""

from __future__ import annotations

from pathlib import Path

from knightfall.errors import KnightfallError, nearest
from knightfall.files import data_folder
from knightfall.notation.reader import read_game
from knightfall.notation.scoresheet import Scoresheet
from knightfall.reading import read_text

LAST = "last"
MOST_BYTES = 2**20
"""No game is as long as that."""


def games_folder() -> Path:
    """Where games are kept."""
    return data_folder() / "games"


def saved_games() -> list[Path]:
    """The files of all saved games, the newest first."""
    files = [path for path in games_folder().glob("*.json") if path.is_file()]
    return sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def saved_game(name: str) -> Path:
    """The file of the saved game of that name."""
    files = {path.stem: path for path in saved_games()}
    if name not in files:
        raise KnightfallError(
            f"there is no saved game {name!r}, neither as a file nor in {games_folder()}"
            f"{nearest(name, files)}"
        )
    return files[name]


def read_game_file(file: Path) -> Scoresheet:
    """The game of a file, saved or written by hand."""
    text = read_text(file, MOST_BYTES)
    try:
        return read_game(text)
    except KnightfallError as error:
        raise KnightfallError(f"{str(file)!r}: {error}") from None
