"""Writing a report: the page, the Markdown with its charts beside it, and the numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from knightfall.files import atomic_write
from knightfall.studies.report.document import document
from knightfall.studies.report.page import page
from knightfall.studies.report.report import StudiesReport

PAGE, MARKDOWN, NUMBERS = "index.html", "studies.md", "report.json"


def why_no_charts() -> str:
    """Return why no chart can be drawn, as a sentence; empty if they can be."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        return (
            f"no charts: matplotlib cannot be imported ({error}); everything else is written, and "
            "after pip install matplotlib the same command draws them"
        )
    return ""


def _drawn(report: StudiesReport) -> dict[str, tuple[str, str]]:
    """Return the charts that can be drawn, see `charts`."""
    if why_no_charts():
        return {}
    from knightfall.studies.report.charts import charts  # here: it needs matplotlib

    return charts(report)


def rendered(report: StudiesReport) -> dict[str, str]:
    """Every file of a report by its name; the same report gives the same files.

    Without matplotlib there are no charts among them, and the pages do without.
    """
    drawn = _drawn(report)
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
