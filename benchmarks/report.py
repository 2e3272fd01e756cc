"""Print results on the terminal as tables of ratios and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def show(value: Any) -> str:
    """Format a value with a sensible number of digits."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == 0:
            return "0"
        size = abs(value)
        if size >= 100:
            return f"{value:,.0f}"
        if size >= 10:
            return f"{value:.1f}"
        return f"{value:.3f}" if size >= 0.1 else f"{value:.3g}"
    return str(value)


def print_results(console: Console, measured: Mapping[str, Any]) -> None:
    """Print the machine, one table of ratios, then each benchmark's figures and notes."""
    machine, benchmarks = measured["machine"], measured["benchmarks"]
    console.print(" · ".join(f"{key} {value}" for key, value in machine.items()), style="dim")
    ratios = Table("benchmark", "ratio", title="Ratios", title_justify="left")
    for column in ("measured", "goal", "met"):
        ratios.add_column(column, justify="right")
    for name, found in benchmarks.items():
        for label, ratio in found["ratios"].items():
            style = "red" if ratio["met"] is False else None
            shown = (show(ratio["value"]), ratio["goal"], show(ratio["met"]))
            ratios.add_row(name, label, *shown, style=style)
    if ratios.row_count:
        console.print(ratios)
    for name, found in benchmarks.items():
        console.print(f"\n[bold]{name}[/bold]: {found['about']}.", highlight=False)
        if found["skipped"]:
            console.print(f"  skipped: {found['skipped']}", markup=False)
        for label, value in found["figures"].items():
            console.print(f"  {label}: {show(value)}", markup=False, highlight=False)
        if found["rows"]:
            console.print(_table(found["rows"]))
        for note in found["notes"]:
            console.print(f"  {note}", markup=False, highlight=False)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table()
    for column, value in rows[0].items():
        text = isinstance(value, str)
        table.add_column(column, justify="left" if text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(show(value) for value in row.values()))
    return table
