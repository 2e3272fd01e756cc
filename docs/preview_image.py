"""Draw the image that link previews of the page show: ``python docs/preview_image.py``.

It is a game of the readme after some plies, drawn as the page draws it.  Needs playwright, a
chromium and pillow.  The letters are those of the machine's system-ui font, so the bytes may differ
from one machine to another.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor
from playwright.sync_api import sync_playwright

from knightfall.picture import _BASE, _HEAD
from knightfall.position import Position

FILE = Path(__file__).parent.parent / "src/knightfall/web/page/preview.png"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

WIDTH, HEIGHT, MOST_BYTES = 1200, 630, 12_000
CELL, MARGIN = 80, 31
MOVES = "b5 e2 d4 c3 c6 b1 e7 d2 g6 f3 e5 e1 f7 d3 d6 f4"

# The page's colours (style.css).
PAPER, INK, SOFT, FRAME = "#fbf7ee", "#2a2420", "#6d6353", "#8a7650"
LIGHT, DARK, PIT, HATCH = "#f1e4c8", "#d9bf8f", "#4a505c", "#737b88"
LAST, TARGET = "#f2b632", "#5f9a82"
KNIGHTS = {"w": ("#ffffff", INK, 4.5), "b": ("#2b2f3a", "#f7f1e3", 2.5)}
"""Fill, outline and the outline's width of each side's knight."""
SMOOTH = ("#aca497", "#d4cdc1", "#9dad89")
"""For the smooth edges of letters and targets."""
COLOURS = (PAPER, INK, SOFT, FRAME, LIGHT, DARK, PIT, HATCH, LAST, TARGET, *SMOOTH)
PALETTE = [
    *COLOURS,
    *(colour for fill, outline, _ in KNIGHTS.values() for colour in (fill, outline)),
]

STYLE = f"""
body {{ margin: 0; width: {WIDTH}px; height: {HEIGHT}px; background: {PAPER}; color: {INK};
  font-family: system-ui, sans-serif; display: flex; align-items: center; }}
svg {{ flex: none; margin: 0 54px 0 {MARGIN}px; }}
h1 {{ margin: 0 0 26px -5px; font-size: 92px; line-height: 1; letter-spacing: -2px; }}
p {{ margin: 0; font-size: 33px; line-height: 1.4; color: {SOFT}; white-space: nowrap; }}
"""


def board_svg(position: Position) -> str:
    """Return the board with its knights, gone cells, last move and the mover's targets."""
    span = 7 * CELL
    cells = "".join(_cell(position, cell) for cell in range(position.board.cells))
    knights = "".join(_knight(position, side) for side in KNIGHTS)
    return (
        f'<svg viewBox="-4 -4 {span + 8} {span + 8}" width="{span + 8}" height="{span + 8}">'
        f'<defs><pattern id="gone" width="20" height="20" patternUnits="userSpaceOnUse">'
        f'<path d="M0 0H20V20H0Z" fill="{PIT}"/>'
        f'<path d="M-5 5L5 -5M-5 25L25 -5M15 25L25 15" stroke="{HATCH}" stroke-width="4" '
        f'shape-rendering="crispEdges"/>'
        f'</pattern><clipPath id="round"><rect width="{span}" height="{span}" rx="8"/></clipPath>'
        f'</defs><g clip-path="url(#round)">{cells}</g>{knights}'
        f'<rect x="-1.5" y="-1.5" width="{span + 3}" height="{span + 3}" rx="9" fill="none" '
        f'stroke="{FRAME}" stroke-width="3"/></svg>'
    )


def _cell(position: Position, cell: int) -> str:
    board = position.board
    x, y = board.column(cell) * CELL, board.row(cell) * CELL
    colour = DARK if (board.row(cell) + board.column(cell)) % 2 else LIGHT
    gone = cell not in position.open | {position.white, position.black}
    drawn = _inner_square(x, y, 0, f'fill="{DARK if gone else colour}"')
    if gone:
        drawn += _inner_square(x, y, 2, 'fill="url(#gone)"')
    if position.last and cell in position.last:
        drawn += _inner_square(x, y, 2.5, f'fill="none" stroke="{LAST}" stroke-width="5"')
    if cell in position.targets(position.to_move):
        centre = f'cx="{x + CELL / 2}" cy="{y + CELL / 2}"'
        drawn += f'<circle {centre} r="{CELL * 0.12}" fill="{TARGET}"/>'
    return drawn


def _inner_square(x: float, y: float, inset: float, style: str) -> str:
    side = CELL - 2 * inset
    return f'<rect x="{x + inset}" y="{y + inset}" width="{side}" height="{side}" {style}/>'


def _knight(position: Position, side: str) -> str:
    cell = position.white if side == "w" else position.black
    assert cell is not None
    fill, outline, width = KNIGHTS[side]
    scale = 0.96 * CELL / 100
    x = (position.board.column(cell) + 0.01) * CELL
    y = (position.board.row(cell) + 0.02) * CELL
    return (
        f'<path transform="translate({x} {y}) scale({scale})" d="{_HEAD}{_BASE}" fill="{fill}" '
        f'stroke="{outline}" stroke-width="{width}" stroke-linejoin="round"/>'
    )


def screenshot(html: str) -> Image.Image:
    """Return what a browser shows of a page of the image's size."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(html)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    return image


def with_palette(image: Image.Image) -> Image.Image:
    """Return the image in the colours of PALETTE, each pixel in the nearest of them."""
    palette = np.array([ImageColor.getrgb(colour) for colour in dict.fromkeys(PALETTE)])
    distances = ((np.asarray(image)[:, :, None].astype(int) - palette) ** 2).sum(axis=3)
    reduced = Image.fromarray(distances.argmin(axis=2).astype(np.uint8))
    reduced.putpalette(palette.astype(np.uint8).tobytes())
    return reduced


def main() -> None:
    """Draw the image, reduce it to few colours and write it."""
    position = Position.from_moves(MOVES.split())
    html = (
        f"<!doctype html><style>{STYLE}</style>{board_svg(position)}<div><h1>Knightfall</h1>"
        "<p>Two knights.<br>Every cell they leave is gone.</p></div>"
    )
    image = with_palette(screenshot(html))
    image.save(FILE, optimize=True, bits=4)
    size = FILE.stat().st_size
    print(f"{FILE}: {image.width}×{image.height}, {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"the image has {size:,} bytes; at most {MOST_BYTES:,} are wanted")


if __name__ == "__main__":
    main()
