"""``knightfall grade``: how often an agent keeps a won position won."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options.common import Json, board_named, whole
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import columns, console, duration, number, print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from knightfall.oracle.grade import FirstBlunder, Grade, Keeping, Reliability
    from knightfall.oracle.measures import Auc
    from knightfall.statistics.rates import Share

Who = Annotated[str, typer.Argument(metavar="AGENT", help="Who is graded.", show_default=False)]
Openings = Annotated[
    int,
    typer.Option(
        "--openings", metavar="N", parser=whole, help="Games to play, each from another opening."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", parser=whole, help="Which openings are drawn.")
]
Size = Annotated[str, typer.Option("--board", metavar="WxH", help="The board.")]
Workers = Annotated[
    int,
    typer.Option("--workers", metavar="N", parser=whole, help="Processes that share the games."),
]


def grade(
    agent: Who,
    openings: Openings = 50,
    seed: Seed = 0,
    board: Size = "7x7",
    workers: Workers = 1,
    json: Json = False,
) -> None:
    """Grade an agent against the exact truth.

    The agent plays itself from random openings, and the solver judges every move.  What counts is
    how often a won position is kept won where there was a real choice: some moves win, some lose.
    "At random" is what random moves would have kept in the same positions.  Intervals take
    decisions for independent; the standard error knows that those of one game are not, nor those
    of games from mirrored openings.

    A hunter can take escape cells from the other knight, a runner cannot.  In the opening more
    than two thirds of the board are open, in the end not more than a third.

    The second table sorts positions by the agent's own score, proven ones apart, and tells how
    many are really won.  AUC is the chance that a won position scores above a lost one: 1 is an
    oracle, 0.5 a coin.

    The seed draws the openings and nothing else.  Same seed, same numbers, with any number of
    workers; only time budgets do not repeat.

    \b
    Examples:
      knightfall grade "id(improved, nodes=2500)"
      knightfall grade AB_Open --openings 200 --workers 2
      knightfall grade "greedy(mine.py:cosy)" --board 6x6 --json
    """
    from knightfall.agents import agent as ready
    from knightfall.cli.screen.bar import bar
    from knightfall.oracle.grade import grade as judge
    from knightfall.oracle.record import draw_openings

    where = board_named(board)
    draw_openings(where, openings, seed)  # bad numbers are told before anything is compiled
    player = ready(agent)
    with bar("games", openings) as listener:
        result = judge(
            player,
            openings=openings,
            seed=seed,
            board=where,
            workers=workers,
            listener=listener,
        )
    if json:
        print_json(_json(result))
    else:
        _show(result)
        if player.budget.time is not None:
            print("\nA time budget does not repeat exactly: expect slightly different numbers.")
    if result.partial:
        say(f"knightfall: interrupted after {result.games} of {result.openings} games")
        raise typer.Exit(INTERRUPTED)


# -- for people ------------------------------------------------------------------------------


def _show(result: Grade) -> None:
    overall = result.keeping["overall"]
    board = f"{result.board.width}×{result.board.height}"
    games = f"{result.games} {'game' if result.games == 1 else 'games'} against itself"
    if result.partial:
        games = f"PARTIAL: the first {result.games} of {result.openings} games against itself"
    screen = console()
    screen.print(f"{result.player} on {board}, seed {result.seed}", style="bold", soft_wrap=True)
    print(f"{games}, {duration(result.seconds)}")
    print(
        f"{overall.positions:,} positions, {overall.won:,} won for the mover: "
        f"{overall.kept.of:,} with a real choice, {overall.forced:,} without a losing move"
    )
    screen.print("\nKeeps the win", style="bold")
    print_table(_keeping(result.keeping))
    screen.print("\nFirst blunder", style="bold")
    print(_first_blunder(result.first_blunder))
    screen.print("\nScore against truth", style="bold")
    if result.reliability is None:
        print("This agent gives no scores.")
        return
    _show_reliability(result.reliability, "▪" if screen.encoding.startswith("utf") else "#")


def _keeping(rows: dict[str, Keeping]) -> Table:
    table = columns("", "kept", "of", "rate", "95 %", "std. error", "at random")
    for title in table.columns[1:]:
        title.justify = "right"
    for name, row in rows.items():
        table.add_row(
            name,
            f"{row.kept.count:,}",
            f"{row.kept.of:,}",
            _percent(row.kept.rate),
            _interval(row.kept.interval),
            # All or nothing varies nowhere; the interval knows better than an error of 0.
            _percent(row.error or None, 2),
            _percent(row.chance),
        )
    return table


def _first_blunder(first: FirstBlunder) -> str:
    without = first.without
    text = (
        f"none in {without.count} of {without.of} games: {_percent(without.rate)} "
        f"({_interval(without.interval)})"
    )
    if first.quartiles is None:
        return text
    low, median, high = first.quartiles
    return f"{text}\notherwise at move {median:g} (median), half between {low:g} and {high:g}"


def _show_reliability(curve: Reliability, square: str) -> None:
    if curve.bins:
        table = columns("score", "positions", "won", "95 %", "")
        for title in table.columns[:4]:
            title.justify = "right"
        for each in curve.bins:
            rate = each.won.rate or 0.0
            table.add_row(
                _score_range(each.lowest, each.highest),
                f"{each.won.of:,}",
                _percent(rate),
                _interval(each.won.interval),
                square * round(20 * rate),
            )
        print_table(table)
    print(f"AUC {_auc(curve.auc)} over {curve.scored:,} scores")
    if curve.proven.of:
        all_right = curve.proven.count == curve.proven.of
        right = "all of them right" if all_right else f"only {curve.proven.count:,} of them right"
        print(f"and {curve.proven.of:,} proven scores, {right}")


def _auc(auc: Auc | None) -> str:
    if auc is None:
        return "is not defined without won and lost positions"
    if auc.error is None:
        return f"{auc.value:.3f}"
    low, high = auc.interval
    return f"{auc.value:.3f} ± {auc.error:.3f} (95 %: {low:.3f} to {high:.3f})"


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def _interval(ends: tuple[float, float]) -> str:
    return f"{100 * ends[0]:.1f}–{100 * ends[1]:.1f} %"


def _score_range(low: float, high: float) -> str:
    def shown(score: float) -> str:
        return f"{score:.4g}".replace("-", "−").replace("inf", "∞")

    return shown(low) if low == high else f"{shown(low)} to {shown(high)}"


# -- for scripts -----------------------------------------------------------------------------


def _json(result: Grade) -> dict[str, Any]:
    first, curve = result.first_blunder, result.reliability
    return {
        "agent": result.player,
        "board": f"{result.board.width}x{result.board.height}",
        "openings": result.openings,
        "seed": result.seed,
        "games": result.games,
        "partial": result.partial,
        "keeps": {name: _keeping_json(row) for name, row in result.keeping.items()},
        "first_blunder": {
            "games_without": _share_json(first.without),
            "quartiles": first.quartiles,
            "games_by_ply": {str(ply): games for ply, games in first.plies.items()},
        },
        "reliability": None if curve is None else _reliability_json(curve),
        "seconds": result.seconds,
    }


def _share_json(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"count": share.count, "of": share.of, "rate": share.rate, "low": low, "high": high}


def _keeping_json(row: Keeping) -> dict[str, Any]:
    return {
        "positions": row.positions,
        "won": row.won,
        "without_losing_move": row.forced,
        "kept": _share_json(row.kept),
        "standard_error": row.error,
        "at_random": row.chance,
    }


def _reliability_json(curve: Reliability) -> dict[str, Any]:
    auc = None
    if curve.auc is not None:
        low, high = curve.auc.interval
        auc = {
            "value": curve.auc.value,
            "standard_error": curve.auc.error,
            "low": low,
            "high": high,
        }
    return {
        "scored": curve.scored,
        "proven_right": _share_json(curve.proven),
        "auc": auc,
        "bins": [
            {
                "lowest": number(each.lowest),
                "highest": number(each.highest),
                "won": _share_json(each.won),
            }
            for each in curve.bins
        ],
    }
