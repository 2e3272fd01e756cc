"""Kill all long commands, with all runners, at every write and at random moments.

Nothing may be lost: the same command, given again, leaves the rows and files that it would have
left without the kill.

``python tests/torture/kills.py`` prints a table (minutes); ``--quick`` kills at writes only, and
skips most writes of commands that write as others do.  One process warms up; every command is
played, killed and played again in forks of it.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["KNIGHTFALL_QUIET"] = "1"

from arena.test_run_loop import TIMELESS
from arena_helpers import fake_plan, fake_run
from typer.main import get_command

from knightfall.arena import run_loop
from knightfall.arena.api import play_all
from knightfall.arena.export_run import export_lines
from knightfall.arena.plan import match_plan
from knightfall.arena.store import Store
from knightfall.arena.store_file import StoreFile
from knightfall.cli.app import app
from knightfall.isolation.parallel_map import RunnerOptions

COMMAND: Any = get_command(app)
KILLED = 9
PATIENCE = 120.0
"""Seconds after which a command counts as hung."""

SMALL = ("--board", "4x4", "--workers", "0")
WRITES = {
    "match": ("match", "random", "greedy(open)", "--pairs", "2", *SMALL),
    "sprt": ("match", "random", "greedy(open)", "--sprt", "0,400", "--alpha", "0.4", "--beta",
             "0.4", "--board", "4x4", "--workers", "0"),
    "tournament": ("tournament", "--test", "random", "--against", "greedy(open)", "--against",
                   "random(seed=5)", "--pairs", "1", *SMALL),
    "league": ("league", "random", "greedy(open)", "greedy(improved)", "--pairs", "1", *SMALL),
    "worth": ("worth", "main", "--nodes", "20", "--no-time", "--pairs", "2", *SMALL),
    "reproduce": ("reproduce", "lookahead", "--pairs", "1", "--budget", "nodes",
                  "--no-league", "--workers", "0", "--output", "out"),
    "its runs alone": ("all",),
    "import": ("runs", "import", "run.jsonl"),
    "atlas build": ("atlas", "build", "3x3", "--again"),
    "backup": ("runs", "backup", "copy.sqlite", "--store", "before.sqlite", "--force"),
    "export": ("runs", "export", "1", "--format", "jsonl", "--output", "out.jsonl", "--force",
               "--store", "before.sqlite"),
    "grade": ("grade", "random", "--openings", "2", "--chart", "out.svg", "--force"),
}  # fmt: skip
"""Every command that writes files, with little work to do."""

SLOW = ("reproduce", "grade", "sprt", "export")
"""Commands that the quick test leaves out: they draw charts, or write as other commands do."""

ALIKE = {"tournament": 1, "league": 2, "worth": 3}
"""Commands that write as `match` does; from the given write on, a quick test kills only at every
third.
"""

LONG = ("--board", "5x5", "--pairs")
RANDOM = {
    "match": ("match", "id(main, nodes=60)", "id(improved, nodes=60)", *LONG, "150"),
    "tournament": ("tournament", "--test", "id(main, nodes=60)", *LONG, "30"),
    "league": ("league", "id(main, nodes=60)", "greedy(open)", "random", *LONG, "60"),
    "worth": ("worth", "main", "--nodes", "40,80", "--no-time", *LONG, "80"),
    "reproduce": ("reproduce", "lookahead", "--pairs", "4", "--budget", "nodes", "--no-league",
                  "--output", "out"),
}  # fmt: skip
"""The commands that are killed at random moments, with about a second of work."""


@dataclass
class Kills:
    """The results of the kills of a command."""

    command: str
    kills: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        return f"{self.command:<28}{self.kills:>7}{len(self.wrong):>8}{self.seconds:>9.1f} s"


HEADING = f"{'command':<28}{'kills':>7}{'wrong':>8}{'took':>11}"


# -- a command in this process, or in a fork of it -----------------------------------------------


def perform(args: tuple[str, ...], folder: Path) -> int:
    """Run a command in a folder that holds all its data; return its exit code."""
    os.environ["KNIGHTFALL_DATA_DIR"] = str(folder)
    os.chdir(folder)
    run_loop.WRITE_EVERY = WRITE_EVERY[0]
    try:
        if args == WRITES["its runs alone"]:
            return _all_runs(folder)
        code = COMMAND.main(list(args), standalone_mode=False)
    except SystemExit as left:
        return int(left.code or 0)
    except Exception as error:  # a usage error has an exit code
        return int(getattr(error, "exit_code", 99))
    return code if isinstance(code, int) else 0  # typer's Exit is not raised here, but returned


def _all_runs(folder: Path) -> int:
    """Do what `reproduce` does before it writes its report: several runs, one after the other."""
    plans = [
        match_plan("random", "greedy(open)", pairs=2, seed=seed, board="4x4") for seed in (0, 1)
    ]
    with Store.open(folder / "arena.sqlite") as store:
        runs, _ = play_all(plans, store, RunnerOptions(0))
        return sum(run.finished is None for run in runs)


WRITE_EVERY = [-1.0]
"""Least seconds between two writes of a run; below 0, every pair is written at once."""


def forked(work: Callable[[], int], folder: Path, kill_after: float | None = None) -> int:
    """Return the exit code of some work in a fork, which may be killed after a time."""
    child = os.fork()
    if child == 0:
        _die_with(work, folder)
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return abs(os.waitstatus_to_exitcode(status))
        if kill_after is not None and time.monotonic() - start >= kill_after:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 98  # it hung


def _die_with(work: Callable[[], int], folder: Path) -> NoReturn:
    code = 97
    try:
        said = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        code = work()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


# -- dying at a write ----------------------------------------------------------------------------


class Writes:
    """Counts writes, and kills the process at one of them."""

    def __init__(self, die_at: int | None = None) -> None:
        self.count, self.die_at = 0, die_at

    def __call__(self, path: str = "") -> None:
        self.count += 1
        if self.count == self.die_at:
            if path.endswith(".journal"):  # in the middle of a line
                torn = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.write(torn, b'\n[0, 5, "0')
            os._exit(KILLED)

    def watch(self) -> None:
        """Begin to count this process's writes. Call it only in a fork: it cannot be undone."""
        inner = StoreFile.writing
        point = self

        @contextmanager
        def writing(file: StoreFile) -> Iterator[None]:
            with inner(file):
                yield
                point()  # everything is written, nothing is committed
            point()

        StoreFile.writing = writing  # type: ignore[method-assign]
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(details[2], int):
            if details[2] & (os.O_WRONLY | os.O_RDWR) and isinstance(details[0], str):
                self(details[0])
        elif event in ("os.rename", "os.remove", "os.mkdir", "sqlite3.connect"):
            self()


# -- what is left --------------------------------------------------------------------------------


def left_behind(folder: Path) -> dict[str, Any]:
    """Return everything in a folder except times: the rows of stores, and other files."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        hidden = path.name.startswith(".") or path.name == "said.txt"
        if path.is_dir() or hidden or name.endswith(("-wal", "-shm")):
            continue
        if path.suffix == ".sqlite":
            found[name] = rows(path)
        elif path.suffix in (".md", ".html"):  # contain timings
            found[name] = path.stat().st_size > 1000
        else:
            found[name] = _TIMES.sub("", path.read_text("utf-8"))
    return found


def different(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Return the names of files that are missing, unexpected or different."""
    names = found.keys() | wanted.keys()
    return ", ".join(sorted(name for name in names if found.get(name) != wanted.get(name)))


_TIMES = re.compile(
    r'"(?:games_per_second|seconds)": [^,]+|[0-9.,]+ m?s\b|"?\d{4}-\d\d-\d\d[T0-9:.Z+-]*"?'
)


def rows(path: Path) -> dict[str, list[Any]]:
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    found = {
        table: sorted(db.execute(f"SELECT {TIMELESS.get(table, '*')} FROM {table}"), key=repr)
        for table in tables
        if not table.startswith("sqlite_")
    }
    db.close()
    return found


def furnish(folder: Path) -> None:
    """Make the input of the commands: a run to import, a store to copy."""
    shutil.copytree(folder.parent / "furniture", folder)


def make_furniture(place: Path) -> None:
    folder = place / "furniture"
    folder.mkdir()
    fake_run(folder / "before.sqlite", fake_plan(1, 4))
    with Store.open(folder / "before.sqlite", read_only=True) as store:
        (folder / "run.jsonl").write_text("".join(export_lines(store.last(), "jsonl")))


# -- killing -------------------------------------------------------------------------------------


def at_every_write(name: str, place: Path, first: int = 1, step: int = 1) -> Kills:
    """Kill a tiny run of a command at every write, or at some, and repeat the command."""
    args, result, start = WRITES[name], Kills(name), time.perf_counter()
    whole = place / f"{name}-whole"
    furnish(whole)
    code, expected = _counted(args, whole)
    if code:
        result.wrong.append(f"{name}: exit {code}: {_said(whole)}")
        return result
    wanted = left_behind(whole)
    wanted.pop("writes", None)
    for at in range(first, expected + 1, step):
        folder = place / f"{name}-{at}"
        furnish(folder)
        died = forked(lambda at=at, folder=folder: _dying(args, folder, at), folder)  # type: ignore[misc]
        result.kills += 1
        if died != KILLED:
            result.wrong.append(f"{name}: not killed at write {at}: exit {died}")
            continue
        again = forked(lambda folder=folder: perform(args, folder), folder)  # type: ignore[misc]
        known = name == "import" and again == 2 and "the same plan" in _said(folder)
        if again and not known:
            result.wrong.append(f"{name}, write {at}: exit {again}: {_said(folder)}")
        elif lost := different(left_behind(folder), wanted):
            result.wrong.append(f"{name}, write {at}: {lost} is not as it was")
        shutil.rmtree(folder)
    result.seconds = time.perf_counter() - start
    return result


def _counted(args: tuple[str, ...], folder: Path) -> tuple[int, int]:
    """Return the exit code of a command without a kill, and its number of writes."""

    def work() -> int:
        writes = Writes()
        writes.watch()
        code = perform(args, folder)
        count = writes.count
        (folder / "writes").write_text(str(count))
        return code

    code = forked(work, folder)
    return code, int((folder / "writes").read_text()) if code == 0 else 0


def _dying(args: tuple[str, ...], folder: Path, at: int) -> int:
    Writes(at).watch()
    return perform(args, folder)


def _said(folder: Path) -> str:
    return (folder / "said.txt").read_text("utf-8", "replace")[-300:].strip()


def at_random(name: str, runner: tuple[str, ...], kills: int, place: Path, seed: int) -> Kills:
    """Kill a command at random moments until it completes, and repeat that."""
    rng, args = random.Random(f"{name}/{seed}"), (*RANDOM[name], *runner)
    result, start = Kills(f"{name} {' '.join(runner[:2])}"[:27]), time.perf_counter()
    WRITE_EVERY[0] = 0.01
    whole = place / f"{name}-{seed}-whole"
    furnish(whole)
    began = time.monotonic()
    code = forked(lambda: perform((*RANDOM[name], "--workers", "0"), whole), whole)
    typical = time.monotonic() - began
    if runner[1:] != ("0",):
        typical += 2.0  # other runners have to start first
    if code:
        result.wrong.append(f"{name}: exit {code}: {_said(whole)}")
    wanted, turn = left_behind(whole), 0
    while result.kills < kills and not result.wrong:
        folder, turn = place / f"{name}-{seed}-{turn}", turn + 1
        furnish(folder)
        for _ in range(4):
            after = rng.uniform(0.0, typical)
            code = forked(lambda folder=folder: perform(args, folder), folder, after)  # type: ignore[misc]
            result.kills += code == KILLED
            if code not in (0, KILLED):
                result.wrong.append(f"{result.command}: exit {code}: {_said(folder)}")
        code = forked(lambda folder=folder: perform(args, folder), folder)  # type: ignore[misc]
        if code:
            result.wrong.append(f"{result.command}: exit {code}: {_said(folder)}")
        elif lost := different(left_behind(folder), wanted):
            result.wrong.append(f"{result.command}: {lost} is not as it was")
        shutil.rmtree(folder)
    WRITE_EVERY[0] = -1.0
    result.seconds = time.perf_counter() - start
    return result


# -- all of it -----------------------------------------------------------------------------------


def warm_up(place: Path, names: Iterable[str] = tuple(WRITES)) -> None:
    """Do everything once, so that forks inherit what is imported and compiled."""
    make_furniture(place)
    folder = place / "warm"
    furnish(folder)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for name in names:
            perform(WRITES[name], folder)


def quick() -> list[Kills]:
    """Kill each quick command at every write; those that write as `match` does, at every third."""
    names = [name for name in WRITES if name not in SLOW]
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as there:
        place = Path(there)
        warm_up(place, names)
        gc.freeze()  # so that forks do not copy the loaded objects
        return [
            at_every_write(name, place, ALIKE.get(name, 1), 3 if name in ALIKE else 1)
            for name in names
        ]


_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A folder in memory, where writes are cheap: a killed process's writes survive in the kernel
anyway."""


def main(kills: int = 300) -> int:
    """Print the table; return the number of failures."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as there:
        place = Path(there)
        warm_up(place)
        print(f"at every write\n{HEADING}", flush=True)
        for name in WRITES:
            done = at_every_write(name, place)
            print(done.line(), flush=True)
            wrong += done.wrong
        print(f"\nat random moments\n{HEADING}", flush=True)
        total = 0
        for seed, (name, runner, share) in enumerate(_shares(kills)):
            done = at_random(name, runner, share, place, seed)
            print(done.line(), flush=True)
            wrong += done.wrong
            total += done.kills
        print(f"{'together':<28}{total:>7}{len(wrong):>8}")
    print(*wrong, sep="\n")
    return len(wrong)


def _shares(kills: int) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield commands, runner options and numbers of kills: most for runs in one process, where they
    are quick.
    """
    names, others = list(RANDOM), kills // 10
    for name in names:
        yield name, ("--workers", "0"), -(-(kills - 2 * others) // len(names))
    for name in names:
        yield name, ("--workers", "2"), -(-others // len(names))
    with _dask() as address:
        for name in ("match", "league"):
            yield name, ("--dask", address), -(-others // 2)


@contextmanager
def _dask() -> Iterator[str]:
    """Start a cluster in a process of its own, because this one must not have threads when it
    forks.
    """
    import subprocess

    code = (
        "import distributed, sys\n"
        "if __name__ == '__main__':\n"
        "    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, "
        "dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        sys.stdin.read()\n"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(code)
        script.flush()
        cluster = subprocess.Popen(
            [sys.executable, script.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        try:
            yield cluster.stdout.readline().strip()
        finally:
            cluster.stdin.close()
            cluster.wait(60)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--quick"]:
        print(json.dumps([vars(one) for one in quick()]))
    else:
        sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
