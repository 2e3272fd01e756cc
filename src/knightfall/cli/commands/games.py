"""``knightfall runs games``, ``runs replay`` and ``annotate``: commands about single games."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options import (
    LAST,
    Json,
    RunName,
    StorePath,
    SvgChart,
    check_svg,
    reading,
    store_path,
    whole_number,
)
from knightfall.cli.terminal import (
    INTERRUPTED,
    console,
    print_json,
    print_line,
    print_report,
    say,
)
from knightfall.display.numbers import for_json, some
from knightfall.errors import KnightfallError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knightfall.arena.plan import Entrant
    from knightfall.arena.store import StoredGame
    from knightfall.arena.stored_games import PlayedGame
    from knightfall.position import Side

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
    run: RunName = LAST,
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
    from knightfall.arena.plan import REASONS
    from knightfall.arena.report_statistics import shortened
    from knightfall.arena.stored_games import find_run

    if reason is not None and reason not in REASONS:
        raise KnightfallError(f"--reason {reason!r} is not one of {', '.join(REASONS)}")
    with reading(store) as opened:
        found = find_run(opened, run)
        entrants = found.plan.entrants
        lines = found.games(
            won_by=_numbers(entrants, won_by, "--won-by"),
            lost_by=_numbers(entrants, lost_by, "--lost-by"),
            reason=reason,
            limit=limit,
        )
        if json:
            for line in lines:
                print_json(_line_json(line, entrants))
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


def _line_json(line: StoredGame, entrants: Sequence[Entrant]) -> dict[str, Any]:
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


# -- replay -----------------------------------------------------------------------------------


LONGEST = 3600


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s)", text, re.ASCII)
    if match:
        seconds = float(match[1]) / (1000 if match[2] == "ms" else 1)
        if seconds <= LONGEST:
            return seconds
    raise KnightfallError(f"--delay {text!r} is not a time of up to an hour, as in 0.5s or 200ms")


StoredName = Annotated[
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
    game: StoredName = LAST, delay: Delay = "0.5s", store: StorePath = None, json: Json = False
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
        played = scoresheet(run.plan, record, which)
    id = f"{run.id}.{pair}.{which}"
    if json:
        print_json(_game_json(id, played, record.task.seats(which)))
        return
    from knightfall.cli.game_views import animate, print_moves

    screen = console()
    if screen.is_terminal:
        animate(id, played, screen, pause)
    else:
        print_moves(played, screen)


def _game_json(id: str, played: PlayedGame, agents: dict[Side, str]) -> dict[str, Any]:
    return {
        "game": id,
        "first": agents["w"],
        "second": agents["b"],
        **played.to_dict(),
        "detail": played.tags.get("Detail", ""),
        "seed": int(played.tags["Seed"]),
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
