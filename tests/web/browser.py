"""A browser for the tests: Debian's chromium, driven by Playwright."""

from __future__ import annotations

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
    """Skip the module where there is no browser, and say so."""
    pytest.importorskip("playwright", reason="playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        _kept.clear()
        browser.close()


@contextmanager
def opened(browser: Any, url: str, **options: Any) -> Iterator[Any]:
    """A page that must not complain.

    One without options is loaded where the last of them was: its process is there already.
    """
    page = None if options else _kept.pop(browser, None)
    if page is None:
        # Without motion an opponent's reply does not wait until yours has been seen.
        usual = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        context.set_default_timeout(60_000)  # milliseconds: the machine may be busy
        page = context.new_page()
    complaints: list[str] = []

    def complain(error: Any) -> None:
        complaints.append(str(error))

    def hear(said: Any) -> None:
        if said.type == "error":
            complaints.append(said.text)

    page.on("pageerror", complain)
    page.on("console", hear)
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    yield page
    if options:
        page.context.close()
    else:
        page.evaluate("() => [localStorage, sessionStorage].forEach((kept) => kept.clear())")
        page.remove_listener("pageerror", complain)
        page.remove_listener("console", hear)
        page.goto("about:blank")  # which ends all that it is busy with
        _kept[browser] = page
    assert not complaints, complaints


_kept: dict[Any, Any] = {}
"""The page of a browser that nobody looks at."""


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


def choose_opponent(page: Any, agent: str) -> None:
    """Choose an opponent's card in the dialog for a new game."""
    page.locator(f'.face[data-opponent="{agent}"]').click()


def told_by_axe(page: Any) -> dict[str, Any]:
    """What axe finds on a page: passes and violations."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe looks at it")
    if not page.evaluate("() => 'axe' in globalThis"):
        page.evaluate(axe.Axe().axe_script)
    found: dict[str, Any] = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return found
