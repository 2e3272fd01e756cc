"""Annotate a game with exact values: which moves kept the win and which gave it away."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import escape

from knightfall.arena import stored_games
from knightfall.arena.run_options import AStore
from knightfall.arena.stored_games import is_game_name
from knightfall.display.numbers import count
from knightfall.display.progress import OnProgress, progress_or_callback
from knightfall.display.report import Displayable, Line, Part, html_of, unicode_is_shown
from knightfall.display.table import Table
from knightfall.errors import KnightfallError, nearest
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.notation import (
    LAST,
    RESIGNED,
    SEAT,
    Scoresheet,
    games_folder,
    looks_like_a_game,
    read_game,
    read_game_file,
    saved_games,
)
from knightfall.position import Side, other
from knightfall.solver.solve import Solver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MoveQuality = Literal["keeps", "blunder", "safe", "only", "lost", "unknown"]

FEW = 6
"""Largest number of winning moves that are named in a remark; a placement may have dozens."""

SIDES: tuple[Side, Side] = ("w", "b")
KNIGHT: dict[Side, str] = {"w": "♘", "b": "♞"}
LETTER: dict[Side, str] = {"w": "N", "b": "n"}
_STYLE: dict[MoveQuality, str] = {"blunder": "bold red", "keeps": "green"}


@dataclass(frozen=True, slots=True)
class Remark:
    """A move of a game and its effect.  `winning` are the moves that win; None if not yet known."""

    ply: int
    side: Side
    move: str
    legal: int
    winning: tuple[str, ...] | None
    placement: bool

    @property
    def winner(self) -> Side | None:
        """The winner of the position before the move; None if not yet known."""
        if self.winning is None:
            return None
        return self.side if self.winning else other(self.side)

    @property
    def quality(self) -> MoveQuality:
        """Classify the move by whether it won and whether there was a choice.

        ``keeps`` and ``blunder`` are real choices: some moves won and some lost.  ``only``: the one
        legal move, and it wins; ``safe``: every move wins; ``lost``: none does.
        """
        if self.winning is None:
            return "unknown"
        if not self.winning:
            return "lost"
        if self.move not in self.winning:
            return "blunder"
        if self.legal == 1:
            return "only"
        return "safe" if len(self.winning) == self.legal else "keeps"

    @property
    def words(self) -> str:
        """The quality as a phrase for a printed annotation."""
        winning, doing = self.winning or (), "placement" if self.placement else "move"
        match self.quality:
            case "unknown":
                return "not judged"
            case "lost":
                return "lost already" + (", and the only move" if self.legal == 1 else "")
            case "blunder":
                return f"?? gives the win away: {_some(winning)} kept it"
            case "only":
                return "wins, and the only move"
            case "safe":
                return f"wins, like every {doing} here"
        if len(winning) == 1:
            return f"!  keeps the win: the only {doing} of {self.legal} that does"
        return f"keeps the win, as {len(winning)} of {self.legal} {doing}s do"


@dataclass(frozen=True, repr=False)
class Annotation(Displayable):
    """An annotated `game`, with the `remarks` on its moves.

    `winners` holds the winner of each position of the game, from the first to the last: one entry
    more than there are moves.  An entry is None if the solver was interrupted before it.
    """

    game: Scoresheet
    remarks: tuple[Remark, ...]
    winners: tuple[Side | None, ...]

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C interrupted the solver before every position was solved."""
        return None in self.winners

    @property
    def blunders(self) -> list[Remark]:
        """The moves of either player that gave a win away."""
        return [remark for remark in self.remarks if remark.quality == "blunder"]

    # -- for people ------------------------------------------------------------------------

    def in_one_line(self) -> str:
        wins = count(len(self.blunders), "blunder")
        return f"{count(len(self.remarks), 'move')}, {wins}. {self._ending()}"

    def parts(self) -> Iterator[Part]:
        """Yield the moves line by line, the result, the chart, and a summary per player."""
        unicode = unicode_is_shown()
        knight = KNIGHT if unicode else LETTER
        yield f"from {self.game.start.fen}"
        yield ""
        for each in self.remarks:
            text = f"{each.ply:>3}. {knight[each.side]} {each.move:<4}{each.words}"
            yield Line(text, _STYLE.get(each.quality, "dim"))
        yield ""
        yield self._ending()
        yield ""
        yield from self._chart(unicode)
        yield ""
        for side in SIDES:
            yield f"{knight[side]} {self._summary(side)}"

    def _repr_html_(self) -> str:
        table = Table(["", "", "move", ""], labels=4)
        for each in self.remarks:
            table.add(f"{each.ply}.", KNIGHT[each.side], each.move, each.words)
        begin = f"from {self.game.start.fen}"
        end = [self._ending(), *(f"{KNIGHT[side]} {self._summary(side)}" for side in SIDES)]
        return html_of([begin, table]) + self.to_svg() + html_of(end)

    def _chart(self, unicode: bool) -> Iterator[Part]:
        rows, knight = chart_lines(self, unicode=unicode), KNIGHT if unicode else LETTER
        for side in SIDES:
            yield f"{knight[side]} wins  {rows[side]}".rstrip()
        if rows["blunders"]:
            yield Line(f"        {rows['blunders']}", "red")
        yield Line(f"        {rows['plies']}", "dim")

    def _ending(self) -> str:
        game, last = self.game, self.winners[-1]
        if game.winner is None or game.loser is None:
            return f"Not finished: the {SEAT[last or 'w']} player wins from here."
        resigned = game.reason == RESIGNED
        if not resigned and (game.final.winner is not None or game.reason is None):
            return f"The {SEAT[game.winner]} player won."
        stood = "a won" if last == game.loser else "a lost"
        how = "resigned" if resigned else f"lost by {game.reason}"
        return f"The {SEAT[game.loser]} player {how} in {stood} position."

    def _summary(self, side: Side) -> str:
        name = self.game.name(side)
        who = SEAT[side] if name is None else f"{SEAT[side]}, {name}"
        remarks = [remark for remark in self.remarks if remark.side == side]
        kept = sum(remark.quality == "keeps" for remark in remarks)
        blunders = [str(remark.ply) for remark in remarks if remark.quality == "blunder"]
        choices = kept + len(blunders)
        if not choices:
            return f"{who}: never had to choose between winning and losing"
        word = "win" if choices == 1 else "wins"
        at = f", lost at {' '.join(blunders)}" if blunders else ""
        return f"{who}: kept {kept} of {choices} {word}{at}"

    # -- for scripts -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the annotation as JSON values."""
        return {
            **self.game.to_dict(),
            "partial": self.partial,
            "winners": list(self.winners),
            "remarks": [
                {
                    "ply": remark.ply,
                    "side": remark.side,
                    "move": remark.move,
                    "verdict": remark.quality,
                    "legal": remark.legal,
                    "winning": None if remark.winning is None else list(remark.winning),
                }
                for remark in self.remarks
            ],
        }

    # -- as a picture ----------------------------------------------------------------------

    def to_svg(self) -> str:
        """Return a self-contained SVG chart of the winner after every ply."""
        return chart_svg(self)

    def plot(self) -> Figure:
        """Return the chart of the winner after every ply as a matplotlib figure."""
        from knightfall.oracle.plots import winner_plot

        return winner_plot(self)


def _some(winning: tuple[str, ...]) -> str:
    if len(winning) > FEW:
        return f"{' '.join(winning[:FEW])} … ({len(winning)} in all)"
    return " ".join(winning[:-1]) + (" and " if len(winning) > 1 else "") + winning[-1]


# -- from a game to its annotation -------------------------------------------------------------


def annotate(
    game: str | Scoresheet,
    *,
    store: str | os.PathLike[str] | None = None,
    progress: bool | OnProgress = True,
) -> Annotation:
    """Solve every position of a game and return its annotation.

    Positions are solved from the end backwards, because late ones are cheap.  Ctrl-C ends the work
    and keeps what is solved.

    Args:
        game: The moves, after a FEN if the game did not begin on an empty 7×7 board; a file; the
            name of a saved or stored game such as "3.17.0"; or a game of `result.games`.
        store: File of the store that has the game; None is the user's own.
        progress: Whether to show how many of all legal moves have been solved, or a function
            called with that number.

    Example:
        >>> found = kf.annotate("5/5/1N3/3n1/5 w c5 c4 e4")
        >>> found.winners, [remark.quality for remark in found.remarks]
        (('b', 'b', 'b', 'b'), ['lost', 'safe', 'lost'])
    """
    sheet = find_game(game, store) if isinstance(game, str) else game
    if not sheet.moves:
        raise KnightfallError(
            f"the game from {sheet.start.fen!r} has no moves; list placements and moves in order, "
            "as in 'b5 e2 d4 f4'"
        )
    with progress_or_callback(progress, "moves judged", progress_total(sheet)) as tell:
        winning, last = _judge(sheet, tell)
    remarks = tuple(_remarks(sheet, winning))
    return Annotation(sheet, remarks, (*(remark.winner for remark in remarks), last))


def progress_total(game: Scoresheet) -> int:
    """Return the number of legal moves in all positions, at which the progress count ends."""
    return sum(len(position.legal_moves) for position in game.positions[:-1])


def _judge(game: Scoresheet, on_progress: OnProgress) -> tuple[list[tuple[str, ...] | None], Side]:
    """Return the winning moves of each position but the last, and the winner of the last position.

    The moves are None where Ctrl-C came before the position was solved.
    """
    enable_keyboard_interrupt()
    truth = Solver.of(game.start.board)
    winning: list[tuple[str, ...] | None] = [None] * len(game.moves)
    last: Side | None = None
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        on_progress(done)

    try:
        mover = game.final.to_move
        last = mover if truth.wins(game.final) else other(mover)
        for at in range(len(game.moves) - 1, -1, -1):
            position, before = game.positions[at], done
            winning[at] = truth.winning_moves(position, lambda: tell(1))
            tell(before + len(position.legal_moves) - done)
    except KeyboardInterrupt:
        if last is None:
            raise
    return winning, last


def _remarks(game: Scoresheet, winning: Sequence[tuple[str, ...] | None]) -> list[Remark]:
    return [
        Remark(
            ply=at + 1,
            side=position.to_move,
            move=move,
            legal=len(position.legal_moves),
            winning=winning[at],
            placement=position.knight(position.to_move) is None,
        )
        for at, (position, move) in enumerate(zip(game.positions, game.moves, strict=False))
    ]


# -- which game a text means ------------------------------------------------------------------


def find_game(text: str, store: AStore = None) -> Scoresheet:
    """Return a game, given as text by its moves or by its name.

    A name is that of a file, of a saved game, or of a stored one such as ``3.17.0``; ``last`` is
    the game that was played last: the newest saved one, or that of the store's last run (game 0
    of its last pair) if that run is newer.
    """
    if _is_file(text):
        return read_game_file(Path(os.path.expanduser(text)))
    if looks_like_a_game(text):
        return read_game(text)
    if is_game_name(text):
        return _stored(text, store)
    saved = saved_games()
    files = {path.stem: path for path in saved}
    if text in files:
        return read_game_file(files[text])
    if text == LAST:
        run_time = _last_run(store)
        if run_time is not None and (not saved or run_time >= saved[0].stat().st_mtime):
            return _stored(LAST, store)
        if saved:
            return read_game_file(saved[0])
    raise KnightfallError(
        f"unknown game {text!r}: it is not a list of moves, not a file, not saved in "
        f"{games_folder()}, and not a name such as 3.17.0 in the store{nearest(text, files)}"
    )


def _is_file(text: str) -> bool:
    try:
        return Path(os.path.expanduser(text)).is_file()
    except (OSError, RuntimeError, ValueError):  # name too long, unknown ~user, zero byte
        return False


def _stored(name: str, store: AStore) -> Scoresheet:
    from knightfall.arena.store import Store

    with Store.open(store, read_only=True) as opened:
        run, pair, game = stored_games.find_game(opened, name)
        return stored_games.scoresheet(run.plan, run.pair(pair), game)


def _last_run(store: AStore) -> float | None:
    """Return the POSIX time at which the store's last run ended, or began if it is unfinished.

    Return None if there is no such run or none of its games was played.
    """
    from knightfall.arena.store import Store

    try:
        with Store.open(store, read_only=True) as opened:
            run = opened.last()
            if not run.played:
                return None
            return datetime.fromisoformat(run.finished or run.created).timestamp()
    except KnightfallError:  # no store, or nothing in it
        return None


# -- the chart as text ---------------------------------------------------------------------------

LABEL_EVERY = 5

FILLED, MARK, UNKNOWN = "█", "▲", "·"
_PLAIN = str.maketrans({FILLED: "#", MARK: "^", UNKNOWN: "."})


def chart_lines(annotation: Annotation, *, unicode: bool = True) -> dict[str, str]:
    """Return the lines of the chart of the winner after every ply, by name.

    There is a column per position (0 is the start)::

        ♘  ██████   ████████
        ♞        ███        ████
                 ▲  ▲       ▲
           0    5    10   15   20

    ``w`` and ``b`` have a bar where that side wins, ``blunders`` a mark under each blunder, and
    ``plies`` the numbers of the axis.
    """
    winners = annotation.winners
    marks = {remark.ply for remark in annotation.blunders}
    axis = ""
    for ply in range(0, len(winners), LABEL_EVERY):
        axis = axis.ljust(ply) + str(ply)
    lines = {
        "w": _row(winners, "w"),
        "b": _row(winners, "b"),
        "blunders": "".join(MARK if ply in marks else " " for ply in range(len(winners))).rstrip(),
        "plies": axis,
    }
    return lines if unicode else {name: line.translate(_PLAIN) for name, line in lines.items()}


def _row(winners: tuple[Side | None, ...], side: Side) -> str:
    filled = {side: FILLED, None: UNKNOWN}
    return "".join(filled.get(winner, " ") for winner in winners).rstrip()


# -- the chart as SVG -----------------------------------------------------------------------------
#
# One ply is STEP units wide; bars of the winning side stand on or hang from the line in the
# middle, and each blunder is a dot on it, with its move beyond the bar it leads to.
#
#     ┌─────────────────────────────────────┐
#     │                   d4                │   TOP
#     │ first   ██████    ████████          │   HALF
#     │         ──────●───●───────●───────  │
#     │ second        ████        ████████  │   HALF
#     │               b3          f6        │   FOOT
#     │         0     5    10     15        │
#     └─────────────────────────────────────┘

_STEP = 16
_LEFT, _RIGHT, _TOP, _HALF, _FOOT = 64, 24, 26, 44, 40

_PAPER, _EDGE, _INK = "#fbf7ee", "#d8cdb8", "#6d6353"
BAR: dict[Side, str] = {"w": "#7ba7d9", "b": "#4a5160"}
_BLUNDER = "#d4493a"


def chart_svg(annotation: Annotation) -> str:
    """Return the chart as a self-contained SVG; a blunder's tooltip names the winning moves."""
    positions = len(annotation.winners)
    width = _LEFT + _STEP * positions + _RIGHT
    height = _TOP + 2 * _HALF + _FOOT
    game = " ".join(annotation.game.moves)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(annotation.game.start.fen)}: {escape(game)}</title>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{_PAPER}" stroke="{_EDGE}"/>',
        *_bars(annotation),
        *_axis(positions),
        '<g font-family="sans-serif" font-size="10" text-anchor="middle">',
        *(_dot(remark) for remark in annotation.blunders),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(position: int) -> int:
    return _LEFT + _STEP * position


def _bars(annotation: Annotation) -> Iterator[str]:
    at = 0
    for winner, run in groupby(annotation.winners):
        length = len(list(run))
        if winner is not None:
            top = _TOP if winner == "w" else _TOP + _HALF
            yield (
                f'<rect class="wins {winner}" x="{_x(at)}" y="{top}" width="{_STEP * length}" '
                f'height="{_HALF}" fill="{BAR[winner]}"/>'
            )
        at += length


def _axis(positions: int) -> Iterator[str]:
    middle, bottom = _TOP + _HALF, _TOP + 2 * _HALF
    yield f'<path d="M{_LEFT} {middle}H{_x(positions)}" stroke="{_INK}"/>'
    yield f'<g font-family="sans-serif" font-size="11" fill="{_INK}">'
    for seat, y in (("first", _TOP + _HALF // 2), ("second", middle + _HALF // 2)):
        yield f'<text x="12" y="{y + 4}">{seat}</text>'
    for ply in range(0, positions, LABEL_EVERY):
        x = _x(ply) + _STEP / 2
        yield f'<text x="{x:g}" y="{bottom + 30}" text-anchor="middle">{ply}</text>'
    yield "</g>"


def _dot(remark: Remark) -> str:
    """Return the mark of a blunder, at the ply where the bars change sides."""
    x, middle = _x(remark.ply), _TOP + _HALF
    # The label stands just beyond the bar of the side that wins after the blunder.
    y = _TOP + 2 * _HALF + 12 if remark.side == "w" else _TOP - 6
    better = " ".join(remark.winning or ())
    return (
        f'<g class="blunder" data-ply="{remark.ply}">'
        f"<title>{remark.ply}. {remark.move} gives the win away; {better} kept it</title>"
        f'<circle cx="{x}" cy="{middle}" r="5" fill="{_BLUNDER}" stroke="{_PAPER}"/>'
        f'<text x="{x + _STEP / 2:g}" y="{y}" fill="{_BLUNDER}">{remark.move}</text></g>'
    )
