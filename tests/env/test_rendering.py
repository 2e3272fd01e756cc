"""The picture in pixels: what stands on each cell, compared with the position."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from helpers import need

need("gymnasium", "PIL")

from knightfall.env.rendering import _SHAPES, pixels  # noqa: E402
from knightfall.position import Position  # noqa: E402


def test_each_cell_shows_what_stands_there() -> None:
    position = Position.from_fen("7/2**3/1N5/7/7/4n2/7 w")
    width = 360
    picture = pixels(position, width)
    assert picture.dtype == np.uint8
    assert picture.shape[1:] == (width, 3)
    unit = width / (24 + 7 * 40 + 12)
    light = {}
    for cell in range(49):
        row, column = divmod(cell, 7)
        x, y = unit * (24 + 40 * column + 20), unit * (12 + 40 * row + 20)
        part = picture[int(y - 8 * unit) : int(y + 8 * unit), int(x - 8 * unit) : int(x + 8 * unit)]
        light[cell] = float(part.mean())
    targets = set(position.targets("w"))
    empty = [v for cell, v in light.items() if cell in position.open and cell not in targets]
    assert min(empty) > 190
    assert light[position.white] > light[position.black] + 60  # white's knight, and black's
    blocked = [cell for cell in range(49) if cell not in position.open]
    for cell in {*blocked} - {position.white, position.black}:
        assert light[cell] < 130
        row, column = divmod(cell, 7)
        stroke, pit = (  # a stroke crosses the middle of the pit
            picture[int(unit * (12 + 40 * row + at)), int(unit * (24 + 40 * column + at))].mean()
            for at in (20, 16)
        )
        assert stroke > pit + 15
    for cell in targets:  # a green dot
        row, column = divmod(cell, 7)
        dot = picture[int(unit * (32 + 40 * row)), int(unit * (44 + 40 * column))]
        assert dot[1] > dot[0] + 30


@pytest.mark.parametrize("fen", ["3/3/3[Nn] w", "8/8/8/8/8/8/8/8[Nn] w", "4/1N2/4/2n1/4/4 b"])
def test_every_board_has_a_picture(fen: str) -> None:
    position = Position.from_fen(fen)
    picture = pixels(position)
    assert picture.shape[1] == 360
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 8


def on_curve(points: list[tuple[float, float]], t: float) -> tuple[float, float]:
    """Return a point on a Bézier curve by interpolating between neighbours again and again."""
    while len(points) > 1:
        points = [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(points)]
    return points[0]


@pytest.mark.parametrize("command", ["C 0 10 10 20 10 0", "Q 5 12 10 0"])
def test_curves_of_a_path_are_those_of_svg(command: str) -> None:
    ((outline, closed),) = _SHAPES["path"]({"d": f"M 2 1 {command} Z"})
    numbers = [float(word) for word in command.split()[1:]]
    controls = [(2.0, 1.0), *zip(numbers[::2], numbers[1::2], strict=True)]
    steps = len(outline) - 1
    assert (steps > 4, closed) == (True, True)
    expected = [on_curve(controls, step / steps) for step in range(steps + 1)]
    assert np.allclose(outline, expected)


def test_straight_paths_circles_and_polygons_are_those_of_svg() -> None:
    ((outline, closed), (other, _)) = _SHAPES["path"]({"d": "M1 2 L3 4 H7 V-1 M0 0 L9 8"})
    assert (outline, closed) == ([(1, 2), (3, 4), (7, 4), (7, -1)], False)
    assert other == [(0, 0), (9, 8)]
    ((circle, closed),) = _SHAPES["circle"]({"cx": "5", "cy": "-2", "r": "3"})
    assert closed
    assert np.allclose(np.hypot(*(np.array(circle) - (5, -2)).T), 3)
    assert np.allclose(np.min(circle, axis=0), (2, -5), atol=0.1)
    assert np.allclose(np.max(circle, axis=0), (8, 1), atol=0.1)
    assert list(_SHAPES["polygon"]({"points": "0,1 2,3 -4,5"})) == [
        ([(0, 1), (2, 3), (-4, 5)], True)
    ]
