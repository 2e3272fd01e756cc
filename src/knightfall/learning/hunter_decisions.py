"""Decisions of hunters who have a won game: what they could reply, and what they did.

Many different agents hunt, from openings of one split, against runners of all kinds and after some
random moves.  A decision is taken down if there are two replies or more and the hunter wins by best
play; which replies let go of the win is asked of the solver.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knightfall.arena.play import play_compiled, searcher
from knightfall.board import Board
from knightfall.display.progress import OnProgress, nobody
from knightfall.errors import KnightfallError
from knightfall.learning.shard_builder import RANDOM_PLIES
from knightfall.learning.split import SPLITS, class_splits, classes
from knightfall.opponents.practice import reply_features
from knightfall.position import Position, Side, other
from knightfall.solver.atlas import position_of
from knightfall.solver.engine import Engine

USUAL = (
    *("alphabeta(improved, depth=3)", "alphabeta(improved, depth=5)"),
    *("id(improved, nodes=2500)", "id(bfs_reach, nodes=50000)"),
    *("MM_Open", "MM_Center", "MM_Improved", "AB_Open", "AB_Center", "AB_Improved"),
)
"""The ladder's agents and the course's, but those who lose anyhow: the shares stand for these."""

POPULATION = (
    *USUAL * 3,
    *(
        f"id({heuristic}, nodes={nodes})"
        for heuristic in ("improved", "bfs_reach", "open", "lookahead_mobility", "corner_averse")
        for nodes in (300, 1000, 5000)
    ),
    *(
        f"id({heuristic}, nodes={nodes})"
        for heuristic in ("weighted_difference", "weighted_moves", "aggressive", "main_less")
        for nodes in (600, 4000)
    ),
    *("id(improved, nodes=10000)", "id(open_space_difference, nodes=2500)", "greedy(open)"),
    *("alphabeta(aggressive, depth=4)", "alphabeta(bfs_reach, depth=4)"),
)
"""The hunters that are learned from; the usual ones three times, so they are more than half."""

UNSEEN = (
    *("id(bfs_reach, nodes=10000)", "alphabeta(open, depth=4)", "student(improved, time=25ms)"),
    *("id(lookahead_ratio, nodes=5000)", "alphabeta(corner_averse, depth=4)"),
    "id(center_pull, nodes=4000)",
)
"""Hunters that are not learned from, to see whether it holds for strangers."""

RUNNERS = (
    *("random", "greedy(improved)", "alphabeta(improved, depth=3)", "id(open, nodes=1000)"),
    *("id(improved, nodes=600)", "id(improved, nodes=2500)", "id(bfs_reach, nodes=2500)"),
)

MOST_CELLS = 43
"""With more open cells a truth costs too much, and nearly every reply keeps the win."""


@dataclass(frozen=True)
class Decision:
    """What a hunter could reply in a won position, and the number of what it did.

    `features` has a row for each reply, `shares` one for each opponent (`practice.ReplyFeatures`);
    `wrong` says which replies let go of the win.
    """

    game: int
    hunter: str
    position: Position
    reply: int
    features: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    wrong: npt.NDArray[np.bool_]

    @property
    def erred(self) -> bool:
        """Whether the hunter let go of its win."""
        return bool(self.wrong[self.reply])


def decisions(
    hunters: Sequence[str], split: str, games: int, seed: int, done: OnProgress = nobody
) -> list[Decision]:
    """The decisions of some games, the hunters taking turns, from openings of a split."""
    board = Board.of(7, 7)
    if split not in SPLITS:
        raise KnightfallError(f"a split is one of {', '.join(SPLITS)}, not {split!r}")
    where = class_splits(board)
    own = [cells for cells, number in classes(board).items() if SPLITS[where[number]] == split]
    rng, engine = random.Random(f"chances {seed}/{split}"), Engine(board)
    found: list[Decision] = []
    for game in range(games):
        done(game)
        hunter = hunters[game % len(hunters)]
        for position, cell in _game(position_of(board, *rng.choice(own)), hunter, rng):
            wrong = _wrong(position, engine)
            if wrong.all():
                continue  # lost already
            seen = reply_features(position, engine)
            reply = seen.cells.index(cell)
            found.append(Decision(game, hunter, position, reply, seen.features, seen.shares, wrong))
    return found


def _game(position: Position, hunter: str, rng: random.Random) -> Iterator[tuple[Position, int]]:
    """The hunter's choices in a game, with the cells it went to."""
    for _ in range(rng.choice(RANDOM_PLIES)):
        if len(position.legal_moves) == 0:
            return
        position = position.play(rng.choice(position.legal_moves))
    if position.winner is not None or position.hunter is None:
        return
    side, runner, seed = position.hunter, rng.choice(RUNNERS), rng.randrange(1, 2**62)
    seats: dict[Side, str] = {side: hunter, other(side): runner}
    ready = {seat: searcher(text) for seat, text in seats.items()}
    played = play_compiled(
        {seat: one for seat, one in ready.items() if one is not None}, position.fen, seed
    )
    for cell in played.cells:
        if (
            position.to_move == side
            and len(position.open) <= MOST_CELLS
            and len(position.legal_moves) > 1
        ):
            yield position, cell
        position = position.play(position.board.name(cell))


def _wrong(position: Position, engine: Engine) -> npt.NDArray[np.bool_]:
    """Of each reply, in board order, whether it lets go of the win."""
    names = sorted(position.legal_moves, key=position.board.cell)
    after = [position.play(name) for name in names]
    return np.array([bool(one.legal_moves) and engine.wins(one) for one in after])
