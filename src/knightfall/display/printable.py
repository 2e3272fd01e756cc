r"""Escaping of untrusted text: control characters are printed as escapes, as in ``\x1b[2J``.

Names of agents, messages of exceptions, names of files and other text from users' files may have
escape sequences, line breaks or marks that reverse the direction of text.  All output for people
passes through `console` or `print_line`.
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

_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")  # OWASP's list of first characters
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def printable(text: str, keep: str = "") -> str:
    """Return a text with every character that is neither visible nor a space as an escape.

    These are control characters (line breaks, too, unless `keep` has them), direction marks and
    lone surrogates.
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
    """Return a text on one line, with unprintable characters as escapes."""
    return printable(" ".join(text.split()))


def storable(text: str) -> str:
    """Return a text on one line, with lone surrogates replaced so that it can be stored."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def print_line(*texts: str, file: IO[str] | None = None) -> None:
    """Print each text as one line, with control characters and line breaks in it as escapes."""
    out = sys.stdout if file is None else file
    for text in texts or ("",):
        print(printable(text), file=out, flush=file is not None)


def console(**options: Any) -> Console:
    """Return a rich console that does not interpret markup and escapes control characters."""
    from rich.console import Console

    class Visible(Console):
        """A console that escapes control characters in texts, but not those of its own styles."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            from rich.segment import Segment

            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text, "\n"), style, control)

    return Visible(**{"markup": False, "highlight": False, "emoji": False, **options})


# -- for other programs ------------------------------------------------------------------------


def json_line(content: Any) -> str:
    r"""Return a line of JSON with invisible characters as escapes such as ``\u001b``."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def csv_cell(value: Any) -> Any:
    """Return a value for a spreadsheet, which must not take it for a formula.

    A text that begins like a formula gets an apostrophe in front, unless it is a number.
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{text}"
    return text
