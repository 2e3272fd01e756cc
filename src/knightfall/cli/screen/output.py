"""Ways to print: JSON for scripts, rich for people, never a colour into a pipe."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from knightfall.display.report import Displayable
    from knightfall.search.report import Report

NOT_A_SCREEN = 240
"""Columns of a table in a pipe: wide enough that no line wraps."""


def print_json(thing: Any) -> None:
    """One line of JSON, at once."""
    print(json.dumps(thing, allow_nan=False), flush=True)


def print_report(report: Displayable, *, json: bool) -> None:
    """A report for a person, or the same as JSON."""
    from knightfall.display.report import print_parts

    if json:
        print_json(report.to_dict())
    else:
        print_parts(report.parts())


def number(value: float) -> float | str:
    """A number as JSON can hold it: ``inf``, ``-inf`` and ``nan`` become strings."""
    return value if math.isfinite(value) else str(value)


def console(width: int | None = None) -> Console:
    """Where text for people goes.  What users typed is never read as markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, width=width)


def print_table(table: Table) -> None:
    """A table as wide as the screen, or in a pipe as wide as it likes."""
    screen = console()
    if screen.is_terminal:
        screen.print(table)
        return
    page = console(NOT_A_SCREEN)
    with page.capture() as capture:
        page.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def columns(*titles: str) -> Table:
    """An empty table with these headings and no frame."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), show_header=any(titles))
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def facts(rows: Mapping[str, str]) -> Table:
    """A table of names and values."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    return table


# -- what a search has to say ----------------------------------------------------------------


def report_json(report: Report) -> dict[str, Any]:
    """A report as JSON."""
    return {
        "move": report.move,
        "score": number(report.score),
        "proven": report.proven,
        "plies": report.plies,
        "depth": report.depth,
        "nodes": report.nodes,
        "seconds": report.seconds,
        "pv": list(report.pv),
        "cut": report.cut,
        "note": report.note,
    }


def verdict(report: Report) -> str:
    """The score in words where it is certain, as a number where it is not."""
    if report.proven:
        end = "win" if report.score > 0 else "loss"
        if report.plies is None:
            return end
        # Beyond the depth searched, a shorter way may exist.
        exact = report.plies <= report.depth
        plies = "ply" if report.plies == 1 else "plies"
        return f"{end} {'in' if exact else 'within'} {report.plies} {plies}"
    if report.score == 0:
        return "0"
    return f"{report.score:+.4g}".replace("-", "−").replace("inf", "∞")


def effort(report: Report) -> str:
    """How deep it looked and what that cost; empty if it did not look at all."""
    if report.depth == 0:
        return ""
    nodes = f"{report.nodes:,} {'node' if report.nodes == 1 else 'nodes'}"
    return f"depth {report.depth}, {nodes}, {duration(report.seconds)}"


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s"
