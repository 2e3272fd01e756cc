"""Views of a game of a person against an agent: on a terminal, or as lines of JSON.

Every line of JSON is an object with an ``event``: ``begin``, ``state`` (your turn), ``move``
(the agent's), ``hint``, ``undo``, ``help``, ``error``, ``over`` and ``saved``.  Input lines are the
words a person would type.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from rich.text import Text

from knightfall.cli.board_drawing import knight, show
from knightfall.cli.terminal import console, effort, print_json, print_line, report_json, verdict
from knightfall.display.report import show as show_parts
from knightfall.display.table import facts
from knightfall.notation import RESIGNED
from knightfall.position import Position, Side, other

if TYPE_CHECKING:
    from knightfall.cli.interactive_game import InteractiveGame
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
    """The interface through which `knightfall play` shows a game and asks for moves."""

    def begin(self, game: InteractiveGame) -> None:
        """Show that the game begins or is resumed."""

    def your_turn(self, game: InteractiveGame) -> None:
        """Show the position before asking for a move."""

    def ask(self) -> str:
        """Return the next line of input; raise EOFError at the end of input."""

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        """Return a context that shows that an agent is thinking."""

    def answered(self, game: InteractiveGame, report: Report) -> None:
        """Receive the agent's move, which is played already, to show it now or with the board."""

    def advise(self, report: Report) -> None:
        """Show a hint."""

    def took_back(self, game: InteractiveGame, moves: list[str]) -> None:
        """Show the moves that were taken back; the list is empty if there were none."""

    def show_fen(self, game: InteractiveGame) -> None:
        """Print the position as a FEN."""

    def show_words(self) -> None:
        """List the words that can be typed in place of a move, such as undo."""

    def wrong(self, game: InteractiveGame, word: str) -> None:
        """Refuse input that is neither a legal move nor a known word; list the legal moves."""

    def over(self, game: InteractiveGame) -> None:
        """Show the result of the game."""

    def left(self, game: InteractiveGame, resume: str | None) -> None:
        """Show the command `resume`, which resumes the game; it is None if saving failed."""


# -- for scripts ------------------------------------------------------------------------------


def _state(game: InteractiveGame) -> dict[str, Any]:
    position = game.position
    return {
        "fen": position.fen,
        "to_move": position.to_move,
        "you": game.you,
        "legal": list(position.legal_moves),
        "moves": list(game.moves),
    }


class JsonView:
    """Print events as objects of JSON, and read lines of standard input."""

    def begin(self, game: InteractiveGame) -> None:
        print_json({"event": "begin", "agent": game.agent.name, **_state(game)})

    def your_turn(self, game: InteractiveGame) -> None:
        print_json({"event": "state", **_state(game)})

    def ask(self) -> str:
        return input()

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        return nullcontext()

    def answered(self, game: InteractiveGame, report: Report) -> None:
        print_json({"event": "move", **report_json(report), "fen": game.position.fen})

    def advise(self, report: Report) -> None:
        print_json({"event": "hint", **report_json(report)})

    def took_back(self, game: InteractiveGame, moves: list[str]) -> None:
        if moves:
            print_json({"event": "undo", "taken": moves})
        else:
            print_json({"event": "error", "message": "there is nothing to take back"})

    def show_fen(self, game: InteractiveGame) -> None:
        self.your_turn(game)

    def show_words(self) -> None:
        print_json({"event": "help", "words": WORDS})

    def wrong(self, game: InteractiveGame, word: str) -> None:
        legal = list(game.position.legal_moves)
        print_json(
            {"event": "error", "message": f"{word!r} is not a legal move here", "legal": legal}
        )

    def over(self, game: InteractiveGame) -> None:
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

    def left(self, game: InteractiveGame, resume: str | None) -> None:
        if resume is None:
            print_json({"event": "error", "message": "the game could not be saved"})
        else:
            print_json({"event": "saved", "file": str(game.file), "resume": f"{resume} --json"})


# -- for a person ------------------------------------------------------------------------------


class TerminalView:
    """Draw the board on a terminal, and ask at a prompt."""

    def __init__(self) -> None:
        self.console = console()
        self.report: Report | None = None

    def begin(self, game: InteractiveGame) -> None:
        if sys.stdin.isatty():
            import readline  # noqa: F401 (gives input() its line editing)
        if not game.moves:
            self.console.print(
                "Move to open cells only; a visited cell is gone. If you cannot move, you lose.\n"
                "Type a cell such as c4 to go there; help lists the other words."
            )

    def your_turn(self, game: InteractiveGame) -> None:
        self.console.print()
        show(game.position, self.console, [*self._players(game), *self._news(game)])

    def ask(self) -> str:
        return input("your move> ")

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        if not self.console.is_terminal:
            return nullcontext()
        return self.console.status(Text(f"{who} thinks…"))

    def answered(self, game: InteractiveGame, report: Report) -> None:
        self.report = report

    def advise(self, report: Report) -> None:
        self.console.print(
            f"Hint: {report.move} ({verdict(report)} for you; {effort(report)})\n"
            f"expects {' '.join(report.pv)}"
        )

    def took_back(self, game: InteractiveGame, moves: list[str]) -> None:
        self.report = None
        if moves:
            self.console.print(f"Taken back: {' '.join(moves)}")
        else:
            self.console.print("There is nothing to take back: you have not moved yet.")

    def show_fen(self, game: InteractiveGame) -> None:
        print_line(game.position.fen)

    def show_words(self) -> None:
        go = "go there, if it is one of the cells with a name on the board"
        show_parts([facts({"c4": go, **WORDS})], self.console)

    def wrong(self, game: InteractiveGame, word: str) -> None:
        from knightfall.errors import nearest

        placing = game.position.knight(game.position.to_move) is None
        legal = "any open cell" if placing else " ".join(game.position.legal_moves)
        self.console.print(
            f"{word!r} is not a legal move{nearest(word, WORDS)}\n"
            f"Legal: {legal}; help lists the other words"
        )

    def over(self, game: InteractiveGame) -> None:
        self.console.print()
        show(game.position, self.console, [*self._players(game), *self._result(game)])
        board = game.start.board
        if game.start != Position.start(board.width, board.height):
            self.console.print(f"From {game.start.fen}")
        self.console.print(f"Moves: {' '.join(game.moves) or 'none'}")

    def left(self, game: InteractiveGame, resume: str | None) -> None:
        self.console.print()
        if resume:
            print_line("The game is saved. To resume it:", f"  {resume}")

    # -- beside the board ----------------------------------------------------------------------

    def _players(self, game: InteractiveGame) -> list[Text]:
        return [self._player(game, "w"), self._player(game, "b"), Text()]

    def _player(self, game: InteractiveGame, side: Side) -> Text:
        who = "you" if side == game.you else game.agent.name
        line = Text(" ").join([knight(self.console, side), Text(who, "bold")])
        if game.position.knight(side) is not None:
            count = len(game.position.targets(side))
            line.append(f"  {count} {'move' if count == 1 else 'moves'}", "dim")
        return line

    def _news(self, game: InteractiveGame) -> list[Text]:
        lines = []
        if game.moves:
            lines.append(Text(f"It went to {game.moves[-1]}"))
            lines += self._thoughts()
            lines.append(Text())
        legal = game.position.legal_moves
        if game.position.knight(game.you) is None:
            lines.append(Text("Place your knight on any open cell."))
        else:
            lines.append(Text(f"You can go to {' '.join(legal)}"))
        if game.moves:
            lines += [Text(), Text(f"So far: {' '.join(game.moves)}", "dim")]
        return lines

    def _thoughts(self) -> list[Text]:
        """Return lines with effort, score and expected line of the agent's last search."""
        report = self.report
        if report is None or not report.depth:
            return []
        if report.proven:
            score = f"proven: a {verdict(report)} for it"
        else:
            score = f"score {verdict(report)} for it"
        return [
            Text(f"  {effort(report)}", "dim"),
            Text(f"  {score}", "" if report.proven else "dim"),
            Text(f"  expects {' '.join(report.pv)}", "dim"),
        ]

    def _result(self, game: InteractiveGame) -> list[Text]:
        you_won = game.winner == game.you
        headline = Text("You won!" if you_won else "You lost.", "bold")
        loser = other(game.winner) if game.winner else game.you
        cell = game.position.knight(loser)
        where = f" on {game.position.board.name(cell)}" if cell is not None else ""
        if game.agent_resigned:
            why = f"{game.agent.name} resigned: every line it saw was lost."
        elif game.reason == RESIGNED:
            why = f"You resigned; {game.agent.name} wins."
        elif you_won:
            why = f"{game.agent.name}{where} has no moves left."
        else:
            why = f"Your knight{where} has no moves left."
        return [headline, Text(why)]
