"""Submissions with habits of real ones play to the end or lose for the right reason."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest
from habits import COMPETES, LOSE, NEEDS_PLACED, PLAY_ON, SUCCESSOR, Files, alone
from submissions import BAD, GOOD

from knightfall.agents import parse_agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_chunk
from knightfall.course.agent import RemoteSubmission
from knightfall.course.submission import checked, parse_reference, read_submission
from knightfall.course.trial.successor_games import successor_trial
from knightfall.errors import AgentFailure
from knightfall.position import Position

OPENING = "7/7/1N5/7/7/4n2/7 w"
START = Position.from_fen(OPENING)

PRIVATE = {
    *("_board_state", "_player_1", "_player_2", "_active_player", "_inactive_player"),
    *("_Board__get_moves", "__get_moves__", "__board_state__", "__last_player_move__"),
    *("__player_symbols__", "__active_player__", "__inactive_player__", "__player_1__"),
    "__player_2__",
}
WRITTEN = {"_board_state", "_player_1", "_player_2", "_active_player", "_inactive_player"}
OF_THE_SUCCESSOR = {
    *("_WIDTH", "_HEIGHT", "_has_liberties", "DebugState", "Isolation", "Action"),
    *("actions", "result", "player", "liberties", "locs", "ply_count", "from_state", "ind2xy"),
    *("context", "data", "queue", "put", "player_id"),
}


def hand_in(folder: Path, files: Files) -> Path:
    """Write a submission and return the file with the player."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def names(text: str, how: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Return the names of the attributes that a file uses, and the names that it imports."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    used = {
        n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, how)
    }
    return used | {
        alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
    }


def test_each_private_name_is_used_by_some() -> None:
    texts = [text for files in PLAY_ON.values() for text in files.values()]
    texts += [*GOOD.values(), *(text for _, _, text in (*BAD.values(), *LOSE.values()))]
    assert set().union(*map(names, texts)) >= PRIVATE
    assert set().union(*(names(text, ast.Store) for text in texts)) >= WRITTEN
    theirs = [text for _, _, text in SUCCESSOR.values()]
    assert set().union(*map(names, theirs)) >= OF_THE_SUCCESSOR


@pytest.mark.parametrize("name", PLAY_ON)
def test_they_play_to_the_end(name: str, tmp_path: Path) -> None:
    file = hand_in(tmp_path, PLAY_ON[name])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    text = f"course({file}, time=20ms, clock=ticks)"
    (played,) = play_chunk([PairTask(0, text, "random", OPENING, 7)])
    assert [(game.reason, game.detail) for game in played.games] == [("no moves", "")] * 2
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", LOSE)
def test_they_lose_for_the_right_reason(name: str, tmp_path: Path) -> None:
    reason, said, text = LOSE[name]
    # Use the wall clock only where necessary: on a busy machine any player may be late.
    clock = "time=100ms" if reason == "timeout" else "clock=ticks"
    player = RemoteSubmission(parse_agent(f"course({hand_in(tmp_path, alone(text))}, {clock})"))
    with pytest.raises(AgentFailure) as failure:
        player.analyse(START)
    player.close()
    assert failure.value.reason == reason, failure.value
    assert said in str(failure.value)


def test_whoever_needs_both_placed_crashes_where_one_is_not(tmp_path: Path) -> None:
    file = hand_in(tmp_path, alone(NEEDS_PLACED))
    player = RemoteSubmission(parse_agent(f"course({file}, clock=ticks)"))
    empty = Position.start(7, 7)
    with pytest.raises(AgentFailure, match=r"line 7, in custom_score: TypeError") as failure:
        player.analyse(empty)
    assert failure.value.reason == "crash"
    second = empty.play("d4")  # a player that reads both in each forecast
    assert player.analyse(second).move in second.legal_moves
    player.close()


@pytest.mark.parametrize(
    ("name", "generation"),
    [("searches for pairs", "2017a"), ("is of the early board", "early"),
     ("is of the oldest board", "oldest"), ("comes in parts", "2017b"), ("competes", "2017b")],
)  # fmt: skip
def test_the_generation_is_theirs(name: str, generation: str, tmp_path: Path) -> None:
    found = read_submission(str(hand_in(tmp_path, PLAY_ON[name])))
    assert found.generation.name == generation
    assert found.competition == (PLAY_ON[name] is COMPETES)


@pytest.mark.parametrize("name", SUCCESSOR)
def test_those_for_the_successor(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knightfall.arena.play.wait_for_core", lambda patience: 1.0)
    monkeypatch.setattr("knightfall.course.trial.successor_games.core_share", lambda: 1.0)
    reason, said, text = SUCCESSOR[name]
    hand_in(tmp_path, alone(text, "my_custom_player.py"))
    (tmp_path / "data.pickle").write_bytes(pickle.dumps({"first": 57}))
    reference = parse_reference(str(tmp_path))
    report = successor_trial(
        reference, checked(reference), opponents=["Random"], pairs=1, time=60_000, counted=False
    )
    assert sum(report.played["Random"]) == 2
    games = {why: number for why, (number, _) in report.lost_by.items()}
    assert games == ({reason: 2} if reason else {}), report.lost_by
    if reason:
        assert said in report.lost_by[reason][1]
