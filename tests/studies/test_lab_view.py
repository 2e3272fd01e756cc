"""Tests that the studies' tables on the lab's page agree with their data."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from knightfall.studies import lab_view


class Tables(HTMLParser):
    """A parser that collects a page's tables by caption: rows of cells by heading."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[dict[str, str]]] = {}
        self._headings: list[str] = []
        self._row: list[str] = []
        self._text = ""
        self._caption = ""
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("caption", "th", "td"):
            self._text = ""
        elif tag == "tr":
            self._row = []
        elif tag == "thead":
            self._inside = True

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._caption = self._text
            self.tables[self._caption] = []
        elif tag in ("th", "td"):
            self._row.append(self._text)
        elif tag == "thead":
            self._headings, self._inside = self._row, False
        elif tag == "tr" and not self._inside:
            row = dict(zip(self._headings, self._row, strict=True))
            self.tables[self._caption].append(row)


TOLD: dict[str, Any] = {
    "report": True,
    "budgets": ["course", "time"],
    "studies": [
        {
            "id": "first",
            "title": "A <study>",
            "heuristics": [
                {
                    "heuristic": "open",
                    "published": "71.2 %",
                    "games": 140,
                    "measured": {
                        "course": {"rate": 64.25, "low": 61.0, "high": 67.5},
                        "time": {"rate": 55.5, "low": 52.25, "high": 58.0},
                    },
                }
            ],
            "claims": [
                {
                    "sentence": "open is best",
                    "where": "page 3",
                    "verdicts": {
                        "course": {"verdict": "holds", "words": "by 5 %"},
                        "time": {"verdict": "does not hold", "words": "by 7 %"},
                    },
                },
                {
                    "sentence": "it is cheap",
                    "where": "page 4",
                    "verdicts": {"once": {"verdict": "cannot be told apart", "words": "9 ns"}},
                },
            ],
        }
    ],
}


def test_each_heading_stands_over_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_view, "in_short", lambda: TOLD)
    html = lab_view.fragment()
    assert Tables(html).tables == {
        "Win rates in %, first": [
            {
                "Heuristic": "open",
                "published": "71.2 % (140 games)",
                "as the authors’ agents played": "64.2 (61.0–67.5)",
                "at equal time": "55.5 (52.2–58.0)",
            }
        ],
        "Claims, first": [
            {
                "Claim": "open is best",
                "as the authors’ agents played": "✓ holds",
                "at equal time": "✗ does not hold",
            }
        ],
        "Claims about cost, judgement and facts, first": [
            {"Claim": "it is cheap", "Verdict": "? cannot be told apart"}
        ],
    }
    assert '<span title="by 5 %">✓ holds</span>' in html
    assert '<span title="page 4">it is cheap</span>' in html
    assert "<h3>A &lt;study&gt;</h3>" in html
    assert '<a href="/studies"' in html


def test_without_a_report_there_are_the_claims_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_view, "in_short", lambda: {**TOLD, "report": False, "budgets": []})
    html = lab_view.fragment()
    assert "There is no report on them here." in html
    assert "/studies" not in html
