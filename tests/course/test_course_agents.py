"""Submissions as agents: parsed, printed back, hosted, and isolated from other agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from submissions import BAD, FIRST, GOOD, SEARCH, in_2017a, in_2017b, write

from knightfall.agents import agent_parts, parse_agent, remote_player
from knightfall.agents.remote_player import move_limit
from knightfall.arena.plan import PairRecord, PairTask, enter, files_of
from knightfall.arena.play import check_agents, play_chunk
from knightfall.course.agent import CourseAgent, RemoteSubmission
from knightfall.course.classroom.roster import read_class
from knightfall.course.import_context import CountedClock
from knightfall.course.submission import sources
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation import host_process, scratch_folder
from knightfall.isolation.scratch_folder import copy_beside
from knightfall.position import Position

OPENING = "7/7/1N5/7/7/4n2/7 w"
START = Position.from_fen(OPENING)
SMALL = "5/5/1N3/3n1/5 w"


def pair(text: str, opening: str = OPENING, against: str = "random") -> PairRecord:
    return play_chunk([PairTask(0, text, against, opening, 7)])[0]


def ticking(folder: Path, time: str = "20ms") -> str:
    return f"course({folder}, time={time}, clock=ticks)"


# -- as strings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "course:game_agent.py",
        "course:Smith, John (2)/AIND#1/game_agent.py#AlphaBetaPlayer(custom_score_2)",
        "course(a/b#CustomPlayer, time=150ms)",
        "course(Smith, John (2)/x.py#P(s), time=1.5s, clock=ticks, seed=3)",
        "course(odd (name, time=2s)",
    ],
)
def test_strings_are_read_and_printed_back(text: str) -> None:
    read = parse_agent(text)
    assert read.kind == "course"
    assert parse_agent(str(read)) == read
    assert str(parse_agent(str(read))) == str(read)
    assert parse_agent(str(read.absolute())).absolute() == read.absolute()
    assert os.path.isabs(read.absolute().files[0])
    assert agent_parts(str(read)) is not None


def test_what_a_string_says() -> None:
    wall = parse_agent("course(x.py#AlphaBetaPlayer(custom_score_2), clock=wall)")
    assert str(wall) == "course(x.py#AlphaBetaPlayer(custom_score_2), time=150ms)"
    assert wall.timed
    assert wall.has_users_code
    assert wall.in_python
    assert not wall.may_hang
    assert move_limit(wall) == 0.15
    ticks = parse_agent("course:x.py")
    assert ticks == parse_agent("course(x.py, clock=ticks)")
    assert str(ticks) == "course(x.py, time=150ms, clock=ticks)"
    assert not ticks.timed
    assert move_limit(ticks) == 20
    assert ticks.files == ("x.py",)


@pytest.mark.parametrize(
    "text",
    ["course", "course()", "course:", "course(x.py, clock=moon)", "course(x.py, time=1)",
     "course(x.py, time=1s, time=2s)", "course(#A)"],
)  # fmt: skip
def test_strings_that_are_none(text: str) -> None:
    with pytest.raises(KnightfallError):
        parse_agent(text)


def test_a_counted_clock_goes_by_questions() -> None:
    clock = CountedClock(0.3)
    assert [round(clock.left(), 2) for _ in range(4)] == [0.24, 0.18, 0.12, 0.06]
    assert clock.late() < 0
    assert clock.left() == pytest.approx(0)
    clock.left()
    assert clock.late() == pytest.approx(0.06)
    assert clock.seconds() == pytest.approx(0.00042)
    assert CountedClock(0.3, clock.passed).seconds() == pytest.approx(0.00048)


# -- at play -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD)
def test_good_ones_play_to_the_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of somebody")
    folder = write(tmp_path / "it", GOOD[name])
    played = pair(ticking(folder))
    assert [(game.reason, game.detail) for game in played.games] == [("no moves", "")] * 2
    assert sorted(os.listdir(folder)) == ["game_agent.py", "helper.py"]


ENDINGS = {
    "resigns": "resigned",
    "answers nothing": "resigned",
    "answers a list": "illegal answer",
    "answers a number": "illegal answer",
    "answers too much": "illegal answer",
    "moves the opponent": "illegal answer",
    "adds to its legal moves": "illegal answer",
    "hangs": "no answer",
    "is late": "late",
    "forks": "no answer",
}
"""The reasons for which submissions of `BAD` lose, if not by a crash."""


@pytest.mark.parametrize("name", BAD)
def test_bad_ones_lose_with_the_reason(name: str, tmp_path: Path) -> None:
    reason, said, text = BAD[name]
    time = "100ms" if reason == "timeout" else "30s"  # enough even on a busy machine
    player = RemoteSubmission(parse_agent(f"course({write(tmp_path, text)}, time={time})"))
    with pytest.raises(AgentFailure) as failure:
        player.analyse(START)
    player.close()
    assert failure.value.reason == reason
    assert said in str(failure.value)
    assert failure.value.ending == ENDINGS.get(name, "crash")


def test_a_bad_one_loses_only_its_own_games(tmp_path: Path) -> None:
    bad = str(parse_agent(ticking(write(tmp_path / "bad", BAD["exits at once"][2]))))
    good = str(parse_agent(ticking(write(tmp_path / "good", SEARCH))))
    tasks = [PairTask(0, bad, good, SMALL, 1), PairTask(1, good, "random", SMALL, 2)]
    first, second = play_chunk(tasks)
    assert first.score == 0
    assert {game.reason for game in first.games} == {"crash"}
    assert {game.reason for game in second.games} <= {"no moves", "forfeit"}


def test_by_ticks_games_repeat(tmp_path: Path) -> None:
    text = SEARCH.replace("moves = game", "moves = game.get_legal_moves(); game")
    folder = write(tmp_path, "import random\nNOISE = random.random()\n" + text)
    once, again = (pair(ticking(folder, "60ms"), against="greedy(improved)") for _ in range(2))
    assert once == again
    assert pair(f"course({folder}, time=60ms, clock=ticks, seed=5)").games != once.games


OWN_CLOCKS = {
    "time": ("import time", "time.time()"),
    "imported before": ("from timeit import default_timer", "default_timer()"),
    "clock": ("import time", "time.clock()"),
    "nanoseconds": ("import time", "time.perf_counter_ns() / 1e9"),
    "datetime": ("from datetime import datetime", "datetime.now().timestamp()"),
}


@pytest.mark.parametrize("name", OWN_CLOCKS)
def test_by_ticks_a_clock_of_its_own_is_counted(name: str, tmp_path: Path) -> None:
    imports, now = OWN_CLOCKS[name]
    text = (
        f"{imports}\nSTART = {now}\n\n\n"
        "class AlphaBetaPlayer:\n"
        "    def get_move(self, game, time_left):\n"
        f"        began, rounds = {now}, 0\n"
        f"        while {now} - began < 0.04:\n            rounds += 1\n"
        f"        rounds += int(1e6 * ({now} - START))\n"
        "        moves = sorted(game.get_legal_moves())\n"
        "        return moves[rounds % len(moves)] if moves else (-1, -1)\n"
    )
    agent = ticking(write(tmp_path, text), "60ms")
    once, again = (pair(agent, SMALL, "greedy(improved)") for _ in range(2))
    assert {game.reason for game in once.games} == {"no moves"}
    assert once == again
    player = RemoteSubmission(parse_agent(agent))
    assert player.asks_other_clocks(START)
    player.close()


def test_an_agent_that_asks_for_the_time_left_has_no_clock_of_its_own(tmp_path: Path) -> None:
    player = RemoteSubmission(parse_agent(ticking(write(tmp_path, SEARCH), "60ms")))
    assert not player.asks_other_clocks(START)
    player.close()


def test_one_process_a_game_and_seat(tmp_path: Path) -> None:
    """Check that a submission keeps its state only within a game, and per seat."""
    body = "NUMBER.append(1)\nreturn sorted(game.get_legal_moves())[-len(NUMBER)]"
    player = RemoteSubmission(parse_agent(ticking(write(tmp_path, in_2017b(body, "NUMBER = []")))))
    first = player.analyse(START).move
    mine = START.play(first)
    reply = player.analyse(mine).move  # for the other seat
    assert mine.board.name(mine.targets("b")[-1]) == reply
    later = mine.play(reply)
    assert player.analyse(later).move == later.legal_moves[-2]
    assert player.analyse(START).move == first
    player.close()


def test_the_course_s_time(tmp_path: Path) -> None:
    """Check that nearly the whole time limit is left when the player is called, in one of many
    tries.
    """
    body = "ms = time_left()\nassert ms <= 50, ms\n"
    body += "return sorted(game.get_legal_moves())[-1 if ms > 40 else 0]"
    player = RemoteSubmission(parse_agent(f"course({write(tmp_path, in_2017b(body))}, time=50ms)"))
    player.prepare(START.board)
    assert any(had_all_its_time(player) for _ in range(100))
    player.close()


def had_all_its_time(player: RemoteSubmission) -> bool:
    try:
        return player.analyse(START).move == START.legal_moves[-1]
    except AgentFailure as failure:
        if failure.reason != "timeout":
            raise
        return False


def test_numpy_fits_into_the_memory(tmp_path: Path) -> None:
    body = "assert np.array(game._board_state[:-3]).sum() == 2\n" + FIRST
    player = RemoteSubmission(
        parse_agent(ticking(write(tmp_path, in_2017b(body, "import numpy as np"))))
    )
    assert player.analyse(START).move in START.legal_moves
    player.close()


def test_helpers_and_data_lie_beside_it(tmp_path: Path) -> None:
    text = in_2017b(
        "from late import helped\nassert helped(self.book)\n" + FIRST,
        made="self.book = open(os.path.join('data', 'book.txt')).read()",
    )
    folder = write(tmp_path / "it", text)
    (folder / "late.py").write_text("def helped(book):\n    return book == 'moves'\n")
    (folder / "data").mkdir()
    (folder / "data" / "book.txt").write_text("moves")
    (folder / "isolation.py").write_text("raise RuntimeError('the course lies here, too')\n")
    player = RemoteSubmission(parse_agent(ticking(folder)))
    assert player.analyse(START).move in START.legal_moves
    player.close()


def test_one_that_is_never_ready_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Counted(remote_player.AgentProcess):
        def __init__(self, *of_what: Any, **how: Any) -> None:
            started.append(self)
            super().__init__(*of_what, **how)

    monkeypatch.setattr(host_process, "LOADING", 0.5)
    monkeypatch.setattr(remote_player, "AgentProcess", Counted)
    folder = write(tmp_path, in_2017b(FIRST, "while True: pass"))
    played = pair(ticking(folder))
    assert {game.reason for game in played.games} == {"timeout"}
    assert "was not ready to play" in played.games[0].detail
    assert len(started) == 1


def test_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(scratch_folder.tempfile, "tempdir", str(place))
    player = RemoteSubmission(parse_agent(ticking(write(tmp_path / "it", SEARCH))))
    player.analyse(START)
    assert len(os.listdir(place)) == 1
    player.close()
    assert os.listdir(place) == []


def test_an_agent_can_be_asked_directly(tmp_path: Path) -> None:
    agent = CourseAgent(str(write(tmp_path, GOOD["is of 2017a"])), ticks=1000)
    before = os.getcwd()
    assert agent.choose(START) in START.legal_moves
    assert os.getcwd() == before
    agent.host.close()


# -- in plans ----------------------------------------------------------------------------------


def test_a_run_is_known_by_what_is_in_the_files(tmp_path: Path) -> None:
    text = in_2017b(FIRST, "from helper import far", made="open('notes.txt')")
    folder = write(tmp_path, text)
    (folder / "notes.txt").write_text("one")
    (folder / "README.md").write_text("no matter")
    entrants = enter([f"course:{folder}"])
    before = files_of(entrants)
    assert {Path(path).name for path in before} == {"game_agent.py", "helper.py", "notes.txt"}
    (folder / "README.md").write_text("another")
    assert files_of(entrants) == before
    (folder / "helper.py").write_text("far = None\n# edited\n")
    assert files_of(entrants) != before


def test_a_mistyped_or_broken_one_is_refused(tmp_path: Path) -> None:
    good = write(tmp_path / "good", SEARCH)
    for text in (
        f"course:{tmp_path}/nowhere.py",
        f"course:{good}#AlphabetaPlayer",
        f"course:{good}#AlphaBetaPlayer(custom_scor)",
    ):
        with pytest.raises(KnightfallError):
            check_agents([text])
    check_agents([f"course:{good}#AlphaBetaPlayer(center_score)"])
    broken = write(tmp_path / "broken", BAD["has a syntax error"][2])
    with pytest.raises(KnightfallError, match=r"game_agent\.py, line 2: SyntaxError"):
        check_agents([f"course:{broken}"])
    played = pair(ticking(broken))
    assert [game.reason for game in played.games] == ["crash", "crash"]


def test_a_scratch_copy_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "it", SEARCH)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret")
    (folder / "film").write_bytes(b"x" * 5000)
    os.mkfifo(folder / "endless")
    monkeypatch.setattr("knightfall.isolation.scratch_folder.MOST_BYTES", 1000)
    into = tmp_path / "copy"
    into.mkdir()
    copy_beside(folder / "game_agent.py", into)
    assert sorted(os.listdir(into)) == ["game_agent.py", "helper.py"]


def test_a_scratch_copy_has_no_links_that_lead_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "it", SEARCH)
    (tmp_path / "secret").write_text("theirs")
    (folder / "key").symlink_to(tmp_path / "secret")
    (folder / "same").symlink_to("helper.py")
    into = tmp_path / "copy"
    into.mkdir()
    copy_beside(folder / "game_agent.py", into)
    assert sorted(os.listdir(into)) == ["game_agent.py", "helper.py", "same"]
    # What such a link names does not identify the submission, either.
    (folder / "game_agent.py").write_text(SEARCH + "\nopen('key')\nopen('same')\n")
    named = sources(str(folder / "game_agent.py"))
    assert {os.path.basename(path) for path in named} == {"game_agent.py", "same"}
    # In a class, a file that is such a link is refused.
    (tmp_path / "class" / "eve").mkdir(parents=True)
    (tmp_path / "class" / "eve" / "game_agent.py").symlink_to(folder / "game_agent.py")
    (student,) = read_class(str(tmp_path / "class"))
    assert student.problem == "game_agent.py is a link to a file in another folder"


def test_2017a_gets_its_score(tmp_path: Path) -> None:
    body = "assert self.score.__name__ == 'improved_score'\nreturn legal_moves[0]"
    text = f"course({write(tmp_path, in_2017a(body))}#CustomPlayer(improved_score), clock=ticks)"
    player = RemoteSubmission(parse_agent(text))
    assert player.analyse(START).move in START.legal_moves
    player.close()


def test_a_score_alone_searches(tmp_path: Path) -> None:
    """Check that a submission with a score and no player plays by an alpha-beta search that never
    resigns.
    """
    folder = write(tmp_path / "it", SEARCH)
    played = pair(f"course({folder}#custom_score, time=60ms, clock=ticks)", against="random")
    assert {game.reason for game in played.games} == {"no moves"}
    (folder / "game_agent.py").write_text("def custom_score(game, player):\n    return 0.0\n")
    assert pair(ticking(folder)).games[0].reason == "no moves"
