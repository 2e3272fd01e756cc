"""Untrusted text has no effect on a terminal, a spreadsheet or a page."""

from __future__ import annotations

import ast
import csv
import io
import json
import unicodedata
from pathlib import Path

import pytest
import strategies  # noqa: F401 (lifts the time limit for examples)
from arena_helpers import ENGINE, VERSIONS, fake_pair, fake_plan
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from typer.testing import CliRunner

import knightfall
from knightfall.arena.export_run import export_lines
from knightfall.arena.plan import GameRecord, PairRecord
from knightfall.arena.reports import report_on
from knightfall.arena.store import Store
from knightfall.cli.app import app
from knightfall.display.printable import console, csv_cell, json_line, one_line, printable
from knightfall.display.report import Heading, Line, as_text, html_of
from knightfall.display.table import Table

NASTY = (
    "\x1b[2J\x1b[31m", "\x1b]0;title\x07", "\x9b1m", "\x90q\x9c", "\r", "\x08\x08", "\x00", "\x7f",
    "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "[red]x[/red]", "[link=http://x]y[/link]",
    "<script>", "&amp;", "=1+1", ":smile:", "\U000e0001",
)  # fmt: skip
FOREIGN = st.lists(st.sampled_from(NASTY) | st.text(max_size=4), max_size=5).map("".join)
NOT_HARMLESS = ("Cc", "Cf", "Cs", "Zl", "Zp")


def harmless(text: str) -> bool:
    """Return whether a text has no control characters but line breaks, and no direction marks."""
    return all(c == "\n" or unicodedata.category(c) not in NOT_HARMLESS for c in text)


@given(FOREIGN)
def test_printable_text_shows_what_it_may_not_do(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert harmless(shown)
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text
    assert "\n" not in one_line(text)


def test_escapes_are_written_as_python_would() -> None:
    assert printable("a\x1b[2J\n\x9b\u202eb\U000e0001é😀") == (
        "a\\x1b[2J\\x0a\\x9b\\u202eb\\U000e0001é😀"
    )
    assert printable("a\nb\r", keep="\n") == "a\nb\\x0d"


@given(FOREIGN, FOREIGN)
def test_reports_print_nothing_a_terminal_obeys(one: str, two: str) -> None:
    table = Table([one, two], labels=1, footer=[two, one])
    table.add(two, one)
    parts = [Heading(one), two, Line(one, "bold"), table]
    for width in (None, 40):
        assert harmless(as_text(parts, width))
    page = io.StringIO()
    screen = console(file=page, width=60, force_terminal=True, color_system=None)
    screen.print(one, Text(two), sep="\n")
    assert harmless(page.getvalue())


def test_markup_is_not_read() -> None:
    for text in ("[red]x[/red]", "[link=http://x]y[/link]", ":smile:"):
        table = Table([text])
        table.add(text)
        assert as_text([Heading(text), text, table], 60).count(text) == 4


@given(FOREIGN)
def test_notebooks_get_no_markup(text: str) -> None:
    table = Table([text])
    table.add(text)
    html = html_of([Heading(text), text, table])
    inside = html
    for tag in ("table", "thead", "tbody", "tr", "h4", "p"):
        inside = inside.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    for cell in ("th", "td"):
        inside = inside.replace(f'<{cell} style="text-align:left">', "").replace(f"</{cell}>", "")
    assert "<" not in inside.replace("<br>", "")
    assert harmless(html)


@given(FOREIGN)
def test_a_line_of_json_says_the_same_in_visible_letters(text: str) -> None:
    line = json_line({"x": [text]})
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert json.loads(line) == {"x": [text]}


@given(FOREIGN)
def test_no_cell_is_a_formula(text: str) -> None:
    cell = csv_cell(text)
    if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        float(text)  # a number


def test_numbers_stay_numbers() -> None:
    for number in ("-12.5", "+3", "-1e5", "-.5", "12", -12.5, 7, None):
        assert csv_cell(number) == number
    for formula in ("=1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "+x", "\t=1", "\r=1", "＝1"):
        assert csv_cell(formula) == "'" + printable(formula)


# -- all commands that show a run ----------------------------------------------------------------


def nasty_store(file: Path, name: str, detail: str) -> None:
    """Create a store as an attacker may send it: with names that were never validated."""
    plan = fake_plan(1, 2, names=(name or "x", "other"))
    with Store.open(file) as store:
        run = store.begin(plan, ENGINE, VERSIONS)
        for number in range(2):
            pair = fake_pair(plan.task(number), unusual=8)
            first = pair.games[0]
            fields = {field: getattr(first, field) for field in first.__slots__}
            nasty = GameRecord(**fields | {"detail": detail})
            run.append([PairRecord(pair.task, (nasty, pair.games[1]))])
        run.finish({"verdict": name})


@pytest.mark.parametrize("begin", ["=", "\n"])
def test_commands_show_a_foreign_store_and_do_not_obey_it(begin: str, tmp_path: Path) -> None:
    file, all_of_it = tmp_path / "s.sqlite", begin + "".join(NASTY)
    nasty_store(file, all_of_it, all_of_it)
    for args in (
        ["runs"], ["runs", "show"], ["runs", "games"],
        ["runs", "replay", "last.0.0", "--delay", "0s"],
        *(["runs", "export", "--format", format] for format in ("text", "csv", "jsonl")),
        *(["runs", command, "--json"] for command in ("list", "show", "games")),
    ):  # fmt: skip
        result = CliRunner().invoke(app, [*args, "--store", str(file)])
        assert result.exit_code == 0, (args, result.output)
        assert harmless(result.stdout), args
        assert harmless(result.stderr), args
    with Store.open(file, read_only=True) as store:
        run = store.last()
        assert all(entrant.name.isprintable() for entrant in run.plan.entrants)
        assert harmless(report_on(run)._repr_html_())
        text = "".join(export_lines(run, "csv"))
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell.startswith(("=", "@")) for cell in row)


def test_errors_show_file_names_and_do_not_obey_them(tmp_path: Path) -> None:
    file = tmp_path / "\x1b[2J\u202ex\ny"
    for args in (
        ["runs", "import", str(file)],
        ["runs", "--store", str(file)],
        ["atlas", "verify", str(file)],
    ):
        result = CliRunner().invoke(app, args)
        assert result.exit_code == 2
        assert harmless(result.stderr)
        assert result.stderr.count("\n") == 1
        assert "x1b" in result.stderr


def test_there_is_no_other_way_to_the_terminal() -> None:
    """Check that only the listed modules print or create a console."""
    source = Path(knightfall.__file__).parent
    allowed = {
        "display/printable.py", "display/report.py", "cli/terminal.py",
        "kernel/compile.py", "solver/verify.py", "oracle/batch_evaluation.py",
        "cli/commands/eval.py",
        "course/generation_2017b.py",  # a person plays in their own script
    }  # fmt: skip
    for file in source.rglob("*.py"):
        name = str(file.relative_to(source))
        if name in allowed:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            assert not (isinstance(called, ast.Name) and called.id in ("print", "Console")), (
                f"{name}: use print_line, print_parts or console()"
            )
