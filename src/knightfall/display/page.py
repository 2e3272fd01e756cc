"""An HTML page that needs nothing else: no scripts, no files, no network."""

from __future__ import annotations

from html import escape

from knightfall.display.printable import printable

STYLE = """
:root { color-scheme: light dark; --paper: #fbf7ee; --ink: #2a2420; --soft: #6d6353;
  --edge: #d8cdb8; --link: #2f6aa8; --good: #23734d; --bad: #b8452b; --band: #f3ecdd; }
@media (prefers-color-scheme: dark) { :root { --paper: #1d1a17; --ink: #ece5d8; --soft: #b3a792;
  --edge: #4a4238; --link: #8fbbe8; --good: #7cc9a0; --bad: #ef9479; --band: #272320; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 0.5em; } h1 { margin-top: 0.5em; }
h2 { border-top: 1px solid var(--edge); padding-top: 0.8em; }
a { color: var(--link); } code { font-size: 0.92em; } li { margin: 0.3em 0; }
nav { font-size: 0.95em; } nav a { margin-right: 0.9em; white-space: nowrap; }
.scroll { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; font-size: 0.88rem; line-height: 1.35; }
""".strip()


def document(title: str, body: str, style: str = "") -> str:
    """A whole page; the title is plain text, the body HTML."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{STYLE}{style}
</style>
</head>
<body>
{body}</body>
</html>
"""


def text(words: str) -> str:
    """Foreign text for a page: it can neither mark up nor break anything."""
    return escape(printable(words))
