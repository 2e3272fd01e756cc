"""Write docs/performance.md from docs/measured.json: ``make docs``.

``make bench-docs`` measures first. A test fails if the page differs from this output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knightfall.display.numbers import duration

from .chart import draw_costs
from .report import show

DOCS = Path(__file__).resolve().parents[1] / "docs"
RECORD, PAGE, PICTURE = "measured.json", "performance.md", "images/evaluation_cost.svg"

_ABOUT = """\
# Performance

`make bench-docs` writes this page; do not edit it. The measurements took {total} in one run on this
machine. Where two speeds are compared, both programs alternate after a warm-up, and the fastest of
several rounds counts for each. Where two programs do the same work, the benchmark checks that their
nodes or moves are equal. In a checkout, `python -m benchmarks` repeats the quicker measurements on
your machine, and `--all` repeats all.
"""


def page(measured: Mapping[str, Any]) -> str:
    """Return the page with all measurements."""
    benchmarks = measured["benchmarks"]
    total = duration(sum(found["seconds"] for found in benchmarks.values()))
    parts = [_ABOUT.format(total=total), _machine(measured["machine"]), _ratios(benchmarks)]
    parts += [_section(name, found) for name, found in benchmarks.items()]
    return "\n".join(parts)


def _table(header: list[str], rows: list[list[str]], numeric: set[int]) -> str:
    rule = ["--:" if at in numeric else "---" for at in range(len(header))]
    lines = [header, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _machine(machine: Mapping[str, Any]) -> str:
    rows = [[str(key), str(value)] for key, value in machine.items()]
    return "## The machine\n\n" + _table(["", ""], rows, set())


def _ratios(benchmarks: Mapping[str, Any]) -> str:
    rows = [
        [f"[`{name}`](#{name})", label, show(ratio["value"]), ratio["goal"], show(ratio["met"])]
        for name, found in benchmarks.items()
        for label, ratio in found["ratios"].items()
    ]
    header = ["benchmark", "ratio", "measured", "goal", "met"]
    return "## Ratios and goals\n\n" + _table(header, rows, {2, 3})


def _cell(column: str, value: Any) -> str:
    """Return a table cell; agents, heuristics and FENs are set as code."""
    return f"`{value}`" if column in ("agent", "heuristic", "position") else show(value)


def _section(name: str, found: Mapping[str, Any]) -> str:
    parts = [f"## {name}\n", f"{found['about']}. Measured in {duration(found['seconds'])}.\n"]
    if found["skipped"]:
        parts.append(f"Skipped: {found['skipped']}\n")
    if found["figures"]:
        rows = [[label, show(value)] for label, value in found["figures"].items()]
        parts.append(_table(["figure", "value"], rows, {1}))
    if found["rows"]:
        first = found["rows"][0]
        numeric = {at for at, value in enumerate(first.values()) if not isinstance(value, str)}
        rows = [[_cell(column, value) for column, value in row.items()] for row in found["rows"]]
        table = _table(list(first), rows, numeric)
        folded = f"<details><summary>By position</summary>\n\n{table}\n</details>\n"
        parts.append(folded if "position" in first else table)
    parts += [f"{note}.\n" for note in found["notes"]]
    if name == "evaluation_cost":
        parts.append(f"![Nanoseconds per evaluation]({PICTURE})\n")
    return "\n".join(parts)


def main(docs: Path = DOCS) -> None:
    """Write the page and its picture."""
    measured = json.loads((docs / RECORD).read_text(encoding="utf-8"))
    (docs / PAGE).write_text(page(measured), encoding="utf-8")
    print(f"wrote docs/{PAGE}")
    rows = measured["benchmarks"]["evaluation_cost"]["rows"]
    draw_costs(rows, docs / PICTURE)
    print(f"wrote docs/{PICTURE}")


if __name__ == "__main__":
    main()
