"""A store with a million games: the time to open, list and report it."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path

from knightfall.arena.plan import PairRecord, Plan, enter, round_robin
from knightfall.arena.play import play_pair
from knightfall.arena.reports import report_on
from knightfall.arena.store import Store

from .measure import seconds_of
from .result import Ratio, Result

SUMMARY = "A million games in one store: seconds to open, list and report them"
GOAL = 2.0
AGENTS = 22
GAMES = 1_000_000
DIFFERENT = 200
"""Games that are really played; the others repeat these under other names."""
BATCH = 2000


def run(games: int = GAMES, rounds: int = 3) -> Result:
    """Measure a league of 22 agents; its report is what ``knightfall runs show`` prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arena.sqlite"
        written = seconds_of(lambda: _fill(path, games))
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        spent = {
            name: min(seconds_of(lambda work=work: work(path)) for _ in range(rounds))
            for name, work in (("list", _list), ("report", _report))
        }
    whole = sum(spent.values())
    return Result(
        ratios={"seconds to open, list and report": Ratio(whole, at_most=GOAL)},
        figures={
            "games": games,
            "megabytes": size / 1e6,
            "games written a second": games / written,
            **{f"{name}: seconds": value for name, value in spent.items()},
        },
    )


def _fill(path: Path, games: int) -> None:
    agents = enter([f"random(seed={number + 1})" for number in range(AGENTS)])
    matches = round_robin(agents)
    plan = Plan("league", agents, matches, pairs=-(-games // (2 * len(matches))))
    played = [play_pair(task).games for task in islice(plan.tasks(), DIFFERENT)]
    with Store.open(path) as store:
        run = store.begin(plan, "benchmark", {})
        numbers = iter(range(games // 2))
        while batch := list(islice(numbers, BATCH)):
            tasks = ((number, plan.task(number)) for number in batch)
            run.append([PairRecord(task, played[n * 7919 % DIFFERENT]) for n, task in tasks])


def _list(path: Path) -> None:
    with Store.open(path, read_only=True) as store:
        if store.runs()[0].played < 1:
            raise AssertionError("nothing is stored")


def _report(path: Path) -> None:
    with Store.open(path, read_only=True) as store:
        if "Elo" not in str(report_on(store.last())):
            raise AssertionError("nothing is rated")
