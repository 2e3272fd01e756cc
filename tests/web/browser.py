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
        for name in ("chromium", "chromium-browser", "google-chrome")
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
        browser.close()


@contextmanager
def opened(browser: Any, url: str, **options: Any) -> Iterator[Any]:
    """A page that must not complain."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    context.set_default_timeout(60_000)  # milliseconds: the machine may be busy
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.ready")
    yield page
    context.close()
    assert complaints == []


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
