"""One file of a set: games are played and labelled until it is full."""

from __future__ import annotations

import random
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

from knightfall.arena.game.compiled import searcher
from knightfall.board import Board
from knightfall.learning.games import NAMES, Judge, draw_game, plies_to_label
from knightfall.learning.settings import Settings, Shard
from knightfall.learning.shards import Columns, write_shard
from knightfall.learning.split import class_splits, classes, first_images, keys


def prepare() -> None:
    """Have everything compiled that games need."""
    for name in NAMES:
        searcher(name)


def make_shard(folder: Path, settings: Settings, shard: Shard) -> float:
    """Make a file and write it; how many seconds that took."""
    start = time.perf_counter()
    write_shard(folder, settings, shard, harvest(shard), NAMES)
    return time.perf_counter() - start


def harvest(shard: Shard) -> Columns:
    """The columns of a file: they depend on the shard, which has a seed of its own, and nothing
    else.
    """
    board, rng = Board.named(shard.board), random.Random(shard.seed)
    judge = _judge(board)
    rows: list[tuple[int, ...]] = []
    games = 0
    while len(rows) < shard.positions:
        game = draw_game(board, rng)
        plies = plies_to_label(game, rng)
        agents = [NAMES.index(name) for name in game.agents]
        same = board.colour(game.opening[0]) == board.colour(game.opening[1])
        opening = _class_of(board, game.opening)
        number = shard.number << 16 | games
        for ply, wins in zip(plies, judge.label(game, plies), strict=True):
            turn = ply % 2
            # The hunter in the opening hunts all game long, at every turn of its own.
            hunts = same if turn == 0 else not same
            here, there = agents[turn], agents[1 - turn]
            about = (wins, game.result(ply), hunts, ply, game.drawn, opening, number, here, there)
            rows.append((*game.positions[ply], *about))
        games += 1
    return _columns(board, rows[: shard.positions])


def _columns(board: Board, rows: list[tuple[int, ...]]) -> Columns:
    by_column = list(zip(*rows, strict=True))

    def column(place: int, kind: type[np.generic]) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
        return np.array(by_column[place], kind)

    open = np.array(by_column[0], np.uint64)
    movers, waiters = np.array(by_column[1], np.uint8), np.array(by_column[2], np.uint8)
    open, movers, waiters = first_images(board, open, movers, waiters)
    openings = np.array(by_column[8], np.uint16)
    return {
        "open": open,
        "mover": movers,
        "waiter": waiters,
        "wins": column(3, np.int8),
        "result": column(4, np.int8),
        "hunter": column(5, np.int8),
        "ply": column(6, np.uint8),
        "drawn": column(7, np.uint8),
        "opening": openings,
        "game": column(9, np.uint32),
        "key": keys(board, open, movers, waiters),
        "mover_agent": column(10, np.uint8),
        "waiter_agent": column(11, np.uint8),
        "split": class_splits(board)[openings],
    }


def _class_of(board: Board, opening: tuple[int, int]) -> int:
    mover, waiter = opening
    return classes(board)[min((image[mover], image[waiter]) for image in board.symmetries)]


@lru_cache(maxsize=1)
def _judge(board: Board) -> Judge:
    """The boards take turns: what one has learned is forgotten for the next."""
    return Judge(board)
