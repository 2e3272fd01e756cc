"""A result that shows itself: printed as a report, as HTML in a notebook, as data for scripts."""

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
    """A line that stands above what follows it."""


class Line(str):
    """A line in a style of its own, where that can be seen."""

    style: str

    def __new__(cls, text: str, style: str) -> Line:
        """A line in one of rich's styles."""
        line = super().__new__(cls, text)
        line.style = style
        return line


Part = str | Table
"""A paragraph, a `Heading`, a `Line` or a table.  An empty paragraph is an empty line."""


class Displayable(ABC):
    """Whatever has something to report.  `print` shows it; a notebook shows it by itself."""

    @abstractmethod
    def parts(self) -> Iterable[Part]:
        """What there is to say, in order."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""

    def __str__(self) -> str:
        return as_text(self.parts(), screen_width())

    def _repr_html_(self) -> str:
        return html_of(self.parts())


def screen_width() -> int | None:
    """The columns of the terminal; None in a pipe, where lines may be as long as they like."""
    # sys.stdout may be none (a closed stream) or anything that a test or a notebook put there.
    stream = sys.stdout
    if stream is None or not hasattr(stream, "isatty") or not stream.isatty():
        return None
    return visible_console(file=stream).width


def unicode_is_shown() -> bool:
    """Whether standard output takes more than ASCII; a notebook does."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().startswith("utf")


def show(parts: Iterable[Part], console: Console) -> None:
    """Print parts on a console: headings and titles stand out where that can be seen.

    Paragraphs are broken between words on a terminal, and not at all in a pipe.
    """
    width = console.width if console.is_terminal else PIPE_WIDTH
    for part in parts:
        if isinstance(part, Table):
            for number, block in enumerate(part.blocks(width)):
                if number:
                    console.print()
                console.print(block, width=width, crop=False, soft_wrap=False)
        elif isinstance(part, Heading):
            console.print(str(part), style="bold", soft_wrap=not console.is_terminal)
        else:
            style = part.style if isinstance(part, Line) else None
            console.print(str(part), style=style, soft_wrap=not console.is_terminal)


def rendered(parts: Iterable[Part], below: int) -> RenderableType:
    """Return parts as one picture for a live display, with so many lines left free below it.

    What does not fit the height of the terminal is left out from the top.
    """
    from rich.console import Group
    from rich.text import Text

    console = visible_console(stderr=True)
    width = console.width
    pictures: list[RenderableType] = []
    for part in parts:
        pictures += (
            part.blocks(width) if isinstance(part, Table) else [Text(printable(part, keep="\n"))]
        )
    heights = [len(console.render_lines(picture)) for picture in pictures]
    while pictures and sum(heights) + below > console.height:
        del pictures[0], heights[0]
    return Group(*pictures)


def print_parts(parts: Iterable[Part]) -> None:
    """Print on standard output, for a person or into a pipe."""
    console = visible_console()
    if console.is_terminal:
        show(parts, console)
    else:
        print(as_text(parts, None))  # every part is printable by now


def as_text(parts: Iterable[Part], width: int | None) -> str:
    """Parts as plain text without any colour; lines end where their letters do."""
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
    """Parts for a notebook."""
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
