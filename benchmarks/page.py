"""The web page in a browser: time until it can be played, size, and time to the truth.

Needs playwright and chromium. The page is served locally, so that no network is measured, and
starts with an empty cache each time.
"""

from __future__ import annotations

import gzip
import random
import shutil
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from knightfall.board import Board
from knightfall.openings import openings
from knightfall.position import Position
from knightfall.web.site import files, single_file, write_site

from .result import Ratio, Result

SUMMARY = "The page: milliseconds until it can be played, kilobytes, milliseconds to the truth"
LOADS, POSITIONS, MIDDLE = 7, 60, 10
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HEAVY = ("puzzles.json", "atlas.json")
PLAYED, WEIGHT, SINGLE = (
    "until it can be played, in ms",
    "kB without puzzles and atlas",
    "kB of the single file",
)
CLICK = "from a click to the knight that has moved, in ms"
MIDGAME, OPENING = "truth of a mid-game position, in ms", "✓ and ✗ of an opening, in ms"
GOALS = {
    PLAYED: 1000.0, WEIGHT: 300.0, SINGLE: 400.0, CLICK: 100.0, MIDGAME: 200.0, OPENING: 200.0,
}  # fmt: skip

MOVE = """async () => {
  const board = document.getElementById("board"), target = board.querySelector(".target");
  const began = performance.now();
  board.choose(Number(target.dataset.cell));
  while (!target.querySelector(".knight")) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
TURN = """() => {
  const { thinking, busy, game, look } = knightfall.state;
  return !thinking && !busy && look?.node === game.tree.at
    && (game.tree.at.position.side === game.you || !look.seen.moves.length);
}"""

TRUTH = """async (fen) => {
  const { play, notation } = globalThis.knightfall, position = notation.parseFen(fen);
  const { solver } = play.engines;
  await solver.ask("advance", { position, cell: 0 }); // the engine is up
  const began = performance.now();
  let first = 0;
  const seen = () => (first ||= performance.now() - began);
  await solver.ask("truth", { position, ms: 60000 }, seen);
  return [first, performance.now() - began];
}"""


def _middle(rng: random.Random) -> Position:
    """Return a position after some random plies of a random opening."""
    while True:
        position = Position.from_fen(rng.choice(openings(Board.of(7, 7))))
        for _ in range(MIDDLE):
            if position.legal_moves:
                position = position.play(rng.choice(position.legal_moves))
        if position.legal_moves:
            return position


def _fresh(browser: Any, url: str) -> tuple[Any, float]:
    """Open the page in a browser without a cache; return it and the milliseconds until it can be
    played.
    """
    page = browser.new_context().new_page()
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    return page, float(page.evaluate("() => globalThis.knightfall.readyAfter"))


def _clicks(page: Any) -> list[float]:
    """Play a game; return the milliseconds from each click until the knight has moved."""
    took = []
    while True:
        page.wait_for_function(TURN)
        if not page.locator("#board .target").count():
            return took
        took.append(float(page.evaluate(MOVE)))


def run(loads: int = LOADS, positions: int = POSITIONS) -> Result:
    """Load the page several times, and solve some positions in it."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return Result(skipped="playwright is not installed")
    if path is None:
        return Result(skipped="there is no chromium")
    rng = random.Random(14)
    ours = {name: data for name, data in files().items() if name not in HEAVY}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_site(Path(folder))
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/index.html"
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        times = [_fresh(browser, url)[1] for _ in range(loads)]
        page, _ = _fresh(browser, url)
        middle = [page.evaluate(TRUTH, _middle(rng).fen) for _ in range(positions)]
        starts = rng.sample(openings(Board.of(7, 7)), positions)
        opening = [page.evaluate(TRUTH, fen)[0] for fen in starts[: positions // 4]]
        games = [f"{url}#moves={first}.a1&vs=id(improved)&you=w" for first in ("d4", "c5", "e6")]
        clicks = [took for game in games for took in _clicks(_fresh(browser, game)[0])]
        browser.close()
        server.shutdown()
    whole = sorted(took for _, took in middle)
    measured = {
        PLAYED: median(times),
        WEIGHT: sum(map(len, ours.values())) / 1000,
        SINGLE: len(single_file().encode()) / 1000,
        CLICK: max(clicks),
        MIDGAME: whole[len(whole) * 95 // 100],
        OPENING: max(opening),
    }
    return Result(
        ratios={name: Ratio(measured[name], at_most=goal) for name, goal in GOALS.items()},
        figures={
            "kB without puzzles and atlas, gzipped": sum(
                len(gzip.compress(data, 9)) for data in ours.values()
            )
            / 1000,
            "median truth of a mid-game position, in ms": median(whole),
            "median from a click to the knight that has moved, in ms": median(clicks),
            "clicks": len(clicks),
            "positions": positions,
            "loads": loads,
        },
        notes=[
            f"Mid-game: {MIDDLE} random plies; winners and plies of all moves; 95 % take less.",
            "Openings: the longest of those that were asked; the plies of all moves take seconds.",
        ],
    )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""
