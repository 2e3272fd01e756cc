"""Heuristics that do harm, deliberately or not, and the expected result of each.

Each is the text of a file with a function `score`.  Whatever it does, it loses only its own games:
all others are as if it had not been there.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Literal

from knightfall.kernel.rules import FIELDS

NODES = 60
"""The node budget of each agent, by which its heuristic recognises a game."""

IN_A_GAME = f"board.limit == {NODES}"

Outcome = Literal["refused", "lost", "stopped", "plays", "at large"]
"""What must happen. refused: with a clear error, before anything is stored; lost: every game, by a
crash or timeout that names the heuristic; stopped: either of the two; plays: like any other; at
large: code in the main process that attacks it while it is loaded, which docs/security.md says is
not prevented.
"""


@dataclass(frozen=True)
class Hostile:
    """A heuristic and its expected result; a `tame` one may be tried in the main process."""

    name: str
    source: str
    outcome: Outcome
    says: str = ""
    tame: bool = False


_PRELUDE = """
import ctypes, os, signal, sys, threading, time
import numpy as np
from numba import njit
from knightfall.heuristics import mobility

PLAIN = {}

c_memset = ctypes.CDLL(None).memset
c_memset.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t]
c_memset.restype = ctypes.c_size_t
"""


def _offset(field: str) -> int:
    assert FIELDS.fields is not None
    return int(FIELDS.fields[field][1])


_TO_LIMIT = _offset("limit") - _offset("knight")


def _function(body: str, plain: bool = False) -> str:
    """Return a heuristic that runs a statement before it returns; Numba cannot compile a `plain`
    one.
    """
    first = "    PLAIN[0] = me\n" if plain else ""
    rest = indent(dedent(body).strip("\n"), "    ")
    return (
        f"{_PRELUDE}\n\ndef score(board, open, me, opp, to_move):\n{first}{rest}\n"
        "    return mobility(board, open, me) - mobility(board, open, opp)\n"
    )


def _in_a_game(body: str) -> str:
    return f"if {IN_A_GAME}:\n{indent(dedent(body).strip(chr(10)), '    ')}"


def _at_import(body: str) -> str:
    return f"{_PRELUDE}\n{dedent(body)}\n\n{_function('pass')}"


READ_ONLY = "may read its board, but not write to it"


def _writer(name: str, body: str) -> Hostile:
    return Hostile(name, _function(body), "refused", READ_ONLY, tame=True)


HOSTILE: tuple[Hostile, ...] = (
    # -- writes to the board in compiled code
    _writer("masks its moves", "board.knight[me] &= open"),
    _writer("raises its limit", "board.limit = 200000"),
    _writer("raises it by name", "board['limit'] = 200000"),
    _writer("writes to an alias", "near = board.knight\nnear[me] = near[opp]"),
    _writer("writes to a row", "board.distance[me][opp] = 1"),
    _writer("writes to all rows", "for row in board.distance:\n    row[0] = 1"),
    _writer("writes to a slice", "board.touching[2:5] = 0"),
    _writer("writes to another shape", "board.ring.reshape(768)[me] = 0"),
    _writer("swaps two cells", "board.row[me], board.row[opp] = board.row[opp], board.row[me]"),
    _writer("writes where it never comes", "if board.width == 99:\n    board.cells = 3"),
    Hostile(
        "has a helper write",
        _function("spoil(board.knight, me)").replace(
            "\n\ndef score", "\n@njit\ndef spoil(cells, cell):\n    cells[cell] = 0\n\n\ndef score"
        ),
        "refused",
        READ_ONLY,
        tame=True,
    ),
    # -- writes to the board in plain Python
    Hostile(
        "plain: raises its limit",
        _function("board.limit = 10**6", plain=True),
        "refused",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "plain: masks its moves, in games",
        _function(_in_a_game("board.knight[me] &= open"), plain=True),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "plain: setattr, in games",
        _function(_in_a_game("setattr(board, 'limit', 10**6)"), plain=True),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "plain: has compiled code write",
        _function("spoil(board, me)", plain=True).replace(
            "\n\ndef score",
            "\n@njit\ndef spoil(board, cell):\n    board.knight[cell] = 0\n\n\ndef score",
        ),
        "refused",
        READ_ONLY,
        tame=True,
    ),
    # -- writes by address, which cannot be prevented
    Hostile(
        "wipes the rules",
        _function("c_memset(board.knight.ctypes.data, 0, 8 * 65)"),
        "refused",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "wipes the rules, in games",
        _function(_in_a_game("c_memset(board.knight.ctypes.data, 0, 8 * 65)")),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "raises its limit, in games",
        _function(_in_a_game(f"c_memset(board.knight.ctypes.data + {_TO_LIMIT} + 2, 1, 1)")),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "writes by NumPy",
        _function("np.fill_diagonal(board.distance, 3)"),
        "refused",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "writes by an iterator, in games",
        _function(_in_a_game("for cell in np.nditer(board.touching):\n    cell[()] = 0")),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    Hostile(
        "plain: wipes the rules, in games",
        _function(
            _in_a_game("ctypes.memset(board.knight._array.ctypes.data, 0, 8 * 65)"), plain=True
        ),
        "lost",
        READ_ONLY,
        tame=True,
    ),
    # -- too slow or endless
    Hostile(
        "never returns, in games",
        _function(_in_a_game("n = 1\nwhile n > 0 and board.cells > 0:\n    n = n ^ 2")),
        "lost",
    ),
    Hostile(
        "plain: never returns, in games",
        _function(_in_a_game("while True:\n    time.sleep(0.01)"), plain=True),
        "lost",
    ),
    Hostile("never is loaded", _at_import("while True:\n    time.sleep(0.01)"), "refused"),
    # -- crashes
    Hostile(
        "plain: recurses",
        _function("def down(n): return down(n + 1) + 1\ndown(0)", plain=True),
        "refused",
        "RecursionError",
        tame=True,
    ),
    Hostile(
        "recurses, in games",
        _function(_in_a_game("me += down(me)")).replace(
            "\n\ndef score",
            "\n@njit('int64(int64)')\ndef down(n):\n    if n == -5:\n        return 0\n"
            "    return down(n + 1) + down(n + 2)\n\n\ndef score",
        ),
        "lost",
    ),
    Hostile(
        "plain: wants all memory",
        _function("PLAIN[1] = bytes(10**15)", plain=True),
        "refused",
        "MemoryError",
        tame=True,
    ),
    Hostile(
        "divides by zero, in games",
        _function(_in_a_game("me = me // (me - me)")),
        "lost",
        "failed",  # repeated evaluation after the search: not in a game
        tame=True,
    ),
    Hostile("reads nowhere, in games", _function(_in_a_game("ctypes.string_at(1)"), True), "lost"),
    Hostile("reads nowhere when loaded", _at_import("ctypes.string_at(1)"), "refused"),
    # -- ends the process
    Hostile("exits when loaded", _at_import("sys.exit(0)"), "refused", "SystemExit", tame=True),
    Hostile("ends its process when loaded", _at_import("os._exit(0)"), "refused"),
    Hostile("interrupts when loaded", _at_import("raise KeyboardInterrupt"), "refused"),
    Hostile(
        "exits, in games",
        _function(_in_a_game("sys.exit(0)"), plain=True),
        "lost",
        "SystemExit",
        tame=True,
    ),
    Hostile("ends its process, in games", _function(_in_a_game("os._exit(0)"), True), "lost"),
    Hostile("interrupts, in games", _function(_in_a_game("raise KeyboardInterrupt"), True), "lost"),
    Hostile(
        "kills itself, in games",
        _function(_in_a_game("os.kill(os.getpid(), signal.SIGKILL)"), True),
        "lost",
    ),
    Hostile(
        "closes all files, in games",
        _function(_in_a_game("os.closerange(3, 256)\ntime.sleep(0.01)"), True),
        "stopped",
    ),
    # -- odd return values
    Hostile("is nan", _function("if me != opp: return np.nan"), "plays", tame=True),
    Hostile("is infinite", _function("if me != opp: return np.inf"), "plays", tame=True),
    Hostile(
        "plain: is too large",
        _function("if me != opp: return 10**400", plain=True),
        "refused",
        "OverflowError",
        tame=True,
    ),
    Hostile(
        "plain: is a word, in games",
        _function("if " + IN_A_GAME + ": return 'five'", plain=True),
        "lost",
        "ValueError",
        tame=True,
    ),
    Hostile("is nothing", _function("if me != opp: return None", True), "refused", "None", True),
    # -- harm outside of the search
    Hostile(
        "prints megabytes, in games",
        _function(_in_a_game("sys.stdout.write('x' * 100_000)"), plain=True),
        "plays",
    ),
    Hostile(
        "edits its own file when loaded",
        _at_import("with open(__file__, 'a') as file:\n    file.write('# more\\n')"),
        "plays",
    ),
    Hostile(
        "starts threads",
        _at_import(
            "for _ in range(20):\n"
            "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        ),
        "plays",
    ),
    Hostile("goes elsewhere", _at_import("os.chdir('/')\nos.environ.clear()"), "plays"),
    Hostile(
        "ignores signals",
        _at_import(
            "try:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\nexcept ValueError: pass"
        ),
        "plays",
    ),
    Hostile(
        "rewrites our rules when loaded",
        _at_import(
            "import knightfall.kernel.rules as rules\n"
            "from knightfall.board import Board\n"
            "master = rules._master(Board.of(7, 7))\n"
            "ctypes.memset(master.ctypes.data + 48, 0, 8 * 30)"
        ),
        "at large",
    ),
    Hostile(
        "rewrites our code when loaded",
        _at_import(
            "import knightfall.search.run_search as settings\n"
            "before = settings.settings_for\n"
            "def more(*asked):\n"
            "    found = before(*asked)\n"
            "    found['limit'] = 10\n"
            "    return found\n"
            "settings.settings_for = more\n"
            "import knightfall.arena.play as compiled\n"
            "compiled.settings_for = more"
        ),
        "at large",
    ),
)
