"""``knightfall watch``: two agents play each other."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from knightfall.cli.options import (
    Json,
    MaybeFen,
    agent_argument,
    agent_named,
    position_named,
    whole_number,
)
from knightfall.cli.terminal import console, effort, print_json, report_json, verdict

if TYPE_CHECKING:
    from rich.console import Console

    from knightfall.agents import Agent
    from knightfall.notation import Scoresheet
    from knightfall.position import Position, Side
    from knightfall.search.budget import Report

First = Annotated[str, agent_argument("FIRST", "The first player, N.")]
Second = Annotated[str, agent_argument("SECOND", "The second player, n.")]
Seed = Annotated[
    int, whole_number("--seed", "Seed of the placement, and of agents that name no seed.", least=0)
]


def watch(
    first: First, second: Second, fen: MaybeFen = None, seed: Seed = 0, json: Json = False
) -> None:
    """Watch two agents play each other.

    Without a FEN the knights are placed at random, from the seed.

    \b
    Examples:
      knightfall watch AB_Improved MM_Open
      knightfall watch "id(bfs_reach, nodes=2500)" "greedy(improved)" --seed 7
      knightfall watch random random 5x5 --json
    """
    from knightfall.agents.remote_player import players as ready
    from knightfall.errors import AgentFailure
    from knightfall.notation import RESIGNED, Scoresheet
    from knightfall.position import other

    start = _placement(seed) if fen is None else position_named(fen)
    players: dict[Side, Agent] = {
        "w": _player(first, seed, quiet=json),
        "b": _player(second, seed, quiet=json or first == second),
    }
    asked = dict(zip(players, ready(players.values(), start.board), strict=True))
    view: _JsonView | _TextView = _JsonView() if json else _TextView(console())
    view.begin(start, players)
    position = start
    moves: list[str] = []
    while position.winner is None:
        side = position.to_move
        try:
            report = asked[side].analyse(position)
        except AgentFailure as failure:
            if failure.reason != "forfeit":
                raise
            resigned = Scoresheet.played(start, moves, other(side), RESIGNED)
            view.over(resigned, players)
            return
        position = position.play(report.move)
        moves.append(report.move)
        view.moved(len(moves), side, report)
    view.over(Scoresheet.played(start, moves), players)


def _player(text: str, seed: int, *, quiet: bool) -> Agent:
    """Return the agent of a string, with this seed unless the string names one."""
    agent = agent_named(text, quiet=quiet)
    if not re.search(r"[(,]\s*seed\s*=", text):
        agent = replace(agent, seed=seed)
    return agent


def _placement(seed: int) -> Position:
    from knightfall.position import Position

    rng = random.Random(seed)
    position = Position.start()
    for _ in range(2):
        position = position.play(rng.choice(position.legal_moves))
    return replace(position, last=None)


class _JsonView:
    """Print the whole game as one JSON object, at its end."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def begin(self, start: Position, players: dict[Side, Agent]) -> None:
        pass

    def moved(self, number: int, side: Side, report: Report) -> None:
        self.reports.append(report_json(report))

    def over(self, game: Scoresheet, players: dict[Side, Agent]) -> None:
        who = {"first": str(players["w"]), "second": str(players["b"])}
        print_json({**who, **game.to_dict(), "thinking": self.reports})


class _TextView:
    """Print a line for each move, then the final board."""

    def __init__(self, screen: Console) -> None:
        self.screen = screen

    def begin(self, start: Position, players: dict[Side, Agent]) -> None:
        from rich.text import Text

        from knightfall.cli.board_drawing import knight

        for side, agent in players.items():
            shown = agent.name if agent.name == str(agent) else f"{agent.name} = {agent}"
            self.screen.print(Text(" ").join([knight(self.screen, side), Text(shown)]))
        self.screen.print(f"from {start.fen}\n")

    def moved(self, number: int, side: Side, report: Report) -> None:
        from rich.text import Text

        from knightfall.cli.board_drawing import knight

        line = Text(f"{number:>3}. ")
        line.append_text(knight(self.screen, side)).append(f" {report.move:<4}", "bold")
        if report.depth:
            line.append(f"{verdict(report):>16}  {effort(report):<36}")
            line.append("  " + " ".join(report.pv), "dim")
        if self.screen.is_terminal:
            line.truncate(self.screen.width, overflow="ellipsis")
        self.screen.print(line, soft_wrap=True)

    def over(self, game: Scoresheet, players: dict[Side, Agent]) -> None:
        from rich.text import Text

        from knightfall.cli.board_drawing import knight, show

        winner, loser = game.winner or "w", game.loser or "b"
        self.screen.print()
        headline = Text(" ").join(
            [knight(self.screen, winner), Text(f"{players[winner].name} won", "bold")]
        )
        aside = [headline, Text(f"{players[loser].name} has {game.reason}."), Text()]
        show(game.final, self.screen, [*aside, Text(f"Moves: {' '.join(game.moves)}")])
