"""The page in a browser: played by mouse, touch and keys, and its truth held to the solver's."""

from __future__ import annotations

import json
import random
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from browser import cell, file_url, need_browser, of, opened, said, until_said

import knightfall as kf
from knightfall.agents import parse_agent
from knightfall.openings import openings
from knightfall.position import Position
from knightfall.solver.atlas import lookup, position_of
from knightfall.web.site import write_site

need_browser()


def random_position(seed: int, plies: int) -> Position:
    rng = random.Random(seed)
    while True:
        position = Position.from_fen(rng.choice(openings(kf.Board.of(7, 7))))
        for _ in range(plies):
            if not position.legal_moves:
                break
            position = position.play(rng.choice(position.legal_moves))
        if len(position.legal_moves) > 1:
            return position


def marks(page: Any) -> dict[str, tuple[bool, int]]:
    """What the board says of each legal move, by its label."""
    found = {}
    for label in page.locator("#board button").evaluate_all("all => all.map(b => b.ariaLabel)"):
        told = re.search(r"^(\w\d+),.*(wins|loses) in (\d+) pl", label)
        if told:
            found[told[1]] = told[2] == "wins", int(told[3])
    return found


# -- playing ---------------------------------------------------------------------------------


def test_a_whole_game_by_mouse(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.select_option("#opponent", "random")
        page.click("text=New game")
        for _ in range(40):
            page.wait_for_function(
                "() => !knightfall.busy && !knightfall.handling && (knightfall.position.side "
                "=== knightfall.you || /won/.test(document.getElementById('status').textContent))"
            )
            if "won" in said(page):
                break
            page.locator("#board .target").first.click()
        assert "has no cell left to go to" in said(page)
        moves = re.search(r"moves=([\w.]+)", page.url)
        assert moves is not None
        final = Position.from_moves(moves[1].split("."))
        assert final.winner == ("w" if "You won" in said(page) else "b")


def test_keys_walk_play_and_take_typed_moves(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.select_option("#opponent", "none")
        page.select_option("select[name=placement]", "free")
        page.click("text=New game")
        page.focus("#board button[tabindex='0']")
        for key in ("a", "1"):
            page.keyboard.press(key)
        until_said(page, "Second player to place")
        for key in ("Home", "PageUp", "Enter"):
            page.keyboard.press(key)
        until_said(page, "First player to move")
        assert page.url.endswith(of(["a1", "a7"]))
        for key in ("b", "3"):
            page.keyboard.press(key)
        until_said(page, "Second player to move")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")  # b2 is no knight's move from a7
        until_said(page, "is not a legal move")
        assert page.url.endswith(of(["a1", "a7", "b3"]))


def test_a_knight_can_be_dragged_and_touched(browser: Any, file: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(browser, file_url(file, of(["d4", "a1"])), **phone) as page:
        sizes = page.locator("#board button").evaluate_all(
            "all => all.map(b => Math.min(b.clientWidth, b.clientHeight))"
        )
        assert min(sizes) >= 44
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        cell(page, "e6").tap()
        until_said(page, "Second player to move")
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        cell(page, "d4").drag_to(cell(page, "e6"))
        until_said(page, "Second player to move")
        assert page.url.endswith(of(["d4", "a1", "e6"]))


def test_undo_redo_resign_and_swap(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1", "e6", "b3"]))) as page:
        page.click("#undo")
        until_said(page, "Second player to move")
        page.click("#redo")
        until_said(page, "First player to move")
        page.click("#resign")
        until_said(page, "First player resigned: second player won")
        assert page.locator("#board .target").count() == 0


def test_teaching_takes_a_blunder_back_and_says_what_was_better(browser: Any, file: Path) -> None:
    for seed in range(100):
        position = random_position(seed, 20)
        winning = kf.solve(position, distance=False, progress=False).winning_moves or ()
        if 0 < len(winning) < len(position.legal_moves):
            break
    wrong = next(move for move in position.legal_moves if move not in winning)
    with opened(browser, file_url(file, f"fen={quote(position.fen)}")) as page:
        page.check("#teach")
        cell(page, wrong).click()
        until_said(page, f"{wrong} loses")
        assert all(move in said(page) for move in winning)
        assert page.input_value("#fen") == position.fen
        cell(page, winning[0]).click()
        page.wait_for_function(
            f"() => document.getElementById('fen').value !== {json.dumps(position.fen)}"
        )


# -- the truth -------------------------------------------------------------------------------


def test_the_truth_is_the_solver_s(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.check("#truth")
        for seed in range(8):
            position = random_position(seed, 20 + seed)  # a busy machine has time enough for it
            page.fill("#fen", position.fen)
            page.click("text=Set up")
            page.wait_for_function(
                "names => names.join() === [...document.querySelectorAll('#board button')]"
                ".filter(b => / in \\d+ pl/.test(b.ariaLabel)).map(b => b.ariaLabel.split(',')[0])"
                ".join()",
                arg=list(position.legal_moves),
            )
            wanted = {}
            for move in position.legal_moves:
                after = kf.solve(position.play(move), progress=False)
                assert after.plies is not None
                wanted[move] = after.winner == position.to_move, after.plies + 1
            assert marks(page) == wanted


def test_agents_play_as_they_do_elsewhere(browser: Any, file: Path) -> None:
    agents = ["id(improved, nodes=2500, seed=3)", "alphabeta(2*open-center, depth=4, seed=3)",
              "minimax(open, depth=3, seed=3)", "greedy(bfs_reach, seed=3)"]  # fmt: skip
    with opened(browser, file_url(file)) as page:
        for seed, agent in enumerate(agents):
            position = random_position(50 + seed, 9)
            found = page.evaluate(
                """async ([text, fen]) => {
                  const { parseAgent, parseFen, nameOf, app } = globalThis.knightfall.parts;
                  const position = parseFen(fen), agent = parseAgent(text, app.about.heuristics);
                  const { cell } = await app.player.ask("choose", { position, agent });
                  return nameOf(position, Number(cell));
                }""",
                [agent, position.fen],
            )
            assert found == parse_agent(agent).choose(position)


def test_the_atlas_is_ours(browser: Any, file: Path) -> None:
    board = kf.Board.of(7, 7)
    with opened(browser, file_url(file)) as page:
        page.click("nav >> text=Atlas")
        page.locator("#atlas button[aria-label^='c5,']").click()
        page.wait_for_function(
            "() => document.getElementById('atlas-told').textContent.includes('c5')"
        )
        labels = page.locator("#atlas button").evaluate_all("all => all.map(b => b.ariaLabel)")
        seen = 0
        for label in labels:
            told = re.search(r"^(\w\d),.*the (first|second) player wins in (\d+) plies", label)
            if told:
                entry = lookup(position_of(board, board.cell("c5"), board.cell(told[1])))
                assert entry is not None
                assert (told[2] == "first", int(told[3])) == (entry.mover_wins, entry.plies)
                seen += 1
        assert seen == 48
        page.locator("#atlas button[aria-label^='e5,']").click()
        until_said(page, "First player to move")
        assert page.url.endswith("moves=c5.e5")


# -- addresses -------------------------------------------------------------------------------


BROKEN = [
    ("fen=nonsense", "does not say whose turn"),
    ("board=9x9", "more than 64 cells"),
    ("fen=7/7/7 x", "does not say whose turn"),
    ("fen=" + quote("N6/7/7/7/7/7/7 w"), "0 knights n"),
    ("fen=" + quote("9" * 500 + " w"), "far too long"),
    ("fen=" + quote("N70/n6/7 w"), "do not fit"),
    ("board=hello", "is no board"),
    (of(["d4", "d4"]), "is no move here"),
    ("moves=" + "a1." * 9000, "too long"),
    (of(["d4", "z9"]), "is no move here"),
]


def test_broken_addresses_are_told(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, BROKEN[0][0])) as page:
        for address, told in BROKEN:
            page.goto(file_url(file, address))
            until_said(page, told)
            assert page.locator("#board .target").count() == 49  # and the page is usable
        page.reload()
        until_said(page, BROKEN[-1][1])
        assert page.locator("#board .target").count() == 49


def test_a_shared_link_brings_the_tree_back(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1", "e6", "b3"]))) as page:
        page.click("#undo")
        page.click("#undo")
        cell(page, "f5").click()
        until_said(page, "Second player to move")
        url = page.url
    with opened(browser, url) as page:
        until_said(page, "Second player to move")
        texts = page.locator("#moves button").all_inner_texts()
        assert {text.split(". ")[1] for text in texts} == {"d4", "a1", "e6", "b3", "f5"}
        page.reload()
        until_said(page, "Second player to move")
        assert page.url == url


# -- as a site -------------------------------------------------------------------------------


def test_the_site_is_served_and_small(browser: Any, tmp_path: Path) -> None:
    written = write_site(tmp_path)
    assert sum(file.stat().st_size for file in written) < 300_000
    handler = partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with opened(browser, f"http://127.0.0.1:{server.server_port}/") as page:
            page.wait_for_selector("#board .target")
            assert "You to" in said(page)
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def test_light_dark_and_forced_colours(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        page.check("#truth")
        for scheme, forced in (("dark", "active"), ("light", "none")):
            page.emulate_media(color_scheme=scheme, forced_colors=forced)
            page.wait_for_selector("#board .won, #board .lost")


def test_mistakes_are_found_and_can_be_gone_to(browser: Any, file: Path) -> None:
    rng, position, moves = random.Random(5), Position.start(), []
    while position.legal_moves:
        moves.append(rng.choice(position.legal_moves))
        position = position.play(moves[-1])
    blunders = [remark.ply for remark in kf.annotate(" ".join(moves), progress=False).blunders]
    with opened(browser, file_url(file, of(moves))) as page:
        page.click("#review")
        page.wait_for_function("() => /threw/.test(document.getElementById('status').textContent)")
        marked = [
            int(text.split(".")[0])
            for text in page.locator("#moves button").all_inner_texts()
            if text.endswith("??")
        ]
        assert marked == [ply for ply in blunders if ply > 2]
        page.click("#previous")
        until_said(page, "threw the win away here")
        assert page.locator("#moves .here").inner_text().startswith(f"{marked[-1] - 1}.")
