"""Games and pairs: compiled play and play move by move give the same records."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightfall.agents import Agent, parse_agent
from knightfall.agents.remote_player import shown_duration
from knightfall.arena.plan import GameRecord, PairTask, Reason
from knightfall.arena.play import agent_with_seed, play_move_by_move, play_pair, searcher
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side, other
from knightfall.search import run_search
from knightfall.search.budget import Report

FEN = "7/7/1N5/7/7/4n2/7 w"

SEARCHERS = (
    "random",
    "random(seed=9)",
    "greedy(improved)",
    "minimax(open, depth=2)",
    "alphabeta(center, depth=4)",
    "alphabeta(lookahead_ratio, depth=2)",
    "id(improved, nodes=300)",
    "id(main, nodes=150)",
    "id(open_cluster, nodes=200, plain)",
    "id(1/2*open-improved, depth=3)",
    "id(near_opponent+bfs_reach, nodes=90000, depth=4)",
)


@st.composite
def openings(draw: st.DrawFn) -> str:
    width, height = draw(st.sampled_from([(7, 7), (5, 6), (4, 4), (8, 8), (3, 9)]))
    board = Board.of(width, height)
    everywhere = range(board.cells)
    white, black = draw(st.lists(st.sampled_from(everywhere), min_size=2, max_size=2, unique=True))
    gone = draw(st.sets(st.sampled_from(everywhere), max_size=board.cells // 3))
    left = frozenset(everywhere) - gone - {white, black}
    side: Side = draw(st.sampled_from(["w", "b"]))
    position = Position(board, left, white, black, side)
    if position.winner is not None:  # leave the mover a legal move if the board has one
        reachable = board.knight[white if side == "w" else black]
        left |= frozenset(reachable) - {white, black}
        position = Position(board, left, white, black, side)
    return position.fen


@given(st.sampled_from(SEARCHERS), st.sampled_from(SEARCHERS), openings(), st.integers(1, 2**31))
def test_compiled_games_are_those_of_agents_asked_one_by_one(
    a: str, b: str, opening: str, seed: int
) -> None:
    if Position.from_fen(opening).winner is not None:
        return
    task = PairTask(0, a, b, opening, seed)
    assert searcher(a)
    assert searcher(b)
    assert play_pair(task) == play_pair(task, ask=lambda agent: agent)


@pytest.mark.parametrize("a", SEARCHERS)
def test_a_record_is_a_legal_game_to_its_end(a: str) -> None:
    task = PairTask(3, a, "id(open, nodes=120)", FEN, 77)
    pair = play_pair(task)
    assert pair.task is task
    for number, game in enumerate(pair.games):
        position = Position.from_fen(FEN)
        seats = {side: agent_with_seed(text, 77) for side, text in task.seats(number).items()}
        for at, move in enumerate(game.moves(position)):
            report = seats[position.to_move].analyse(position)
            assert report.move == move
            assert game.column("scores")[at] == report.score
            assert game.column("depths")[at] == report.depth
            assert game.column("nodes")[at] == report.nodes
            position = position.play(move)
        assert position.winner == game.winner
        assert game.reason == "no moves"
        assert len(game.column("microseconds")) == game.plies
    assert pair.score == (pair.games[0].winner == "w") + (pair.games[1].winner == "b")


def test_proven_scores_are_infinite_and_the_winners_come_last() -> None:
    game = play_pair(PairTask(0, "id(improved, nodes=500)", "id(open, nodes=500)", FEN, 1)).games[0]
    last = game.column("scores")[-1]
    assert last == math.inf
    assert (game.plies % 2 == 1) == (game.winner == "w")


def test_the_pairs_seed_breaks_ties_unless_an_agent_has_its_own() -> None:
    assert agent_with_seed("random", 5) == parse_agent("random(seed=5)")
    assert agent_with_seed("random(seed=3)", 5) == parse_agent("random(seed=3)")
    games = {play_pair(PairTask(0, "random", "random", FEN, seed)).games[0] for seed in range(1, 9)}
    assert len(games) > 1
    fixed = [
        play_pair(PairTask(0, "random(seed=1)", "random(seed=2)", FEN, seed)).games[0]
        for seed in range(1, 4)
    ]
    assert len(set(fixed)) == 1


def test_a_position_with_black_to_move_is_played_by_black_first() -> None:
    fen = "7/7/1N5/7/7/4n2/7 b"
    pair = play_pair(PairTask(0, "minimax(open, depth=2)", "greedy(improved)", fen, 1))
    for game in pair.games:
        assert Position.from_fen(fen).play(game.moves(Position.from_fen(fen))[0]).to_move == "w"


def test_a_compiled_heuristic_that_fails_loses_by_a_crash(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from knightfall.heuristics import count\n"
        "def score(board, open, me, opp, to_move):\n"
        "    return 1 / max(count(open) - 40, 0)\n"
    )
    task = PairTask(0, f"id({file}:score, depth=1)", "greedy(improved)", FEN, 1)
    for number, game in enumerate(play_pair(task).games):
        assert game.winner == ("b" if number == 0 else "w")
        assert game.reason == "crash"
        assert "line 3: ZeroDivisionError" in game.detail
        # 47 cells are open at the start; its fourth move leaves 40 as white, 39 as black.
        assert game.plies == 6 + number
    assert play_pair(task) == play_pair(task, ask=lambda agent: agent)


def test_a_heuristic_that_cannot_be_compiled_plays_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(
        "import fractions\n"
        "def score(board, open, me, opp, to_move):\n"
        "    return float(fractions.Fraction(me - opp, 7))\n"
    )
    with pytest.warns(UserWarning, match="cannot be compiled"):
        assert searcher(f"id({file}:score, depth=1)") is None
    pair = play_pair(PairTask(0, f"id({file}:score, depth=1)", "random", FEN, 1))
    assert {game.reason for game in pair.games} == {"no moves"}


class Odd:
    """A player that makes some legal moves, then commits one of several faults, given by `then`."""

    def __init__(self, moves: int, then: str) -> None:
        self.left = moves
        self.then = then

    def prepare(self, board: Board) -> None:
        pass

    def analyse(self, position: Position) -> Report:
        self.left -= 1
        move, seconds = position.legal_moves[0], 0.01
        if self.left < 0:
            if self.then == "late":
                seconds = 0.2
            elif self.then == "nonsense":
                move = "z99"
            else:
                raise AgentFailure(self.then, "no more")  # type: ignore[arg-type]
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("late", "timeout"),
        ("timeout", "timeout"),
        ("forfeit", "forfeit"),
        ("illegal", "illegal"),
        ("crash", "crash"),
        ("nonsense", "crash"),
    ],
)
@pytest.mark.parametrize("side", ["w", "b"])
def test_whoever_fails_loses_and_its_last_answer_is_not_a_move(
    side: Side, then: str, reason: str
) -> None:
    good: Agent = parse_agent("greedy(improved)")
    players = {side: Odd(3, then), other(side): good}
    game: GameRecord = play_move_by_move(
        players, {side: 0.1, other(side): None}, Position.from_fen(FEN)
    )
    assert (game.winner, game.reason) == (other(side), reason)
    assert game.plies == (6 if side == "w" else 7)
    assert game.detail


@pytest.mark.parametrize(
    ("reason", "detail", "ending"),
    [
        ("no moves", "", "no moves"),
        ("timeout", "answered after 0.161 s; the limit is 0.15 s", "late"),
        ("timeout", "course:x did not answer within 0.15 s", "no answer"),
        ("timeout", "mine.py:score does not return: has it an endless loop?", "no answer"),
        ("forfeit", "game_agent.py resigned: it answered (-1, -1)", "resigned"),
        ("forfeit", run_search.RESIGNS, "resigned"),
        ("forfeit", run_search.TOO_LATE, "resigned"),
        ("forfeit", "agent.py:Me returned no move", "resigned"),
        ("forfeit", "a.py answered (9, 9), which is none of its legal moves", "illegal answer"),
        ("forfeit", "a.py put 7, which is no legal action", "illegal answer"),
        ("illegal", "'z9' is not a legal move", "illegal answer"),
        ("crash", "did not answer within 1 s", "crash"),
    ],
)
def test_a_stored_game_has_a_kind_of_ending(reason: Reason, detail: str, ending: str) -> None:
    game = GameRecord("w", reason, b"", b"", b"", b"", b"", detail)
    assert game.ending == ending


def test_a_heuristic_that_exits_loses_its_game_and_ends_nothing(tmp_path: Path) -> None:
    file = tmp_path / "exits.py"
    file.write_text(
        "import sys\n"
        "calls = []\n"
        "def score(board, open, me, opp, to_move):\n"
        "    calls.append(1)\n"
        "    if len(calls) > 500:\n"
        "        sys.exit(3)\n"
        "    return float(me - opp)\n"
    )
    with pytest.warns(UserWarning, match="cannot be compiled"):
        pair = play_pair(PairTask(0, f"id({file}:score, depth=4)", "random", FEN, 1))
    assert [game.reason for game in pair.games] == ["crash", "crash"]
    assert [game.winner for game in pair.games] == ["b", "w"]
    assert "line 6: SystemExit" in pair.games[0].detail


def test_whoever_plays_by_the_clock_gets_ready_before_it_runs() -> None:
    heard: list[str] = []

    class Noting:
        def __init__(self, agent: Agent) -> None:
            self.agent = agent

        def prepare(self, board: Board) -> None:
            heard.append(f"prepare {board.width}x{board.height}")
            raise KnightfallError("cannot prepare")

        def analyse(self, position: Position) -> Report:
            heard.append("move")
            return self.agent.analyse(position)

    players = {side: Noting(parse_agent("random")) for side in ("w", "b")}
    limits = {"w": 60.0, "b": None}
    game = play_move_by_move(players, limits, Position.from_fen("8/8/1N6/8/8/4n3/8/8 w"))
    assert game.reason == "no moves"
    assert heard == ["prepare 8x8", *["move"] * game.plies]


def test_whatever_an_error_says_can_be_stored() -> None:
    class Garbling:
        def analyse(self, position: Position) -> Report:
            raise AgentFailure("crash", "bad \ud800 text\nin two lines")

    good = parse_agent("greedy(improved)")
    game = play_move_by_move(
        {"w": Garbling(), "b": good}, {"w": None, "b": None}, Position.from_fen(FEN)
    )
    assert game.detail == "bad ? text in two lines"
    game.detail.encode()


def test_who_moved_first_is_told_by_the_opening() -> None:
    for fen in (FEN, "7/7/1N5/7/7/4n2/7 b"):
        mover = Position.from_fen(fen).to_move
        for seed in range(1, 9):
            pair = play_pair(PairTask(0, "random", "greedy(open)", fen, seed))
            # a has the side that moves first in game 0 if that is w, else in game 1.
            game = pair.games[0 if mover == "w" else 1]
            assert pair.first == (game.winner == mover)
            assert pair.score == sum(g.winner == s for g, s in zip(pair.games, "wb", strict=True))


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0012, "0.0012 s"), (0.00100004, "0.001000 s"), (1.5, "1.500 s")]
)
def test_a_late_answer_is_seen_to_be_late(seconds: float, said: str) -> None:
    assert shown_duration(seconds, 0.001) == said


# -- the clock of a search in this process -----------------------------------------------------


def test_a_search_that_was_kept_waiting_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that searches with a time budget do not lose if each answer takes five seconds by the
    wall clock, but little processor time.
    """
    analyse = Agent.analyse

    def held_up(agent: Agent, position: Position) -> Report:
        return replace(analyse(agent, position), seconds=5.0)

    monkeypatch.setattr(Agent, "analyse", held_up)
    for text in ("id(improved, time=20ms)", "perfect(time=20ms)", "champion(time=20ms)"):
        pair = play_pair(PairTask(0, text, "random(seed=1)", "5/5/1N3/3n1/5 w", 1))
        assert {game.reason for game in pair.games} == {"no moves"}, text
        assert (
            max(pair.games[0].column("microseconds")) == 5_000_000
        )  # the record has the time by the clock


def test_a_search_that_computes_for_too_long_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(agent: Agent, position: Position) -> Report:
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass
        move = position.legal_moves[0]
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=0.1, pv=(move,))

    monkeypatch.setattr(Agent, "analyse", busy)
    task = PairTask(0, "id(improved, time=20ms)", "random(seed=1)", "5/5/1N3/3n1/5 w", 1)
    pair = play_pair(task)
    assert [(game.reason, game.winner) for game in pair.games] == [
        ("timeout", "b"),
        ("timeout", "w"),
    ]


STARVED = """
import sys
from knightfall.arena.plan import PairTask
from knightfall.arena.play import make_ready, play_chunk
agents = "champion(time=30ms)", "id(improved, time=20ms)"
make_ready(agents)
print("ready", flush=True)
(pair,) = play_chunk([PairTask(0, *agents, "5/5/1N3/3n1/5 w", 1)])
print(*(game.reason for game in pair.games), sep=",", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals")
def test_searches_lose_no_game_on_time_with_a_tenth_of_a_core() -> None:
    """Check searches in a process that is stopped nine tenths of the time, each time for longer
    than its budget.
    """
    command = [sys.executable, "-c", STARVED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.09)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        assert process.stdout.read() == "no moves,no moves\n"
