"""Source texts of submissions with habits that were found in real ones.

Each asserts what it relies on, so that it crashes if the host does not give it that.  Whatever is
said here about one is what only it does; `submissions` has the plainer ones.
"""

from __future__ import annotations

from submissions import FIRST, in_2017a, in_2017b

Files = dict[str, str]


def alone(text: str, name: str = "game_agent.py") -> Files:
    """Return a submission of one file."""
    return {name: text}


# -- 2017b -----------------------------------------------------------------------------------

REMEMBERS = '''
"""A table by `hash()`, notes hung on boards, boards as keys, and a shallow search."""


class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=None, timeout=10.):
        self.table, self.children = {}, {}

    def get_move(self, game, time_left):
        assert game.BLANK == 0 and game.NOT_MOVED is None
        assert game.hash() == game.copy().hash() != game.forecast_move(self.any(game)).hash()
        try:
            game.get_opponent("a stranger")
        except RuntimeError:
            pass
        else:
            raise AssertionError("who is that?")
        assert game.to_string() == game.print_board() and "1" in game.to_string(["1", "2"])
        assert game.move_is_legal((99, 0)) is False
        self.children = {game.forecast_move(m): m for m in game.get_legal_moves()}
        best = max(self.children, key=self.value)
        assert len(self.children) == len(game.get_legal_moves())
        return self.children[best]

    def any(self, game):
        return game.get_legal_moves()[0]

    def value(self, game):
        game.seen = getattr(game, "seen", 0) + 1
        assert not hasattr(game.copy(), "seen")
        key = game.hash()
        if key not in self.table:
            self.table[key] = game.utility(self) or len(game.get_legal_moves(self))
        return self.table[key]
'''

WRITES = '''
"""Looks at what it could do if it were its turn again, by writing what nobody should."""


def custom_score(game, player):
    return 0.0


class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.score = score_fn

    def get_move(self, game, time_left):
        assert {game._player_1, game._player_2} == {self, game.get_opponent(self)}
        best, chosen = -1, (-1, -1)
        for move in game.get_legal_moves():
            later = game.forecast_move(move)
            assert later._inactive_player is self
            later._active_player, later._inactive_player = self, later._active_player
            assert later.active_player is self and later.get_opponent(self) is not self
            twice = [later.forecast_move(m) for m in later.get_legal_moves()]
            free = sum(len(board.get_legal_moves(self)) for board in twice)
            if free > best:
                best, chosen = free, move
        self.ruin(game, chosen)
        return chosen

    def ruin(self, game, chosen):
        """Its own copy, as it believes."""
        last = game._board_state[-3:]
        game._board_state = [1] * (game.width * game.height) + last
        assert game.get_legal_moves() == game.get_blank_spaces() == []
        assert game.is_loser(self) and game.utility(self) == float("-inf")
        index = chosen[0] + chosen[1] * game.height
        game._board_state[index] = 0
        assert game.get_blank_spaces() == game._Board__get_moves(self.here(game)) == [chosen]
        game._player_1 = game._player_2 = game._active_player = None

    def here(self, game):
        at = game._board_state[-1 if self is game._player_1 else -2]
        return at % game.height, at // game.height
'''

ARRAYS = '''
"""Boards as arrays of numpy, distances by scipy, and scores that are numpy's numbers."""
import numpy as np
from scipy.spatial.distance import cityblock


def custom_score(game, player):
    cells = np.array(game._board_state[:-3]).reshape(game.width, game.height).T
    row, column = game.get_player_location(player)
    around = cells[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
    assert cells[row, column] == 1
    other = game.get_player_location(game.get_opponent(player))
    return np.float64(np.count_nonzero(around == 0)) - cityblock((row, column), other) / 100


class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.score = score_fn

    def get_move(self, game, time_left):
        assert type(game._board_state) is list
        moves = game.get_legal_moves()
        values = np.array([self.score(game.forecast_move(m), self) for m in moves], np.float)
        assert isinstance(self.score(game, self), np.float64)
        return moves[int(values.argmax())]
'''

LOGS = '''
"""Keeps a log in its working folder, from its import on, and prints while it plays."""
import logging

logging.basicConfig(filename="agent.log", level=logging.DEBUG)
logger = logging.getLogger(__name__)
logger.info("imported")
with open("games.csv", "w") as file:
    file.write("move,row,column\\n")


class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        row, column = game.get_legal_moves()[0]
        with open("games.csv", "a") as file:
            file.write("%d,%d,%d\\n" % (game.move_count, row, column))
        logger.debug("%s left", time_left())
        print(game.to_string(), "I go to", row, column)
        lines = open("games.csv").read().splitlines()
        asked = len(lines) - 1
        assert lines[0] == "move,row,column" and asked == 1 + (game.move_count - 2) // 2
        assert open("agent.log").read().count("left") == asked
        return row, column
'''

OWN_CLOCK = '''
"""Goes by a clock of its own, and never asks how much time is left."""
import time
from datetime import datetime

BUDGET = 0.01


class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        began, start = datetime.now(), time.time()
        moves, looked = game.get_legal_moves(), 0
        while time.time() - start < BUDGET and looked < 1000:
            game.forecast_move(moves[looked % len(moves)])
            looked += 1
        assert looked and (datetime.now() - began).total_seconds() >= 0
        return moves[0]
'''

GLOBALS = '''
"""A score of whole numbers, which reads its player's attributes and what get_move noted."""

root_moves = None


def custom_score(game, player):
    assert root_moves is not None, "asked outside of get_move"
    own = len(game.get_legal_moves(player))
    if player.style == "careful" and player.asked < 1000:
        player.asked += 1
        return own - root_moves
    return own


class AlphaBetaPlayer:
    """Its constructor is not the course's."""

    def __init__(self, style="careful", depth=2, **options):
        self.style, self.depth, self.asked = style, depth, 0
        self.score = options.pop("score_fn", None) or custom_score
        assert not options, options

    def get_move(self, game, time_left):
        global root_moves
        root_moves = len(game.get_legal_moves())
        best = max(game.get_legal_moves(), key=lambda m: self.score(game.forecast_move(m), self))
        assert type(self.score(game, self)) is int
        root_moves = None
        return best
'''

OTHER_CONSTRUCTOR = '''
"""A constructor that takes nothing, and a score that only the class knows."""


class AlphaBetaPlayer:
    def __init__(self):
        self.evaluate = lambda game: -len(game.get_legal_moves(game.get_opponent(self)))

    def get_move(self, game, time_left=None):
        return max(game.get_legal_moves(), key=lambda m: self.evaluate(game.forecast_move(m)))
'''

IN_PARTS = {
    "game_agent.py": '''
"""Spread over modules, one of which imports this one again, and a board of its own."""
from isolation.isolation import Board
from sample_players import RandomPlayer

from tools import openings
from tools.scores import weighted

custom_score = weighted
OWN = 2


class NotingBoard(Board):
    copies = 0

    def copy(self):
        NotingBoard.copies += 1
        twin = NotingBoard(self._player_1, self._player_2, self.width, self.height)
        twin.move_count = self.move_count
        twin._active_player, twin._inactive_player = self._active_player, self._inactive_player
        twin._board_state = list(self._board_state)
        return twin


class AlphaBetaPlayer:
    def __init__(self, score_fn=custom_score):
        self.score = score_fn

    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        before = NotingBoard.copies
        board = NotingBoard(RandomPlayer(), RandomPlayer(), game.width, game.height)
        board._board_state = list(game._board_state)
        assert type(board.forecast_move(moves[0])) is NotingBoard
        winner, history, reason = board.play(1000)
        assert winner in (board._player_1, board._player_2)
        assert reason == "illegal move" and all(type(move) is list for move in history)
        assert NotingBoard.copies == before + len(history) + 2
        if game.move_count == 2 and openings.FIRST in moves:
            return openings.FIRST
        return max(moves, key=lambda m: self.score(game.forecast_move(m), self))
''',
    "tools/__init__.py": "",
    "tools/openings.py": "FIRST = (2, 3)\n",
    "tools/scores.py": """
def weighted(game, player):
    import game_agent

    other = game.get_opponent(player)
    return len(game.get_legal_moves(player)) - game_agent.OWN * len(game.get_legal_moves(other))
""",
}

COMPETES = {
    "competition_agent.py": '''
"""For the competition: it gets data and a time to spare, and has its score from its exercise."""
from game_agent import custom_score


class CustomPlayer:
    def __init__(self, data=None, timeout=1.):
        assert data is None and timeout == 1.
        self.score, self.TIMER_THRESHOLD = custom_score, timeout

    def get_move(self, game, time_left):
        best = None
        for move in game.get_legal_moves():
            if time_left() < self.TIMER_THRESHOLD:
                break
            value = self.score(game.forecast_move(move), self)
            if best is None or value > best[0]:
                best = value, move
        return best[1]
''',
    "game_agent.py": in_2017b("raise AssertionError('not the one that was named')").replace(
        "return 0.0", "return float(len(game.get_legal_moves(player)))"
    ),
}

NEEDS_PLACED = '''
"""Unpacks where its opponent stands, which nobody does before the opponent is placed."""


def custom_score(game, player):
    row, column = game.get_player_location(player)
    y, x = game.get_player_location(game.get_opponent(player))
    return float(abs(row - y) + abs(column - x))


class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.score = score_fn

    def get_move(self, game, time_left):
        return max(game.get_legal_moves(), key=lambda m: self.score(game.forecast_move(m), self))
'''

# -- before ----------------------------------------------------------------------------------

IN_PAIRS = '''
"""A search of 2017a: pairs of value and move, an exception named Timeout, moves in its order."""


class Timeout(Exception):
    pass


def custom_score(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    return float(len(own) - len(other))


class CustomPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score,
                 iterative=True, method='minimax', timeout=10.):
        self.search_depth, self.iterative = search_depth, iterative
        self.score, self.method, self.TIMER_THRESHOLD = score_fn, method, timeout

    def get_move(self, game, legal_moves, time_left):
        self.time_left = time_left
        assert (self.method, self.iterative) == ("alphabeta", True)
        legal_moves.sort()  # the very list that its answer is checked against
        answer, search = legal_moves[0], getattr(self, self.method)
        assert answer == tuple(answer) and answer in game._Board__get_moves(
            game.get_player_location(self)
        )
        try:
            for depth in range(1, 4):
                answer = search(game, depth)[1]
        except Timeout:
            pass
        return answer if answer != (-1, -1) else legal_moves[0]

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf"),
                  maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return game.utility(self) or self.score(game, self), (-1, -1)
        best = (float("-inf") if maximizing_player else float("inf")), (-1, -1)
        for move in moves:
            later = game.forecast_move(move)
            value, _ = self.alphabeta(later, depth - 1, alpha, beta, not maximizing_player)
            if (value > best[0]) if maximizing_player else (value < best[0]):
                best = value, move
            if maximizing_player:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta:
                break
        return best
'''

EARLY = in_2017a(
    """
    state, height = game._board_state, game.height
    at = game.get_player_location(self)
    assert sorted(game.__get_moves__(at)) == sorted(legal_moves)
    assert state[at[0] + at[1] * height] == 1
    assert type(state) is list and len(state) == game.width * height + 3
    return legal_moves[-1]
    """
)

OLDEST = in_2017a(
    """
    me, other = game.__active_player__, game.__inactive_player__
    assert me is self and {game.__player_1__, game.__player_2__} == {me, other}
    assert game.get_legal_moves() == legal_moves == game.get_legal_moves(self)
    at, symbols = game.__last_player_move__, game.__player_symbols__
    assert legal_moves == game.__get_moves__(at[self])
    assert {symbols[game.__player_1__], symbols[game.__player_2__]} == {1, 2}
    assert not hasattr(game, "hash")
    held = copy.deepcopy(game.__board_state__)
    best = max(legal_moves, key=lambda move: free(game.forecast_move(move), self))
    assert held == game.__board_state__
    game.__board_state__[best[0]][best[1]] = symbols[self]  # on the board that it was given
    game.__last_player_move__[self] = best
    game.__active_player__, game.__inactive_player__ = other, me
    assert best not in game.get_blank_spaces() and game.active_player is other
    return best
    """,
    """
    import copy

    def free(game, player):
        cells = [cell for row in game.__board_state__ for cell in row]
        return len(game.__get_moves__(game.__last_player_move__[player])) + cells.count(0)
    """,
)

PLAY_ON: dict[str, Files] = {
    "remembers positions": alone(REMEMBERS),
    "writes private names": alone(WRITES),
    "thinks in arrays": alone(ARRAYS),
    "keeps a log and prints": alone(LOGS),
    "has its own clock": alone(OWN_CLOCK),
    "scores by a global and its player": alone(GLOBALS),
    "is made with nothing": alone(OTHER_CONSTRUCTOR),
    "comes in parts": IN_PARTS,
    "competes": COMPETES,
    "needs both placed": alone(NEEDS_PLACED),
    "searches for pairs": alone(IN_PAIRS),
    "is of the early board": alone(EARLY),
    "is of the oldest board": alone(OLDEST),
}
"""Submissions that play games to the ordinary end; the first file holds the player."""

LOSE = {
    "answers a score": (
        "forfeit",
        "answered -inf, which is none",
        in_2017b("return float('-inf')"),
    ),
    "answers a move and more": (
        "forfeit",
        "answered ((",
        in_2017b("return game.get_legal_moves()[0], {'depth': 3}"),
    ),
    "answers a pair in 2017a": (
        "forfeit",
        "answered (1.5, (",
        in_2017a("return 1.5, legal_moves[0]"),
    ),
    "answers all its moves": ("forfeit", "answered [(", in_2017b("return game.get_legal_moves()")),
    "answers where it stands": (
        "forfeit",
        "none of its legal moves",
        in_2017b("return game.get_player_location(self)"),
    ),
    "asks and is late": (
        "timeout",
        "after its 100 ms",
        in_2017b("while time_left() > 0: pass\n" + FIRST),
    ),
    "needs more to be made": (
        "crash",
        "TypeError",
        "class AlphaBetaPlayer:\n    def __init__(self, depth, name):\n        pass\n\n"
        "    def get_move(self, game, time_left):\n        return game.get_legal_moves()[0]\n",
    ),
    "lets its timeout out": (
        "crash",
        "in get_move: SearchTimeout",
        in_2017b("raise SearchTimeout()", "class SearchTimeout(Exception):\n    pass"),
    ),
    "scores None": (
        "crash",
        "in get_move: TypeError: '>' not supported",
        in_2017b("return max(game.get_legal_moves(), key=lambda move: None)"),
    ),
    "calls for ever": (
        "crash",
        "in get_move: RecursionError",
        in_2017b("return self.get_move(game, time_left)"),
    ),
    "asks for a stranger": (
        "crash",
        "in get_move: RuntimeError",
        in_2017b("return game.get_legal_moves('somebody')[0]"),
    ),
}
"""Submissions that lose at once: the reason, the expected detail, and the file."""

# -- the successor ---------------------------------------------------------------------------

PLACES_AND_MOVES = '''
"""Uses all that the module `isolation` has, and the book that lies beside it."""
import random
import time
from isolation import DebugState, Isolation
from isolation.isolation import _HEIGHT, _WIDTH, Action, _has_liberties
from sample_players import DataPlayer


class Seen(Isolation):
    def free(self, player_id):
        return len(self.liberties(self.locs[player_id]))

    def result(self, action):
        return Seen(*super().result(action))


class CustomPlayer(DataPlayer):
    def get_action(self, state):
        assert self.data == {"first": 57}
        assert (_WIDTH, _HEIGHT) == (11, 9) and state.player() == self.player_id
        assert (self.context or 0) == state.ply_count // 2 - 1
        self.context = (self.context or 0) + 1
        self.queue.put(random.choice(state.actions()))
        picture = str(DebugState.from_state(state))
        assert picture.count("+ - ") == 10 * _WIDTH
        column, row = DebugState.ind2xy(state.locs[self.player_id])
        assert 0 <= column < _WIDTH and 0 <= row < _HEIGHT
        assert _has_liberties(state, self.player_id)
        now = Seen(*state)
        best = max(now.actions(), key=lambda action: now.result(action).free(self.player_id))
        assert isinstance(best, Action)
        self.queue.put(best)
        BODY
'''

PUT = """
from sample_players import BasePlayer


class CustomPlayer(BasePlayer):
    def get_action(self, state):
        BODY
"""

SUCCESSOR: dict[str, tuple[str, str, str]] = {
    "returns": ("", "", PLACES_AND_MOVES.replace("BODY", "return best")),
    "puts until it is stopped": (
        "",
        "",
        PLACES_AND_MOVES.replace("BODY", "while True: time.sleep(0.005); self.queue.put(best)"),
    ),
    "never puts": ("timeout", "put no action within", PUT.replace("BODY", "while True: pass")),
    "puts nothing": ("timeout", "put no action within", PUT.replace("BODY", "return None")),
    "puts too late": (
        "timeout",
        "put no action within",
        PUT.replace(
            "BODY", "import time; time.sleep(0.1); self.queue.put(state.actions()[0])"
        ),
    ),
    "puts None": (
        "forfeit",
        "put None, which is no legal action",
        PUT.replace("BODY", "self.queue.put(None)"),
    ),
    "puts a cell": ("forfeit", "no legal action", PUT.replace("BODY", "self.queue.put((2, 3))")),
    "takes no id": (
        "crash",
        "TypeError",
        PUT.replace("    def get_action", "    def __init__(self):\n        pass\n\n"
                    "    def get_action").replace("BODY", "pass"),
    ),
}  # fmt: skip
"""Submissions for 11×9: the reason if they lose at once, the expected detail, and the file."""
