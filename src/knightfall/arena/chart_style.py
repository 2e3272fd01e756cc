"""The common style of all charts: colours, titles, marks and file formats.

Each chart is a `Figure` of its own that ignores the user's matplotlib settings, so the same run
always gives the same file.
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
from knightfall.arena.report_statistics import short_names, shortened
from knightfall.arena.results import Results
from knightfall.errors import KnightfallError
from knightfall.user_folders import atomic_write, check_output

Floats = npt.NDArray[np.float64]
P = ParamSpec("P")

PAPER, EDGE, INK, BLACK = "#fbf7ee", "#d8cdb8", "#6d6353", "#2a2420"
NOTHING = "#efe8d9"
"""The colour of a heat map's square without a number."""
BLUE, RED = "#2f6aa8", "#b8452b"
LOST_TO_WON = LinearSegmentedColormap.from_list(
    "lost to won",
    [RED, "#da8259", "#f0b596", "#f8dccb", "#fdfaf5", "#d3e1f0", "#a3c2e3", "#6a98cb", BLUE],
)
"""Colours from lost to won; orange and blue are distinct to colour-blind readers, too."""

DASHES = (0, (4, 3))
DOTS: Any = {
    "fmt": "o",
    "color": BLUE,
    "ecolor": f"{BLUE}90",
    "elinewidth": 1.8,
    "markersize": 6,
    "markeredgecolor": PAPER,
}
"""Options of `Axes.errorbar` for a value with an error bar."""

FORMATS = ("svg", "png", "pdf")
LETTERS, SMALL_LETTERS = 11.5, 14.5
"""Letters per inch, of a title and of a remark."""
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
    "text.parse_math": False,  # a name may contain dollar signs
    "xtick.color": INK,
    "ytick.color": INK,
    "ytick.labelcolor": BLACK,
}


@contextmanager
def our_style() -> Iterator[None]:
    """Use only our matplotlib settings during the block."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that draws a figure, so that it uses our style."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with our_style():
            return draw(*args, **kwargs)

    return drawn


def source(found: Results) -> str:
    """Return the line below a title: run, board, games and seed."""
    run, plan = found.run, found.run.plan
    where = "a book" if plan.book else plan.board.replace("x", "×")
    games = f"{2 * found.played:,} games"
    if not run.finished:
        games += f" of {2 * plan.total:,}"
    return f"run {run.id} · {where} · {games} · seed {plan.seed}"


class Chart(Figure):
    """A figure that a notebook shows as a picture, also if it does not know matplotlib."""

    def _repr_png_(self) -> bytes:
        return image(self, "png")


def page(found: Results | str, title: str, width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, with a title and a line about its source."""
    figure = Chart(figsize=(width, height), layout="constrained")
    letters = int(width * LETTERS)
    below = found if isinstance(found, str) else source(found)
    lines = [*textwrap.wrap(title, letters), *textwrap.wrap(below, letters)]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10.5)
    return figure


def remark(figure: Figure, *remarks: str) -> None:
    """Write remarks in small print at the bottom of a figure; empty ones are left out."""
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
    """Return a figure as a file in one of `FORMATS`; equal figures give equal bytes."""
    file = BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with our_style():
        figure.savefig(file, format=format, metadata=undated.get(format, {}))
    return file.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format that the file's suffix names."""
    atomic_write(path, image(figure, format_of(path)))


def format_of(path: Path) -> str:
    """Return the format that a file's suffix names: svg, png or pdf."""
    format = path.suffix.removeprefix(".").lower()
    if format not in FORMATS:
        raise KnightfallError(f"file {str(path)!r}: the name must end in .svg, .png or .pdf")
    return format


def writable(path: Path, force: bool) -> None:
    """Raise a `KnightfallError` if a chart cannot be written; call it before drawing."""
    check_output(path, force=force)
    format_of(path)


# -- marks -----------------------------------------------------------------------------------


def heat_map(axes: Axes, rates: Floats, sure: npt.NDArray[np.bool_], size: float) -> None:
    """Draw win rates in per cent as coloured squares with numbers.

    Numbers are bold where `sure` is true; squares are empty where the rate is nan.
    """
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
        text.set_in_layout(False)  # each stays in its square, and thousands would slow the layout
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def dots(axes: Axes, names: Sequence[str], values: Floats, low: Floats, high: Floats) -> None:
    """Draw a named dot with its error bar for each row, the first on top."""
    rows = np.arange(len(names))
    axes.errorbar(values, rows, xerr=[values - low, high - values], **DOTS)
    axes.set_yticks(rows, names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(color=EDGE)
    axes.set_axisbelow(True)


def even_line(axes: Axes, at: float, *, vertical: bool = False) -> None:
    """Draw a line at the value at which neither side is better."""
    line = axes.axvline if vertical else axes.axhline
    line(at, color=INK, linewidth=0.9, linestyle=DASHES, zorder=1)


LONGEST = 38
"""Most characters of a name; longer names lose their middle."""


def labels(
    entrants: Sequence[Entrant], most: int = LONGEST, who: str = "heuristics"
) -> tuple[list[str], str]:
    """Return a different label for each entrant, and a remark that explains the labels.

    Labels are those of `short_names`, cut if they are long.  If heuristics stand for agents, the
    remark says how they search; it begins with `who`.
    """
    called = short_names(entrants)
    remark = ""
    for entrant, name in zip(entrants, called, strict=True):
        how = agent_parts(entrant.agent)
        if "(" in entrant.name and name != entrant.name and how is not None:
            remark = f"{who} play as {how[0]}({', '.join(('…', *how[2]))})"
    cut = [shortened(name, most) for name in called]
    for at, name in enumerate(cut):
        if cut.count(name) > 1 and called[at] != name:  # equal after cutting: add a number
            cut[at] = f"{shortened(called[at], most - 4)} {at + 1}"
    return cut, remark
