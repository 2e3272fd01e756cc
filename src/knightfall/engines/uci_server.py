"""``knightfall uci``: the engine for programs that speak UCI, the Universal Chess Interface.

It plays the variant Joust on every board that knightfall supports.  One thread reads the commands;
another one searches, so that ``stop`` and ``isready`` are answered at once.  All searches run in
that thread, because transposition tables belong to threads; a third one prints what they have found
so far.
"""

from __future__ import annotations

import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from knightfall.board import Board
from knightfall.display.printable import one_line
from knightfall.engines.joust import (
    NO_MOVE,
    STANDARD,
    destination,
    effort_text,
    info,
    uci_fen,
    uci_move,
    variants,
)
from knightfall.errors import AgentFailure, KnightfallError, nearest
from knightfall.position import Position
from knightfall.search.budget import DEEPEST, MOST_NODES, Budget, Report, without_reserve

if TYPE_CHECKING:
    from knightfall.solver.engine import KeptEngines

HEURISTIC = "learned_net"
"""The heuristic of the search, unless the user names another."""

SEARCH_SHARE, FIRST_SECONDS = 0.35, 1.0
"""Share of its time for the heuristic search before the solver begins, and its seconds if there is
no time limit."""

MOVE_RESERVE = 0.05, 0.005, 0.05
"""Part of the time of a move that is held back for output: a share, and its limits in seconds."""

MOVES_LEFT = 0.3
"""Expected number of a player's moves for each open cell, for dividing the time of its clock."""

LOOK = 0.05
"""Seconds between two looks at the progress of a search."""

SELDOM = 1.0
"""Seconds between two lines about the solver, which has no depths to report."""

PATIENCE = 5.0
"""Seconds to wait for the end of a search that was stopped; a user's heuristic may hang."""

Write = Callable[[str], None]


@dataclass
class EngineSettings:
    """What the user can choose: the heuristic, and the solver's threads and table."""

    heuristic: str = HEURISTIC
    threads: int = 1
    table_mb: int = 16


@dataclass(frozen=True)
class GoLimits:
    """The limits of the command ``go``.  All times are in seconds."""

    depth: int | None = None
    nodes: int | None = None
    move_time: float | None = None
    clock: float | None = None
    increment: float = 0.0
    moves_to_go: int | None = None
    infinite: bool = False

    @property
    def deterministic(self) -> bool:
        """Whether a depth or a number of nodes limits the search, so that it can be repeated."""
        return self.depth is not None or self.nodes is not None

    def seconds(self, position: Position) -> float | None:
        """Return the seconds to think about a position; None if there is no time limit."""
        found = []
        if self.move_time is not None:
            found.append(self.move_time)
        if self.clock is not None:
            moves = max(2.0, MOVES_LEFT * len(position.open))
            if self.moves_to_go:
                moves = min(moves, self.moves_to_go)
            found.append(min(self.clock / moves + 0.8 * self.increment, 0.8 * self.clock))
        if self.infinite or not found:
            return None
        return without_reserve(min(found), *MOVE_RESERVE)


class Thought:
    """One search for a move: its position, what it has found so far, and how to stop it."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.start = time.perf_counter()
        self.stopped = threading.Event()
        self.finished = threading.Event()
        self.engine: Any = None  # the solver that works on it, if one does
        self.records: tuple[Any, Any] | None = None  # geometry and state of the heuristic search
        self._engine_before = 0

    def solve_with(self, engine: Any) -> None:
        """Note the solver that goes on with the position."""
        self._engine_before = engine.nodes
        self.engine = engine

    @property
    def nodes(self) -> int:
        """The nodes searched so far, by heuristic search and solver."""
        searched = 0 if self.records is None else int(self.records[1]["nodes"][0])
        return searched + (self.engine.nodes - self._engine_before if self.engine else 0)

    def stop(self) -> None:
        """End the search soon."""
        self.stopped.set()
        if self.records is not None:
            self.records[0]["limit"] = 0
        if self.engine is not None:
            self.engine.stop()

    def on_start(self, boards: Any, states: Any) -> None:
        """Keep the records of a search that is about to start."""
        self.records = boards, states
        if self.stopped.is_set():
            boards["limit"] = 0

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.perf_counter() - self.start

    def so_far(self) -> Report | None:
        """Return the result of the last depth that the heuristic search finished."""
        from knightfall.search.run_search import report_of

        if self.records is None:
            return None
        boards, states = self.records
        found = report_of(self.position, boards, states.copy(), self.seconds)
        while True:  # the search may have been writing its result
            before = found
            found = report_of(self.position, boards, states.copy(), self.seconds)
            if (found.depth, found.score, found.pv) == (before.depth, before.score, before.pv):
                return found if found.depth else None


class Thinker:
    """Searches for moves, one at a time, and writes ``info`` and ``bestmove`` lines."""

    def __init__(self, settings: EngineSettings, write: Write) -> None:
        self._settings, self._write = settings, write
        self._engines: KeptEngines | None = None
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thought: Thought | None = None
        threading.Thread(target=self._work, name="knightfall-thinker", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a search has not yet written its move."""
        return self._thought is not None and not self._thought.finished.is_set()

    def warm_up(self, board: Board) -> None:
        """Load all that a search on a board needs; write an ``info`` line if that fails."""
        done = threading.Event()

        def prepare() -> None:
            from knightfall.solver import perfect

            try:
                perfect.warm_up(board, Budget(), self._kept(), self._settings.heuristic)
            except KnightfallError as error:
                self._write(f"info string {error}")
            finally:
                done.set()

        self._jobs.put(prepare)
        done.wait()

    def forget(self) -> None:
        """Drop all proofs, for a new game or after a change of the solver's settings."""
        self._engines = None

    def start(self, position: Position, limits: GoLimits) -> None:
        """Begin to think about a position."""
        thought = self._thought = Thought(position)
        self._jobs.put(lambda: self._answer(thought, limits))

    def stop(self) -> None:
        """End the search soon, and wait until the move is written."""
        if self._thought is not None:
            self._thought.stop()
            self._thought.finished.wait(PATIENCE)

    def wait(self) -> None:
        """Wait until the search has ended by itself."""
        if self._thought is not None:
            self._thought.finished.wait()

    # -- in the thread of the searches -----------------------------------------------------

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    def _answer(self, thought: Thought, limits: GoLimits) -> None:
        """Think about a position and write the move."""
        position = thought.position
        try:
            if position.winner is not None:
                self._write("info depth 0 score mate 0")
                self._wait_for_stop(thought, limits)
                self._write(f"bestmove {NO_MOVE}")
                return
            thought_done = threading.Event()
            reporter = threading.Thread(
                target=self._report, args=(thought, thought_done), daemon=True
            )
            reporter.start()
            try:
                report = self._think(thought, limits)
            except (KnightfallError, AgentFailure) as error:
                self._write(f"info string {error}")
                report = None
            finally:
                thought_done.set()
                reporter.join()
            move = position.legal_moves[0] if report is None else report.move
            if report is not None:
                self._write(info(replace(report, seconds=thought.seconds), position))
            self._wait_for_stop(thought, limits)
            self._write(f"bestmove {uci_move(position, move)}")
        finally:
            thought.finished.set()

    @staticmethod
    def _wait_for_stop(thought: Thought, limits: GoLimits) -> None:
        """Wait for ``stop`` after ``go infinite``, whose answer may not come before it."""
        if limits.infinite:
            thought.stopped.wait()

    def _think(self, thought: Thought, limits: GoLimits) -> Report:
        """Return the move of the atlas, else of the solver if it is in time, else of the search."""
        from knightfall.search.run_search import without_collection
        from knightfall.solver.atlas import lookup

        position, seconds = thought.position, limits.seconds(thought.position)
        budget = Budget(limits.depth, limits.nodes, _microseconds(seconds))
        with without_collection(budget):
            if limits.deterministic:
                return self._search(thought, budget)
            deadline = None if seconds is None else thought.start + seconds
            # A placement is decided by the atlas or not at all.
            if not position.placed or lookup(position) is not None:
                return self._prove(thought, deadline) or self._search(thought, budget)
            first = FIRST_SECONDS if seconds is None else seconds * SEARCH_SHARE
            report = self._search(thought, Budget(time=_microseconds(first)))
            if report.proven:
                return report
            proved = self._prove(thought, deadline)
            if proved is None:
                return replace(report, nodes=thought.nodes)
            if proved.score < 0 and proved.note:  # it has not found the longest resistance
                proved = replace(proved, move=report.move, pv=report.pv)
            return replace(proved, nodes=thought.nodes)

    def _search(self, thought: Thought, budget: Budget) -> Report:
        """Return the result of the heuristic search."""
        from knightfall.heuristics.evaluator import evaluator
        from knightfall.search.run_search import SEARCHES, run_search

        heuristic = evaluator(self._settings.heuristic)
        search = SEARCHES["deepening"]
        return run_search(thought.position, search, heuristic, budget, on_start=thought.on_start)

    def _prove(self, thought: Thought, deadline: float | None) -> Report | None:
        """Return the solver's move; None if it does not know the winner in time.

        None also if there is no memory for its table, after a line that says so.
        """
        from knightfall.solver.engine import Limits
        from knightfall.solver.perfect import PerfectChoice, settle

        try:
            engine = self._kept().on(thought.position.board)
        except KnightfallError as error:
            self._write(f"info string {error}")
            return None
        engine.resume()
        thought.solve_with(engine)
        if thought.stopped.is_set():
            return None
        choice = PerfectChoice(thought.position, engine, Limits(deadline=deadline), 0)
        return settle(choice)[0]

    def _kept(self) -> KeptEngines:
        """Return the solvers, one for each board, which keep their proofs for the game."""
        from knightfall.solver.engine import KeptEngines

        if self._engines is None:
            self._engines = KeptEngines(self._settings.threads, self._settings.table_mb)
        return self._engines

    # -- in the thread of a report ---------------------------------------------------------

    def _report(self, thought: Thought, done: threading.Event) -> None:
        """Write a line for each new depth, and one a second about the solver, until `done`."""
        depth, last = 0, 0.0
        while not done.wait(LOOK):
            engine = thought.engine
            if engine is None:
                report = thought.so_far()
                if report is not None and report.depth > depth:
                    depth = report.depth
                    self._write(info(report, thought.position))
            elif thought.seconds - last >= SELDOM:
                last = thought.seconds
                full = int(1000 * engine.fill)
                self._write(f"info {effort_text(thought.nodes, last)} hashfull {full}")


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, int(seconds * 1e6))


# -- commands ------------------------------------------------------------------------------------


LONGEST_TIME = 10**9
"""Most milliseconds that are accepted: eleven days."""

_TIMES = ("movetime", "wtime", "btime", "winc", "binc")
_RANGES = {
    "depth": (1, DEEPEST),
    "nodes": (1, MOST_NODES),
    "movestogo": (1, 1000),
    **dict.fromkeys(_TIMES, (-LONGEST_TIME, LONGEST_TIME)),  # a clock may have run out
}
_ENDLESS = ("ponder", "searchmoves")
_UNSUPPORTED = (*_ENDLESS, "mate", "perft")
_GO_WORDS = (*_RANGES, "infinite", *_UNSUPPORTED)

INSTEAD_NODES = 2500
"""Nodes of a search after a ``go`` with words none of which is a limit that can be used."""


class UciServer:
    """Answers UCI commands, one line at a time."""

    def __init__(self, settings: EngineSettings, output: IO[str] | None = None) -> None:
        self._settings = settings
        self._output = output or sys.stdout
        self._writing = threading.Lock()
        self._variant = STANDARD
        self._position: Position | None = variants()[STANDARD]
        self._thinker = Thinker(settings, self.write)
        self._unlimited = False  # whether the search goes on until ``stop``
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "ucinewgame": self._ucinewgame,
            "setoption": self._setoption,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._thinker.stop(),
        }

    def write(self, line: str) -> None:
        """Write one line at once; nothing is written to a program that has closed the pipe."""
        with self._writing, suppress(OSError, ValueError):
            self._output.write(one_line(line) + "\n")
            self._output.flush()

    def run(self, lines: Iterable[str]) -> None:
        """Answer commands until ``quit`` or the end of the input.

        At the end of the input a search that has a limit still answers.
        """
        for line in lines:
            words = line.split()
            if words[:1] == ["quit"]:
                self._thinker.stop()
                return
            self.answer(words)
        if self._unlimited:
            self._thinker.stop()
        self._thinker.wait()

    def answer(self, words: Sequence[str]) -> None:
        """Carry out one command; words before the first known one are ignored, as UCI demands."""
        rest = list(words)
        while rest and rest[0] not in self._commands:
            rest.pop(0)
        if not rest:
            if words:
                known = ", ".join([*self._commands, "quit"])
                self._say(f"unknown command {words[0][:40]!r}; known are {known}")
            return
        try:
            self._commands[rest[0]](rest[1:])
        except KnightfallError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.write(f"info string {text}")

    # -- commands --------------------------------------------------------------------------

    def _uci(self, _: list[str]) -> None:
        from knightfall import __version__
        from knightfall.solver.engine import LARGEST_MB, MOST_THREADS, SMALLEST_MB

        settings = self._settings
        names = " ".join(f"var {name}" for name in variants())
        for line in (
            f"id name knightfall {__version__}",
            "id author The knightfall authors",
            f"option name UCI_Variant type combo default {STANDARD} {names}",
            f"option name Heuristic type string default {settings.heuristic}",
            f"option name Threads type spin default {settings.threads} min 1 max {MOST_THREADS}",
            f"option name Hash type spin default {settings.table_mb} min {SMALLEST_MB} "
            f"max {LARGEST_MB}",
            "uciok",
        ):
            self.write(line)

    def _isready(self, _: list[str]) -> None:
        if not self._thinker.busy:
            position = self._position or variants()[self._variant]
            self._thinker.warm_up(position.board)
        self.write("readyok")

    def _ucinewgame(self, _: list[str]) -> None:
        self._wait("ucinewgame")
        self._thinker.forget()

    def _setoption(self, words: list[str]) -> None:
        self._wait("setoption")
        match = re.fullmatch(r"name (.+?)(?: value(?: (.*))?)?", " ".join(words))
        if match is None:
            raise KnightfallError("setoption is written: setoption name NAME value VALUE")
        name, value = match[1], (match[2] or "").strip()
        options = {
            "UCI_Variant": self._set_variant,
            "Heuristic": self._set_heuristic,
            "Threads": self._set_threads,
            "Hash": self._set_table,
        }
        known = {option.lower(): option for option in options}
        if name.lower() not in known:
            raise KnightfallError(
                f"unknown option {name[:40]!r}{nearest(name, options)}; known are "
                f"{', '.join(options)}"
            )
        options[known[name.lower()]](value)

    def _set_variant(self, value: str) -> None:
        if value not in variants():
            raise KnightfallError(
                f"UCI_Variant {value[:40]!r} is not accepted: give joust, or joust7x7 and its like"
            )
        self._variant = value
        self._position = start = variants()[value]
        board = start.board
        self._say(
            f"variant {value} files {board.width} ranks {board.height} startpos {uci_fen(start)}"
        )

    def _set_heuristic(self, value: str) -> None:
        from knightfall.heuristics.evaluator import evaluator

        self._settings.heuristic = evaluator(value).id

    def _set_threads(self, value: str) -> None:
        from knightfall.solver.engine import MOST_THREADS

        self._settings.threads = _whole("Threads", value, 1, MOST_THREADS)
        self._thinker.forget()

    def _set_table(self, value: str) -> None:
        from knightfall.solver.engine import LARGEST_MB, SMALLEST_MB

        self._settings.table_mb = _whole("Hash", value, SMALLEST_MB, LARGEST_MB)
        self._thinker.forget()

    def _set_position(self, words: list[str]) -> None:
        self._position = None  # a search must not use an old position if this one is wrong
        end = words.index("moves") if "moves" in words else len(words)
        where, moves = words[:end], words[end + 1 :]
        if where == ["startpos"]:
            position = variants()[self._variant]
        elif where[:1] == ["fen"]:
            position = Position.from_fen(" ".join(where[1:]))
        else:
            raise KnightfallError("position is written: position startpos moves …, or fen FEN …")
        for number, move in enumerate(moves, start=1):
            try:
                position = position.play(destination(position, move))
            except KnightfallError as error:
                raise KnightfallError(f"move {number} of the position: {error}") from None
        self._position = position

    def _go(self, words: list[str]) -> None:
        self._wait("go")
        if self._position is None:
            self._say("there is no position: the last one was refused")
            self.write("bestmove 0000")
            return
        limits = read_limits(words, self._position, self._say)
        self._unlimited = limits.infinite
        self._thinker.start(self._position, limits)

    def _wait(self, command: str) -> None:
        """Wait for the end of the search.  Raise a `KnightfallError` if only ``stop`` ends it."""
        if self._thinker.busy and self._unlimited:
            raise KnightfallError(f"{command} is ignored during an infinite search: send stop")
        self._thinker.wait()


def read_limits(words: list[str], position: Position, say: Callable[[str], None]) -> GoLimits:
    """Return the limits of the words after ``go``.

    `say` is called with a line about each word or value that cannot be used; the other words
    count, and of a word that comes twice the last value.  If no limit remains, the search gets
    `INSTEAD_NODES`, because the program that sent it waits for a move.  ``go`` alone, or with
    nothing but ``ponder`` or ``searchmoves``, is infinite.
    """
    given: dict[str, int] = {}
    rest, infinite, wrong = list(words), "infinite" in words, False
    while rest:
        word, value = rest.pop(0), ""
        if rest and rest[0] not in _GO_WORDS and word in (*_RANGES, "mate", "perft"):
            value = rest.pop(0)
        if word in _RANGES:
            least, most = _RANGES[word]
            try:
                given[word] = _whole(word, value, least, most)
            except KnightfallError as error:
                wrong = True
                if value.isascii() and value.isdecimal() and value.strip("0"):
                    given[word] = most
                    say(f"{error}; {most} is used")
                else:
                    say(f"{error}; {word} is ignored")
        elif word in _UNSUPPORTED:
            say(f"{word} is not supported and ignored")
            wrong = wrong or word not in _ENDLESS
            while word == "searchmoves" and rest and rest[0] not in _GO_WORDS:
                rest.pop(0)
        elif word != "infinite":
            wrong = True
            known = ", ".join((*_RANGES, "infinite"))
            say(f"unknown word {word[:40]!r} after go is ignored; known are {known}")
    seconds = {key: max(0, given[key]) / 1000 for key in _TIMES if key in given}
    mine = position.to_move
    found = GoLimits(
        depth=given.get("depth"),
        nodes=given.get("nodes"),
        move_time=seconds.get("movetime"),
        clock=seconds.get(f"{mine}time"),
        increment=seconds.get(f"{mine}inc", 0.0),
        moves_to_go=given.get("movestogo"),
        infinite=infinite,
    )
    if infinite or found.deterministic or found.move_time is not None or found.clock is not None:
        return found
    if not words or (not wrong and not set(words).isdisjoint(_ENDLESS)):
        return replace(found, infinite=True)
    say(f"go has no limit that can be used: it searches {INSTEAD_NODES} nodes")
    return replace(found, nodes=INSTEAD_NODES)


def _whole(name: str, text: str, least: int, most: int) -> int:
    """Return a whole number.  Raise a `KnightfallError` if it is not from `least` to `most`."""
    if re.fullmatch(r"-?[0-9]{1,18}", text, re.ASCII) and least <= int(text) <= most:
        return int(text)
    raise KnightfallError(f"{name} {text[:40]!r} must be a whole number from {least} to {most}")
