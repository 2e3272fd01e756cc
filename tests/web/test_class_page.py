"""The page of a class in a browser: its table sorts, and its boards open in the playable page."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from browser import need_browser

need_browser()
sys.path.append(str(Path(__file__).parents[1] / "course"))
from test_printed_class import class_report  # noqa: E402


def test_the_page_of_a_class_sorts_and_opens_boards(
    browser: Any, file: Path, tmp_path: Path
) -> None:
    report = class_report(tmp_path)
    report.board_page = "board.html"
    report.write()
    shutil.copy(file, tmp_path / "board.html")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(f"file://{tmp_path}/index.html")

    def column(number: int) -> list[str]:
        cells = page.query_selector_all(f"table.class tbody td:nth-child({number})")
        return [cell.inner_text() for cell in cells]

    heads = {cell.inner_text(): cell for cell in page.query_selector_all("table.class th")}
    for number, title in enumerate(heads, start=1):
        before = column(number)
        for direction in ("descending", "ascending"):
            while heads[title].get_attribute("aria-sort") != direction:
                heads[title].query_selector("button").click()
            texts = column(number)
            numbers = [re.match(r"[+-]?[0-9.]+", text.replace("−", "-")) for text in texts]
            keys: list[Any] = [float(one[0]) for one in numbers if one]
            keys = keys if len(keys) == len(texts) else texts
            assert keys == sorted(keys, reverse=direction == "descending"), title
            assert sorted(texts) == sorted(before)
    # The board of a mistake opens in the playable page, at the position of the mistake.
    page.click("summary")
    page.click("details figcaption a")
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    tree = "knightfall.state.game.tree"
    position = f"{tree}.at.position"
    assert page.evaluate(f"() => [{position}.width, {tree}.line({tree}.at).length]") == [4, 2]
    comments = page.evaluate(f"() => {tree}.at.children.map((one) => one.comment)")
    assert sorted(comments, key=str) == ["", "loses in 5 plies"]
    page.close()
    assert errors == []
