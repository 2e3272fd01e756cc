"""Build one file of labelled positions: play games, label the positions, fill the columns.

Two agents play from a random opening, and the solver decides who wins each position. A search meets
positions of good play and of bad play, so strong and weak agents play. No agent that was itself
learned from such games plays: the same command must give the same positions again.

A game is labelled from its end: a position with a move to a lost position is won. Only the other
positions are given to the solver, and most of these are solved quickly.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.arena.play import Searcher, play_compiled, searcher
from knightfall.board import Board
from knightfall.display.progress import OnProgress, progress_or_callback
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions, parallel_map
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.kernel.rules import bitset
from knightfall.learning.data import (
    FILE,
    NUMBERS,
    Columns,
    DataSettings,
    Shard,
    arrow,
    read_settings,
    read_shard,
    refuse_other_settings,
    write_shard,
)
from knightfall.learning.dataset_card import LOG, write_card
from knightfall.learning.split import canonical_forms, class_splits, classes, keys
from knightfall.position import Position, Side
from knightfall.solver.atlas import lookup
from knightfall.solver.engine import Engine
from knightfall.user_folders import atomic_write, make_empty_folder

# -- the agents -------------------------------------------------------------------------------


HEURISTICS = ("improved", "bfs_reach", "open", "main")
NODES = (20, 60, 200, 600, 2500)

POOL: tuple[tuple[str, int], ...] = (
    *((f"id({heuristic}, nodes={nodes})", 2) for heuristic in HEURISTICS for nodes in NODES),
    *((f"id(bfs_reach, nodes={nodes})", 3) for nodes in (600, 2500, 10000)),
    ("id(improved, nodes=2500)", 10),
    ("alphabeta(improved, depth=3)", 3),
    ("alphabeta(open, depth=2)", 2),
    ("greedy(improved)", 3),
    ("random", 3),
)
"""Agents with their weights in the random draw; an agent may occur twice."""

NAMES = tuple(dict.fromkeys(name for name, _ in POOL))
"""Each agent once."""

SERIOUS = frozenset(
    f"id({heuristic}, nodes={nodes})" for heuristic in HEURISTICS for nodes in (600, 2500, 10000)
)
"""Agents strong enough that the runner's practical chances are learned from games against them."""

_CARDS = [name for name, weight in POOL for _ in range(weight)]


def draw(rng: random.Random) -> str:
    """Draw an agent from `POOL` by weight; return its string, such as ``id(open, nodes=600)``."""
    return rng.choice(_CARDS)


# -- the games --------------------------------------------------------------------------------


RANDOM_PLIES = (0, 0, 0, 1, 2, 3, 4, 6, 8, 10, 14)
"""Possible numbers of random first moves; repeated entries are drawn more often."""

Words = tuple[int, int, int]
"""A position for the mover: the open cells as bits, the mover's cell, the waiter's cell."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game: all its positions; in the last one the loser has no move.

    `opening` holds the first cells of mover and waiter, `drawn` counts the random moves at the
    start. `agents[0]` was to move in the opening.
    """

    board: Board
    opening: tuple[int, int]
    drawn: int
    agents: tuple[str, str]
    positions: tuple[Words, ...]

    def result(self, ply: int) -> int:
        """Return 1 if the player to move at this ply won the game, else 0."""
        return (len(self.positions) - 1 - ply) % 2


def draw_game(board: Board, rng: random.Random) -> PlayedGame:
    """Play the next game; the random generator `rng` alone determines it."""
    while True:
        mover, waiter = rng.sample(range(board.cells), 2)
        everywhere = (1 << board.cells) - 1
        line: list[Words] = [(everywhere & ~(1 << mover | 1 << waiter), mover, waiter)]
        drawn = rng.choice(RANDOM_PLIES)
        while len(line) <= drawn and (ways := _ways(board, line[-1])):
            line.append(after(line[-1], rng.choice(ways)))
        agents, seed = (draw(rng), draw(rng)), rng.randrange(1, 2**62)
        # A game that random moves have ended, or nearly, says little about play.
        if len(line) == drawn + 1 and _ways(board, line[-1]):
            break
    movers = agents if drawn % 2 == 0 else agents[::-1]
    start = position_of(board, line[-1])
    seats: dict[Side, Searcher] = {"w": _ready(movers[0]), "b": _ready(movers[1])}
    for cell in play_compiled(seats, start.fen, seed).cells:
        line.append(after(line[-1], cell))
    return PlayedGame(board, (mover, waiter), drawn, agents, tuple(line))


def after(position: Words, cell: int) -> Words:
    """Return the position after the mover went to `cell`, with the other player to move."""
    open, _, waiter = position
    return open & ~(1 << cell), waiter, cell


def cells_of(open: int) -> list[int]:
    """Return the cells of a bit set, in board order."""
    return [cell for cell in range(open.bit_length()) if open >> cell & 1]


def _ways(board: Board, position: Words) -> list[int]:
    open, mover, _ = position
    return cells_of(open & bitset(board.knight[mover]))


def _ready(agent: str) -> Searcher:
    found = searcher(agent)
    if found is None:
        raise KnightfallError(f"agent {agent} cannot play in compiled code")
    return found


# -- the labels -------------------------------------------------------------------------------


EARLY = 0.84
"""With more than this share of the board open, the hunter wins nearly every position."""

EARLY_KEPT = 0.1
"""The share of early positions that is labelled nevertheless."""

MOST_OPEN = 41
"""On boards larger than 7×7, more open cells than this take the solver too long."""

LARGEST = 49
TABLE_MB = 64


def label(engine: Engine, game: PlayedGame, plies: list[int]) -> list[bool]:
    """Return whether the mover wins at each of these plies, which must be in ascending order."""
    labels: dict[int, bool] = {len(game.positions) - 1: False}
    for ply in reversed(plies):
        lost_next = labels.get(ply + 1) is False
        labels[ply] = lost_next or _wins(engine, position_of(game.board, game.positions[ply]))
    return [labels[ply] for ply in plies]


def _wins(engine: Engine, position: Position) -> bool:
    """Return whether the mover wins; faster than `Solver`, for millions of calls."""
    known = lookup(position) if len(position.open) == position.board.cells - 2 else None
    return engine.wins(position) if known is None else known.mover_wins


def position_of(board: Board, words: Words) -> Position:
    """Return packed words as a `Position`; the mover is the first player."""
    open, mover, waiter = words
    return Position(board, frozenset(cells_of(open)), mover, waiter, "w")


def plies_to_label(game: PlayedGame, rng: random.Random) -> list[int]:
    """Return the plies to label: all later ones with a legal move, and a few early ones."""
    cells = game.board.cells
    early = EARLY * cells if cells <= LARGEST else MOST_OPEN
    rate = EARLY_KEPT if cells <= LARGEST else 0.0
    taken = []
    for ply, (open, _, _) in enumerate(game.positions[:-1]):
        if open.bit_count() <= early or rng.random() < rate:
            taken.append(ply)
    return taken


# -- the columns of a file --------------------------------------------------------------------


def build_shard(shard: Shard) -> tuple[Columns, float]:
    """Return the columns of a file, and the seconds that it took to build them."""
    start = time.perf_counter()
    return build_columns(shard), time.perf_counter() - start


_ROW = (
    *("open", "mover", "waiter", "wins", "result", "hunter", "ply", "drawn", "opening", "game"),
    *("mover_agent", "waiter_agent"),
)
"""The columns that are known when a position is labelled; the others follow from them."""


def build_columns(shard: Shard) -> Columns:
    """Return the columns of a file; they depend only on the shard, which includes its seed."""
    board, rng = Board.named(shard.board), random.Random(shard.seed)
    engine = _engine(board)
    rows: list[tuple[int, ...]] = []
    games = 0
    while len(rows) < shard.positions:
        game = draw_game(board, rng)
        plies = plies_to_label(game, rng)
        agents = [NAMES.index(name) for name in game.agents]
        same = board.colour(game.opening[0]) == board.colour(game.opening[1])
        mover, waiter = board.canonical(*game.opening)
        opening = classes(board)[mover, waiter]
        number = shard.number << 16 | games
        for ply, wins in zip(plies, label(engine, game, plies), strict=True):
            turn = ply % 2
            # The hunter of the opening remains the hunter for the whole game.
            hunts = same if turn == 0 else not same
            here, there = agents[turn], agents[1 - turn]
            about = (wins, game.result(ply), hunts, ply, game.drawn, opening, number, here, there)
            rows.append((*game.positions[ply], *about))
        games += 1
    by_column = zip(*rows[: shard.positions], strict=True)
    found: Columns = {
        name: np.array(column, NUMBERS.get(name, "u1"))
        for name, column in zip(_ROW, by_column, strict=True)
    }
    forms = canonical_forms(board, found["open"], found["mover"], found["waiter"])
    found |= dict(zip(("open", "mover", "waiter"), forms, strict=True))
    found["key"] = keys(board, *forms)
    found["split"] = class_splits(board)[found["opening"]]
    return found


def _engine(board: Board) -> Engine:
    """Return this thread's solver engine; a call for another board makes a new one."""
    if getattr(_here, "board", None) != board:
        _here.engine, _here.board = Engine(board, table_mb=TABLE_MB), board
    engine: Engine = _here.engine
    return engine


_here = threading.local()


# -- making a set ----------------------------------------------------------------------------------


def generate(
    folder: Path,
    settings: DataSettings,
    *,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool | OnProgress = True,
) -> dict[str, Any]:
    """Build the missing files of a set, write its card, and return the card.

    Raise a KnightfallError for a folder of other settings or with a damaged file.
    """
    options = RunnerOptions(workers, dask, executor)
    options.check()
    arrow()
    enable_keyboard_interrupt()
    begin(folder, settings)
    shards = settings.shards()
    missing = missing_shards(folder, settings)
    done = settings.positions - sum(shard.positions for shard in missing)
    with progress_or_callback(progress, "positions", settings.positions, done=done) as tell:
        built = parallel_map(
            _builder_of_shards, missing, options, describe=lambda shard: f"the file {shard.name}"
        )
        for place, (columns, seconds) in built:
            shard = missing[place]
            write_shard(folder, settings, shard, columns, NAMES)
            with (folder / LOG).open("a", encoding="utf-8") as log:
                log.write(json.dumps({"file": shard.name, "seconds": round(seconds, 2)}) + "\n")
            done += shard.positions
            tell(done)
    for draft in folder.glob(".*.part"):  # drafts that killed processes left
        draft.unlink(missing_ok=True)
    return write_card(folder, settings, shards)


def begin(folder: Path, settings: DataSettings) -> None:
    """Create the folder of a set or, if it exists, check that its settings are the same."""
    if (folder / FILE).exists():
        refuse_other_settings(folder, read_settings(folder).to_json(), settings.to_json())
        return
    make_empty_folder(folder)
    atomic_write(folder / FILE, json.dumps(settings.to_json(), indent=2) + "\n", sync=True)


def missing_shards(folder: Path, settings: DataSettings) -> list[Shard]:
    """Return the files that are still missing; the existing ones are read and checked."""
    missing = []
    for shard in settings.shards():
        if (folder / shard.name).exists():
            read_shard(folder, settings, shard)
        else:
            missing.append(shard)
    return missing


def _builder_of_shards() -> Callable[[Shard], tuple[Columns, float]]:
    """Compile what the games need, and return the function that builds a shard."""
    for name in NAMES:
        searcher(name)
    return build_shard
