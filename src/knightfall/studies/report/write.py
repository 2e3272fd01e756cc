"""Writing a report: the page, the Markdown with its charts beside it, and the numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from knightfall.files import atomic_write
from knightfall.studies.report.charts import charts
from knightfall.studies.report.document import document
from knightfall.studies.report.markdown import markdown
from knightfall.studies.report.page import page
from knightfall.studies.report.report import Report, to_json

PAGE, MARKDOWN, NUMBERS = "index.html", "studies.md", "report.json"


def rendered(report: Report) -> dict[str, str]:
    """Every file of a report by its name; the same report gives the same files."""
    drawn = charts(report)
    blocks = list(document(report, set(drawn)))
    return {
        PAGE: page(blocks, drawn),
        MARKDOWN: markdown(blocks, {name: told for name, (_, told) in drawn.items()}),
        NUMBERS: json.dumps(to_json(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        **{f"{name}.svg": svg for name, (svg, _) in drawn.items()},
    }


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write all files into a folder that exists; those a person opens."""
    for name, text in rendered(report).items():
        atomic_write(folder / name, text)
    return [folder / PAGE, folder / MARKDOWN]
