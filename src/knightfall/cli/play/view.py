"""What a game needs from whoever shows it, and the words a player may type."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from knightfall.cli.play.game import Game
    from knightfall.search.report import Report

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
