"""Verify a proof that the second player wins Knight's Isolation against every play of the first.

Run it as ``python verify.py FILE``.  This file needs nothing but Python and shares no code with the
program that wrote the proof: to trust the proof, you only have to read this file.

The game: on a board of some width and height the first player places a knight, then the second;
then they alternate knight moves, as in chess, to a cell that was never occupied before.  The player
who is to move and cannot has lost.

A certificate is ASCII text; each line ends with a newline:

    knightfall certificate 1    the format
    board 7x7                   width and height; columns are a, b, c…, rows 1, 2, 3…
    winner second               the claim
    a7 d5                       if the first player places on a7, the second answers on d5;
     b5 c3                      one space deeper: if it then moves to b5, the answer is c3;
      c7 e4 ?                   question mark: few positions are left, search them;
      d6 e5 =                   equals sign: a line above answers for the same position
    sha256 9f86d0…              of all bytes before this line

Below a line without a mark follow the answers to every move that the first player then has (none if
it has none).  The answer to a first placement is also the answer to its mirror images.

Instead of all answers there may be one line,

    method mirror               the second player answers with the image in the board's centre

which is a proof on every board where no cell is its own image, that is, where width or height is
even.  Whenever the first player is to place or to move, the knights are both unplaced or stand on
images of each other, and the images of open cells are open.  If it takes a cell, the image of that
cell is open (it was before, and it is not the cell just taken), and the second player can take it,
because the images of knight's moves are knight's moves.  Then the position is symmetric again.  So
the second player always has an answer, and the first player runs out of moves.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

HEADING, MIRROR = "knightfall certificate 1", "method mirror"
ANSWER = re.compile(r"( *)([a-z][0-9]+) ([a-z][0-9]+)( [?=])?")
MOST_SEARCHED = 100_000
"""A position whose search takes more is not small: the file must have the answers to it."""

MOST_BYTES = 2**26
"""A hundred times the size of the proof for 7x7."""

POCKET = 0
"""The 'cell' of an unplaced knight.  Cells are 1, 2, 4, 8…, a set of cells is their sum."""


class Refused(Exception):
    """The file is not a proof; the message is one line that says where and why."""


class Verdict(NamedTuple):
    """The result of a successful check: the second player wins on this board."""

    board: str
    method: str
    """"answers" or "mirror"."""
    placements: int
    answers: int
    searched: int


def verify(path: str | Path, on_progress: Callable[[float], None] | None = None) -> Verdict:
    """Check every line of a certificate.  Raise `Refused`, or `OSError` for an unreadable file.

    `on_progress` is called with the share of the work that is done, from 0 to 1.
    """
    certificate = _Certificate(_read(path))
    searched = 0
    for number, (line, *position) in enumerate(certificate.small, start=1):
        searched += certificate.search(line, *position)
        if on_progress is not None:
            on_progress(number / len(certificate.small))
    if certificate.mirrors:
        return Verdict(certificate.board, "mirror", 0, 0, 0)
    answers = certificate.at - 3
    return Verdict(certificate.board, "answers", certificate.placements, answers, searched)


def _read(path: str | Path) -> bytes:
    """Return all bytes of a regular file with at most `MOST_BYTES`."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Refused("it is not a file")
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Refused(f"it has more than {MOST_BYTES:,} bytes")
    return data


class _Certificate:
    """A certificate whose lines are checked; only its small positions are still to be searched.

    Lines are read one by one: a long file that is no proof takes little more than its own memory.
    """

    def __init__(self, data: bytes) -> None:
        seal = data[data.rfind(b"\n", 0, -1) + 1 :]
        if not seal.startswith(b"sha256 ") or not seal.endswith(b"\n"):
            raise Refused("the end is missing: the last line must be a sha256")
        self.body = data[: -len(seal)]
        self.file, self.at = io.BytesIO(self.body), -1  # the line to check, counted from 0
        self.board = self._read_heading()
        self.mirrors = self._next() == MIRROR
        self.placements = 0
        self.answered: set[int] = set()  # open cells, first player, second, as one number
        self.small: list[tuple[int, int, int, int]] = []  # line, open cells, first, second
        if self.mirrors:
            self._check_mirror()
        else:
            self._read_answers(0, self.moves[POCKET], POCKET, POCKET)
        # Checked last, because an error in a line says more than a wrong checksum.
        if seal != f"sha256 {hashlib.sha256(self.body).hexdigest()}\n".encode():
            raise Refused(f"line {self.at + 1}: the lines above do not have this sha256")

    def _next(self) -> str:
        """Go on to the next line and return it; "" after the last one."""
        # A byte that is not ASCII becomes a character that no line may have.
        self.line = self.file.readline().decode("ascii", "replace")
        self.at += 1
        return self.line.removesuffix("\n")

    def _refuse(self, line: int, reason: str) -> Refused:
        text = next(islice(io.BytesIO(self.body), line, None), b"").decode("ascii", "replace")
        return Refused(f"line {line + 1} ({text.strip()[:30]!a}): {reason}")

    def _read_heading(self) -> str:
        heading, board, claim = self._next(), self._next(), self._next()
        if heading != HEADING:
            raise self._refuse(0, f"it must be {HEADING!r}; nothing else is read here")
        size = re.fullmatch(r"board ([1-9][0-9]?)x([1-9][0-9]?)", board)
        width, height = (int(size[1]), int(size[2])) if size else (0, 0)
        if not (width >= 3 <= height and width * height <= 64):
            raise self._refuse(1, "it must name a board from 'board 3x3' on, of up to 64 cells")
        if claim != "winner second":
            raise self._refuse(2, "it must be 'winner second', the only claim there is")
        self._lay_out(width, height)
        return f"{width}x{height}"

    def _lay_out(self, width: int, height: int) -> None:
        """Compute every cell's name, its mirror images, and the cells a knight's move from it."""
        cells = {(x, y): 1 << y * width + x for x in range(width) for y in range(height)}
        self.named = {f"{chr(ord('a') + x)}{y + 1}": cell for (x, y), cell in cells.items()}
        self.moves = {POCKET: sum(cells.values())}
        self.images, self.mirror = {}, {}
        for (x, y), cell in cells.items():
            self.mirror[cell] = cells[width - 1 - x, height - 1 - y]
            self.moves[cell] = sum(c for (a, b), c in cells.items() if abs((a - x) * (b - y)) == 2)
            images = {(a, b) for a in (x, width - 1 - x) for b in (y, height - 1 - y)}
            if width == height:
                images |= {(b, a) for a, b in images}
            self.images[cell] = sum(cells[image] for image in images)

    def _check_mirror(self) -> None:
        """Check that mirroring in the centre works on this board."""
        if self._next() or self.line:
            raise self._refuse(4, f"nothing may follow {MIRROR!r} but the sha256")
        names = {cell: name for name, cell in self.named.items()}
        for cell, image in self.mirror.items():
            if image == cell:
                raise self._refuse(3, f"{names[cell]} is its own image: both sides are odd")
            there = sum(self.mirror[to] for to in names if to & self.moves[cell])
            if there != self.moves[image]:
                raise self._refuse(3, f"knight's moves from {names[cell]} have no images")

    def _read_answers(self, depth: int, open: int, first: int, second: int) -> None:
        """Read the answers to all of the first player's moves, which are indented by `depth`."""
        above, placing = self.at - 1, first == POCKET
        owed = can_play = open & self.moves[first]
        while self.line:
            here = self.at
            found = ANSWER.fullmatch(self.line.removesuffix("\n"))
            if not found:
                raise self._refuse(here, "it must be a move, its answer, and perhaps ? or =")
            if len(found[1]) < depth:
                break
            if len(found[1]) > depth:
                raise self._refuse(here, "it is too deep: there is no move here to be answered")
            move, answer = self.named.get(found[2], 0), self.named.get(found[3], 0)
            if not move & owed:
                why = "is answered already" if move & can_play else "cannot be played"
                raise self._refuse(here, f"{found[2]} {why}")
            if not answer & open & ~move & self.moves[second]:
                raise self._refuse(here, f"the answer {found[3]} cannot be played")
            owed &= ~(self.images[move] if placing else move)
            self.placements += placing
            self._next()
            position = (open & ~move & ~answer, move, answer)
            number = (position[0] << 64 | move) << 64 | answer
            if found[4] == " ?":
                self.small.append((here, *position))
            elif not found[4]:
                self._read_answers(depth + 1, *position)
            elif number not in self.answered:
                raise self._refuse(here, "no line above leads to the same position")
            self.answered.add(number)
        for name, cell in self.named.items():
            if cell & owed and placing:
                raise Refused(
                    f"placement {name}: the proof answers neither it nor a mirror image of it"
                )
            if cell & owed:
                raise self._refuse(above, f"after this, {name} is not answered")

    def search(self, line: int, open: int, first: int, second: int) -> int:
        """Check that the first player, to move, loses; return how many positions were searched."""
        moves, searched = self.moves, 0

        def wins(open: int, mine: int, theirs: int) -> bool:
            """Return whether the mover wins; `mine` and `theirs` are the sides' moves."""
            nonlocal searched
            searched += 1
            if searched > MOST_SEARCHED:
                raise self._refuse(line, f"not decided within {MOST_SEARCHED:,} positions")
            tries = []
            while mine:
                cell = mine & -mine
                mine ^= cell
                left = theirs & ~cell
                if not left:
                    return True  # they cannot move
                ways = moves[cell] & open
                # Without a further move, or with a single one that they can take, this move loses.
                if ways & (ways - 1) or ways & ~left:
                    tries.append((2 * left.bit_count() - ways.bit_count(), cell, left, ways))
            tries.sort()  # any order is correct; this one is fast
            for _, cell, left, ways in tries:  # noqa: SIM110, any() takes twice the time
                if not wins(open ^ cell, left, ways):
                    return True
            return False

        if wins(open, open & moves[first], open & moves[second]):
            raise self._refuse(line, "after this, the first player wins")
        return searched


def main() -> int:
    """Verify the file named on the command line; return 0 if it is a proof, 2 if not."""
    try:
        verdict = verify(sys.argv[1] if len(sys.argv) > 1 else "")
    except (Refused, OSError) as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2
    how = "by reflection" if verdict.method == "mirror" else f"{verdict.answers:,} answers"
    print(f"verified: the second player wins on {verdict.board} ({how})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
