"""Pieces of Markdown, of the kind that GitHub shows and `page` turns into HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BEGIN, END = "<!-- begin timings -->", "<!-- end timings -->"
"""Around what differs from run to run, so that a comparison can leave it out."""


def heading(level: int, text: str, id: str) -> str:
    """A heading that `[links](#id)` lead to."""
    return f'{"#" * level} <a id="{id}"></a>{text}'


def bullets(items: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {item}" for item in items)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """A table, set to the right from its second column on if these are `numbers`.

    A newline in a cell stays one.
    """
    side = "--:" if numbers else "---"
    lines = [_line(columns), f"|---|{'|'.join(side for _ in columns[1:])}|"]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Iterable[str]) -> str:
    inside = " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return f"| {inside} |"


def fold(title: str, inside: str) -> str:
    """Something that is only shown to whoever asks."""
    return f"<details>\n<summary>{title}</summary>\n\n{inside}\n\n</details>"


def chart(name: str, told: str) -> str:
    """A chart by its name, and a sentence for those who cannot see it."""
    return f"![{told}]({name}.svg)"


def command(text: str) -> str:
    """Something to type."""
    return f"```sh\n{text}\n```"
