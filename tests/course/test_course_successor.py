"""The successor's board, compared with a naive one and with the specification."""

from __future__ import annotations

import pickle
import random
from math import inf
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from naive_course import NaiveSuccessor
from seeded import Pocket

from knightfall.course import generation_successor
from knightfall.course.generation_successor import (
    Action,
    BasePlayer,
    DataPlayer,
    GreedyPlayer,
    Isolation,
    MinimaxPlayer,
    RandomPlayer,
    StopSearch,
    TimedQueue,
)
from knightfall.course.trial.successor_games import SCORES, SuccessorSearch


def after(*actions: int) -> Isolation:
    state = Isolation()
    for action in actions:
        state = state.result(action)
    return state


def test_dimensions() -> None:
    assert (
        generation_successor._WIDTH,
        generation_successor._HEIGHT,
        generation_successor._SIZE,
    ) == (11, 9, 115)
    board = Isolation().board
    assert board.bit_length() == 115
    assert board.bit_count() == 99
    rows = [board >> 13 * row & 0b1111111111111 for row in range(9)]
    assert rows == [0b0011111111111] * 9
    assert Isolation._fields == ("board", "ply_count", "locs")
    assert Isolation() == (board, 0, (None, None))


def test_actions_come_in_the_courses_order() -> None:
    assert list(Action) == [25, 11, -15, -27, -25, -11, 15, 27]
    state = after(5 + 13 * 4, 0)
    assert state.actions() == [25, 11, -15, -27, -25, -11, 15, 27]
    assert all(isinstance(action, Action) for action in state.actions())
    assert Action.NNE == 2 * 13 - 1


def test_random_games() -> None:
    quirks = 0
    for seed in range(300):
        rng = random.Random(seed)
        state, naive = Isolation(), NaiveSuccessor()
        while True:
            numbers = [None if cell is None else naive.number(cell) for cell in naive.cells]
            assert state.player() == naive.plies % 2
            assert state.ply_count == naive.plies
            assert list(state.locs) == numbers
            assert state.board == sum(1 << naive.number(cell) for cell in naive.open)
            assert state.actions() == naive.actions()
            for player, loc in enumerate(state.locs):
                near = [naive.number(cell) for cell in naive.around(naive.cells[player])]
                assert state.liberties(loc) == near
                assert state._has_liberties(player) == (not naive.stuck(player))
                quirks += near == [0]
            over = naive.stuck(0) or naive.stuck(1)
            assert state.terminal_test() == over
            me = state.player()
            if over:
                lost = naive.stuck(me)
                assert state.utility(me) == (-inf if lost else inf)
                assert state.utility(1 - me) == (inf if lost else -inf)
                break
            assert state.utility(0) == state.utility(1) == 0
            action = rng.choice(state.actions())
            state = state.result(action)
            naive.play(action)
    assert quirks, "cell 0 was the only liberty of some"


def test_who_can_only_go_to_cell_0_is_stuck() -> None:
    board = 1 | 1 << 49
    state = Isolation(board, 10, (27, 49 + 25))
    assert state.liberties(27) == [0]
    assert state.actions() == [Action.SSE]
    assert not state._has_liberties(0)
    assert generation_successor._has_liberties(state, 1)
    assert state.terminal_test()
    assert state.utility(0) == -inf
    assert state.utility(1) == inf


@pytest.mark.slow
def test_cell_0_decides_as_many_games_as_it_did_on_the_original() -> None:
    """Check that the bug of cell 0 decides about as many random games as on the original: 190 of
    20,000, within three standard deviations.
    """
    rng, decided = random.Random(1), 0
    for _ in range(20_000):
        state = Isolation()
        while not state.terminal_test():
            state = state.result(rng.choice(state.actions()))
        decided += any(state.liberties(loc) == [0] for loc in state.locs)
    assert abs(decided - 190) < 3 * (2 * 190) ** 0.5


def test_either_player_stuck_ends_the_game() -> None:
    state = Isolation(1 << 49, 10, (49 + 25, 114))
    assert state.actions() == [Action.SSW]
    assert state.terminal_test()
    assert (state.utility(0), state.utility(1)) == (inf, -inf)


def test_a_subclass_may_build_its_results_itself() -> None:
    class Mine(Isolation):
        def mobility(self) -> int:
            return len(self.liberties(self.locs[0]))

        def result(self, action: int) -> Mine:
            return Mine(*super().result(action))

    state = Mine(*after(57, 0))
    deeper = state.result(Action.NNE)
    assert isinstance(deeper, Mine)
    assert deeper.mobility() == 7
    assert deeper == after(57, 0, 25)


def test_states_are_values() -> None:
    assert {after(3, 5): "known"}[after(3, 5)] == "known"
    assert pickle.loads(pickle.dumps(after(3, 5))) == after(3, 5)


def asked(player: BasePlayer, state: Isolation) -> list[Any]:
    player.queue = pocket = Pocket()
    player.get_action(state)
    return pocket


@pytest.mark.parametrize("kind", [RandomPlayer, GreedyPlayer, MinimaxPlayer])
def test_sample_players_play_whole_games(kind: type[BasePlayer]) -> None:
    random.seed(3)
    players = [kind(player_id=0), RandomPlayer(player_id=1)]
    state = after(57, 43)
    while not state.terminal_test():
        (action,) = asked(players[state.player()], state)
        assert action in state.actions()
        state = state.result(action)
    assert asked(kind(0), Isolation())[0] in Isolation().actions()


def test_the_greedy_player_takes_the_most_liberties() -> None:
    state = after(57, 0)
    (action,) = asked(GreedyPlayer(0), state)
    assert len(state.liberties(57 + action)) == max(
        len(state.liberties(57 + one)) for one in state.actions()
    )


def test_minimax_sees_a_win_in_one() -> None:
    # Player 1 stands on 114 with one liberty; player 0 takes it.
    state = Isolation(1 << 87 | 1 << 11 | 1 << 37, 20, (87 - 25, 114))
    assert state.liberties(114) == [87]
    assert asked(MinimaxPlayer(0), state) == [Action.NNE]


def test_players_have_what_agents_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    player = DataPlayer(player_id=1)
    assert (player.player_id, player.context, player.data, player.queue) == (1, None, None, None)
    Path("data.pickle").write_bytes(pickle.dumps({"opening": 57}))
    assert DataPlayer(0).data == {"opening": 57}
    assert BasePlayer(0).data is None
    with pytest.raises(NotImplementedError):
        BasePlayer(0).get_action(Isolation())


def test_a_late_put_stops_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(generation_successor, "perf_counter", lambda: now[0])
    player, (receiver, sender) = BasePlayer(0), Pipe()
    player.queue = TimedQueue(receiver, sender)
    player.queue.agent = player
    player.queue.start_timer()
    player.queue.put(57)
    assert player.queue.get() == (None, 57)
    player.context = "deeper"
    now[0] = 0.149
    player.queue.put_nowait(43)
    now[0] = 0.151
    with pytest.raises(StopSearch):
        player.queue.put(0)
    assert player.queue.get_nowait() == ("deeper", 43)


def random_states(seeds: range) -> list[Isolation]:
    found = []
    for seed in seeds:
        rng, state = random.Random(seed), Isolation()
        for _ in range(2 + rng.randrange(50)):
            if state.ply_count >= 2 and state.terminal_test():
                break
            state = state.result(rng.choice(state.actions()))
        if state.ply_count >= 2 and not state.terminal_test():
            found.append(state)
    return found


def plain_value(state: Isolation, depth: int, score: str, me: int) -> float:
    """Return the minimax value for one player; shorter wins count more."""
    if state.terminal_test():
        return (1000 - state.ply_count) * (1 if state.utility(me) > 0 else -1)
    if depth == 0:
        mover = state.player()
        value = SCORES[score](state, mover)
        return value if mover == me else -value
    values = [plain_value(state.result(a), depth - 1, score, me) for a in state.actions()]
    return max(values) if state.player() == me else min(values)


@pytest.mark.parametrize("score", SCORES)
def test_our_searches_find_what_minimax_finds(score: str) -> None:
    pruned = 0
    for state in random_states(range(60)):
        values = {
            action: plain_value(state.result(action), 2, score, state.player())
            for action in state.actions()
        }
        best = next(action for action in values if values[action] == max(values.values()))
        whole, cut = (
            SuccessorSearch(SCORES[score], 3, prunes=False),
            SuccessorSearch(SCORES[score], 3),
        )
        assert whole.action(state) == cut.action(state) == best
        pruned += whole.nodes - cut.nodes
    assert pruned > 0


def test_a_search_agrees_with_the_course_s_minimax() -> None:
    """Compare our search with the course's minimax where no game ends within three plies, because
    the course's counts quick and slow wins alike.
    """
    agreed = 0
    for state in random_states(range(100, 160)):
        if abs(plain_value(state, 3, "improved", state.player())) < 100:
            player = MinimaxPlayer(state.player())
            if all(abs(plain_value(state.result(a), 2, "improved", 0)) < 100
                   for a in state.actions()):  # fmt: skip
                assert SuccessorSearch(SCORES["improved"], 3).action(state) == player.minimax(
                    state, 3
                )
                agreed += 1
    assert agreed > 10


def test_deepening_wins_where_it_can() -> None:
    won = 0
    for seed in range(60):
        rng, before, state = random.Random(seed), Isolation(), Isolation()
        while state.ply_count < 2 or not state.terminal_test():
            before, state = state, state.result(rng.choice(state.actions()))
        me = before.player()
        if state.utility(me) > 0:  # the last move won
            found = before.result(SuccessorSearch(SCORES["null"], seconds=5.0).action(before))
            assert found.utility(me) > 0
            won += 1
    assert won > 3
