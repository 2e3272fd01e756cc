"""A Python agent called by the process that plays, against one in a process of its own."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from knightfall.arena.plan import PairRecord, match_plan
from knightfall.arena.play import check_agents, play_chunk

from .measure import fastest
from .result import Ratio, Result

SUMMARY = "Games a second of `python(file.py:choose, in_process)` ÷ those of the isolated agent"
GOAL = 20.0
PAIRS, ROUNDS = 20, 5
TEXT = """\
import random

def choose(position):
    return random.choice(position.legal_moves)
"""


def run(pairs: int = PAIRS, rounds: int = ROUNDS) -> Result:
    """Measure both on the same pairs of the agent against itself (checked: the same games)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.py"
        path.write_text(TEXT)
        played: dict[str, list[PairRecord]] = {}
        sides = {}
        for name, word in (("isolated", ""), ("in process", ", in_process")):
            agent = f"python({path}:choose{word})"
            plan = match_plan(agent, agent, pairs=pairs)
            tasks = list(plan.tasks())
            check_agents(entrant.agent for entrant in plan.entrants)
            play_chunk(tasks[:1])  # starts the processes

            def play(name: str = name, tasks: list = tasks) -> None:
                played[name] = play_chunk(tasks)

            sides[name] = play
        state = random.getstate()
        seconds = fastest(sides, rounds)
        if random.getstate() != state:
            raise AssertionError("the agent used the random numbers of this process")
    isolated, direct = ([record.games for record in played[name]] for name in sides)
    if isolated != direct:
        raise AssertionError("the isolated agent played other games")
    games = 2 * pairs
    return Result(
        ratios={
            "games a second, in process ÷ isolated": Ratio(
                seconds["isolated"] / seconds["in process"], at_least=GOAL
            )
        },
        figures={"games": games}
        | {f"{name}: games a second": games / spent for name, spent in seconds.items()},
    )
