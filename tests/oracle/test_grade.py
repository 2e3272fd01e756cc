"""Tests that grades agree with a recount in plain Python, with any runner and interruption."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from cli_runner import run
from hypothesis import given
from hypothesis import strategies as st
from oracle_helpers import BOARD, mover_wins, naive_winning_moves

from knightfall import KnightfallError
from knightfall.agents import Agent, agent
from knightfall.arena.plan import Match, Plan, enter
from knightfall.board import Board
from knightfall.openings import openings
from knightfall.oracle import grade as grade_module
from knightfall.oracle.grade import Grade, grade
from knightfall.oracle.graded_games import Analyst, draw_openings, phase_of, records_of
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.solver.solve import Solver
from knightfall.statistics.rates import (
    Scored,
    Share,
    auc,
    clustered_error,
    quantile_bins,
)

PATIENCE = 120


class Chooser:
    """A player that prefers winning moves, or losing ones, and takes the last of them."""

    def __init__(self, likes_winning: bool) -> None:
        self.likes_winning = likes_winning

    def analyse(self, position: Position) -> Report:
        winning = naive_winning_moves(position)
        losing = [move for move in position.legal_moves if move not in winning]
        first, second = (winning, losing) if self.likes_winning else (losing, winning)
        move = (first or second)[-1]
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=0.0, pv=(move,))


def timeless(result: Grade) -> Grade:
    return replace(result, seconds=0.0)


# -- grade, recounted --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "greedy(improved)", "id(bfs_reach, nodes=30)"])
def test_grade_equals_a_recount_in_plain_python(name: str) -> None:
    player, number = agent(name), 18
    result = grade(name, openings=number, seed=5, board=BOARD)
    counts = {
        kind: {"positions": 0, "won": 0, "choices": 0, "kept": 0}
        for kind in ("overall", "hunter", "runner", "opening", "middle", "end")
    }
    first_blunders: list[int | None] = []
    scores: list[tuple[float, bool]] = []
    proven = 0
    for opening in draw_openings(BOARD, number, 5):
        position, ply, blunder = opening, 0, None
        while position.legal_moves:
            ply += 1
            report = player.analyse(position)
            winning = naive_winning_moves(position)
            left = len(position.open) / BOARD.cells
            phase = "opening" if left > 2 / 3 else "middle" if left > 1 / 3 else "end"
            role = "hunter" if position.hunter == position.to_move else "runner"
            for kind in ("overall", role, phase):
                row = counts[kind]
                row["positions"] += 1
                row["won"] += bool(winning)
                if 0 < len(winning) < len(position.legal_moves):
                    row["choices"] += 1
                    row["kept"] += report.move in winning
            if blunder is None and winning and report.move not in winning:
                blunder = ply
            if report.proven:
                proven += 1
                assert (report.score > 0) == bool(winning)
            elif name != "random":
                scores.append((report.score, bool(winning)))
            position = position.play(report.move)
        first_blunders.append(blunder)

    assert counts["overall"]["choices"] > 20
    for kind, row in counts.items():
        found = result.wins_kept[kind]
        assert (found.positions, found.won) == (row["positions"], row["won"])
        assert found.kept == Share(row["kept"], row["choices"])
        assert found.forced == row["won"] - row["choices"]
    assert result.first_blunder.without == Share(first_blunders.count(None), number)
    blundered = sorted(ply for ply in first_blunders if ply is not None)
    assert sum(result.first_blunder.plies.values()) == len(blundered)
    assert set(result.first_blunder.plies) == set(blundered)
    assert result.first_blunder.quartiles is not None
    _, median, _ = result.first_blunder.quartiles
    below = sum(ply < median for ply in blundered)
    above = sum(ply > median for ply in blundered)
    assert max(below, above) <= len(blundered) / 2

    if name == "random":
        assert result.reliability is None
        return
    assert result.reliability is not None
    assert result.reliability.scored == len(scores)
    assert result.reliability.proven == Share(proven, proven)
    for each in result.reliability.bins:
        inside = [won for score, won in scores if each.lowest <= score <= each.highest]
        assert each.won == Share(sum(inside), len(inside))
    assert result.reliability.auc is not None
    assert result.reliability.auc.value == pytest.approx(pairs_in_order(scores))


def test_a_perfect_choice_keeps_every_win_and_a_perverse_one_none() -> None:
    perfect = grade(Chooser(True), openings=15, board=BOARD)
    overall = perfect.wins_kept["overall"]
    assert overall.kept.of > 10
    assert overall.kept.rate == 1
    assert overall.error == 0
    assert perfect.first_blunder.without == Share(15, 15)
    assert perfect.first_blunder.quartiles is None
    perverse = grade(Chooser(False), openings=15, board=BOARD)
    assert perverse.wins_kept["overall"].kept.of > 10
    assert perverse.wins_kept["overall"].kept.rate == 0
    # A random mover is in between, about where chance puts it.
    middling = grade("random", openings=100, board=BOARD).wins_kept["overall"]
    assert middling.chance is not None
    assert middling.error is not None
    assert middling.kept.rate is not None
    assert 0.2 < middling.kept.rate < 0.8
    assert abs(middling.kept.rate - middling.chance) < 4 * middling.error


def test_same_seed_same_grade_and_another_seed_another() -> None:
    once = grade("greedy(open)", openings=12, seed=1, board=BOARD)
    assert timeless(grade("greedy(open)", openings=12, seed=1, board=BOARD)) == timeless(once)
    other_seed = grade("greedy(open)", openings=12, seed=2, board=BOARD)
    assert other_seed.wins_kept != once.wins_kept


def test_any_number_of_workers_finds_the_same() -> None:
    alone = grade("id(improved, nodes=50)", openings=9, board=BOARD)
    shared = grade("id(improved, nodes=50)", openings=9, board=BOARD, workers=2)
    assert timeless(shared) == timeless(alone)


def test_what_a_heuristic_does_wrong_in_a_worker_is_told_here(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from knightfall.heuristics import mobility\n"
        "def late(board, open, me, opp, to_move):\n"
        "    if mobility(board, open, opp) > 1:\n"
        "        return 0.0\n"
        "    raise ValueError('too late')\n"
    )
    player = agent(f"greedy({file}:late)")  # it is prepared and tried on a large board
    with pytest.raises(KnightfallError, match=r"line 5: ValueError: too late"):
        grade(player, openings=2, board=BOARD, workers=2)


def test_what_only_this_process_knows_is_not_asked_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Agent, "is_process_local", True)
    with pytest.raises(KnightfallError, match="is a function of this process"):
        grade("greedy(open)", openings=2, board=BOARD, workers=2)


@pytest.mark.parametrize("board", [Board.of(3, 3), Board.of(3, 4), Board.of(5, 3)])
def test_boards_on_which_games_may_be_over_at_once(board: Board) -> None:
    every = len(openings(board))
    result = grade("greedy(improved)", openings=every, board=board)
    assert result.games == every
    assert result.first_blunder.without.of == every
    truth = Solver.of(board)
    for opening in draw_openings(board, every, 0):
        assert truth.wins(opening) == mover_wins(opening)


def test_truth_about_a_large_board_agrees_with_separate_questions() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    truth = Solver.of(position.board)
    assert truth.wins(position)  # known
    winning = truth.winning_moves(position)
    for move in position.legal_moves:
        assert (move in winning) != truth.wins(position.play(move))


# -- openings and phases -----------------------------------------------------------------------


def test_openings_are_distinct_and_fewer_are_the_first_of_more() -> None:
    every = draw_openings(BOARD, 380, 3)
    assert len(set(every)) == 380
    assert all(len(opening.open) == 18 and opening.to_move == "w" for opening in every)
    assert draw_openings(BOARD, 7, 3) == every[:7]
    assert draw_openings(BOARD, 7, 4) != every[:7]
    for number in (0, 381):
        with pytest.raises(KnightfallError, match=f"openings={number} must be from 1 to 380"):
            draw_openings(BOARD, number, 0)


@pytest.mark.parametrize("seed", [0, 7])
def test_openings_are_those_a_match_of_that_seed_plays_first(seed: int) -> None:
    plan = Plan("match", enter(["random", "greedy(open)"]), (Match(0, 1),), 9, seed, board="4x5")
    played = [task.opening for task in plan.tasks()]
    assert [opening.fen for opening in draw_openings(BOARD, 9, seed)] == played


@pytest.mark.parametrize("left", [47, 33, 32, 17, 16, 0])
def test_phases_are_thirds_of_the_board(left: int) -> None:
    start = Position.start()
    position = replace(start, open=frozenset(range(left)), white=47, black=48)
    expected = "opening" if left >= 33 else "middle" if left >= 17 else "end"
    assert phase_of(position) == expected


# -- arithmetic --------------------------------------------------------------------------------


def test_clustered_error_of_equal_games_is_that_of_their_means() -> None:
    kept = [3, 5, 4, 5, 2, 0]
    mean = sum(kept) / 5 / len(kept)
    spread = math.sqrt(sum((k / 5 - mean) ** 2 for k in kept) / len(kept))
    cases = [(game, k, 5) for game, k in enumerate(kept)]
    assert clustered_error(cases) == pytest.approx(spread / math.sqrt(len(kept)))
    # Cases may be given one by one or summed, and cases with n = 0 change nothing.
    single = [(game, int(i < k), 1) for game, k in enumerate(kept) for i in range(5)]
    assert clustered_error([*single, (99, 0, 0)]) == pytest.approx(clustered_error(cases))


def test_games_of_one_family_add_no_certainty() -> None:
    cases = [(0, 3, 4), (1, 1, 5), (2, 4, 4), (3, 0, 2)]
    error = clustered_error(cases)
    assert error is not None
    assert clustered_error(cases * 9) == pytest.approx(error)
    renamed = [(family + 10 * copy, k, n) for copy in range(9) for family, k, n in cases]
    assert clustered_error(renamed) == pytest.approx(error / 3)
    assert clustered_error(cases[:1]) is None
    assert clustered_error([]) is None


def test_clustered_error_is_what_repeated_sampling_shows() -> None:
    rng = random.Random(1)

    def sample() -> list[tuple[int, int, int]]:
        cases = []
        for family in range(60):
            skill, size = rng.choice([0.5, 0.95]), rng.randint(1, 8)
            cases += [(family, int(rng.random() < skill), 1) for _ in range(size)]
        return cases

    samples = [sample() for _ in range(400)]
    rates = [sum(k for _, k, _ in cases) / len(cases) for cases in samples]
    mean = sum(rates) / len(rates)
    seen = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates))
    claimed = sum(clustered_error(cases) or 0 for cases in samples) / len(samples)
    assert claimed == pytest.approx(seen, rel=0.12)
    naive = math.sqrt(mean * (1 - mean) / (60 * 4.5))
    assert seen > 1.3 * naive  # so that clustering matters


def pairs_in_order(scores: list[tuple[float, bool]]) -> float:
    """Return the AUC, computed by comparing every won position with every lost one."""
    won = [score for score, is_won in scores if is_won]
    lost = [score for score, is_won in scores if not is_won]
    points = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in product(won, lost)]
    return sum(points) / len(points)


SCORES = st.sampled_from([-math.inf, -2.0, -0.5, 0.0, 0.5, 1.0, 3.0, math.inf])


@given(st.lists(st.tuples(SCORES, st.booleans()), max_size=40))
def test_auc_counts_pairs(scores: list[tuple[float, bool]]) -> None:
    found = auc([Scored(score, won, family) for family, (score, won) in enumerate(scores)])
    if len({won for _, won in scores}) < 2:
        assert found is None
        return
    assert found is not None
    assert found.value == pytest.approx(pairs_in_order(scores))
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
    # DeLong's error, written out: the spread of each side's share of pairs in order.
    variance = 0.0
    for kind in (True, False):
        shares = [
            pairs_in_order([(score, won), *((s, w) for s, w in scores if w != kind)])
            for score, won in scores
            if won == kind
        ]
        mean = sum(shares) / len(shares)
        variance += sum((share - mean) ** 2 for share in shares) / len(shares) ** 2
    assert found.error == pytest.approx(math.sqrt(variance), abs=1e-12)


def test_auc_knows_families() -> None:
    cases = [Scored(score % 7, score % 3 == 0, score // 5) for score in range(60)]
    once, thrice = auc(cases), auc(cases * 3)
    assert once is not None
    assert thrice is not None
    assert (thrice.value, thrice.error) == pytest.approx((once.value, once.error))
    alone = auc([replace(case, family=0) for case in cases])
    assert alone is not None
    assert alone.error is None
    assert alone.interval == (0, 1)


@given(st.lists(st.tuples(SCORES, st.booleans()), max_size=60), st.integers(1, 12))
def test_bins_share_out_the_scores_in_order(scores: list[tuple[float, bool]], bins: int) -> None:
    found = quantile_bins([Scored(score, won, 0) for score, won in scores], bins)
    assert len(found) <= bins
    assert sum(each.won.of for each in found) == len(scores)
    assert sum(each.won.count for each in found) == sum(won for _, won in scores)
    for left, right in pairwise(found):
        assert left.highest < right.lowest
    for each in found:
        assert each.lowest <= each.highest
        assert each.won.of == sum(each.lowest <= score <= each.highest for score, _ in scores)


def test_bins_of_distinct_scores_are_equally_full() -> None:
    found = quantile_bins([Scored(float(score), score > 30, 0) for score in range(60)], 10)
    assert [each.won.of for each in found] == [6] * 10
    assert found[0].lowest == 0
    assert found[-1].highest == 59


# -- Ctrl-C ------------------------------------------------------------------------------------


def interrupting(after: int) -> Any:
    """Return `records_of` with a Ctrl-C after a number of games."""

    def records(player: Analyst, openings: list[Position], workers: int) -> Iterator[Any]:
        if after:
            yield from records_of(player, openings[:after], workers)
        raise KeyboardInterrupt

    return records


def test_ctrl_c_leaves_the_grade_of_fewer_openings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_module, "records_of", interrupting(4))
    part = grade("greedy(open)", openings=9, board=BOARD)
    assert part.partial
    assert part.games == 4
    monkeypatch.undo()
    whole = grade("greedy(open)", openings=4, board=BOARD)
    assert not whole.partial
    assert timeless(replace(part, openings=4)) == timeless(whole)


def test_ctrl_c_is_said_and_told_by_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_module, "records_of", interrupting(4))
    args = ["grade", "greedy(open)", "--openings", "9", "--board", "4x5"]
    result = run(*args)
    assert result.exit_code == 130
    assert "PARTIAL: the first 4 of 9 games" in result.stdout
    assert result.stderr == "knightfall: interrupted after 4 of 9 games\n"
    result = run(*args, "--json")
    assert result.exit_code == 130
    told = json.loads(result.stdout)
    assert (told["partial"], told["games"], told["openings"]) == (True, 4, 9)
    monkeypatch.setattr(grade_module, "records_of", interrupting(0))
    result = run(*args)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "knightfall: interrupted\n"


SCRIPT = """
import os, signal, sys
from pathlib import Path
from knightfall.agents import agent
from knightfall.oracle.grade import grade

class Mine:
    def __init__(self):
        self.player = agent("greedy(improved)")
    def analyse(self, position):
        return self.player.analyse(position)

def children():
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]

def pressed(done):
    if done == 1:
        os.kill(children()[0], signal.SIGKILL)
    if done == 9:
        print(*children(), flush=True)
        os.kill(0, signal.SIGINT)  # the whole group, as a terminal does

if __name__ == "__main__":
    found = grade(Mine(), openings=600, board="5x5", workers=2, progress=pressed)
    print(found.games, found.partial)
"""


def test_a_worker_may_die_and_ctrl_c_ends_them_all(tmp_path: Path) -> None:
    """Check a graded script whose worker dies and which then gets Ctrl-C: the result is right, and
    no worker remains.
    """
    file = tmp_path / "graded.py"
    file.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "KNIGHTFALL_QUIET": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.stderr == ""
    workers, told = done.stdout.splitlines()
    assert told == "9 True"
    assert len(workers.split()) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers.split())
