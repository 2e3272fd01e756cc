"""Annotate a game with exact values: which moves kept the win and which gave it away."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from knightfall.arena import stored_games
from knightfall.arena.stored_games import is_game_name
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


@dataclass(frozen=True)
class Annotation(Displayable):
    """An annotated game.

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
        from knightfall.oracle.winner_chart import chart_lines

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
        from knightfall.oracle.winner_chart import chart_svg

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

    `game` is a text: the moves, after a FEN if the game did not begin on an empty 7×7 board, or
    anything else that `find_game` accepts (a file, a saved game, the name of a game in the store).
    `store` is the file of that store; None is the user's own.

    Positions are solved from the end backwards, because late ones are cheap.  Ctrl-C ends the work
    and keeps what is solved.  `progress` shows how many of all legal moves have been solved, or is
    a function that is called with that number.
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


StorePath = str | os.PathLike[str] | None


def find_game(text: str, store: StorePath = None) -> Scoresheet:
    """Return a game, given as text by its moves or by its name.

    A name is that of a file, of a saved game, or of a stored one such as ``3.17.0``; ``last`` is
    the game that was played last: the newest saved one, or that of the store's last run (game 0
    of its last pair) if that run is newer.
    """
    if _is_file(text):
        return read_game_file(Path(text).expanduser())
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
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # name too long, unknown ~user, zero byte
        return False


def _stored(name: str, store: StorePath) -> Scoresheet:
    from knightfall.arena.store import Store

    with Store.open(store, read_only=True) as opened:
        run, pair, game = stored_games.find_game(opened, name)
        return stored_games.scoresheet(run.plan, run.pair(pair), game)


def _last_run(store: StorePath) -> float | None:
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
