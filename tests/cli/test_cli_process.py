"""The command line as a process: exit codes, signals, pipes, terminals, and what it imports."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import processes
import pytest
from at_work import at_work, until_it_waits

import knightfall as kf
from knightfall.arena.store_file import user_store

FEN = "7/7/1N5/7/7/4n2/7 w"
RUN = [sys.executable, "-c", "from knightfall.cli import main; main()"]
PATIENCE = 180


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "KNIGHTFALL_DATA_DIR": str(tmp_path), "KNIGHTFALL_QUIET": "1"}


def run(env: dict[str, str], *args: str, input: str = "") -> subprocess.CompletedProcess[str]:
    return processes.run([*RUN, *args], env=env, input=input, text=True)


def start(env: dict[str, str], *args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*RUN, *args], env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


# -- what is imported ------------------------------------------------------------------------------


def test_light_commands_import_no_heavy_room(env: dict[str, str]) -> None:
    """Check that help, version and analysis without an agent import no expensive module."""
    light = (
        ["--help"],
        ["play", "--help"],
        ["eval", "--help"],
        ["--version"],
        ["analyse", "--no-agent", FEN],
    )
    code = (
        "import sys, json\n"
        "from knightfall.cli import main\n"
        "for sys.argv[1:] in json.loads(sys.argv[1]):\n"
        "    try:\n        main()\n"
        "    except SystemExit:\n        pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps([*light, ["nope"]])],
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    modules = set(done.stderr.split())
    heavy = {"numba", "numpy", "llvmlite", "rich", "knightfall.heuristics", "knightfall.search"}
    assert not heavy & modules
    assert "typer" in modules
    for said in ("knightfall play ", "knightfall eval ", "d6 d4"):
        assert said in done.stdout
    assert "nope" in done.stderr


def test_what_was_played_is_shown_without_the_compiler(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", env["KNIGHTFALL_DATA_DIR"])
    how: Any = {"store": user_store(), "workers": 0, "pairs": 1, "progress": False}
    kf.match("random", "greedy(improved)", **how)
    kf.tournament(["greedy(improved)"], ["random"], **how)
    kf.league(["random", "greedy(improved)", "greedy(open)"], **how)
    kf.worth("main", nodes=[9], times=["0.02ms"], board="4x4", **how)
    commands = [
        ["match", "random", "greedy(improved)", "--pairs", "1"],
        ["tournament", "--test", "greedy(improved)", "--against", "random", "--pairs", "1"],
        ["league", "random", "greedy(improved)", "greedy(open)", "--pairs", "1"],
        ["worth", "main", "--nodes", "9", "--times", "0.02ms", "--board", "4x4", "--pairs", "1"],
    ]
    code = (
        "import sys, json\n"
        "from knightfall.cli import main\n"
        "for sys.argv[1:] in json.loads(sys.argv[1]):\n"
        "    try:\n        main()\n"
        "    except SystemExit as end:\n        assert not end.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    shown = [*commands, ["runs", "show", "1"], ["runs", "show", "2"], ["heuristics"], ["agents"]]
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(shown)],
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr.count("was played before") == len(commands)
    assert "bfs_reach" in done.stdout
    modules = set(done.stderr.splitlines()[-1].split())
    assert not {"numba", "llvmlite", "scipy.stats", "matplotlib"} & modules
    assert "numpy" in modules


# -- exit codes and streams --------------------------------------------------------------------


def test_exit_codes(env: dict[str, str]) -> None:
    good = run(env, "analyse", "--no-agent", "--json", FEN)
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout) == {"moves": ["a7", "c7", "d6", "d4", "a3", "c3"]}
    for args in (
        ["analyse", "--no-agent", "7/7 w"],
        ["analyse", FEN, "--agent", "nobody"],
        ["perft", FEN, "x"],
    ):
        bad = run(env, *args)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert bad.stderr.startswith("knightfall: ")
        assert bad.stderr.count("\n") == 1


def test_a_reader_that_leaves_is_no_error(env: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "many.txt"
    file.write_text(f"{FEN}\n" * 20_000)
    process = start(env, "eval", "--heuristic", "open", "--fens", str(file))
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["fen"] == FEN
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--help"], 141),  # Typer prints it
        (["analyse", "--no-agent", "--json", FEN], 141),
        (["watch", "random", "random", "--seed", "1"], 141),  # rich does
        (["nope"], 2),  # bad input stays bad input
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_nobody_reads_at_all(args: list[str], code: int, env: dict[str, str]) -> None:
    """Check the exit code when stdout is a closed pipe, and that Python prints no error at exit."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run([*RUN, *args], env=env, stdout=writes, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (code, int(code == 2))
    if args[0] in ("--help", "nope"):  # with and without output
        done = subprocess.run([*RUN, *args], env=env, stdout=writes, stderr=writes)
        assert done.returncode == code
    os.close(writes)


def test_a_full_disk_is_told(env: dict[str, str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*RUN, "analyse", "--no-agent", FEN],
            env=env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "knightfall: No space left on device\n"


def test_any_encoding_will_do(env: dict[str, str]) -> None:
    ascii_only = {**env, "PYTHONIOENCODING": "ascii"}
    done = run(ascii_only, "watch", "random", "random")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "[N]" in done.stdout or "[n]" in done.stdout
    assert run(ascii_only, "heuristics").returncode == 0
    assert run(ascii_only, "analyse", "--no-agent", "2/2/Nn w").stderr.count("\n") == 1


# -- Ctrl-C ------------------------------------------------------------------------------------


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    return out, err


@pytest.mark.parametrize(
    "args",
    [
        ["analyse", FEN, "--agent", "alphabeta(bfs_reach, depth=60)"],
        ["analyse", FEN, "--agent", "minimax(open, depth=60)", "--json"],
        ["perft", FEN, "40"],
    ],
    ids=lambda args: args[0] + args[-1],
)
def test_ctrl_c_ends_a_long_computation(args: list[str], env: dict[str, str]) -> None:
    if args[0] == "perft":  # computes in the main thread, a little at a time
        process = start(env, *args)
        time.sleep(1.5)
    else:
        process = at_work(env, *args)
    assert process.poll() is None
    assert interrupted(process) == ("", "knightfall: interrupted\n")


def wait_for(process: subprocess.Popen[str], event: str) -> dict[str, object]:
    assert process.stdout is not None
    for line in process.stdout:
        told: dict[str, object] = json.loads(line)
        if told["event"] == event:
            return told
    raise AssertionError(f"no {event}")


def test_ctrl_c_at_the_prompt_saves_and_resume_goes_on(env: dict[str, str]) -> None:
    process = start(env, "play", "--json", "--against", "random", FEN)
    wait_for(process, "state")
    assert process.stdin is not None
    process.stdin.write("d4\n")
    process.stdin.flush()
    state = wait_for(process, "state")
    until_it_waits(process.pid)
    out, err = interrupted(process)
    saved = json.loads(out)
    assert saved["event"] == "saved"
    assert err == ""
    again = run(env, *saved["resume"].split()[1:], input="")
    assert json.loads(again.stdout.splitlines()[0])["fen"] == state["fen"]
    assert again.returncode == 0


def test_ctrl_c_while_the_agent_thinks_saves_too(env: dict[str, str]) -> None:
    process = start(env, "play", "--json", "--against", "alphabeta(bfs_reach, depth=60)", FEN)
    wait_for(process, "state")
    assert process.stdin is not None
    process.stdin.write("d4\n")
    process.stdin.flush()
    time.sleep(1)
    out, _ = interrupted(process)
    file = Path(json.loads(out)["file"])
    assert json.loads(file.read_text())["moves"] == ["d4"]


def test_a_killed_game_loses_nothing(env: dict[str, str], tmp_path: Path) -> None:
    process = start(env, "play", "--json", "--against", "random", FEN)
    wait_for(process, "state")
    assert process.stdin is not None
    process.stdin.write("d4\n")
    process.stdin.flush()
    state = wait_for(process, "state")
    process.kill()
    process.communicate(timeout=PATIENCE)
    resumed = run(env, "play", "--resume", "--json")
    assert json.loads(resumed.stdout.splitlines()[0])["moves"] == state["moves"]


# -- a real terminal -----------------------------------------------------------------------------


ON_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C typed there is a signal here
from knightfall.cli import main
main()
"""


class Terminal:
    """A command that runs on its own pseudo-terminal."""

    def __init__(self, env: dict[str, str], *args: str) -> None:
        self.seen = ""
        self.fd, other = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), other)
        self.process = subprocess.Popen(
            [sys.executable, "-c", ON_TERMINAL, *args],
            env={**env, "TERM": "xterm-256color"},
            start_new_session=True,
            **streams,
        )
        os.close(other)

    def until(self, words: str, times: int = 1) -> str:
        """Read output until it contains some words."""
        deadline = time.monotonic() + PATIENCE
        while self.seen.count(words) < times:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the other side has gone
                    break
        return self.seen

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        self.until("\0never")
        os.close(self.fd)
        return self.process.wait(PATIENCE)


@pytest.fixture
def colourful(env: dict[str, str]) -> dict[str, str]:
    env.pop("NO_COLOR", None)
    return {**env, "COLORTERM": "truecolor"}


def test_a_game_on_a_terminal(colourful: dict[str, str]) -> None:
    terminal = Terminal(colourful, "play", "--against", "greedy(improved)", FEN)
    terminal.until("your move> ")
    assert "\x1b[" in terminal.seen  # colours
    terminal.type("d4\n")
    terminal.until("your move> ", times=2)
    until_it_waits(terminal.process.pid)
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    resume = re.findall(r"knightfall (play --resume [-0-9]+)", terminal.seen)
    terminal = Terminal(colourful, *resume[-1].split())
    terminal.until("So far: d4 ")
    terminal.until("your move> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "The game is saved." in terminal.seen


def test_no_colour_means_no_colour(env: dict[str, str]) -> None:
    terminal = Terminal({**env, "NO_COLOR": "1"}, "play", "--against", "random", FEN)
    terminal.until("your move> ")
    terminal.type("quit\n")
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*(3[0-9]|4[0-9]|38|48)[0-9;]*m", terminal.seen)


def test_eval_draws_a_table_on_a_terminal(colourful: dict[str, str]) -> None:
    terminal = Terminal(colourful, "eval", "--heuristic", "open", FEN)
    assert terminal.end() == 0
    assert f"{FEN}, for the first player (N)" in terminal.seen
    assert "{" not in terminal.seen
    terminal = Terminal(colourful, "eval", "--heuristic", "open", "--json", FEN)
    assert terminal.end() == 0
    assert json.loads(terminal.seen)["values"] == {"open": 6.0}
