"""``knightfall solve``: the exact value of a position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options.common import Fen, Json, TableMb, Threads, position_named, whole
from knightfall.cli.screen.output import duration, facts, print_json, print_table

if TYPE_CHECKING:
    from knightfall.position import Position
    from knightfall.solver.solve import Progress, Solution

PLAYER = {"w": "the first player (N)", "b": "the second player (n)"}
NO_WINNER = "unknown"

NoDistance = Annotated[
    bool, typer.Option("--no-distance", help="Only who wins and with which moves: faster.")
]
NoAtlas = Annotated[bool, typer.Option("--no-atlas", help="Search even what is stored.")]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", metavar="N", parser=whole, help="Give up after so many nodes."),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="Give up after so long, as in 150ms or 10s."),
]


def solve(
    fen: Fen,
    no_distance: NoDistance = False,
    no_atlas: NoAtlas = False,
    threads: Threads = 1,
    table_mb: TableMb = None,
    nodes: Nodes = None,
    time: Time = None,
    json: Json = False,
) -> None:
    """Find out who wins, with which moves and how soon.

    The value of best play: the winner hurries, the loser holds out.  Openings of the boards in
    the atlas are looked up, everything else is searched; Ctrl-C ends a long search with what is
    known by then.  Knights still to be placed are fine, too: if a side of the empty board is even,
    the second player wins by reflection, and on boards of more than 49 cells nothing else is
    searched for without --time or --nodes.

    \b
    Examples:
      knightfall solve "7/7/1N5/7/7/4n2/7 w"
      knightfall solve --no-atlas --threads 2 "7/7/1N5/7/7/4n2/7 w"
      knightfall solve "8/8/8/8/8/8/8/8[Nn] w"
      knightfall solve --no-distance "8/8/1N6/8/8/4n3/8/8 w" --time 30s
    """
    from knightfall.cli.screen.progress import ticker
    from knightfall.search.budget import parse_budget
    from knightfall.solver.engine import TABLE_MB
    from knightfall.solver.solve import solve

    position = position_named(fen)
    seconds = None if time is None else parse_budget({"time": time}).seconds
    with ticker() as tick:
        solution = solve(
            position,
            distance=not no_distance,
            atlas=not no_atlas,
            threads=threads,
            table_mb=TABLE_MB if table_mb is None else table_mb,
            nodes=nodes,
            seconds=seconds,
            on_progress=lambda progress: tick(_line(progress)),
        )
    if json:
        print_json(solution_json(solution))
    else:
        print_table(facts(_rows(position, solution, not no_distance)))
    if solution.interrupted:
        raise KeyboardInterrupt


def solution_json(solution: Solution) -> dict[str, Any]:
    """A solution as JSON; what is not known is null."""
    winning = solution.winning_moves
    return {
        "winner": solution.winner,
        "winning_moves": None if winning is None else list(winning),
        "plies": solution.plies,
        "pv": list(solution.pv),
        "nodes": solution.nodes,
        "seconds": solution.seconds,
        "at_least": solution.at_least,
        "known_wins": list(solution.known_wins),
        "from_atlas": solution.from_atlas,
        "by_reflection": solution.by_reflection,
    }


def _line(progress: Progress) -> str:
    parts = [progress.stage]
    if progress.winner is not None:
        parts.append(f"{PLAYER[progress.winner]} wins")
    if progress.at_least:
        parts.append(f"not before ply {progress.at_least}")
    speed = progress.nodes / max(progress.seconds, 1e-9)
    parts += [
        f"{progress.nodes:,} nodes",
        f"{speed / 1e6:.0f} million a second",
        f"table {progress.fill:.0%} full",
        f"{progress.seconds:.0f} s",
    ]
    return " · ".join(parts)


def _rows(position: Position, solution: Solution, distance: bool) -> dict[str, str]:
    winner, winning = solution.winner, solution.winning_moves
    rows = {"winner": NO_WINNER if winner is None else PLAYER[winner]}
    if solution.plies is not None:
        rows["plies"] = f"{solution.plies}"
    elif distance and solution.at_least:
        rows["plies"] = f"at least {solution.at_least}"
    elif distance and solution.by_reflection and not solution.nodes:
        rows["plies"] = "unknown (not searched for without --time or --nodes)"
    elif distance:
        rows["plies"] = NO_WINNER
    moves = len(position.legal_moves)
    if winning is None and solution.known_wins:
        rows["moves"] = f"{' '.join(solution.known_wins)} (which others win is unknown)"
    elif winning is None:
        rows["moves"] = "which moves win is unknown"
    elif winning:
        rows["moves"] = f"{' '.join(winning)} ({len(winning)} of {moves} win)"
    elif moves:
        rows["moves"] = f"none of {moves} wins"
    else:
        rows["moves"] = "none: the game is over"
    if solution.pv:
        rows["line"] = " ".join(solution.pv)
    if solution.from_atlas and not solution.nodes:
        rows["source"] = "the atlas"
    elif solution.by_reflection:
        rows["source"] = "reflection: the winner mirrors each move in the board's centre"
    if not solution.from_atlas or solution.nodes:
        rows["nodes"] = f"{solution.nodes:,}"
    rows["time"] = duration(solution.seconds)
    return rows
