"""Statements of the studies that no tournament can settle but a computation can.

Each function returns whether the statement is true and what was found; `FACTS` has them by the
name that `published.toml` calls them by.  One, `prevents_forfeits`, is judged by games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import hypot
from random import Random
from statistics import fmean

from knightfall.board import Board
from knightfall.display.numbers import signed
from knightfall.openings import openings
from knightfall.position import Position
from knightfall.statistics.rates import Share
from knightfall.studies.judging.verdicts import ClaimVerdict, Judgement, settled
from knightfall.studies.published.published import Fact, Study
from knightfall.studies.student_costs import student_costs

BOARD = Board.of(7, 7)
RESERVE = 10.0
"""Milliseconds that the course's agents kept back from their time."""

NEGLIGIBLE_SHARE = 0.01
"""Of games that are given up."""

Finding = tuple[bool, str]


@dataclass(frozen=True)
class Grounds:
    """What a fact may depend on: the study and the course's board its agents ran on.

    `given_up` is the share of their games that these gave up under course conditions, `careless`
    that of the same agents if they do not choose some legal move first; None if not played.
    """

    study: Study
    board: str
    given_up: Share | None = None
    careless: Share | None = None


def judge_fact(name: Fact, grounds: Grounds) -> Judgement | None:
    """The verdict on a statement; None where it needs games that were not played."""
    if name == "prevents_forfeits":
        if grounds.given_up is None or grounds.careless is None:
            return None
        return judge_prevention(grounds.given_up, grounds.careless)
    return settled(*FACTS[name](grounds))


# -- the board -----------------------------------------------------------------------------


def second_player_wins(grounds: Grounds) -> Finding:
    """Whether the second player has a winning reply to every first placement."""
    from knightfall.solver.survey import survey

    if survey(BOARD).second_wins_from_the_empty_board:
        return True, "settled by exact solution: the second player can win against every placement"
    return False, "settled by exact solution: the first player has a placement that wins"


def parity_changes(grounds: Grounds) -> Finding:
    """Whether row plus column changes parity with each knight's move."""
    moves = [(start, end) for start in range(BOARD.cells) for end in BOARD.knight[start]]
    changes = sum(BOARD.colour(start) != BOARD.colour(end) for start, end in moves)
    return changes == len(moves), f"it changes with {changes} of the board's {len(moves)} moves"


def parity_proves(grounds: Grounds) -> Finding:
    """Whether the parity of the two knights decides every opening."""
    from knightfall.solver.survey import survey

    found = survey(BOARD)
    decided, total = found.hunter_wins, len(found.openings)
    return decided == total, (
        f"the player whom parity favours wins {decided:,} of {total:,} openings by exact solution; "
        + ("it decides all" if decided == total else "the others need more than parity")
    )


def edges_have_fewer_moves(grounds: Grounds) -> Finding:
    """Whether cells at the edge have fewer knight's moves than the others, on average."""
    last = BOARD.width - 1
    edge: list[int] = []
    inside: list[int] = []
    for cell in range(BOARD.cells):
        at_edge = {BOARD.row(cell), BOARD.column(cell)} & {0, last}
        (edge if at_edge else inside).append(len(BOARD.knight[cell]))
    return max(edge) <= fmean(inside) and fmean(edge) < fmean(inside), (
        f"on the empty board a cell at the edge has {min(edge)} to {max(edge)} moves "
        f"({fmean(edge):.1f} on average), one inside {min(inside)} to {max(inside)} "
        f"({fmean(inside):.1f})"
    )


# -- terms of heuristics -------------------------------------------------------------------


def centre_term_reaches_6(grounds: Grounds) -> Finding:
    """Whether the difference of two distances from the centre, as coded, reaches ±6."""
    far = [
        hypot(BOARD.height / 2 - BOARD.row(cell), BOARD.width / 2 - BOARD.column(cell))
        for cell in range(BOARD.cells)
    ]
    most = max(theirs - mine for mine in far for theirs in far)
    return abs(most - 6) < 0.005, (
        f"over all pairs of cells the term reaches from −{most:.2f} to +{most:.2f}"
    )


def cluster_breaks_ties(grounds: Grounds) -> Finding:
    """Whether the positional term of open_cluster is too small to outweigh a move."""
    sides, window = BOARD.height + BOARD.width, round(BOARD.height / 2)
    centres = [top + window // 2 for top in range(BOARD.height - window + 1)]
    far = [abs(at - centre) for at in range(BOARD.height) for centre in centres]
    gap = 2 * (max(far) - min(far)) / sides
    return gap < 1, (
        f"the term of two positions differs by at most {gap:.2f}, the rest of the value by whole "
        "numbers; as printed the term never ran (see the errata)"
    )


def doubling_presses(grounds: Grounds) -> Finding:
    """Whether choosing by own less twice the opponent's moves leaves the opponent fewer moves."""
    left: dict[int, list[int]] = {1: [], 2: []}
    for position in _random_positions(BOARD, 1000, Random(0)):
        after = [position.play(move) for move in position.legal_moves]
        counts = [
            (len(one.targets(position.to_move)), len(one.targets(one.to_move))) for one in after
        ]
        for weight, found in left.items():
            found.append(max(counts, key=lambda moves: moves[0] - weight * moves[1])[1])
    once, twice = fmean(left[1]), fmean(left[2])
    return twice < once, (
        f"over {len(left[1]):,} positions of random games the choice by aggressive leaves the "
        f"opponent {twice:.2f} moves on average, that by improved {once:.2f}"
    )


def _random_positions(board: Board, number: int, rng: Random) -> Iterator[Position]:
    """Positions of random games that are not over, one of each game."""
    starts, found = openings(board), 0
    while found < number:
        position, plies = Position.from_fen(rng.choice(starts)), rng.randint(0, 20)
        while plies and position.winner is None:
            position, plies = position.play(rng.choice(position.legal_moves)), plies - 1
        if position.winner is None:
            found += 1
            yield position


# -- time ----------------------------------------------------------------------------------


def no_timeouts(grounds: Grounds) -> Finding:
    """Whether the longest step between two looks at the clock fits into the reserve."""

    def step(heuristic: str) -> float:
        cost = student_costs(grounds.board, heuristic)
        lists = 2 * (cost.listing + 8 * cost.per_move)
        value = cost.score + cost.score_open * (BOARD.cells - 2) + cost.score_move * 16
        return (cost.call + cost.forecast + lists + value) / 1e6

    dearest = max(grounds.study.heuristics, key=step)
    return step(dearest) < RESERVE, (
        f"the dearest step between two looks at the clock, a forecast and an evaluation with "
        f"{dearest} on an empty board, takes {step(dearest):.2f} ms at our prices; "
        f"{RESERVE:.0f} ms are kept in reserve"
    )


def judge_prevention(careful: Share, careless: Share) -> Judgement:
    """Whether a precaution prevents games from being given up that would be without it.

    It does if fewer are given up at 95 % and surely less than one in a hundred is left.  It does
    not if surely more are left, or if surely less than one in a hundred was there to be prevented.
    """
    left, before = careful.rate or 0.0, careless.rate or 0.0
    (least, most), (fewest, all) = careful.interval, careless.interval
    # Newcombe's interval for the difference of two independent shares.
    low = before - left - hypot(before - fewest, most - left)
    high = before - left + hypot(all - before, left - least)
    if low > 0 and most < NEGLIGIBLE_SHARE:
        verdict: ClaimVerdict = "holds"
    elif least > NEGLIGIBLE_SHARE or high < NEGLIGIBLE_SHARE:
        verdict = "does not hold"
    else:
        verdict = "cannot be told apart"
    words = (
        f"without it the same agents give up {_percent(careless)}, with it {_percent(careful)}: "
        f"{signed(100 * (before - left), 1)} points ({signed(100 * low, 1)} to "
        f"{signed(100 * high, 1)})"
    )
    ends = 100 * (before - left), 100 * low, 100 * high
    return Judgement(verdict, *ends, careless.of, words, "points fewer games given up")


def _percent(share: Share) -> str:
    low, high = share.interval
    return (
        f"{100 * (share.rate or 0.0):.1f} % of {share.of:,} games "
        f"({100 * low:.1f} to {100 * high:.1f})"
    )


def depth_first_grows(grounds: Grounds) -> Finding:
    """Whether a search of all lines from a fifth of the board on takes more work on 8×8 than 7×7.

    Without it an evaluation looks at one position on any board.
    """
    small, large = (_lines_from_a_fifth(Board.of(side, side)) for side in (7, 8))
    return fmean(large) > 1.1 * fmean(small), (
        "where less than a fifth of the board is open, searching all lines looks at "
        f"{fmean(small):.1f} positions for one value on 7×7 (at most {max(small)}) and at "
        f"{fmean(large):.1f} on 8×8 (at most {max(large)}), in {len(small):,} random positions "
        "each; main_less_more looks at one on either board"
    )


def _lines_from_a_fifth(board: Board) -> list[int]:
    """The number of positions in the whole tree below each of some random ones of that phase."""
    rng, sizes = Random(board.cells), []
    for _ in range(2000):
        first, second, *open = rng.sample(range(board.cells), (board.cells - 1) // 5 + 2)
        sizes.append(_tree(board, frozenset(open), first, second))
    return sizes


def _tree(board: Board, open: frozenset[int], mover: int, waiter: int) -> int:
    targets = [cell for cell in board.knight[mover] if cell in open]
    return 1 + sum(_tree(board, open - {cell}, waiter, cell) for cell in targets)


FACTS: Mapping[Fact, Callable[[Grounds], Finding]] = {
    "second_player_wins": second_player_wins,
    "parity_changes": parity_changes,
    "parity_proves": parity_proves,
    "centre_term_reaches_6": centre_term_reaches_6,
    "edges_have_fewer_moves": edges_have_fewer_moves,
    "no_timeouts": no_timeouts,
    "doubling_presses": doubling_presses,
    "cluster_breaks_ties": cluster_breaks_ties,
    "depth_first_grows": depth_first_grows,
}
