"""The studies' part of the lab's web page: claims, verdicts, and the report.

The report is part of the package; in a checkout it is in docs/studies.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from knightfall.display.report import text
from knightfall.extensions import PagePart

HERE = Path(__file__).parent
PLACES = (HERE / "report", HERE.parents[2] / "docs" / "studies")
PAGE, NUMBERS = "index.html", "report.json"


def report_page() -> bytes | None:
    """Return the whole report as HTML; None if no report has been written."""
    return _read(PAGE)


def _read(name: str) -> bytes | None:
    for place in PLACES:
        if (place / name).is_file():
            return (place / name).read_bytes()
    return None


@cache
def in_short() -> dict[str, Any]:
    """Return each study with its claims, and with their verdicts if a report has been written."""
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


# -- as HTML ----------------------------------------------------------------------------------


TITLES = {
    "course": "as the authors’ agents played",
    "time": "at equal time",
    "nodes": "at equal nodes",
    "never": "no agent resigns",
}
"""Titles of the budgets' columns."""

# The next two are copies from `comparisons` and `claims`, which import NumPy and SciPy: the lab's
# server must start without them.
MARKS = {
    "holds": "✓",
    "does not hold": "✗",
    "cannot be told apart": "?",
    "not a claim that can be tested": "–",
}
ONCE = "once"
"""The key of a verdict that does not depend on a budget."""


def fragment() -> str:
    """Return the studies with their win rates and claims, as HTML."""
    summary = in_short()
    played = "Their tournaments were played again, with thousands of games each. "
    link = '<a href="/studies" target="_blank" rel="noopener">The whole report</a> opens in '
    parts = [
        "<h2>The five studies</h2>",
        "<p>Students published heuristics for this game, and claims about them, most on 70 to 140 "
        f"games. {played if summary['budgets'] else 'There is no report on them here. '}"
        f"{f'{link}another tab.' if summary['report'] else ''}</p>",
    ]
    for study in summary["studies"]:
        parts += _study(study, summary["budgets"])
    return "\n".join(parts)


def _study(study: dict[str, Any], budgets: list[str]) -> list[str]:
    shown = [
        name for name in budgets if any(name in row["measured"] for row in study["heuristics"])
    ]
    rates = [
        [
            f"<code>{text(row['heuristic'])}</code>",
            text(f"{row['published']} ({row['games']} games)"),
            *(_rate(row["measured"].get(name)) for name in shown),
        ]
        for row in study["heuristics"]
    ]
    titles = [TITLES.get(name, name) for name in budgets]
    tested = [claim for claim in study["claims"] if ONCE not in claim["verdicts"]]
    once = [claim for claim in study["claims"] if ONCE in claim["verdicts"]]
    claims = [
        [_claim(claim), *(_verdict(claim["verdicts"].get(name)) for name in budgets)]
        for claim in tested
    ]
    id = study["id"]
    columns = ["Heuristic", "published", *(TITLES.get(name, name) for name in shown)]
    found = [
        f"<h3>{text(study['title'])}</h3>",
        _table(f"Win rates in %, {id}", columns, rates),
        _table(f"Claims, {id}", ["Claim", *titles], claims),
    ]
    if once:
        facts = [[_claim(claim), _verdict(claim["verdicts"][ONCE])] for claim in once]
        caption = f"Claims about cost, judgement and facts, {id}"
        found.append(_table(caption, ["Claim", "Verdict"], facts))
    return found


def _rate(one: dict[str, float] | None) -> str:
    return f"{one['rate']:.1f} ({one['low']:.1f}–{one['high']:.1f})" if one else ""


def _claim(claim: dict[str, Any]) -> str:
    return f'<span title="{text(claim["where"])}">{text(claim["sentence"])}</span>'


def _verdict(one: dict[str, str] | None) -> str:
    if one is None:
        return ""
    words, verdict = one["words"], one["verdict"]
    return f'<span title="{text(words)}">{MARKS.get(verdict, "")} {text(verdict)}</span>'


def _table(caption: str, headings: list[str], rows: list[list[str]]) -> str:
    """Return an HTML table; the first cell of each row is its heading."""
    head = "".join(f'<th scope="col">{text(one)}</th>' for one in headings)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


STUDIES = PagePart("Studies", fragment, document=report_page, data=in_short)
