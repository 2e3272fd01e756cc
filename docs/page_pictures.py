"""Take the pictures of the page: ``python docs/page_pictures.py``.

They are screenshots of the page itself: those in docs/images, and preview.png, which links to the
page show.  Needs playwright, a chromium and pillow.  Letters are those of the machine's system-ui
font, so the bytes may differ from one machine to another.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import knightfall as kf
from knightfall.web.site import PAGE, single_file

IMAGES = Path(__file__).parent / "images"
PREVIEW = PAGE / "preview.png"
PREVIEW_SIZE = {"width": 1200, "height": 630}
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WINDOW = {"width": 1200, "height": 760}
GAME = "b5.e2.d4.c3.c6.b1.e7.d2.g6.f3.e5.e1.f7.d3.d6.f4"
BUSY = "knightfall.state.thinking || knightfall.state.look?.searching"

PREVIEW_PAGE = """<style>
body { margin: 0; width: 1200px; height: 630px; background: #f4efe6; color: #26211c;
  font-family: system-ui, sans-serif; display: flex; align-items: center; gap: 54px; }
img { margin-left: 31px; width: 568px; height: 568px; }
h1 { margin: 0 0 26px; font-size: 88px; line-height: 1; letter-spacing: -2px; }
p { margin: 0; font-size: 33px; line-height: 1.4; color: #675d4f; }
</style><img src="data:image/png;base64,BOARD"><div><h1>Knightfall</h1>
<p>Two knights.<br>Every cell they leave is gone.<br>Can you trap the other?</p></div>"""


def analyse(page: Any) -> None:
    """Show the truth, a heuristic's opinion and the line of a winning move."""
    page.check("#truth")
    page.fill("#heuristic", "improved")
    page.press("#heuristic", "Enter")
    page.wait_for_function(f"() => !({BUSY}) && knightfall.state.look.truth")
    page.locator("#board .won").first.hover()
    page.wait_for_function("() => knightfall.state.line?.shown >= 4")


def solve_puzzle(page: Any) -> None:
    """Show which moves of a puzzle win and lose."""
    page.wait_for_selector("#puzzle .target")
    page.click("#puzzle-solution")
    page.wait_for_selector("#puzzle .won")


SHOTS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "page-play": (
        f"moves={GAME}&vs=perfect(time=1500ms)&you=w",
        lambda page: page.wait_for_function(f"() => !({BUSY})"),
    ),
    "page-truth": (f"moves={GAME}", analyse),
    "page-puzzle": ("/puzzles/150", solve_puzzle),
    "page-atlas": ("/atlas/7x7/d4", lambda page: page.wait_for_selector("#atlas .won")),
}


def main() -> None:
    """Take all pictures."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "knightfall.html"
        file.write_text(single_file(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (address, prepare) in SHOTS.items():
            with_page(browser, f"{file.as_uri()}#{address}", prepare, IMAGES / f"{name}.png")
        take_lab(browser, Path(folder))
        take_preview(browser, f"{file.as_uri()}#moves={GAME}&vs=random&you=w")
        browser.close()


def with_page(browser: Any, url: str, prepare: Callable[[Any], None], picture: Path) -> None:
    """Take a picture of the page at an address after a preparation step."""
    page = browser.new_context(viewport=WINDOW).new_page()
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    page.evaluate("knightfall.store.set({ welcome: false })")
    prepare(page)
    page.wait_for_timeout(300)  # milliseconds: for knights that slide
    page.screenshot(path=picture)
    shrink(picture)
    page.context.close()


def take_lab(browser: Any, folder: Path) -> None:
    """Play a match until it is decided, and take a picture of its page in the lab."""
    store = folder / "runs.sqlite"
    kf.match("id(bfs_reach)", "id(improved)", sprt=(0, 40), store=store, progress=False)
    command = [sys.executable, "-m", "knightfall", "serve", "--no-browser", "--json"]
    command += ["--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]

        def wait(page: Any) -> None:
            page.wait_for_selector("caption:has-text('Both agents')")

        with_page(browser, f"{url}#/lab/run/1", wait, IMAGES / "page-lab.png")
        server.terminate()


def take_preview(browser: Any, url: str) -> None:
    """Make the image for link previews: the board of a game and a caption."""
    page = browser.new_context(viewport={"width": 1400, "height": 820}).new_page()
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    page.add_style_tag(content=".names { display: none } #board { box-shadow: none !important }")
    board = base64.b64encode(page.locator("#board").screenshot()).decode()
    page.set_viewport_size(PREVIEW_SIZE)
    page.set_content(PREVIEW_PAGE.replace("BOARD", board))
    page.screenshot(path=PREVIEW)
    shrink(PREVIEW, 48)


def shrink(picture: Path, colours: int = 128) -> None:
    """Write a picture with a reduced palette, at about a third of its size."""
    image = Image.open(picture).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    image.save(packed, "PNG", optimize=True)
    picture.write_bytes(packed.getvalue())


if __name__ == "__main__":
    main()
