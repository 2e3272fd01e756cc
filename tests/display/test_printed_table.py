"""The readers of printed tables refuse tables that are not as expected."""

from __future__ import annotations

import pytest
from printed_table import html_rows, markdown_rows, printed_rows

from knightfall.display.report import as_text
from knightfall.display.table import Table
from knightfall.studies.markdown import table as markdown

TITLES = ["", "Agent", "Elo", "95 %", "note"]
ROWS = [["1", "id(open, nodes=5)", "+12 ± 3", "1–2", ""], ["2", "random", "−7 ± 11", "3–4", "odd"]]
READ = [
    {"column 1": "1", "Agent": "id(open, nodes=5)", "Elo": "+12 ± 3", "95 %": "1–2", "note": ""},
    {"column 1": "2", "Agent": "random", "Elo": "−7 ± 11", "95 %": "3–4", "note": "odd"},
]


def shown(rows: list[list[str]]) -> str:
    return as_text([Table(TITLES, list(rows), labels=2)], None)


def test_a_table_is_read_as_it_was_made() -> None:
    assert printed_rows(f"before\n{shown(ROWS)}\n\nafter", *TITLES[1:]) == READ
    assert printed_rows(f"{shown(ROWS)}\nright below", *TITLES[1:], rows=2) == READ
    assert html_rows(f"<p>{Table(TITLES, list(ROWS)).html()}", *TITLES) == READ
    assert markdown_rows(f"a\n\n{markdown(TITLES, ROWS)}\n\nb", *TITLES) == READ


@pytest.mark.parametrize("one", range(5))
@pytest.mark.parametrize("other", range(5))
def test_exchanged_columns_are_noticed(one: int, other: int) -> None:
    changed = [list(row) for row in ROWS]
    for row in changed:
        row[one], row[other] = row[other], row[one]
    assert (printed_rows(shown(changed), *TITLES[1:]) == READ) == (one == other)


def test_columns_that_could_be_exchanged_unnoticed_are_refused() -> None:
    alike = [[*row[:3], row[2], row[4]] for row in ROWS]
    with pytest.raises(AssertionError, match="'Elo' and '95 %' could be exchanged"):
        printed_rows(shown(alike), *TITLES[1:])
