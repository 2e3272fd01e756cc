"""Views of games: of a person against an agent, of two agents, and of a stored game.

In a game of a person, every line of JSON is an object with an ``event``: ``begin``, ``state`` (your
turn), ``move`` (the agent's), ``hint``, ``undo``, ``help``, ``error``, ``over`` and ``saved``.
Input lines are the words a person would type.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rich.text import Text

from knightfall.cli.board_drawing import knight, show
from knightfall.cli.terminal import console, effort, print_json, print_line, report_json, verdict
from knightfall.display.report import show as show_parts
from knightfall.display.table import facts
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.notation import RESIGNED, SEAT
from knightfall.position import Position, Side, other

if TYPE_CHECKING:
    from rich.console import Console

    from knightfall.agents import Agent
    from knightfall.arena.stored_games import PlayedGame
    from knightfall.cli.interactive_game import InteractiveGame
    from knightfall.notation import Scoresheet
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
        """Return the next line of input; raise EOFError at the end of input."""
        return input()

    def thinking(self, who: str) -> AbstractContextManager[Any]:
        return nullcontext()

    def answered(self, game: InteractiveGame, report: Report) -> None:
        """Receive the agent's move, which is played already, to show it now or with the board."""
        print_json({"event": "move", **report_json(report), "fen": game.position.fen})

    def advise(self, report: Report) -> None:
        print_json({"event": "hint", **report_json(report)})

    def took_back(self, game: InteractiveGame, moves: list[str]) -> None:
        """Show the moves that were taken back; the list is empty if there were none."""
        if moves:
            print_json({"event": "undo", "taken": moves})
        else:
            print_json({"event": "error", "message": "there is nothing to take back"})

    def show_fen(self, game: InteractiveGame) -> None:
        self.your_turn(game)

    def show_words(self) -> None:
        print_json({"event": "help", "words": WORDS})

    def wrong(self, game: InteractiveGame, word: str) -> None:
        """Refuse input that is neither a legal move nor one of `WORDS`."""
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
        """Show the command `resume`, which resumes the game; it is None if saving failed."""
        if resume is None:
            print_json({"event": "error", "message": "the game could not be saved"})
        else:
            print_json({"event": "saved", "file": str(game.file), "resume": f"{resume} --json"})


# -- for a person ------------------------------------------------------------------------------


class TerminalView:
    """Draw the board on a terminal, and ask at a prompt; the methods are those of `JsonView`."""

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


# -- a game of two agents -----------------------------------------------------------------------


def introduce(screen: Console, start: Position, players: dict[Side, Agent]) -> None:
    """Print the players and the first position."""
    for side, agent in players.items():
        shown = agent.name if agent.name == str(agent) else f"{agent.name} = {agent}"
        screen.print(Text(" ").join([knight(screen, side), Text(shown)]))
    screen.print(f"from {start.fen}\n")


def print_move(screen: Console, number: int, side: Side, report: Report) -> None:
    """Print a line with a move and its search."""
    line = _move(screen, number, side, report)
    if report.depth:
        line.append(f"{verdict(report):>16}  {effort(report):<36}")
        line.append("  " + " ".join(report.pv), "dim")
    if screen.is_terminal:
        line.truncate(screen.width, overflow="ellipsis")
    screen.print(line, soft_wrap=True)


def _move(screen: Console, number: int, side: Side, report: Report) -> Text:
    line = Text(f"{number:>3}. ").append_text(knight(screen, side))
    return line.append(f" {report.move:<4}", "bold")


def print_result(screen: Console, game: Scoresheet, players: dict[Side, Agent]) -> None:
    """Print the winner and the final board."""
    winner, loser = game.winner or "w", game.loser or "b"
    screen.print()
    headline = Text(" ").join([knight(screen, winner), Text(f"{players[winner].name} won", "bold")])
    aside = [headline, Text(f"{players[loser].name} has {game.reason}."), Text()]
    show(game.final, screen, [*aside, Text(f"Moves: {' '.join(game.moves)}")])


# -- a stored game -------------------------------------------------------------------------------


LOST: dict[str, str] = {
    "no moves": "has no moves left",
    "timeout": "answered too late",
    "forfeit": "gave up",
    "illegal": "answered with no legal move",
    "crash": "failed",
}
"""What happened to the loser, by the stored reason."""


def _ending(played: PlayedGame) -> list[str]:
    """Return a line with the winner, and a line with the reason."""
    winner, loser = played.winner or "w", played.loser or "b"
    detail = f": {played.tags['Detail']}" if "Detail" in played.tags else "."
    lost = LOST[played.reason or "no moves"]
    return [f"{played.name(winner)} won", f"{played.name(loser)} {lost}{detail}"]


def _names(played: PlayedGame, screen: Console) -> list[Text]:
    return [
        Text(" ").join([knight(screen, side), Text(played.name(side) or side)]) for side in SEAT
    ]


def animate(id: str, played: PlayedGame, screen: Console, delay: float) -> None:
    """Redraw the board on a terminal after each move, `delay` seconds apart."""
    from rich.live import Live

    enable_keyboard_interrupt()
    easel = console()  # captures a drawing, which Live then shows in a fixed place
    line = played.positions
    above = [Text(f"Game {id}", "bold"), *_names(played, screen), Text()]

    def shown(position: Position, below: list[Text]) -> Text:
        with easel.capture() as picture:
            show(position, easel, [*above, *below])
        return Text.from_ansi(picture.get().rstrip("\n"))

    try:
        with Live(shown(line[0], []), console=screen, auto_refresh=False) as live:
            below: list[Text] = []
            for ply, report in enumerate(played.reports, start=1):
                _wait(delay)
                move = Text(f"{ply}. ").append_text(knight(screen, line[ply - 1].to_move))
                below = [move.append(f" {report.move}", "bold")]
                if report.depth:
                    below += [Text(f"score {verdict(report)}"), Text(effort(report), "dim")]
                live.update(shown(line[ply], below), refresh=True)
            headline, why = _ending(played)
            end = [Text(), Text(headline, "bold"), Text(why)]
            live.update(shown(line[-1], [*below, *end]), refresh=True)
    finally:
        screen.show_cursor()  # Ctrl-C may come before Live shows it again


def _wait(seconds: float) -> None:
    """Sleep in short steps, so that Ctrl-C just before a step is noticed after 0.1 s."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.1))


def print_moves(played: PlayedGame, screen: Console) -> None:
    """Print the players and a line for each move."""
    for text in _names(played, screen):
        screen.print(text, soft_wrap=True)
    screen.print(f"from {played.start.fen}\n", soft_wrap=True)
    for ply, report in enumerate(played.reports, start=1):
        row = _move(screen, ply, played.positions[ply - 1].to_move, report)
        if report.depth:
            row.append(f"{verdict(report):>10}  {effort(report)}")
        screen.print(row, soft_wrap=True)
    headline, why = _ending(played)
    screen.print(f"\n{headline}: {why}", soft_wrap=True)
