"""Tests of the notebook's board in a browser, connected to a `Board` of Python.

A page stands for the notebook: it imports the widget from a blob as anywidget does, and its models
have anywidget's interface.  What they save is set in Python, and what is set there is sent back.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import axe_report, file_url, need_browser, opened

import knightfall as kf
from knightfall.position import Position

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
need_browser()

from knightfall.notebook import Board  # noqa: E402

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Notebook</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><header><h1>Notebook</h1></header><main></main><script>
class Model {
  constructor(number, state) {
    Object.assign(this, { number, state, listeners: {}, changed: {} });
  }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (this.state[name] === value) return;
    this.state[name] = this.changed[name] = value;
    for (const listener of this.listeners[`change:${name}`] ?? []) listener();
  }
  save_changes() {
    save(this.number, this.changed);
    this.changed = {};
  }
  on(event, listener) { (this.listeners[event] ??= []).push(listener); }
  off(event, listener) {
    this.listeners[event] = this.listeners[event].filter((one) => one !== listener);
  }
}
globalThis.knightfall = { state: { ready: true }, models: [], ends: [] };
async function show(script, state) {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const model = new Model(knightfall.models.length, state);
  const el = document.createElement("div");
  document.querySelector("main").append(el);
  knightfall.models.push(model);
  knightfall.ends.push(await widget.render({ model, el }));
}
</script></body></html>
"""


class Notebook:
    """The page, with a `Board` of Python for each board that it shows."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.boards: list[Board] = []
        self.requests: list[str] = []

    def show(self, board: Board) -> None:
        self.boards.append(board)
        state = {"fen": board.fen, "truth": board.truth}
        self.page.evaluate("([script, state]) => show(script, state)", [board._esm, state])
        self.cell(board.position.board.name(0), board).wait_for()

    def send(self, board: Board) -> None:
        """Send the state of a board from Python to the browser, as its comm would."""
        state = {"fen": board.fen, "truth": board.truth}
        self.page.evaluate(
            "([number, state]) => { for (const [name, value] of Object.entries(state)) "
            "knightfall.models[number].set(name, value); knightfall.models[number].changed = {}; }",
            [self.boards.index(board), state],
        )

    def save(self, number: int, changed: dict[str, Any]) -> None:
        for name, value in changed.items():
            setattr(self.boards[number], name, value)

    def cell(self, name: str, board: Board) -> Any:
        place = self.page.locator("main > div").nth(self.boards.index(board))
        return place.locator(f"knight-board button[aria-label^='{name},']")

    def labels(self, board: Board) -> list[str]:
        place = self.page.locator("main > div").nth(self.boards.index(board))
        labels: list[str] = place.locator("knight-board button").evaluate_all(
            "all => all.map(b => b.ariaLabel)"
        )
        return labels

    def wait(self, words: str) -> None:
        """Wait until a text is on the page."""
        self.page.get_by_text(words).first.wait_for()

    def marks(self, board: Board) -> dict[str, tuple[bool, int]]:
        """Return for each marked cell whether the move wins and in how many plies."""
        found = {}
        for label in self.labels(board):
            if shown := re.search(r"^(\w\d+),.*(wins|loses) in (\d+) pl", label):
                found[shown[1]] = shown[2] == "wins", int(shown[3])
        return found


@contextmanager
def notebook(browser: Any, folder: Path, **options: Any) -> Iterator[Notebook]:
    file = folder / "notebook.html"
    file.write_text(PAGE, encoding="utf-8")
    options = {"viewport": {"width": 1000, "height": 900}, "reduced_motion": "reduce", **options}
    with opened(browser, file_url(file), **options) as page:
        found = Notebook(page)
        page.expose_function("save", found.save)
        page.on("request", lambda request: found.requests.append(request.url))
        yield found


def open_cells(labels: list[str]) -> set[str]:
    return {label.partition(",")[0] for label in labels if ", open" in label}


def names_of(position: Position) -> set[str]:
    return {position.board.name(cell) for cell in position.open}


def test_clicks_play_and_python_sets(browser: Any, tmp_path: Path) -> None:
    start = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    with notebook(browser, tmp_path) as page:
        board, seen = Board(start), []
        board.observe(lambda change: seen.append(change["new"]), "fen")
        page.show(board)
        for illegal in ("a1", "e2"):  # an open cell, and the other knight
            page.cell(illegal, board).click(force=True)
            page.wait(f"{illegal} is not a legal move")
        page.cell("b5", board).click(force=True)  # the own knight
        page.wait("White to move, 6 moves")
        assert board.fen == start.fen
        page.cell("d4", board).click()
        page.wait("Black to move")
        assert board.position == start.play("d4")
        page.cell("b5", board).click(force=True)  # gone
        page.wait("b5 is not a legal move")
        page.cell("g3", board).click()
        page.wait("White to move")
        played = start.play("d4").play("g3")
        assert board.position == played
        page.page.get_by_role("button", name="Undo").click()
        page.wait("Black to move")
        assert board.position == start.play("d4")
        page.page.get_by_role("button", name="Redo").click()
        page.wait("White to move")
        assert seen == [start.play("d4").fen, played.fen, start.play("d4").fen, played.fen]
        assert open_cells(page.labels(board)) == names_of(played)

        board.position = Position.from_moves(["c3", "a1", "b1"], 4, 5)
        page.send(board)
        page.wait("Black to move, 2 moves")
        labels = page.labels(board)
        assert len(labels) == 20
        assert open_cells(labels) == names_of(board.position)
        assert [label for label in labels if "White’s knight" in label] == ["b1, White’s knight"]
        assert [label for label in labels if "Black’s knight" in label] == ["a1, Black’s knight"]
        legal = {label.partition(",")[0] for label in labels if "legal move" in label}
        assert legal == set(board.position.legal_moves)
        assert {url.partition(":")[0] for url in page.requests} <= {"blob", "data"}


def test_knights_are_placed_and_a_game_is_played_to_its_end(browser: Any, tmp_path: Path) -> None:
    rng = random.Random(3)
    with notebook(browser, tmp_path) as page:
        board = Board(Position.start(4, 4))
        page.show(board)
        position = board.position
        while position.legal_moves:
            move = rng.choice(position.legal_moves)
            page.cell(move, board).click()
            position = position.play(move)
            names = {"w": "White to", "b": "Black to"}
            page.wait("won:" if position.winner else names[position.to_move])
            assert board.position == position
        assert not page.page.locator("knight-board .target").count()


def test_the_truth_is_the_solver_s(browser: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    with notebook(browser, tmp_path) as page:
        board = Board(Position.start(5, 5), truth=True)
        page.show(board)
        for plies in (2, 4, 6, 7):
            position = Position.start(5, 5)
            while len(position.legal_moves) < 2 or len(position.open) != 25 - plies:
                position = Position.start(5, 5)
                for _ in range(plies):
                    if position.legal_moves:
                        position = position.play(rng.choice(position.legal_moves))
            board.position = position
            page.send(board)
            solved = kf.solve(position)
            name = "White" if solved.winner == "w" else "Black"
            page.wait(f"{name} wins in {solved.plies} ")
            expected = {}
            for move in position.legal_moves:
                after = kf.solve(position.play(move))
                assert after.plies is not None
                expected[move] = after.winner == position.to_move, after.plies + 1
            assert page.marks(board) == expected
            assert {move for move, (wins, _) in expected.items() if wins} == set(
                solved.winning_moves or ()
            )

        # A line of best play has the length that its cell shows, and ends with that winner.
        move = min(expected, key=lambda name: expected[name][1])
        page.cell(move, board).hover()
        wins, plies = expected[move]
        line = page.page.locator(".line span")
        for _ in range(plies):
            page.page.get_by_role("button", name="One step forward").click()
        page.page.wait_for_function(
            "([line, plies]) => line.textContent.trim().split(' ').length === plies + 2",
            arg=[line.element_handle(), plies],
        )
        end = position
        for name in line.inner_text().removeprefix("Best play: ").split():
            end = end.play(name)
        assert (end.winner == position.to_move) == wins

        page.page.get_by_label("Truth").uncheck()
        page.page.wait_for_function("() => !knightfall.models[0].get('truth')")
        page.page.locator("#verdict").wait_for(state="hidden")
        assert not board.truth
        assert page.marks(board) == {}


def test_several_boards_share_a_page_and_leave_nothing(browser: Any, tmp_path: Path) -> None:
    with notebook(browser, tmp_path) as page:
        first, second = Board("7/7/1N5/7/7/4n2/7 w"), Board(Position.start(5, 5))
        page.show(first)
        page.show(second)
        keys = "addEventListener('keydown', () => (globalThis.heard = true))"
        page.page.evaluate(f"() => {{ {keys} }}")
        page.cell("a1", second).focus()
        page.page.keyboard.type("c3")
        page.page.wait_for_function("() => knightfall.models[1].get('fen').endsWith('b')")
        page.cell("d4", first).click()
        page.page.wait_for_function("() => knightfall.models[0].get('fen').endsWith('b')")
        assert second.position == Position.from_moves(["c3"], 5, 5)
        assert first.position == Position.from_fen("7/7/1N5/7/7/4n2/7 w").play("d4")
        assert not page.page.evaluate("() => globalThis.heard")  # not a shortcut of the notebook

        assert len(page.page.workers) == 2
        page.page.evaluate("() => knightfall.ends.forEach((end) => end())")
        page.page.wait_for_function("() => !document.querySelector('main').textContent")
        assert page.page.locator("knight-board").count() == 0
        assert page.page.evaluate(
            "() => knightfall.models.every(({ listeners }) => "
            "Object.values(listeners).every((some) => !some.length))"
        )


@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_follows_the_notebook_s_theme(
    browser: Any, tmp_path: Path, width: int, dark: bool
) -> None:
    """Check in a notebook whose theme differs from the system's."""
    scheme = "light" if dark else "dark"
    size = {"width": width, "height": 900}
    with notebook(browser, tmp_path, viewport=size, color_scheme=scheme) as page:
        colours = {"background": "#111", "color": "#eee"} if dark else {"background": "#fff"}
        page.page.evaluate("colours => Object.assign(document.body.style, colours)", colours)
        board = Board("7/7/1N5/7/7/4n2/7 w", truth=True)
        page.show(board)
        page.wait("White wins")
        ink = page.page.locator("#status").evaluate("it => getComputedStyle(it).color")
        assert (min(map(int, re.findall(r"\d+", ink))) > 128) == dark
        assert page.page.evaluate("() => document.documentElement.scrollWidth") <= width
        box = page.page.locator("knight-board").bounding_box()
        assert box["width"] == pytest.approx(box["height"], abs=1)
        assert box["width"] > min(width, 400) * 0.85
        if width == 390:
            found = axe_report(page.page)["violations"]
            assert found == []
