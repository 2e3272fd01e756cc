"""Tests of whole games in a browser, with reloads and links between moves; and of "My games"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import pytest
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
from knightfall.position import Position
from knightfall.web.site import PAGE

need_browser()

GAME = ["b5", "e2", "d4", "f4", "e6", "d3", "c5", "b2", "a4", "d1"]
IDLE = "() => knightfall.state.ready && !knightfall.state.thinking && !knightfall.state.busy"
YOUR_TURN = (
    "() => { const { ready, thinking, busy, game, look } = knightfall.state; "
    "return ready && !thinking && !busy && look?.node === game.tree.at "
    "&& (game.tree.at.position.side === game.you || !look.seen.moves.length); }"
)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OPPONENT = "vs=greedy(open)&you=w"


def is_over(page: Any) -> bool:
    return "won" in said(page)


# -- whole games -----------------------------------------------------------------------------


def by_mouse(page: Any) -> None:
    page.locator("#board .target").first.click()


def by_touch(page: Any) -> None:
    page.locator("#board .target").first.tap()


def by_dragging(page: Any) -> None:
    side = page.evaluate("knightfall.state.game.you")
    knight = page.locator(f"#board button:has(.knight.{side})")
    knight.drag_to(page.locator("#board .target").first)


def by_keys(page: Any) -> None:
    """Move the focus to a dotted cell by arrow keys alone, and choose it."""
    page.focus("#board button[tabindex='0']")
    here, there = page.evaluate(
        "() => { const board = document.getElementById('board'); "
        "return [board.cursor, board.cells.findIndex((one) => one.matches('.target'))]; }"
    )
    for key, steps in (
        ("ArrowDown", there // 7 - here // 7),
        ("ArrowRight", there % 7 - here % 7),
    ):
        back = {"ArrowDown": "ArrowUp", "ArrowRight": "ArrowLeft"}[key]
        for _ in range(abs(steps)):
            page.keyboard.press(key if steps > 0 else back)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("move", [by_mouse, by_touch, by_dragging, by_keys])
def test_a_whole_game_with_a_reload_a_link_and_back_in_the_middle(
    browser: Any, file: Path, move: Any
) -> None:
    options = PHONE if move is by_touch else {"viewport": {"width": 1280, "height": 720}}
    with opened(browser, file_url(file, f"{of(GAME[:2])}&{OPPONENT}"), **options) as page:
        for turn in range(40):
            page.wait_for_function(YOUR_TURN)
            if is_over(page):
                break
            before = moves_of(page)
            if turn == 2:  # to another view and back
                page.goto(file_url(file, "/puzzles"))
                page.wait_for_selector("#puzzle .target")
                page.go_back()
                page.wait_for_function(YOUR_TURN)
                assert moves_of(page) == before
            if turn == 3:
                page.reload()
                page.wait_for_function(YOUR_TURN)
                assert moves_of(page) == before
            if turn == 4:  # the link, opened anew
                link = page.url
                page.goto("about:blank")
                page.goto(link)
                page.wait_for_function(YOUR_TURN)
                assert moves_of(page) == before
            move(page)
            page.wait_for_function(
                f"count => knightfall.play.tree.line().length > count && ({YOUR_TURN})()",
                arg=len(before),
            )
        position = Position.from_moves(moves_of(page))
        assert position.winner is not None
        won = "You won" if position.winner == "w" else "Casual won"
        assert won in said(page)
        page.wait_for_selector(f"#end h2:has-text('{won}')")


def test_play_from_here_from_every_source(browser: Any, file: Path) -> None:
    """Check that a game can begin from a pasted position, a puzzle, the atlas, and a position of
    the tree.
    """

    def begin(page: Any, fen: str) -> None:
        page.wait_for_function("fen => document.getElementById('fen').value === fen", arg=fen)
        page.click("#from-here")
        choose_opponent(page, "greedy(open)")
        page.select_option("select[name=seat]", "w")
        page.click("#start")
        page.wait_for_function(f"() => knightfall.state.game.agent && ({YOUR_TURN})()")
        root = page.evaluate("knightfall.play.address").replace("+", " ")
        assert f"fen={fen}" in unquote(root)
        count = len(moves_of(page))
        page.locator("#board .target").first.click()
        page.wait_for_function(
            f"n => knightfall.play.tree.line().length > n && ({YOUR_TURN})()", arg=count
        )

    with opened(browser, file_url(file, of(GAME))) as page:
        page.fill("#fen", " ".join(GAME[:6]))
        page.click("text=Set up")
        begin(page, Position.from_moves(GAME[:6]).fen)
        page.goto(file_url(file, "/puzzles/5"))
        page.wait_for_selector("#puzzle .target")
        page.click("#puzzle-analyse")
        page.wait_for_selector("#analysis:not([hidden])")
        begin(page, parse_qs(page.evaluate("location.hash.slice(1)"))["fen"][0])
        page.goto(file_url(file, "/atlas/7x7/c5"))
        page.select_option("#atlas-click", "analyse")
        page.wait_for_selector("#atlas .won")
        page.locator("#atlas button[aria-label^='e5,']").click()
        begin(page, Position.from_moves(["c5", "e5"]).fen)
        page.goto(file_url(file, of(GAME)))
        page.wait_for_function(
            "count => knightfall.play.tree.line().length === count", arg=len(GAME)
        )
        page.locator("#moves button").nth(5).click()
        begin(page, Position.from_moves(GAME[:6]).fen)


# -- keys ------------------------------------------------------------------------------------


def test_arrows_walk_along_the_game_everywhere(browser: Any, file: Path) -> None:
    """Check that arrow keys step through the game, even after a click on the board, and move over
    the cells only after Tab.
    """

    def until_ply(number: int) -> None:
        page.wait_for_function("n => knightfall.play.tree.line().length === n", arg=number)

    with opened(browser, file_url(file, of(GAME))) as page:
        page.keyboard.press("ArrowLeft")
        until_ply(len(GAME) - 1)
        page.locator("#board .gone").first.click(force=True)
        until_said(page, "is not a legal move")
        page.keyboard.press("ArrowLeft")
        until_ply(len(GAME) - 2)
        page.keyboard.press("Home")
        until_ply(0)
        page.keyboard.press("End")
        until_ply(len(GAME))
        page.keyboard.press("Escape")
        page.focus("#board button[tabindex='0']")  # as the Tab key does
        page.keyboard.press("ArrowLeft")
        until_ply(len(GAME))
        page.keyboard.press("Escape")  # leaves the board
        assert page.evaluate("document.activeElement === document.body")
        page.keyboard.press("ArrowLeft")
        until_ply(len(GAME) - 1)


def test_a_click_on_your_knight_selects_it_and_escape_lets_it_go(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(["d4", "a1"]))) as page:
        cell(page, "d4").click(force=True)
        assert "selected" in cell(page, "d4").get_attribute("class")
        page.keyboard.press("Escape")
        assert "selected" not in cell(page, "d4").get_attribute("class")
        cell(page, "d4").click(force=True)
        cell(page, "e6").click()
        until_said(page, "Black to move")
        assert page.locator("#board .selected").count() == 0
        assert moves_of(page) == ["d4", "a1", "e6"]


def test_the_opponent_s_move_is_shown(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, f"{of(GAME[:2])}&{OPPONENT}")) as page:
        assert page.get_attribute("#status", "aria-live") == "polite"
        page.locator("#board .target").first.click()
        page.wait_for_function(YOUR_TURN)
        position = Position.from_moves(moves_of(page))
        count = len(position.legal_moves)
        until_said(page, f"Casual moves to {moves_of(page)[-1]}. You to move, {count} move")


# -- the tree --------------------------------------------------------------------------------


def test_variations_are_indented_promoted_deleted_and_commented(browser: Any, file: Path) -> None:
    lines = "_".join([".".join(GAME), ".".join([*GAME[:5], "d5", "c5"])])
    with opened(browser, file_url(file, f"{of(GAME)}&lines={lines}")) as page:
        rows = page.locator("#moves .row")
        assert [row.get_attribute("class") for row in rows.all()] == ["row", "row variation", "row"]
        assert rows.nth(0).inner_text().endswith("6. d3")  # the main line first
        assert rows.nth(1).locator("button").all_inner_texts() == ["6. d5", "7. c5"]
        indents = [row.bounding_box()["x"] for row in rows.all()]
        first = [row.locator("button").first.bounding_box()["x"] for row in rows.all()]
        assert indents[0] == indents[1]
        assert first[1] > first[0] == first[2]
        rows.nth(1).locator("button").last.click()
        until_said(page, "Black to move")
        page.fill("#comment", "worth a try: 100 % & more")
        page.press("#comment", "Enter")
        page.wait_for_selector("#moves .comment:has-text('worth a try: 100 % & more')")
        page.click("#promote")
        page.wait_for_function(
            "() => document.querySelector('#moves .row').textContent.includes('6. d5')"
        )
        assert page.is_disabled("#promote")
        link = page.url
        page.reload()
        page.wait_for_selector("#moves .comment:has-text('worth a try: 100 % & more')")
        assert page.url == link
        assert page.locator("#moves .row").first.inner_text().endswith("6. d5")
        page.click("#delete")
        page.wait_for_function("() => !document.querySelector('#moves .comment')")
        assert page.locator("#moves .here").inner_text() == "6. d5"
        page.click("nav >> text=Atlas")  # the Play mode lists only the current line
        page.goto(file_url(file, f"{of(GAME)}&lines={lines}&{OPPONENT}"))
        page.wait_for_function(YOUR_TURN)
        assert page.locator("#moves button").count() == len(GAME)


# -- the truth -------------------------------------------------------------------------------


def test_cells_are_tinted_and_the_bar_says_who_wins(browser: Any, file: Path) -> None:
    position = Position.from_moves(GAME)
    solved = kf.solve(position, progress=False)
    winning = set(solved.winning_moves or ())
    with opened(browser, file_url(file, of(GAME))) as page:
        page.check("#truth")
        winner = "White" if solved.winner == "w" else "Black"
        page.wait_for_selector(f"#verdict:has-text('{winner} wins in {solved.plies} plies')")
        for name in position.legal_moves:
            kind = "won" if name in winning else "lost"
            assert kind in cell(page, name).get_attribute("class").split()
            mark = cell(page, name).inner_text()
            assert mark.startswith("✓" if name in winning else "✗")  # not by colour alone
            tint = cell(page, name).evaluate("one => getComputedStyle(one).backgroundImage")
            assert "gradient" in tint
        page.click("#analyse")  # the Play mode hides the truth
        page.wait_for_selector("#verdict", state="hidden")
        assert page.locator("#board :is(.won, .lost)").count() == 0


def test_progress_is_shown_where_the_truth_takes_long(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, "board=8x8&moves=d4.f5.e6.d6")) as page:
        page.check("#truth")
        page.wait_for_selector("#verdict:has-text('Searching … 0 of ')")
        page.wait_for_function(
            "() => /Searching … [1-9]|wins/.test(document.getElementById('verdict').textContent)"
        )
        assert page.locator("#board :is(.won, .lost)").count() > 0


def test_a_time_that_is_too_short_can_be_prolonged(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, "board=8x8&moves=d4.f5")) as page:
        page.evaluate(
            """() => {
              const { play } = knightfall, { solver } = play.engines, ask = solver.ask.bind(solver);
              let calls = 0;
              solver.ask = (name, about, onPart) =>
                ask(name, name === 'truth' && !calls++ ? { ...about, ms: 1 } : about, onPart);
            }"""
        )
        page.check("#truth")
        page.wait_for_selector("#search-on:not([hidden])")
        assert re.match(r"\d of 7 moves known before time ran out", page.inner_text("#verdict"))
        page.click("#search-on button")
        page.wait_for_selector("#verdict:has-text('Searching')")


def test_holding_a_cell_on_a_phone_shows_its_line_and_does_not_move(
    browser: Any, file: Path
) -> None:
    with opened(browser, file_url(file, of(GAME)), **PHONE, reduced_motion="no-preference") as page:
        page.check("#truth")
        target = page.locator("#board .won, #board .lost").first
        target.wait_for()
        target.scroll_into_view_if_needed()
        name = target.get_attribute("aria-label").split(",")[0]
        box = target.bounding_box()
        touch = page.context.new_cdp_session(page)
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_selector(f"#line:has-text('Best play: {name}')")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_function("() => document.querySelectorAll('.overlay circle').length >= 2")
        assert moves_of(page) == GAME  # nothing was played
        target.tap()  # a short touch moves
        page.wait_for_function("n => knightfall.play.tree.line().length > n", arg=len(GAME))
        assert moves_of(page) == [*GAME, name]


# -- challenges, games, sound ----------------------------------------------------------------


def test_a_challenge_is_copied_accepted_and_shown(browser: Any, file: Path) -> None:
    position = Position.from_moves(GAME)
    with opened(browser, file_url(file, of(GAME))) as page:
        page.click("#challenge")
        page.wait_for_function(
            "() => /challenge to beat Perfect/.test(document.getElementById('status').textContent)"
        )
        link = re.search(r"file:\S+", said(page))  # shown if it cannot be copied
        assert link or "is copied" in said(page)
        lost = kf.solve(position, distance=False, progress=False).winner != position.to_move
        assert ("it is lost" in said(page)) == lost
        address = page.evaluate("knightfall.play.challenge().then(({ address }) => address)")
        page.goto(file_url(file, address))
        until_said(page, "Challenge: beat Perfect from here")
        assert page.input_value("#fen") == position.fen
        page.click("#resign")
        page.wait_for_selector("#end:has-text('Perfect won')")
        page.reload()  # still a challenge after a reload
        page.wait_for_selector("#end:has-text('Perfect won')")
        assert "challenge=1" in page.url


def test_games_are_listed_and_gone_on_with(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, f"{of(GAME[:2])}&{OPPONENT}")) as page:
        page.locator("#board .target").first.click()
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 4 && ({YOUR_TURN})()")
        unfinished = moves_of(page)
        page.click("#new")
        choose_opponent(page, "random")
        page.click("#start")
        page.wait_for_function(YOUR_TURN)
        page.locator("#board .target").first.click()
        page.wait_for_function(YOUR_TURN)
        page.click("#resign")
        until_said(page, "resigned")
        page.reload()
        page.wait_for_function(IDLE)
        page.click("nav >> text=Games")
        texts = page.locator("#games-list a").all_inner_texts()
        assert len(texts) == 2
        assert re.match(r"lost\s+against Beginner as White", texts[0])
        assert re.match(r"not over\s+against Casual as White", texts[1])
        assert "Beginner won 0, lost 1" in page.inner_text("#games-scores")
        page.locator("#games-list a").nth(1).click()
        page.wait_for_function(YOUR_TURN)
        assert moves_of(page) == unfinished
        page.locator("#board .target").first.click()
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 6 && ({YOUR_TURN})()")
        page.click("nav >> text=Games")
        assert page.locator("#games-list a").count() == 2  # the continued game replaces its entry
        page.click("#games-clear")
        assert page.locator("#games-list a").count() == 0
        page.click("#games-undo")
        assert page.locator("#games-list a").count() == 2


def test_a_move_does_not_call_back_who_has_left(browser: Any, file: Path) -> None:
    """A link changes the address at once, but `hashchange` comes in a later task: what is saved in
    between must not replace the address.
    """
    with opened(browser, file_url(file, f"{of(GAME[:2])}&{OPPONENT}")) as page:
        there = "() => { location.hash = '/games'; knightfall.play.save(); return location.hash; }"
        assert page.evaluate(there) == "#/games"
        page.wait_for_selector("#games-text:visible")
        page.go_back()
        page.wait_for_function(YOUR_TURN)
        assert moves_of(page) == GAME[:2]
        page.locator("#board .target").first.click()  # the address follows the game again
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 4 && ({YOUR_TURN})()")
        assert len(page.evaluate("location.hash").partition("&")[0].split(".")) == 4


def test_sounds_only_for_who_wants_them(browser: Any, file: Path) -> None:
    count = """() => {
      globalThis.tones = 0;
      const create = AudioContext.prototype.createOscillator;
      AudioContext.prototype.createOscillator = function () {
        globalThis.tones++;
        return create.call(this);
      };
    }"""
    with opened(browser, file_url(file, f"{of(GAME[:2])}&{OPPONENT}")) as page:
        page.evaluate(count)
        page.locator("#board .target").first.click()
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 4 && ({YOUR_TURN})()")
        assert page.evaluate("tones") == 0
        page.click("#new")
        page.click("#choose summary")
        page.check("input[name=sound]")
        page.click("#cancel")
        page.locator("#board .target").first.click()
        page.wait_for_function(f"() => knightfall.play.tree.line().length === 6 && ({YOUR_TURN})()")
        page.wait_for_function("() => tones === 2")  # your move and the reply
        page.reload()
        page.wait_for_function(YOUR_TURN)
        assert page.is_checked("input[name=sound]")


# -- appearance ------------------------------------------------------------------------------


def test_names_of_cells_and_marks_collide_with_nothing(browser: Any, file: Path) -> None:
    """Check that the names of rows and columns are beside the board and overlap neither cells nor
    the strip below.
    """
    overlap = """() => {
      const box = (one) => one.getBoundingClientRect();
      const cells = [...document.querySelectorAll('#board [role=row] button')].map(box);
      const names = [...document.querySelectorAll('#board .names i')].map(box);
      const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
        || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
      const strip = box(document.getElementById('strip-below'));
      return names.length === 14 && names.every((a) => [...cells, strip].every((b) => apart(a, b)));
    }"""
    for size in ({"width": 1366, "height": 650}, {"width": 320, "height": 568}):
        with opened(browser, file_url(file, of(GAME)), viewport=size) as page:
            assert page.evaluate(overlap), size


def test_forced_colours_keep_the_grid_the_gaps_and_the_layers(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(GAME))) as page:
        page.check("#layer-reach")
        page.wait_for_selector("#board .layer-w")
        page.emulate_media(forced_colors="active")
        look = "one => { const { backgroundColor, backgroundImage, boxShadow } = "
        look += "getComputedStyle(one); return [backgroundColor, backgroundImage, boxShadow]; }"
        gone = page.locator("#board .gone:not(.last)").first.evaluate(look)
        layer = page.locator("#board .layer-w.layer-b").first.evaluate(
            "one => getComputedStyle(one, '::after').backgroundImage"
        )
        plain = page.locator(
            "#board :is(.light, .dark):not(.gone, .layer-w, .layer-b, .last)"
        ).first.evaluate(look)
        assert gone[0] != plain[0]  # a visited cell looks different from an open one
        assert "gradient" in layer
        assert "inset" in plain[2]  # the lines of the grid
        page.emulate_media(forced_colors="none")


def test_the_preview_image_is_in_the_metadata(file: Path) -> None:
    page = file.read_text(encoding="utf-8")
    assert re.search(r'<meta property="og:image" content="data:image/png;base64,iVBOR', page)
    assert (PAGE / "preview.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(page.encode()) < 400_000


def test_a_challenge_s_address_is_encoded_once(browser: Any, file: Path) -> None:
    """Check that an agent string with every special character is read back from a challenge's
    address.
    """
    agent = "id(2*open-1/2*bfs_reach+center, nodes=500)"
    address = f"{of(GAME[:2])}&vs={quote(agent)}&you=w&challenge=1"
    with opened(browser, file_url(file, address)) as page:
        until_said(page, f"Challenge: beat {agent}")
        page.reload()
        until_said(page, f"Challenge: beat {agent}")
