"""What a grade holds, and how it is told: as tables, as JSON and as a chart."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from knightfall.board import Board
from knightfall.display.numbers import count, duration, for_json, interval, percent
from knightfall.display.report import Displayable, Heading, Part, unicode_is_shown
from knightfall.display.table import Table
from knightfall.oracle.measures import Auc, Bin
from knightfall.statistics.rates import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Keeping:
    """How often a win was kept, over decisions of some kind.

    `kept` counts real choices only: some moves won and some lost.  `forced` positions were won
    whatever was played.  `chance` is what random moves would have kept in the same positions.
    """

    positions: int
    won: int
    forced: int
    kept: Share
    error: float | None
    """The standard error of the rate; the unit is the family of games from mirrored openings."""
    chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "positions": self.positions,
            "won": self.won,
            "without_losing_move": self.forced,
            "kept": _share_dict(self.kept),
            "standard_error": self.error,
            "at_random": self.chance,
        }


@dataclass(frozen=True, slots=True)
class FirstBlunder:
    """When a game's first win was given away, by either side."""

    without: Share
    """The games in which none was."""
    plies: dict[int, int]
    """Where there was one: games by ply, counted from 1."""

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """A quarter, half and three quarters of the first blunders come up to these plies."""
        plies = sorted(Counter(self.plies).elements())
        if not plies:
            return None
        if len(plies) == 1:
            return (plies[0],) * 3
        low, median, high = statistics.quantiles(plies, n=4, method="inclusive")
        return low, median, high

    def parts(self) -> Iterator[Part]:
        """How many games had none, and when it came in the others."""
        without = self.without
        yield (
            f"none in {without.count} of {without.of} games: {percent(without.rate)} "
            f"({interval(*without.interval, unit=' %')})"
        )
        if self.quartiles is not None:
            low, median, high = self.quartiles
            yield f"otherwise at move {median:g} (median), half between {low:g} and {high:g}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "games_without": _share_dict(self.without),
            "quartiles": self.quartiles,
            "games_by_ply": {str(ply): games for ply, games in self.plies.items()},
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """A player's scores for the side to move against the truth.

    What its search had proven is counted apart: `proven` of so many were right.
    """

    scored: int
    proven: Share
    auc: Auc | None
    bins: list[Bin]

    def parts(self) -> Iterator[Part]:
        """The positions by score, and how well the scores tell won ones from lost ones."""
        if self.bins:
            yield self._table()
        yield f"AUC {_auc(self.auc)} over {self.scored:,} scores"
        if self.proven.of:
            all_right = self.proven.count == self.proven.of
            right = "all" if all_right else f"only {self.proven.count:,}"
            yield f"and {self.proven.of:,} proven scores, {right} of them right"

    def _table(self) -> Table:
        square = "▪" if unicode_is_shown() else "#"
        table = Table(["score", "positions", "won", "95 %", ""], labels=0, left=[4])
        for each in self.bins:
            table.add(
                score_range(each),
                f"{each.won.of:,}",
                percent(each.won.rate),
                interval(*each.won.interval, unit=" %"),
                square * round(20 * (each.won.rate or 0.0)),
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        auc = None
        if self.auc is not None:
            low, high = self.auc.interval
            error = self.auc.error
            auc = {"value": self.auc.value, "standard_error": error, "low": low, "high": high}
        return {
            "scored": self.scored,
            "proven_right": _share_dict(self.proven),
            "auc": auc,
            "bins": [
                {
                    "lowest": for_json(each.lowest),
                    "highest": for_json(each.highest),
                    "won": _share_dict(each.won),
                }
                for each in self.bins
            ],
        }


@dataclass(frozen=True)
class Grade(Displayable):
    """What the truth says of a player; `reliability` is None for one that gives no scores.

    A `partial` grade is that of the first `games` openings.
    """

    player: str
    board: Board
    openings: int
    seed: int
    games: int
    keeping: dict[str, Keeping]
    """``overall``, by role, and by phase."""
    first_blunder: FirstBlunder
    reliability: Reliability | None
    seconds: float
    timed: bool = False
    """Whether it played by the clock: then another grade will differ."""

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the last game."""
        return self.games < self.openings

    def parts(self) -> Iterator[Part]:
        """How often wins were kept, when the first was not, and what the scores are worth."""
        overall = self.keeping["overall"]
        yield Heading(f"{self.player} on {self.board.width}×{self.board.height}, seed {self.seed}")
        games = count(self.games, "game")
        if self.partial:
            games = f"PARTIAL: the first {self.games} of {self.openings} games"
        yield f"{games} against itself, {duration(self.seconds)}"
        yield (
            f"{overall.positions:,} positions, {overall.won:,} won for the mover: "
            f"{overall.kept.of:,} with a real choice, {overall.forced:,} without a losing move"
        )
        yield ""
        yield Heading("Keeps the win")
        yield self._keeping_table()
        yield ""
        yield Heading("First blunder")
        yield from self.first_blunder.parts()
        yield ""
        yield Heading("Score against truth")
        if self.reliability is None:
            yield "This agent gives no scores."
        else:
            yield from self.reliability.parts()
        if self.timed:
            yield ""
            yield "A time budget does not repeat exactly: expect slightly different numbers."

    def _keeping_table(self) -> Table:
        table = Table(["", "kept", "of", "rate", "95 %", "std. error", "at random"])
        for name, row in self.keeping.items():
            table.add(
                name,
                f"{row.kept.count:,}",
                f"{row.kept.of:,}",
                percent(row.kept.rate),
                interval(*row.kept.interval, unit=" %"),
                # All or nothing varies nowhere; the interval knows better than an error of 0.
                percent(row.error or None, 2),
                percent(row.chance),
            )
        return table

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "agent": self.player,
            "board": f"{self.board.width}x{self.board.height}",
            "openings": self.openings,
            "seed": self.seed,
            "games": self.games,
            "partial": self.partial,
            "keeps": {name: row.to_dict() for name, row in self.keeping.items()},
            "first_blunder": self.first_blunder.to_dict(),
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
            "seconds": self.seconds,
        }

    def plot(self) -> Figure:
        """Wins kept by role and phase, and the share of won positions by score."""
        from knightfall.oracle.plots import grade_plot

        return grade_plot(self)


def score_range(bin: Bin) -> str:
    """The scores of a bin, from the lowest to the highest."""

    def shown(score: float) -> str:
        return f"{score:.4g}".replace("-", "−").replace("inf", "∞")

    low, high = shown(bin.lowest), shown(bin.highest)
    return low if bin.lowest == bin.highest else f"{low} to {high}"


def _auc(auc: Auc | None) -> str:
    if auc is None:
        return "is not defined without won and lost positions"
    if auc.error is None:
        return f"{auc.value:.3f}"
    low, high = auc.interval
    return f"{auc.value:.3f} ± {auc.error:.3f} (95 %: {low:.3f} to {high:.3f})"


def _share_dict(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"count": share.count, "of": share.of, "rate": share.rate, "low": low, "high": high}
