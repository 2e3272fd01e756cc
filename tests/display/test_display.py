"""Tables that fit any screen, reports as text and HTML, progress on terminals and in pipes."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightfall.display import progress as progress_module
from knightfall.display.numbers import (
    clock,
    count,
    duration,
    for_json,
    interval,
    mean,
    percent,
    plus_minus,
    signed,
)
from knightfall.display.progress import Progress, progress
from knightfall.display.report import Displayable, Heading, Part, as_text
from knightfall.display.table import NAME_WIDTH, Table

# -- tables ----------------------------------------------------------------------------------

NUMBERS = st.integers(-(10**9), 10**9).map(lambda number: f"{number:,}")
NAMES = st.text("abcdefgh_+(), =", min_size=1, max_size=50).filter(lambda name: name.strip())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.integers(1, 8))
    titles = ["Agent", *(f"col{number}" for number in range(columns))]
    table = Table(titles)
    for _ in range(draw(st.integers(1, 5))):
        table.add(draw(NAMES), *(draw(NUMBERS) for _ in range(columns)))
    return table


@given(tables(), st.integers(NAME_WIDTH + 2 + 14, 140))
def test_every_number_is_whole_and_no_line_is_too_long(table: Table, width: int) -> None:
    lines = as_text([table], width).splitlines()
    assert all(len(line) <= width for line in lines)
    shown = re.findall(r"-?[0-9][0-9,]*", re.sub(r"col[0-9]", "", "\n".join(lines)))
    wanted = [cell for row in table.rows for cell in row[1:]]
    assert sorted(shown) == sorted(wanted)
    for title in table.titles[1:]:
        assert sum(line.count(title) for line in lines) == 1


def test_a_table_that_fits_is_one_piece_and_one_that_does_not_continues_below() -> None:
    table = Table(["Agent", "Elo", "Games"])
    table.add("id(main)", "+12 ± 112", "1,200")
    assert as_text([table], 80).splitlines() == [
        "Agent           Elo  Games",
        "id(main)  +12 ± 112  1,200",
    ]
    assert as_text([table], 22).splitlines() == [
        "Agent           Elo",
        "id(main)  +12 ± 112",
        "",
        "Agent     Games",
        "id(main)  1,200",
    ]


def test_labels_are_folded_before_columns_move_below() -> None:
    table = Table(["Agent", "Elo"])
    table.add("id(near_opponent+bfs_reach, nodes=2500)", "+12")
    assert as_text([table], 30).splitlines()[1:] == [
        "id(near_opponent+bfs_reac  +12",
        "h, nodes=2500)",
    ]


def test_what_users_typed_is_never_markup() -> None:
    table = Table(["[bold]x[/]", "n"])
    table.add("[red]boo", ":smile:")
    assert as_text([table, Heading("[b]h")], None).splitlines() == [
        "[bold]x[/]        n",
        "[red]boo    :smile:",
        "[b]h",
    ]


class Cells(HTMLParser):
    """An HTML parser that collects the texts of a table's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@given(tables())
def test_html_holds_every_cell(table: Table) -> None:
    table.footer = ["Sum", *("0" for _ in table.titles[1:])]
    reader = Cells()
    reader.feed(table.html())
    rows = [table.titles, *table.rows, table.footer]
    assert reader.cells == [cell for row in rows for cell in row]


# -- reports ---------------------------------------------------------------------------------


class Short(Displayable):
    def parts(self) -> Iterator[Part]:
        yield Heading("A < B")
        yield "word " * 60
        yield ""
        table = Table(["who", "n"])
        table.add("x & y", "3")
        yield table

    def to_dict(self) -> dict[str, Any]:
        return {"n": 3}


def test_a_report_prints_whole_lines_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print(Short())
    heading, prose, *rest = capsys.readouterr().out.splitlines()
    assert heading == "A < B"
    assert prose == ("word " * 60).strip()
    assert rest == ["", "who    n", "x & y  3"]


def test_prose_is_broken_between_words_on_a_terminal() -> None:
    lines = as_text(Short().parts(), 33).splitlines()
    assert {word for line in lines[1:-3] for word in line.split()} == {"word"}
    assert max(len(line) for line in lines) <= 33


def test_a_notebook_gets_html() -> None:
    assert Short()._repr_html_().startswith("<h4>A &lt; B</h4><p>word word")
    assert '<td style="text-align:left">x &amp; y</td>' in Short()._repr_html_()


# -- numbers ---------------------------------------------------------------------------------


def test_numbers() -> None:
    assert [percent(None), percent(0.5), percent(1 / 3, 2)] == ["–", "50.0 %", "33.33 %"]
    assert interval(0.1, 0.25) == "10.0–25.0"
    assert [signed(3.4), signed(-3.6), signed(-0.2), signed(0.04, 1)] == ["+3", "−4", "0", "0.0"]
    assert [signed(float("inf")), signed(float("-inf"))] == ["+∞", "−∞"]
    assert plus_minus(-12.3, 4.56, 1) == "−12.3 ± 4.6"
    assert plus_minus(12, 1e9) == "+12 ± ∞"
    assert [mean(None), mean(1234.56)] == ["–", "1,234.6"]
    assert [count(1, "pair"), count(1200, "pair"), count(2, "ply", "plies")] == [
        "1 pair",
        "1,200 pairs",
        "2 plies",
    ]
    assert [duration(2.404e-7), duration(9.994e-7), duration(1.234e-6)] == [
        "240 ns",
        "999 ns",
        "1.23 µs",
    ]
    assert [duration(0.0000314), duration(0.0009994), duration(0.001)] == [
        "31 µs",
        "999 µs",
        "1.0 ms",
    ]
    assert [duration(0.0123), duration(0.5), duration(2.25), duration(3725)] == [
        "12.3 ms",
        "500 ms",
        "2.2 s",
        "1:02:05 h",
    ]
    assert [for_json(1.5), for_json(float("-inf"))] == [1.5, "-inf"]
    assert [clock(89), clock(90), clock(3725)] == ["89 s", "1:30", "1:02:05"]


# -- progress --------------------------------------------------------------------------------


def test_a_pipe_gets_a_line_now_and_then_and_no_cursor_movements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "LINE_EVERY", 0.01)
    monkeypatch.setattr(progress_module._Pipe, "every", 0.01)
    with progress("games", 4000, after=0.0) as tell:
        tell(1500)
        while "1,500 of 4,000 games" not in (said := capsys.readouterr().err):
            pass
    assert all(line.startswith("knightfall: ") for line in said.splitlines())
    assert "\x1b" not in said
    assert "\r" not in said


def test_nothing_is_said_of_quick_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("games", 10) as tell:
        tell(10)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress("games", 40, after=0.0) as tell:
        tell(15)
        while "15 of 40 games" not in screen.getvalue():
            pass
    assert screen.getvalue().count("\x1b[2K") > 0  # the line is erased


def test_a_line_tells_how_long_it_will_take() -> None:
    state = Progress("games", 100, done=50)
    assert re.fullmatch(r"50 of 100 games · 0 s", state.line())
    state.start -= 10
    state(75)
    assert state.line() == "75 of 100 games · about 10 s to go"


def test_a_live_picture_fits_the_terminal_and_keeps_what_is_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rich.console import Console

    from knightfall.display import report

    table = Table(["", "x"], [(str(row), "1") for row in range(6)])
    parts: list[Part] = [Heading("top"), table, "middle", "end"]
    for height, kept in ((30, ["top", "0", "middle", "end"]), (8, ["middle", "end"]), (2, [])):
        screen = Console(width=80, height=height, file=io.StringIO(), force_terminal=True)
        monkeypatch.setattr(report, "visible_console", lambda screen=screen, **how: screen)
        shown = screen.render_lines(report.rendered(parts, below=2))
        text = ["".join(segment.text for segment in line).strip() for line in shown]
        assert [line for line in ("top", "middle", "end") if line in text] == [
            line for line in kept if line != "0"
        ]
        assert any(line.startswith("0 ") for line in text) == ("0" in kept)
        assert len([line for line in text if line]) <= max(0, height - 2)
