"""Helpers for tests in a browser: an installed Chromium, driven by Playwright."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (
        path
        for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run",
]  # fmt: skip


def need_browser() -> None:
    """Skip the calling test module if Playwright or Chromium is missing."""
    pytest.importorskip("playwright", reason="playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, yield it, and close it at the end of the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        _kept.clear()
        browser.close()


@contextmanager
def opened(browser: Any, url: str, **options: Any) -> Iterator[Any]:
    """Open a URL, yield the page, and fail if the page logged an error or threw an exception.

    Without options, the page of the previous call is reused, because starting one takes time.
    """
    page = None if options else _kept.pop(browser, None)
    if page is None:
        # With reduced motion the opponent replies without a pause.
        usual = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        context.set_default_timeout(60_000)  # milliseconds: the machine may be busy
        page = context.new_page()
    errors: list[str] = []

    def on_exception(error: Any) -> None:
        errors.append(str(error))

    def on_console(message: Any) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("pageerror", on_exception)
    page.on("console", on_console)
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    yield page
    if options:
        page.context.close()
    else:
        page.evaluate("() => [localStorage, sessionStorage].forEach((kept) => kept.clear())")
        page.remove_listener("pageerror", on_exception)
        page.remove_listener("console", on_console)
        page.goto("about:blank")  # ends all computations of the page
        _kept[browser] = page
    assert not errors, errors


_kept: dict[Any, Any] = {}
"""The idle page of each browser, which the next call of `opened` reuses."""


def file_url(path: Path, address: str = "") -> str:
    return path.absolute().as_uri() + (f"#{address}" if address else "")


def of(moves: list[str]) -> str:
    return f"moves={'.'.join(moves)}"


def said(page: Any) -> str:
    return str(page.inner_text("#status"))


def until_said(page: Any, words: str) -> None:
    page.wait_for_function(
        "words => document.getElementById('status').textContent.includes(words)", arg=words
    )


def cell(page: Any, name: str) -> Any:
    return page.locator(f"#board button[aria-label^='{name},']")


def moves_of(page: Any) -> list[str]:
    """Return the moves of the current line, as the page's address has them."""
    found = re.search(r"moves=([\w.]*)", page.url)
    return [name for name in found[1].split(".") if name] if found else []


def choose_opponent(page: Any, agent: str) -> None:
    """Choose an opponent's card in the dialog for a new game."""
    page.locator(f'.face[data-opponent="{agent}"]').click()


def axe_report(page: Any) -> dict[str, Any]:
    """Return the results of the accessibility checker axe on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    if not page.evaluate("() => 'axe' in globalThis"):
        page.evaluate(axe.Axe().axe_script)
    found: dict[str, Any] = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return found
