"""The document as Markdown, with its charts as files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knightfall.studies.report.blocks import (
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

BEGIN, END = "<!-- begin timings -->", "<!-- end timings -->"


def markdown(blocks: Iterable[Block], told: dict[str, str]) -> str:
    """The page; `told` has a sentence for each chart."""
    return "\n\n".join(text for block in blocks for text in _block(block, told)) + "\n"


def _block(block: Block, told: dict[str, str]) -> Iterator[str]:
    match block:
        case Heading():
            if block.level > 1:
                yield f'<a id="{block.id}"></a>'
            yield f"{'#' * block.level} {block.text}"
        case Text():
            yield block.text
        case Bullets():
            yield "\n".join(f"- {item}" for item in block.items)
        case Table():
            yield _table(block)
        case Chart():
            yield f"![{told[block.name]}]({block.name}.svg)"
        case Command():
            yield f"```sh\n{block.text}\n```"
        case Timing():
            yield f"{BEGIN}\n{block.text}\n{END}"
        case Fold():
            yield f"<details>\n<summary>{block.title}</summary>"
            for inner in block.blocks:
                yield from _block(inner, told)
            yield "</details>"


def _table(table: Table) -> str:
    side = "--:" if table.numbers else "---"
    lines = [_line(table.columns), f"|---|{'|'.join(side for _ in table.columns[1:])}|"]
    return "\n".join([*lines, *(_line(row) for row in table.rows)])


def _line(cells: Iterable[str]) -> str:
    inside = " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return f"| {inside} |"
