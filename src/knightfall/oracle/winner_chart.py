"""Chart the winner after every ply of a game, as text and as SVG.

As text, there is a column per position (0 is the start) and a mark under every blunder::

    ♘  ██████   ████████
    ♞        ███        ████
             ▲  ▲       ▲
       0    5    10   15   20
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape

from knightfall.oracle.annotate import Annotation, Remark
from knightfall.position import Side

LABEL_EVERY = 5

FILLED, MARK, UNKNOWN = "█", "▲", "·"
_PLAIN = str.maketrans({FILLED: "#", MARK: "^", UNKNOWN: "."})


def chart_lines(annotation: Annotation, *, unicode: bool = True) -> dict[str, str]:
    """Return the lines of the chart by name.

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


# -- SVG -------------------------------------------------------------------------------------
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
