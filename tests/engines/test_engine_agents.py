"""Agents that are other programs: their strings, their games, and what they do wrong."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import random_game
from referee import after, legal

from knightfall.agents import agent_parts, other_differences, parse_agent, submissions
from knightfall.agents.remote_player import RemotePlayer
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_chunk, play_move_by_move
from knightfall.board import Board
from knightfall.engines import engine_players
from knightfall.engines.engine_agent import EngineAgent
from knightfall.engines.engine_players import EnginePlayer, EngineProcess, milliseconds
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget

ROOT = Path(__file__).parents[2]
START = Position.from_fen("5/5/1N3/3n1/5 w")
FAIRY = ROOT / ".venv" / "node" / "node_modules" / "fairy-stockfish-nnue.wasm"

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_node = pytest.mark.skipif(
    not FAIRY.is_dir() or shutil.which("node") is None, reason="Fairy-Stockfish is not installed"
)

Program = Callable[[str], str]

LINES = """\
import os, sys, time
for line in sys.stdin:
    command = line.split()[0]
    if command == "newgame":
        print("ready", flush=True)
    elif command == "go":
        {go}
"""
UCI = """\
import os, sys, time
{head}
for line in sys.stdin:
    command = line.split()[0]
    if command == "uci":
        print("option name UCI_Variant type combo default joust var joust5x5")
        print("option name Skill Level type spin default 20", flush=True)
        print("uciok", flush=True)
    elif command == "isready":
        print("readyok", flush=True)
    elif line == "go depth 1\\n":
        print("bestmove b2c4", flush=True)
    elif command == "go":
        {go}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a function that writes a Python program and returns the command that runs it."""

    def write(text: str) -> str:
        file = tmp_path / f"engine{len(list(tmp_path.iterdir()))}.py"
        file.write_text(text)
        return f"python3 -S {file}"

    return write


_started: list[EngineProcess] = []


@pytest.fixture(autouse=True)
def _end_engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the engines that a test has started in this process."""
    start = EngineProcess.__init__

    def noted(engine: EngineProcess, words: Sequence[str]) -> None:
        start(engine, words)
        _started.append(engine)

    monkeypatch.setattr(EngineProcess, "__init__", noted)
    yield
    while _started:
        process = _started.pop()._process
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def started(text: str, board: Board | None = None) -> EnginePlayer:
    """Return the player of a game in this process, without a sandbox."""
    agent = parse_agent(text)
    assert isinstance(agent, EngineAgent)
    agent.warm_up(board)
    return agent.new_game(7, "w")


# -- strings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("engine(./mine)", "engine(./mine, time=100ms)"),
        (" uci( node  a.js ,time = 1s) ", "uci(node a.js, time=1s)"),
        ("uci(a 'b c', depth=3, nodes=5)", "uci(a 'b c', depth=3, nodes=5)"),
        ("engine('x, time=3' -a=1, seed=4)", "engine('x, time=3' -a=1, time=100ms, seed=4)"),
        ("engine(f(x,y).sh, nodes=9)", "engine('f(x,y).sh', nodes=9)"),
        (
            "uci(sf, option.Skill Level=3, option.Hash=64, time=20ms)",
            "uci(sf, time=20ms, option.Skill Level=3, option.Hash=64)",
        ),
    ],
)
def test_strings_print_back(text: str, printed: str) -> None:
    agent = parse_agent(text)
    assert str(agent) == printed
    assert parse_agent(printed) == agent
    assert agent_parts(printed) is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("uci", "needs a command first, as in uci(./fairy-stockfish, time=1s)"),
        ("engine(, time=1s)", "needs a command first"),
        ("engine('./mine)", "the command has an error: No closing quotation"),
        (
            "uci(./a, hash=3)",
            "cannot use hash=3; uci takes a command, depth, nodes, time, option.NAME",
        ),
        ("uci(./a, seed=3)", "cannot use seed=3"),
        ("engine(./a, option.Hash=3)", "cannot use option.Hash=3"),
        ("engine(./a, time=1s, time=2s)", "time is given twice"),
        ("engine(./a, time=soon)", "budget time=soon must be a number of ms or s"),
        ("uci(./a) x", "cannot be read: engines look like uci("),
    ],
)
def test_strings_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(KnightfallError) as refused:
        parse_agent(text)
    assert said in str(refused.value)


def test_a_program_that_is_not_there_is_refused_before_a_run(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for text, said in {
        "engine(./nowhere)": "there is no program './nowhere'",
        "engine(no-such-program)": "there is no program 'no-such-program' in the folders of PATH",
        f"engine({tmp_path}/text)": "is not executable: chmod +x makes it so",
        f"engine({tmp_path})": "there is no program",
    }.items():
        with pytest.raises(KnightfallError) as refused:
            parse_agent(text).check()
        assert said in str(refused.value)


def test_files_and_folders_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets").mkdir()
    (tmp_path / "book.txt").write_text("x")
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    agent = parse_agent("engine(./mine book.txt nets --fast)")
    assert agent.files == ("./mine", "book.txt", "nets", "--fast")
    assert list(agent.sources()) == [f"{tmp_path}/mine", f"{tmp_path}/book.txt"]
    assert agent.folders() == [str(tmp_path), f"{tmp_path}/nets"]
    whole = f"{tmp_path}/mine {tmp_path}/book.txt {tmp_path}/nets --fast"
    assert str(agent.absolute()) == f"engine({whole}, time=100ms)"
    assert list(parse_agent("engine(sh book.txt)").sources()) == [f"{tmp_path}/book.txt"]


def test_an_engine_is_compared_as_a_whole_and_is_no_submission() -> None:
    assert not other_differences("uci(a, nodes=5)", "uci(b, nodes=6)")
    assert submissions(["uci(a, time=1s)", "engine(b, time=1s)"]) == []
    mixed = ["uci(a, time=1s)", "course(b.py, time=12ms, clock=ticks)", "course(c.py, time=50ms)"]
    assert list(map(str, submissions(mixed))) == [
        "submission b.py, 12ms a move by ticks",
        "submission c.py, 50ms a move by the wall clock",
    ]


def test_the_lab_refuses_commands_from_a_browser() -> None:
    from knightfall.web.lab.agent_names import agent_named

    for text in ("uci(sh)", "engine(sh mine.py)", "engine(mine.py -x)", "uci(./mine.py)"):
        with pytest.raises(KnightfallError, match=r"names '|contains a path"):
            agent_named(text, {"mine.py": "/home/me/mine.py"})


# -- games -------------------------------------------------------------------------------------


def test_engines_are_told_less_than_their_time() -> None:
    told = {time: milliseconds(Budget(time=1000 * time)) for time in (1, 10, 100, 1000)}
    assert told == {1: 1, 10: 5, 100: 85, 1000: 950}
    assert milliseconds(Budget(nodes=5)) is None


def test_an_engine_gets_what_the_protocol_says(program: Program, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = LINES.replace("command = ", f"open({str(log)!r}, 'a').write(line); command = ")
    go = "print('thinking about it'); print('answer a5', flush=True)"
    player = started(f"engine({program(text.format(go=go))}, time=1s, depth=3)")
    assert player.analyse(START).move == "a5"
    assert player.analyse(START).move == "a5"
    asked = f"position {START.fen}\ngo depth 3 time 950\n"
    assert log.read_text() == f"newgame 7 7 7\nnewgame 5 5 7\n{asked}{asked}"
    log.unlink()
    started(f"engine({program(text.format(go=go))})", START.board)
    assert log.read_text() == "newgame 5 5 7\n"


def test_a_uci_engine_gets_fens_and_its_options(program: Program, tmp_path: Path) -> None:
    log = tmp_path / "log"
    head = f"log = open({str(log)!r}, 'a', buffering=1)"
    text = UCI.format(head=head, go="print('bestmove b3a5,a5b3 ponder d2b1,b1d2', flush=True)")
    text = text.replace("    command = ", "    log.write(line); command = ")
    player = started(f"uci({program(text)}, nodes=9, option.skill level=4)", START.board)
    assert player.analyse(START).move == "a5"
    assert log.read_text().splitlines() == [
        "uci",
        "setoption name Skill Level value 4",
        "setoption name UCI_Variant value joust5x5",
        "ucinewgame",
        "isready",
        "position fen 5/5/1n3/1N3/5 w - - 0 1",
        "go depth 1",
        f"position fen {START.fen} - - 0 1",
        "go nodes 9",
    ]
    with pytest.raises(KnightfallError, match="no Joust on 7x7: it lists neither the variant"):
        player.prepare(Board.of(7, 7))
    with pytest.raises(KnightfallError, match="no option 'Hash'"):
        started(f"uci({program(text)}, option.Hash=4)")


WRONG = {
    "pass": "",
    "sys.exit(3)": "ended with exit status 3",
    "os.abort()": "was killed by SIGABRT",
    "1 / 0": "exit status 1, saying: .*ZeroDivisionError: division by zero",
    "print('x' * 70_000, flush=True)": "printed a line of more than 65,536 bytes",
    "[print('x' * 1000, flush=True) for _ in range(5000)]": "more than 4 MB between two commands",
    "os.close(1); time.sleep(99)": "closed the connection",
}
"""What an engine may do on ``go``, and why it then loses; "" if it must be stopped by its host."""


@pytest.mark.parametrize("go", [go for go, said in WRONG.items() if said])
def test_an_engine_that_breaks_loses_with_the_reason(go: str, program: Program) -> None:
    player = started(f"engine({program(LINES.format(go=go))}, nodes=5)", START.board)
    with pytest.raises(AgentFailure, match=WRONG[go]) as lost:
        player.analyse(START)
    assert lost.value.reason == "crash"


@pytest.mark.parametrize(
    "answer", ["answer", "answer e1", "answer a5x", "answer b3a5", "answer A5"]
)
def test_an_illegal_answer_loses_with_the_reason(answer: str, program: Program) -> None:
    go = f"print({answer!r}, flush=True)"
    player = started(f"engine({program(LINES.format(go=go))}, nodes=5)", START.board)
    with pytest.raises(AgentFailure, match="names no legal move; legal are") as lost:
        player.analyse(START)
    assert lost.value.reason == "illegal"


@pytest.mark.parametrize(
    ("move", "reason"),
    [("(none)", "forfeit"), ("0000", "forfeit"), ("", "forfeit"), ("b3b4", "illegal")],
)
def test_a_uci_engine_without_a_legal_move_loses(move: str, reason: str, program: Program) -> None:
    text = UCI.format(head="", go=f"print('bestmove {move}', flush=True)")
    player = started(f"uci({program(text)}, nodes=5)", START.board)
    with pytest.raises(AgentFailure) as lost:
        player.analyse(START)
    assert lost.value.reason == reason


def test_an_engine_that_never_gets_ready_is_ended(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_players, "STARTING", 0.3)
    silent = program("import time; time.sleep(99)")
    for text, answer in {f"uci({silent})": "'uci'", f"engine({silent})": "'newgame'"}.items():
        with pytest.raises(AgentFailure, match=f"did not answer {answer} with") as lost:
            started(text, START.board)
        assert lost.value.reason == "timeout"


@needs_fork
def test_in_a_match_an_engine_that_hangs_loses_its_games_only(program: Program) -> None:
    """An engine in a process of its own, as in every run: one that hangs on certain positions."""
    choose = "print('answer', position.legal_moves[0])"
    good = (
        "import sys\nsys.path.insert(0, {path!r})\nfrom knightfall.position import Position\n"
        "for line in sys.stdin:\n    word, _, rest = line.strip().partition(' ')\n"
        "    if word == 'newgame': print('ready')\n"
        "    if word == 'position': position = Position.from_fen(rest)\n"
        "    if word == 'go': {go}\n    sys.stdout.flush()\n"
    )
    text = good.format(path=str(ROOT / "src"), go=choose)
    steady = f"engine({program(text)}, nodes=5)".replace("-S ", "")
    hangs = f"engine({program(LINES.format(go='time.sleep(99)'))}, time=50ms)"
    records = play_chunk([PairTask(0, hangs, steady, START.fen, 1)])
    assert {game.reason for record in records for game in record.games} == {"timeout"}
    assert [game.winner for game in records[0].games] == ["b", "w"]
    records = play_chunk([PairTask(0, steady, "random", START.fen, 1)])
    assert {game.reason for record in records for game in record.games} == {"no moves"}


def played(player: EnginePlayer, opening: Position, rng: random.Random) -> list[Position]:
    """Return the positions of a game of an engine, which moves first, against random moves."""
    game = [opening]
    while game[-1].winner is None:
        position = game[-1]
        mine = position.to_move == opening.to_move
        move = player.analyse(position).move if mine else rng.choice(position.legal_moves)
        game.append(position.play(move))
    return game


@needs_fork
@pytest.mark.parametrize("second", ["id(open, nodes=60)", pytest.param("", marks=pytest.mark.slow)])
def test_our_engine_is_an_agent(second: str) -> None:
    """A game of our engine, also against itself, ends as the rules say, with the agent's moves."""
    text = "uci(python3 -m knightfall uci --heuristic open, nodes=60)"
    opening = list(random_game(Position.start(7, 7), random.Random(3)))[2]
    remote = RemotePlayer(parse_agent(text))
    seats: dict[Side, Any] = {"w": remote, "b": parse_agent(second) if second else remote}
    record = play_move_by_move(seats, {"w": None, "b": None}, opening)
    remote.close()
    position, moves = opening, list[str]()
    agent = parse_agent("id(open, nodes=60)")
    for cell in record.cells:
        name = opening.board.name(cell)
        assert name == agent.analyse(position).move
        origin = opening.board.name(position.knight(position.to_move))  # type: ignore[arg-type]
        moves.append(f"{origin}{name},{name}{origin}")
        position = position.play(name)
    assert record.reason == "no moves"
    assert record.winner == position.winner == other(position.to_move)
    assert after(opening, moves) == position
    assert legal(opening, moves) == []


@needs_node
def test_fairy_stockfish_plays_whole_games() -> None:
    """Whole games on two boards; where a move wins at once, it must be played."""
    command = f"node {ROOT / 'examples' / 'engines' / 'fairy_stockfish.cjs'} {FAIRY}"
    player = started(f"uci({command}, depth=4)", Board.of(7, 7))
    rng = random.Random(1)
    for size in ((7, 7), (5, 6)):
        opening = list(random_game(Position.start(*size), rng))[2]
        assert played(player, opening, rng)[-1].winner is not None
    found = 0
    while found < 5:
        for position in random_game(Position.start(5, 6), rng):
            after = [position.play(move) for move in position.legal_moves]
            won = [one.winner is not None for one in after]
            if any(won) and not all(won):
                found += 1
                move = player.analyse(position).move
                assert position.play(move).winner == position.to_move
    assert player.analyse(Position.start(5, 6)).move in Position.start(5, 6).legal_moves
