"""Helpers that write GitHub-flavoured Markdown, and the HTML page made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knightfall.display.report import document
from knightfall.studies.comparisons import MARKS

BEGIN, END = "<!-- begin timings -->", "<!-- end timings -->"
"""Markers around what differs from run to run, so that a comparison can skip it."""


def heading(level: int, text: str, id: str) -> str:
    """Return a heading with an anchor, so that `[text](#id)` links to it."""
    return f'{"#" * level} <a id="{id}"></a>{text}'


def bullets(items: Iterable[str]) -> str:
    """Return a bulleted list."""
    return "\n".join(f"- {item}" for item in items)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """Return a table; with `numbers`, its columns from the second on are right-aligned.

    A newline in a cell becomes a line break.
    """
    side = "--:" if numbers else "---"
    lines = [_line(columns), f"|---|{'|'.join(side for _ in columns[1:])}|"]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Iterable[str]) -> str:
    inside = " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return f"| {inside} |"


def fold(title: str, inside: str) -> str:
    """Return a section that is collapsed until the reader opens it."""
    return f"<details>\n<summary>{title}</summary>\n\n{inside}\n\n</details>"


def chart(name: str, charts: Mapping[str, str]) -> list[str]:
    """Return an image link to a chart; empty if `charts` (descriptions by name) lacks it."""
    return [f"![{charts[name]}]({name}.svg)"] if name in charts else []


def command(text: str) -> str:
    """Return a block of shell commands."""
    return f"```sh\n{text}\n```"


# -- the page ------------------------------------------------------------------------------


STYLE = """
th, td { padding: 0.35em 0.7em; text-align: left; vertical-align: top; min-width: 6rem;
  border-bottom: 1px solid var(--edge); overflow-wrap: normal; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
tbody tr:nth-child(even) { background: var(--band); }
.numbers th, .numbers td { min-width: 0; font-variant-numeric: tabular-nums; }
.numbers td, .words td:not(:last-child) { white-space: nowrap; }
.words td:last-child { min-width: 18rem; } .claims td { min-width: 9rem; }
.claims td:nth-child(2) { white-space: nowrap; }
.holds, .does-not-hold, .cannot-be-told-apart, .not-a-claim-that-can-be-tested {
  font-weight: 600; color: var(--soft); }
.holds { color: var(--good); } .does-not-hold { color: var(--bad); }
figure { margin: 1em 0; overflow-x: auto; } figure svg { width: 100%; min-width: 34rem;
  height: auto; display: block; border-radius: 6px; }
pre { background: var(--band); padding: 0.7em 1em; overflow-x: auto; border-radius: 6px; }
details { margin: 0.6em 0; } summary { cursor: pointer; color: var(--link); }
""".rstrip()

KINDS = {"claim": "claims", "wish": "claims"}
"""Classes of tables of sentences, by the title of their first column."""


def html_page(text: str, charts: Mapping[str, tuple[str, str]]) -> str:
    """Return the Markdown as an HTML page; `charts` holds SVGs to inline and descriptions."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    tokens = parser.parse(text)
    body = parser.renderer.render(tokens, parser.options, {})
    body = re.sub(
        r'<p><img src="([\w-]+)\.svg"[^>]*></p>',
        lambda found: f"<figure>\n{inlined(*charts[found[1]], found[1])}</figure>",
        body,
    )
    for verdict, mark in MARKS.items():
        kind = verdict.replace(" ", "-")
        body = body.replace(f"{mark} {verdict}", f'<span class="{kind}">{mark} {verdict}</span>')
    title, end, rest = body.partition("</h1>\n")
    return document(re.sub("<[^>]*>", "", title), f"{title}{end}{_contents(tokens)}\n{rest}", STYLE)


def _table_open(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Return the opening tag of a table, which scrolls by itself on narrow screens.

    Numeric tables are right-aligned. For tables of sentences `KINDS` gives the class; by default
    the sentences are in the last column.
    """
    row = [token for token in tokens[at : at + 10] if token.type in ("th_open", "inline")]
    first, second = row[1].content, row[2]
    kind = "numbers" if second.attrs else KINDS.get(first, "words")
    return f'<div class="scroll"><table class="{kind}">\n'


def _contents(tokens: Sequence[Token]) -> str:
    """Return a table of contents: links to the page's sections."""
    titles = [title.content for token, title in pairwise(tokens) if token.markup == "##"]
    found = [re.match(r'<a id="(.+?)"></a>([^:]+)', title) for title in titles]
    links = [f'<a href="#{one[1]}">{escape(one[2])}</a>' for one in found if one]
    return "\n".join(["<nav>", *links, "</nav>"])


def inlined(svg: str, description: str, name: str) -> str:
    """Return an SVG as part of a page: without its preamble, its ids prefixed with `name`."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)
