"""Play every hostile agent in one run with innocent ones: each must lose only its own games.

`python tests/torture/agents.py [workers]` prints the result of each, in each kind of sandbox that
works here.  Root plays them once as root and once as an ordinary user.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hostile_agents import BAD_NEIGHBOURS, HOSTILE, Hostile

from knightfall.arena.plan import PairRecord, PairTask
from knightfall.arena.play import play_chunk
from knightfall.arena.runner import Pool
from knightfall.board import Board
from knightfall.isolation import sandbox
from knightfall.openings import openings, shuffled

INNOCENT = ("id(improved, nodes=300)", "python({}:choose, time=20s)", "random")
"""The opponents; the second one also has a process of its own."""

SOON = 60.0
"""Seconds within which killed processes are gone, on a busy machine."""


@dataclass(frozen=True)
class Fate:
    """The result of an agent's pair; `wrong` says how it differs from the expected one."""

    agent: Hostile
    pair: PairRecord
    wrong: str


def possible(agents: Sequence[Hostile]) -> list[Hostile]:
    """Return the hostile agents that are safe to run here."""
    alone = sandbox.kind() != "none"
    return [agent for agent in agents if alone or not agent.alone]


def trial(agents: Sequence[Hostile], folder: Path, workers: int = 2) -> tuple[list[Fate], str]:
    """Play a pair with each agent, and innocent pairs in between.

    Return the fate of each agent, and what is wrong with the innocent pairs.
    """
    mark = f"{random.SystemRandom().randrange(10**6, 10**7)}.5"
    texts = []
    for number, agent in enumerate(agents):
        file = folder / f"hostile_{number}.py"
        file.write_text(agent.source(mark))
        texts.append(f"python({file}:choose, time={agent.time})")
    gentle = folder / "innocent.py"
    gentle.write_text("def choose(position):\n    return position.legal_moves[0]\n")
    innocent = [text.format(gentle) for text in INNOCENT]
    fens = shuffled(openings(Board.of(5, 5)), 0)
    tasks = []
    for number, text in enumerate(texts):
        against = innocent[1 if agents[number] in BAD_NEIGHBOURS else number % 3]
        tasks.append(PairTask(2 * number, against, text, fens[number], 7))
        fair = (innocent[number % 3], innocent[(number + 1) % 3])
        tasks.append(PairTask(2 * number + 1, *fair, fens[number], 7))
    with Pool(workers, patience=5.0) as pool:
        played = {record.task.number: record for record in pool.play(iter(tasks))}
    fates = [
        Fate(agent, played[2 * number], _wrong(agent, played[2 * number]))
        for number, agent in enumerate(agents)
    ]
    alone = {record.task.number: record for record in play_chunk(tasks[1::2])}
    harmed = [number for number, record in alone.items() if played[number] != record]
    if harmed:
        return fates, f"innocent pairs {harmed} are not what they are without the others"
    return fates, "" if _gone(mark) else "some processes were left behind"


def _wrong(agent: Hostile, pair: PairRecord) -> str:
    """Return what is wrong with the result of an agent, which should lose both games as `b`; empty
    if nothing.
    """
    for seat, game in zip("bw", pair.games, strict=True):
        if game.winner == seat:
            return "it won a game"
        if game.reason != agent.reason:
            return f"it lost by {game.reason}: {game.detail}"
        if agent.said not in game.detail:
            return f"it is said that {game.detail!r}"
        if len(game.detail) > 1000:
            return f"its detail has {len(game.detail)} letters"
    return ""


def _gone(mark: str) -> bool:
    """Return whether no process remains that sleeps for this many seconds."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        if not any(mark in line for line in _command_lines()):
            return True
        time.sleep(0.05)
    return False


def _command_lines() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


NOBODY = "65534"
"""The number of the ordinary user that root becomes."""


def as_ordinary_user(command: list[str], home: Path) -> list[str] | None:
    """Return the command as one that root runs as an ordinary user; None if that is impossible.

    The interpreter may be in root's own folder, which that user cannot read, so it is shown there.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    if not shutil.which("setpriv") or not sandbox.works("bubblewrap"):
        return None
    os.chown(home, int(NOBODY), int(NOBODY))
    seen = ["bwrap", "--dev-bind", "/", "/", "--perms", "0755", "--tmpfs", "/root"]
    for path in map(Path, (sys.base_prefix, sys.prefix, Path(__file__).parents[2])):
        for above in reversed(path.parents):
            if above.is_relative_to("/root"):
                seen += ["--perms", "0755", "--dir", str(above)]
        seen += ["--ro-bind", str(path), str(path)]
    rights = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
    settings = [f"HOME={home}", f"TMPDIR={home}", f"KNIGHTFALL_CACHE_DIR={home}/cache"]
    return [*seen, "--", *rights, "env", *settings, *command]


def main() -> int:
    """Print the results in each kind of sandbox, for each user; return 1 if any is wrong."""
    wrong = 0
    for kind in (kind for kind in sandbox.KINDS if kind == "none" or sandbox.works(kind)):
        os.environ[sandbox.VARIABLE] = kind
        sandbox._found.clear()
        wrong |= report(kind)
    with tempfile.TemporaryDirectory() as home:
        again = as_ordinary_user([sys.executable, __file__, *sys.argv[1:]], Path(home))
        if again:
            os.environ.pop(sandbox.VARIABLE)
            wrong |= subprocess.run(again, check=False).returncode
    return wrong


def report(kind: str) -> int:
    """Play and print the result of each agent; return 1 if any is wrong."""
    agents = possible(HOSTILE)
    user = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    print(f"as {user}, sandbox: {kind}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        fates, harm = trial(agents, Path(folder), *map(int, sys.argv[1:2]))
    for fate in fates:
        game = fate.pair.games[0]
        end = "".join(c for c in fate.wrong or game.detail.rpartition(") ")[2] if c.isprintable())
        print(f"{'WRONG' if fate.wrong else 'ok':<6}{fate.agent.name:<34}{game.reason:<9}{end:.90}")
    wrong = sum(bool(fate.wrong) for fate in fates)
    print(f"{len(fates)} hostile agents, {wrong} not as they should be; {harm or 'nobody harmed'}")
    if len(agents) < len(HOSTILE):
        print(f"{len(HOSTILE) - len(agents)} left out: they would do harm without a sandbox")
    return 1 if wrong or harm else 0


if __name__ == "__main__":
    sys.exit(main())
