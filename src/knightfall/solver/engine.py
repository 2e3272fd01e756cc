"""The compiled solver's Python interface: one board, one proof table, several threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.interrupt import stop_in, stopwatch
from knightfall.kernel.rules import NO_LIMIT, POCKET, GeometryArray, geometry, words
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.solver.proof_table import (
    BUCKET,
    DTYPE,
    ENTRY_DTYPE,
    MARK_DTYPE,
    MARKS,
    PLIES,
    UNKNOWN,
    WINS,
    outcome,
    probe,
)
from knightfall.solver.winloss import who_wins

UPPER_SHARE = 0.68
"""Positions with at least this share of the board open use the table and better ordering."""

TABLE_MB = 16
SMALLEST_MB, LARGEST_MB = 1, 16384
MOST_THREADS = 64

Question = Callable[[GeometryArray, np.ndarray[tuple[int], np.dtype[np.void]]], int]


class OutOfBudget(Exception):
    """The node or time limit was reached before the question was answered."""


@dataclass
class Limits:
    """The remaining nodes of a solve, and its deadline (`time.perf_counter` seconds)."""

    nodes: int = NO_LIMIT
    deadline: float | None = None


class Engine:
    """Answers questions about positions of one board, and keeps all proofs in its table."""

    def __init__(self, board: Board, *, threads: int = 1, table_mb: int = TABLE_MB) -> None:
        check_resources(threads, table_mb)
        entries = 1 << ((table_mb << 20) // ENTRY_DTYPE.itemsize).bit_length() - 1
        self.board = board
        self.threads = threads
        # Aligned to buckets, so that reading a bucket touches one cache line.
        try:
            spare = np.zeros(entries + BUCKET, ENTRY_DTYPE)
        except MemoryError:
            raise KnightfallError(
                f"there is no memory for a table of {table_mb} MB: give it fewer"
            ) from None
        skip = -spare.ctypes.data % 64 // ENTRY_DTYPE.itemsize
        self._table = spare[skip : skip + entries]
        self._marks = np.zeros(MARKS, MARK_DTYPE)
        self._states = [self._new_state() for _ in range(threads)]
        self._boards = [geometry(board) for _ in range(threads)]
        self._lock = threading.Lock()
        self._stopped = False

    def _new_state(self) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        states = np.zeros(1, DTYPE)
        states["table"] = self._table.ctypes.data
        states["buckets"] = self._table.size // BUCKET - 1
        states["marks"] = self._marks.ctypes.data if self.threads > 1 else 0
        states["upper"] = round(self.board.cells * UPPER_SHARE)
        return states

    def occupy_memory(self) -> None:
        """Write to the table once, so that its memory pages are allocated before a clock runs."""
        self._table["data"] = 0

    @property
    def nodes(self) -> int:
        """Nodes searched so far by all threads; it may be read during a search."""
        return sum(int(states["nodes"][0]) for states in self._states)

    @property
    def fill(self) -> float:
        """The share of the table that is in use, from 0 to 1."""
        return sum(int(states["stored"][0]) for states in self._states) / self._table.size

    def wins(self, position: Position, limits: Limits | None = None) -> bool:
        """Return whether the side to move wins; both knights are placed.  Raise `OutOfBudget`."""
        open, mover, waiter = self._words(position)
        return self._ask(lambda b, s: who_wins(b, s, open, mover, waiter), limits) == 1

    def ends_within(self, position: Position, plies: int, limits: Limits | None = None) -> bool:
        """Return whether the attacker (for odd `plies` the side to move) can end the game within
        `plies`.  Raise `OutOfBudget`.
        """
        open, mover, waiter = self._words(position)
        # Imported here, because compiling it takes time and many callers never need it.
        from knightfall.solver.game_length import ends_within

        if not 0 <= plies < PLIES:
            raise KnightfallError(f"plies={plies} must be from 0 to {PLIES - 1}: no game is longer")
        return self._ask(lambda b, s: ends_within(b, s, open, mover, waiter, plies), limits) == 1

    def known(self, position: Position) -> bool | None:
        """Return whether the side to move wins if the table has the answer, else None."""
        found = outcome(probe(self._states[0][0], *self._words(position)))
        return None if found == UNKNOWN else found == WINS

    @contextmanager
    def lent(self) -> Iterator[tuple[GeometryArray, np.ndarray[tuple[int], np.dtype[np.void]]]]:
        """Lock the engine; yield its first thread's geometry and state, for calls of `who_wins`."""
        with self._lock:
            self._boards[0]["clock"] = 0
            yield self._boards[0], self._states[0]

    def stop(self) -> None:
        """Make the current question and all later ones end with `OutOfBudget`."""
        self._stopped = True
        self._halt()

    def resume(self) -> None:
        """Accept questions again after `stop`."""
        self._stopped = False

    def _halt(self) -> None:
        for boards in self._boards:
            boards["limit"] = 0

    def _words(self, position: Position) -> tuple[int, int, int]:
        open, mover, waiter = words(position)
        if (mover | waiter) >= POCKET:
            raise KnightfallError(f"position {position.fen!r}: both knights must be on the board")
        if position.board != self.board:
            raise KnightfallError(f"position {position.fen!r} is not on this engine's board")
        return open, mover, waiter

    def _ask(self, question: Question, limits: Limits | None) -> int:
        limits = limits or Limits()
        with self._lock:
            before = self.nodes
            if limits.nodes <= 0:
                raise OutOfBudget
            for boards, states in zip(self._boards, self._states, strict=True):
                share = -(-limits.nodes // self.threads)
                boards["limit"] = min(NO_LIMIT, int(states["nodes"][0]) + share)
                boards["clock"] = 0
                if limits.deadline is not None:
                    left = limits.deadline - time.perf_counter()
                    if left <= 0:
                        raise OutOfBudget
                    stop_in(boards, left)
            if self._stopped:  # checked only now, because `stop` sets it before the limits
                raise OutOfBudget
            alarms = []
            if limits.deadline is not None:
                # The lower part of the tree does not read the clock.
                alarms = [stopwatch().stop_at(limits.deadline, b) for b in self._boards]
            try:
                answer = self._run(question)
            finally:
                for alarm in alarms:
                    alarm.cancel()
            limits.nodes -= self.nodes - before
        if answer < 0:
            raise OutOfBudget
        return answer

    def _run(self, question: Question) -> int:
        if self.threads == 1:
            return question(self._boards[0], self._states[0])
        self._marks["key"] = 0
        answers: list[int] = []
        failures: list[BaseException] = []
        finished = threading.Semaphore(0)

        def work(number: int) -> None:
            try:
                answer = question(self._boards[number], self._states[number])
                if answer >= 0:
                    answers.append(answer)
            except BaseException as error:
                failures.append(error)
            finally:
                finished.release()

        workers = [
            threading.Thread(target=work, args=(number,), daemon=True)
            for number in range(self.threads)
        ]
        for worker in workers:
            worker.start()
        for _ in workers:
            finished.acquire()
            if answers or failures:
                break
        self._halt()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
        return answers[0] if answers else -1


class KeptEngines:
    """The engines of one player, one for each board, which keep proofs between moves and games."""

    def __init__(self, threads: int = 1, table_mb: int = TABLE_MB) -> None:
        self._threads, self._table_mb = threads, table_mb
        self._engines: dict[Board, Engine] = {}

    def on(self, board: Board) -> Engine:
        """Return the engine for a board, creating it on first use."""
        if board not in self._engines:
            engine = Engine(board, threads=self._threads, table_mb=self._table_mb)
            engine.occupy_memory()
            self._engines[board] = engine
        return self._engines[board]

    def for_budget(self, board: Board, budget: Budget) -> Engine:
        """Return the kept engine for a board; for a node budget return a new one, without proofs.

        With a node budget, a player's moves must not depend on earlier positions.
        """
        return self.on(board) if budget.nodes is None else Engine(board)


def check_resources(threads: int, table_mb: int) -> None:
    """Raise an error if a number of threads or the size of a table is out of range."""
    if not 1 <= threads <= MOST_THREADS:
        raise KnightfallError(f"threads={threads} must be from 1 to {MOST_THREADS}")
    if not SMALLEST_MB <= table_mb <= LARGEST_MB:
        raise KnightfallError(
            f"a table of {table_mb} MB is not accepted: give {SMALLEST_MB} to {LARGEST_MB} MB"
        )
