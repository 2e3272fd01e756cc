"""Tests of the page in a browser: moves by mouse, touch and keys; its truth against the solver."""

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

from browser import (
    cell,
    choose_opponent,
    file_url,
    moves_of,
    need_browser,
    of,
    opened,
    said,
    until_said,
)

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
    """Return for each legal move whether it wins and in how many plies, by its cell's label."""
    found = {}
    for label in page.locator("#board button").evaluate_all("all => all.map(b => b.ariaLabel)"):
        shown = re.search(r"^(\w\d+),.*(wins|loses) in (\d+) pl", label)
        if shown:
            found[shown[1]] = shown[2] == "wins", int(shown[3])
    return found


# -- playing ---------------------------------------------------------------------------------


def test_a_whole_game_by_mouse(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.click("#new")
        page.locator(".face", has_text="Beginner").click()
        page.click("#start")
        for _ in range(40):
            page.wait_for_function(
                "() => { const { thinking, busy, game } = knightfall.state; return !thinking "
                "&& !busy && (game.tree.at.position.side === game.you || "
                "/won/.test(document.getElementById('status').textContent)); }"
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
        page.click("#new")
        choose_opponent(page, "none")
        page.click("#choose summary")
        page.select_option("select[name=placement]", "free")
        page.click("#start")
        until_said(page, "White to place")
        page.focus("#board button[tabindex='0']")
        for key in ("a", "1"):
            page.keyboard.press(key)
        until_said(page, "Black to place")
        for key in ("Home", "PageUp", "Enter"):
            page.keyboard.press(key)
        until_said(page, "White to move")
        assert page.url.endswith(of(["a1", "a7"]))
        for key in ("b", "3"):
            page.keyboard.press(key)
        until_said(page, "Black to move")
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
        until_said(page, "Black to move")
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        cell(page, "d4").drag_to(cell(page, "e6"))
        until_said(page, "Black to move")
        assert page.url.endswith(of(["d4", "a1", "e6"]))


def test_keys_work_after_a_click_on_the_board(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        cell(page, "e6").click()
        until_said(page, "Black to move")
        page.keyboard.press("t")
        page.wait_for_selector("#board .won, #board .lost")
        page.keyboard.press("u")
        until_said(page, "White to move")
        page.keyboard.press("r")
        until_said(page, "Black to move")


def test_a_dragged_knight_follows_the_pointer(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        box = cell(page, "d4").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 25)
        knight = cell(page, "d4").locator(".knight")
        assert knight.evaluate("one => one.style.transform") == "translate(60px, 25px)"
        page.mouse.up()  # an illegal cell: the knight returns, and no move is played
        assert knight.evaluate("one => one.style.transform") == ""
        assert page.url.endswith(of(["d4", "a1"]))


def test_undo_redo_resign_and_swap(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1", "e6", "b3"]))) as page:
        page.click("#undo")
        until_said(page, "Black to move")
        page.click("#redo")
        until_said(page, "White to move")
        page.click("#resign")
        until_said(page, "Black won: White resigned")
        assert page.locator("#board .target").count() == 0


YOUR_TURN = (
    "() => knightfall.state.ready && !knightfall.state.thinking && !knightfall.state.busy && "
    "knightfall.play.position.side === knightfall.state.game.you && "
    "location.hash.slice(1) === knightfall.play.address"
)


def begin_against(page: Any, agent: str, seat: str) -> None:
    page.click("#new")
    choose_opponent(page, agent)
    page.select_option("select[name=seat]", seat)
    page.click("#start")
    page.wait_for_function(
        f"agent => knightfall.state.game.agent?.text === agent && ({YOUR_TURN})()", arg=agent
    )


def move_and_wait(page: Any) -> None:
    plies = page.evaluate("knightfall.play.tree.line().length")
    # Prefer cells near the centre, so that the game does not end after a few moves.
    page.locator("#board .target").evaluate_all(
        "all => { const far = ({ dataset }) => Math.abs(dataset.cell % 7 - 3) "
        "+ Math.abs(Math.floor(dataset.cell / 7) - 3); "
        "all.sort((a, b) => far(a) - far(b))[0].id = 'to-move'; }"
    )
    page.click("#to-move")
    page.evaluate("document.getElementById('to-move').removeAttribute('id')")
    page.wait_for_function(
        f"plies => knightfall.play.tree.line().length > plies + 1 && ({YOUR_TURN})()", arg=plies
    )


def test_a_game_goes_on_after_a_reload_from_a_link_and_after_back(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        begin_against(page, "greedy(open)", "b")
        move_and_wait(page)
        page.click("#analyse")
        page.check("#layer-reach")
        link, played = page.url, moves_of(page)
        page.reload()
        page.wait_for_function(YOUR_TURN)
        assert page.url == link
        assert page.evaluate("knightfall.state.choice.opponent") == "greedy(open)"
        assert page.is_checked("#layer-reach")
        assert page.get_attribute("#analyse", "aria-pressed") == "true"
        page.click("#analyse")  # back to the game
        move_and_wait(page)  # the opponent answers, as before the reload
        assert moves_of(page)[: len(played)] == played
        assert len(moves_of(page)) == len(played) + 2
        link = page.url
        page.click("nav >> text=Puzzles")
        page.wait_for_selector("#puzzle .target")
        page.go_back()
        page.wait_for_function(YOUR_TURN)
        assert page.url == link
        page.click("#new")
        page.click("#start")
        page.wait_for_function(f"link => location.href !== link && ({YOUR_TURN})()", arg=link)
        page.go_back()  # the game before is still there
        page.wait_for_function(f"link => location.href === link && ({YOUR_TURN})()", arg=link)
        move_and_wait(page)
        page.click("#resign")
        until_said(page, "resigned")
        page.reload()
        until_said(page, "resigned")
    with opened(browser, link) as page:  # as another user with the link
        page.wait_for_function(YOUR_TURN)
        move_and_wait(page)


def test_any_position_can_be_played_against_an_opponent(browser: Any, file: Path) -> None:
    position = random_position(3, 8)
    with opened(browser, file_url(file)) as page:
        page.click("#analyse")
        page.fill("#fen", position.fen)
        page.click("text=Set up")
        page.wait_for_function(
            "fen => document.getElementById('fen').value === fen", arg=position.fen
        )
        page.click("#from-here")
        choose_opponent(page, "greedy(open)")
        page.select_option("select[name=seat]", "b" if position.to_move == "w" else "w")
        page.click("#start")
        page.wait_for_function(f"() => knightfall.state.game.agent && ({YOUR_TURN})()")
        first = moves_of(page)
        assert len(first) == 1  # the opponent moved first
        assert first[0] in position.legal_moves
        move_and_wait(page)
        page.reload()
        page.wait_for_function(YOUR_TURN)
        assert page.evaluate("knightfall.state.game.agent.text") == "greedy(open)"
        # Go back to a move in the list:
        page.locator("#moves button").first.click()
        page.click("#analyse")
        page.click("#from-here")
        page.click("#start")
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 0 && ({YOUR_TURN})()")
        move_and_wait(page)


def test_redo_and_a_click_in_the_list_leave_the_board_alive(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1"]) + "&vs=greedy(open)&you=w")) as page:
        move_and_wait(page)
        move_and_wait(page)
        whole = moves_of(page)
        page.click("#undo")
        page.wait_for_function("n => knightfall.play.tree.line().length === n", arg=len(whole) - 2)
        page.click("#redo")
        page.wait_for_function(
            f"n => knightfall.play.tree.line().length === n && ({YOUR_TURN})()", arg=len(whole)
        )
        page.locator("#moves button").nth(len(whole) - 2).click()  # your own last move
        until_said(page, f"went to {whole[-1]} here")
        cell(page, whole[-1]).click()
        page.wait_for_function(
            f"n => knightfall.play.tree.line().length === n && ({YOUR_TURN})()", arg=len(whole)
        )
        move_and_wait(page)


def a_choice_of_win_and_loss() -> tuple[Position, tuple[str, ...], str]:
    """Return a position, its winning moves, and one losing move."""
    for seed in range(100):
        position = random_position(seed, 20)
        winning = kf.solve(position, distance=False, progress=False).winning_moves or ()
        if 0 < len(winning) < len(position.legal_moves):
            wrong = next(move for move in position.legal_moves if move not in winning)
            return position, winning, wrong
    raise AssertionError


def against(position: Position, agent: str) -> str:
    return f"fen={quote(position.fen)}&moves=&vs={quote(agent)}&you={position.to_move}"


def test_the_truth_after_a_move_is_shown_in_a_game(browser: Any, file: Path) -> None:
    position, winning, wrong = a_choice_of_win_and_loss()
    with opened(browser, file_url(file, against(position, "greedy(open)"))) as page:
        page.click("#new")
        page.select_option("select[name=help]", "after")
        page.click("#cancel")
        cell(page, wrong).click()
        until_said(page, f"Your {wrong} threw the win away")
        assert all(move in said(page) for move in winning)
        page.click("#undo")
        cell(page, winning[0]).click()
        page.wait_for_function(
            "() => /kept the win|has no cell left/"
            ".test(document.getElementById('status').textContent)"
        )


def test_teaching_says_that_a_game_is_lost_and_what_to_aim_for(browser: Any, file: Path) -> None:
    for seed in range(100):
        position = random_position(seed, 6)
        if kf.solve(position, distance=False, progress=False).winner != position.to_move:
            break
    with opened(browser, file_url(file)) as page:
        page.click("#new")
        page.select_option("select[name=help]", "teach")
        page.click("#cancel")
        page.goto(file_url(file, against(position, "greedy(open)")))
        until_said(page, "this is lost")
        assert "only few replies win" in said(page)
        move = position.legal_moves[0]
        solved = kf.solve(position.play(move), distance=False, progress=False)
        replies = len(position.play(move).legal_moves)
        cell(page, move).click()
        until_said(
            page, f"After {move}, {len(solved.winning_moves or ())} of {replies} replies win"
        )


def test_teaching_takes_a_blunder_back_and_keeps_the_answer(browser: Any, file: Path) -> None:
    position, winning, wrong = a_choice_of_win_and_loss()
    with opened(browser, file_url(file, f"fen={quote(position.fen)}")) as page:
        page.click("#new")
        page.select_option("select[name=help]", "teach")
        page.click("#cancel")
        cell(page, wrong).click()
        until_said(page, f"{wrong} throws the win away. Try again")
        assert not any(move in said(page) for move in winning)
        assert page.input_value("#fen") == position.fen
        cell(page, winning[0]).click()
        page.wait_for_function(
            f"() => document.getElementById('fen').value !== {json.dumps(position.fen)}"
        )


# -- the truth -------------------------------------------------------------------------------


def test_the_truth_is_the_solver_s(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.click("#analyse")
        page.check("#truth")
        for seed in range(8):
            position = random_position(seed, 20 + seed)  # few open cells: quickly solved
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
                  const { play, notation } = globalThis.knightfall;
                  const position = notation.parseFen(fen), agent = play.agentOf(text);
                  const { cell } = await play.engines.opponent.ask("choose", { position, agent });
                  return notation.nameOf(position, Number(cell));
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
            "() => document.getElementById('atlas-text').textContent.includes('c5')"
        )
        labels = page.locator("#atlas button").evaluate_all("all => all.map(b => b.ariaLabel)")
        seen = 0
        for label in labels:
            shown = re.search(r"^(\w\d),.*the (first|second) player wins in (\d+) plies", label)
            if shown:
                entry = lookup(position_of(board, board.cell("c5"), board.cell(shown[1])))
                assert entry is not None
                assert (shown[2] == "first", int(shown[3])) == (entry.mover_wins, entry.plies)
                seen += 1
        assert seen == 48
        page.locator("#atlas button[aria-label^='e5,']").click()
        until_said(page, "You to move. You are White")  # one click starts the game
        assert "moves=c5.e5&vs=" in page.url
        page.go_back()
        page.select_option("#atlas-click", "analyse")
        page.locator("#atlas button[aria-label^='e5,']").click()
        until_said(page, "White to move")
        assert page.url.endswith("moves=c5.e5")


# -- addresses -------------------------------------------------------------------------------


BROKEN = [
    ("fen=nonsense", "does not say whose turn"),
    ("board=9x9", "more than 64 cells"),
    ("fen=7/7/7 x", "does not say whose turn"),
    ("fen=" + quote("N6/7/7/7/7/7/7 w"), "0 knights n"),
    ("fen=" + quote("9" * 500 + " w"), "far too long"),
    ("fen=" + quote("N70/n6/7 w"), "do not fit"),
    ("board=hello", "is not a board size"),
    (of(["d4", "d4"]), "is not a legal move here"),
    ("moves=" + "a1." * 9000, "too long"),
    (of(["d4", "z9"]), "is not a legal move here"),
    (of(["d4"]) + "&vs=nobody(1)", "does not play in a browser"),
]


def test_broken_addresses_are_shown(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, BROKEN[0][0])) as page:
        for address, shown in BROKEN:
            page.goto(file_url(file, address))
            until_said(page, shown)
            assert page.locator("#board .target").count() == 49  # the page is still usable
        page.reload()
        until_said(page, BROKEN[-1][1])
        assert page.locator("#board .target").count() == 49


def test_malformed_percent_signs_raise_nothing(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        for address in (
            "%",
            "moves=%E0%A4%A",
            "/atlas/%zz/%",
            "/puzzles/%E0%A4%A",
            "vs=%&moves=%%",
        ):
            page.goto(file_url(file, address))
            page.wait_for_function("() => knightfall.router.now")
        page.goto(file_url(file, of(["d4", "a1"])))
        until_said(page, "White to move")


def test_a_shared_link_brings_the_tree_back(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1", "e6", "b3"]))) as page:
        page.click("#undo")
        page.click("#undo")
        cell(page, "f5").click()
        until_said(page, "Black to move")
        url = page.url
    with opened(browser, url) as page:
        until_said(page, "Black to move")
        texts = page.locator("#moves button").all_inner_texts()
        assert {text.split(". ")[1] for text in texts} == {"d4", "a1", "e6", "b3", "f5"}
        page.reload()
        until_said(page, "Black to move")
        assert page.url == url


# -- as a site -------------------------------------------------------------------------------


def test_the_site_is_served_and_small(browser: Any, tmp_path: Path) -> None:
    written = write_site(tmp_path)
    assert sum(file.stat().st_size for file in written) < 360_000
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


# -- the window ------------------------------------------------------------------------------

WINDOWS = [(1366, 650), (1280, 720), (1024, 600), (820, 600), (390, 844), (844, 390), (320, 568)]
BOX = """(id) => {
  const { left, top, right, bottom } = document.getElementById(id).getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}"""


def test_the_board_fits_the_window_with_its_status(browser: Any, file: Path) -> None:
    for width, height in WINDOWS:
        size = {"viewport": {"width": width, "height": height}}
        for board in ("7x7", "4x7", "8x8"):
            address = f"board={board}&moves=a1.c4&vs=greedy(open)&you=w"
            with opened(browser, file_url(file, address), **size) as page:
                for part in ("board", "status", "strip-above", "strip-below"):
                    assert page.evaluate(BOX, part), (width, height, board, part)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                if board == "7x7" and height > 600:
                    assert page.evaluate(BOX, "new")
                    assert page.evaluate(BOX, "moves")


def test_the_board_grows_with_the_window_and_survives_large_letters(
    browser: Any, file: Path
) -> None:
    widths = []
    for width, height in ((1024, 600), (1920, 1080)):
        with opened(
            browser, file_url(file, of(["d4", "a1"])), viewport={"width": width, "height": height}
        ) as page:
            widths.append(page.evaluate("document.getElementById('board').offsetWidth"))
    assert widths[1] > 1.6 * widths[0]
    with opened(
        browser, file_url(file, of(["d4", "a1"])), viewport={"width": 1366, "height": 768}
    ) as page:
        page.evaluate("document.documentElement.style.fontSize = '32px'")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        cells = page.locator("#board button").evaluate_all("all => all.map(b => b.offsetWidth)")
        assert min(cells) >= 24


def test_the_board_stays_in_view_and_survives_zoom(browser: Any, file: Path) -> None:
    address = of(["d4", "a1"])
    with opened(browser, file_url(file, address), viewport={"width": 1280, "height": 720}) as page:
        page.evaluate("scrollTo(0, 500)")
        page.wait_for_function("() => scrollY > 300")  # the panel is longer than the window
        assert page.evaluate(BOX, "board")
        assert page.evaluate(BOX, "status")
    zoomed = {"width": 1366 // 2, "height": 650 // 2}  # at 200 %
    with opened(browser, file_url(file, address), viewport=zoomed, device_scale_factor=2) as page:
        assert page.evaluate(BOX, "board")
        assert page.evaluate(BOX, "status")
        cells = page.locator("#board button").evaluate_all("all => all.map(b => b.offsetWidth)")
        assert min(cells) >= 32
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_dialog_for_a_new_game_fits_a_phone(browser: Any, file: Path) -> None:
    for width, height in ((390, 844), (320, 568)):
        size = {"viewport": {"width": width, "height": height}}
        with opened(browser, file_url(file, of(["d4", "a1"])), **size) as page:
            page.click("#new")
            assert page.evaluate(
                "() => { const one = document.getElementById('choose'); "
                "return one.scrollWidth <= one.clientWidth; }"
            )
            assert page.evaluate(BOX, "start")


def test_a_misspelt_heuristic_is_shown_where_it_was_typed(browser: Any, file: Path) -> None:
    position = random_position(2, 24)
    with opened(browser, file_url(file, f"fen={quote(position.fen)}")) as page:
        page.check("#truth")
        page.fill("#heuristic", "improvd")
        page.press("#heuristic", "Enter")
        page.wait_for_selector("#legend:has-text('is not a heuristic')")
        move = position.legal_moves[0]
        cell(page, move).click()
        until_said(page, "to move")  # the status line does not show the heuristic's error
        after = kf.solve(position.play(move), distance=False, progress=False)
        winner = "White" if after.winner == "w" else "Black"
        page.wait_for_selector(f"#verdict:has-text('{winner} wins')")


# -- the first thirty seconds ----------------------------------------------------------------


def test_three_steps_teach_the_game_and_can_be_skipped(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        assert page.locator("#welcome").is_visible()
        page.click("#learn")
        targets = page.locator("#lesson-board .target")
        page.wait_for_selector("#lesson-said:has-text('1 of 3.')")
        assert targets.count() == 8
        targets.first.click()
        page.wait_for_selector("#lesson-said:has-text('2 of 3.')")
        assert page.locator("#lesson-board .gone").count() == 1
        targets.first.click()
        page.wait_for_selector("#lesson-said:has-text('3 of 3.')")
        wrong = page.locator("#lesson-board button[aria-label^='e2,']")
        wrong.click()
        page.wait_for_selector("#lesson-said:has-text('can still move')")
        page.locator("#lesson-board button[aria-label^='b3,']").click()
        page.wait_for_selector("#lesson-said:has-text('you won')")
        page.click("#lesson-end")
        assert page.locator("#welcome").is_hidden()
        page.reload()
        page.wait_for_function("() => globalThis.knightfall?.state.ready")
        assert page.locator("#welcome").is_hidden()
        page.click("#help")
        page.click("#learn-keys")  # the lesson can be opened again
        page.wait_for_selector("#lesson-said:has-text('1 of 3.')")
        page.keyboard.press("Escape")
        assert page.locator("#lesson").is_hidden()


# -- the end of a game -----------------------------------------------------------------------


def test_the_card_at_the_end_tells_what_decided_the_game(browser: Any, file: Path) -> None:
    rng, position, moves = random.Random(5), Position.start(), []
    while position.legal_moves:
        moves.append(rng.choice(position.legal_moves))
        position = position.play(moves[-1])
    you = "b" if position.winner == "w" else "w"  # you lost
    remarks = kf.annotate(" ".join(moves), progress=False).blunders
    mine = [one for one in remarks if one.ply > 2 and (one.ply % 2 == 1) == (you == "w")]
    start = kf.solve(Position.from_moves(moves[:2]), distance=False, progress=False)
    address = f"{of(moves)}&vs=greedy(open)&you={you}"
    with opened(browser, file_url(file, address)) as page:
        page.wait_for_selector("#end:has-text('From the start')")
        shown = page.inner_text("#end")
        assert "Casual won" in shown  # by its name, not as an agent string
        assert "has no cell left to go to" in shown
        assert ("was won for you" in shown) == (start.winner == you)
        if mine:
            assert f"{moves[mine[-1].ply - 1]} at move {mine[-1].ply}" in shown
            assert page.locator("#end knight-board").count() == 1
        page.click("#end >> text=Other side")
        page.wait_for_function(
            f"you => knightfall.state.game.you !== you && ({YOUR_TURN})()", arg=you
        )
        assert page.locator("#end").is_hidden()
        page.go_back()
        page.wait_for_selector("#end:has-text('has no cell left')")
