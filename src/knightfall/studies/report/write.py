"""Writing a report: the page, the Markdown with its charts beside it, and the numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from knightfall.files import atomic_write
from knightfall.studies.report.charts import charts
from knightfall.studies.report.document import document
from knightfall.studies.report.page import page
from knightfall.studies.report.report import StudiesReport

PAGE, MARKDOWN, NUMBERS = "index.html", "studies.md", "report.json"


def rendered(report: StudiesReport) -> dict[str, str]:
    """Every file of a report by its name; the same report gives the same files."""
    drawn = charts(report)
    text = document(report, {name: told for name, (_, told) in drawn.items()})
    numbers = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    return {
        PAGE: page(text, drawn),
        MARKDOWN: text,
        NUMBERS: numbers + "\n",
        **{f"{name}.svg": svg for name, (svg, _) in drawn.items()},
    }


def write_report(report: StudiesReport, folder: Path) -> list[Path]:
    """Write all files into a folder that exists; those a person opens."""
    for name, text in rendered(report).items():
        atomic_write(folder / name, text)
    return [folder / PAGE, folder / MARKDOWN]
