"""Grades and annotations, held against the plain-Python solver and arithmetic done by hand."""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from helpers import random_game
from hypothesis import given
from hypothesis import strategies as st
from naive_solver import plies_to_end
from typer.testing import CliRunner, Result

import knightfall as kf
from knightfall import KnightfallError
from knightfall.agents import agent
from knightfall.arena.plan.entrants import enter
from knightfall.arena.plan.plan import Match, Plan
from knightfall.board import Board
from knightfall.cli.app import app
from knightfall.notation.scoresheet import Scoresheet
from knightfall.openings import openings
from knightfall.oracle import annotate as annotate_module
from knightfall.oracle import grade as grade_module
from knightfall.oracle.annotate import annotate, questions
from knightfall.oracle.annotation import Annotation
from knightfall.oracle.games import records_of
from knightfall.oracle.grade import grade
from knightfall.oracle.grade_report import Grade
from knightfall.oracle.measures import (
    Scored,
    auc,
    clustered_error,
    quantile_bins,
)
from knightfall.oracle.record import Analyst, draw_openings, phase_of
from knightfall.oracle.swing import svg, text
from knightfall.oracle.truth import Truth
from knightfall.position import Position, other
from knightfall.search.report import Report
from knightfall.statistics.rates import Share

BOARD = Board.of(4, 5)
PATIENCE = 120

GAME = "4/4/4/4[Nn] w d3 c2 c1 d4 a2 b3 b4 d2"
"""The second player places badly, the first gives the win back at move 5."""


def mover_wins(position: Position) -> bool:
    return plies_to_end(position) % 2 == 1


def naive_winning_moves(position: Position) -> list[str]:
    return [move for move in position.legal_moves if not mover_wins(position.play(move))]


class Chooser:
    """A player made of a choice function: it takes the last move of those it likes most."""

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
        found = result.keeping[kind]
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
    overall = perfect.keeping["overall"]
    assert overall.kept.of > 10
    assert overall.kept.rate == 1
    assert overall.error == 0
    assert perfect.first_blunder.without == Share(15, 15)
    assert perfect.first_blunder.quartiles is None
    perverse = grade(Chooser(False), openings=15, board=BOARD)
    assert perverse.keeping["overall"].kept.of > 10
    assert perverse.keeping["overall"].kept.rate == 0
    # A random mover is in between, about where chance puts it.
    middling = grade("random", openings=100, board=BOARD).keeping["overall"]
    assert middling.chance is not None
    assert middling.error is not None
    assert middling.kept.rate is not None
    assert 0.2 < middling.kept.rate < 0.8
    assert abs(middling.kept.rate - middling.chance) < 4 * middling.error


def test_same_seed_same_grade_and_another_seed_another() -> None:
    once = grade("greedy(open)", openings=12, seed=1, board=BOARD)
    assert timeless(grade("greedy(open)", openings=12, seed=1, board=BOARD)) == timeless(once)
    other_seed = grade("greedy(open)", openings=12, seed=2, board=BOARD)
    assert other_seed.keeping != once.keeping


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
    player = agent(f"greedy({file}:late)")  # which tries it out, on a roomy board
    with pytest.raises(KnightfallError, match=r"line 5: ValueError: too late"):
        grade(player, openings=2, board=BOARD, workers=2)


@pytest.mark.parametrize("board", [Board.of(3, 3), Board.of(3, 4), Board.of(5, 3)])
def test_boards_on_which_games_may_be_over_at_once(board: Board) -> None:
    every = len(openings(board))
    result = grade("greedy(improved)", openings=every, board=board)
    assert result.games == every
    assert result.first_blunder.without.of == every
    truth = Truth(board)
    for opening in draw_openings(board, every, 0):
        assert truth.wins(opening) == mover_wins(opening)


def test_truth_about_a_large_board_agrees_with_separate_questions() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    truth = Truth(position.board)
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
    # One by one or in sums, and whatever brings nothing, is all the same.
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
    assert seen > 1.3 * naive  # else this would not need clusters


def pairs_in_order(scores: list[tuple[float, bool]]) -> float:
    """AUC by comparing every won position with every lost one."""
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
    """`records_of`, but somebody presses Ctrl-C after so many games."""

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


def test_ctrl_c_ends_workers_too(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from knightfall.board import Board\n"
        "from knightfall.oracle.grade import grade\n"
        "if __name__ == '__main__':\n"
        "    def pressed(done):\n"
        "        if done == 3:\n"
        "            os.kill(0, signal.SIGINT)\n"  # the whole group, as a terminal does
        "    board = Board.of(5, 5)\n"
        "    found = grade('id(improved, nodes=200)', openings=600, board=board, workers=2,\n"
        "                  progress=pressed)\n"
        "    print(found.games, found.partial)\n"
    )
    file = tmp_path / "graded.py"
    file.write_text(code)
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
    assert done.stdout == "3 True\n"


# -- annotate ----------------------------------------------------------------------------------


def check(annotation: Annotation) -> None:
    """Everything an annotation says, asked again of the plain solver."""
    game = annotation.game
    assert not annotation.partial
    for position, winner in zip(game.positions, annotation.winners, strict=True):
        expected = position.to_move if mover_wins(position) else other(position.to_move)
        assert winner == expected
    for position, move, remark in zip(
        game.positions[:-1], game.moves, annotation.remarks, strict=True
    ):
        winning = naive_winning_moves(position)
        assert remark.winning == tuple(winning)
        assert (remark.side, remark.move) == (position.to_move, move)
        assert remark.legal == len(position.legal_moves)
        if not winning:
            assert remark.quality == "lost"
        elif move not in winning:
            assert remark.quality == "blunder"
        elif len(position.legal_moves) == 1:
            assert remark.quality == "only"
        elif len(winning) == len(position.legal_moves):
            assert remark.quality == "safe"
        else:
            assert remark.quality == "keeps"


@pytest.mark.parametrize("seed", range(6))
def test_annotations_of_random_games_agree_with_the_plain_solver(seed: int) -> None:
    line = list(random_game(Position.start(4, 4), random.Random(seed)))
    moves = [
        position.board.name(position.last[1]) for position in line[1:] if position.last is not None
    ]
    heard: list[int] = []
    annotation = annotate(Scoresheet.played(line[0], moves), progress=heard.append)
    check(annotation)
    assert annotation.game.winner == line[-1].winner
    assert heard == sorted(heard)
    assert heard[-1] == questions(annotation.game)
    # From the middle of the game on nothing changes but the numbers.
    later = annotate(Scoresheet.played(line[4], moves[4:]))
    assert later.winners == annotation.winners[4:]
    chart = text(annotation)
    for at, winner in enumerate(annotation.winners):
        for side in ("w", "b"):
            assert chart[side].ljust(99)[at] == ("█" if winner == side else " ")
    marks = [at for at, mark in enumerate(chart["blunders"]) if mark == "▲"]
    assert marks == [remark.ply for remark in annotation.blunders]
    # The winner changes hands at blunders and nowhere else.
    swings = [
        ply
        for ply in range(1, len(annotation.winners))
        if annotation.winners[ply] != annotation.winners[ply - 1]
    ]
    assert swings == marks
    drawing = svg(annotation)
    root = ElementTree.fromstring(drawing)
    dots = [each for each in root.iter() if each.get("class") == "blunder"]
    assert [int(dot.get("data-ply", "")) for dot in dots] == marks


def test_placements_on_the_real_board() -> None:
    annotation = annotate("b5 e2 d4")
    first, second, third = annotation.remarks
    assert (first.quality, second.quality, third.quality) == ("lost", "blunder", "safe")
    assert first.placement
    assert second.placement
    assert not third.placement
    assert second.winning is not None
    assert len(second.winning) in (24, 25)  # the known number of winning replies
    assert annotation.winners == ("b", "b", "w", "w")


def test_ctrl_c_leaves_the_end_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    game = GAME
    whole = annotate(game)

    class Interrupted(Truth):
        def winning_moves(self, position: Position, tick: Any = lambda: None) -> tuple[str, ...]:
            if not position.placed:
                raise KeyboardInterrupt
            return super().winning_moves(position, tick)

    monkeypatch.setattr(annotate_module, "Truth", Interrupted)
    part = annotate(game)
    assert part.partial
    assert [remark.quality for remark in part.remarks[:2]] == ["unknown", "unknown"]
    assert part.remarks[2:] == whole.remarks[2:]
    assert part.winners == (None, None, *whole.winners[2:])
    assert text(part)["w"].startswith("··")
    ElementTree.fromstring(svg(part))
    result = run("annotate", GAME)
    assert result.exit_code == 130
    assert "not judged" in result.stdout
    assert result.stderr.startswith("knightfall: interrupted")


# -- result objects ----------------------------------------------------------------------------


def test_a_grade_shows_itself_as_the_command_does(tmp_path: Path) -> None:
    found = kf.grade("greedy(improved)", openings=15, seed=3, board=BOARD)
    assert isinstance(found, kf.Grade)
    args = ["grade", "greedy(improved)", "--openings", "15", "--seed", "3", "--board", "4x5"]

    def timeless_text(text: str) -> list[str]:
        return re.sub(r"itself, .*", "itself", text).splitlines()

    assert timeless_text(str(found)) == timeless_text(run(*args).stdout)
    told = answer(*args, "--json")
    assert {**told, "seconds": 0} == {**json.loads(json.dumps(found.to_dict())), "seconds": 0}
    bars = {line.index("▪") for line in str(found).splitlines() if "▪" in line}
    assert len(bars) == 1  # they begin in one column
    html = found._repr_html_()
    assert html.count("<table>") == 2
    for row in found.keeping.values():
        assert f"{row.kept.count}</td>" in html
    assert not found.timed
    timed = kf.grade("id(open, time=1ms)", openings=1, board=BOARD)
    assert "does not repeat exactly" in str(timed)
    assert "does not repeat exactly" not in str(found)


def test_a_grade_draws_itself(tmp_path: Path) -> None:
    found = kf.grade("greedy(improved)", openings=15, seed=3, board=BOARD)
    assert found.reliability is not None
    keeping, curve = found.plot().axes
    kinds = [name for name, row in found.keeping.items() if row.kept.of]
    assert [label.get_text() for label in keeping.get_yticklabels()] == kinds
    rates = [100 * (found.keeping[kind].kept.rate or 0) for kind in kinds]
    assert list(keeping.lines[0].get_xdata()) == pytest.approx(rates)
    won = [100 * (each.won.rate or 0) for each in found.reliability.bins]
    assert list(curve.lines[0].get_ydata()) == pytest.approx(won)
    bars = curve.collections[0].get_segments()
    for each, ((_, low), (_, high)) in zip(found.reliability.bins, bars, strict=True):
        assert (low / 100, high / 100) == pytest.approx(each.won.interval)
    assert len(kf.grade("random", openings=3, board=BOARD).plot().axes) == 1

    args = ["grade", "random", "--openings", "2", "--board", "4x4", "--chart"]
    for name, begin in {"a.svg": b"<?xml", "a.png": b"\x89PNG", "a.pdf": b"%PDF"}.items():
        assert run(*args, str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert "exists" in refused(*args, str(tmp_path / "a.svg"))
    assert run(*args, str(tmp_path / "a.svg"), "--force").exit_code == 0
    assert ".svg, .png or .pdf" in refused(*args, str(tmp_path / "a.jpg"))


def test_an_annotation_shows_itself_as_the_command_does() -> None:
    found = kf.annotate(GAME)
    assert isinstance(found, kf.Annotation)
    assert f"{found}\n" == run("annotate", GAME).stdout
    assert json.loads(json.dumps(found.to_dict())) == answer("annotate", GAME, "--json")
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + len(found.remarks)
    assert found.to_svg() in html


def test_an_annotation_draws_itself() -> None:
    found = kf.annotate(GAME)
    (axes,) = found.plot().axes
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [1 if winner == "w" else -1 for winner in found.winners]
    assert [text.get_text() for text in axes.texts] == [each.move for each in found.blunders]


def test_without_unicode_signs_are_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kf.annotate(GAME)
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    shown = str(found)
    monkeypatch.undo()
    assert not set(shown) & set("♘♞█▲·▪")
    assert "\n  1. N d3  " in shown


# -- the command line --------------------------------------------------------------------------


def run(*args: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=input)


def answer(*args: str, input: str | None = None) -> Any:
    result = run(*args, input=input)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*args: str, input: str | None = None) -> str:
    result = run(*args, input=input)
    said = [line for line in result.stderr.splitlines() if "compiling for this" not in line]
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(said) == 1
    assert said[0].startswith("knightfall: ")
    return said[0]


def test_grade_tells_what_the_oracle_found() -> None:
    args = ["greedy(improved)", "--openings", "20", "--seed", "3", "--board", "4x5"]
    told = answer("grade", *args, "--json")
    found = grade("greedy(improved)", openings=20, seed=3, board=BOARD)
    assert told.pop("seconds") > 0
    again = answer("grade", *args, "--json")
    del again["seconds"]
    assert told == again
    assert (told["agent"], told["board"]) == ("greedy(improved)", "4x5")
    assert (told["games"], told["partial"]) == (20, False)
    overall, row = told["keeps"]["overall"], found.keeping["overall"]
    assert list(told["keeps"]) == ["overall", "hunter", "runner", "opening", "middle", "end"]
    assert overall["kept"]["rate"] == row.kept.rate
    assert (overall["kept"]["low"], overall["kept"]["high"]) == row.kept.interval
    assert overall["standard_error"] == row.error
    assert overall["without_losing_move"] == row.forced
    assert found.reliability is not None
    assert found.reliability.auc is not None
    assert told["reliability"]["auc"]["value"] == found.reliability.auc.value
    assert len(told["reliability"]["bins"]) == len(found.reliability.bins)

    shown = run("grade", *args).stdout
    assert "20 games against itself" in shown
    assert f"{row.won:,} won for the mover: {row.kept.of:,} with a real choice" in shown
    assert row.kept.rate is not None
    line = next(line for line in shown.splitlines() if line.startswith("overall"))
    assert f" {row.kept.count} " in line
    assert f"{100 * row.kept.rate:.1f} %" in line
    assert f"AUC {found.reliability.auc.value:.3f}" in shown


def test_grade_of_an_agent_without_scores() -> None:
    assert (
        answer("grade", "random", "--openings", "2", "--board", "4x4", "--json")["reliability"]
        is None
    )
    shown = run("grade", "random", "--openings", "2", "--board", "4x4").stdout
    assert "gives no scores" in shown


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["nobody"], "'nobody'"),
        (["random", "--openings", "0"], "openings=0"),
        (["random", "--openings", "2353"], "2352"),
        (["random", "--openings", "x"], "'x'"),
        (["random", "--seed", "-1"], "-1"),
        (["random", "--board", "7"], "'7'"),
        (["random", "--board", "2x7"], "2×7"),
        (["random", "--board", "9x9"], "9×9"),
        (["random", "--workers", "0"], "workers=0"),
        (["random", "--workers", "65"], "workers=65"),
        (["id(nothing)"], "'nothing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_grade_refuses(args: list[str], named: str) -> None:
    assert named in refused("grade", *args)


def test_annotate_tells_what_the_oracle_found(tmp_path: Path) -> None:
    file = tmp_path / "swing.svg"
    told = answer("annotate", GAME, "--json", "--svg", str(file))
    annotation = annotate(GAME)
    check(annotation)
    assert told["fen"] == "4/4/4/4[Nn] w"
    assert told["moves"] == list(annotation.game.moves)
    assert told["winners"] == list(annotation.winners)
    assert [each["verdict"] for each in told["remarks"]] == [
        remark.quality for remark in annotation.remarks
    ]
    assert [each["winning"] for each in told["remarks"]] == [
        list(remark.winning or ()) for remark in annotation.remarks
    ]
    assert file.read_text(encoding="utf-8") == svg(annotation)
    shown = run("annotate", GAME).stdout
    for remark in annotation.remarks:
        line = next(line for line in shown.splitlines() if line.startswith(f"{remark.ply:>3}. "))
        assert remark.move in line
        assert ("??" in line) == (remark.quality == "blunder")
        if remark.quality == "blunder":
            assert remark.winning is not None
            assert all(move in line for move in remark.winning[:6])
    assert [remark.ply for remark in annotation.blunders] == [2, 5]


def test_annotate_finds_games_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    expected = answer("annotate", GAME, "--json")
    assert answer("annotate", "-", "--json", input=GAME) == expected
    notes = tmp_path / "game.txt"
    notes.write_text(GAME + "\n")
    assert answer("annotate", str(notes), "--json") == expected
    games = tmp_path / "games"
    games.mkdir()
    words = GAME.split()
    for name, moves in (("older", words[2:4]), ("newer", words[2:])):
        saved = {
            "format": "knightfall game 1",
            "start": "4/4/4/4[Nn] w",
            "moves": moves,
            "you": "first",
            "agent": "random",
            "resigned": True,
        }
        (games / f"{name}.json").write_text(json.dumps(saved))
    os.utime(games / "older.json", ns=(0, 0))
    resigned = expected | {"winner": "b", "reason": "resigned"}
    assert answer("annotate", "newer", "--json") == resigned
    assert answer("annotate", "last", "--json") == resigned
    assert answer("annotate", str(games / "newer.json"), "--json") == resigned
    assert answer("annotate", "older", "--json")["moves"] == words[2:4]
    shown = run("annotate", "newer").stdout
    assert "The first player resigned in a" in shown
    watched = run("watch", "random", "random", "4/4/4/4[Nn] w", "--json").stdout
    told = answer("annotate", "-", "--json", input=watched)
    assert told["winner"] == json.loads(watched)["winner"]
    assert told["reason"] == "no moves left"


@pytest.mark.parametrize(
    ("game", "named"),
    [
        ("", "''"),
        ("b5 e2 b5", "move 3: 'b5'"),
        ("b5 e2 a1", "move 3: 'a1'"),
        ("b5 q9", "move 2: 'q9'"),
        ("b5 e2 zz", "move 3: 'zz'"),
        ("nowhere", "'nowhere'"),
        ("no/such/file.txt", "'no/such/file.txt'"),
        ("7/7/1N5/7/7/4n2/7 w", "'7/7/1N5/7/7/4n2/7 w'"),
        ("7/7/7 w b5", "'7/7/7 w'"),
        ('{"moves": 3}', "None"),
        ('{"fen": "4/4/4/4[Nn] w", "moves": 3}', "3"),
        ('{"fen": "4/4/4/4[Nn] w", "moves": [3]}', "3"),
        ('{"fen": "4/4/4/4[Nn] w", "moves": []}', "'4/4/4/4[Nn] w'"),
        ("{", "'{'"),
        ("a" * 5000, "aaa"),
    ],
)
def test_annotate_refuses(
    game: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    assert named in refused("annotate", game)


def test_annotate_refuses_what_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "image.png"
    file.write_bytes(b"\x89PNG\xff\xfe")
    assert str(file) in refused("annotate", str(file))
    assert "''" in refused("annotate", "-", input="")
    assert "swing.svg" in run("annotate", GAME, "--svg", str(tmp_path / "no" / "swing.svg")).stderr
