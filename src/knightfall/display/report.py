"""Results that display themselves: as text when printed, as HTML in a notebook, as a dict."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from knightfall.display.printable import console as visible_console
from knightfall.display.printable import printable
from knightfall.display.table import Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


PIPE_WIDTH = 240
"""Columns of a table in a pipe: wide enough that no line wraps."""


class Heading(str):
    """A heading above the parts that follow."""


class Line(str):
    """A line of text in one of rich's styles, where the output shows styles."""

    style: str

    def __new__(cls, text: str, style: str) -> Line:
        """Return a line of text with a style."""
        line = super().__new__(cls, text)
        line.style = style
        return line


Part = str | Table
"""A paragraph, a `Heading`, a `Line` or a table.  An empty paragraph is an empty line."""


class Displayable(ABC):
    """A result with a report: `print` shows it as text, a notebook as HTML."""

    @abstractmethod
    def parts(self) -> Iterable[Part]:
        """Return the parts of the report in order."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""

    def in_one_line(self) -> str:
        """Return what the result is in a few words, by default the first line of the report."""
        return next(part for part in self.parts() if part and isinstance(part, str))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {printable(self.in_one_line())}>"

    def __str__(self) -> str:
        return as_text(self.parts(), screen_width())

    def _repr_html_(self) -> str:
        return html_of(self.parts())


def screen_width() -> int | None:
    """Return the columns of the terminal; None in a pipe, where lines may have any length."""
    # sys.stdout may be None (a closed stream) or any object that a test or a notebook put there.
    stream = sys.stdout
    if stream is None or not hasattr(stream, "isatty") or not stream.isatty():
        return None
    return visible_console(file=stream).width


def unicode_is_shown() -> bool:
    """Return whether standard output accepts Unicode; a notebook does."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().startswith("utf")


def show(parts: Iterable[Part], console: Console) -> None:
    """Print parts on a console, with bold headings where the output shows styles.

    A part that is text is one paragraph: line breaks in it, as in a file's name, are escaped.

    Paragraphs are wrapped between words on a terminal, and not at all in a pipe.
    """
    width = console.width if console.is_terminal else PIPE_WIDTH
    for part in parts:
        if isinstance(part, Table):
            for number, block in enumerate(part.blocks(width)):
                if number:
                    console.print()
                console.print(block, width=width, crop=False, soft_wrap=False)
        elif isinstance(part, Heading):
            console.print(printable(part), style="bold", soft_wrap=not console.is_terminal)
        else:
            style = part.style if isinstance(part, Line) else None
            console.print(printable(part), style=style, soft_wrap=not console.is_terminal)


def rendered(parts: Iterable[Part], below: int) -> RenderableType:
    """Return parts for a live display, with `below` lines left free under it.

    If the parts are higher than the terminal, the first ones are left out.
    """
    from rich.console import Group
    from rich.text import Text

    console = visible_console(stderr=True)
    width = console.width
    pictures: list[RenderableType] = []
    for part in parts:
        pictures += part.blocks(width) if isinstance(part, Table) else [Text(printable(part))]
    heights = [len(console.render_lines(picture)) for picture in pictures]
    while pictures and sum(heights) + below > console.height:
        del pictures[0], heights[0]
    return Group(*pictures)


def print_parts(parts: Iterable[Part]) -> None:
    """Print parts on standard output, which may be a terminal or a pipe."""
    console = visible_console()
    if console.is_terminal:
        show(parts, console)
    else:
        print(as_text(parts, None))  # `as_text` has escaped control characters


def as_text(parts: Iterable[Part], width: int | None) -> str:
    """Return parts as plain text without colours and trailing spaces."""
    from io import StringIO

    page = StringIO()
    console = visible_console(
        file=page,
        width=width or PIPE_WIDTH,
        force_terminal=width is not None,
        color_system=None,
        no_color=True,
        legacy_windows=False,
    )
    show(parts, console)
    return "\n".join(line.rstrip() for line in page.getvalue().removesuffix("\n").split("\n"))


def html_of(parts: Iterable[Part]) -> str:
    """Return parts as HTML for a notebook."""
    return "".join(_html(parts))


def _html(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield part.html()
        elif isinstance(part, Heading):
            yield f"<h4>{_escaped(part)}</h4>"
        elif part:
            yield f"<p>{_escaped(part)}</p>"


def _escaped(text: str) -> str:
    return escape(printable(text, keep="\n"))


# -- reports as web pages --------------------------------------------------------------------------

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
    """Return a whole HTML page; the title is escaped text, the body HTML."""
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
    """Return untrusted text escaped for HTML, with control characters as visible escapes."""
    return escape(printable(words))


# -- technical terms --------------------------------------------------------------------------

TERMS = {
    "pair": "two games from one opening, seats swapped (L lost, W won)",
    "nElo": "normalized Elo, relative to how much results vary",
    "LOS": "likelihood of superiority, the chance of being the stronger agent",
    "LLR": "log-likelihood ratio, which ends the test at either bound",
    "hunter": "can take escape cells from the other knight",
    "runner": "cannot",
}
"""A phrase for each technical term; a report explains it once, below the numbers that use it."""


def legend(*terms: str) -> str:
    """Return one sentence that explains the given `TERMS`."""
    return "; ".join(f"{term}: {TERMS[term]}" for term in terms) + "."
