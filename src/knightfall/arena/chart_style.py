"""What all charts have in common: colours, titles, marks, and how they become files.

Everything is drawn on a `Figure` of its own: nothing depends on what else a program draws, on its
windows or on the user's settings, so the same run gives the same file.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from knightfall.agents import agent_parts
from knightfall.arena.plan import Entrant
from knightfall.arena.results import Results
from knightfall.arena.standings import short_names
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, check_output

Floats = npt.NDArray[np.float64]
P = ParamSpec("P")

PAPER, EDGE, INK, BLACK = "#fbf7ee", "#d8cdb8", "#6d6353", "#2a2420"
NOTHING = "#efe8d9"
"""A cell without a number."""
BLUE, RED = "#2f6aa8", "#b8452b"
LOST_TO_WON = LinearSegmentedColormap.from_list(
    "lost to won",
    [RED, "#da8259", "#f0b596", "#f8dccb", "#fdfaf5", "#d3e1f0", "#a3c2e3", "#6a98cb", BLUE],
)
"""Around an even result.  Orange and blue are told apart by everyone."""

DASHES = (0, (4, 3))
DOTS: Any = {
    "fmt": "o",
    "color": BLUE,
    "ecolor": f"{BLUE}90",
    "elinewidth": 1.8,
    "markersize": 6,
    "markeredgecolor": PAPER,
}
"""How a value with an error bar is drawn."""

FORMATS = ("svg", "png", "pdf")
LETTERS, SMALL_LETTERS = 11.5, 14.5
"""Per inch, of a title and of a remark."""
_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": BLACK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.facecolor": PAPER,
    "font.size": 9,
    "grid.color": EDGE,
    "grid.linewidth": 0.6,
    "savefig.dpi": 150,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "knightfall",
    "text.color": BLACK,
    "text.parse_math": False,  # a name may hold dollar signs
    "xtick.color": INK,
    "ytick.color": INK,
    "ytick.labelcolor": BLACK,
}


@contextmanager
def our_style() -> Iterator[None]:
    """While the block runs, our settings count, and nobody else's."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A drawing function in our style."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with our_style():
            return draw(*args, **kwargs)

    return drawn


def source(found: Results) -> str:
    """The run, the board, the games and the seed: the line below every title."""
    run, plan = found.run, found.run.plan
    where = "a book" if plan.book else plan.board.replace("x", "×")
    games = f"{2 * found.played:,} games"
    if not run.finished:
        games += f" of {2 * plan.total:,}"
    return f"run {run.id} · {where} · {games} · seed {plan.seed}"


def page(found: Results | str, title: str, width: float, height: float) -> Figure:
    """An empty figure, its size in inches, with a title and below it where that comes from."""
    figure = Figure(figsize=(width, height), layout="constrained")
    letters = int(width * LETTERS)
    below = found if isinstance(found, str) else source(found)
    lines = [*textwrap.wrap(title, letters), *textwrap.wrap(below, letters)]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10.5)
    return figure


def remark(figure: Figure, *remarks: str) -> None:
    """Small print at the foot of a figure; remarks that are empty do not count."""
    letters = int(figure.get_figwidth() * SMALL_LETTERS)
    lines: list[str] = []
    for one in filter(None, remarks):
        if lines and len(lines[-1]) + len(one) + 3 <= letters:
            lines[-1] += f" · {one}"
        else:
            lines += textwrap.wrap(one, letters)
    if lines:
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=8, color=INK)


def image(figure: Figure, format: str) -> bytes:
    """The file of a figure, one of `FORMATS`; the same figure gives the same bytes."""
    file = BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with our_style():
        figure.savefig(file, format=format, metadata=undated.get(format, {}))
    return file.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format that the end of its name says."""
    atomic_write(path, image(figure, format_of(path)))


def format_of(path: Path) -> str:
    """The format that a file's name asks for."""
    format = path.suffix.removeprefix(".").lower()
    if format not in FORMATS:
        raise KnightfallError(f"file {str(path)!r}: the name of a chart ends in .svg, .png or .pdf")
    return format


def writable(path: Path, force: bool) -> None:
    """Raise a KnightfallError if a chart cannot be written; ask before it is computed."""
    check_output(path, force=force)
    format_of(path)


# -- marks -----------------------------------------------------------------------------------


def heat_map(axes: Axes, rates: Floats, sure: npt.NDArray[np.bool_], size: float) -> None:
    """Win rates in per cent, as colours and numbers; nan is left empty, what is sure is bold."""
    rows, columns = rates.shape
    axes.set_facecolor(NOTHING)
    axes.pcolormesh(
        np.ma.masked_invalid(rates), cmap=LOST_TO_WON, vmin=0, vmax=100,
        edgecolors=PAPER, linewidth=0.8,
    )  # fmt: skip
    for row, column in np.argwhere(~np.isnan(rates)):
        rate = rates[row, column]
        text = axes.text(
            column + 0.5,
            row + 0.5,
            f"{rate:.0f}",
            ha="center",
            va="center",
            fontsize=size,
            fontweight="bold" if sure[row, column] else "normal",
            color=PAPER if abs(rate - 50) > 36 else BLACK,
        )
        text.set_in_layout(False)  # it stays in its cell, and there may be thousands
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def even_line(axes: Axes, at: float, *, vertical: bool = False) -> None:
    """Where neither side is better."""
    line = axes.axvline if vertical else axes.axhline
    line(at, color=INK, linewidth=0.9, linestyle=DASHES, zorder=1)


LONGEST = 38
"""Characters of a name; longer ones lose their middle."""


def shortened(name: str, most: int = LONGEST) -> str:
    """A name without its middle, if it is longer than that."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def labels(
    entrants: Sequence[Entrant], most: int = LONGEST, who: str = "heuristics"
) -> tuple[list[str], str]:
    """Return what to write beside an axis, all different, and a remark on what these names mean.

    These are the names of `short_names`, cut if they are long.  Where heuristics stand for agents,
    the remark says how they search; `who` begins it.
    """
    called = short_names(entrants)
    remark = ""
    for entrant, name in zip(entrants, called, strict=True):
        how = agent_parts(entrant.agent)
        if "(" in entrant.name and name != entrant.name and how is not None:
            remark = f"{who} play as {how[0]}({', '.join(('…', *how[2]))})"
    cut = [shortened(name, most) for name in called]
    for at, name in enumerate(cut):
        if cut.count(name) > 1 and called[at] != name:  # cut alike: the number tells them apart
            cut[at] = f"{shortened(called[at], most - 4)} {at + 1}"
    return cut, remark
