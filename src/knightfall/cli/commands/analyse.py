"""``knightfall analyse``: what an agent thinks of a position."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.options.common import Fen, Json, agent_named, position_named
from knightfall.cli.screen.output import print_json, report_json, verdict
from knightfall.display.numbers import duration
from knightfall.display.report import print_parts
from knightfall.display.table import facts

DEFAULT = "id(improved, time=300ms)"

By = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Who is to think.")]


def analyse(fen: Fen, agent: By = DEFAULT, json: Json = False) -> None:
    """Ask an agent what it would play, and why.

    The score is for the side to move; a win or loss in so many plies is proven.

    \b
    Examples:
      knightfall analyse "7/7/1N5/7/7/4n2/7 w"
      knightfall analyse --agent "alphabeta(bfs_reach, depth=6)" "7/7/1N5/7/7/4n2/7 w"
    """
    from knightfall.arena.game.agent_process import player
    from knightfall.errors import AgentFailure

    position = position_named(fen)
    thinker = agent_named(agent, quiet=json)
    name = thinker.name if thinker.name == str(thinker) else f"{thinker.name} = {thinker}"
    try:
        report = player(thinker, position.board).analyse(position)
    except AgentFailure as failure:
        if failure.reason != "forfeit":
            raise
        if json:
            print_json({"move": None, "note": str(failure), "agent": thinker.name})
        else:
            print_parts([facts({"agent": name, "move": "none", "note": str(failure)})])
        return
    if json:
        print_json({**report_json(report), "agent": thinker.name})
        return
    rows = {"agent": name, "move": report.move}
    if report.depth or report.nodes:  # it did search
        rows |= {
            "score": verdict(report),
            "line": " ".join(report.pv),
            "depth": f"{report.depth}",
            "nodes": f"{report.nodes:,}",
            "time": duration(report.seconds),
            "speed": f"{report.nodes / max(report.seconds, 1e-9):,.0f} nodes a second",
        }
    if report.cut:
        rows["cut"] = f"{report.cut:,} evaluations ran out of steps: they are not exact"
    if report.note:
        rows["note"] = report.note
    print_parts([facts(rows)])
