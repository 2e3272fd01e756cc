"""``knightfall runs replay``: show a stored game move by move."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options import LAST, Json, StorePath, reading
from knightfall.cli.terminal import console, effort, print_json, verdict
from knightfall.display.numbers import for_json
from knightfall.errors import KnightfallError
from knightfall.isolation.sigint import enable_keyboard_interrupt

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from knightfall.arena.plan import GameRecord
    from knightfall.notation import Scoresheet
    from knightfall.position import Position, Side
    from knightfall.search.budget import Report

LONGEST = 3600
LOST: dict[str, str] = {
    "no moves": "has no moves left",
    "timeout": "answered too late",
    "forfeit": "gave up",
    "illegal": "answered with no legal move",
    "crash": "failed",
}
"""What happened to the loser, by the stored reason."""


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s)", text, re.ASCII)
    if match:
        seconds = float(match[1]) / (1000 if match[2] == "ms" else 1)
        if seconds <= LONGEST:
            return seconds
    raise KnightfallError(f"--delay {text!r} is not a time of up to an hour, as in 0.5s or 200ms")


WhichGame = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="The game's name, as listed by runs games; last is the first game of the last pair.",
    ),
]
Delay = Annotated[
    str, typer.Option("--delay", metavar="TIME", help="Time between moves, as in 0.5s or 200ms.")
]


def replay(
    game: WhichGame = LAST, delay: Delay = "0.5s", store: StorePath = None, json: Json = False
) -> None:
    """Watch a stored game again.

    Without a name it is the first game of the last pair of the last run.  On a terminal the board
    is redrawn after each move, with the agent's score for itself, the depth and nodes of its
    search, and its time if it was measured.  Elsewhere a line is printed for each move.

    \b
    Examples:
      knightfall runs replay
      knightfall runs replay 3.17.0
      knightfall runs replay last.0.1 --delay 2s
      knightfall runs replay 3.17.0 --json | knightfall annotate -
    """
    from knightfall.arena.stored_games import find_game, scoresheet

    pause = _seconds(delay)
    with reading(store) as opened:
        run, pair, which = find_game(opened, game)
        record = run.pair(pair)
        sheet = scoresheet(run.plan, record, which)
    id, seats = f"{run.id}.{pair}.{which}", record.task.seats(which)
    played = _Played(id, sheet, seats, record.games[which], record.task.seed)
    if json:
        print_json(_json(played))
        return
    screen = console()
    if screen.is_terminal:
        _animate(played, screen, pause)
    else:
        _print(played, screen)


@dataclass
class _Played:
    """A stored game with its name, moves, agents, record and seed."""

    id: str
    sheet: Scoresheet
    agents: dict[Side, str]
    record: GameRecord
    seed: int

    @property
    def reports(self) -> list[Report]:
        """The search report of each move."""
        from knightfall.search.budget import Report

        columns = (self.record.column(name) for name in ("scores", "depths", "nodes"))
        seconds = self.record.column("microseconds") / 1e6
        return [
            Report(move, score, math.isinf(score), None, depth, nodes, took, ())
            for move, score, depth, nodes, took in zip(
                self.sheet.moves,
                *(column.tolist() for column in columns),
                seconds.tolist(),
                strict=True,
            )
        ]

    @property
    def ending(self) -> list[str]:
        """A line with the winner, and a line with the reason."""
        from knightfall.position import other

        winner = self.record.winner
        loser = self.sheet.name(other(winner))
        detail = f": {self.record.detail}" if self.record.detail else "."
        return [f"{self.sheet.name(winner)} won", f"{loser} {LOST[self.record.reason]}{detail}"]


# -- for people ------------------------------------------------------------------------------


def _players(played: _Played, screen: Console) -> list[Text]:
    from rich.text import Text

    from knightfall.cli.board_drawing import knight

    sides: tuple[Side, Side] = ("w", "b")
    return [
        Text(" ").join([knight(screen, side), Text(played.sheet.name(side) or side)])
        for side in sides
    ]


def _animate(played: _Played, screen: Console, delay: float) -> None:
    from rich.live import Live
    from rich.text import Text

    from knightfall.cli.board_drawing import knight, show

    enable_keyboard_interrupt()
    easel = console()  # captures a drawing, which Live then shows in a fixed place
    line, reports = played.sheet.positions, played.reports
    title = Text(f"Game {played.id}", "bold")
    above = [title, *_players(played, screen), Text()]

    def shown(position: Position, below: list[Text]) -> Text:
        with easel.capture() as picture:
            show(position, easel, [*above, *below])
        return Text.from_ansi(picture.get().rstrip("\n"))

    try:
        with Live(shown(line[0], []), console=screen, auto_refresh=False) as live:
            below: list[Text] = []
            for ply, (before, after, report) in enumerate(
                zip(line[:-1], line[1:], reports, strict=True), start=1
            ):
                _wait(delay)
                move = Text(f"{ply}. ").append_text(knight(screen, before.to_move))
                below = [move.append(f" {report.move}", "bold")]
                if report.depth:
                    below += [Text(f"score {verdict(report)}"), Text(effort(report), "dim")]
                live.update(shown(after, below), refresh=True)
            headline, why = played.ending
            end = [Text(), Text(headline, "bold"), Text(why)]
            live.update(shown(line[-1], [*below, *end]), refresh=True)
    finally:
        screen.show_cursor()  # Ctrl-C may come before Live shows it again


def _wait(seconds: float) -> None:
    """Sleep in short steps, so that Ctrl-C just before a step is noticed after 0.1 s."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.1))


def _print(played: _Played, screen: Console) -> None:
    from rich.text import Text

    from knightfall.cli.board_drawing import knight

    for text in _players(played, screen):
        screen.print(text, soft_wrap=True)
    screen.print(f"from {played.sheet.start.fen}\n", soft_wrap=True)
    for ply, (position, report) in enumerate(
        zip(played.sheet.positions[:-1], played.reports, strict=True), start=1
    ):
        row = Text(f"{ply:>3}. ").append_text(knight(screen, position.to_move))
        row.append(f" {report.move:<4}", "bold")
        if report.depth:
            row.append(f"{verdict(report):>10}  {effort(report)}")
        screen.print(row, soft_wrap=True)
    headline, why = played.ending
    screen.print(f"\n{headline}: {why}", soft_wrap=True)


# -- for scripts -----------------------------------------------------------------------------


def _json(played: _Played) -> dict[str, Any]:
    return {
        "game": played.id,
        "first": played.agents["w"],
        "second": played.agents["b"],
        **played.sheet.to_dict(),
        "detail": played.record.detail,
        "seed": played.seed,
        "thinking": [
            {
                "move": report.move,
                "score": for_json(report.score),
                "depth": report.depth,
                "nodes": report.nodes,
                "seconds": report.seconds or None,
            }
            for report in played.reports
        ],
    }
