"""Every heuristic of the studies, written as a student's score.

Each is a function of a game and a player, written from the words of its formula on nothing but the
course's board, private names included.  Won and lost are left to the search, as the formulas leave
them.
"""

from math import sqrt

from isolation import Board

BESIDE = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
JUMPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


def moves_of(game, player):
    return len(game.get_legal_moves(player))


# -- the course's own ------------------------------------------------------------------------


def null(game, player):
    return 0.0


def open_moves(game, player):
    return float(len(game.get_legal_moves(player)))


def center(game, player):
    h, w = game.height / 2.0, game.width / 2.0
    y, x = game.get_player_location(player)
    return float((h - y) ** 2 + (w - x) ** 2)


def improved(game, player):
    own_moves = len(game.get_legal_moves(player))
    opp_moves = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own_moves - opp_moves)


# -- lookahead -------------------------------------------------------------------------------


def two_steps(game, player):
    total = 0
    for row, col in game.get_legal_moves(player):
        total += 1
        for down, right in JUMPS:
            if game.move_is_legal((row + down, col + right)):
                total += 1
    return total


def lookahead_mobility(game, player):
    return float(two_steps(game, player) - two_steps(game, game.get_opponent(player)))


def from_middle(game, player):
    row, col = game.get_player_location(player)
    return sqrt((row - game.height / 2) ** 2 + (col - game.width / 2) ** 2)


def center_pull(game, player):
    opponent = game.get_opponent(player)
    pull = from_middle(game, opponent) - from_middle(game, player)
    return moves_of(game, player) - moves_of(game, opponent) + pull


def corner_averse(game, player):
    bottom, right = game.height - 1, game.width - 1
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    own = [move for move in game.get_legal_moves(player) if move not in corners]
    opp = [m for m in game.get_legal_moves(game.get_opponent(player)) if m not in corners]
    return float(len(own) - len(opp))


# -- directional -----------------------------------------------------------------------------


def omega(game, cell):
    """Return a cell's weight: 1 in the centre, 0.25 in the corners."""
    mid_row, mid_col = (game.height - 1) / 2, (game.width - 1) / 2
    down = 1 - 0.5 * abs(cell[0] - mid_row) / mid_row
    right = 1 - 0.5 * abs(cell[1] - mid_col) / mid_col
    return down * right


def weighted_mobility(game, player):
    return moves_of(game, player) * omega(game, game.get_player_location(player))


def weighted_difference(game, player):
    return weighted_mobility(game, player) - weighted_mobility(game, game.get_opponent(player))


def weighted_moves(game, player):
    value = 0.0
    for move in game.get_legal_moves(player):
        value += omega(game, move)
    for move in game.get_legal_moves(game.get_opponent(player)):
        value -= omega(game, move)
    return value


# -- reachability ----------------------------------------------------------------------------


def manhattan(here, there):
    return abs(here[0] - there[0]) + abs(here[1] - there[1])


def near_center(game, player):
    middle = (game.height - 1) / 2, (game.width - 1) / 2
    me = game.get_player_location(player)
    opp = game.get_player_location(game.get_opponent(player))
    return manhattan(opp, middle) - manhattan(me, middle)


def near_edges(game, player):
    return -near_center(game, player)


def far_opponent(game, player):
    me = game.get_player_location(player)
    return float(manhattan(me, game.get_player_location(game.get_opponent(player))))


def near_opponent(game, player):
    return -far_opponent(game, player)


LEVELS = {}  # distances on empty boards, cached


def levels(width, height, start):
    """Return the number of knight moves to every cell on the empty board."""
    if (width, height, start) not in LEVELS:
        empty = Board("one", "two", width, height)
        found, queue = {start: 0}, [start]
        for cell in queue:
            for near in empty._Board__get_moves(cell):
                if near not in found:
                    found[near] = found[cell] + 1
                    queue.append(near)
        LEVELS[width, height, start] = found
    return LEVELS[width, height, start]


def static_sum(game, player, r):
    here = game.get_player_location(player)
    level = levels(game.width, game.height, here)
    total = r ** level[here]
    for cell in game.get_blank_spaces():
        if cell in level:  # the middle of 3×3 has none: no knight reaches it
            total += r ** level[cell]
    return total


def static_reach(game, player, r):
    return static_sum(game, player, r) - static_sum(game, game.get_opponent(player), r)


def static_reach_2(game, player):
    return static_reach(game, player, 1 / 2)


def static_reach_3(game, player):
    return static_reach(game, player, 1 / 3)


def static_reach_4(game, player):
    return static_reach(game, player, 1 / 4)


def static_reach_5(game, player):
    return static_reach(game, player, 1 / 5)


def static_reach_6(game, player):
    return static_reach(game, player, 1 / 6)


def static_reach_7(game, player):
    return static_reach(game, player, 1 / 7)


def static_reach_8(game, player):
    return static_reach(game, player, 1 / 8)


def static_reach_9(game, player):
    return static_reach(game, player, 1 / 9)


def static_reach_10(game, player):
    return static_reach(game, player, 1 / 10)


def bfs_sum(game, player):
    seen = {game.get_player_location(player)}
    level, depth, total = list(seen), 0, 0.0
    while level:
        total += len(level) / (1 + depth)
        depth += 1
        following = []
        for cell in level:
            for near in game._Board__get_moves(cell):
                if near not in seen:
                    seen.add(near)
                    following.append(near)
        level = following
    return total


def bfs_reach(game, player):
    return bfs_sum(game, player) - bfs_sum(game, game.get_opponent(player))


def near_center_and_reach(game, player):
    return near_center(game, player) + bfs_reach(game, player)


def near_edges_and_reach(game, player):
    return near_edges(game, player) + bfs_reach(game, player)


def near_opponent_and_reach(game, player):
    return near_opponent(game, player) + bfs_reach(game, player)


def far_opponent_and_reach(game, player):
    return far_opponent(game, player) + bfs_reach(game, player)


# -- staged ----------------------------------------------------------------------------------


def mobility(game, player):
    return moves_of(game, player) - moves_of(game, game.get_opponent(player))


def open_space(game, player):
    row, col = game.get_player_location(player)
    space = 0
    for down, right in BESIDE:
        if game.move_is_legal((row + down, col + right)):
            space += 1
    return space


def open_space_difference(game, player):
    return open_space(game, player) - open_space(game, game.get_opponent(player))


def open_space_next(game, player):
    best = 0
    for move in game.get_legal_moves():
        best = max(best, open_space(game.forecast_move(move), player))
    return best


def plies_to_win(game, player):
    """Return the length of the longest win; −inf if there is none."""
    moves = game.get_legal_moves()
    if not moves:
        return 0 if game.is_winner(player) else float("-inf")
    return 1 + max(plies_to_win(game.forecast_move(move), player) for move in moves)


def longest_win(game, player):
    return max(0, plies_to_win(game, player))


def longest_win_difference(game, player):
    return longest_win(game, player) - longest_win(game, game.get_opponent(player))


def phase_of(game):
    return len(game.get_blank_spaces()) / (game.width * game.height)


def main_less(game, player):
    return phase_of(game) * mobility(game, player) + open_space_difference(game, player)


def main_less_more(game, player):
    return phase_of(game) * improved(game, player) + open_space_difference(game, player)


def main(game, player):
    if phase_of(game) < 0.2:
        return longest_win_difference(game, player)
    return main_less(game, player)


def main_alt(game, player):
    return longest_win(game, player) if phase_of(game) < 0.2 else main_less(game, player)


def main_alt_01(game, player):
    return longest_win(game, player) if phase_of(game) < 0.1 else main_less(game, player)


def main_alt_03(game, player):
    return longest_win(game, player) if phase_of(game) < 0.3 else main_less(game, player)


def main_prop(game, player):
    phase = phase_of(game)
    if phase < 0.2:
        return longest_win(game, player)
    space = open_space_difference(game, player)
    return phase * mobility(game, player) + (1 - phase) * space


def main_staggered(game, player):
    phase = phase_of(game)
    if phase > 0.7:
        return mobility(game, player)
    if phase < 0.2:
        return longest_win_difference(game, player)
    return open_space_difference(game, player)


def main_alt_staggered(game, player):
    phase = phase_of(game)
    if phase > 0.7:
        return mobility(game, player)
    if phase < 0.2:
        return longest_win(game, player)
    return open_space_difference(game, player)


# -- aggressive ------------------------------------------------------------------------------


def aggressive(game, player):
    return float(moves_of(game, player) - 2 * moves_of(game, game.get_opponent(player)))


def moved(game, player, cell):
    """Return the game with a player moved to another cell, even out of turn."""
    board = game.copy()
    board._active_player, board._inactive_player = player, game.get_opponent(player)
    board.apply_move(cell)
    return board


def lookahead_ratio(game, player):
    opponent, ratios = game.get_opponent(player), []
    for move in game.get_legal_moves(player):
        later = moved(game, player, move)
        if not later.get_legal_moves(opponent):
            return float("inf")
        ratios.append(moves_of(later, player) / moves_of(later, opponent))
    return sum(ratios) / len(ratios) if ratios else float("-inf")


def emptiest(game):
    """Return the middle of the half-by-half window with the fewest blocked cells, the first by
    columns.
    """
    high, wide = round(game.height / 2), round(game.width / 2)
    fewest, middle = None, None
    for left in range(game.width - wide + 1):
        for top in range(game.height - high + 1):
            blocked = 0
            for col in range(left, left + wide):
                start = top + col * game.height
                blocked += sum(game._board_state[start : start + high])
            if fewest is None or blocked < fewest:
                fewest, middle = blocked, (top + high // 2, left + wide // 2)
    return middle


def near_cluster(game, player):
    sides = game.height + game.width
    return (sides - manhattan(game.get_player_location(player), emptiest(game))) / sides


def open_cluster(game, player):
    cells = game.width * game.height
    if sum(game._board_state[:cells]) / cells < 0.2:
        return aggressive(game, player)
    return aggressive(game, player) + near_cluster(game, player)


# -- as the studies' programs had it -----------------------------------------------------------

blanks_at_root = 0  # set by get_move; the staged study's phase is a share of it


def coded_near_center(game, player):
    middle = game.height / 2, game.width / 2
    me = game.get_player_location(player)
    opp = game.get_player_location(game.get_opponent(player))
    return manhattan(opp, middle) - manhattan(me, middle)


def coded_near_edges(game, player):
    return -coded_near_center(game, player)


def share_left(game):
    return len(game.get_blank_spaces()) / blanks_at_root if blanks_at_root else 1.0


def coded_main_less(game, player):
    return share_left(game) * mobility(game, player) + open_space_difference(game, player)


def coded_main_less_more(game, player):
    return share_left(game) * improved(game, player) + open_space_difference(game, player)


def carried_length(game, player, length):
    """Return the length of a path as the study coded it: each branch starts from the best length of
    the branches before it.
    """
    if game.is_winner(player):
        return length
    if game.is_loser(player):
        return 0
    for move in game.get_legal_moves():
        length = max(length, carried_length(game.forecast_move(move), player, length + 1))
    return length


def coded_longest_win(game, player):
    return carried_length(game, player, 0)


def coded_longest_win_difference(game, player):
    lengths = []
    for one in (player, game.get_opponent(player)):
        length = 0
        for move in game.get_legal_moves():
            length = max(length, carried_length(game.forecast_move(move), one, length + 1))
        lengths.append(length)
    return lengths[0] - lengths[1]


def coded_main(game, player):
    if share_left(game) < 0.2:
        return coded_longest_win_difference(game, player)
    return coded_main_less(game, player)


def coded_main_alt(game, player):
    return (
        coded_longest_win(game, player) if share_left(game) < 0.4 else coded_main_less(game, player)
    )


def coded_main_prop(game, player):
    left = share_left(game)
    if left < 0.2:
        return coded_longest_win(game, player)
    return left * mobility(game, player) + (1 - left) * open_space_difference(game, player)


def coded_main_staggered(game, player):
    left = share_left(game)
    if left > 0.7:
        return mobility(game, player)
    if left < 0.2:
        return coded_longest_win_difference(game, player)
    return open_space_difference(game, player)


def coded_main_alt_staggered(game, player):
    left = share_left(game)
    if left > 0.7:
        return mobility(game, player)
    if left < 0.2:
        return coded_longest_win(game, player)
    return open_space_difference(game, player)


def coded_lookahead_ratio(game, player):
    """Return the mobility ratio averaged over `forecast_move`, which always moves the active
    player, even if it is not `player`.
    """
    moves = game.get_legal_moves(player)
    if not moves:
        return float("-inf")
    total = 0.0
    for move in moves:
        later = game.forecast_move(move)
        theirs = later.get_legal_moves(later.get_opponent(player))
        if not theirs:
            return float("inf")
        total += len(later.get_legal_moves(player)) / len(theirs)
    return total / len(moves)


def coded_open_cluster(game, player):
    """Return `aggressive`: the study's program counts the text "1" in a list of numbers, so the
    second part never runs.
    """
    value = aggressive(game, player)
    if game._board_state.count("1") >= 0.2 * game.width * game.height:
        value += near_cluster(game, player)
    return value


# -- the players -------------------------------------------------------------------------------


class MinimaxPlayer:
    def __init__(self, search_depth=3, score_fn=coded_main):
        self.search_depth = search_depth
        self.score = score_fn

    def get_move(self, game, time_left):
        global blanks_at_root
        blanks_at_root = len(game.get_blank_spaces())
        try:
            values = {
                move: self.value(game.forecast_move(move), self.search_depth - 1)
                for move in game.get_legal_moves()
            }
        finally:
            blanks_at_root = 0
        self.best = max(values.values())
        return max(values, key=values.get)

    def value(self, game, depth):
        if game.utility(self) != 0:
            return game.utility(self)
        if depth == 0:
            return self.score(game, self)
        values = [self.value(game.forecast_move(m), depth - 1) for m in game.get_legal_moves()]
        return max(values) if game.active_player == self else min(values)


SCORES = {
    "null": null,
    "open": open_moves,
    "center": center,
    "improved": improved,
    "lookahead_mobility": lookahead_mobility,
    "center_pull": center_pull,
    "corner_averse": corner_averse,
    "weighted_mobility": weighted_mobility,
    "weighted_difference": weighted_difference,
    "weighted_moves": weighted_moves,
    "near_center": near_center,
    "near_edges": near_edges,
    "near_opponent": near_opponent,
    "far_opponent": far_opponent,
    "static_reach(1/2)": static_reach_2,
    "static_reach(1/3)": static_reach_3,
    "static_reach(1/4)": static_reach_4,
    "static_reach(1/5)": static_reach_5,
    "static_reach(1/6)": static_reach_6,
    "static_reach(1/7)": static_reach_7,
    "static_reach(1/8)": static_reach_8,
    "static_reach(1/9)": static_reach_9,
    "static_reach(1/10)": static_reach_10,
    "bfs_reach": bfs_reach,
    "near_center+bfs_reach": near_center_and_reach,
    "near_edges+bfs_reach": near_edges_and_reach,
    "near_opponent+bfs_reach": near_opponent_and_reach,
    "far_opponent+bfs_reach": far_opponent_and_reach,
    "mobility": mobility,
    "open_space": open_space,
    "open_space_difference": open_space_difference,
    "open_space_next": open_space_next,
    "longest_win": longest_win,
    "longest_win_difference": longest_win_difference,
    "main_less": main_less,
    "main_less_more": main_less_more,
    "main": main,
    "main_alt": main_alt,
    "main_alt_01": main_alt_01,
    "main_alt_03": main_alt_03,
    "main_prop": main_prop,
    "main_staggered": main_staggered,
    "main_alt_staggered": main_alt_staggered,
    "aggressive": aggressive,
    "lookahead_ratio": lookahead_ratio,
    "open_cluster": open_cluster,
    "coded:near_center": coded_near_center,
    "coded:near_edges": coded_near_edges,
    "coded:longest_win": coded_longest_win,
    "coded:longest_win_difference": coded_longest_win_difference,
    "coded:main_less": coded_main_less,
    "coded:main_less_more": coded_main_less_more,
    "coded:main": coded_main,
    "coded:main_alt": coded_main_alt,
    "coded:main_prop": coded_main_prop,
    "coded:main_staggered": coded_main_staggered,
    "coded:main_alt_staggered": coded_main_alt_staggered,
    "coded:lookahead_ratio": coded_lookahead_ratio,
    "coded:open_cluster": coded_open_cluster,
}
"""The scores by the ids of the heuristics they implement."""
