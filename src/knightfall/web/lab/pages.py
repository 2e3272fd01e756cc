"""The page as the lab serves it: the site's own files, the lab's modules, and the token."""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath

from knightfall.web.site import PAGE, files

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""Told here: what a system thinks of a file's name is not to be relied upon."""

INDEX = "index.html"


def pages(token: str) -> dict[str, bytes]:
    """Every file by its path.  The page that holds the token is not to be kept by anybody."""
    found = files()
    own = {f"lab/{path.name}": path for path in sorted((PAGE / "lab").iterdir())}
    found |= {name: path.read_bytes() for name, path in own.items() if path.suffix in KINDS}
    tag = f'<meta name="knightfall-lab" content="{escape(token)}">'
    page = found[INDEX].decode().replace("</head>", f"{tag}\n</head>", 1)
    return {**found, INDEX: page.encode()}


def kind_of(name: str) -> str:
    """The media type of a file."""
    return KINDS[PurePosixPath(name).suffix]
