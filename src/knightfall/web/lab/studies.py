"""The five studies for the page: what they claim, what came of it, and the report as it was made.

The report is part of the package; in a checkout it lies in docs/studies.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLACES = (HERE / "report", HERE.parents[3] / "docs" / "studies")
PAGE, NUMBERS = "index.html", "report.json"


def report_page() -> bytes | None:
    """The whole report as a page; None where there is none."""
    return _read(PAGE)


def _read(name: str) -> bytes | None:
    for place in PLACES:
        if (place / name).is_file():
            return (place / name).read_bytes()
    return None


@cache
def in_short() -> dict[str, Any]:
    """Each study with its claims; with verdicts where there is a report."""
    from knightfall.studies.published import studies

    text = _read(NUMBERS)
    measured = None if text is None else json.loads(text)
    judged = {study["id"]: study for study in (measured or {"studies": []})["studies"]}
    found = []
    for id, study in studies().items():
        rows = {row["heuristic"]: row for row in judged.get(id, {}).get("rows", ())}
        claims = judged.get(id, {}).get("claims") or [
            {"sentence": claim.sentence, "where": claim.where, "verdicts": {}}
            for claim in study.claims
        ]
        found.append(
            {
                "id": id,
                "title": study.title,
                "protocol": study.protocol,
                "heuristics": [_row(name, study, rows.get(name)) for name in study.heuristics],
                "claims": [
                    {
                        "sentence": claim["sentence"],
                        "where": claim.get("where", ""),
                        "verdicts": {
                            budget: {"verdict": one["verdict"], "words": one["words"]}
                            for budget, one in claim["verdicts"].items()
                        },
                    }
                    for claim in claims
                ],
            }
        )
    return {
        "report": report_page() is not None,
        "budgets": [] if measured is None else measured["budgets"],
        "studies": found,
    }


def _row(name: str, study: Any, measured: dict[str, Any] | None) -> dict[str, Any]:
    rates = (measured or {}).get("measured", {})
    return {
        "heuristic": name,
        "published": str(study.figure(name)),
        "games": study.games(name),
        "measured": {
            budget: {key: one["total"][key] for key in ("rate", "low", "high")}
            for budget, one in rates.items()
        },
    }
