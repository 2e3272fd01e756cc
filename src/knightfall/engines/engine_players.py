"""Players of one game whose moves come from an engine: by UCI, and by knightfall's line protocol.

Each runs in the process of one game, in the agent's sandbox, and starts the engine anew.  The
supervisor of that process enforces the time of a move; here only the start of an engine has a time
limit.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from knightfall.board import Board
from knightfall.engines.joust import (
    NO_MOVE,
    STANDARD,
    STANDARD_START,
    destination,
    uci_fen,
    variant_ini,
    variant_of,
)
from knightfall.errors import AgentFailure, KnightfallError, nearest
from knightfall.isolation.run_isolated import KEPT_OUTPUT, describe_end
from knightfall.isolation.supervisor import AT_ONCE, LineReader, TooLong
from knightfall.position import Position
from knightfall.search.budget import Budget, Report, without_reserve
from knightfall.untrusted_input import shown

RESERVE = 0.15, 0.005, 0.05
"""Part of the time of a move that an engine is not told of, because its answer must arrive in
time: a share, and its least and greatest value in seconds."""

STARTING = 30.0
"""Seconds that an engine may take to start, and to get ready for a game."""

LONGEST_LINE = 1 << 16
"""Largest line in bytes: Fairy-Stockfish lists its variants in one of two thousand."""

MOST_BYTES = 4 << 20
"""Most bytes that an engine may print between two commands."""


# -- the process -----------------------------------------------------------------------------------


class EngineProcess:
    """An engine that runs and is asked by lines of text."""

    def __init__(self, words: Sequence[str]) -> None:
        self._called = os.path.basename(words[0])
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            raise AgentFailure("crash", f"{words[0]}: {error.strerror or error}") from None
        self._splitter = LineReader(LONGEST_LINE)
        self._waiting: list[bytes] = []
        self._received = 0
        self._late = ""
        self._errors = bytearray()
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._error_reader.start()

    def send(self, *lines: str) -> None:
        """Write lines to the engine; if it has ended, the next `read_line` reports it."""
        self._received = 0
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def read_line(self) -> str:
        """Return the engine's next line.  Raise an `AgentFailure` if it ends or prints too much."""
        assert self._process.stdout is not None
        while not self._waiting:
            piece = os.read(self._process.stdout.fileno(), AT_ONCE)
            if not piece:
                raise self._ended()
            self._received += len(piece)
            try:
                self._waiting = self._splitter.feed(piece)
            except TooLong as error:
                raise AgentFailure("crash", f"{self._called} printed {error}") from None
            if self._received > MOST_BYTES:
                most = f"{MOST_BYTES >> 20} MB between two commands"
                raise AgentFailure("crash", f"{self._called} printed more than {most}")
        return self._waiting.pop(0).decode(errors="replace").strip()

    def read_until(self, word: str) -> Iterator[list[str]]:
        """Yield the words of each line of the engine, up to the line that begins with `word`."""
        while True:
            words = self.read_line().split()
            if words:
                yield words
                if words[0] == word:
                    return

    @contextmanager
    def starting(self, expected: str) -> Iterator[None]:
        """Kill the engine if the block, in which it gets ready, takes more than `STARTING` seconds.

        `expected` is the answer that is then missing, for the error.
        """

        def kill() -> None:
            self._late = f"{self._called} did not answer {expected} within {STARTING:g} s"
            self._process.kill()

        timer = threading.Timer(STARTING, kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ended(self) -> AgentFailure:
        """Return the failure that tells how the engine ended."""
        if self._late:
            return AgentFailure("timeout", self._late)
        self._error_reader.join(1.0)  # a process that the engine started may hold the stream open
        ended = describe_end(self._process, bytes(self._errors))
        return AgentFailure("crash", f"{self._called} {ended}")

    def _read_errors(self) -> None:
        """Keep the end of what the engine prints on standard error."""
        stream: IO[bytes] | None = self._process.stderr
        assert stream is not None
        with stream, suppress(OSError):
            while piece := os.read(stream.fileno(), AT_ONCE):
                self._errors += piece
                del self._errors[:-KEPT_OUTPUT]


# -- players ---------------------------------------------------------------------------------------


def milliseconds(budget: Budget) -> int | None:
    """Return how many milliseconds an engine is told to think; None without a time budget."""
    if budget.seconds is None:
        return None
    return max(1, int(1000 * without_reserve(budget.seconds, *RESERVE)))


class EnginePlayer:
    """An engine in one game: the process, and the board that it is ready for."""

    def __init__(self, words: Sequence[str], budget: Budget) -> None:
        self._engine = EngineProcess(words)
        self._budget = budget
        self._board: Board | None = None

    def analyse(self, position: Position) -> Report:
        """Return the engine's move.  Raise an `AgentFailure` if there is none, or it is illegal."""
        start = time.perf_counter()
        self.prepare(position.board)
        move = self._choose(position)
        seconds = time.perf_counter() - start
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))

    def _skip_to(self, word: str) -> None:
        """Ignore lines up to the one that begins with `word`."""
        for _ in self._engine.read_until(word):
            pass

    def prepare(self, board: Board) -> None:
        """Get the engine ready for a board, unless it is."""
        if board != self._board:
            self._begin(board)
            self._board = board

    def _go(self, time_name: str) -> str:
        """Return the command ``go`` with the limits of a move; `time_name` precedes the time."""
        budget = self._budget
        limits = {"depth": budget.depth, "nodes": budget.nodes, time_name: milliseconds(budget)}
        asked = [f"{name} {limit}" for name, limit in limits.items() if limit is not None]
        return " ".join(["go", *asked])

    def _begin(self, board: Board) -> None:
        """Begin a game on a board."""
        raise NotImplementedError

    def _choose(self, position: Position) -> str:
        """Return the destination of the engine's move."""
        raise NotImplementedError


# -- UCI -------------------------------------------------------------------------------------------


class UciPlayer(EnginePlayer):
    """An engine that speaks UCI, and plays Joust."""

    def __init__(self, words: Sequence[str], budget: Budget, settings: Mapping[str, str]) -> None:
        """Start the engine, read its list of options, and set those in `settings`."""
        super().__init__(words, budget)
        self._options: dict[str, list[str]] = {}
        with self._engine.starting("'uci' with 'uciok'"):
            self._engine.send("uci")
            for line in self._engine.read_until("uciok"):
                if line[:2] == ["option", "name"] and "type" in line:
                    end = line.index("type")
                    self._options[" ".join(line[2:end])] = line[end:]
        known = {name.lower(): name for name in self._options}
        for name, value in settings.items():
            if name.lower() not in known:
                raise KnightfallError(
                    f"the engine has no option {name!r}{nearest(name, self._options)}; "
                    f"it has {', '.join(self._options) or 'none'}"
                )
            self._set(known[name.lower()], value)

    def _set(self, name: str, value: str) -> None:
        self._engine.send(f"setoption name {name} value {value}")

    def _begin(self, board: Board) -> None:
        """See `EnginePlayer`; the definition of the variant must precede the variant's name."""
        variants, variant = self._options.get("UCI_Variant", []), variant_of(board)
        file = ""
        try:
            if variant in variants:
                self._set("UCI_Variant", variant)
            elif "VariantPath" in self._options:
                handle, file = tempfile.mkstemp(".ini", "knightfall-")
                with os.fdopen(handle, "w") as written:
                    written.write(variant_ini(board))
                self._set("VariantPath", file)
                self._set("UCI_Variant", variant)
            elif STANDARD in variants and board == Position.from_fen(STANDARD_START).board:
                self._set("UCI_Variant", STANDARD)
            else:
                raise KnightfallError(
                    f"the engine plays no Joust on {board.text}: it lists neither the variant "
                    f"{variant} nor an option VariantPath"
                )
            with self._engine.starting("'isready' with 'readyok'"):
                self._engine.send("ucinewgame", "isready")
                self._skip_to("readyok")
            # The first search compiles and allocates, which must not count as time of a move.
            opening = Position.from_moves(["b2", "b3"], board.width, board.height)
            with self._engine.starting("'go depth 1' with 'bestmove'"):
                self._engine.send(f"position fen {uci_fen(opening)}", "go depth 1")
                self._skip_to("bestmove")
        finally:
            if file:
                with suppress(OSError):
                    os.unlink(file)

    def _choose(self, position: Position) -> str:
        self._engine.send(f"position fen {uci_fen(position)}", self._go("movetime"))
        *_, answer = self._engine.read_until("bestmove")
        move = answer[1] if len(answer) > 1 else NO_MOVE
        if move in (NO_MOVE, "0000"):
            raise AgentFailure("forfeit", f"the engine found no move: it answered {move}")
        return _legal(position, move)


def _legal(position: Position, move: str) -> str:
    try:
        return destination(position, move)
    except KnightfallError as error:
        raise AgentFailure("illegal", f"the engine answered {error}") from None


# -- the line protocol -----------------------------------------------------------------------------


class LinePlayer(EnginePlayer):
    """An engine that speaks knightfall's line protocol (see docs/engines.md)."""

    def __init__(self, words: Sequence[str], budget: Budget, seed: int) -> None:
        super().__init__(words, budget)
        self._seed = seed

    def _begin(self, board: Board) -> None:
        with self._engine.starting("'newgame' with 'ready'"):
            self._engine.send(f"newgame {board.width} {board.height} {self._seed}")
            self._skip_to("ready")

    def _choose(self, position: Position) -> str:
        self._engine.send(f"position {position.fen}", self._go("time"))
        *_, answer = self._engine.read_until("answer")
        move = answer[1] if len(answer) > 1 else ""
        if move not in position.legal_moves:
            said = shown(" ".join(answer))
            legal = " ".join(position.legal_moves)
            raise AgentFailure("illegal", f"{said} names no legal move; legal are {legal}")
        return move
