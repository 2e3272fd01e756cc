"""Certificates: proofs, as text files, that the second player wins from the empty board.

`verify.py` describes the format and checks certificates independently of all other code.  This
module creates them: an answer to every first placement, an answer to every move after that, and so
on down to positions that the verifier can search by itself.  Among winning answers the one with the
smallest proof is chosen, so that the certificate stays short.  On a board with an even side the
second player wins by mirroring (`reflection.py`), and the certificate is one line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.interrupt import run_interruptibly
from knightfall.kernel.rules import bitset, geometry
from knightfall.solver.engine import OutOfBudget
from knightfall.solver.proof_table import DTYPE, PLIES
from knightfall.solver.winloss import who_wins
from knightfall.user_folders import atomic_write

HEADING = "knightfall certificate 1\nboard {}x{}\nwinner second\n"
SMALL = 500
"""Positions whose search takes at most this many nodes are left to the verifier."""

FIRST_LIMIT, LIMIT_FACTOR = 64, 4
"""The first node limit for the proof of an answer, and its factor if no proof is that short."""

Place = tuple[int, int, int]
"""A position: open cells as a word, the first player's cell, the second's; the first moves."""

MIRROR = "method mirror"
"""The only line of a proof by reflection."""

MapCalls = Callable[
    [Callable[[], "Callable[[int], ProvenReply]"], Sequence[int]],
    "Iterable[tuple[int, ProvenReply]]",
]
"""A function like `parallel_map`: it calls the function that a setup returns for each item, in any
order and process."""

OnProgress = Callable[[float], None]
"""A function that is called with the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class ProvenReply:
    """The second player's answer to a move, and the proof that it wins."""

    move: int
    answer: int
    place: Place
    """The position after both moves."""
    below: tuple[ProvenReply, ...] | None
    """Answers to all of the first player's next moves; None if the verifier searches them."""


@dataclass(frozen=True)
class Certificate:
    """A proof that the second player wins on a board."""

    board: Board
    answers: tuple[ProvenReply, ...] | None
    """An answer to each first placement, up to mirror images; None for a proof by mirroring."""

    @property
    def method(self) -> str:
        """The kind of proof: "answers" or "mirror"."""
        return "mirror" if self.answers is None else "answers"

    @property
    def lines(self) -> list[str]:
        """The lines between heading and checksum."""
        if self.answers is None:
            return [MIRROR]
        return list(self._lines(self.answers, 0, set()))

    def _lines(self, answers: Iterable[ProvenReply], depth: int, told: set[Place]) -> Iterator[str]:
        for one in answers:
            line = f"{' ' * depth}{self.board.name(one.move)} {self.board.name(one.answer)}"
            if one.place in told:
                yield f"{line} ="
                continue
            told.add(one.place)
            if one.below is None:
                yield f"{line} ?"
                continue
            yield line
            yield from self._lines(one.below, depth + 1, told)

    @property
    def text(self) -> str:
        """The content of the file."""
        heading = HEADING.format(self.board.width, self.board.height)
        return with_checksum(heading + "".join(f"{line}\n" for line in self.lines))

    def write(self, file: Path) -> None:
        """Write the file atomically."""
        atomic_write(file, self.text)


def with_checksum(text: str) -> str:
    """Return the text with its checksum as the last line."""
    return f"{text}sha256 {hashlib.sha256(text.encode('ascii')).hexdigest()}\n"


def certify(
    board: Board,
    *,
    on_progress: OnProgress | None = None,
    map_calls: MapCalls | None = None,
) -> Certificate:
    """Return a proof that the second player wins, by mirroring if a side of the board is even."""
    if board.cells % 2 == 0:
        return Certificate(board, None)
    return certify_by_answers(board, on_progress=on_progress, map_calls=map_calls)


def certify_by_answers(
    board: Board,
    *,
    small: int = SMALL,
    on_progress: OnProgress | None = None,
    map_calls: MapCalls | None = None,
) -> Certificate:
    """Return a proof by answers.  Raise `KnightfallError` if the second player does not win.

    The first placements are proved in this process, or by `map_calls` with the same result.
    """
    placements = sorted({board.canonical(cell)[0] for cell in range(board.cells)})
    progress = _Progress(len(placements), on_progress)
    if map_calls is not None:
        found: dict[int, ProvenReply] = {}
        for place, answer in map_calls(partial(placement_prover, board, small), placements):
            found[place] = answer
            progress.add(1.0)
        return Certificate(board, tuple(found[place] for place in range(len(placements))))
    builder, answers = _Builder(board, small, progress), list[ProvenReply]()
    run_interruptibly(lambda: answers.extend(map(builder.placement, placements)), builder.stop)
    return Certificate(board, tuple(answers))


def placement_prover(board: Board, small: int) -> Callable[[int], ProvenReply]:
    """Return a function that finds and proves the answer to a first placement."""
    return _Builder(board, small, _Progress(1, None)).placement


class _Progress:
    """Adds up and reports the progress of all placements."""

    def __init__(self, placements: int, on_progress: OnProgress | None) -> None:
        self.placements, self.on_progress = placements, on_progress
        self.done = 0.0

    def add(self, share: float) -> None:
        """Add a fraction (`share`) of one placement's work, and report the total progress."""
        if share == 0:
            return
        self.done += share / self.placements
        if self.on_progress is not None:
            self.on_progress(min(1.0, self.done))


class _Builder:
    """Finds the answers to one first placement."""

    def __init__(self, board: Board, small: int, progress: _Progress) -> None:
        self.board, self.small, self.progress = board, small, progress
        self.boards = geometry(board)
        self.states = np.zeros(1, DTYPE)
        # No position is large enough for the table or for reflection: the verifier has neither,
        # and the size of a proof must not depend on earlier searches.
        self.states["upper"] = PLIES
        self.stopped = False

    def stop(self) -> None:
        """Make the current search end with `OutOfBudget`."""
        self.stopped = True
        self.boards["limit"] = 0

    def placement(self, cell: int) -> ProvenReply:
        """Return the answer to a first placement.  Raise an error if no answer wins."""
        everywhere = range(self.board.cells)
        found = self._answer(bitset(everywhere), cell, everywhere)
        if found is None:
            raise KnightfallError(
                f"on {self.board.width}×{self.board.height} the first player wins by placing on "
                f"{self.board.name(cell)}, so there is no certificate: it would prove that the "
                "second player wins"
            )
        answer, place, nodes = found
        return ProvenReply(cell, answer, place, self._below(place, nodes, 1.0))

    def _below(
        self, place: Place, nodes: int, share: float = 0.0
    ) -> tuple[ProvenReply, ...] | None:
        """Return answers to all of the first player's moves; None if the verifier searches them.

        The search of the position took `nodes`.  `share` is the position's share of the
        placement's work, for the progress.
        """
        open, first, second = place
        moves = [cell for cell in self.board.knight[first] if open >> cell & 1]
        if nodes <= self.small or not moves:
            self.progress.add(share)
            return None if moves else ()
        below = []
        for move in moves:
            found = self._answer(open, move, self.board.knight[second])
            assert found is not None, "the first player was to lose this"
            answer, place, nodes = found
            below.append(ProvenReply(move, answer, place, self._below(place, nodes)))
            self.progress.add(share / len(moves))
        return tuple(below)

    def _answer(self, open: int, move: int, ways: Iterable[int]) -> tuple[int, Place, int] | None:
        """Return the winning answer with the shortest proof, its position, and the proof's nodes.

        Return None if no answer wins.  Answers are searched with a low node limit first, because
        the refutation of a losing answer may be very long.
        """
        open &= ~(1 << move)
        left = [(cell, (open & ~(1 << cell), move, cell)) for cell in ways if open >> cell & 1]
        limit = FIRST_LIMIT
        while left:
            best, undecided = None, []
            for answer, place in left:
                first_wins, nodes = self._ask(place, limit)
                if first_wins == 0:
                    best, limit = (answer, place, nodes), nodes
                elif first_wins < 0:
                    undecided.append((answer, place))
            if best is not None:
                return best
            left, limit = undecided, limit * LIMIT_FACTOR
        return None

    def _ask(self, place: Place, limit: int) -> tuple[int, int]:
        """Return 1 if the first player wins, 0 if the second does, −1 if the limit is too low.

        The second value is the number of nodes searched.
        """
        self.states["nodes"] = 0
        self.boards["limit"] = limit
        if self.stopped:  # checked only now, because `stop` sets it before the limit
            raise OutOfBudget
        answer = int(who_wins(self.boards, self.states, *place))
        if self.stopped:
            raise OutOfBudget
        return answer, int(self.states["nodes"][0])
