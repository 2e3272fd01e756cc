"""The functions of the browser's engine that the page can call; they take and return numbers.

Each takes the base address of the memory that `memory_layout` describes.  A position is the set of
open cells, the mover's cell and the waiter's cell; a knight that is still to be placed stands on
`POCKET`.  No rule is decided here: the functions find the records in memory, call the kernels that
the native engine uses, and return numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import from_dtype, types

from knightfall.heuristics.aggressive import least_blocked
from knightfall.heuristics.c_signature import HEURISTIC, ready
from knightfall.heuristics.reachability import _static
from knightfall.heuristics.registry import REGISTRY, USER
from knightfall.kernel import rules
from knightfall.kernel.bits import Bits, address_of, call_heuristic, count, first, records, rest
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, NO_LIMIT
from knightfall.search import separation
from knightfall.search.alphabeta import alphabeta, plain_deepening
from knightfall.search.budget import LEAF_STEP_LIMIT
from knightfall.search.deepening import deepening
from knightfall.search.minimax import minimax
from knightfall.search.search_state import STATE as SEARCH
from knightfall.search.search_state import any_move
from knightfall.solver import game_length, reflection, winloss
from knightfall.solver.engine import UPPER_SHARE
from knightfall.solver.proof_table import PLIES
from knightfall.solver.proof_table import STATE as PROOF
from knightfall.web.engine import memory_layout
from knightfall.web.engine.memory_layout import arrays, lay_out

_u64, _i64, _f64 = types.uint64, types.int64, types.float64
_void = types.void

SUM = from_dtype(memory_layout.SUM_DTYPE)

_board_at, _search_at, _proof_at = records(GEOMETRY), records(SEARCH), records(PROOF)
_sum_at = records(SUM)
_boards_at, _proofs_at = arrays(GEOMETRY), arrays(PROOF)

BOARD_AT, SEARCH_AT = memory_layout.BOARD_AT, memory_layout.SEARCH_AT
PROOF_AT, SUM_AT, READING_AT = (
    memory_layout.PROOF_AT,
    memory_layout.SUM_AT,
    memory_layout.READING_AT,
)

EXPORTED: dict[str, tuple[Any, Any]] = {}
"""The functions that a page can call, by name, with their signatures."""


def exported(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function and exports it from the WebAssembly file."""

    def declare(function: Callable[..., Any]) -> Any:
        made = compiled(signature, cache=False)(function)
        EXPORTED[function.__name__] = made, signature
        return made

    return declare


# -- the board -------------------------------------------------------------------------------


@exported(_void(_u64, _i64, _i64))
def begin(base: int, width: int, height: int) -> None:
    """Prepare the memory for a board; all of it except the tables must be zero before."""
    lay_out(_board_at(base + _u64(BOARD_AT), _u64(0)), width, height)
    proof = _proof_at(base + _u64(PROOF_AT), _u64(0))
    proof.table = base + _u64(memory_layout.PROOFS_AT)
    proof.buckets = _u64(memory_layout.BUCKETS - 1)
    proof.upper = _i64(round(width * height * UPPER_SHARE))


@exported(_u64(_u64, _u64, _i64))
def moves(base: int, open: Bits, cell: int) -> Bits:
    """Return the cells that a knight can move to."""
    return rules.moves(_board_at(base + _u64(BOARD_AT), _u64(0)), open, cell)


@exported(_u64(_u64, _u64, _i64))
def reach(base: int, open: Bits, cell: int) -> Bits:
    """Return the cells that a knight could reach, in any number of moves, if it were alone."""
    return rules.reach(_board_at(base + _u64(BOARD_AT), _u64(0)), open, cell)


@exported(_i64(_u64, _u64, _i64, _i64))
def separated(base: int, open: Bits, one: int, other: int) -> int:
    """Return 1 if no cell can be reached by both knights, else 0."""
    return _i64(separation.separated(_board_at(base + _u64(BOARD_AT), _u64(0)), open, one, other))  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64, _i64))
def longest_walk(base: int, open: Bits, cell: int) -> int:
    """Return the steps of a lone knight's longest path; −1 if that takes too long to find."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    board.limit = NO_LIMIT
    state = _search_at(base + _u64(SEARCH_AT), _u64(0))
    state.nodes = 0
    return separation.longest_path(board, state, open, cell, board.cells)


@exported(_i64(_u64, _u64, _i64, _i64))
def mirrored(base: int, open: Bits, mover: int, waiter: int) -> int:
    """Return 1 if the mover loses by reflection, else 0."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    return _i64(reflection.mirrored(board, open, mover, waiter))  # type: ignore[no-any-return]


@exported(_i64(_u64, _i64, _i64))
def is_hunter(base: int, mover: int, waiter: int) -> int:
    """Return 1 if the mover is the hunter, that is, both knights stand on the same colour."""
    dark = _board_at(base + _u64(BOARD_AT), _u64(0)).dark
    return _i64((dark >> _u64(mover) ^ dark >> _u64(waiter)) & _u64(1) == _u64(0))  # type: ignore[no-any-return]


@exported(_u64(_u64, _i64, _u64))
def image(base: int, number: int, cells: Bits) -> Bits:
    """Return the image of a set of cells under a symmetry of the board."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    found = _u64(0)
    while cells != _u64(0):
        found |= _u64(1) << _u64(board.symmetry[number, first(cells)])
        cells = rest(cells)
    return found  # type: ignore[no-any-return]


@exported(_i64(_u64, _i64, _i64))
def class_of(base: int, mover: int, waiter: int) -> int:
    """Return the canonical form of an opening: the mover's cell · 128 + the waiter's cell."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    one, other = rules.canonical_opening(board, mover, waiter)
    return one * 128 + other


@exported(_i64(_u64))
def symmetries(base: int) -> int:
    """Return the number of symmetries of the board."""
    return _board_at(base + _u64(BOARD_AT), _u64(0)).symmetries  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64, _i64, _i64, _i64))
def perft(base: int, open: Bits, mover: int, waiter: int, depth: int) -> int:
    """Return the number of lines of `depth` plies."""
    return rules.perft(_board_at(base + _u64(BOARD_AT), _u64(0)), open, mover, waiter, depth)


# -- heuristics ------------------------------------------------------------------------------


@compiled(HEURISTIC, cache=False)
def static_reach(board: Any, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Evaluate `static_reach(r)`, where r is the parameter of the part being evaluated."""
    r = _sum_at(address_of(board) + _u64(SUM_AT - BOARD_AT), _u64(0)).current
    return _static(board, open, me, r) - _static(board, open, opp, r)


@compiled(_f64(_f64, _i64, _i64), cache=False)
def _power(phase: float, open_power: int, filled_power: int) -> float:
    """Return phase^`open_power` · (1 − phase)^`filled_power`, rounded like the native engine."""
    factor = 1.0
    for _ in range(open_power):
        factor *= phase
    for _ in range(filled_power):
        factor *= 1.0 - phase
    return factor


@compiled(types.boolean(SUM, _i64, _f64), cache=False)
def _counts(work: Any, part: int, phase: float) -> bool:
    """Return whether the phase is in the range for which a part of the sum was added."""
    return work.least[part] <= phase and phase < work.below[part]  # type: ignore[no-any-return]


@compiled(HEURISTIC, cache=False)
def weighted_sum(board: Any, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Evaluate the sum built by `add_term` and `add_part`, rounded like the native engine."""
    work = _sum_at(address_of(board) + _u64(SUM_AT - BOARD_AT), _u64(0))
    phase = count(open) / board.cells
    total, part = 0.0, 0
    for term in range(work.terms):
        inner, asked = 0.0, 0
        while part < work.term_end[term]:
            if _counts(work, part, phase):
                work.current = work.parameter[part]
                factor = _power(phase, work.open[part], work.filled[part])
                value = call_heuristic(work.address[part], board, open, me, opp, to_move)
                value = work.weight[part] * (factor * value)
                inner = value if asked == 0 else inner + value
                asked += 1
            part += 1
        factor = _power(phase, work.term_open[term], work.term_filled[term])
        value = work.term_weight[term] * (factor * inner)
        total = value if term == 0 else total + value
    return total


@exported(_void(_u64))
def clear_sum(base: int) -> None:
    """Remove all terms from the sum."""
    work = _sum_at(base + _u64(SUM_AT), _u64(0))
    work.terms = work.parts = 0


@exported(_i64(_u64, _f64, _i64, _i64))
def add_term(base: int, weight: float, open_power: int, filled_power: int) -> int:
    """Add a term to the sum; return its number, or −1 if the sum is full.

    `add_part` then adds the heuristics that the term multiplies.
    """
    work = _sum_at(base + _u64(SUM_AT), _u64(0))
    at = work.terms
    if at >= memory_layout.MOST_PARTS:
        return -1
    work.term_weight[at], work.term_open[at], work.term_filled[at] = (
        weight, open_power, filled_power,
    )  # fmt: skip
    work.term_end[at] = work.parts
    work.terms = at + 1
    return at  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64, _f64, _f64, _i64, _i64, _f64, _f64))
def add_part(
    base: int, address: int, parameter: float, weight: float, open_power: int, filled_power: int,
    least: float, below: float,
) -> int:  # fmt: skip
    """Add a heuristic to the last term, for phases with `least` ≤ phase < `below`.

    Return its number, or −1 if the sum is full.  Parts of one stage are added up.
    """
    work = _sum_at(base + _u64(SUM_AT), _u64(0))
    at = work.parts
    if at >= memory_layout.MOST_PARTS or work.terms == 0:
        return -1
    work.address[at], work.parameter[at], work.weight[at] = address, parameter, weight
    work.open[at], work.filled[at] = open_power, filled_power
    work.least[at], work.below[at] = least, below
    work.parts = work.term_end[work.terms - 1] = at + 1
    return at  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64, _u64))
def sum_asks(base: int, address: int, open: Bits) -> int:
    """Return 1 if the sum evaluates the heuristic at `address` when these cells are open."""
    work = _sum_at(base + _u64(SUM_AT), _u64(0))
    phase = count(open) / _board_at(base + _u64(BOARD_AT), _u64(0)).cells
    for part in range(work.parts):
        if work.address[part] == address and _counts(work, part, phase):
            return 1
    return 0


@exported(_u64(_u64, _u64))
def cluster(base: int, open: Bits) -> Bits:
    """Return the cells of the least-blocked window, whose centre `open_cluster` favours."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    top, left, high, wide = least_blocked(board, open)
    found = _u64(0)
    for row in range(top, top + high):
        found |= ((_u64(1) << _u64(wide)) - _u64(1)) << _u64(row * board.width + left)
    return found  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64))
def cluster_center(base: int, open: Bits) -> int:
    """Return the centre cell of the least-blocked window; see `cluster`."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    top, left, high, wide = least_blocked(board, open)
    return (top + high // 2) * board.width + left + wide // 2  # type: ignore[no-any-return]


@exported(_i64(_u64, _u64))
def cluster_counts(base: int, open: Bits) -> int:
    """Return 1 if enough of the board is blocked for `open_cluster` to use `cluster`, else 0."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    return _i64(5 * (board.cells - count(open)) >= board.cells)  # type: ignore[no-any-return]


@exported(_f64(_u64, _u64, _u64, _i64, _i64, _i64))
def evaluate(base: int, heuristic: int, open: Bits, me: int, opp: int, to_move: int) -> float:
    """Return the value of a position by the heuristic at an address."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    board.limit = board.step_limit = NO_LIMIT
    return call_heuristic(heuristic, board, open, me, opp, to_move)  # type: ignore[no-any-return]


# -- time ------------------------------------------------------------------------------------


@exported(_void(_u64, _u64))
def set_clock(base: int, address: int) -> None:
    """Set the address of the page's clock, a function called like C's ``clock_gettime``."""
    _sum_at(base + _u64(SUM_AT), _u64(0)).clock = address


@compiled(_void(GEOMETRY, _u64, _i64), cache=False)
def _heed(board: Any, base: int, deadline: int) -> None:
    """Set the time at which searches stop, in nanoseconds of the page's clock; 0 is no limit."""
    board.deadline, board.dial = deadline, base + _u64(READING_AT)
    board.clock = _sum_at(base + _u64(SUM_AT), _u64(0)).clock if deadline else _u64(0)


# -- searches --------------------------------------------------------------------------------

METHODS = ("any_move", "minimax", "alphabeta", "plain_deepening", "deepening")
"""The searches, in the order of the numbers that `search` takes."""


@exported(_void(_u64, _u64, _i64, _i64, _u64, _u64))
def ask_search(
    base: int, heuristic: int, symmetric: int, depth: int, seed: int, entries: int
) -> None:
    """Set the options of the next searches; `entries` is the size of the transposition table."""
    state = _search_at(base + _u64(SEARCH_AT), _u64(0))
    state.heuristic, state.symmetric, state.depth_limit = heuristic, symmetric, depth
    state.seed, state.entries = seed, entries
    state.table = base + _u64(memory_layout.TABLE_AT)


@exported(_void(_u64, _i64, _i64, _i64, _u64, _i64, _i64))
def search(
    base: int, method: int, nodes: int, deadline: int, open: Bits, mover: int, waiter: int
) -> None:
    """Search a position that is not over, up to a number of nodes and a deadline.

    `answer` and `line` return the result.  A deadline of 0 means none.
    """
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    state = _search_at(base + _u64(SEARCH_AT), _u64(0))
    board.limit, board.step_limit = nodes, LEAF_STEP_LIMIT
    board.cut = board.blanks = 0
    _heed(board, base, deadline)
    state.generation += _u64(1)
    for ply in range(len(state.killers)):
        state.killers[ply, 0] = state.killers[ply, 1] = 0
    if method == 0:
        any_move(board, state, open, mover, waiter)
    elif method == 1:
        minimax(board, state, open, mover, waiter)
    elif method == 2:
        alphabeta(board, state, open, mover, waiter)
    elif method == 3:
        plain_deepening(board, state, open, mover, waiter)
    else:
        deepening(board, state, open, mover, waiter)


@exported(_f64(_u64, _i64))
def answer(base: int, which: int) -> float:
    """Return one result of the last search, selected by `which`.

    `which` is 0 for the move, 1 score, 2 depth, 3 nodes, 4 length of the principal variation.
    """
    state = _search_at(base + _u64(SEARCH_AT), _u64(0))
    if which == 0:
        return _f64(state.move)  # type: ignore[no-any-return]
    if which == 1:
        return state.score  # type: ignore[no-any-return]
    if which == 2:
        return _f64(state.depth)  # type: ignore[no-any-return]
    if which == 3:
        return _f64(state.nodes)  # type: ignore[no-any-return]
    return _f64(state.length)  # type: ignore[no-any-return]


@exported(_i64(_u64, _i64))
def line(base: int, ply: int) -> int:
    """Return the move at `ply` of the last search's principal variation."""
    return _i64(_search_at(base + _u64(SEARCH_AT), _u64(0)).pv[ply])  # type: ignore[no-any-return]


# -- the truth -------------------------------------------------------------------------------


@exported(_i64(_u64, _i64, _i64, _u64, _i64, _i64))
def wins(base: int, nodes: int, deadline: int, open: Bits, mover: int, waiter: int) -> int:
    """Return 1 if the mover wins, 0 if not, −1 if a limit was reached before the proof."""
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    state = _proof_at(base + _u64(PROOF_AT), _u64(0))
    board.limit = min(NO_LIMIT, state.nodes + nodes)
    _heed(board, base, deadline)
    boards, states = _boards_at(base + _u64(BOARD_AT)), _proofs_at(base + _u64(PROOF_AT))
    return winloss.who_wins(boards, states, open, mover, waiter)


@exported(_i64(_u64, _i64, _i64, _u64, _i64, _i64, _i64))
def ends_within(
    base: int, nodes: int, deadline: int, open: Bits, mover: int, waiter: int, plies: int
) -> int:
    """Return 1 if the winner can end the game within `plies`, else 0; −1 if a limit was reached.

    `plies` must be odd if the mover wins, even if it loses.
    """
    board = _board_at(base + _u64(BOARD_AT), _u64(0))
    state = _proof_at(base + _u64(PROOF_AT), _u64(0))
    board.limit = min(NO_LIMIT, state.nodes + nodes)
    _heed(board, base, deadline)
    boards, states = _boards_at(base + _u64(BOARD_AT)), _proofs_at(base + _u64(PROOF_AT))
    return game_length.ends_within(boards, states, open, mover, waiter, plies)


@exported(_i64(_u64, _i64, _i64, _u64, _i64, _i64))
def plies(base: int, nodes: int, deadline: int, open: Bits, mover: int, waiter: int) -> int:
    """Return the plies that the game lasts by best play; −1 if a limit was reached.

    The number is odd if the mover wins.
    """
    won = wins(base, nodes, deadline, open, mover, waiter)
    if won < 0:
        return -1
    length = won
    while length < PLIES:
        ends = ends_within(base, nodes, deadline, open, mover, waiter, length)
        if ends != 0:
            return length if ends > 0 else -1
        length += 2
    return -1


@exported(_i64(_u64))
def proof_nodes(base: int) -> int:
    """Return the number of positions that the solver has visited so far."""
    return _proof_at(base + _u64(PROOF_AT), _u64(0)).nodes  # type: ignore[no-any-return]


# -- heuristics -------------------------------------------------------------------------------


SUM_ID = "sum"
"""The name of `weighted_sum` in the list of heuristics; no heuristic has this id."""


def heuristics() -> dict[str, Any]:
    """Return all published heuristics, compiled, by id; their order gives their numbers.

    A family of heuristics is listed by its name and reads its parameter from the sum.
    """
    found: dict[str, Any] = {SUM_ID: weighted_sum}
    for id, row in REGISTRY.items():
        if row.study == USER:
            continue
        if row.parameter:
            assert id == "static_reach", f"the browser's engine cannot pass a parameter to {id}"
            found[id] = static_reach
        else:
            found[id] = ready(row.score)
    return found
