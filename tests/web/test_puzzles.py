"""Tests of the shipped puzzles by the solver, and of the puzzle view in a browser."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from browser import CHROMIUM, file_url, opened

import knightfall as kf
from benchmarks import puzzles as made
from knightfall.board import Board
from knightfall.oracle.graded_games import phase_of
from knightfall.position import Position, other
from knightfall.solver.solve import Solver

SHIPPED = json.loads(made.FILE.read_text(encoding="utf-8"))
PUZZLES: list[dict[str, Any]] = SHIPPED["puzzles"]
POSITIONS = [Position.from_fen(one["fen"]) for one in PUZZLES]


@pytest.fixture(scope="module")
def truths() -> dict[str, Solver]:
    boards = {position.board for position in POSITIONS} | {kf.Board.of(5, 5)}
    return {board.text: Solver.of(board) for board in boards}


# -- the file --------------------------------------------------------------------------------


def test_every_puzzle_has_one_winning_move(truths: dict[str, Solver]) -> None:
    for puzzle, position in zip(PUZZLES, POSITIONS, strict=True):
        truth = truths[position.board.text]
        assert len(position.legal_moves) >= made.FEWEST_MOVES
        assert truth.winning_moves(position) == (puzzle["solution"],)
        assert truth.plies(position) == puzzle["plies"] >= made.FEWEST_PLIES


def test_no_two_are_images_of_each_other() -> None:
    assert len({made.likeness(position) for position in POSITIONS}) == len(PUZZLES)
    games = {
        (one["game"][0], position.board) for one, position in zip(PUZZLES, POSITIONS, strict=True)
    }
    assert len(games) == len(PUZZLES)  # no two puzzles come from one game


def test_images_are_alike_whoever_moves() -> None:
    one = Position.from_fen("2N4/7/1*5/7/4n2/7/7 w")
    turned = Position.from_fen("7/7/2N4/7/5*1/7/4n2 b")
    assert made.likeness(one) == made.likeness(turned)
    assert made.likeness(one) != made.likeness(Position.from_fen(turned.fen.replace("b", "w")))


def test_the_rules_lead_to_every_puzzle() -> None:
    for puzzle, position in zip(PUZZLES, POSITIONS, strict=True):
        *_, plies = puzzle["game"]
        gone = set(range(position.board.cells)) - position.open
        assert len(gone) == plies + 2
        assert position.to_move == "wb"[plies % 2]
        # A knight changes colour with each move, so the plies give how many light cells are gone.
        light = 0
        for knight, steps in ((position.white, (plies + 1) // 2), (position.black, plies // 2)):
            assert knight is not None
            light += (steps + 1 + (position.board.colour(knight) == 0)) // 2
        assert sum(position.board.colour(cell) == 0 for cell in gone) == light


def test_a_puzzle_is_where_it_says_in_its_game() -> None:
    for puzzle, position in list(zip(PUZZLES, POSITIONS, strict=True))[::10]:
        number, first, second, plies = puzzle["game"]
        played = made.game(position.board, number)
        assert played[:2] == (first, second)
        assert played[2][plies] == position


def test_grades_are_what_the_agents_miss() -> None:
    for puzzle in PUZZLES:
        assert puzzle["grade"] == round(100 * sum(puzzle["misses"]) / (6 * SHIPPED["tries"]))
    seeds = range(made.FIRST_TRIES + 1, made.FIRST_TRIES + made.TRIES + 1)
    for puzzle, position in list(zip(PUZZLES, POSITIONS, strict=True))[::10]:
        assert made.misses(position, puzzle["solution"], seeds) == puzzle["misses"]


def test_there_is_something_for_everybody() -> None:
    assert len(PUZZLES) == made.NUMBER
    assert made.FILE.read_text(encoding="utf-8") == made.text_of(PUZZLES)
    assert made.FILE.stat().st_size < 60_000
    grades = [one["grade"] for one in PUZZLES]
    assert grades == sorted(grades)
    bands = Counter("easy" if one < 30 else "medium" if one < 60 else "hard" for one in grades)
    assert min(bands.values()) >= 80
    assert len(bands) == 3
    roles = Counter(position.hunter == position.to_move for position in POSITIONS)
    assert min(roles.values()) >= 100
    assert min(Counter(phase_of(position) for position in POSITIONS).values()) >= 20
    nearly_all = [one for one in PUZZLES if min(one["misses"]) >= SHIPPED["tries"] / 2]
    assert len(nearly_all) >= 10  # missed by nearly all agents but the perfect one


# -- themes ----------------------------------------------------------------------------------
# The functions below use rows and columns only, neither the kernel nor the board's tables.

Place = tuple[int, int]


def place(position: Position, cell: int | None) -> Place:
    """Return the row and the column of a cell."""
    assert cell is not None
    return divmod(cell, position.board.width)


def open_places(position: Position) -> frozenset[Place]:
    return frozenset(place(position, cell) for cell in position.open)


def steps(start: Place, free: frozenset[Place]) -> set[Place]:
    """Return the free cells one row and two columns away, or two rows and one column."""
    return {
        (row, column)
        for row, column in free
        if {abs(row - start[0]), abs(column - start[1])} == {1, 2}
    }


def reached(start: Place, free: frozenset[Place]) -> set[Place]:
    """Return all free cells that a knight can reach in any number of steps."""
    found, edge = set[Place](), {start}
    while edge:
        edge = {cell for here in edge for cell in steps(here, free)} - found
        found |= edge
    return found


def longest_walk(start: Place, free: frozenset[Place]) -> int:
    ways = steps(start, free)
    return max((1 + longest_walk(cell, free - {cell}) for cell in ways), default=0)


def walks_alone(position: Position) -> bool:
    """Return whether no cell can be reached by both knights."""
    free = open_places(position)
    white, black = place(position, position.white), place(position, position.black)
    return not reached(white, free) & reached(black, free)


def turned(position: Position, cell: Place) -> Place:
    """Return the image of a cell under the half turn of the board."""
    return position.board.height - 1 - cell[0], position.board.width - 1 - cell[1]


def half_turn_symmetric(position: Position) -> bool:
    """Return whether the half turn exchanges the knights and maps open cells to open cells."""
    free = open_places(position)
    white, black = place(position, position.white), place(position, position.black)
    images = {turned(position, cell) for cell in free}
    return (
        turned(position, white) == black
        and images == free
        and not any(turned(position, cell) == cell for cell in free)
    )


def test_themes_are_what_they_say() -> None:
    for puzzle, position in zip(PUZZLES, POSITIONS, strict=True):
        after = position.play(puzzle["solution"])
        white, black = place(position, position.white), place(position, position.black)
        same_colour = (sum(white) - sum(black)) % 2 == 0
        expected = ["hunter" if same_colour else "runner"]
        if half_turn_symmetric(after):
            expected.append("mirror")
        if walks_alone(position):
            expected.append("race")
        elif walks_alone(after):
            expected.append("separation")
        assert puzzle["themes"] == expected, puzzle["fen"]


def test_there_are_puzzles_of_every_theme() -> None:
    themes = Counter(theme for puzzle in PUZZLES for theme in puzzle["themes"])
    assert set(themes) == set(made.THEMES)
    assert themes["hunter"] + themes["runner"] == len(PUZZLES)
    assert min(themes.values()) >= 10


def test_a_mirror_puzzle_is_won_by_mirroring() -> None:
    rng = random.Random(2017)
    for puzzle, start in zip(PUZZLES, POSITIONS, strict=True):
        if "mirror" not in puzzle["themes"]:
            continue
        for _ in range(20):
            position = start.play(puzzle["solution"])
            while position.legal_moves:
                move = rng.choice(position.legal_moves)
                row, column = turned(position, place(position, position.board.cell(move)))
                image = position.board.name(position.board.at(row, column))
                position = position.play(move).play(image)  # the image is always legal
            assert position.winner == start.to_move


def test_walks_decide_when_the_knights_are_separated() -> None:
    for puzzle, position in zip(PUZZLES, POSITIONS, strict=True):
        if not {"race", "separation"} & set(puzzle["themes"]):
            continue
        after = position.play(puzzle["solution"])
        mine, theirs = (
            longest_walk(place(after, after.knight(side)), open_places(after))
            for side in (position.to_move, other(position.to_move))
        )
        assert mine >= theirs
        assert puzzle["plies"] == 2 * theirs + 1
        if "race" not in puzzle["themes"]:
            continue
        for move in set(position.legal_moves) - {puzzle["solution"]}:
            after = position.play(move)
            mine = longest_walk(place(after, after.knight(position.to_move)), open_places(after))
            assert mine < theirs


def test_rare_themes_are_chosen_first() -> None:
    alike = [
        made.PuzzleCandidate(puzzle["fen"], puzzle["solution"], number, 0, 0, 0, seeming=0.5)
        for number, (puzzle, position) in enumerate(zip(PUZZLES, POSITIONS, strict=True))
        if phase_of(position) == "opening" and puzzle["themes"][0] == "runner"
    ]
    mirrors = [one for one in alike if "mirror" in PUZZLES[one.number]["themes"]]
    others = [one for one in alike if one not in mirrors]
    assert len(others) > 30
    for one in mirrors:
        chosen = made.spread([*others, one], 30)
        assert one in chosen
        assert len(chosen) == 30


# -- making them -----------------------------------------------------------------------------


def test_the_same_puzzles_are_made_again(truths: dict[str, Solver]) -> None:
    games = (("5x5", 48),)
    shown: list[str] = []
    found = made.make(games, number=8, workers=1, tell=shown.append)
    assert found == made.make(games, number=8, workers=2)
    assert json.loads(made.text_of(found))["puzzles"] == found
    assert len(found) == 8
    assert re.fullmatch(r"2 of 2 tasks done, \d+ positions found", shown[-1])
    for one in found:
        position = Position.from_fen(one["fen"])
        assert truths["5x5"].winning_moves(position) == (one["solution"],)


def test_the_candidate_of_a_game_is_the_one_that_seems_hardest(truths: dict[str, Solver]) -> None:
    truth = truths["5x5"]
    found = {one.number: one for one in made.find(Board.of(5, 5), range(6))}
    for number in range(6):
        first, second, positions = made.game(Board.of(5, 5), number)
        tried = []  # (misses in the first tries, plies, position) of all positions for a puzzle
        for plies, position in enumerate(positions):
            solution = made.only_winner(position, truth)
            if solution is not None:
                misses = made.misses(position, solution, range(1, made.FIRST_TRIES + 1))
                tried.append((sum(misses), plies, position))
        assert (number in found) == bool(tried)
        if tried:
            one, (most, plies, position) = found[number], max(tried, key=lambda each: each[:2])
            assert one.seeming == pytest.approx(most / (6 * made.FIRST_TRIES))
            assert (one.plies, one.fen) == (plies, position.fen)
            assert one.solution in truth.winning_moves(position)
            assert (one.first, one.second) == (first, second)


def test_keys_take_turns() -> None:
    assert made.in_turns([1, 3, 2, 5, 4, 7], lambda one: one % 2) == [1, 2, 3, 4, 5, 7]


# -- in the browser --------------------------------------------------------------------------

in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
SHORT = next(
    number
    for number, one in enumerate(PUZZLES, start=1)
    if one["plies"] == 5 and one["fen"].count("/") == 6
)
"""The number of a puzzle with a short win."""


def until_said(page: Any, words: str) -> str:
    """Wait for a message that matches a pattern; return the message."""
    page.wait_for_function(
        "words => RegExp(words).test(document.getElementById('puzzle-said').textContent)",
        arg=words,
    )
    return str(page.inner_text("#puzzle-said"))


def cell(page: Any, name: str) -> Any:
    return page.locator(f"#puzzle button[aria-label^='{name},']")


def number_shown(page: Any) -> int:
    shown = re.match(r"Puzzle (\d+) of 300", page.inner_text("#puzzle-text"))
    assert shown is not None
    return int(shown[1])


def until_puzzle(page: Any, number: int) -> None:
    page.wait_for_function(
        "start => document.getElementById('puzzle-text').textContent.startsWith(start)",
        arg=f"Puzzle {number} ",
    )


def wrong_move(number: int) -> str:
    position, puzzle = POSITIONS[number - 1], PUZZLES[number - 1]
    return next(move for move in position.legal_moves if move != puzzle["solution"])


@in_a_browser
def test_a_puzzle_is_solved_and_the_game_won(
    browser: Any, file: Path, truths: dict[str, Solver]
) -> None:
    truth, position, puzzle = truths["7x7"], POSITIONS[SHORT - 1], PUZZLES[SHORT - 1]
    with opened(browser, file_url(file, f"/puzzles/{SHORT}")) as page:
        role = "hunter" if position.hunter == position.to_move else "runner"
        assert f"{role}. One of {len(position.legal_moves)} moves wins" in until_said(
            page, "One of"
        )
        assert page.inner_text("#puzzle-misses") == ""
        for left in range(puzzle["plies"], 0, -2):
            move = next(
                move
                for move in truth.winning_moves(position)
                if truth.plies(position.play(move)) == left - 1
            )
            cell(page, move).click()
            plies = f"{left} {'ply' if left == 1 else 'plies'}"
            position = position.play(move)
            if left == 1:
                until_said(page, f"{move} wins in {plies}. The opponent’s knight has no cell left")
                break
            right = "Right: " if left == puzzle["plies"] else ""
            said = until_said(page, f"^{right}{move} wins in {plies}. .. holds out longest")
            reply = re.search(r"(\w\d) holds out", said)
            assert reply is not None
            position = position.play(reply[1])
            assert truth.plies(position) == left - 2  # the reply that holds out longest
        assert f"Missed in {puzzle['grade']} %" in page.inner_text("#puzzle-misses")
        assert page.inner_text("#puzzle-score") == (
            "Solved 1 of 300. In a row at the first try: 1, at most 1."
        )
        page.reload()  # the record of solved puzzles is stored
        until_puzzle(page, SHORT)
        assert "solved" in page.inner_text("#puzzle-text")
        assert "Solved 1 of 300" in page.inner_text("#puzzle-score")


@in_a_browser
def test_a_puzzle_is_failed_and_explained(
    browser: Any, file: Path, truths: dict[str, Solver]
) -> None:
    number = 150
    position, puzzle, wrong = POSITIONS[number - 1], PUZZLES[number - 1], wrong_move(number)
    truth = truths[position.board.text]
    plies = {move: truth.plies(position.play(move)) + 1 for move in position.legal_moves}
    with opened(browser, file_url(file, f"/puzzles/{number}")) as page:
        until_said(page, "One of")
        cell(page, wrong).click()
        said = until_said(page, f"{wrong} loses in {plies[wrong]} plies: the reply is ")
        reply = re.search(r"the reply is (\w\d)\.", said)
        assert reply is not None
        assert truth.plies(position.play(wrong).play(reply[1])) == plies[wrong] - 2
        page.click("#puzzle-solution")
        until_said(page, f"{puzzle['solution']} wins in {puzzle['plies']} plies; every other move")
        labels = page.locator("#puzzle .target").evaluate_all("all => all.map(b => b.ariaLabel)")
        for label in labels:
            move = label.split(",")[0]
            does = "wins" if move == puzzle["solution"] else "loses"
            assert label.endswith(f"{does} in {plies[move]} plies")
        cell(page, puzzle["solution"]).click()
        until_said(page, "holds out longest")
        assert page.inner_text("#puzzle-score") == (
            "Solved 1 of 300. In a row at the first try: 0, at most 0."
        )
        page.click("#puzzle-analyse")
        page.wait_for_function("() => knightfall.router.now === 'play'")
        assert f"#fen={quote_plus(puzzle['fen'], safe='*')}&moves={puzzle['solution']}." in page.url
        page.wait_for_function("fen => document.getElementById('fen').value !== fen", arg="")
        page.click("nav >> text=Puzzles")  # shows the puzzle that was open before
        until_said(page, "holds out longest")


@in_a_browser
def test_everybody_has_the_same_puzzle_today(browser: Any, file: Path) -> None:
    def todays(page: Any, instant: str) -> int:
        page.clock.set_fixed_time(instant)
        page.evaluate("location.hash = '/puzzles/1'")
        until_puzzle(page, 1)
        page.evaluate("location.hash = '/puzzles/today'")
        page.wait_for_function(
            "() => /today/.test(document.getElementById('puzzle-text').textContent)"
        )
        return number_shown(page)

    found = {}
    for zone, morning, evening in (
        ("Pacific/Auckland", "2026-03-13T12:30:00Z", "2026-03-14T10:00:00Z"),
        ("America/Los_Angeles", "2026-03-14T08:00:00Z", "2026-03-15T06:30:00Z"),
    ):  # in local time, all are on March 14
        with opened(browser, file_url(file), timezone_id=zone) as page:
            found[zone] = {todays(page, morning), todays(page, evening)}
            next_days = [todays(page, f"2026-03-{day}T20:00:00Z") for day in range(16, 20)]
            assert len({*found[zone], *next_days}) == 5
    assert found["Pacific/Auckland"] == found["America/Los_Angeles"]


@in_a_browser
def test_addresses_and_the_way_through_the_puzzles(browser: Any, file: Path) -> None:
    with opened(browser, file_url(file, "/puzzles/17")) as page:
        until_puzzle(page, 17)
        board, position = POSITIONS[16].board, POSITIONS[16]
        for knight, whose in ((position.white, "White"), (position.black, "Black")):
            assert knight is not None
            label = cell(page, board.name(knight)).get_attribute("aria-label")
            assert f"{whose}’s knight" in label
        page.click("#puzzle-after")
        until_puzzle(page, 18)
        assert page.url.endswith("#/puzzles/18")
        page.go_back()
        until_puzzle(page, 17)
        page.click("#puzzle-before")
        until_puzzle(page, 16)
        page.select_option("#puzzle-band", "hard")
        hard = [number for number, one in enumerate(PUZZLES, start=1) if one["grade"] >= 60]
        until_puzzle(page, hard[0])
        page.click("#puzzle-before")  # after the first comes the last
        until_puzzle(page, hard[-1])
        page.click("#puzzle-random")
        page.wait_for_function("last => !location.hash.endsWith(last)", arg=f"/{hard[-1]}")
        until_puzzle(page, int(page.url.rsplit("/", 1)[1]))
        assert number_shown(page) in hard
        for bad in ("0", "301", "-1", "x", "1e2", "99999999999"):
            page.evaluate("bad => { location.hash = `/puzzles/${bad}` }", bad)
            until_said(page, f"There is no puzzle “{bad}”: they are numbered from 1 to 300.")
            assert "today" in page.inner_text("#puzzle-text")
            assert page.locator("#puzzle .target").count() >= 3


@in_a_browser
def test_by_keys_alone(browser: Any, file: Path) -> None:
    number, wrong = 40, wrong_move(40)
    with opened(browser, file_url(file, f"/puzzles/{number}")) as page:
        until_said(page, "One of")
        while not page.evaluate("document.activeElement.matches('#puzzle button')"):
            page.keyboard.press("Tab")
        page.keyboard.type(wrong)
        until_said(page, f"{wrong} loses")
        page.keyboard.press("s")
        until_said(page, "every other move loses")
        page.keyboard.type(PUZZLES[number - 1]["solution"])
        until_said(page, "holds out longest")
        page.keyboard.press("n")
        until_puzzle(page, number + 1)
        until_said(page, "One of")
        for key in ("Home", "PageUp", "Enter"):  # the corner is not always a legal move
            page.keyboard.press(key)
        top = f"a{POSITIONS[number].board.height}"
        assert top not in POSITIONS[number].legal_moves
        until_said(page, f"{top} is not a legal move.")
        page.keyboard.press("p")
        until_puzzle(page, number)


@in_a_browser
def test_on_a_phone_that_keeps_nothing(browser: Any, file: Path) -> None:
    number = next(n for n, one in enumerate(POSITIONS, start=1) if one.board.width == 8)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(browser, file_url(file), **phone, color_scheme="dark") as page:
        page.add_init_script(
            "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
        )
        page.goto(file_url(file, f"/puzzles/{number}"))
        page.reload()
        until_said(page, "One of")
        sizes = page.locator("#puzzle button").evaluate_all(
            "all => all.map(b => Math.min(b.clientWidth, b.clientHeight))"
        )
        assert min(sizes) >= 44
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        cell(page, PUZZLES[number - 1]["solution"]).tap()
        until_said(page, "Right: ")
        assert "In a row at the first try: 1" in page.inner_text("#puzzle-score")
