"""Tests of heuristics as the studies' programs computed them: their values, and that they are used
only on request.
"""

from __future__ import annotations

import inspect
import math
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers import random_positions, some_and_all
from heuristic_files import Files, slow_evaluator
from naive import NAIVE
from naive_coded import CODED, lookahead_ratio

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.c_signature import evaluate_at
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.registry import LEARNED_HEURISTICS, PARAMETERS, PUBLISHED, published_ids
from knightfall.kernel.rules import RULES, geometry, rules_of, words
from knightfall.position import Position, Side
from knightfall.studies import as_coded
from knightfall.studies.plans import league_heuristics
from knightfall.studies.published import studies
from knightfall.studies.study_files import WISHED, heuristic_table

VARIANTS = [row for row in heuristic_table().rows if row.study != WISHED]
SIDES: tuple[Side, Side] = ("w", "b")
FEW = 12
"""Most open cells at which the slow reference of the longest win is fast enough."""
ALWAYS = {"coded:longest_win", "coded:longest_win_difference"}
"""Heuristics that search in every phase."""
SEARCHING = {id for id in CODED if "main" in id and "less" not in id} | ALWAYS

PUBLISHED_RATIO = "7/7/3*3/4N*1/1*2*1*/2n*3/5*1 b"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def value(id: str, position: Position, side: Side, blanks: int = 0) -> float:
    """Return a heuristic's value in a search whose root has `blanks` open cells."""
    boards = geometry(position.board)
    assert boards["blanks"][0] == 0
    boards["blanks"] = blanks
    open, me, opp = words(position, side)
    _, to_move, _ = words(position)
    return evaluate_at(boards, evaluator(id).address, open, me, opp, to_move)


@cache
def questions() -> list[tuple[Position, int]]:
    """Return positions of all phases, each with several assumed numbers of open cells at the
    search's root.
    """
    rng = random.Random(9)
    positions = []
    for seed, (width, height) in enumerate([(7, 7), (8, 8), (5, 5), (4, 6), (3, 9), (10, 6)]):
        positions += random_positions(width, height, 40, seed, min_placed=2)
        board = Board.of(width, height)
        for open_cells in [*range(2, 11)] * 3:
            white, black, *open = rng.sample(range(board.cells), open_cells + 2)
            positions.append(Position(board, frozenset(open), white, black, rng.choice(SIDES)))
    found = []
    for position in positions:
        here, most = len(position.open), position.board.cells
        # Values around every phase at which the formula changes.
        for roots in (here, 5 * here / 2, 5 * here, 10 * here / 7):
            near = {math.floor(roots) + more for more in (-1, 0, 1)}
            found += [(position, root) for root in near if here <= root <= most and root > 0]
        found.append((position, 0))
    return found


@some_and_all
@pytest.mark.parametrize("id", CODED)
def test_the_value_is_that_of_the_slow_twin(id: str, step: int) -> None:
    tried = 0
    for position, blanks in questions()[::step]:
        # Above a phase of two fifths only the heuristics in ALWAYS count lines.
        late = id in ALWAYS or 5 * len(position.open) < 2 * blanks
        if id in SEARCHING and len(position.open) > FEW and late:
            continue
        for side in SIDES:
            got, expected = value(id, position, side, blanks), CODED[id](position, side, blanks)
            assert math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-12), (position, side)
            tried += 1
    assert tried > 1500 // step


def test_the_questions_are_of_all_kinds() -> None:
    late = [(p, b) for p, b in questions() if b and len(p.open) <= FEW]
    for tenths in (2, 4, 7):
        sides = {(10 * len(p.open) > tenths * b) - (10 * len(p.open) < tenths * b) for p, b in late}
        assert sides == {-1, 0, 1}
    for id in CODED:
        assert len({CODED[id](p, "w", b) for p, b in late}) > 4, id


# -- the published differences ---------------------------------------------------------------


def test_the_published_example_of_the_ratio() -> None:
    position = Position.from_fen(PUBLISHED_RATIO)
    assert value("coded:lookahead_ratio", position, "w") == 17 / 12
    assert value("lookahead_ratio", position, "w") == pytest.approx(5 / 6, rel=1e-15)


def test_the_ratio_is_the_words_for_the_mover() -> None:
    differ = 0
    for position, _ in questions():
        mover, waiter = position.to_move, "b" if position.to_move == "w" else "w"
        coded, words_ = (f"{prefix}lookahead_ratio" for prefix in ("coded:", ""))
        assert value(coded, position, mover) == value(words_, position, mover)
        differ += value(coded, position, waiter) != value(words_, position, waiter)
    assert differ > 100


def test_the_ratio_by_hand() -> None:
    # Black, to move, is put on b1, where white could go: from there it has c3, white nothing.
    ring = Position.from_fen("N2/2n/3 b")
    assert value("coded:lookahead_ratio", ring, "w") == 0
    stuck = Position.from_fen("***/*Nn/3 b")
    assert value("coded:lookahead_ratio", stuck, "w") == -math.inf
    # b1 leads only to a3, where white stands.
    dead_end = Position.from_fen("N1*/2n/3 b")
    assert value("coded:lookahead_ratio", dead_end, "w") == math.inf


def longest_line(position: Position, side: Side, *, carries: bool, length: int = 0) -> int:
    """Return the length of the longest line by the words of `heuristic5`, whoever wins it."""
    longest = length
    for move in position.legal_moves:
        below = length + 1 if not carries else longest + 1
        after = position.play(move)
        longest = max(longest, longest_line(after, side, carries=carries, length=below))
    return longest


@pytest.mark.parametrize("carries", [False, True])
def test_by_its_words_heuristic5_is_always_zero(carries: bool) -> None:
    """Check that `heuristic5`, by its words, is always 0: both players' longest lines are the same
    line.
    """
    lengths = set()
    for position in small_positions():
        mine, theirs = (longest_line(position, side, carries=carries) for side in SIDES)
        assert mine - theirs == 0
        lengths.add(mine)
    assert len(lengths) > 5


def test_as_printed_heuristic5_and_heuristic6_count_lines() -> None:
    values = set()
    for position in small_positions():
        below, won, lost = counted_lines(position, "w")
        assert value("coded:longest_win", position, "w") == below - lost
        assert value("coded:longest_win", position, "b") == below - won
        assert value("coded:longest_win_difference", position, "w") == won - lost
        assert value("coded:longest_win_difference", position, "b") == lost - won
        values.add(won - lost)
    assert min(values) < 0 < max(values)


def counted_lines(position: Position, side: Side) -> tuple[int, int, int]:
    """Return the numbers of positions below one, and of lines to the end that a side wins and
    loses.
    """
    if not position.legal_moves:
        return (0, 0, 1) if position.to_move == side else (0, 1, 0)
    parts = [counted_lines(position.play(move), side) for move in position.legal_moves]
    below, won, lost = (sum(part) for part in zip(*parts, strict=True))
    return below + len(parts), won, lost


def small_positions() -> list[Position]:
    """Return unfinished positions with few open cells."""
    late = [position for position, root in questions() if not root and len(position.open) < 10]
    return [position for position in late if position.legal_moves]


def test_lengths_of_siblings_add_up() -> None:
    position = Position.from_fen("******1/***2**/**n**1*/****1**/******1/*******/*****N* b")
    assert value("longest_win", position, "w") == 6
    assert value("coded:longest_win", position, "w") == 11


@pytest.mark.parametrize("id", sorted(ALWAYS))
def test_a_leaf_that_counts_lines_obeys_the_budget(id: str) -> None:
    opening = Position.from_moves(["a1", "d4"], 7, 7)
    boards = geometry(opening.board)
    open, me, opp = words(opening)
    for steps in (0, 1, 100, 1000):
        boards["step_limit"], boards["cut"] = steps, 0
        mine = evaluate_at(boards, evaluator(id).address, open, me, opp, me)
        theirs = evaluate_at(boards, evaluator(id).address, open, opp, me, me)
        assert boards["cut"][0] == 2
        assert abs(mine) <= steps
        if id.endswith("difference"):
            assert mine == -theirs
    report = parse_agent(f"id({id}, nodes=200)").analyse(opening)
    assert report.cut > 0


def test_the_cluster_is_exactly_aggressive() -> None:
    for position, _ in questions():
        for side in SIDES:
            here = value("coded:open_cluster", position, side)
            assert here == value("aggressive", position, side)


def test_at_the_root_every_phase_is_one() -> None:
    for position in random_positions(7, 7, 50, 3, min_placed=2):
        whole = value("improved", position, "w") + value("open_space_difference", position, "w")
        for blanks in (0, len(position.open)):
            for id in ("coded:main", "coded:main_alt", "coded:main_less", "coded:main_less_more"):
                assert value(id, position, "w", blanks) == whole
            for id in ("coded:main_prop", "coded:main_staggered", "coded:main_alt_staggered"):
                assert value(id, position, "w", blanks) == value("improved", position, "w")


@some_and_all
def test_mirrored_positions_have_the_same_value_iff_promised(step: int) -> None:
    differs = set()
    for position, blanks in questions()[:: 3 * step]:
        if len(position.open) > FEW:
            continue
        for image in position.board.symmetries:
            assert position.white is not None
            assert position.black is not None
            mirrored = Position(
                position.board,
                frozenset(image[cell] for cell in position.open),
                image[position.white],
                image[position.black],
                position.to_move,
            )
            differs |= {
                id
                for id in CODED
                if value(id, mirrored, "w", blanks) != value(id, position, "w", blanks)
            }
    # Heuristics that count lines are not declared symmetric, because they may run out of steps;
    # here they do not.
    assert differs == {id for id in CODED if not REGISTRY[id].symmetric} - ALWAYS


def test_no_line_to_a_win_is_pruned() -> None:
    """Compare the pruning of the search for the longest win with all lines."""

    def ends(open: int, me: int, opp: int, turn: int, plies: int) -> bool:
        """Return whether some line of exactly `plies` plies leaves `opp` to move and stuck."""
        mover = me if turn else opp
        cells = [cell for cell in board.knight[mover] if open >> cell & 1]
        if plies == 0:
            return not turn and not cells
        return any(
            ends(open ^ 1 << cell, cell if turn else me, opp if turn else cell, 1 - turn, plies - 1)
            for cell in cells
        )

    kept = pruned = 0
    for position in random_positions(4, 5, 30, seed=5, min_placed=2):
        board = position.board
        record = geometry(board)[0]
        open, first, second = (int(word) for word in words(position)[:3])
        if open.bit_count() > 11:
            continue
        for turn in (0, 1):
            me, opp = (first, second) if turn else (second, first)
            for plies in range(turn, open.bit_count() + 1, 2):
                may = as_coded._may_win_in(record, np.uint64(open), me, opp, turn, plies)
                if ends(open, me, opp, turn, plies):
                    assert may
                    kept += 1
                pruned += not may
    assert kept > 20
    assert pruned > 20


@pytest.mark.parametrize("id", sorted(SEARCHING))
def test_the_share_reaches_what_looks_for_the_longest_win(id: str) -> None:
    assert REGISTRY[id].costly
    position = Position.from_fen("*2*1*1/1*N**1*/*******/1*1*n*1/*******/*******/******* w")
    boards = geometry(position.board)
    boards["step_limit"], boards["blanks"] = 0, 47
    open, me, opp = words(position)
    evaluate_at(boards, evaluator(id).address, open, me, opp, me)
    assert boards["cut"][0] == 1


# -- dependence on the search's root ----------------------------------------------------------


def test_the_count_is_no_part_of_the_rules_and_begins_at_nothing() -> None:
    board = Board.of(7, 7)
    boards = geometry(board)
    boards["blanks"] = 40
    assert (boards.view("u8")[:RULES] == rules_of(board)).all()
    assert geometry(board)["blanks"][0] == 0


@pytest.mark.parametrize("plain", [False, True])
def test_users_may_read_the_count(files: Files, plain: bool) -> None:
    half = "eval('0.5')" if plain else "0.5"  # an expression that Numba cannot compile
    text = f"def asks(board, open, me, opp, to_move):\n    return board.blanks + {half}\n"
    id = f"{files.write('mine.py', text)}:asks"
    ready = slow_evaluator(id) if plain else evaluator(id)
    assert ready.compiled != plain
    position = Position.from_fen(PUBLISHED_RATIO)
    assert [value(id, position, "w", blanks) for blanks in (0, 31)] == [0.5, 31.5]


# -- their ids -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed", "atoms"),
    [
        ("coded:main", "coded:main", ["coded:main"]),
        ("2 * coded:main - improved", "2*coded:main-improved", ["coded:main", "improved"]),
        (
            "coded:near_center+bfs_reach",
            "coded:near_center+bfs_reach",
            ["coded:near_center", "bfs_reach"],
        ),
        ("open-1/3*coded:main_alt", "open-1/3*coded:main_alt", ["open", "coded:main_alt"]),
        ("-coded:near_edges", "-coded:near_edges", ["coded:near_edges"]),
        ("coded.py:main", "coded.py:main", ["coded.py:main"]),
        ("coded:main.py:f", "coded:main.py:f", ["coded:main.py:f"]),
        ("coded:x-2.py:f", "coded:x-2.py:f", ["coded:x-2.py:f"]),
        ("coded:main-x.py:f", "coded:main-x.py:f", ["coded:main", "x.py:f"]),
        ("./coded:main-x.py:f", "./coded:main-x.py:f", ["coded:main-x.py:f"]),
        ("x.py:coded+coded:main", "x.py:coded+coded:main", ["x.py:coded", "coded:main"]),
    ],
)
def test_what_is_read(text: str, printed: str, atoms: list[str]) -> None:
    expression = parse_heuristic(text)
    assert str(expression) == printed
    assert [str(atom) for _, atom in expression.terms] == atoms
    assert parse_heuristic(printed) == expression


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("coded:mian", "unknown heuristic 'coded:mian'; did you mean 'coded:main'?"),
        ("codde:main", "unknown heuristic 'codde:main'; did you mean 'coded:main'?"),
        ("coded:improved", "unknown heuristic 'coded:improved'; did you mean 'improved'?"),
        ("open+coded:near_centre", "did you mean 'coded:near_center'?"),
        ("mian", "unknown heuristic 'mian'; did you mean 'main'?"),
        ("near_centre", "unknown heuristic 'near_centre'; did you mean 'near_center'?"),
        ("coded", "unknown heuristic 'coded'"),
        ("coded:", "unknown heuristic 'coded'"),
        ("coded: main", "unknown heuristic 'coded'"),
        ("open:g", "unknown heuristic 'open:g'; did you mean 'open'?"),
        ("coded:main(1/2)", "coded:main takes no parameter"),
        ("coded:main.py", "cannot read '.py'"),
        ("coded:coded:main", "unknown heuristic 'coded:coded'"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_heuristic(text)
    assert says in str(error.value)


def test_an_agent_may_search_with_one() -> None:
    for text in ("coded:main", "id(coded:main)", "id(2*coded:main-improved, nodes=100, plain)"):
        agent = parse_agent(text)
        assert parse_agent(str(agent)) == agent
        assert not agent.has_users_code
    with pytest.raises(KnightfallError, match="unknown agent 'coded:mian'; did you mean 'coded:ma"):
        parse_agent("coded:mian")


def test_a_sum_with_one_is_worth_the_sum_of_its_parts() -> None:
    ready = evaluator("coded:near_center+bfs_reach")
    assert (ready.symmetric, ready.compiled, ready.quick) == (False, True, True)
    assert not evaluator("2*coded:main-improved").quick
    for position in random_positions(7, 7, 30, 5, min_placed=2):
        parts = CODED["coded:near_center"](position, "w", 0) + NAIVE["bfs_reach"](position, "w")
        assert ready.value(position, "w") == pytest.approx(parts)


def test_one_may_be_added_to_plain_python(files: Files) -> None:
    text = "def odd(board, open, me, opp, to_move):\n    return eval('1')\n"
    ready = slow_evaluator(f"coded:lookahead_ratio+{files.write('mine.py', text)}:odd")
    position = Position.from_fen(PUBLISHED_RATIO)
    assert ready.value(position, "w") == pytest.approx(lookahead_ratio(position, "w") + 1)


# -- used only on request ---------------------------------------------------------------------


def test_variants_stand_behind_the_published_and_in_no_other_list() -> None:
    declared = [row for row in REGISTRY.values() if row.study != "user"]
    added = heuristic_table().rows
    assert {row.id for row in added} > {row.id for row in VARIANTS}
    assert declared == [*PUBLISHED, *LEARNED_HEURISTICS, *added]
    assert all(row.coded and not row.listed for row in VARIANTS)
    assert {row.id for row in VARIANTS} | {"main_prop"} == set(CODED)
    assert set(CODED) & set(published_ids()) == {"main_prop"}


def test_the_table_tells_what_the_functions_say() -> None:
    functions = {
        name: found
        for name, found in vars(as_coded).items()
        if found.__class__.__name__ == "CPUDispatcher"
        and found.py_func.__module__ == as_coded.__name__
        and [*inspect.signature(found.py_func).parameters] == [*PARAMETERS]
    }
    rows = {row.id.removeprefix("coded:"): row for row in heuristic_table().rows}
    assert rows.keys() == functions.keys()
    for name, row in rows.items():
        assert row.score is functions[name]
        assert row.formula
        assert row.summary.endswith(".")
        assert len(row.summary) <= 95
        assert "_" not in row.summary  # a sentence without ids of heuristics
        if row in VARIANTS:
            assert row.summary == " ".join(str(row.score.__doc__).split("\n\n")[0].split())


def test_the_league_has_no_variant() -> None:
    assert not {row.id for row in VARIANTS} & set(league_heuristics(studies().values()))
