"""Source texts of good and bad submissions in the style of each generation."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

SEARCH = '''
"""A deepening alpha-beta as students wrote it."""

from sample_players import improved_score


class SearchTimeout(Exception):
    pass


def custom_score(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    return float(own - 2 * len(game.get_legal_moves(game.get_opponent(player))))


def custom_score_2(game, player):
    return improved_score(game, player)


class IsolationPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.search_depth = search_depth
        self.score = score_fn
        self.time_left = None
        self.TIMER_THRESHOLD = timeout


class MinimaxPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        return max(game.get_legal_moves(), key=lambda m: self.score(game.forecast_move(m), self))


class AlphaBetaPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        best = (-1, -1)
        try:
            for depth in range(1, 50):
                best = self.alphabeta(game, depth)
        except SearchTimeout:
            pass
        return best

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        return self.value(game, depth, alpha, beta, True)[1]

    def value(self, game, depth, alpha, beta, mine):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        best, choice = float("-inf") if mine else float("inf"), (-1, -1)
        for move in moves:
            value, _ = self.value(game.forecast_move(move), depth - 1, alpha, beta, not mine)
            if value > best if mine else value < best:
                best, choice = value, move
            if mine:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best, choice
'''


OLDEST_BOARD = """
class Board(object):
    def __init__(self, player_1, player_2, width=7, height=7):
        self.__board_state__ = [[0] * width for _ in range(height)]
        self.__last_player_move__ = {player_1: None, player_2: None}

    def __get_moves__(self, move):
        return []

    def play(self, time_limit=200):
        return self.active_player.get_move(self.copy(), self.get_legal_moves(), time_limit)
"""
"""Source of the oldest board, reduced to what identifies it."""

FLAT_BOARD = """
class Board(object):
    NOT_MOVED = None

    def __init__(self, player_1, player_2, width=7, height=7):
        self._board_state = [0] * (width * height + 3)
        self._board_state[-1] = Board.NOT_MOVED
        self._board_state[-2] = Board.NOT_MOVED

    def __get_moves(self, loc):
        return []

    def play(self, time_limit=150):
        return self._active_player.get_move(self.copy(), time_limit)
"""
"""Source of the board of 2017b, reduced to what identifies it."""


def in_2017b(body: str, head: str = "", made: str = "pass") -> str:
    """Return an `AlphaBetaPlayer` whose `get_move` has the given body."""
    return (
        f"import os, random, sys, time\n{dedent(head)}\n\n"
        "def custom_score(game, player):\n    return 0.0\n\n\n"
        "class AlphaBetaPlayer:\n    def __init__(self, score_fn=custom_score):\n"
        f"        {made}\n\n    def get_move(self, game, time_left):\n"
        f"{indent(dedent(body).strip(), ' ' * 8)}\n"
    )


def in_2017a(body: str, head: str = "") -> str:
    """Return a `CustomPlayer` whose `get_move` gets the legal moves and has the given body."""
    return (
        f"import random\n{dedent(head)}\n\n"
        "def custom_score(game, player):\n    return 0.0\n\n\n"
        "class CustomPlayer:\n    def __init__(self, search_depth=3, score_fn=custom_score, "
        "iterative=True, method='minimax', timeout=10.):\n"
        "        self.score, self.method = score_fn, method\n\n"
        "    def get_move(self, game, legal_moves, time_left):\n"
        f"{indent(dedent(body).strip(), ' ' * 8)}\n"
    )


FIRST = "return game.get_legal_moves()[0]"

GOOD = {
    "keeps its state": in_2017b(
        """
        self.seen = getattr(self, "seen", 0) + 1
        assert self.seen == 1 + len([c for c in range(49) if game._board_state[c]]) // 2 - 1
        return game.get_legal_moves()[0]
        """
    ),
    "uses private names": in_2017b(
        """
        height, state = game.height, game._board_state
        assert len(state) == game.width * height + 3
        row, column = game.get_player_location(self)
        me = state[-1] if self is game._player_1 else state[-2]
        assert me == row + column * height
        assert state[-3] == (0 if game._active_player is game._player_1 else 1)
        assert game._inactive_player is game.get_opponent(self)
        assert game.move_count == sum(1 for cell in state[:-3] if cell)
        state[0] = 1  # it writes to the board that it was given
        return game._Board__get_moves((row, column))[0]
        """
    ),
    "answers floats": in_2017b("r, c = game.get_legal_moves()[0]\nreturn float(r), float(c)"),
    "prints megabytes": in_2017b(
        "print('x' * 4_000_000)\nsys.stderr.write('y' * 4_000_000)\n" + FIRST
    ),
    "makes files": in_2017b(
        "open('moves.txt', 'a').write('moved')\n" + FIRST, "open('log.txt', 'w').write('here')"
    ),
    "knows no secrets": in_2017b(
        """
        assert "SECRET" not in os.environ
        assert sys.stdin.read() == ""
        """
        + FIRST,
    ),
    "uses names of 2017": in_2017b(
        """
        assert time.clock() > 0
        assert isinstance([], collections.Iterable)
        assert np.array([1]).astype(np.float).sum() == 1.0
        return game.get_legal_moves()[0]
        """,
        "import collections\nimport numpy as np",
    ),
    "keeps its first clock": in_2017b(
        """
        self.first = getattr(self, "first", time_left)
        assert self.first() > 19
        assert [self.first() for _ in range(100)][-1] < 15
        """
        + FIRST,
    ),
    "is of 2017a": in_2017a(
        """
        assert self.method == "alphabeta"
        assert sorted(game.get_legal_moves()) == sorted(legal_moves)
        return random.choice(legal_moves)
        """
    ),
    "is of the early board": in_2017a(
        """
        assert len(game._board_state) == game.width * game.height + 3
        return game.__get_moves__(game.get_player_location(self))[0]
        """
    ),
    "is of the oldest board": in_2017a(
        """
        me, other = game.__active_player__, game.__inactive_player__
        assert me is self
        row, column = game.__last_player_move__[self]
        assert game.__board_state__[row][column] == game.__player_symbols__[self]
        row, column = game.__last_player_move__[other]
        assert game.__board_state__[row][column] == game.__player_symbols__[other]
        held = [cell for line in game.__board_state__ for cell in line]
        assert abs(held.count(1) - held.count(2)) <= 1
        return legal_moves[0]
        """
    ),
}
"""Submissions that play games to the ordinary end."""

BAD = {
    "resigns": ("forfeit", "resigned: it answered (-1, -1)", in_2017b("return (-1, -1)")),
    "answers nothing": ("forfeit", "resigned: it answered None", in_2017b("pass")),
    "answers a list": ("forfeit", "answered [", in_2017b("return list(game.get_legal_moves()[0])")),
    "answers a number": ("forfeit", "answered 7, which is none", in_2017b("return 7")),
    "answers too much": (
        "forfeit",
        "answered (0.5, (",
        in_2017b("return 0.5, game.get_legal_moves()[0]"),
    ),
    "moves the opponent": (
        "forfeit",
        "none of its legal moves",
        in_2017b("return game.get_player_location(game.inactive_player)"),
    ),
    "adds to its legal moves": (
        "forfeit",
        "(9, 9), which is none",
        in_2017a("legal_moves.append((9, 9))\nreturn (9, 9)"),
    ),
    "hangs": ("timeout", "did not answer within", in_2017b("while True: pass")),
    "is late": ("timeout", "after", in_2017b("time.sleep(0.12)\n" + FIRST)),
    "raises": (
        "crash",
        "game_agent.py, line 13, in get_move: ZeroDivisionError",
        in_2017b("return 1 / 0"),
    ),
    "raises in a helper": (
        "crash",
        "helper.py, line 2, in far: KeyError: 'x'",
        in_2017b("return far()", "from helper import far"),
    ),
    "exits": ("crash", "SystemExit", in_2017b("sys.exit()")),
    "exits at once": ("crash", "exit status 3", in_2017b("os._exit(3)")),
    "fills the memory": ("crash", "MemoryError", in_2017b("return bytearray(3 << 30)")),
    "forks": (
        "timeout",
        "",
        in_2017b("for _ in range(5): os.fork()\nwhile True: time.sleep(1)"),
    ),
    "has a syntax error": ("crash", "line 2: SyntaxError", "import os\nclass AlphaBetaPlayer\n"),
    "misses a module": (
        "crash",
        "line 2: ModuleNotFoundError: No module named 'tensorglow'",
        in_2017b(FIRST, "import tensorglow"),
    ),
    "misses a file": (
        "crash",
        "FileNotFoundError",
        in_2017b(FIRST, made="self.book = open('book.txt').read()"),
    ),
    "cannot be made": ("crash", "in __init__: TypeError", in_2017b(FIRST, made="len(1)")),
}
"""Submissions that lose: the reason, the expected detail, and the file."""


def write(folder: Path, text: str, name: str = "game_agent.py") -> Path:
    """Write a submission into a folder and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "helper.py").write_text("def far():\n    return {}['x']\n")
    (folder / name).write_text(text)
    return folder
