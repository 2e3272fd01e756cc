r"""Foreign text made printable: what a terminal would obey is shown instead, as in ``\x1b[2J``.

Names of agents, messages of exceptions, names of files and whatever else came from somebody's file
may hold escape sequences, line breaks or marks that turn text around.  All that is printed for
people goes through here: see `console` and `print_line`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")  # as OWASP lists them
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def printable(text: str, keep: str = "") -> str:
    """The text with everything that is not a visible character or a space written as an escape.

    That is control characters (line breaks, too, unless they are to be kept), marks of direction,
    and halves of characters.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def _escape(c: str) -> str:
    code = ord(c)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Words on one line, printable."""
    return printable(" ".join(text.split()))


def storable(text: str) -> str:
    """Return a text on one line, in letters that can be stored."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def print_line(*texts: str, file: IO[str] | None = None) -> None:
    """Print lines for people: what is foreign in them cannot do anything."""
    out = sys.stdout if file is None else file
    for text in texts or ("",):
        print(printable(text, keep="\n"), file=out, flush=file is not None)


def console(**options: Any) -> Console:
    """Where rich text for people goes: markup is not read, and only visible characters get out."""
    from rich.console import Console

    class Visible(Console):
        """Shows the control characters of texts; those of its own styles are added later."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            from rich.segment import Segment

            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text, "\n"), style, control)

    return Visible(**{"markup": False, "highlight": False, "emoji": False, **options})


# -- for other programs ------------------------------------------------------------------------


def json_line(content: Any) -> str:
    r"""A line of JSON in which all but visible characters are written as ``\u001b``."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def csv_cell(value: Any) -> Any:
    """A value for a spreadsheet: printable, and never a formula.

    What begins like one gets an apostrophe in front, unless it is a number.
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{text}"
    return text
