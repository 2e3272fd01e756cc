"""Results for people: a rich table of ratios and figures on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from .result import Result


def show(value: Any) -> str:
    """A figure in as many digits as it deserves."""
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


def print_results(
    console: Console,
    machine: Mapping[str, Any],
    summaries: Mapping[str, str],
    results: Mapping[str, Result],
) -> None:
    """The machine, then one table of ratios, then each benchmark's figures and notes."""
    console.print(" · ".join(f"{key} {value}" for key, value in machine.items()), style="dim")
    ratios = Table("benchmark", "ratio", title="Ratios", title_justify="left")
    for column in ("measured", "goal", "met"):
        ratios.add_column(column, justify="right")
    for name, result in results.items():
        for label, ratio in result.ratios.items():
            style = "red" if ratio.met is False else None
            shown = (show(ratio.value), ratio.goal, show(ratio.met))
            ratios.add_row(name, label, *shown, style=style)
    if ratios.row_count:
        console.print(ratios)
    for name, result in results.items():
        console.print(f"\n[bold]{name}[/bold]: {summaries[name]}.", highlight=False)
        if result.skipped:
            console.print(f"  skipped: {result.skipped}", markup=False)
        for label, value in result.figures.items():
            console.print(f"  {label}: {show(value)}", markup=False, highlight=False)
        if result.rows:
            console.print(_table(result.rows))
        for note in result.notes:
            console.print(f"  {note}", markup=False, highlight=False)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table()
    for column, value in rows[0].items():
        text = isinstance(value, str)
        table.add_column(column, justify="left" if text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(show(value) for value in row.values()))
    return table
