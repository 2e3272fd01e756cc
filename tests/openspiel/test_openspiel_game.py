"""The game ``knights_isolation``, judged by OpenSpiel's own checks and by our plain rules."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from helpers import need
from naive_solver import BruteForce
from strategies import boards

need("pyspiel", "open_spiel")

import pyspiel  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from open_spiel.python.algorithms import minimax  # noqa: E402

import knightfall as kf  # noqa: E402
import knightfall.openspiel  # noqa: E402
from knightfall.board import Board  # noqa: E402
from knightfall.errors import KnightfallError  # noqa: E402
from knightfall.openings import openings  # noqa: E402
from knightfall.position import Position, other  # noqa: E402

PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("*.txt"))


def load(board: str = "7x7", placement: str = "free") -> pyspiel.Game:
    return pyspiel.load_game(f"knights_isolation(board={board},placement={placement})")


# -- OpenSpiel's own checks -------------------------------------------------------------------


@pytest.mark.parametrize("placement", ["free", "random"])
@pytest.mark.parametrize("board", ["7x7", "3x3", "8x8"])
def test_openspiel_s_random_simulations_pass(
    board: str, placement: str, capfd: pytest.CaptureFixture[str]
) -> None:
    game = load(board, placement)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    start = openings(Board.named(board))[-1]
    state = game.new_initial_state(start)
    pyspiel.random_sim_test_with_specific_initial_state(game, 1, state)
    assert capfd.readouterr().out.count("Reached a terminal state") == 1


@pytest.mark.parametrize("file", PLAYTHROUGHS, ids=lambda file: file.stem)
def test_the_game_still_plays_its_playthrough(file: Path) -> None:
    """Compare with the committed record of a game, which OpenSpiel's own tests do for its games.

    ``python tests/openspiel/playthroughs/write.py`` writes them again after a change of the game.
    """
    from absl import flags
    from open_spiel.python.algorithms import generate_playthrough

    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()
    stored, played = generate_playthrough.replay(str(file))
    assert played == stored


def test_there_is_a_playthrough_of_each_placement() -> None:
    assert {file.stem for file in PLAYTHROUGHS} == {"free_placement", "random_placement"}


# -- the rules --------------------------------------------------------------------------------


def check_state(state: pyspiel.State, position: Position) -> None:
    """Compare all that a state shows with a `Position`."""
    board = position.board
    assert str(state) == position.fen
    assert state.position == position
    assert state.is_terminal() == (position.winner is not None)
    loses = {"w": [-1.0, 1.0], "b": [1.0, -1.0]}[position.to_move]
    assert state.returns() == (loses if position.winner else [0.0, 0.0])
    names = [state.action_to_string(action) for action in state.legal_actions()]
    assert tuple(names) == position.legal_moves
    if not state.is_terminal():
        assert state.current_player() == "wb".index(position.to_move)
        mask = state.legal_actions_mask()
        assert [board.name(cell) for cell, one in enumerate(mask) if one] == names
    drawn = {"white": position.white, "black": position.black}
    for player in (0, 1):
        seen = state.observation_tensor(player)
        planes = [seen[start : start + board.cells] for start in range(0, len(seen), board.cells)]
        assert len(planes) == 4
        for plane, knight in zip(planes, drawn.values(), strict=False):
            assert {cell for cell, value in enumerate(plane) if value} == {knight} - {None}
        assert {cell for cell, value in enumerate(planes[2]) if value} == position.open
        assert set(planes[3]) == {1.0 if position.to_move == "w" else 0.0}
        assert state.observation_string(player) == position.fen


@given(boards(), st.randoms(use_true_random=False))
def test_random_games_follow_the_rules_in_plain_python(board: Board, rng: random.Random) -> None:
    state = load(board.text).new_initial_state()
    position = Position.start(board.width, board.height)
    check_state(state, position)
    while not state.is_terminal():
        before = state.clone()
        move = rng.choice(position.legal_moves)
        state.apply_action(state.string_to_action(move))
        assert str(before) == position.fen
        position = position.play(move)
        check_state(state, position)
    assert len(state.history()) <= state.get_game().max_game_length()


@pytest.mark.parametrize("size", ["7x7", "3x3", "3x4", "5x3"])
def test_chance_makes_every_opening_equally_likely(size: str) -> None:
    game = load(size, "random")
    shares: dict[str, float] = {}
    first = game.new_initial_state()
    assert first.is_chance_node()
    for cell, share in first.chance_outcomes():
        second = first.child(cell)
        for other_cell, other_share in second.chance_outcomes():
            shares[str(second.child(other_cell))] = share * other_share
    expected = openings(Board.named(size))
    assert sorted(shares) == sorted(expected)
    assert all(share == pytest.approx(1 / len(expected)) for share in shares.values())


def test_a_state_begins_at_a_fen() -> None:
    fen = "3*3/7/1N5/7/7/4n2/7 b"
    state = load().new_initial_state(fen)
    check_state(state, Position.from_fen(fen))
    check_state(state.clone(), Position.from_fen(fen))
    check_state(load(placement="random").new_initial_state(fen), Position.from_fen(fen))
    half = Position.start().play("c4")
    check_state(load().new_initial_state(half.fen), half)


def test_games_and_states_are_pickled() -> None:
    state = load("5x4", "random").new_initial_state("5/2N2/4n/5 w")
    state.apply_action(state.legal_actions()[0])
    again = pickle.loads(pickle.dumps(state))
    assert (str(again), again.history()) == (str(state), state.history())
    assert str(again.get_game()) == "knights_isolation(board=5x4,placement=random)"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ("board=2x9", "a 2×9 board is too small"),
        ("board=seven", "board 'seven' cannot be read: write width and height, as in 7x7"),
        ("placement=mine", "placement 'mine' is unknown: it must be free or random"),
    ],
)
def test_what_is_no_game_is_refused(parameters: str, says: str) -> None:
    with pytest.raises(KnightfallError, match=says):
        pyspiel.load_game(f"knights_isolation({parameters})")


def test_what_is_no_state_of_the_game_is_refused() -> None:
    with pytest.raises(KnightfallError, match=r"has a board of 5x5; this game's board is 7x7"):
        load().new_initial_state("5/2N2/5/3n1/5 w")
    with pytest.raises(KnightfallError, match="with placement=random both must be placed"):
        load(placement="random").new_initial_state(Position.start().fen)
    with pytest.raises(KnightfallError, match="observations have no parameters"):
        load().make_py_observer(None, {"planes": 3})


# -- OpenSpiel's searches -----------------------------------------------------------------------


@pytest.mark.parametrize("size", ["4x4", "5x3", "3x5"])
def test_their_alpha_beta_finds_our_solver_s_values(size: str) -> None:
    game = load(size)
    fens = random.Random(size).sample(openings(Board.named(size)), 6)
    values = set()
    for fen in fens:
        value, action = minimax.alpha_beta_search(game, game.new_initial_state(fen))
        solved = kf.solve(Position.from_fen(fen))
        assert (value > 0) == (solved.winner == "w"), fen
        if value > 0:
            assert game.board.name(action) in solved.winning_moves
        values.add(value)
    assert values == {1.0, -1.0}


def test_their_alpha_beta_solves_a_whole_game_with_placements() -> None:
    value, _ = minimax.alpha_beta_search(load("3x3"))
    truth = BruteForce(Board.of(3, 3)).plies(Position.start(3, 3))
    assert value == (1 if truth % 2 else -1)


def test_their_expectation_over_placements_is_the_share_of_won_openings() -> None:
    value, _ = minimax.expectiminimax(load("3x3", "random").new_initial_state(), 20, None, 0)
    brute, fens = BruteForce(Board.of(3, 3)), openings(Board.of(3, 3))
    won = sum(brute.plies(Position.from_fen(fen)) % 2 for fen in fens)
    assert 0 < won < len(fens)
    assert value == pytest.approx((2 * won - len(fens)) / len(fens))


def test_their_alpha_beta_with_our_heuristic_finds_our_search_s_values() -> None:
    game, ours = load(), kf.agent("alphabeta(improved, depth=3)")
    heuristic = kf.evaluator("improved")
    for fen in openings(Board.of(7, 7))[::1000]:
        position = Position.from_fen(fen)
        value, _ = minimax.alpha_beta_search(
            game,
            game.new_initial_state(fen),
            value_function=lambda state: heuristic.value(state.position, "w"),
            maximum_depth=3,
        )
        assert value == ours.analyse(position).score


def test_their_tree_search_proves_what_is_true() -> None:
    game = load("4x4")
    for fen in openings(Board.of(4, 4))[::80]:
        state = game.new_initial_state(fen)
        rollouts = pyspiel.RandomRolloutEvaluator(1, 7)
        root = pyspiel.MCTSBot(game, rollouts, 2.0, 5000, 100, True, 7, False).mcts_search(state)
        winner = kf.solve(Position.from_fen(fen)).winner
        assert winner in ("w", other("w"))
        assert root.outcome == ([1.0, -1.0] if winner == "w" else [-1.0, 1.0])
