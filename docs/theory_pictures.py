"""Draw the pictures of docs/theory.md: positions side by side, numbers on a board, and one plot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver.atlas import Opening, position_of, survey

INK, PAPER, EDGE = "#6d6353", "#fbf7ee", "#d8cdb8"
LIGHT, DARK = "#f3ead6", "#e3d2b0"
WARM, FIRST, SECOND = "#e9a27c", "#ffffff", "#4a5160"
GAP, LINE, CELL = 12, 15, 40

TOUR_START = ("d4", "c6")
SEPARATED = "*1n*1/1**1N/1**1*/*1*1*/2*1* w"
WALKS = {
    "e4": ("N", ("d2", "b1", "a3", "b5", "d4")),
    "c5": ("n", ("a4", "b2", "d3", "e5")),
}
"""A longest walk of each knight in SEPARATED, by where it stands."""
SAME_KEY = ("1N**1/***1*/****n/1***1/**2* w", "*N**1/***1*/****n/1***1/**3 w")
"""Two positions that are one when cells out of reach are left out."""


@dataclass(frozen=True)
class Panel:
    """One position of a gallery."""

    position: Position
    caption: str
    arrows: tuple[tuple[str, str], ...] = ()


def gallery(panels: Sequence[Panel], columns: int, size: int = 190) -> str:
    """Draw positions side by side with captions below; a caption may have several lines."""
    rows = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    parts, y = [], 0
    for row in rows:
        drawn = [panel.position.svg(arrows=panel.arrows, size=size) for panel in row]
        tallest = max(_height(svg) for svg in drawn)
        for column, (panel, svg) in enumerate(zip(row, drawn, strict=True)):
            x = column * (size + GAP)
            parts.append(svg.replace("<svg ", f'<svg x="{x}" y="{y + tallest - _height(svg)}" ', 1))
            for number, line in enumerate(panel.caption.split("\n"), start=1):
                parts.append(_words(x + size / 2, y + tallest + LINE * number, line))
        y += tallest + LINE * max(panel.caption.count("\n") + 1 for panel in row) + GAP
    width = columns * (size + GAP) - GAP
    return _page(width, y, parts)


def _height(svg: str) -> int:
    found = re.search(r' height="(\d+)"', svg)
    assert found is not None
    return int(found[1])


def _words(x: float, y: float, text: str, size: int = 11, fill: str = "#857a68") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-family="sans-serif" '
        f'font-size="{size}" fill="{fill}">{escape(text)}</text>'
    )


def _page(width: int, height: int, parts: Iterable[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def numbers(board: Board, texts: Mapping[int, str], fills: Mapping[int, str]) -> str:
    """Draw a board with a short text in every cell; `fills` replaces the colour of a cell."""
    margin = 24
    width, height = board.width * CELL + 2 * margin, board.height * CELL + 2 * margin
    parts = [
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{PAPER}" stroke="{EDGE}"/>'
    ]
    for cell in range(board.cells):
        x, y = margin + board.column(cell) * CELL, margin + board.row(cell) * CELL
        fill = fills.get(cell, DARK if board.colour(cell) else LIGHT)
        ink = PAPER if fill == SECOND else "#2a2420"
        parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}"/>')
        parts.append(_words(x + CELL / 2, y + CELL / 2 + 5, texts.get(cell, ""), 14, ink))
    for column in range(board.width):
        x = margin + (column + 0.5) * CELL
        parts.append(_words(x, height - 8, board.name(column)[0], 11, INK))
    for row in range(board.height):
        y = margin + (row + 0.5) * CELL + 4
        parts.append(_words(margin / 2, y, str(board.height - row), 11, INK))
    return _page(width, height, parts)


# -- the four facts --------------------------------------------------------------------------


def roles() -> str:
    """Draw a hunter's turn and a runner's turn."""
    before = Position.from_fen("5/5/1N1n1/5/5 w")
    after = before.play("c5")
    return gallery(
        [
            Panel(
                before,
                "same colour, N to move: N can take\nc5 or c1 from n, so N hunts",
                (("b3", "c5"), ("b3", "c1"), ("d3", "c5"), ("d3", "c1")),
            ),
            Panel(
                after,
                "other colour, n to move: none of the\ncells n can take is one N could use",
                (("c5", "a4"), ("c5", "e4")),
            ),
        ],
        2,
        230,
    )


def reflection() -> str:
    """Draw a move and its mirrored answer, the next two moves, and a centre cell."""
    start = Position.from_moves(["b5", "e2"], 6, 6)
    later = start.play("d4").play("c3")
    odd = Position.from_moves(["b5", "d1"], 5, 5)
    return gallery(
        [
            Panel(start, "N goes to d4,\nn answers with c3", (("b5", "d4"), ("e2", "c3"))),
            Panel(later, "N goes to e6,\nn answers with b1", (("d4", "e6"), ("c3", "b1"))),
            Panel(odd, "odd sides: N goes to the centre,\nand there is no answer", (("b5", "c3"),)),
        ],
        3,
    )


def separation() -> str:
    """Draw two separated knights with a longest walk of each."""
    position = Position.from_fen(SEPARATED)
    panels = []
    for start, (who, walk) in WALKS.items():
        arrows = tuple(zip((start, *walk[:-1]), walk, strict=True))
        panels.append(Panel(position, f"{who} has {len(walk)} steps", arrows))
    return gallery(panels, 2, 220)


def same_key() -> str:
    """Draw two positions of one value; rings mark cells that neither knight can reach."""
    panels = []
    for fen in SAME_KEY:
        position = Position.from_fen(fen)
        lost = [position.board.name(cell) for cell in sorted(out_of_reach(position))]
        caption = f"out of reach: {' and '.join(lost)}"
        panels.append(Panel(position, caption, tuple((cell, cell) for cell in lost)))
    return gallery(panels, 2, 220)


def out_of_reach(position: Position) -> frozenset[int]:
    """Return the open cells that neither knight can reach."""
    lost = set(position.open)
    assert position.white is not None
    assert position.black is not None
    waiting = [position.white, position.black]
    while waiting:
        near = lost.intersection(position.board.knight[waiting.pop()])
        lost -= near
        waiting += near
    return frozenset(lost)


# -- what the atlas says ---------------------------------------------------------------------


def _exception(board: Board, one: Opening) -> Panel:
    position = position_of(board, one.mover, one.waiter)
    winner, plies = "N" if one.entry.mover_wins else "n", one.entry.plies
    caption = (
        f"{board.width}×{board.height}: {winner} wins in {plies} pl{'y' if plies == 1 else 'ies'}"
    )
    arrows = tuple((board.name(one.mover), move) for move in one.entry.winning_moves)
    return Panel(position, caption, arrows)


def exceptions(*sizes: tuple[int, int], where: Callable[[Board, Opening], bool]) -> list[Panel]:
    """Return a panel per class that the runner wins, with arrows to its winning moves."""
    return [
        _exception(board, one)
        for board in (Board.of(*size) for size in sizes)
        for one in survey(board).exceptions()
        if where(board, one)
    ]


def replies() -> str:
    """Draw the number of winning replies to each placement on 7×7; highlight the fewest."""
    seen = survey(Board.of(7, 7))
    counts = {cell: seen.winning_replies(cell) for cell in range(seen.board.cells)}
    fewest = min(counts.values())
    return numbers(
        seen.board,
        {cell: str(count) for cell, count in counts.items()},
        {cell: WARM for cell, count in counts.items() if count == fewest},
    )


def tour_moves() -> list[str]:
    """Return a game on 7×7 that fills the board: the first player mirrors the second."""
    board = Board.of(7, 7)
    last = board.cells - 1
    centre, start = (board.cell(name) for name in TOUR_START)

    def walk(path: list[int], used: frozenset[int]) -> list[int] | None:
        if len(used) == board.cells:
            return path
        near = [cell for cell in board.knight[path[-1]] if cell not in used]
        for cell in sorted(near, key=lambda c: len(set(board.knight[c]) - used)):
            found = walk([*path, cell], used | {cell, last - cell})
            if found:
                return found
        return None

    path = walk([start], frozenset({centre, start, last - start}))
    assert path is not None
    cells = [centre, *(cell for step in path for cell in (step, last - step))]
    return [board.name(cell) for cell in cells]


def tour() -> str:
    """Draw the game of `tour_moves`: each move's number, in the player's colour."""
    board, moves = Board.of(7, 7), tour_moves()
    number = {board.cell(name): at for at, name in enumerate(moves, start=1)}
    return numbers(
        board,
        {cell: str(at) for cell, at in number.items()},
        {cell: FIRST if at % 2 else SECOND for cell, at in number.items()},
    )


# -- the plot --------------------------------------------------------------------------------


def draw_nodes(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the rows of the benchmark `board_size` to an SVG file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    boards = {row["cells"]: row["board"] for row in rows}
    with rc_context({"svg.hashsalt": "knightfall", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        for given_up, marker, label in ((False, "o", "an opening"), (True, "^", "more than this")):
            mine = [row for row in rows if row["given up"] == given_up]
            if mine:
                at, nodes = [row["cells"] for row in mine], [row["nodes"] for row in mine]
                axes.plot(at, nodes, marker, color="C0", alpha=0.5, label=label)
        middle = [median([r["nodes"] for r in rows if r["cells"] == cells]) for cells in boards]
        axes.plot(list(boards), middle, "_-", color="C1", markersize=14, label="median")
        axes.set_yscale("log")
        axes.set_xticks(list(boards), [f"{name}\n{cells}" for cells, name in boards.items()])
        axes.set_xlabel("board, and its number of cells")
        axes.set_ylabel("nodes until win or loss is proven (logarithmic)")
        axes.grid(axis="y", alpha=0.3)
        axes.legend()
        axes.spines[["top", "right"]].set_visible(False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def median(values: list[int]) -> int:
    """Return the smallest value that at least half of the values do not exceed."""
    return sorted(values)[(len(values) - 1) // 2]
