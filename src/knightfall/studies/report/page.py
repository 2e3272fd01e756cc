"""The document as one HTML page that needs nothing else: no scripts, no files, no network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from knightfall.studies.report.blocks import (
    MARKS,
    Block,
    Bullets,
    Chart,
    Command,
    Fold,
    Heading,
    Table,
    Text,
    Timing,
)
from knightfall.studies.report.markdown import BEGIN, END

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
th, td { padding: 0.35em 0.7em; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--edge); }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
tbody tr:nth-child(even) { background: var(--band); }
.numbers td:not(:first-child), .numbers th:not(:first-child) { text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.numbers th:not(:first-child) { white-space: normal; }
.words td:not(:last-child) { white-space: nowrap; } .words td { min-width: 6rem; }
.words td:last-child { min-width: 18rem; }
.claims td:first-child { min-width: 9rem; } .claims td:not(:first-child) { min-width: 7rem; }
.holds { color: var(--good); font-weight: 600; } .not { color: var(--bad); font-weight: 600; }
.open { color: var(--soft); font-weight: 600; }
figure { margin: 1em 0; overflow-x: auto; } figure svg { width: 100%; min-width: 34rem;
  height: auto; display: block; border-radius: 6px; }
pre { background: var(--band); padding: 0.7em 1em; overflow-x: auto; border-radius: 6px; }
details { margin: 0.6em 0; } summary { cursor: pointer; color: var(--link); }
footer { color: var(--soft); font-size: 0.92em; }
""".strip()

CLASSES = {
    f"{MARKS['holds']} ": "holds",
    f"{MARKS['does not hold']} ": "not",
    f"{MARKS['cannot be told apart']} ": "open",
}


def page(blocks: Iterable[Block], charts: dict[str, tuple[str, str]]) -> str:
    """The page; `charts` are SVGs and what they show."""
    blocks = list(blocks)
    title = next(block.text for block in blocks if isinstance(block, Heading))
    body = [text for block in blocks for text in _block(block, charts)]
    body.insert(1, _contents(blocks))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE}\n</style>",
            "</head>",
            "<body>",
            *body,
            "</body>",
            "</html>",
            "",
        ]
    )


def _contents(blocks: Iterable[Block]) -> str:
    links = [
        f'<a href="#{block.id}">{escape(block.text.partition(":")[0])}</a>'
        for block in blocks
        if isinstance(block, Heading) and block.level == 2
    ]
    return "\n".join(["<nav>", *links, "</nav>"])


def _block(block: Block, charts: dict[str, tuple[str, str]]) -> Iterator[str]:
    match block:
        case Heading():
            yield f'<h{block.level} id="{block.id}">{inline(block.text)}</h{block.level}>'
        case Text():
            yield f"<p>{inline(block.text)}</p>"
        case Bullets():
            yield "<ul>"
            yield from (f"<li>{inline(item)}</li>" for item in block.items)
            yield "</ul>"
        case Table():
            yield from _table(block)
        case Chart():
            svg, told = charts[block.name]
            yield f"<figure>\n{inlined(svg, block.name, told)}</figure>"
        case Command():
            yield f"<pre><code>{escape(block.text)}</code></pre>"
        case Timing():
            yield f"{BEGIN}\n<footer><p>{inline(block.text)}</p></footer>\n{END}"
        case Fold():
            yield f"<details>\n<summary>{inline(block.title)}</summary>"
            for inner in block.blocks:
                yield from _block(inner, charts)
            yield "</details>"


def _table(table: Table) -> Iterator[str]:
    kind = "numbers" if table.numbers else "claims" if table.columns[0] == "claim" else "words"
    heads = "".join(f"<th>{inline(column)}</th>" for column in table.columns)
    yield f'<div class="scroll"><table class="{kind}">\n<thead><tr>{heads}</tr></thead>\n<tbody>'
    for row in table.rows:
        yield f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>"
    yield "</tbody>\n</table></div>"


def _cell(text: str) -> str:
    for sign, kind in CLASSES.items():
        if text.startswith(sign):
            verdict, _, rest = inline(text).partition("\n")
            return f'<span class="{kind}">{verdict}</span>{rest and "<br>"}{rest}'
    return inline(text).replace("\n", "<br>")


def inline(text: str) -> str:
    """`Code`, **bold** and [links](#to) as HTML."""
    text = escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^]]+)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', text)


def inlined(svg: str, name: str, told: str) -> str:
    """An SVG as part of a page: without its preamble, its names apart from those of the others."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(told)}" ', 1)
