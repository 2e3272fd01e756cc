"""Pictures: which marks are drawn on which cells."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from helpers import EVERY_BOARD
from hypothesis import given
from hypothesis import strategies as st
from strategies import odd_positions, positions

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.position import Position

SVG = "{http://www.w3.org/2000/svg}"
MIDGAME = Position.from_moves(["b5", "e2", "c3", "f4", "d5"])
STUCK = Position.from_moves(["a1", "b2", "b3"], 3, 3)


class Drawing:
    """A parsed SVG: the marks of each cell, and the coordinates of shapes."""

    def __init__(self, source: str) -> None:
        self.root = ElementTree.fromstring(source)
        self.groups = {
            group.attrib["data-cell"]: group
            for group in self.root.iter(f"{SVG}g")
            if "data-cell" in group.attrib
        }

    def cells(self, mark: str) -> set[str]:
        """Return the cells that have a mark; fail if a cell has it twice."""
        found = [
            name
            for name, group in self.groups.items()
            for element in group.iter()
            if element.get("class") == mark
        ]
        assert len(found) == len(set(found))
        return set(found)

    def marked(self, mark: str) -> list[ElementTree.Element]:
        return [element for element in self.root.iter() if element.get("class") == mark]

    def labels(self) -> dict[str, tuple[float, float]]:
        return {
            element.text or "": (float(element.attrib["x"]), float(element.attrib["y"]))
            for element in self.root.iter(f"{SVG}text")
        }

    def square(self, name: str) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a cell."""
        rect = self.groups[name][0]
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        return x, y, x + width, y + height

    def inside(self, name: str, x: float, y: float) -> bool:
        left, top, right, bottom = self.square(name)
        return left < x < right and top < y < bottom


# -- text ------------------------------------------------------------------------------------


def test_text_of_a_position() -> None:
    assert MIDGAME.text().splitlines() == [
        "7  . . . . . . .",
        "6  . . . . . . .",
        "5  . * . N . . .",
        "4  . . . . . n .",
        "3  . . * . . . .",
        "2  . . . . * . .",
        "1  . . . . . . .",
        "   a b c d e f g",
        "second player (n) to move",
    ]


def test_text_of_a_tall_board_lines_up() -> None:
    lines = Position.from_fen("/".join(["3"] * 11 + ["N1n"]) + " w").text().splitlines()
    assert lines[0] == "12  . . ."
    assert lines[3] == " 9  . . ."
    assert lines[11:] == [" 1  N . n", "    a b c", "first player (N) to move"]


@pytest.mark.parametrize(
    ("position", "status"),
    [
        (Position.start(), "first player (N) to place a knight; in the pocket: N n"),
        (Position.start().play("d4"), "second player (n) to place a knight; in the pocket: n"),
        (STUCK, "first player (N) won: second player (n) has no move"),
        (Position.from_fen("1*1/2*/N1n w"), "second player (n) won: first player (N) has no move"),
    ],
)
def test_the_last_line_says_whose_turn_or_who_won(position: Position, status: str) -> None:
    assert position.text().splitlines()[-1] == status
    assert Drawing(position.svg()).root.findtext(f"{SVG}desc") == status


@given(odd_positions())
def test_the_text_shows_every_cell(position: Position) -> None:
    board = position.board
    lines = position.text().split("\n")
    assert len(lines) == board.height + 2
    files = lines[board.height].split()
    drawn = {}
    for line in lines[: board.height]:
        rank, *marks = line.split()
        drawn.update({f"{file}{rank}": mark for file, mark in zip(files, marks, strict=True)})
    assert len(drawn) == board.cells
    for name, mark in drawn.items():
        cell = board.cell(name)
        assert (mark == "N") == (cell == position.white)
        assert (mark == "n") == (cell == position.black)
        assert (mark == ".") == (cell in position.open)
        assert mark in "Nn.*"


# -- SVG -------------------------------------------------------------------------------------


@given(st.one_of(positions(), odd_positions()))
def test_the_svg_shows_every_cell(position: Position) -> None:
    board = position.board
    drawing = Drawing(position.svg())

    def names(cells: set[int | None]) -> set[str]:
        return {board.name(cell) for cell in cells if cell is not None}

    knights = names({position.white, position.black})
    assert drawing.root.findtext(f"{SVG}title") == position.fen
    assert set(drawing.groups) == names(set(range(board.cells)))
    assert drawing.cells("knight w") == names({position.white})
    assert drawing.cells("knight b") == names({position.black})
    assert drawing.cells("blocked") == set(drawing.groups) - knights - names(set(position.open))
    assert drawing.cells("target") == set(position.legal_moves)
    loser = position.knight(position.to_move)
    assert drawing.cells("stuck") == (names({loser}) if position.winner else set())
    start, end = position.last or (None, None)
    assert drawing.cells("left") == names({start})
    assert drawing.cells("reached") == names({end})


@pytest.mark.parametrize("board", EVERY_BOARD, ids=repr)
def test_cells_line_up_with_their_coordinates(board: Board) -> None:
    drawing = Drawing(Position.start(board.width, board.height).svg())
    labels = drawing.labels()
    for name in drawing.groups:
        left, top, right, bottom = drawing.square(name)
        assert left < labels[name[0]][0] < right
        assert top < labels[name[1:]][1] < bottom
        (dot,) = (mark for mark in drawing.groups[name] if mark.get("class") == "target")
        assert drawing.inside(name, float(dot.attrib["cx"]), float(dot.attrib["cy"]))
    fills = {name: group[0].attrib["fill"] for name, group in drawing.groups.items()}
    assert fills["a1"] == fills["b2"] != fills["a2"] == fills["b1"]


def test_colours_tell_the_knights_apart() -> None:
    drawing = Drawing(MIDGAME.svg())
    (white,) = (mark for mark in drawing.groups["d5"] if mark.get("class") == "knight w")
    (black,) = (mark for mark in drawing.groups["f4"] if mark.get("class") == "knight b")
    assert white[0].attrib["d"] == black[0].attrib["d"]
    assert white[0].attrib["fill"] != black[0].attrib["fill"]


@pytest.mark.parametrize(
    ("moves", "in_pocket", "deed"),
    [
        ([], "wb", "first player to place"),
        (["d4"], "b", "second player to place"),
        (["d4", "e2"], "", "first player to move"),
        (["d4", "e2", "c6"], "", "second player to move"),
    ],
)
def test_the_pocket_and_the_turn_are_below_the_board(
    moves: list[str], in_pocket: str, deed: str
) -> None:
    drawing = Drawing(Position.from_moves(moves).svg())
    pockets = drawing.marked("pocket")
    assert len(pockets) == (1 if in_pocket else 0)
    for pocket in pockets:  # below the last rank, under the last file
        x, y, width, height = (float(pocket.attrib[key]) for key in ("x", "y", "width", "height"))
        _, _, right, bottom = drawing.square("g1")
        assert bottom <= y < y + height <= float(drawing.root.attrib["height"])
        assert right - 60 < x < x + width <= right + 20
    # Below the board: the knight of the side to move, then those in the pocket.
    below = [element.get("class") for element in drawing.root if "knight" in str(element.attrib)]
    turn = "w" if deed.startswith("first") else "b"
    assert below == [f"knight {side}" for side in turn + in_pocket]
    assert deed in drawing.labels()


def test_the_winner_is_named() -> None:
    assert "won" in Drawing(STUCK.svg()).labels()
    lost = Position.from_fen("N4/2*2/1*3/5/4n w")
    assert "second player won" in Drawing(lost.svg()).labels()


@pytest.mark.parametrize("size", [1, 90, 360, 1000])
def test_size_is_the_width_in_pixels(size: int) -> None:
    root = Drawing(Position.start(10, 6).svg(size=size)).root
    _, _, width, height = (float(number) for number in root.attrib["viewBox"].split())
    assert int(root.attrib["width"]) == size
    assert int(root.attrib["height"]) == max(1, round(size * height / width))
    assert width > height


@pytest.mark.parametrize("size", [0, -1, 3.5, "360", None, True])
def test_impossible_sizes(size: object) -> None:
    with pytest.raises(KnightfallError) as caught:
        MIDGAME.svg(size=size)  # type: ignore[arg-type]
    assert str(caught.value) == f"size {size!r} must be a positive whole number of pixels"


@pytest.mark.parametrize("end", ["f4", "b4", "d7", "d1", "a5", "g5", "e3", "c3"])
def test_an_arrow_points_from_its_first_cell_to_its_second(end: str) -> None:
    drawing = Drawing(MIDGAME.svg(arrows=[("d5", end)]))
    (arrow,) = drawing.marked("arrow")
    points = [tuple(map(float, pair.split(","))) for pair in arrow.attrib["points"].split()]
    tail, tip = points[0], points[len(points) // 2]
    assert drawing.inside("d5", *tail)
    assert drawing.inside(end, *tip)


def test_an_arrow_onto_itself_is_a_ring() -> None:
    drawing = Drawing(Position.start().svg(arrows=[("d4", "d4"), ("a1", "c2")]))
    ring, arrow = drawing.marked("arrow")
    assert ring.tag == f"{SVG}circle"
    assert drawing.inside("d4", float(ring.attrib["cx"]), float(ring.attrib["cy"]))
    assert arrow.tag == f"{SVG}polygon"


@pytest.mark.parametrize(
    ("arrow", "bad"),
    [(("a1", "h1"), "h1"), (("a0", "a1"), "a0"), (("", "a1"), ""), (("a1", '"><b>'), '"><b>')],
)
def test_arrows_between_cells_that_do_not_exist(arrow: tuple[str, str], bad: str) -> None:
    with pytest.raises(KnightfallError) as caught:
        MIDGAME.svg(arrows=[arrow])
    assert str(caught.value) == f"{bad!r} is not a cell of a 7×7 board: cells are a1 to g7"


def test_many_pictures_can_share_a_page() -> None:
    """Check that an SVG has no ids, no style sheets and no links."""
    source = MIDGAME.svg(arrows=[("d5", "e7")])
    assert " id=" not in source
    assert "<style" not in source
    assert "href" not in source
    assert "url(" not in source


def test_notebooks_show_the_svg() -> None:
    assert MIDGAME._repr_svg_() == MIDGAME.svg()
