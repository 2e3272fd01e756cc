"""``knightfall annotate``: which moves of a game kept the win, and which gave it away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.screen.guard import INTERRUPTED, say
from knightfall.cli.screen.output import console, print_json
from knightfall.errors import KnightfallError, nearest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from knightfall.notation.scoresheet import Scoresheet
    from knightfall.oracle.annotate import Annotation, Remark
    from knightfall.position import Side

FEW = 6
"""Winning moves that are named; placements may have dozens."""

WhichGame = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="Moves in quotes, a file, the name of a saved game, last, or - for stdin.",
        show_default=False,
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE", help="Draw the swing there.", show_default=False),
]


def annotate(game: WhichGame, json: Json = False, svg: Picture = None) -> None:
    """Judge every move of a game by the exact truth.

    A game is its placements and moves in order, after a FEN if it did not begin on an empty 7×7
    board; a saved game; or what watch --json prints.  For both players, every move keeps the win
    or gives it away, and then those that kept it are named.  Where no move loses, or the position
    is lost already, there is nothing to judge.  The chart shows who was winning after each ply.

    The end is judged first: after Ctrl-C you see what was found out by then.

    \b
    Examples:
      knightfall annotate "b5 e2 d4 f4 e6 d3"
      knightfall annotate "5/5/2N2/5/n4 w e4 b3" --svg swing.svg
      knightfall annotate last
      knightfall watch AB_Improved MM_Open --json | knightfall annotate -
    """
    from knightfall.cli.screen.bar import bar
    from knightfall.files import atomic_write
    from knightfall.oracle.annotate import annotate as judge
    from knightfall.oracle.annotate import questions
    from knightfall.oracle.chart import svg as drawn

    sheet = _scoresheet(game)
    with bar("moves judged", questions(sheet)) as listener:
        annotation = judge(sheet, listener)
    if svg is not None:
        atomic_write(svg, drawn(annotation))
    if json:
        print_json(_json(annotation))
    else:
        _show(annotation, console())
    if annotation.partial:
        say("knightfall: interrupted: not every move is judged")
        raise typer.Exit(INTERRUPTED)


# -- which game ------------------------------------------------------------------------------


def _scoresheet(which: str) -> Scoresheet:
    from knightfall.notation.scoresheet import looks_like_a_game, read

    if which == "-":
        return read(sys.stdin.read())
    if _is_file(which):
        return _from_file(Path(which).expanduser())
    if looks_like_a_game(which):
        return read(which)
    return _from_file(_saved(which))


def _is_file(which: str) -> bool:
    try:
        return Path(which).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # too long for a name, no such home, a zero byte
        return False


def _from_file(file: Path) -> Scoresheet:
    from knightfall.notation.scoresheet import read

    try:
        return read(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise KnightfallError(f"cannot read {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KnightfallError(f"{str(file)!r} is not a text file") from None
    except KnightfallError as error:
        raise KnightfallError(f"{str(file)!r}: {error}") from None


def _saved(which: str) -> Path:
    """The file of a saved game; `last` is the newest, finished or not."""
    from knightfall.cli.play.saved import LAST, games_folder

    files = {path.stem: path for path in games_folder().glob("*.json")}
    if which in files:
        return files[which]
    if which == LAST and files:
        return max(files.values(), key=lambda path: (path.stat().st_mtime_ns, path.name))
    raise KnightfallError(
        f"there is no game {which!r}, neither as moves, nor as a file, nor saved in "
        f"{games_folder()}{nearest(which, files)}"
    )


# -- for people ------------------------------------------------------------------------------


def _show(annotation: Annotation, screen: Console) -> None:
    from rich.text import Text

    from knightfall.cli.screen.drawing import knight
    from knightfall.oracle.chart import text

    screen.print(f"from {annotation.game.start.fen}\n", soft_wrap=True)
    for remark in annotation.remarks:
        line = Text(f"{remark.ply:>3}. ").append_text(knight(screen, remark.side))
        line.append(f" {remark.move:<4}", "bold").append_text(_words(remark))
        screen.print(line, soft_wrap=True)
    screen.print(f"\n{_ending(annotation)}\n")
    rows = text(annotation, unicode=_unicode(screen))
    sides: tuple[Side, Side] = ("w", "b")
    for side in sides:
        line = knight(screen, side).append(" wins  ", "not bold").append(rows[side])
        line.rstrip()
        screen.print(line, soft_wrap=True)
    if rows["blunders"]:
        screen.print(Text(f"        {rows['blunders']}", "red"), soft_wrap=True)
    screen.print(Text(f"        {rows['plies']}", "dim"), soft_wrap=True)
    screen.print()
    for side in sides:
        screen.print(knight(screen, side).append(f" {_summary(annotation, side)}", "not bold"))


def _unicode(screen: Console) -> bool:
    return screen.encoding.lower().startswith("utf")


def _words(remark: Remark) -> Text:
    from rich.text import Text

    winning, doing = remark.winning or (), "placement" if remark.placement else "move"
    if remark.verdict == "unknown":
        return Text("not judged", "dim")
    if remark.verdict == "lost":
        return Text("lost already" + (", and the only move" if remark.legal == 1 else ""), "dim")
    if remark.verdict == "blunder":
        return Text(f"?? gives the win away: {_some(winning)} kept it", "bold red")
    if remark.verdict == "only":
        return Text("wins, and the only move", "dim")
    if remark.verdict == "safe":
        return Text(f"wins, like every {doing} here", "dim")
    if len(winning) == 1:
        return Text(f"!  keeps the win: the only {doing} of {remark.legal} that does", "green")
    return Text(f"keeps the win, as {len(winning)} of {remark.legal} {doing}s do", "green")


def _some(winning: tuple[str, ...]) -> str:
    if len(winning) > FEW:
        return f"{' '.join(winning[:FEW])} … ({len(winning)} in all)"
    return " ".join(winning[:-1]) + (" and " if len(winning) > 1 else "") + winning[-1]


def _ending(annotation: Annotation) -> str:
    from knightfall.cli.play.game import SEAT

    game, last = annotation.game, annotation.winners[-1]
    if game.resigned is not None:
        stood = "a won" if last == game.resigned else "a lost"
        return f"The {SEAT[game.resigned]} player resigned in {stood} position."
    if annotation.winner is not None:
        return f"The {SEAT[annotation.winner]} player won."
    return f"Not finished: the {SEAT[last or 'w']} player wins from here."


def _summary(annotation: Annotation, side: Side) -> str:
    from knightfall.cli.play.game import SEAT

    remarks = annotation.of(side)
    kept = sum(remark.verdict == "keeps" for remark in remarks)
    blunders = [str(remark.ply) for remark in remarks if remark.verdict == "blunder"]
    choices = kept + len(blunders)
    if not choices:
        return f"{SEAT[side]}: never had to choose between winning and losing"
    word = "win" if choices == 1 else "wins"
    at = f", lost at {' '.join(blunders)}" if blunders else ""
    return f"{SEAT[side]}: kept {kept} of {choices} {word}{at}"


# -- for scripts -----------------------------------------------------------------------------


def _json(annotation: Annotation) -> dict[str, Any]:
    from knightfall.cli.play.game import NO_MOVES, RESIGNED

    game, reason = annotation.game, None
    if annotation.winner is not None:
        reason = NO_MOVES if game.resigned is None else RESIGNED
    return {
        "fen": game.start.fen,
        "moves": list(game.moves),
        "final": game.final.fen,
        "winner": annotation.winner,
        "reason": reason,
        "partial": annotation.partial,
        "winners": list(annotation.winners),
        "remarks": [_remark_json(remark) for remark in annotation.remarks],
    }


def _remark_json(remark: Remark) -> dict[str, Any]:
    return {
        "ply": remark.ply,
        "side": remark.side,
        "move": remark.move,
        "verdict": remark.verdict,
        "legal": remark.legal,
        "winning": None if remark.winning is None else list(remark.winning),
    }
