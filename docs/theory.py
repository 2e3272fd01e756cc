"""Write the tables and pictures of docs/theory.md: ``make docs``.

The page is written by hand but for its blocks::

    <!-- begin generated: boards -->
    …
    <!-- end generated -->

They are made from the atlas, in seconds, or from docs/measured.json, which ``make bench-docs``
makes in minutes.  The tests fail when a block or a picture differs from what this makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import theory_pictures as pictures

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver.atlas import Opening, Survey, position_of, survey

HERE = Path(__file__).parent
PAGE, MEASURED = HERE / "theory.md", HERE / "measured.json"
IMAGES = HERE / "images"

SIZES = [(width, height) for width in range(3, 8) for height in range(width, 8)]
"""Every board of the atlas."""

SECOND, FIRST, STUCK, OTHER = "second mirrors", "first mirrors", "stuck", "other"
LINES_FROM, PLIES = "7/7/1N5/7/7/4n2/7 w", 9


# -- why an opening is won -------------------------------------------------------------------


@cache
def seen(width: int, height: int) -> Survey:
    """Return the survey of a board."""
    return survey(Board.of(width, height))


def name(board: Board) -> str:
    """Return the name of a board on the page."""
    return f"{board.width}×{board.height}"


def symmetric(position: Position) -> bool:
    """Return whether the waiter wins by reflection; cells that no knight can reach do not count."""
    left = position.open - pictures.out_of_reach(position)
    assert position.white is not None
    return any(
        image[position.white] == position.black
        and all(image[cell] in left and image[cell] != cell for cell in left)
        for image in position.board.symmetries
        if all(image[there] == cell for cell, there in enumerate(image))
    )


def cause(board: Board, mover: int, waiter: int) -> str:
    """Return the cause that decides an opening without a search, or OTHER."""
    position = position_of(board, mover, waiter)
    if symmetric(position):
        return SECOND
    if any(symmetric(position.play(move)) for move in position.legal_moves):
        return FIRST
    if not board.knight[mover] or not board.knight[waiter]:
        return STUCK
    return OTHER


def by_cause(board: Board, *causes: str) -> list[Opening]:
    """Return the classes of openings that the runner wins for one of these causes."""
    return [
        one
        for one in seen(board.width, board.height).exceptions()
        if cause(board, one.mover, one.waiter) in causes
    ]


def is_exact(board: Board) -> bool:
    """Return whether reflection explains every exception to the colour law."""
    return not by_cause(board, STUCK, OTHER) and board.cells > 9


# -- blocks ----------------------------------------------------------------------------------


def table(header: str, rows: Iterator[list[object]]) -> str:
    """Return a Markdown table; a column is right-aligned if its heading ends with a colon."""
    columns = [column.strip() for column in header.split("|")]
    rule = "|".join("--:" if column.endswith(":") else "---" for column in columns)
    lines = [f"| {' | '.join(column.rstrip(':') for column in columns)} |", f"|{rule}|"]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def boards_block() -> str:
    """Return the table of all boards, one row each."""

    def rows() -> Iterator[list[object]]:
        for size in SIZES:
            of = seen(*size)
            runner = len(of.openings) - of.hunter_wins
            wins = "second" if of.second_wins_from_the_empty_board else "first"
            row = [name(of.board), len(of.openings), of.classes, of.first_wins, of.second_wins]
            longest = max(one.entry.plies for one in of.openings.values())
            room = of.board.cells - 2
            yield [*row, of.hunter_wins, runner, len(of.exceptions()), wins, longest, room]

    return table(
        "board | openings: | classes: | first wins: | second wins: | hunter wins: | runner wins: "
        "| runner's classes: | empty board | longest game: | cells to fill:",
        rows(),
    )


def causes_block() -> str:
    """Return the table of the causes of the runner's wins, counted in classes."""

    def rows() -> Iterator[list[object]]:
        for size in SIZES:
            board = Board.of(*size)
            counts = [len(by_cause(board, one)) for one in (SECOND, FIRST, STUCK, OTHER)]
            yield [name(board), sum(counts), *(count or "" for count in counts)]

    return table(
        "board | runner's classes: | the second mirrors: | the first mirrors: "
        "| a knight never moves: | none of these:",
        rows(),
    )


def law_block() -> str:
    """Return the table of the first player's wins where the law is exact, by law and atlas."""

    def rows() -> Iterator[list[object]]:
        for size in SIZES:
            board = Board.of(*size)
            if is_exact(board):
                dark = sum(board.colour(cell) for cell in range(board.cells))
                light = board.cells - dark
                same = dark * (dark - 1) + light * (light - 1)
                both_even = size[0] % 2 == size[1] % 2 == 0
                both_odd = size[0] % 2 == size[1] % 2 == 1
                less = board.cells if both_even else 0
                more = len(board.knight[board.cells // 2]) if both_odd else 0
                yield [name(board), same, less, more, same - less + more, seen(*size).first_wins]

    return table(
        "board | same colour: | second mirrors: | first mirrors: | first wins, by the law: "
        "| in the atlas:",
        rows(),
    )


def mirrored_block() -> str:
    """Return the table of the classes in which the runner mirrors."""

    def rows() -> Iterator[list[object]]:
        for size in SIZES:
            board = Board.of(*size)
            for one in by_cause(board, SECOND, FIRST):
                who = "first" if one.entry.mover_wins else "second"
                wins = " ".join(one.entry.winning_moves)
                moves = len(position_of(board, one.mover, one.waiter).legal_moves)
                how = f"{wins} (of {moves} moves)" if wins else ""
                row = [name(board), board.name(one.mover), board.name(one.waiter), who, how]
                yield [*row, one.entry.plies, board.cells - 2]

    return table("board | N | n | who mirrors | winning moves | plies: | cells to fill:", rows())


def others_block() -> str:
    """Return the table of the classes that the runner wins for other reasons, by board."""

    def rows() -> Iterator[list[object]]:
        for size in SIZES:
            board = Board.of(*size)
            left = by_cause(board, STUCK, OTHER)
            if left:
                yield [name(board), len(left), *(listed(board, left, who) for who in (True, False))]

    return table("board | classes: | the first runs and wins | the second runs and wins", rows())


def listed(board: Board, openings: list[Opening], mover_wins: bool) -> str:
    """Return openings as text: N's cell, n's cell and plies."""
    return ", ".join(
        f"{board.name(one.mover)} {board.name(one.waiter)} ({one.entry.plies})"
        for one in openings
        if one.entry.mover_wins == mover_wins
    )


def lines_block() -> str:
    """Return the table of lines and different positions by number of plies."""
    start = Position.from_fen(LINES_FROM)
    board = start.board
    knight = [sum(1 << cell for cell in near) for near in board.knight]
    assert start.white is not None
    assert start.black is not None
    level = {(sum(1 << cell for cell in start.open), start.white, start.black): 1}

    def rows() -> Iterator[list[object]]:
        nonlocal level
        for ply in range(1, PLIES + 1):
            after: dict[tuple[int, int, int], int] = {}
            for (open, mover, waiter), ways in level.items():
                left = open & knight[mover]
                while left:
                    one = left & -left
                    left ^= one
                    position = open ^ one, waiter, one.bit_length() - 1
                    after[position] = after.get(position, 0) + ways
            level = after
            yield [ply, sum(level.values()), len(level)]

    return table("plies: | lines: | positions:", rows())


def measured(benchmark: str) -> dict[str, Any]:
    """Return the recorded result of a benchmark."""
    found: dict[str, Any] = json.loads(MEASURED.read_text("utf-8"))["benchmarks"][benchmark]
    return found


def ideas_block() -> str:
    """Return the table of nodes and time of a C++ solver with each idea, and of knightfall."""
    rows = measured("solver")["rows"]
    plain = next(row for row in rows if row["idea"].endswith("plain"))
    processor = json.loads(MEASURED.read_text("utf-8"))["machine"]["processor"]
    openings = measured("solver")["figures"]["openings"]

    def lines() -> Iterator[list[object]]:
        for row in [*rows[1:], rows[0]]:
            nodes, seconds = row["nodes"] / plain["nodes"], row["seconds"] / plain["seconds"]
            cost = row["seconds"] / row["nodes"] * 1e9
            idea = row["idea"].removeprefix("C++: ")
            yield [idea, row["nodes"], f"{nodes:.2f}", f"{seconds:.2f}", f"{cost:.0f}"]

    told = table("idea | nodes: | nodes ÷ plain: | time ÷ plain: | ns a node:", lines())
    return f"{told}\n\n{openings} random openings of 7×7, {processor}."


def board_size_block() -> str:
    """Return the table of nodes by board."""
    found = measured("board_size")
    capped = f"more than {found['figures']['a solve is given up after']:,}"

    def rows() -> Iterator[list[object]]:
        for board, group in groupby(found["rows"], key=lambda row: row["board"]):
            mine = sorted(group, key=lambda row: row["nodes"])
            picked = [mine[0], mine[(len(mine) - 1) // 2], mine[-1]]
            nodes = (capped if row["given up"] else row["nodes"] for row in picked)
            yield [board, mine[0]["cells"], len(mine), *nodes]

    growth = found["ratios"]["nodes for each cell more"]["value"]
    told = table("board | cells: | openings: | fewest nodes: | median: | most:", rows())
    return f"{told}\n\nFrom median to median, each cell more takes {growth:.2f} times the nodes."


BLOCKS: dict[str, Callable[[], str]] = {
    "boards": boards_block,
    "causes": causes_block,
    "law": law_block,
    "mirrored": mirrored_block,
    "others": others_block,
    "lines": lines_block,
    "ideas": ideas_block,
    "board_size": board_size_block,
}


def _only(*causes: str) -> Callable[[Board, Opening], bool]:
    return lambda board, one: cause(board, one.mover, one.waiter) in causes


PICTURES: dict[str, Callable[[], str]] = {
    "theory_roles": pictures.roles,
    "theory_reflection": pictures.reflection,
    "theory_separation": pictures.separation,
    "theory_same_key": pictures.same_key,
    "theory_replies_7x7": pictures.replies,
    "theory_tour_7x7": pictures.tour,
    "theory_6x6": lambda: pictures.gallery(pictures.exceptions((6, 6), where=_only(SECOND)), 3),
    "theory_centre": lambda: pictures.gallery(
        pictures.exceptions((5, 5), (5, 7), (7, 7), where=_only(FIRST)), 4, 180
    ),
    "theory_3x3": lambda: pictures.gallery(
        pictures.exceptions((3, 3), where=lambda board, one: True), 4, 150
    ),
    "theory_four_wide": lambda: pictures.gallery(
        pictures.exceptions((4, 5), (4, 6), where=_only(OTHER)), 4, 150
    ),
}

_BLOCK = re.compile(r"(<!-- begin generated: (\w+) -->\n).*?(<!-- end generated -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return the page with every generated block replaced."""
    return _BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]]()}\n{found[3]}", page)


def main() -> None:
    """Write the page and its pictures."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote docs/{PAGE.name}")
    IMAGES.mkdir(exist_ok=True)
    for picture, make in PICTURES.items():
        (IMAGES / f"{picture}.svg").write_text(make(), encoding="utf-8")
        print(f"wrote docs/images/{picture}.svg")
    plot = IMAGES / "nodes_by_board.svg"
    print(
        pictures.draw_nodes(measured("board_size")["rows"], plot)
        or f"wrote docs/images/{plot.name}"
    )


if __name__ == "__main__":
    main()
