"""Read printed tables by their headings, so that tests fail on a value under the wrong heading.

Each reader finds a table by its headings and returns its rows as dictionaries from heading to cell;
the second of two equal headings is keyed as in "Student 2".
It refuses a table with two equal columns, because exchanging these could not be detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import combinations

Row = dict[str, str]


def printed_rows(text: str, *titles: str, rows: int | None = None) -> list[Row]:
    """Return the rows of a table in plain text, up to an empty line or a number of rows.

    `titles` are the headings that are not empty, in order.  A column without a heading is keyed by
    its number, as in "column 1".
    """
    lines = text.split("\n")
    head = re.compile(r"\s*" + r"\s{2,}".join(map(re.escape, titles)) + r"\s*")
    (start,) = (at for at, line in enumerate(lines) if head.fullmatch(line))
    end = start + 1
    while end < len(lines) and lines[end].strip() and (rows is None or end <= start + rows):
        end += 1
    block = lines[start:end]
    assert len(block) > 1, f"the table of {titles} is empty"
    spans = list(_columns(block))
    cut = [[line[low:high].strip() for low, high in spans] for line in block]
    return _checked(cut[0], cut[1:])


def _columns(block: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each column; at least two spaces separate columns."""
    width = max(map(len, block))
    filled = "".join(
        " " if all(line[at : at + 1] in ("", " ") for line in block) else "x" for at in range(width)
    )
    for found in re.finditer(r"x(?:x| (?=x))*", filled):
        yield found.span()


def printed_facts(text: str) -> Row:
    """Return the names and values of a table without headings, each value's first line."""
    block = text.strip("\n").partition("\n\n")[0].split("\n")
    lines = [line for line in block if not line.startswith(" ")]
    found = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines)
    assert len(set(found.values())) == len(lines), f"some could be exchanged unnoticed: {found}"
    return found


def markdown_rows(text: str, *titles: str) -> list[Row]:
    """Return the rows of the Markdown table with exactly these headings, the first if several."""
    lines = text.split("\n")
    head = f"| {' | '.join(titles)} |"
    start = lines.index(head)
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("| "):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return _checked(titles, rows)


def html_rows(text: str, *titles: str) -> list[Row]:
    """Return the rows of the HTML table with exactly these headings, the first if several."""
    reader = _Tables()
    reader.feed(text)
    found = next(table for table in reader.tables if table[0] == list(titles))
    return _checked(found[0], found[1:])


class _Tables(HTMLParser):
    """An HTML parser that collects the cells of all tables as text, with their line breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self._inside = True
        elif tag == "br" and self._inside:
            self.tables[-1][-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.tables[-1][-1][-1] += data


def _checked(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Row]:
    assert rows, f"the table of {titles} is empty"
    keys = [title or f"column {place}" for place, title in enumerate(titles, start=1)]
    keys = [
        key if key not in keys[:at] else f"{key} {keys[: at + 1].count(key)}"
        for at, key in enumerate(keys)
    ]
    for row in rows:
        assert len(row) == len(keys), f"{len(row)} cells under {len(keys)} headings: {row}"
    for (one, a), (other, b) in combinations(zip(keys, zip(*rows, strict=True), strict=True), 2):
        assert a != b, f"the columns {one!r} and {other!r} could be exchanged unnoticed: {a}"
    return [dict(zip(keys, row, strict=True)) for row in rows]
