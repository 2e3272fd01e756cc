"""Change the files of all agents while runs play: nothing may end, and no result may change.

``python tests/torture/changing_files.py [ROUNDS]`` prints a table.  In each round the agents' files
are edited, truncated, renamed, removed, and replaced by folders, links and pipes, at random
moments, by one of the agents and by this process.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from knightfall.arena.api import league
from knightfall.arena.store import Store
from knightfall.course.classroom.classroom import hold_class
from knightfall.oracle.grade import grade
from knightfall.user_files import snapshots_folder

# -- what changes ------------------------------------------------------------------------------


def written(file: Path, content: bytes, how: int = os.O_TRUNC) -> None:
    """Write to a file; raise an OSError, instead of waiting, if it is a pipe by now."""
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | how)
    try:
        os.write(opened, content)
    finally:
        os.close(opened)


def changes(file: Path) -> list[Callable[[], object]]:
    """Return the ways in which a file is changed."""
    aside = file.with_name(f"{file.name}.aside")
    return [
        lambda: written(file, b"raise SystemExit\n"),
        lambda: written(file, b""),
        lambda: written(file, b"# a comment\n", os.O_APPEND),
        lambda: written(file, b"\xff\x00" * 99),
        lambda: written(file, b"while True: pass\n"),
        lambda: os.replace(file, aside),
        lambda: file.unlink(),
        lambda: (file.unlink(), file.mkdir()),
        lambda: (file.unlink(), os.mkfifo(file)),
        lambda: (file.unlink(), file.symlink_to(file.name)),
        lambda: file.chmod(0),
        lambda: os.utime(file, (0, 0)),
    ]


@contextmanager
def changing(files: list[Path], rng: random.Random) -> Iterator[None]:
    """Change the files at random while the block runs, once they are copied; then restore them."""
    before = {file: file.read_bytes() for file in files}
    ended = threading.Event()

    def work() -> None:
        while not all(any(snapshots_folder().glob(f"run_*/*{file}")) for file in files):
            if ended.wait(0.01):
                return
        time.sleep(0.2)  # until the last file is not only there, but written
        while not ended.wait(rng.uniform(0.0, 0.1)):
            with suppress(OSError):
                rng.choice(changes(rng.choice(files)))()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for file, content in before.items():
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            file.unlink(missing_ok=True)
            file.write_bytes(content)


# -- what plays --------------------------------------------------------------------------------

EDIT = """import os, random

def edit(path):
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
        os.write(file, b"# edited by an agent\\n")
        os.close(file)
    except OSError:
        pass  # it is a folder or a pipe now
"""
PLAYER = """
from {name}_helper import WHICH

def choose(position):
    other = random.Random(position.fen).choice({others!r})
    edit(os.path.join({folder!r}, other))
    return position.legal_moves[WHICH % len(position.legal_moves)]

def score(board, open, me, opp, to_move):
    return float(me * WHICH)
"""
SUBMISSION = """
class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        with open("weights.txt") as file:
            which = int(file.read())
        edit(os.path.join({folder!r}, "{name}", "game_agent.py"))
        moves = sorted(game.get_legal_moves())
        return moves[which % len(moves)]
"""


def league_of(folder: Path, workers: int) -> Any:
    """Play a league of agents of users' files; return the games."""
    agents = [f"python({folder}/{name}.py:choose, time=20s)" for name in "ab"]
    agents += [f"greedy({folder}/a.py:score)", "random(seed=2)"]
    store = folder / "runs.sqlite"
    store.unlink(missing_ok=True)
    league(agents, pairs=3, board="5x5", workers=workers, store=store, progress=False)
    with Store.open(store, read_only=True) as kept:
        return [pair.games for pair in kept.last().pairs()]


def grade_of(folder: Path) -> Any:
    """Grade an agent of a user's file."""
    agent = f"python({folder}/a.py:choose, time=20s)"
    found = grade(agent, openings=4, board="5x5", progress=False).to_dict()
    return {key: found[key] for key in ("keeps", "first_blunder", "games")}


def class_of(folder: Path) -> Any:
    """Rate a class; return its ratings and what was lost off the board."""
    shutil.rmtree(folder / "report", ignore_errors=True)
    report = hold_class(
        str(folder / "class"), str(folder / "report"), opponents=["Random", "MM_Open"], pairs=1,
        classmates=2, workers=0, progress=False,
    )  # fmt: skip
    found = report.to_dict()
    rows = [(row["name"], row["elo"], row["lost_by"]) for row in found["students"]]
    return sorted(rows), [one["name"] for one in found["not_played"]]


def furnished(folder: Path) -> list[Path]:
    """Write all files of agents and of submissions; return them."""
    files = []
    others = ["a.py", "b.py"]
    for which, name in enumerate("ab", start=1):
        text = EDIT + PLAYER.format(name=name, folder=str(folder), others=others)
        (folder / f"{name}.py").write_text(text)
        (folder / f"{name}_helper.py").write_text(f"WHICH = {which}\n")
        files += [folder / f"{name}.py", folder / f"{name}_helper.py"]
    for which, name in enumerate(("ann", "bob", "cleo")):
        place = folder / "class" / name
        place.mkdir(parents=True)
        text = EDIT + SUBMISSION.format(folder=str(folder / "class"), name=name)
        (place / "game_agent.py").write_text(text)
        (place / "weights.txt").write_text(str(which))
        files += [place / "game_agent.py", place / "weights.txt"]
    return files


RUNS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "league in one process": (lambda folder: league_of(folder, 0), "[ab]*.py"),
    "league, two workers": (lambda folder: league_of(folder, 2), "[ab]*.py"),
    "grade": (grade_of, "a*.py"),
    "course class": (class_of, "class/*/*"),
}
"""What plays, and a pattern of the files that it copies."""


def main(rounds: int = 5) -> int:
    """Print the results; return the number of failures."""
    failures = 0
    with tempfile.TemporaryDirectory() as there:
        place = Path(there).resolve()
        os.environ["KNIGHTFALL_CACHE_DIR"] = str(place / "cache")  # its snapshots are ours alone
        files = furnished(place)
        texts = {file: file.read_bytes() for file in files}
        for name, (play, pattern) in RUNS.items():
            copied = [file for file in files if file.relative_to(place).match(pattern)]
            expected = play(place)
            for number in range(rounds):
                for file, content in texts.items():
                    file.write_bytes(content)
                start, wrong = time.perf_counter(), ""
                try:
                    with changing(copied, random.Random(f"{name}/{number}")):
                        wrong = "" if play(place) == expected else "other results"
                except Exception as error:
                    wrong = f"{type(error).__name__}: {error}"
                if left := [*snapshots_folder().glob("run_*")]:
                    wrong += f" {len(left)} snapshots are left"
                failures += bool(wrong)
                took = f"{time.perf_counter() - start:6.1f} s"
                print(f"{name:<24}{took}  {wrong or 'as it should be'}", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
