"""A judged game, and how it is told: move by move, as a chart, and in sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from knightfall.display.report import Displayable, Line, Part, html_of, unicode_is_shown
from knightfall.display.table import Table
from knightfall.notation.scoresheet import RESIGNED, SEAT, Scoresheet
from knightfall.position import Side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MoveQuality = Literal["keeps", "blunder", "safe", "only", "lost", "unknown"]

FEW = 6
"""Winning moves that are named; placements may have dozens."""

SIDES: tuple[Side, Side] = ("w", "b")
KNIGHT: dict[Side, str] = {"w": "♘", "b": "♞"}
LETTER: dict[Side, str] = {"w": "N", "b": "n"}
_STYLE: dict[MoveQuality, str] = {"blunder": "bold red", "keeps": "green"}


@dataclass(frozen=True, slots=True)
class Remark:
    """A move and what it did.  `winning` are the moves that win; None if that was not found out."""

    ply: int
    side: Side
    move: str
    legal: int
    winning: tuple[str, ...] | None
    placement: bool

    @property
    def quality(self) -> MoveQuality:
        """``keeps`` and ``blunder`` are real choices: some moves won and some lost.

        ``only``: the one legal move, and it wins; ``safe``: every move wins; ``lost``: none does.
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
        """The same for people."""
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
    """A judged game.

    `winners` tells who wins each position of the game, from the start to the last: one more than
    there are moves.  None where it was not found out.
    """

    game: Scoresheet
    remarks: tuple[Remark, ...]
    winners: tuple[Side | None, ...]

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the truth about every move."""
        return None in self.winners

    @property
    def blunders(self) -> list[Remark]:
        """Every win that was given away, by either player."""
        return [remark for remark in self.remarks if remark.quality == "blunder"]

    # -- for people ------------------------------------------------------------------------

    def parts(self) -> Iterator[Part]:
        """The moves line by line, the end, the chart, and what each player made of its wins."""
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
        from knightfall.oracle.swing import text

        rows, knight = text(self, unicode=unicode), KNIGHT if unicode else LETTER
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
        """All of it as plain values."""
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
        """Who was winning after every ply, as an image that stands on its own."""
        from knightfall.oracle.swing import svg

        return svg(self)

    def plot(self) -> Figure:
        """The same as a matplotlib figure."""
        from knightfall.oracle.plots import swing_plot

        return swing_plot(self)


def _some(winning: tuple[str, ...]) -> str:
    if len(winning) > FEW:
        return f"{' '.join(winning[:FEW])} … ({len(winning)} in all)"
    return " ".join(winning[:-1]) + (" and " if len(winning) > 1 else "") + winning[-1]
