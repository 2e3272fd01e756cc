"""What a game needs from its view, the words a player may type, and the view for scripts.

The latter is a line protocol: every line printed is an object with an ``event``: ``begin``,
``state`` (your turn), ``move`` (the agent's), ``hint``, ``undo``, ``help``, ``error``, ``over`` and
``saved``.  Input lines are the words a person would type.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from knightfall.cli.screen.output import print_json, report_json

if TYPE_CHECKING:
    from knightfall.cli.play.game import Game
    from knightfall.search.budget import Report


ADVISER = "id(improved, time=300ms)"

WORDS = {
    "undo": "take back your last move and the answer to it",
    "hint": f"ask {ADVISER} what it would play",
    "board": "show the board again",
    "fen": "print the position as a FEN",
    "resign": "give up",
    "quit": "leave; the game is saved (Ctrl-C and Ctrl-D do the same)",
    "help": "show these words",
}


class GameView(Protocol):
    """How a game shows itself: to a person on a terminal, or to a script."""

    def begin(self, game: Game) -> None:
        """The game begins or goes on."""

    def your_turn(self, game: Game) -> None:
        """Show the position before asking for a move."""

    def ask(self) -> str:
        """The next line of input; EOFError when there is none."""

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        """Show that somebody thinks."""

    def answered(self, game: Game, report: Report) -> None:
        """The agent has moved."""

    def advise(self, report: Report) -> None:
        """Show a hint."""

    def took_back(self, game: Game, moves: list[str]) -> None:
        """Moves were taken back, or there was nothing to take back."""

    def show_fen(self, game: Game) -> None:
        """Print the position."""

    def show_words(self) -> None:
        """Say what may be typed."""

    def wrong(self, game: Game, word: str) -> None:
        """The input was neither a legal move nor a word; say what is legal."""

    def over(self, game: Game) -> None:
        """The game is over."""

    def left(self, game: Game, resume: str | None) -> None:
        """The player leaves; `resume` is the command to go on, None if saving failed."""


# -- for scripts ------------------------------------------------------------------------------


def _state(game: Game) -> dict[str, Any]:
    position = game.position
    return {
        "fen": position.fen,
        "to_move": position.to_move,
        "you": game.you,
        "legal": list(position.legal_moves),
        "moves": list(game.moves),
    }


class JsonView:
    """Prints objects, reads lines."""

    def begin(self, game: Game) -> None:
        print_json({"event": "begin", "agent": game.agent.name, **_state(game)})

    def your_turn(self, game: Game) -> None:
        print_json({"event": "state", **_state(game)})

    def ask(self) -> str:
        return input()

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        return nullcontext()

    def answered(self, game: Game, report: Report) -> None:
        print_json({"event": "move", **report_json(report), "fen": game.position.fen})

    def advise(self, report: Report) -> None:
        print_json({"event": "hint", **report_json(report)})

    def took_back(self, game: Game, moves: list[str]) -> None:
        if moves:
            print_json({"event": "undo", "taken": moves})
        else:
            print_json({"event": "error", "message": "there is nothing to take back"})

    def show_fen(self, game: Game) -> None:
        self.your_turn(game)

    def show_words(self) -> None:
        print_json({"event": "help", "words": WORDS})

    def wrong(self, game: Game, word: str) -> None:
        legal = list(game.position.legal_moves)
        print_json(
            {"event": "error", "message": f"{word!r} is not a legal move here", "legal": legal}
        )

    def over(self, game: Game) -> None:
        print_json(
            {
                "event": "over",
                "winner": game.winner,
                "you": game.you,
                "reason": game.reason,
                "start": game.start.fen,
                "moves": game.moves,
                "fen": game.position.fen,
            }
        )

    def left(self, game: Game, resume: str | None) -> None:
        if resume is None:
            print_json({"event": "error", "message": "the game could not be saved"})
        else:
            print_json({"event": "saved", "file": str(game.file), "resume": f"{resume} --json"})
