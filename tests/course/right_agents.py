"""Source texts of correct submissions, in many styles of students.

Each plays the course's tournament without fault.  What is said about one is what only it does.
"""

from __future__ import annotations

from handed_in import RIGHT_2017A, RIGHT_2017B, changed

HEAD = """
import random

class SearchTimeout(Exception):
    pass

def mobility(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)))

def custom_score(game, player):
    return mobility(game, player) - len(game.get_legal_moves(game.get_opponent(player)))

def custom_score_2(game, player):
    return mobility(game, player)

def custom_score_3(game, player):
    return custom_score(game, player) * 0.5 + mobility(game, player)

class IsolationPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.search_depth = search_depth
        self.score = score_fn
        self.time_left = None
        self.TIMER_THRESHOLD = timeout

    def check_time(self):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()

class MinimaxPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        best_move = None
        try:
            best_move = self.minimax(game, self.search_depth)
        except SearchTimeout:
            pass
        return best_move

    def minimax(self, game, depth):
        self.check_time()
        legal = game.get_legal_moves()
        if not legal:
            return (-1, -1)
        return max(legal, key=lambda m: self.value(game.forecast_move(m), depth - 1))

    def value(self, game, depth):
        self.check_time()
        if depth == 0:
            return self.score(game, self)
        legal = game.get_legal_moves()
        if not legal:
            return game.utility(self)
        values = [self.value(game.forecast_move(m), depth - 1) for m in legal]
        return max(values) if self is game.active_player else min(values)
"""

NEGAMAX = (
    HEAD
    + '''
class AlphaBetaPlayer(IsolationPlayer):
    """Begins with None as its move, and asks for values from the side that is to move."""
    def get_move(self, game, time_left):
        self.time_left = time_left
        best = None
        depth = 1
        try:
            while True:
                best = self.alphabeta(game, depth)
                depth = depth + 1
        except SearchTimeout:
            return best

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        value, move = self.negamax(game, depth, alpha, beta, 1)
        return move

    def negamax(self, game, depth, alpha, beta, sign):
        self.check_time()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return sign * self.score(game, self), (-1, -1)
        chosen = moves[0]
        for move in moves:
            value = -self.negamax(game.forecast_move(move), depth - 1, -beta, -alpha, -sign)[0]
            if value > alpha:
                alpha, chosen = value, move
            if alpha >= beta:
                break
        return alpha, chosen
'''
)

FROM_SEARCH_DEPTH = changed(
    RIGHT_2017B,
    ("        depth = 1\n        try:", "        depth = self.search_depth\n        try:"),
)

UP_TO_A_LIMIT = changed(
    RIGHT_2017B,
    (
        "            while True:\n                best_move = self.alphabeta(game, depth)\n"
        "                depth += 1\n",
        "            for depth in range(1, len(game.get_blank_spaces()) + 1):\n"
        "                best_move = self.alphabeta(game, depth)\n",
    ),
)

TABLE = (
    HEAD
    + '''
known = {}

class AlphaBetaPlayer(IsolationPlayer):
    """A table of the module's: a process plays one game with one score."""
    def get_move(self, game, time_left):
        self.time_left = time_left
        legal = game.get_legal_moves()
        if not legal:
            return (-1, -1)
        answer = random.choice(legal)
        try:
            for depth in range(1, 1000):
                answer = self.alphabeta(game, depth)
        except SearchTimeout:
            pass
        return answer

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        self.check_time()
        best, answer = float("-inf"), (-1, -1)
        for move in game.get_legal_moves():
            value = self.ab(game.forecast_move(move), depth - 1, max(alpha, best), beta)
            if value > best or answer == (-1, -1):
                best, answer = value, move
        return answer

    def ab(self, game, depth, alpha, beta):
        self.check_time()
        key = (str(game.to_string()), depth, game.active_player is self)
        if key in known:
            return known[key]
        moves = game.get_legal_moves()
        if not depth or not moves:
            value = self.score(game, self)
            known[key] = value
            return value
        mine = game.active_player is self
        best = float("-inf") if mine else float("inf")
        for move in moves:
            value = self.ab(game.forecast_move(move), depth - 1, alpha, beta)
            if mine:
                best = max(best, value)
                alpha = max(alpha, best)
            else:
                best = min(best, value)
                beta = min(beta, best)
            if alpha >= beta:
                return best
        known[key] = best
        return best
'''
)

OWN_CLOCK = changed(
    RIGHT_2017B,
    (
        "if self.time_left() < self.TIMER_THRESHOLD:",
        "if time.time() > self.until:",
    ),
    ("        self.time_left = time_left\n", "        self.until = time.time() + 0.13\n"),
    ("        self.time_left = None\n", "        self.until = 0.0\n"),
    ("class SearchTimeout", "import time\n\n\nclass SearchTimeout"),
)

NEEDS_GET_MOVE = changed(
    RIGHT_2017B,
    (
        "        moves = game.get_legal_moves()\n        best_move = moves",
        "        self.counted = {}\n"
        "        moves = game.get_legal_moves()\n        best_move = moves",
    ),
    (
        "    def ab_min(self, game, depth, alpha, beta):\n",
        "    def ab_min(self, game, depth, alpha, beta):\n"
        "        self.counted[depth] = self.counted.get(depth, 0) + 1\n",
    ),
)

ROOT_BY_SEARCH_DEPTH = changed(
    RIGHT_2017B,
    (
        '        best, best_move = float("-inf"), (-1, -1)\n'
        "        for move in game.get_legal_moves():\n"
        "            value = self.min_value(",
        '        best, best_move = float("-inf"), (-1, -1)\n'
        "        if depth != self.search_depth:\n"
        "            return self.score(game, self)\n"
        "        for move in game.get_legal_moves():\n"
        "            value = self.min_value(",
    ),
)

REMEMBERS_THE_BEST = (
    HEAD
    + '''
class AlphaBetaPlayer(IsolationPlayer):
    """Looks first at what was best one ply less deep; a book for the first move; keeps notes."""
    notes = []

    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10., *extra, **options):
        super().__init__(search_depth, score_fn, timeout)
        self.best_first = []
        self.options = options

    def get_move(self, game, time_left):
        self.time_left = time_left
        self.notes.append(game.move_count)
        moves = game.get_legal_moves()
        if game.move_count < 2 and (3, 3) in moves:
            return (3, 3)
        if len(moves) == 1:
            return moves[0]
        best = moves[0] if moves else (-1, -1)
        self.best_first = []
        depth = 0
        while True:
            try:
                depth += 1
                best = self.alphabeta(game, depth)
                self.best_first = [best]
            except SearchTimeout:
                return best

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        self.check_time()
        moves = game.get_legal_moves()
        moves.sort(key=lambda m: m not in self.best_first)
        best, choice = float("-inf"), moves[0] if moves else (-1, -1)
        for move in moves:
            value = self.lowest(game.forecast_move(move), depth - 1, alpha, beta)
            if value > best:
                best, choice = value, move
            if best == float("inf"):
                return choice
            alpha = max(alpha, best)
        return choice

    def lowest(self, game, depth, alpha, beta):
        self.check_time()
        if depth <= 0 or game.utility(self) != 0:
            return self.score(game, self)
        for move in game.get_legal_moves():
            beta = min(beta, self.highest(game.forecast_move(move), depth - 1, alpha, beta))
            if beta <= alpha:
                return alpha
        return beta

    def highest(self, game, depth, alpha, beta):
        self.check_time()
        if depth <= 0 or game.utility(self) != 0:
            return self.score(game, self)
        for move in game.get_legal_moves():
            alpha = max(alpha, self.lowest(game.forecast_move(move), depth - 1, alpha, beta))
            if alpha >= beta:
                return beta
        return alpha
'''
)

QUIESCENCE = changed(
    RIGHT_2017B,
    (
        "        moves = game.get_legal_moves()\n"
        "        if depth <= 0 or not moves:\n"
        "            return self.score(game, self)\n"
        '        best = float("inf")\n',
        "        moves = game.get_legal_moves()\n"
        "        if (depth <= 0 and len(moves) > 3) or depth < -2 or not moves:\n"
        "            return self.score(game, self)\n"
        '        best = float("inf")\n',
    ),
    (
        "        moves = game.get_legal_moves()\n"
        "        if depth <= 0 or not moves:\n"
        "            return self.score(game, self)\n"
        '        best = float("-inf")\n',
        "        moves = game.get_legal_moves()\n"
        "        if (depth <= 0 and len(moves) > 3) or depth < -2 or not moves:\n"
        "            return self.score(game, self)\n"
        '        best = float("-inf")\n',
    ),
)

DIVIDES = changed(
    RIGHT_2017B,
    (
        "    return float(len(game.get_legal_moves(player)))",
        "    return 10.0 / len(game.get_legal_moves(game.active_player))",
    ),
)

GLOBAL_ROOT = changed(
    RIGHT_2017B,
    (
        "    return float(len(game.get_legal_moves(player)))",
        "    return float(len(game.get_legal_moves(player)) / root['moves'])",
    ),
    ("def custom_score_2", "root = {}\n\n\ndef custom_score_2"),
    (
        "        best_move = moves[0] if moves else (-1, -1)\n",
        "        best_move = moves[0] if moves else (-1, -1)\n"
        "        root['moves'] = 1 + len(moves)\n",
    ),
    ("        return best_move\n\n    def alphabeta", "        root.clear()\n"
     "        return best_move\n\n    def alphabeta"),
)  # fmt: skip

OTHER_NAMES = changed(
    RIGHT_2017B,
    ("self.time_left = time_left", "self.timer = time_left"),
    ("self.time_left()", "self.timer()"),
    ("        self.time_left = None\n", "        self.timer = None\n"),
    ("SearchTimeout", "Timeout"),
    ("search_depth=3, score_fn=custom_score, timeout=10.0", "score_fn=custom_score, timeout=10.0"),
    ("self.search_depth = search_depth", "self.search_depth = 3"),
)

CATCHES_ALL = '''
class Timeout(Exception): pass

def custom_score(game, player):
    return float(len(game.get_legal_moves(player)))

class CustomPlayer:
    """Catches whatever comes, keeps the best value of all depths, stops where all is decided."""
    def __init__(self, search_depth=3, score_fn=custom_score,
                 iterative=True, method='minimax', timeout=10.):
        self.search_depth, self.iterative, self.score = search_depth, iterative, score_fn
        self.method, self.time_left, self.TIMER_THRESHOLD = method, None, timeout

    def get_move(self, game, legal_moves, time_left):
        self.time_left = time_left
        if not legal_moves: return -1, -1
        self.best = legal_moves[0]
        return self.pick(game)

    def pick(self, game):
        depth = 0 if self.iterative else self.search_depth
        try:
            while True:
                value, move = getattr(self, self.method)(game, depth)
                if move != (-1, -1): self.best = move
                if not self.iterative: break
                depth += 1
        except:
            return self.best
        return self.best

    def minimax(self, game, depth, maximizing_player=True):
        return self.search(game, depth, None, None, maximizing_player)

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf"),
                  maximizing_player=True):
        return self.search(game, depth, alpha, beta, maximizing_player)

    def search(self, game, depth, alpha, beta, mine):
        if self.time_left() < self.TIMER_THRESHOLD + 2: raise Timeout()
        if game.is_winner(self) or game.is_loser(self): return game.utility(self), (-1, -1)
        if depth == 0: return self.score(game, self), game.get_player_location(self)
        best = None
        for move in game.get_legal_moves():
            v = self.search(game.forecast_move(move), depth - 1, alpha, beta, not mine)[0]
            if best is None or (v > best[0] if mine else v < best[0]): best = v, move
            if alpha is not None:
                if mine: alpha = max(alpha, v)
                else: beta = min(beta, v)
                if beta <= alpha: break
        return best
'''

COMPARES_BY_IDENTITY = changed(
    RIGHT_2017A,
    (
        'search = self.minimax if self.method == "minimax" else self.alphabeta',
        "if self.method is 'minimax':\n            search = self.minimax\n"
        "        elif self.method is 'alphabeta':\n            search = self.alphabeta",
    ),
    ("if depth == 0 or not moves", "if depth is 0 or not moves"),
)

UP_TO_SEARCH_DEPTH = changed(
    RIGHT_2017A,
    (
        "                best_move = search(game, depth)[1]\n",
        "                best_move = search(game, depth)[1]\n"
        "                if depth == self.search_depth:\n                    break\n",
    ),
)

OF_ITS_TIME = changed(
    RIGHT_2017B,
    (
        "class SearchTimeout",
        "import collections\nimport numpy as np\n\n"
        "assert np.float is float and issubclass(list, collections.Iterable)\n\n\n"
        "class SearchTimeout",
    ),
)

IN_PAIRS_2017A = '''
import random

class Timeout(Exception):
    pass

def custom_score(game, player):
    if game.is_loser(player): return float("-inf")
    if game.is_winner(player): return float("inf")
    own, other = (len(game.get_legal_moves(p)) for p in (player, game.get_opponent(player)))
    return float(own - 2 * other)

class CustomPlayer:
    """Takes the last of equals in minimax, the first in alphabeta, and any move to begin with."""
    def __init__(self, search_depth=3, score_fn=custom_score,
                 iterative=True, method='minimax', timeout=10.):
        self.search_depth = search_depth
        self.iterative = iterative
        self.score = score_fn
        self.method = method
        self.time_left = None
        self.TIMER_THRESHOLD = timeout

    def get_move(self, game, legal_moves, time_left):
        self.time_left = time_left
        if len(legal_moves) == 0:
            return (-1, -1)
        legal_moves.sort(key=lambda m: abs(m[0] - 3) + abs(m[1] - 3))
        move = random.choice(legal_moves)
        search = {"minimax": self.minimax, "alphabeta": self.alphabeta}[self.method]
        try:
            depths = range(1, 100) if self.iterative else [self.search_depth]
            for depth in depths:
                score, move = search(game, depth)
                if score == float("inf"):
                    break
        except Timeout:
            pass
        return move

    def minimax(self, game, depth, maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        moves = game.get_legal_moves(game.active_player)
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        best = None
        for move in moves:
            v, _ = self.minimax(game.forecast_move(move), depth - 1, not maximizing_player)
            if best is None or (v >= best[0] if maximizing_player else v <= best[0]):
                best = (v, move)
        return best

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf"),
                  maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        moves = game.get_legal_moves(game.active_player)
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        best = (float("-inf") if maximizing_player else float("inf"), moves[0])
        for move in moves:
            v, _ = self.alphabeta(game.forecast_move(move), depth - 1, alpha, beta,
                                  not maximizing_player)
            if maximizing_player:
                best = max(best, (v, move), key=lambda pair: pair[0])
                if best[0] >= beta: return best
                alpha = max(alpha, best[0])
            else:
                best = min(best, (v, move), key=lambda pair: pair[0])
                if best[0] <= alpha: return best
                beta = min(beta, best[0])
        return best
'''

OLDEST = changed(
    RIGHT_2017A,
    (
        "    return float(len(game.get_legal_moves(player)))",
        "    here = game.__last_player_move__[player]\n"
        "    assert game.__board_state__[here[0]][here[1]] == game.__player_symbols__[player]\n"
        "    return float(len(game.__get_moves__(here)))",
    ),
)

GRADES_WINS = changed(
    NEGAMAX,
    (
        "            return self.score(game, self)\n        legal = game.get_legal_moves()\n"
        "        if not legal:\n            return game.utility(self)\n        values =",
        "            return self.score(game, self)\n        legal = game.get_legal_moves()\n"
        "        soon = 1e18 / (self.search_depth - depth)\n"
        "        if not legal:\n            return soon if game.is_winner(self) else -soon\n"
        "        values =",
    ),
)
"""A search that values earlier wins more; it divides by 0 if it searches deeper than it should."""

BEGINS_EMPTY = changed(NEGAMAX, ("        best_move = None\n", "        best_move = ()\n"))

RIGHT_AGENTS: dict[str, tuple[str, dict[str, str]]] = {
    "negamax from None": (NEGAMAX, {}),
    "grades wins by its depth": (GRADES_WINS, {"minimax-timeout": "warning"}),
    "an empty tuple until it knows better": (BEGINS_EMPTY, {}),
    "begins at search_depth": (FROM_SEARCH_DEPTH, {"alphabeta-deepening": "warning"}),
    "deepens to the end of the game": (UP_TO_A_LIMIT, {}),
    "a table of the module's": (TABLE, {}),
    "a clock of its own": (
        OWN_CLOCK,
        {
            "minimax-values": "warning",
            "minimax-timeout": "warning",
            "alphabeta-values": "warning",
            "alphabeta-timeout": "warning",
        },
    ),
    "needs get_move first": (
        NEEDS_GET_MOVE,
        {"alphabeta-values": "warning"},
    ),
    "knows its root by search_depth": (ROOT_BY_SEARCH_DEPTH, {"minimax-values": "warning"}),
    "best first, a book, notes, more arguments": (REMEMBERS_THE_BEST, {}),
    "quiescence": (
        QUIESCENCE,
        {"alphabeta-values": "warning", "alphabeta-pruning": "warning"},
    ),
    "divides by what is nothing at the end": (DIVIDES, {"scores": "warning"}),
    "a score that needs get_move": (GLOBAL_ROOT, {"scores": "warning"}),
    "names of 2017": (OF_ITS_TIME, {}),
    "other names for the clock and the exception": (
        OTHER_NAMES,
        {"interface": "warning", "minimax-values": "warning", "alphabeta-values": "warning"},
    ),
    "2017a: catches all": (CATCHES_ALL, {}),
    "2017a: compares by identity": (COMPARES_BY_IDENTITY, {}),
    "2017a: deepens to search_depth": (UP_TO_SEARCH_DEPTH, {"alphabeta-deepening": "warning"}),
    "2017a: pairs, sorted moves, last of equals": (IN_PAIRS_2017A, {}),
    "oldest: private names": (OLDEST, {}),
}
"""Correct submissions, and the warnings expected of each check; none may fail."""
