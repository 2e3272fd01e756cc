"""Hostile heuristics: the quick cases of `tests/torture`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
from heuristic_files import Files

sys.path.append(str(Path(__file__).parent.parent / "torture"))

from hostile_heuristics import HOSTILE, NODES, Hostile

from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import play_chunk, play_pair
from knightfall.errors import KnightfallError
from knightfall.heuristics.user_heuristic import HeuristicWarning

OPENING = "7/7/1N5/7/7/4n2/7 w"
INNOCENT = PairTask(2, f"id(open, nodes={NODES})", f"id(improved, nodes={NODES})", OPENING, 5)

QUICK = (
    "writes to all rows",
    "plain: masks its moves, in games",
    "plain: has compiled code write",
    "wipes the rules, in games",
    "raises its limit, in games",
    "plain: wipes the rules, in games",
    "plain: recurses",
    "exits when loaded",
    "exits, in games",
    "is nan",
    "plain: is a word, in games",
)


def test_there_are_enough_of_them() -> None:
    names = [heuristic.name for heuristic in HOSTILE]
    assert len(names) == len(set(names)) >= 40
    assert {heuristic.name for heuristic in HOSTILE if heuristic.tame} >= set(QUICK)


@pytest.fixture(scope="module")
def before() -> PairRecord:
    """Play the pair of harmless agents before any hostile heuristic was loaded."""
    return play_pair(INNOCENT)


@pytest.mark.parametrize(
    "heuristic", [one for one in HOSTILE if one.name in QUICK], ids=lambda one: one.name
)
def test_a_hostile_heuristic_costs_its_own_games(
    files: Files, heuristic: Hostile, before: PairRecord
) -> None:
    path = files.write("hostile.py", heuristic.source)
    culprit = f"id({path}:score, nodes={NODES})"
    task = PairTask(1, culprit, INNOCENT.a, OPENING, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeuristicWarning)
        if heuristic.outcome == "refused":
            with pytest.raises(KnightfallError) as error:
                play_chunk([task])
            assert heuristic.says in str(error.value)
            assert path in str(error.value)
            assert play_chunk([INNOCENT]) == [before]
            return
        pair, after = play_chunk([task, INNOCENT])
    assert after == before
    if heuristic.outcome == "plays":
        assert {game.reason for game in pair.games} == {"no moves"}
        return
    assert [(game.winner, game.reason) for game in pair.games] == [("b", "crash"), ("w", "crash")]
    for game in pair.games:
        assert heuristic.says in game.detail
        assert path in game.detail
