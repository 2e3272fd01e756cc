"""The documentation site has every page in its menu, and its check finds dead links."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.md"), *(DOCS / "studies").glob("*.md")]


def test_every_page_is_once_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- [^:]+: (\S+)$", menu, re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in PAGES)


def test_links_out_of_the_docs_lead_to_files_of_which_the_site_has_copies() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(((?:\.\./)+[^)#]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if not target.is_relative_to(DOCS):
                assert page.parent == DOCS, link
                assert target.is_file(), link
                assert target.is_relative_to(ROOT / "examples"), link


def checker() -> Any:
    spec = importlib.util.spec_from_file_location("check_site", DOCS / "check_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ('<a href="other/#here">', ""),
        ('<a href="other/index.html?a=1#here">', ""),
        ('<a href="#title">', ""),
        ('<a href="https://example.org/nowhere">', ""),
        ('<a href="mailto:someone@example.org">', ""),
        ('<link rel="canonical" href="https://example.org/">', ""),
        ('<a href="othre/">', "leads nowhere"),
        ('<a href="picture.png">', "leads nowhere"),
        ('<a href="other/#there">', "names an anchor that does not exist"),
        ('<a href="#other">', "names an anchor that does not exist"),
        ('<img src="gone.svg">', "leads nowhere"),
        ('<script src="https://example.org/a.js">', "is loaded from another host"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "is loaded from another host"),
    ],
)
def test_dead_links_are_found(tmp_path: Path, link: str, reason: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text('<h2 id="here">', encoding="utf-8")
    (tmp_path / "index.html").write_text(f'<h1 id="title">{link}', encoding="utf-8")
    found = list(checker().wrong(tmp_path))
    assert len(found) == bool(reason)
    assert all(line.startswith("index.html: ") and line.endswith(reason) for line in found)


def test_an_empty_site_is_no_success(tmp_path: Path) -> None:
    assert list(checker().wrong(tmp_path)) == [f"there are no pages in {tmp_path}"]
