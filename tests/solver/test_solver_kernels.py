"""The smallest compiled parts of the solver, and the types they are compiled for."""

from __future__ import annotations

import pkgutil
import random
import re
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inferred_types import inferred_types
from naive_search import mirrored, swapped
from numba import types
from solver_helpers import crowded, places, reflected
from strategies import WORDS

import knightfall.solver as package
from knightfall.board import Board
from knightfall.kernel.rules import GEOMETRY, geometry, words
from knightfall.position import Position
from knightfall.solver import game_length, proof_table, reflection, winloss
from knightfall.solver.proof_table import DTYPE, STATE

# -- the smallest parts ----------------------------------------------------------------------


def loses_by_reflection(position: Position) -> bool:
    """Return whether the board, rotated by 180°, is the same with the knights exchanged, and no
    open cell is its own image.
    """
    board = position.board
    turned = mirrored(position, tuple(reversed(range(board.cells))))
    centre = board.at(board.height // 2, board.width // 2)
    own_image = board.cells % 2 == 1 and centre in position.open
    return turned == replace(swapped(position), to_move=position.to_move) and not own_image


def test_reflection_is_seen_where_it_is() -> None:
    shapes = [Board.of(*size) for size in ((3, 3), (3, 4), (5, 5), (7, 7), (8, 8), (16, 4))]
    found = reflected(200, 6, 60, shapes)
    # With one cell less, or one more, it is not symmetric.
    rng = random.Random(7)
    for position in found[:100]:
        free = set(range(position.board.cells)) - {position.white, position.black}
        found.append(replace(position, open=position.open ^ {rng.choice(sorted(free))}))
    found += crowded(100, 8, 10, shapes)
    seen = set()
    for position in found:
        said = reflection.mirrored(geometry(position.board)[0], *words(position))
        assert said == loses_by_reflection(position), position.fen
        assert said == reflection.loses_by_reflection(position), position.fen
        seen.add(said)
    assert seen == {True, False}


@given(WORDS, WORDS)
def test_a_knight_is_trapped_without_a_way_that_stays_open(ways: int, enemy: int) -> None:
    few = ways & -ways  # otherwise sets of one cell would be rare
    for left in (ways, few, few & enemy, 0):
        on = [cell for cell in range(64) if left >> cell & 1]
        lost = len(on) < 2 and all(enemy >> cell & 1 for cell in on)
        assert winloss.trapped(left, enemy) == lost


@given(
    ply=st.integers(0, 65),
    moves=st.lists(
        st.tuples(st.integers(-1000, 200), st.integers(0, 63)), max_size=8, unique_by=lambda m: m[1]
    ),
)
def test_moves_are_kept_in_order(ply: int, moves: list[tuple[int, int]]) -> None:
    """Check that inserted moves are sorted by value, then by cell, and that no other ply's row
    changes.
    """
    states = np.zeros(1, DTYPE)
    for number, (value, cell) in enumerate(moves):
        winloss.insert(states[0], ply, number, value * 64 + cell)
    row = states["order"][0][ply]
    assert [int(move) & 63 for move in row[: len(moves)]] == [cell for _, cell in sorted(moves)]
    states["order"][0][ply] = 0
    assert not states["order"].any()


@given(places(), places(), st.integers(0, 66), st.integers(0, 66))
def test_threads_see_what_the_others_are_at(
    one: tuple[int, int, int], two: tuple[int, int, int], question: int, another: int
) -> None:
    marks = np.zeros(proof_table.MARKS, proof_table.MARK_DTYPE)
    mine, yours, alone = (np.zeros(1, DTYPE) for _ in range(3))
    mine["marks"] = yours["marks"] = marks.ctypes.data
    assert not proof_table.defer_move(yours[0], *one, question)
    proof_table.starting_search(mine[0], *one, question)
    assert proof_table.defer_move(yours[0], *one, question)
    assert proof_table.defer_move(yours[0], *two, another) == ((one, question) == (two, another))
    assert not proof_table.defer_move(alone[0], *one, question)
    proof_table.finished_search(alone[0], *one, question)
    assert proof_table.defer_move(yours[0], *one, question)
    proof_table.finished_search(yours[0], *one, question)
    assert not proof_table.defer_move(mine[0], *one, question)
    assert not marks["key"].any()


# -- types -----------------------------------------------------------------------------------


U64, I64, BOOL, VOID = types.uint64, types.int64, types.boolean, types.void


ONE_BOARD, ONE_STATE = types.Array(GEOMETRY, 1, "C"), types.Array(STATE, 1, "C")


PLACE = (U64, I64, I64)


SIGNATURES: dict[ModuleType, dict[str, Any]] = {
    proof_table: {
        "cells_of": U64(I64, I64),
        "hash_position": U64(U64, U64),
        "scrambled": U64(U64),
        "probe": U64(STATE, *PLACE),
        "store": VOID(STATE, *PLACE, U64),
        "outcome": I64(U64),
        "within": I64(U64),
        "beyond": I64(U64, I64),
        "with_outcome": U64(U64, I64),
        "with_answer": U64(U64, I64, BOOL),
        "_key": U64(*PLACE, I64),
        "defer_move": BOOL(STATE, *PLACE, I64),
        "starting_search": VOID(STATE, *PLACE, I64),
        "finished_search": VOID(STATE, *PLACE, I64),
    },
    reflection: {
        "mirrored": BOOL(GEOMETRY, *PLACE),
    },
    winloss: {
        "trapped": BOOL(U64, U64),
        "insert": VOID(STATE, I64, I64, I64),
        "_lower": BOOL(GEOMETRY, STATE, U64, U64, U64, I64),
        "_upper": BOOL(GEOMETRY, STATE, *PLACE, I64, I64),
        "mover_wins": BOOL(GEOMETRY, STATE, *PLACE),
        "who_wins": I64(ONE_BOARD, ONE_STATE, *PLACE),
    },
    game_length: {
        "_over_in_two": BOOL(GEOMETRY, U64, U64, U64),
        "_lower": BOOL(GEOMETRY, STATE, U64, U64, U64, I64, I64),
        "_upper": BOOL(GEOMETRY, STATE, *PLACE, I64, I64, I64),
        "ends_within": I64(ONE_BOARD, ONE_STATE, *PLACE, I64),
    },
}


def compiled_in(module: ModuleType) -> dict[str, Any]:
    """Return the compiled functions that a module defines."""
    return {
        name: found
        for name, found in vars(module).items()
        if hasattr(found, "nopython_signatures") and found.py_func.__module__ == module.__name__
    }


each_module = pytest.mark.parametrize("module", SIGNATURES, ids=lambda m: m.__name__)


def test_every_module_with_a_kernel_is_looked_at() -> None:
    names = [f"{package.__name__}.{one.name}" for one in pkgutil.iter_modules(package.__path__)]
    assert {module for module in map(import_module, names) if compiled_in(module)} == {*SIGNATURES}


@each_module
def test_every_kernel_is_compiled_once_and_for_the_right_types(module: ModuleType) -> None:
    found = compiled_in(module)
    assert {name: one.nopython_signatures for name, one in found.items()} == {
        name: [signature] for name, signature in SIGNATURES[module].items()
    }


@each_module
def test_the_compiler_infers_the_same_types_by_itself(module: ModuleType) -> None:
    """Check that Numba infers no float anywhere; the declared result type alone would hide one."""
    for name, function in compiled_in(module).items():
        told = inferred_types(function.py_func, SIGNATURES[module][name].args)
        assert re.search(r":: u?int64", told), name
        assert not re.search(r":: float", told), name
