"""Source texts of students' scores that can be compiled, and of some that cannot."""

from __future__ import annotations

COMPILED = '''
"""Scores that Numba can take."""
import math
import random  # which nobody here uses

import my_helpers
import sample_players
from isolation import Board
from sample_players import center_score, improved_score, null_score, open_move_score

WEIGHT = 2.5
CORNERS = [(0, 0), (0, 6), (6, 0), (6, 6)]
TABLE = [[1, 2.5, 3], [4, 5, 6], [7, 8, 9]]


class SearchTimeout(Exception):
    pass


def custom_score(game, player):
    """What the course calls improved, written out."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own_moves = len(game.get_legal_moves(player))
    opp_moves = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own_moves - opp_moves)
    raise NotImplementedError


def weighted(game, player):
    if game.utility(player) != 0.0:
        return game.utility(player)
    own = len(game.get_legal_moves(player=player))
    return own - WEIGHT * len(game.get_legal_moves(game.get_opponent(player=player)))


def of_the_course(game, player):
    return improved_score(game, player) + 2 * sample_players.center_score(game, player)


def mine(game, player, factor=1.0, more=2):
    return factor * more * len(game.get_legal_moves(player))


def with_helpers(game, player):
    theirs = mine(game, game.get_opponent(player), 1.5, more=3)
    return mine(game, player) - theirs + my_helpers.f(game)


def distances(game, player):
    y, x = game.get_player_location(player)
    v, u = game.get_player_location(game.get_opponent(player))
    middle = round(game.height / 2), int(game.width / 2)
    away = math.sqrt((y - middle[0]) ** 2 + (x - middle[1]) ** 2)
    return away - abs(y - v) - abs(x - u) + pow(x - 1.5, 2) + float((x + y) % 2 == (u + v) % 2)


def corners(game, player):
    last = game.width - 1, game.height - 1
    here = [(0, 0), (0, last[0]), (last[1], 0), (last[1], last[0])]
    found = 0
    for move in game.get_legal_moves(player):
        if move in here or move in CORNERS:
            found += 1
    return -found


def loops(game, player):
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += TABLE[row % 3][column % 3] / (1 + min(row, column))
    for number, cell in enumerate(game.get_blank_spaces()):
        total += number * cell[0] + 0.5 * cell[1] * (cell in game.get_blank_spaces())
    return total


def generators(game, player):
    moves = game.get_legal_moves(player)
    theirs = game.get_legal_moves(game.get_opponent(player))
    shared = {move for move in moves if move in theirs}
    total = sum(row * column for row, column in moves) + 10 * len(shared)
    return total + any(row == 0 for row, _ in moves) - all(move[1] > 1 for move in theirs)


def sets(game, player):
    own = set(game.get_legal_moves(player))
    opp = set(game.get_legal_moves(game.get_opponent(player)))
    return len(own & opp) - 2 * len(own | opp) + 3 * len(own - opp)


def lists(game, player):
    moves = sorted(game.get_legal_moves(player)) + game.get_legal_moves(game.get_opponent(player))
    if not moves:
        return 0
    first, last = moves[0], moves[-1]
    return len(moves[:3]) + first[0] + last[1] + max([row for row, _ in moves])


def ahead(game, player):
    best = 0
    for move in game.get_legal_moves():
        later = game.forecast_move(move)
        if later.is_winner(player):
            best += 100
        best += len(later.get_legal_moves(player)) - 2 * len(later.get_legal_moves())
    return best


def boards_ahead(game, player):
    boards = [game.forecast_move(move) for move in game.get_legal_moves(player)]
    most = 0
    for board in boards:
        most = max(most, len(board.get_legal_moves(board.inactive_player)))
    return most + game.copy().move_count


def stages(game, player):
    open_cells = len(game.get_blank_spaces())
    if game.move_count < 10:
        return center_score(game, player)
    elif open_cells * 2 > game.width * game.height:
        return open_move_score(game, player)
    return null_score(game, player) or improved_score(game, player)


def turns(game, player):
    sign = 1 if player == game.active_player else -1
    if game.inactive_player is not player and game.active_player != game.get_opponent(player):
        sign *= 3
    near = game._Board__get_moves(game.get_player_location(player))
    return sign * len(near) + game.move_is_legal((0, 0)) - game.move_is_legal((-1, 3))


def picky(game, player):
    moves = game.get_legal_moves(player)
    if len(moves) == 0 or game.get_player_location(player) == game.NOT_MOVED:
        return -1
    return moves[len(moves) - 1][0] if moves else 0


def paths(game, player):
    def longest(board, depth):
        return depth + len(board.get_legal_moves(player))

    return longest(game, 2) + reach(game, game.get_player_location(player), 3)


def reach(game, cell, depth):
    if depth == 0:
        return 1
    total = 0
    for near in game._Board__get_moves(cell):
        total += reach(game, near, depth - 1)
    return total


def chatty(game, player):
    print("asked", len(game.get_legal_moves(player)))
    return 1.0


class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]
'''

HELPERS = """
from sample_players import open_move_score

SHARE = 0.25


def f(game):
    return SHARE * open_move_score(game, game.active_player)
"""

SCORES = (
    "custom_score",
    "weighted",
    "of_the_course",
    "with_helpers",
    "distances",
    "corners",
    "loops",
    "generators",
    "sets",
    "lists",
    "ahead",
    "boards_ahead",
    "stages",
    "turns",
    "picky",
    "paths",
    "chatty",
)
"""The names of the file's functions of a game and a player."""

PLAIN = '''
"""Scores that Numba cannot take, or must not."""
import random
from random import choice

import numpy as np

asked = 0
VALUES = {(0, 0): 1.0}
ROWS = [[(0, 0)], ["a"]]


def by_cell(game, player):
    return sum(VALUES.get(move, 0.5) for move in game.get_legal_moves(player))


def mixed(game, player):
    found = {}
    for move in game.get_legal_moves(player):
        found[move] = [move, "near"]
    return len(found)


def rows(game, player):
    return len(ROWS) + len(game.get_legal_moves(player))


def drawn(game, player):
    return len(game.get_legal_moves(player)) + 0 * random.random()


def chosen(game, player):
    moves = game.get_legal_moves(player)
    return choice(moves)[0] * 0 + 1 if moves else 0


def numpys(game, player):
    return 0 * np.random.rand() + 3


def counted(game, player):
    global asked
    asked += 1
    return len(game.get_legal_moves(player))


def private(game, player):
    return sum(game._board_state[:-3])


def huge(game, player):
    return float(3 ** (40 + len(game.get_legal_moves(player))) % 1000)


def helped(game, player):
    return 2 * by_cell(game, player)


class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]
'''
