"""``knightfall runs games`` and ``annotate``: list the games of a run; judge a game's moves."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options import (
    Json,
    RunName,
    StorePath,
    SvgChart,
    check_svg,
    find_run,
    reading,
    some,
    store_path,
    whole_number,
)
from knightfall.cli.terminal import INTERRUPTED, console, print_json, print_line, print_report, say
from knightfall.errors import KnightfallError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knightfall.arena.plan import Entrant
    from knightfall.arena.store import StoredGame


NUMBERS = 31
"""Width of the columns result, reason and plies, with the gaps between all columns."""
SHORTEST = 8
"""The shortest that a long name is cut to on a narrow terminal."""

WonBy = Annotated[
    str | None, typer.Option("--won-by", metavar="AGENT", help="Only games that this agent won.")
]
LostBy = Annotated[
    str | None, typer.Option("--lost-by", metavar="AGENT", help="Only games that this agent lost.")
]
Why = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="R",
        help="Only games lost for this reason: no moves, timeout, forfeit, illegal or crash.",
    ),
]
Limit = Annotated[int | None, whole_number("--limit", "Show at most this many games.", least=0)]


def games(
    run: RunName = "last",
    won_by: WonBy = None,
    lost_by: LostBy = None,
    reason: Why = None,
    limit: Limit = None,
    store: StorePath = None,
    json: Json = False,
) -> None:
    """List the games of a run.

    Each game has a name such as 3.17.0: run 3, pair 17, the first of its two games.  A pair is two
    games from one opening, with the seats swapped.  --json prints a line of JSON for each game.

    \b
    Examples:
      knightfall runs games
      knightfall runs games 3 --lost-by AB_Improved --limit 10
      knightfall runs games last --reason timeout --json
    """
    from knightfall.arena.report_statistics import shortened

    with reading(store) as opened:
        found = find_run(opened, run)
        entrants = found.plan.entrants
        lines = found.games(
            won_by=_numbers(entrants, won_by, "--won-by"),
            lost_by=_numbers(entrants, lost_by, "--lost-by"),
            reason=_reason(reason),
            limit=limit,
        )
        if json:
            for line in lines:
                print_json(_json(line, entrants))
            return
        id = max(len("game"), len(f"{found.id}.{found.played}.0"))
        name = max(len("second"), *(len(entrant.name) for entrant in entrants))
        screen = console()
        if screen.is_terminal:
            rest = id + NUMBERS + max(map(len, found.plan.starts))
            name = min(name, max(SHORTEST, (screen.width - rest) // 2))
        names = [shortened(entrant.name, name) for entrant in entrants]
        shape = f"{{:<{id}}}  {{:<{name}}}  {{:<{name}}}  {{:<6}}  {{:<8}}  {{:>5}}  {{}}"
        print_line(shape.format("game", "first", "second", "result", "reason", "plies", "opening"))
        for line in lines:
            first, second = names[line.first], names[line.second]
            result = "1-0" if line.winner == "w" else "0-1"
            note = "" if line.repeats is None else f"  (repeats pair {line.repeats})"
            opening = line.opening + note
            print_line(
                shape.format(line.id, first, second, result, line.reason, line.plies, opening)
            )


def _numbers(entrants: Sequence[Entrant], who: str | None, option: str) -> list[int] | None:
    """Return the numbers of the entrants with this name or agent string; None if `who` is None."""
    from knightfall.arena.plan import enter

    if who is None:
        return None
    called = {who}
    with suppress(KnightfallError):  # id(main) is id(main, nodes=2500)
        called.add(enter([who])[0].agent)
    found = [at for at, each in enumerate(entrants) if called & {each.name, each.agent}]
    if not found:
        names = [entrant.name for entrant in entrants]
        raise KnightfallError(
            f"{option} {who!r} did not play in this run{nearest(who, names)} "
            f"(its agents are {some([repr(name) for name in names])}; knightfall runs show lists "
            "them all)"
        )
    return found


def _reason(text: str | None) -> Any:
    from knightfall.arena.plan import REASONS

    if text is not None and text not in REASONS:
        raise KnightfallError(f"--reason {text!r} is not one of {', '.join(REASONS)}")
    return text


def _json(line: StoredGame, entrants: Sequence[Entrant]) -> dict[str, Any]:
    return {
        "game": line.id,
        "first": entrants[line.first].name,
        "second": entrants[line.second].name,
        "winner": line.winner,
        "reason": line.reason,
        "plies": line.plies,
        "opening": line.opening,
        "hunter": line.hunter,
        "seed": line.seed,
        "repeats": line.repeats,
    }


# -- annotate ---------------------------------------------------------------------------------


WhichGame = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="Moves in quotes, a file, a game's name (4.0.0), 'last', or '-' for stdin.",
    ),
]


def annotate(
    game: WhichGame, chart: SvgChart = None, store: StorePath = None, json: Json = False
) -> None:
    """Judge every move of a game with the exact solver.

    A game is given as its placements and moves in order, after a FEN unless it began on an empty
    7×7 board; as a saved game; as a stored game, by its name; or as the output of watch --json.
    last is the newest saved game or, if a run is newer, the first game of that run's last pair.
    Each move keeps a win or gives it away; then the moves that kept it are listed.  Moves in lost
    positions, or where every move wins, are not judged.  The chart shows who was winning after each
    ply.

    Judging starts at the end of the game; after Ctrl-C the moves judged so far are shown.

    \b
    Examples:
      knightfall annotate "b5 e2 d4 f4 e6 d3"
      knightfall annotate "5/5/2N2/5/n4 w e4 b3" --chart swing.svg
      knightfall annotate last
      knightfall annotate 4.0.0
      knightfall watch AB_Improved MM_Open --json | knightfall annotate -
    """
    from knightfall.notation import read_game
    from knightfall.oracle.annotate import annotate as judge
    from knightfall.user_folders import atomic_write

    check_svg(chart)
    given = read_game(sys.stdin.read()) if game == "-" else game
    annotation = judge(given, store=store_path(store))
    if chart is not None:
        atomic_write(chart, annotation.to_svg())
    print_report(annotation, json=json)
    if annotation.partial:
        say("knightfall: interrupted: not every move is judged")
        raise typer.Exit(INTERRUPTED)
