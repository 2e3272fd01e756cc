"""Check the built documentation site: ``python docs/check_site.py build/docs-site``.

Every link of every page must lead to a file, and to an anchor that exists in it; no page may load
anything from another host.  Links that a reader may follow to another host are not opened.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script", "img", "iframe", "source", "audio", "video", "embed"}
"""Elements whose `src` is loaded with the page; so is the `href` of most ``<link>``s."""
ONLY_NAMED = {"canonical", "alternate", "next", "prev"}
"""Values of `rel` with which a ``<link>`` loads nothing."""


class Page(HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, file: Path) -> None:
        """Read a page."""
        super().__init__()
        self.links: list[tuple[str, bool]] = []
        """Addresses, each with whether it is loaded with the page."""
        self.anchors: set[str] = {"", "top"}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchors of an element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        loaded = tag in LOADED or (tag == "link" and given.get("rel") not in ONLY_NAMED)
        self.links += [(given[name], loaded) for name in ("href", "src") if name in given]


@cache
def page(file: Path) -> Page:
    """Return a page, read once."""
    return Page(file)


def wrong(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere or loads something from another host."""
    files = sorted(site.rglob("*.html"))
    if not files:
        yield f"there are no pages in {site}"
    for file in files:
        for link, loaded in page(file).links:
            reason = _wrong(site, file, link, loaded)
            if reason:
                yield f"{file.relative_to(site)}: {link!r} {reason}"


def _wrong(site: Path, file: Path, link: str, loaded: bool) -> str:
    """Return what is wrong with a link; an empty text if nothing is."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        outside = parts.scheme in ("http", "https", "") and parts.netloc
        return "is loaded from another host" if outside and loaded else ""
    path = unquote(parts.path)
    # Only the page for missing pages has absolute links, because it is shown at any address.
    there = site / path.lstrip("/") if path.startswith("/") else file.parent / path
    there = file if not path else (there / "index.html" if there.is_dir() else there)
    if not there.is_file():
        return "leads nowhere"
    # What follows # in the address of the game is a position, not an anchor.
    if there.suffix != ".html" or "play" in there.relative_to(site.absolute()).parts[:1]:
        return ""
    found = unquote(parts.fragment) in page(there).anchors
    return "" if found else "names an anchor that does not exist"


def main() -> None:
    """Check the site that the command line names, and exit with 1 if anything is wrong."""
    site = Path(sys.argv[1]).absolute()
    found = list(wrong(site))
    for line in found:
        print(line)
    pages = sum(1 for _ in site.rglob("*.html"))
    links = sum(len(page(file).links) for file in site.rglob("*.html"))
    print(f"{pages} pages with {links:,} links, {len(found)} of them dead")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
