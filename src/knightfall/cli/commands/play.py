"""``knightfall play``: a game against an agent."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from knightfall.cli.options.common import Json, MaybeFen
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.cli.play.game import Game
    from knightfall.cli.play.view import Face

OPPONENT = "alphabeta(improved, depth=3)"


class Seat(StrEnum):
    """Which player the person is."""

    first = "first"
    second = "second"


class PlayCommand(TyperCommand):
    """Lets ``--resume`` stand alone: it then means the last game."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        full = []
        for at, word in enumerate(args):
            full.append(word)
            if word == "--resume" and (at + 1 == len(args) or args[at + 1].startswith("-")):
                full.append("last")
        return super().parse_args(ctx, full)


As = Annotated[
    Seat | None, typer.Option("--as", help="Who you are (first by default).", show_default=False)
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help=f"Who you play; {OPPONENT} by default.",
        show_default=False,
    ),
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="[GAME]",
        help="Go on with a saved game: a name, a file, or nothing for the last one.",
        show_default=False,
    ),
]


def play(
    fen: MaybeFen = None,
    seat: As = None,
    against: Against = None,
    resume: Resume = None,
    json: Json = False,
) -> None:
    """Play against an agent.

    Without a FEN the board is empty, and each player places its knight first.  Type a cell to
    go there; help lists the other words.  The game is saved after every move.  With --json each
    line printed is an object, and the same words are read from standard input.

    \b
    Examples:
      knightfall play
      knightfall play --as second --against "id(bfs_reach, time=500ms)"
      knightfall play --against random "4/4/4/4[Nn] w"
      knightfall play --resume
    """
    if resume is not None and (fen or seat or against):
        raise KnightfallError(
            "a resumed game has its position, seats and agent already: leave out FEN, --as and "
            "--against"
        )
    game = _resumed(resume) if resume is not None else _new(fen, seat, against or OPPONENT)
    _run(game, _face(json))


def _new(fen: str | None, seat: Seat | None, against: str) -> Game:
    from knightfall.agents import parse_agent
    from knightfall.cli.play.game import Game
    from knightfall.position import Position

    start = Position.start() if fen is None else Position.from_fen(fen)
    return Game([start], "b" if seat is Seat.second else "w", parse_agent(against))


def _resumed(which: str) -> Game:
    from knightfall.cli.play.saved import load

    return load(which)


def _face(json: bool) -> Face:
    if json:
        from knightfall.cli.play.json_view import JsonFace

        return JsonFace()
    from knightfall.cli.play.terminal_view import TerminalFace

    return TerminalFace()


# -- the game ------------------------------------------------------------------------------------


def _run(game: Game, face: Face) -> None:
    keeper = _Keeper(game)
    try:
        if game.winner is None:
            keeper.save()
        game.agent.prepare(game.start.board)
        face.begin(game)
        while game.winner is None:
            if game.your_turn:
                face.your_turn(game)
                if not _turn(game, face):
                    face.left(game, keeper.save())
                    return
            else:
                with face.thinking(game.agent.name):
                    report = game.agent.analyse(game.position)
                game.play(report.move)
                face.answered(game, report)
            keeper.save()
        face.over(game)
    except EOFError:
        face.left(game, keeper.save())
    except KnightfallError:  # a heuristic of the user's own that fails
        if not keeper.discard():
            face.left(game, keeper.save())
        raise
    except KeyboardInterrupt:
        face.left(game, keeper.save())
        raise typer.Exit(INTERRUPTED) from None


def _turn(game: Game, face: Face) -> bool:
    """Ask until the game has changed; False if the player leaves."""
    while True:
        word = face.ask().strip().lower()
        if word in game.position.legal_moves:
            game.play(word)
            return True
        if word == "undo":
            moves = game.undo()
            face.took_back(game, moves)
            if moves:
                return True
        elif word == "resign":
            game.resigned = True
            return True
        elif word == "hint":
            from knightfall.agents import agent
            from knightfall.cli.play.view import ADVISER

            with face.thinking(ADVISER):
                report = agent(ADVISER).analyse(game.position)
            face.advise(report)
        elif word == "board":
            face.your_turn(game)
        elif word == "fen":
            face.show_fen(game)
        elif word == "help":
            face.show_words()
        elif word == "quit":
            return False
        elif word:
            face.wrong(game, word)


class _Keeper:
    """Saves the game; if that is impossible, says so once and lets the game go on."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._complained = False
        self._new = game.file is None

    def save(self) -> str | None:
        """The command that resumes the game, or None if it could not be saved."""
        from knightfall.cli.play.saved import resume_command, save

        try:
            save(self._game)
        except OSError as error:
            if not self._complained:
                self._complained = True
                say(f"warning: this game cannot be saved: {error}")
            return None
        return resume_command(self._game)

    def discard(self) -> bool:
        """Forget a game that could not even begin; whether it was one."""
        if self._new and not self._game.moves and self._game.file is not None:
            self._game.file.unlink(missing_ok=True)
            return True
        return False
