"""Tests that Ctrl-C always takes effect: the process ends, and no other process remains."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals"),
    pytest.mark.xdist_group("processes"),
]

PATIENCE = 120
FEN = "7/7/1N5/7/7/4n2/7 w"

COMMAND = """
import os
from knightfall.cli import main
os.write(1, b"!")
main()
"""

IN_A_CALLBACK = """
import os, signal, sys
from llvmlite.binding.executionengine import ExecutionEngine

find, came = ExecutionEngine._find_module_ptr, []

def ctrl_c_comes(engine, pointer):  # LLVM asks for a cached function through ctypes
    if not came:
        came.append(True)
        os.kill(os.getpid(), signal.SIGINT)
    return find(engine, pointer)

ExecutionEngine._find_module_ptr = ctrl_c_comes
"""
AS_A_COMMAND = """
from knightfall.cli import main
main()
"""
AS_A_LIBRARY = """
try:
    import knightfall.search.deepening
except KeyboardInterrupt:
    sys.exit("heard" if came else "too early")
"""

COMMANDS = (
    ("analyse", FEN, "--agent", "minimax(open, depth=60)", "--json"),
    ("solve", "8/8/1N6/8/8/4n3/8/8 w", "--json"),
    ("grade", "id(improved, nodes=20000)", "--openings", "500", "--workers", "2"),
    ("match", "id(improved, nodes=50000)", "id(open, nodes=50000)", "--pairs", "900"),
)


def ended(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", *command],
        env={**os.environ, "KNIGHTFALL_QUIET": "1", **(env or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_command_that_is_still_loading_ends() -> None:
    done = ended(IN_A_CALLBACK + AS_A_COMMAND, *COMMANDS[0])
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "knightfall: interrupted\n"


def test_a_program_that_is_still_loading_gets_an_exception() -> None:
    """Check that Ctrl-C in a C callback during an import raises KeyboardInterrupt."""
    assert ended(IN_A_CALLBACK + AS_A_LIBRARY).stderr == "heard\n"


def test_in_the_background_it_is_ignored() -> None:
    """Check that a command ignores Ctrl-C if it was started with SIGINT ignored, as `command &` in
    a script.
    """
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = ended(code + IN_A_CALLBACK + AS_A_COMMAND, "analyse", FEN, "--agent", "greedy(open)")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_was_printed_before_is_not_lost() -> None:
    code = (
        "import signal\nfrom knightfall.isolation import sigint\nsigint.exit_on_sigint()\n"
        "print('so far')\nsignal.raise_signal(signal.SIGINT)\n"
    )
    done = ended(code)
    assert (done.returncode, done.stdout) == (130, "so far\n")


def test_nothing_is_imported_before_the_first_line_of_a_command() -> None:
    """Check that a command imports nothing before its first line, because Ctrl-C until then prints
    a traceback.
    """
    code = "import sys\nbefore = {*sys.modules}\nimport knightfall.cli\n"
    found = ended(code + "print(*sorted({*sys.modules} - before))").stdout
    assert found.split() == ["__future__", "knightfall", "knightfall.cli"]


@pytest.mark.parametrize("moment", [1, 2, 4])
def test_it_may_come_with_the_first_imports_of_a_command(moment: int) -> None:
    code = (
        "import os, signal, sys\nleft = [int(sys.argv.pop(1))]\n"
        "def hear(event, args):\n"
        "    if event == 'import':\n        left[0] -= 1\n"
        "        if left[0] == 0:\n            os.kill(os.getpid(), signal.SIGINT)\n"
        "from knightfall.cli import main\nsys.addaudithook(hear)\nmain()\n"
    )
    done = ended(code, str(moment), "--version")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr in ("", "knightfall: interrupted\n")


def test_it_may_come_before_python_dash_m_has_found_the_command_line() -> None:
    code = (
        "import os, runpy, signal, sys\n"
        "def hear(event, args):\n"
        "    if event == 'import' and args[0] == 'knightfall.cli':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(hear)\nrunpy.run_module('knightfall', run_name='__main__')\n"
    )
    done = ended(code, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_it_may_come_when_a_command_is_over() -> None:
    """Check Ctrl-C while the interpreter exits: the command prints its message and no traceback."""
    code = (
        "import atexit, os, signal\nfrom knightfall.isolation import sigint\n"
        "from knightfall.cli import main\nfrom knightfall.cli import terminal as guard\n"
        "guard._refuse_unquoted = lambda args: sigint.enable_keyboard_interrupt()\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\nmain()\n"
    )
    done = ended(code, "--version")
    assert (done.returncode, done.stderr) == (130, "knightfall: interrupted\n")
    assert done.stdout.startswith("knightfall ")


@pytest.mark.parametrize(
    "hold", ["isolation.sigint.DeferredSigint", "kernel.interrupt.deferred_keyboard_interrupt"]
)
def test_from_some_point_on_it_is_an_exception_but_not_where_that_would_hurt(hold: str) -> None:
    """Check that Ctrl-C inside a protected block raises KeyboardInterrupt after the block, even if
    another thread receives the signal.
    """
    module, _, name = hold.rpartition(".")
    code = (
        "import os, signal, threading, time\n"
        f"from knightfall.isolation import sigint\nfrom knightfall.{module} import {name} as hold\n"
        "threading.Thread(target=lambda: time.sleep(600), daemon=True).start()\n"
        "sigint.exit_on_sigint()\nassert not sigint.raises()\n"
        "sigint.enable_keyboard_interrupt()\nassert sigint.raises()\n"
        "try:\n    with hold():\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(0.01)\n        print('first')\n"
        "except KeyboardInterrupt:\n    print('then')\n"
    )
    done = ended(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "first\nthen\n", "")


# -- at any moment ---------------------------------------------------------------------------


def relatives(token: str) -> list[int]:
    """Return every process that was started with the token in its environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def interrupt(command: tuple[str, ...], seconds: float, folder: Path) -> str:
    """Return the output of a command that gets Ctrl-C `seconds` after its first line has run."""
    token = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *command],
        env={**os.environ, "KNIGHTFALL_QUIET": "1", "KNIGHTFALL_DATA_DIR": str(folder), "T": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == "!"
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # the whole group, as a terminal does
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, (command, seconds, errors)
    until = time.monotonic() + PATIENCE
    while (left := relatives(token)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left
    return errors


def check_moments(rng: random.Random, times: int, latest: float, folder: Path) -> None:
    for number in range(times):
        command, seconds = COMMANDS[number % len(COMMANDS)], rng.uniform(0.0, latest)
        errors = interrupt(command, seconds, folder)
        assert "interrupted" in errors, (command, seconds)
        assert len(errors.splitlines()) <= 2, (command, seconds, errors)


def test_it_may_come_at_any_moment(tmp_path: Path) -> None:
    check_moments(random.Random(os.getpid()), len(COMMANDS), 1.5, tmp_path)


@pytest.mark.slow
def test_it_may_come_at_any_of_many_moments(tmp_path: Path) -> None:
    check_moments(random.Random(1), 300, 4.0, tmp_path)
