"""Renderings of a position for `env.render()`: text, or the picture of the page in pixels.

The pixels are drawn from the SVG of `knightfall.picture`, so that there is one design only.  This
module knows the few elements and attributes that occur there.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from knightfall.display.printable import print_line
from knightfall.picture import svg, text
from knightfall.position import Position

WIDTH = 360
"""The width of a picture in pixels."""

_FINER = 3
"""Shapes are drawn this many times larger and then reduced, which smooths their edges."""

_STEPS = 12
"""Into how many straight lines a curve is divided."""

Point = tuple[float, float]


def rendered(position: Position, mode: str | None) -> str | npt.NDArray[np.uint8] | None:
    """Return the rendering of a position; with the mode ``human``, print it and return None."""
    if mode == "rgb_array":
        return pixels(position)
    if mode == "human":
        print_line(*text(position).splitlines(), "", file=sys.stdout)
        return None
    return text(position) if mode == "ansi" else None


def pixels(position: Position, width: int = WIDTH) -> npt.NDArray[np.uint8]:
    """Return the picture of a position as an array of shape (height, width, 3)."""
    root = ElementTree.fromstring(svg(position, size=width))
    _, _, units, _ = map(float, root.attrib["viewBox"].split())
    height = int(root.attrib["height"])
    scale = _FINER * width / units
    image = Image.new("RGB", (_FINER * width, _FINER * height), "white")
    _draw(root, image, scale, (0.0, 0.0), {})
    smooth = image.resize((width, height), Image.Resampling.BOX)
    return np.array(smooth, np.uint8)


def _draw(
    group: Any, image: Image.Image, scale: float, corner: Point, inherited: dict[str, str]
) -> None:
    """Draw the elements of a group, whose attributes apply to them unless they have their own."""
    for element in group:
        name = element.tag.rpartition("}")[2]
        style = {**inherited, **element.attrib}
        if name == "g":
            moved, larger = corner, scale
            found = re.fullmatch(
                r"translate\((\S+) (\S+)\) scale\((\S+)\)", element.get("transform", "")
            )
            if found:
                moved = (corner[0] + scale * float(found[1]), corner[1] + scale * float(found[2]))
                larger = scale * float(found[3])
            _draw(element, image, larger, moved, style)
        elif name == "text":
            _write(element.text or "", image, scale, corner, style)
        elif name in _SHAPES:
            for outline, closed in _SHAPES[name](style):
                points = [(corner[0] + scale * x, corner[1] + scale * y) for x, y in outline]
                _paint(image, points, closed, scale, style)


def _paint(
    image: Image.Image, points: list[Point], closed: bool, scale: float, style: dict[str, str]
) -> None:
    """Fill an outline and draw its stroke."""
    width = round(scale * float(style.get("stroke-width", 1)))
    # Only the part of the picture that the shape covers is touched.
    left, top = (math.floor(min(axis)) - width - 1 for axis in zip(*points, strict=True))
    right, bottom = (math.ceil(max(axis)) + width + 2 for axis in zip(*points, strict=True))
    points = [(x - left, y - top) for x, y in points]
    for part in ("fill", "stroke"):
        colour = style.get(part, "none")
        if colour == "none":
            continue
        mask = Image.new("L", (right - left, bottom - top))
        draw, opaque = ImageDraw.Draw(mask), round(255 * float(style.get(f"{part}-opacity", 1)))
        if part == "fill":
            draw.polygon(points, fill=opaque)
        else:
            # Both ends are drawn once more, so that the corner between them is round as well.
            line = [*points, *points[:2]] if closed else points
            draw.line(line, fill=opaque, width=max(1, width), joint="curve")
            radius = width / 2
            for x, y in () if closed else (points[0], points[-1]):
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=opaque)
        image.paste(colour, (left, top, right, bottom), mask)


def _write(
    words: str, image: Image.Image, scale: float, corner: Point, style: dict[str, str]
) -> None:
    place = (corner[0] + scale * float(style["x"]), corner[1] + scale * float(style["y"]))
    anchor = "ms" if style.get("text-anchor") == "middle" else "ls"
    font = _font(round(scale * float(style["font-size"])))
    ImageDraw.Draw(image).text(place, words, fill=style["fill"], font=font, anchor=anchor)


@lru_cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)


# -- outlines of shapes ------------------------------------------------------------------------


def _rect(style: dict[str, str]) -> Iterator[tuple[list[Point], bool]]:
    x, y, width, height, radius = (
        float(style.get(name, 0)) for name in ("x", "y", "width", "height", "rx")
    )
    centres = (
        (x + width - radius, y + radius),
        (x + width - radius, y + height - radius),
        (x + radius, y + height - radius),
        (x + radius, y + radius),
    )
    yield (
        [
            point
            for quarter, centre in enumerate(centres, start=-1)
            for point in _arc(centre, radius, quarter / 4, 1 / 4)
        ],
        True,
    )


def _arc(centre: Point, radius: float, begin: float, part: float) -> list[Point]:
    """Return points on a circle from `begin` on, both in turns; only the centre if radius is 0."""
    steps = max(1, round(4 * part * _STEPS)) if radius else 0
    angles = (2 * math.pi * (begin + part * step / max(1, steps)) for step in range(steps + 1))
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]


def _circle(style: dict[str, str]) -> Iterator[tuple[list[Point], bool]]:
    yield _arc((float(style["cx"]), float(style["cy"])), float(style["r"]), 0, 1), True


def _polygon(style: dict[str, str]) -> Iterator[tuple[list[Point], bool]]:
    numbers = [float(number) for number in re.findall(r"[-.\d]+", style["points"])]
    yield list(zip(numbers[::2], numbers[1::2], strict=True)), True


def _path(style: dict[str, str]) -> Iterator[tuple[list[Point], bool]]:
    """Yield the outlines of a path of absolute commands: M, L, H, V, C, Q and Z."""
    outline: list[Point] = []
    for command, rest in re.findall(r"([MLHVCQZ])([^MLHVCQZ]*)", style["d"]):
        numbers = [float(number) for number in re.findall(r"[-.\d]+", rest)]
        if command == "M" and outline:
            yield outline, False
            outline = []
        if command == "Z":
            yield outline, True
            outline = []
        elif command == "H":
            outline.append((numbers[0], outline[-1][1]))
        elif command == "V":
            outline.append((outline[-1][0], numbers[0]))
        else:
            controls = list(zip(numbers[::2], numbers[1::2], strict=True))
            length = {"C": 3, "Q": 2}.get(command, 1)
            for at in range(0, len(controls), length):
                curve = controls[at : at + length]
                outline += curve if length == 1 else _curve(outline[-1], curve)
    if outline:
        yield outline, False


def _curve(start: Point, controls: list[Point]) -> list[Point]:
    """Return points on a Bézier curve, without its start."""
    points = [start, *controls]
    degree = len(controls)
    found = []
    for step in range(1, _STEPS + 1):
        t = step / _STEPS
        weights = [math.comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]
        found.append(
            (
                sum(w * x for w, (x, _) in zip(weights, points, strict=True)),
                sum(w * y for w, (_, y) in zip(weights, points, strict=True)),
            )
        )
    return found


_SHAPES = {"rect": _rect, "circle": _circle, "polygon": _polygon, "path": _path}
