"""Tests of the learned move order: its counts, its costs, and that the solver uses it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from naive import knight_moves
from naive_solver import openings, plies_to_end

from benchmarks import move_order as order
from benchmarks.move_order import Choice, Move
from knightfall.board import Board
from knightfall.position import Position, other
from knightfall.solver.engine import UPPER_SHARE, Engine
from knightfall.solver.reflection import loses_by_reflection

Cells = frozenset[int]


def reached(board: Board, cells: Cells, open: Cells) -> Cells:
    """Return the open cells a knight's move from any of some cells."""
    return open & {there for cell in cells for there in knight_moves(board, cell)}


def sizes(position: Position, cell: int) -> tuple[int, int, int]:
    """Return the three counts by which the solver orders a move: ways on, contact and meeting."""
    board, waiter = position.board, position.knight(other(position.to_move))
    assert waiter is not None
    in_one = reached(board, frozenset({waiter}), position.open)
    in_two = reached(board, in_one, position.open)
    in_three = reached(board, in_two, position.open)
    after = position.open - {cell}
    ways = reached(board, frozenset({cell}), after)
    meeting = reached(board, ways, after) & (in_two | in_three)
    return len(ways), len(ways & (in_one | in_two)), len(meeting)


@dataclass
class PlainSearch:
    """The solver's search of `winloss.py`, on sets of cells."""

    upper: int
    nodes: int = 0
    known: dict[Position, bool] = field(default_factory=dict)

    def lost_at_once(self, position: Position) -> bool:
        """Return whether the waiter has no target, or only one that the mover can take."""
        ways = position.targets(other(position.to_move))
        return not ways or (len(ways) == 1 and set(ways) <= set(position.targets(position.to_move)))

    def wins(self, position: Position) -> bool:
        if position in self.known:
            return self.known[position]
        self.nodes += 1
        careful = len(position.open) >= self.upper
        found = not (careful and loses_by_reflection(position)) and self.tries(position, careful)
        if careful:
            self.known[position] = found
        return found

    def tries(self, position: Position, careful: bool) -> bool:
        ranked = []
        for name in position.legal_moves:
            after = position.play(name)
            if self.lost_at_once(after):
                continue
            if careful and loses_by_reflection(after):
                return True
            cell = position.board.cell(name)
            ways, contact, meeting = sizes(position, cell)
            ranked.append((-(ways + 4 * contact + 2 * meeting * careful), cell, after))
        return any(not self.wins(after) for *_, after in sorted(ranked, key=lambda one: one[:2]))


@pytest.mark.parametrize("size", [(4, 4), (4, 5), (5, 5)])
def test_the_solver_tries_moves_in_the_learned_order(size: tuple[int, int]) -> None:
    board = Board.of(*size)
    searched = 0
    for opening in random.Random(3).sample(openings(board), 12):
        plain = PlainSearch(round(board.cells * UPPER_SHARE))
        if not opening.legal_moves or plain.lost_at_once(opening):
            continue
        engine = Engine(board, table_mb=1)
        assert engine.wins(opening) == plain.wins(opening)
        assert engine.nodes == plain.nodes, opening.fen
        searched += plain.nodes
    assert searched > 50


def test_moves_are_told_with_their_sizes_and_the_truth() -> None:
    for opening in random.Random(4).sample(openings(Board.of(4, 5)), 20):
        told = order.moves_of(opening)
        for move in told:
            after = opening.play(opening.board.name(move.cell))
            assert (move.ways, move.contact, move.meeting) == sizes(opening, move.cell)
            assert move.wins == (plies_to_end(after) % 2 == 0)
            assert move.nodes >= 1
        left_out = set(opening.targets(opening.to_move)) - {move.cell for move in told}
        for cell in left_out:
            assert plies_to_end(opening.play(opening.board.name(cell))) == 1


def move(ways: int, contact: int, meeting: int, wins: bool, nodes: int) -> Move:
    return Move(8 * ways + contact, ways, contact, meeting, wins, nodes)


BAIT = move(5, 1, 6, wins=False, nodes=90)
GOOD = move(2, 2, 4, wins=True, nodes=10)
SLOW = move(1, 1, 1, wins=True, nodes=40)


def test_an_order_costs_what_is_searched_up_to_the_first_win() -> None:
    choice = Choice(True, (SLOW, BAIT, GOOD))
    assert choice.nodes((1, 0, 0)) == 90 + 10
    assert choice.nodes((1, 4, 0)) == 10
    assert choice.nodes((-1, 0, 0)) == 40


def test_the_weights_with_the_least_cost_are_found() -> None:
    choice = Choice(False, (SLOW, BAIT, GOOD))
    # With a contact weight of 3 or more, the good move comes before the bait; both then score 8.
    assert order.learned([choice] * 3, upper=False) == (1, 3, 0)
    assert order.cost([choice], (1, 0, 0)) == 10  # the present order takes 10 nodes


def test_walks_are_drawn_from_their_split_and_the_same_again() -> None:
    board = Board.of(5, 5)
    train = order.choices(board, "train", 6, seed=1)
    assert train == order.choices(board, "train", 6, seed=1)
    assert train != order.choices(board, "train", 6, seed=2)
    assert train != order.choices(board, "test", 6, seed=1)
    assert {choice.upper for choice in train} == {True, False}
    for choice in train:
        assert any(one.wins for one in choice.moves)
        assert len(choice.moves) > 1


def test_the_command_tells_what_weights_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["order", "--board", "4x5", "--walks", "5"])
    order.main()
    told = capsys.readouterr().out.splitlines()
    assert "choices of training openings" in told[0]
    assert sum(line.startswith("  (1, ") for line in told) == 12
