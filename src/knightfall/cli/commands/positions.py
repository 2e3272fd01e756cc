"""``knightfall analyse``, ``solve`` and ``perft``: questions about one position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.options import (
    Fen,
    Json,
    TableMb,
    agent_named,
    position_named,
    whole,
    whole_number,
)
from knightfall.cli.terminal import print_json, print_line, print_report, report_json, verdict
from knightfall.display.numbers import duration
from knightfall.display.report import print_parts
from knightfall.display.table import facts
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.position import Position


# -- perft ------------------------------------------------------------------------------------


Depth = Annotated[
    int, typer.Argument(metavar="DEPTH", parser=whole, help="Depth in plies, 0 or more.")
]

AT_ONCE = 10
"""Plies that perft counts in one compiled call of some milliseconds, before it sees Ctrl-C."""


def perft(fen: Fen, depth: Depth, json: Json = False) -> None:
    """Count the lines of play of a given length.

    Every line of exactly DEPTH plies counts once: a check of the rules, and of their speed.

    \b
    Examples:
      knightfall perft "7/7/1N5/7/7/4n2/7 w" 8
      knightfall perft --json 4x4 5
    """
    nodes = _count(position_named(fen), depth)
    if json:
        print_json({"nodes": nodes})
    else:
        print_line(f"{nodes:,}")


def _count(position: Position, depth: int) -> int:
    """Count the first plies in Python, where Ctrl-C works, and the last ones in the kernel."""
    from knightfall.kernel.rules import perft_of

    if depth <= 1 or (position.placed and depth <= AT_ONCE):
        return perft_of(position, depth)
    return sum(_count(position.play(move), depth - 1) for move in position.legal_moves)


# -- analyse ----------------------------------------------------------------------------------


DEFAULT = "id(improved, time=300ms)"

By = Annotated[
    str, typer.Option("--agent", metavar="AGENT", help="The agent whose choice is shown.")
]
NoAgent = Annotated[
    bool, typer.Option("--no-agent", help="Only list the legal moves; no agent is asked.")
]


def analyse(fen: Fen, agent: By = DEFAULT, no_agent: NoAgent = False, json: Json = False) -> None:
    """List the legal moves, and what an agent would play and why.

    The score is for the side to move; a win or loss in a number of plies is proven.

    \b
    Examples:
      knightfall analyse "7/7/1N5/7/7/4n2/7 w"
      knightfall analyse --agent "alphabeta(bfs_reach, depth=6)" "7/7/1N5/7/7/4n2/7 w"
      knightfall analyse --no-agent "7/7/7/3N3/7/7/7[n] b"
    """
    position = position_named(fen)
    legal = position.legal_moves
    if no_agent:
        if agent != DEFAULT:
            raise KnightfallError(f"--agent {agent} and --no-agent: choose one")
        if json:
            print_json({"moves": list(legal)})
        else:
            print_line(" ".join(legal) or "no legal moves: the game is over")
        return
    from knightfall.agents.remote_player import player
    from knightfall.errors import AgentFailure

    thinker = agent_named(agent, quiet=json)
    name = thinker.name if thinker.name == str(thinker) else f"{thinker.name} = {thinker}"
    try:
        report = player(thinker, position.board).analyse(position)
    except AgentFailure as failure:
        if failure.reason != "forfeit":
            raise
        if json:
            told = {"move": None, "note": str(failure), "agent": thinker.name}
            print_json({**told, "moves": list(legal)})
        else:
            shown = {"moves": " ".join(legal), "agent": name, "move": "none", "note": str(failure)}
            print_parts([facts(shown)])
        return
    if json:
        print_json({**report_json(report), "agent": thinker.name, "moves": list(legal)})
        return
    rows = {"moves": " ".join(legal), "agent": name, "move": report.move}
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


# -- solve ------------------------------------------------------------------------------------


NoDistance = Annotated[
    bool,
    typer.Option(
        "--no-distance", help="Find only who wins and with which moves, not in how many: faster."
    ),
]
NoAtlas = Annotated[
    bool, typer.Option("--no-atlas", help="Search even openings that are in the atlas.")
]
Nodes = Annotated[int | None, whole_number("--nodes", "Stop after this many nodes.", least=0)]
SolverWorkers = Annotated[int, whole_number("--workers", "Threads that search together.")]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Stop after this time, as in 150ms or 10s."),
]


def solve(
    fen: Fen,
    no_distance: NoDistance = False,
    no_atlas: NoAtlas = False,
    workers: SolverWorkers = 1,
    table_mb: TableMb = None,
    nodes: Nodes = None,
    time: Time = None,
    json: Json = False,
) -> None:
    """Find who wins with best play, with which moves and how soon.

    The winner plays for the shortest game, the loser for the longest.  Openings of boards in the
    atlas are looked up, other positions are searched; Ctrl-C ends a long search and shows what is
    known so far.  Knights may still be unplaced: if a side of the empty board is even, the second
    player wins by reflection; other empty boards of more than 49 cells need --time or --nodes.

    \b
    Examples:
      knightfall solve "7/7/1N5/7/7/4n2/7 w"
      knightfall solve --no-atlas --workers 2 "7/7/1N5/7/7/4n2/7 w"
      knightfall solve "8/8/8/8/8/8/8/8[Nn] w"
      knightfall solve --no-distance "8/8/1N6/8/8/4n3/8/8 w" --time 30s
    """
    from knightfall.search.budget import parse_budget
    from knightfall.solver.engine import TABLE_MB
    from knightfall.solver.solve import solve

    solution = solve(
        position_named(fen),
        distance=not no_distance,
        atlas=not no_atlas,
        threads=workers,
        table_mb=TABLE_MB if table_mb is None else table_mb,
        nodes=nodes,
        seconds=None if time is None else parse_budget({"time": time}).seconds,
    )
    print_report(solution, json=json)
    if solution.interrupted:
        raise KeyboardInterrupt
