"""Tests of the Analyse view in a browser: best lines, layers, mistakes, import and export."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote
from xml.etree import ElementTree

import pytest
from browser import (
    axe_report,
    cell,
    choose_opponent,
    file_url,
    need_browser,
    of,
    opened,
    until_said,
)

import knightfall as kf
from knightfall.heuristics.explain import explain
from knightfall.notation import read_game
from knightfall.position import Position
from knightfall.solver.atlas import lookup, position_of

need_browser()

GAME = ["b5", "e2", "d4", "f4", "e6", "d3", "c5", "b2", "a4", "d1"]
SEPARATED = "2*1**1/*2**1*/2*1***/***1**1/*N*****/1****2/1*1n*** w"
BLOCKED = "4***/2*1***/1N2***/4*2/*3*2/4n1*/1*5 w"
MIRRORED = "6*/*6/2N4/3*3/4n2/6*/*6 w"


def at_fen(file: Path, fen: str) -> str:
    return file_url(file, f"fen={quote(fen)}")


def finished_game(seed: int) -> list[str]:
    """Return the moves of a random game, which has many mistakes."""
    rng, moves = random.Random(seed), []
    position = Position.start()
    while position.legal_moves:
        moves.append(rng.choice(position.legal_moves))
        position = position.play(moves[-1])
    return moves


def mistakes(moves: list[str]) -> list[int]:
    """Return the numbers of the moves that threw a win away, by the native solver."""
    found = []
    for number in range(2, len(moves)):
        before = Position.from_moves(moves[:number])
        wins = kf.solve(before).winning_moves
        if wins and moves[number] not in wins:
            found.append(number)
    return found


# -- lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["hover", "focus"])
def test_a_cell_that_is_looked_at_shows_its_line_step_by_step(
    browser: Any, file: Path, how: str
) -> None:
    motion = {"reduced_motion": "reduce" if how == "focus" else "no-preference"}
    with opened(browser, file_url(file, of(GAME)), **motion) as page:
        page.check("#truth")
        target = page.locator("#board button[aria-label*='in']:is(.won, .lost)").first
        target.wait_for()
        name = target.get_attribute("aria-label").split(",")[0]
        if how == "hover":
            target.hover()
        else:
            target.focus()
        page.wait_for_function("() => document.querySelectorAll('.overlay circle').length >= 1")
        if how == "focus":  # the line advances only by keys
            page.wait_for_function(
                "() => document.querySelector('#line').textContent.includes('more')"
            )
            assert page.locator(".overlay circle").count() == 1
            page.keyboard.press("+")
            page.keyboard.press("+")
        page.wait_for_function("() => document.querySelectorAll('.overlay circle').length >= 3")
        steps = re.search(r"Best play: ((?:\w\d ?)+)", page.inner_text("#line"))
        assert steps is not None
        line = steps[1].split()
        assert line[0] == name
        position = Position.from_moves(GAME).play(name)
        for move in line[1:]:  # each step is an optimal move
            length = kf.solve(position).plies
            position = position.play(move)
            assert kf.solve(position).plies == length - 1


def test_a_line_is_no_way_around_the_hidden_truth(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(GAME))) as page:
        page.locator("#board button.target").first.hover()
        page.wait_for_timeout(300)
        assert page.inner_text("#line") == ""
        assert page.locator(".overlay circle").count() == 0


def test_several_heuristics_speak_beside_the_truth(browser: Any, file: Path) -> None:
    position = Position.from_moves(GAME)
    truth = kf.solve(position).winning_moves
    with opened(browser, file_url(file, of(GAME))) as page:
        page.check("#truth")
        page.fill("#heuristic", "improved, 2*open-bfs_reach")
        page.locator("#heuristic").blur()
        page.wait_for_selector("#board :is(.won, .lost) small:nth-of-type(2)")
        labels = page.locator("#board .target").evaluate_all("all => all.map(b => b.ariaLabel)")
        values = {}
        for label in labels:
            shown = re.search(r"^(\w\d),.*improved ([-\d.]+).*2\*open-bfs_reach ([-\d.]+)", label)
            assert shown is not None
            values[shown[1]] = float(shown[2]), float(shown[3])
        for name, found in values.items():
            after = position.play(name)
            for number, heuristic in enumerate(("improved", "2*open-bfs_reach")):
                ours = kf.evaluator(heuristic).value(after, position.to_move)
                assert found[number] == pytest.approx(ours, abs=0.005)
        assert truth is not None
        page.fill("#heuristic", "cosy")
        page.locator("#heuristic").blur()
        page.wait_for_selector("#legend:has-text('“cosy” is not a heuristic')")


def test_a_heuristic_that_changes_with_the_phase_plays_and_its_window_is_framed(
    browser: Any, file: Path
) -> None:
    """Compare the move of a typed opponent, after a reload of the page, with that of the native
    agent; and check the frame around the window of a heuristic.
    """
    agent = "id(phase*near_edges+(1-phase)*near_center+bfs_reach, nodes=2500, seed=7)"
    with opened(browser, at_fen(file, BLOCKED)) as page:
        page.click("#from-here")
        choose_opponent(page, "own")
        page.fill("#new-game [name=agent]", agent.replace("+", " + ").replace("*", " * "))
        page.click("#start")
        page.wait_for_function("() => knightfall.state.game.agent")
        page.reload()
        page.wait_for_function("() => globalThis.knightfall?.state.ready")
        assert parse_qs(page.url.partition("#")[2])["vs"] == [agent]
        cell(page, "d6").click()
        page.wait_for_function("() => knightfall.play.tree.line().length === 2")
        position = Position.from_fen(BLOCKED).play("d6")
        move = kf.agent(agent).choose(position)
        assert page.locator("#moves .here").inner_text().endswith(move)
        position = position.play(move)
        page.click("#analyse")
        heuristic = "stage(0.9: improved, 1/2*open_cluster + phase*open)"
        page.fill("#heuristic", f"{heuristic}, improved")
        page.locator("#heuristic").blur()
        page.wait_for_selector(".above .cluster rect")
        for name in position.legal_moves:
            value = kf.evaluator(heuristic).value(position.play(name), position.to_move)
            shown = re.search(
                r"phase\*open\) ([-\d.]+)", cell(page, name).get_attribute("aria-label")
            )
            assert shown is not None
            assert float(shown[1]) == pytest.approx(value, abs=0.005)
        window = explain(position, heuristic).cluster
        assert window is not None
        names = [position.board.name(one) for one in window.cells]
        framed = page.locator("#board button[aria-label*='window']")
        labels = framed.evaluate_all("all => all.map(b => b.ariaLabel)")
        assert [label.split(",")[0] for label in labels] == names
        centre = page.locator("#board button[aria-label*='centre of open_cluster’s window']")
        assert centre.get_attribute("data-cell") == str(window.center)
        assert f"window of this position, {names[0]} to {names[-1]}," in page.inner_text("#legend")
        page.fill("#heuristic", "stage(0.9: open_cluster, improved)")  # that stage is over
        page.locator("#heuristic").blur()
        page.wait_for_function("() => !document.querySelector('.above .cluster')")


# -- layers ----------------------------------------------------------------------------------


def test_the_layers_say_and_show_why(browser: Any, file: Path) -> None:
    with opened(browser, at_fen(file, SEPARATED)) as page:
        position = Position.from_fen(SEPARATED)
        for layer in ("roles", "reach", "walks", "mirror"):
            page.check(f"#layer-{layer}")
        page.wait_for_selector(".overlay .walk-b circle")
        shown = page.inner_text("#why-walks")
        counted = re.search(r"walk (\d+) steps, Black (\d+)", shown)
        assert counted is not None
        shown = [page.locator(f".overlay .walk-{side} circle").count() for side in "wb"]
        assert shown == [int(counted[1]), int(counted[2])]
        wins = kf.solve(position).winner == position.to_move
        assert wins == (int(counted[1]) > int(counted[2]))
        assert sorted(page.locator("#board em").all_inner_texts()) == ["hunter", "runner"]
        assert "No cell can be reached by both" in page.inner_text("#why-reach")


def test_the_image_of_every_move_is_drawn(browser: Any, file: Path) -> None:
    position = Position.from_fen(MIRRORED)
    assert kf.solve(position).winner != position.to_move
    with opened(browser, at_fen(file, MIRRORED)) as page:
        page.check("#layer-mirror")
        page.wait_for_selector(".overlay .mirror")
        shown = page.inner_text("#why-mirror")
        pairs = re.findall(r"(\w\d) by (\w\d)", shown)
        assert sorted(move for move, _ in pairs) == sorted(position.legal_moves)
        for move, reply in pairs:
            after = position.play(move).play(reply)
            cells = {after.board.cell(move), after.board.cell(reply)}
            assert sum(cells) == 48  # the half turn maps cell c to cell 48 − c
            assert kf.solve(after).winner != after.to_move


# -- mistakes --------------------------------------------------------------------------------


def test_mistakes_are_found_and_done_better(browser: Any, file: Path) -> None:
    moves = finished_game(5)
    wrong = mistakes(moves)
    assert wrong
    with opened(browser, file_url(file, of(moves))) as page:
        page.click("#review")
        until_said(page, "threw a win away")
        marked = [
            int(text.split(".")[0]) - 1
            for text in page.locator("#moves button").all_inner_texts()
            if "??" in text
        ]
        assert marked == wrong
        page.click("#retry")
        for left, number in zip(itertools.count(len(wrong), -1), wrong, strict=False):
            until_said(page, f"({left} left)")
            before = Position.from_moves(moves[:number])
            good = kf.solve(before).winning_moves
            bad = [move for move in before.legal_moves if move not in good]
            cell(page, bad[0]).click()
            until_said(page, f"{bad[0]} loses")
            cell(page, good[0]).click()
            until_said(page, f"{good[0]} keeps the win")
        until_said(page, "the last mistake")
        page.reload()  # tried moves are kept as variations
        page.wait_for_function("() => globalThis.knightfall?.state.ready")
        assert page.locator("#moves button").count() > len(moves)


def test_the_list_of_moves_is_walked_by_keys(browser: Any, file: Path) -> None:
    lines = "_".join([".".join([*GAME[:-1], "c4"]), ".".join(GAME)])
    with opened(browser, file_url(file, f"{of(GAME)}&lines={lines}")) as page:
        assert unquote(page.url).endswith(f"lines={lines}")
        here = page.locator("#moves .here")
        here.focus()
        for key, shown in [
            ("ArrowLeft", "9. a4"), ("ArrowLeft", "8. b2"), ("End", "10. c4"),
            ("ArrowDown", "10. d1"), ("ArrowUp", "10. c4"), ("Home", None), ("ArrowRight", "1. b5"),
        ]:  # fmt: skip
            page.keyboard.press(key)
            if shown is None:
                page.wait_for_function("() => !document.querySelector('#moves .here')")
            else:
                page.wait_for_function(
                    "text => document.querySelector('#moves .here')?.textContent === text",
                    arg=shown,
                )
            assert page.evaluate("document.activeElement.closest('#moves') !== null")


# -- text and pictures -----------------------------------------------------------------------


def test_games_can_be_pasted(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file)) as page:
        page.click("#analyse")
        for pasted, fen in [
            (" ".join(GAME), Position.from_moves(GAME).fen),
            (" ".join(GAME[:4]), Position.from_moves(GAME[:4]).fen),
            (f"{Position.from_moves(GAME[:2]).fen} {' '.join(GAME[2:])}", None),
            (MIRRORED, MIRRORED),
            (read_game(" ".join(GAME)).to_text(), None),
            (SEPARATED, SEPARATED),
            ('{"moves": ["' + '", "'.join(GAME) + '"]}', None),
            (MIRRORED, MIRRORED),
            (f"https://example.org/k.html#{of(GAME)}", None),
        ]:
            page.fill("#fen", f"{pasted} ")  # the space distinguishes it from the normalised text
            page.click("text=Set up")
            page.wait_for_function(
                "fen => document.getElementById('fen').value === fen",
                arg=fen or Position.from_moves(GAME).fen,
            )


def test_what_cannot_be_read_is_shown_and_changes_nothing(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, of(GAME))) as page:
        for pasted, words in [
            ("b5 e2 d5", "“d5” is not a legal move after 2 plies"),
            ("hello world", "“hello” is not a position, a game or a link"),
            ('{"moves": [1]}', "has no list of moves"),
            ('{"moves": ', "incomplete"),
            ("   ", "nothing to read"),
            ("9/9 w", "not supported"),
            ("x" * 30000, "too long"),
        ]:
            page.fill("#fen", pasted)
            page.click("text=Set up")
            until_said(page, words)
            assert page.locator("#moves button").count() == len(GAME)


def test_a_game_and_its_picture_can_be_kept(browser: Any, file: Path) -> None:
    moves = finished_game(2)
    with opened(browser, file_url(file, of(moves))) as page:
        with page.expect_download() as got:
            page.click("#save-game")
        game = read_game(Path(got.value.path()).read_text(encoding="utf-8"))
        assert list(game.moves) == moves[2:]
        assert game.start.fen == Position.from_moves(moves[:2]).fen
        assert game.winner == Position.from_moves(moves).winner
        with page.expect_download() as got:
            page.click("#save-svg")
        assert got.value.suggested_filename == "position.svg"
        drawn = ElementTree.parse(got.value.path()).getroot()
        space = "{http://www.w3.org/2000/svg}"
        assert drawn.findtext(f"{space}title") == Position.from_moves(moves).fen
        assert len(drawn.findall(f"{space}path")) == 2
        gone = [one for one in drawn.findall(f"{space}rect") if one.get("fill") == "#5d6470"]
        assert len(gone) == len(moves) - 2


# -- the atlas -------------------------------------------------------------------------------


def test_the_exceptions_to_the_law_are_listed(browser: Any, file: Path) -> None:
    """Compare the page's numbers of exceptions to the colour law with docs/theory.md."""
    with opened(browser, file_url(file, "/atlas/7x7")) as page:
        for board, odd, classes in [("7x7", 8, 1), ("4x6", 32, 8), ("5x6", 0, 0), ("6x4", 32, 8)]:
            page.goto(file_url(file, f"/atlas/{board}"))
            words = f"fails in {odd} openings" if odd else "has no exception"
            page.wait_for_function(
                "words => document.getElementById('atlas-law').textContent.includes(words)",
                arg=words,
            )
            assert page.locator("#atlas-exceptions li").count() == classes


def test_openings_of_a_board_that_lies_on_its_side_are_known(browser: Any, file: Path) -> None:
    board = kf.Board.of(7, 5)
    with opened(browser, file_url(file, "/atlas/7x5/c2")) as page:
        page.wait_for_function(
            "() => document.getElementById('atlas-text').textContent.includes('c2')"
        )
        labels = page.locator("#atlas button").evaluate_all("all => all.map(b => b.ariaLabel)")
        found = [
            re.search(r"^(\w\d),.*the (first|second) player wins in (\d+)", one) for one in labels
        ]
        shown = {one[1]: (one[2] == "first", int(one[3])) for one in found if one}
        assert len(shown) == 34
        for name, answer in shown.items():
            entry = lookup(position_of(board, board.cell("c2"), board.cell(name)))
            assert entry is not None
            assert answer == (entry.mover_wins, entry.plies)
        cell_of = page.locator("#atlas button[aria-label^='e4,']")
        cell_of.click()
        until_said(page, "You to move")
        assert "board=7x5" in page.url


def test_the_truth_of_an_opening_is_there_at_once(browser: Any, file: Path) -> None:
    """Check that the atlas gives an opening's truth before any search, and that a search finds the
    same.
    """
    with opened(browser, file_url(file)) as page:
        for moves in ("c2 e4", "d4 c6", "a1 g7", "b5 e2", "g3 f5"):
            position = Position.from_moves(moves.split())
            entry = lookup(position)
            assert entry is not None
            found = page.evaluate(
                """(fen) => {
                  const { play, notation: { parseFen, nameOf } } = globalThis.knightfall;
                  const position = parseFen(fen), asked = { position, ms: 1e6 };
                  const { solver } = play.engines;
                  return new Promise((done) => solver.ask("truth", asked, (part) => {
                    solver.stop();
                    done(Object.entries(part).map(([cell, one]) => [nameOf(position, cell), one]));
                  }).catch(() => {}));
                }""",
                position.fen,
            )
            shown = dict(found)
            assert sorted(shown) == sorted(position.legal_moves)
            winning = [name for name, one in shown.items() if one["wins"]]
            assert sorted(winning) == sorted(entry.winning_moves)
            assert {name: one["plies"] for name, one in shown.items() if one["plies"]} == {
                entry.best: entry.plies
            }


# -- accessibility ---------------------------------------------------------------------------

PLAYED = f"{of(GAME)}&vs=greedy(open)&you=w"
VIEWS = [
    of(GAME), PLAYED, f"{PLAYED}&resigned=w", f"{PLAYED}#new", f"{PLAYED}#help", f"{PLAYED}#learn",
    "/games", "/atlas/7x7", "/atlas/7x7/d4", "/puzzles",
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_axe_has_nothing_serious_to_say(browser: Any, file: Path, view: str) -> None:
    view, _, opening = view.partition("#")
    with opened(browser, file_url(file, PLAYED if view == "/games" else view)) as page:
        if opening:  # this view is a dialog
            page.click(f"#{opening}")
        if view == "/games":
            page.locator("#board .target").first.click()
            page.click("nav >> text=Games")
            page.wait_for_selector("#games-list a")
        if view == VIEWS[0]:
            for box in ("truth", "layer-roles", "layer-reach", "layer-walks", "layer-mirror"):
                page.check(f"#{box}")
            page.fill("#heuristic", "improved")
            page.locator("#heuristic").blur()
            page.wait_for_selector("#board :is(.won, .lost) small")
            page.click("#review")
            until_said(page, "a win away")
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            result = axe_report(page)
            assert result["passes"]
            serious = [
                one for one in result["violations"] if one["impact"] in ("serious", "critical")
            ]
            assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


@pytest.mark.parametrize("width", [390, 1600])
def test_nothing_jumps_and_nothing_is_too_wide(browser: Any, file: Path, width: int) -> None:
    watch = """
        globalThis.shift = 0;
        new PerformanceObserver((list) => {
          for (const one of list.getEntries()) {
            if (!one.hadRecentInput) globalThis.shift += one.value;
          }
        }).observe({ type: "layout-shift", buffered: true });
    """
    size = {"width": width, "height": 900}
    with opened(browser, file_url(file, of(GAME)), viewport=size) as page:
        page.evaluate(watch)
        page.evaluate("document.getElementById('truth').click()")
        page.wait_for_selector("#board :is(.won, .lost)")
        for _ in range(3):
            page.evaluate("document.getElementById('undo').click()")
            page.wait_for_timeout(150)
        assert page.evaluate("globalThis.shift") < 0.02
        assert page.evaluate("document.documentElement.scrollWidth") <= width
