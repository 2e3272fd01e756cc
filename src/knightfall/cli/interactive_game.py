"""A game of a person against an agent: its state, and saving and loading it."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightfall.display.printable import print_line
from knightfall.errors import KnightfallError
from knightfall.notation import (
    LAST,
    MOST_BYTES,
    NO_MOVES,
    RESIGNED,
    SEAT,
    SIDE,
    game_of,
    games_folder,
    saved_game,
    saved_games,
)
from knightfall.position import Position, Side, other
from knightfall.untrusted_input import OneOf, check, check_format, decoded, parse_json, read_bytes
from knightfall.user_folders import atomic_write

if TYPE_CHECKING:
    from knightfall.agents import Agent


@dataclass
class InteractiveGame:
    """A game of a person against an agent.

    `line` holds every position from the start on, so undo drops the last ones.
    """

    line: list[Position]
    you: Side
    agent: Agent
    resigned: bool = False
    """Whether the person resigned."""
    agent_resigned: bool = False
    """Whether the agent resigned."""
    moves: list[str] = field(default_factory=list)
    file: Path | None = None

    @property
    def start(self) -> Position:
        """The first position."""
        return self.line[0]

    @property
    def position(self) -> Position:
        """The current position."""
        return self.line[-1]

    @property
    def your_turn(self) -> bool:
        """Whether the person is to move."""
        return self.position.to_move == self.you

    @property
    def winner(self) -> Side | None:
        """The side that has won; None while the game goes on."""
        if self.resigned or self.agent_resigned:
            return other(self.you) if self.resigned else self.you
        return self.position.winner

    @property
    def reason(self) -> str:
        """Why the game ended: by resignation or without moves left."""
        return RESIGNED if self.resigned or self.agent_resigned else NO_MOVES

    def play(self, move: str) -> None:
        """Play a legal move."""
        self.line.append(self.position.play(move))
        self.moves.append(move)

    def undo(self) -> list[str]:
        """Take back the person's last move and the reply to it; return the moves taken back."""
        turns = [at for at, position in enumerate(self.line[:-1]) if position.to_move == self.you]
        if not turns:
            return []
        taken = self.moves[turns[-1] :]
        del self.line[turns[-1] + 1 :], self.moves[turns[-1] :]
        return taken


# -- on disk ----------------------------------------------------------------------------------


_FORMAT = "knightfall game 1"


def save(game: InteractiveGame) -> None:
    """Write the game to its file, or to a new file, atomically."""
    if game.file is None:
        game.file = _new_file()
    content = {
        "format": _FORMAT,
        "start": game.start.fen,
        "moves": game.moves,
        "you": SEAT[game.you],
        "agent": str(game.agent.absolute()) if game.agent.files else game.agent.name,
        "resigned": game.resigned,
    }
    if game.agent_resigned:
        content["agent_resigned"] = True
    atomic_write(game.file, json.dumps(content, indent=2) + "\n", sync=True)


def _new_file() -> Path:
    """Return a path that does not exist yet, named by the time and the process id."""
    folder = games_folder()
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    file = folder / f"{stem}.json"
    for number in count(2):
        if not file.exists():
            break
        file = folder / f"{stem}-{number}.json"
    return file


def resume_command(game: InteractiveGame) -> str:
    """Return the command that resumes a saved game."""
    import shlex

    file = game.file or Path()
    ours = file.parent == games_folder() and file.suffix == ".json"
    name = file.stem if ours else str(file)
    return f"knightfall play --resume {shlex.quote(name)}"


def load(which: str) -> InteractiveGame:
    """Return the saved game of a name or file; ``last`` is the newest unfinished one."""
    if which == LAST:
        return _last()
    file = Path(os.path.expanduser(which))
    return _read(file if file.is_file() else saved_game(which))


def _last() -> InteractiveGame:
    for file in saved_games():
        try:
            game = _read(file)
        except KnightfallError as error:
            print_line(f"note: {error}; looking for an older one", file=sys.stderr)
            continue
        if game.winner is None:
            return game
    raise KnightfallError(
        f"there is no unfinished game in {games_folder()}: knightfall play starts one"
    )


def _read(file: Path) -> InteractiveGame:
    """Read a saved game; raise KnightfallError if its content is not valid."""
    data = read_bytes(file, MOST_BYTES)
    try:
        content = check_format(parse_json(decoded(data, file.name)), _FORMAT)
        return _game(content, file)
    except KnightfallError as error:
        raise KnightfallError(
            f"{str(file)!r} is not a game that can be resumed: {error} (the file is left as it is)"
        ) from None


_SAVED: dict[Any, Any] = {
    "you": OneOf(tuple(SIDE)),
    "agent": str,
    "resigned": bool,
    "agent_resigned?": bool,
    ...: object,
}
"""The fields of a saved game, other than its start and moves."""


def _game(content: dict[str, Any], file: Path) -> InteractiveGame:
    from knightfall.agents import parse_agent

    sheet = game_of(content)
    check(_SAVED, content)
    return InteractiveGame(
        line=list(sheet.positions),
        you=SIDE[content["you"]],
        agent=parse_agent(content["agent"]),
        resigned=content["resigned"],
        agent_resigned=content.get("agent_resigned", False),
        moves=list(sheet.moves),
        file=file.absolute(),
    )
