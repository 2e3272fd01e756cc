"""The engine ``knightfall uci``: its moves are judged by Fairy-Stockfish's own library."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from cli_runner import refused, run
from helpers import random_game, random_positions
from naive_solver import plies_to_end
from referee import after, legal

from knightfall.agents import parse_agent
from knightfall.engines.joust import score, uci_fen, uci_move
from knightfall.engines.uci_server import EngineSettings, GoLimits, UciServer, read_limits
from knightfall.position import Position
from knightfall.search.budget import Report

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
LATE = Position.from_fen("2*2/1***1/1N3/3n1/*2*1 w")

Talk = Callable[..., list[str]]


@pytest.fixture
def talk() -> Talk:
    """Return a function that sends commands to an engine and returns all lines of its answers."""
    output = io.StringIO()
    server = UciServer(EngineSettings(heuristic="improved"), output)

    def send(*lines: str) -> list[str]:
        begin = output.tell()
        server.run(lines)
        return output.getvalue()[begin:].splitlines()

    return send


def best(lines: list[str]) -> str:
    """Return the move of an answer, whose last line must hold it."""
    match = re.fullmatch(r"bestmove (\S+)", lines[-1])
    assert match is not None, lines
    return match[1]


def test_the_engine_introduces_itself(talk: Talk) -> None:
    lines = talk("uci")
    assert lines[0].startswith("id name knightfall ")
    assert lines[-1] == "uciok"
    names = [re.findall(r"option name (\w+) type", line) for line in lines]
    assert [name for found in names for name in found] == [
        "UCI_Variant",
        "Heuristic",
        "Threads",
        "Hash",
    ]
    variants = next(line for line in lines if "UCI_Variant" in line).split()
    assert variants[variants.index("default") + 1] == "joust"
    assert {"joust", "joust7x7", "joust3x21", "joust21x3"} < set(variants)


@pytest.mark.parametrize(("variant", "size"), [("joust7x7", (7, 7)), ("joust10x6", (10, 6))])
def test_whole_games_are_legal(talk: Talk, variant: str, size: tuple[int, int]) -> None:
    """Random moves of one side against the engine's; pyffish makes the positions itself."""
    rng = random.Random(5)
    opening = list(random_game(Position.start(*size), rng))[2]
    talk(f"setoption name UCI_Variant value {variant}")
    played: list[str] = []
    while choice := legal(opening, played):
        moves = f" moves {' '.join(played)}" if played else ""
        answer = best(talk(f"position fen {uci_fen(opening)}{moves}", "go nodes 300"))
        assert answer in choice
        played.append(answer)
        if choice := legal(opening, played):
            played.append(rng.choice(choice))
    final = after(opening, played)
    assert final.winner is not None
    lines = talk(f"position fen {uci_fen(opening)} moves {' '.join(played)}", "go nodes 300")
    assert lines == ["info depth 0 score mate 0", "bestmove (none)"]


def test_a_game_begins_on_the_empty_board_of_the_variant(talk: Talk) -> None:
    assert talk("setoption name UCI_Variant value joust5x4") == [
        "info string variant joust5x4 files 5 ranks 4 startpos 5/5/5/5[Nn] w - - 0 1"
    ]
    first = best(talk("position startpos", "go depth 1"))
    second = best(talk(f"position startpos moves {first}", "go depth 1"))
    third = best(talk(f"position startpos moves {first} {second}", "go depth 1"))
    assert [move[:2] for move in (first, second)] == ["N@", "N@"]
    assert third.startswith(first[2:])
    position = Position.from_moves([first[2:], second[2:]], 5, 4)
    assert third in [uci_move(position, move) for move in position.legal_moves]


def test_with_nodes_or_depth_it_plays_as_the_agent_does(talk: Talk) -> None:
    for position in random_positions(7, 7, 6, seed=3, min_placed=2):
        if position.winner is not None:
            continue
        for limit in ("nodes 700", "depth 3"):
            lines = talk(f"position fen {uci_fen(position)}", f"go {limit}")
            agent = parse_agent(f"id(improved, {limit.replace(' ', '=')})")
            report = agent.analyse(position)
            assert best(lines) == uci_move(position, report.move)
            assert f" nodes {report.nodes} " in lines[-2]
            assert f" {score(report, position)} " in lines[-2]
    talk("setoption name heuristic value open")  # names of options in any case
    lines = talk(f"position fen {uci_fen(START)}", "go nodes 900")
    report = parse_agent("id(open, nodes=900)").analyse(START)
    assert best(lines) == uci_move(START, report.move)


def test_proofs_are_mate_scores(talk: Talk) -> None:
    """Compare them with a solver in plain Python."""
    signs = set()
    for position in random_positions(4, 5, 12, seed=2, min_placed=2):
        if position.winner is not None:
            continue
        plies = plies_to_end(position)
        moves = (plies + 1) // 2 if plies % 2 else -(plies // 2)
        signs.add(moves > 0)
        lines = talk(f"position fen {uci_fen(position)}", "go movetime 5000")
        assert f" score mate {moves} " in lines[-2], lines
    assert signs == {True, False}


def test_scores() -> None:
    def shown(value: float, plies: int | None, *, proven: bool = True) -> str:
        return score(Report("d4", value, proven, plies, 3, 9, 0.1, ("d4",)), LATE)

    infinity = float("inf")
    assert shown(2.344, None, proven=False) == "cp 234"
    assert shown(-infinity, None, proven=False) == "cp -30000"
    assert [shown(infinity, plies) for plies in (1, 3, 9)] == ["mate 1", "mate 2", "mate 5"]
    assert [shown(-infinity, plies) for plies in (2, 4)] == ["mate -1", "mate -2"]
    assert len(LATE.open) == 17
    assert shown(infinity, None) == "mate 9"  # at most: the board is full then
    assert shown(-infinity, None) == "mate -8"


def test_the_atlas_answers_openings_at_once(talk: Talk) -> None:
    lines = talk(f"position fen {uci_fen(START)}", "go movetime 60000")
    assert lines[-2].startswith("info depth 31 score mate 16 nodes 0 ")


def test_an_infinite_search_answers_after_stop_only(talk: Talk) -> None:
    fen = f"position fen {uci_fen(START)}"
    for command in ("go infinite", "go"):
        lines = talk(fen, command, "isready", "go depth 1", "position startpos", "stop", "isready")
        words = [line.split()[0] for line in lines]
        assert words[-2:] == ["bestmove", "readyok"]
        assert lines.count("readyok") == 2
        assert sum("go is ignored during an infinite search" in line for line in lines) == 1
        assert best(lines[:-1]) in legal(START)


def test_the_solver_can_be_stopped_and_goes_on_later(talk: Talk) -> None:
    """An infinite search of a position that is not in the atlas, and a proof afterwards."""
    position = START.play("d4")
    stopped = talk(
        "setoption name Threads value 2", f"position fen {uci_fen(position)}", "go infinite", "stop"
    )
    assert best(stopped) in legal(position)
    limited = talk(f"position fen {uci_fen(position)}", "go nodes 5000000", "stop")
    assert best(limited) in legal(position)
    assert not any(" nodes 5000000 " in line for line in limited)
    lines = talk(f"position fen {uci_fen(LATE)}", "go movetime 20000")
    assert " score mate " in lines[-2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hello", "unknown command 'hello'; known are uci, isready"),
        ("setoption", "setoption is written: setoption name NAME value VALUE"),
        ("setoption name Hahs value 3", "unknown option 'Hahs'; did you mean 'Hash'?"),
        ("setoption name Hash value big", "Hash 'big' must be a whole number from 1 to 16384"),
        ("setoption name Threads value 0", "Threads '0' must be a whole number from 1 to 64"),
        ("setoption name Heuristic value nonsense", "unknown heuristic 'nonsense'"),
        ("setoption name UCI_Variant value chess", "UCI_Variant 'chess' is not accepted"),
        ("position", "position is written: "),
        ("position fen", "the FEN is empty"),
        ("position fen 7/7 w", "a 7×2 board is too small"),
        ("position startpos moves d4e5", "move 1 of the position: "),
        ("position moves d4", "position is written: "),
        ("position fen 7/7/1N5/7/7/4n2/7 x", "side to move 'x' must be w or b"),
        ("setoption name", "setoption is written: "),
        ("setoption Hash 4", "setoption is written: "),
        ("setoption name Hash", "Hash '' must be a whole number from 1 to 16384"),
        ("setoption name Clear Hash", "unknown option 'Clear Hash'"),
        ("setoption name Heuristic value", "heuristic '': a term is missing"),
        ("setoption name UCI_Variant", "UCI_Variant '' is not accepted"),
        ("ponderhit", "unknown command 'ponderhit'"),
    ],
)
def test_errors_are_lines_of_information(talk: Talk, line: str, said: str) -> None:
    (answer,) = talk(line)
    assert answer.startswith("info string ")
    assert said in answer


NO_LIMIT = "info string go has no limit that can be used: it searches 2500 nodes"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("go depth x", "depth 'x' must be a whole number from 1 to 64; depth is ignored"),
        ("go depth", "depth '' must be a whole number from 1 to 64; depth is ignored"),
        ("go depth 0", "depth '0' must be a whole number from 1 to 64; depth is ignored"),
        ("go depth 3.5", "depth '3.5' must be"),
        ("go nodes -5", "nodes '-5' must be a whole number from 1 to 1000000000000000"),
        ("go movetime soon", "movetime 'soon' must be a whole number from"),
        ("go wtime abc btime 1000", "wtime 'abc' must be a whole number from"),
        ("go dpeth 5", "unknown word 'dpeth' after go is ignored; known are depth, nodes, "),
        ("go mate 3", "mate is not supported and ignored"),
        ("go searchmoves b5d4 depth x", "depth 'x' must be"),
        ("go btime 1000 winc 5", None),
        ("go movestogo 5", None),
    ],
)
def test_a_go_whose_limits_cannot_be_used_is_answered(
    talk: Talk, line: str, said: str | None
) -> None:
    """A program that sent a limit waits for a move, so it gets that of a small search."""
    lines = talk(f"position fen {uci_fen(START)}", line)
    told = [one for one in lines if one.startswith("info string ")]
    assert NO_LIMIT in told
    assert said is None or any(said in one for one in told)
    report = parse_agent("id(improved, nodes=2500)").analyse(START)
    assert best(lines) == uci_move(START, report.move)


def test_the_other_limits_of_a_go_count() -> None:
    told: list[str] = []

    def read(line: str) -> GoLimits:
        return read_limits(line.split(), START, told.append)

    assert read("depth x nodes 9") == read("depth nodes 9") == GoLimits(nodes=9)
    assert read("foo depth 2 bar") == read("perft 3 depth 2") == GoLimits(depth=2)
    assert read("movetime x wtime 3000") == GoLimits(clock=3.0)
    assert len(told) == 6
    assert read("depth 5 depth 3") == GoLimits(depth=3)
    assert read("infinite depth x") == read("ponder") == GoLimits(infinite=True)
    assert read("searchmoves b5d4 b5c3") == GoLimits(infinite=True)
    assert read("depth 100") == GoLimits(depth=64)
    assert told[-1] == "depth '100' must be a whole number from 1 to 64; 64 is used"
    assert read("nodes " + "9" * 30) == GoLimits(nodes=10**15)
    assert read("movetime -5") == read("movetime 0") == GoLimits(move_time=0.0)


@pytest.mark.parametrize("limit", ["movetime 0", "movetime -5", "wtime 0 btime 0", "wtime -20"])
def test_without_time_it_still_moves(talk: Talk, limit: str) -> None:
    assert best(talk(f"position fen {uci_fen(START)}", f"go {limit}")) in legal(START)


def test_garbage_ends_nothing(talk: Talk) -> None:
    """Send random lines made of the protocol's own words; each `go` has a single `bestmove`."""
    rng = random.Random(4)
    commands = ["go", "position", "setoption", "stop"]
    limits = ["depth", "nodes", "movetime", "wtime", "3", "-1", "x", "é", "\x00"]
    places = ["fen", "startpos", "moves", "7/7/1N5/7/7/4n2/7", "w", "b5d4"]
    options = ["name", "value", "Hash", "Heuristic", "UCI_Variant", "joust7x7"]
    for _ in range(300):
        words = rng.choices(commands + limits + places + options, k=rng.randrange(1, 7))
        line = " ".join(words)
        lines = talk(line, "stop", "isready")
        asked = next((word for word in words if word in commands), "")
        assert lines[-1] == "readyok"
        assert sum(one.startswith("bestmove ") for one in lines) == (asked == "go"), line


def test_a_table_that_is_too_large_leaves_the_search(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = 1 << 28  # 256 TB
    monkeypatch.setattr("knightfall.solver.engine.LARGEST_MB", huge)
    said = f"info string there is no memory for a table of {huge} MB: give it fewer"
    fen = uci_fen(START.play("d4"))  # in no atlas
    lines = talk(f"setoption name Hash value {huge}", "isready", f"position fen {fen}")
    assert lines == [said, "readyok"]
    for _ in range(2):
        lines = talk("go movetime 100")
        assert said in lines
        assert best(lines) in legal(START.play("d4"))


def test_after_a_position_that_is_refused_there_is_none(talk: Talk) -> None:
    lines = talk(f"position fen {uci_fen(START)}", "position startpos moves a1a2", "go depth 1")
    assert lines[-1] == "bestmove 0000"
    assert best(talk(f"position fen {uci_fen(START)}", "go depth 1")) in legal(START)


def test_words_before_a_command_are_ignored(talk: Talk) -> None:
    assert talk("", "please isready") == ["readyok"]


def test_limits_are_those_of_the_side_to_move() -> None:
    told: list[str] = []

    def read(line: str, position: Position = START) -> GoLimits:
        return read_limits(line.split(), position, told.append)

    line = "wtime 60000 btime 30000 winc 1000 binc 500"
    assert read(line) == GoLimits(clock=60.0, increment=1.0)
    assert read(line, START.play("d4")) == GoLimits(clock=30.0, increment=0.5)
    assert read("") == read("infinite") == GoLimits(infinite=True)
    assert read("depth 4 nodes 9 movetime 20") == GoLimits(depth=4, nodes=9, move_time=0.02)
    assert not told
    read("ponder searchmoves d4c2 wtime -5")
    assert told == [f"{word} is not supported and ignored" for word in ("ponder", "searchmoves")]


def test_a_clock_never_runs_out() -> None:
    """Divide the time of a long game, with and without an increment."""
    for increment in (0.0, 0.1):
        position, clock = START, 3.0
        while position.winner is None:
            limits = GoLimits(clock=clock, increment=increment)
            seconds = limits.seconds(position)
            assert seconds is not None
            assert 0 < seconds < 0.85 * clock
            clock += increment - seconds
            position = position.play(position.legal_moves[0])
            if position.winner is None:
                position = position.play(position.legal_moves[-1])
        assert clock > 0.1
    assert GoLimits(move_time=0.1).seconds(START) == pytest.approx(0.095)
    assert GoLimits(infinite=True, clock=3.0).seconds(START) is None


def test_a_program_reads_and_writes_lines_until_the_end_of_the_input() -> None:
    asked = f"uci\nposition fen {uci_fen(START)}\ngo nodes 300\n".encode()
    command = [sys.executable, "-m", "knightfall", "uci", "--heuristic", "open"]
    done = subprocess.run(command, input=asked, capture_output=True, check=True, timeout=120)
    lines = done.stdout.decode().splitlines()
    assert "option name Heuristic type string default open" in lines
    report = parse_agent("id(open, nodes=300)").analyse(START)
    assert best(lines) == uci_move(START, report.move)


def test_the_command_sets_the_defaults_of_the_options() -> None:
    given = ("--heuristic", "open", "--workers", "3", "--table-mb", "5")
    lines = run("uci", *given, input="uci\n").stdout.splitlines()
    assert "option name Heuristic type string default open" in lines
    assert "option name Threads type spin default 3 min 1 max 64" in lines
    assert "option name Hash type spin default 5 min 1 max 16384" in lines


def test_a_closed_pipe_is_no_error() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    UciServer(EngineSettings(heuristic="improved"), Gone()).run(["uci", "go depth 1"])


def test_a_bad_heuristic_is_refused_by_the_command() -> None:
    assert "unknown heuristic 'nonsense'" in refused("uci", "--heuristic", "nonsense")
    assert "threads=99 must be from 1 to 64" in refused("uci", "--workers", "99")
    assert "table of 99999 MB" in refused("uci", "--table-mb", "99999")
