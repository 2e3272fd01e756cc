"""The arena: games per second against plain Python, overhead, workers, Dask."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from knightfall.arena.plan import PairRecord, Plan
from knightfall.arena.play import play_pair
from knightfall.arena.run_loop import play_to_end
from knightfall.arena.runner import Pool, Runner
from knightfall.arena.store import Store
from knightfall.arena.tournament_plan import tournament_plan
from knightfall.position import Position

from .course_games import course_game
from .measure import fastest, seconds_of
from .result import Ratio, Result

SUMMARY = "The course's tournament: games a second ÷ those of the same agents in plain Python"
FASTER, OVERHEAD, WORKERS, DASK, WHOLE = 500.0, 0.05, 1.8, 1.15, 5.0
TESTS = ("AB_Improved", "lookahead:AB_Custom", "lookahead:AB_Custom_2", "lookahead:AB_Custom_3")
PAIRS = 300
"""Pairs per opponent when runners are compared; enough to make their start negligible."""


def run(pairs: int = PAIRS, sample: int = 1, rounds: int = 3) -> Result:
    """Measure the arena; check that plain Python plays the same games, move for move."""
    course = tournament_plan(TESTS, course_only=True)
    python, compiled, games = _against_python(course, sample)
    ratios = {"games a second, one core ÷ plain Python": Ratio(python / compiled, at_least=FASTER)}
    figures: dict[str, object] = {
        "games played in plain Python": games,
        "plain Python: seconds a game": python / games,
        "compiled: seconds a game": compiled / games,
    }
    share, moves = _not_search(course, rounds)
    ratios["what is not search ÷ all, in a worker"] = Ratio(share, at_most=OVERHEAD)
    figures["moves timed"] = moves
    seconds = _runners(tournament_plan(TESTS, pairs=pairs), rounds)
    ratios["one worker's time ÷ two workers'"] = Ratio(
        seconds["one worker"] / seconds["two workers"], at_least=WORKERS
    )
    notes = ["The games in plain Python were played once"]
    if "Dask" in seconds:
        ratios["two Dask workers' time ÷ two workers'"] = Ratio(
            seconds["Dask"] / seconds["two workers"], at_most=DASK
        )
    else:
        notes.append("Dask is not installed: not measured")
    ratios[f"{2 * course.total} games on two workers, stored, in seconds"] = Ratio(
        _whole(course, rounds), at_most=WHOLE
    )
    figures.update({f"{name}: seconds": value for name, value in seconds.items()})
    return Result(ratios=ratios, figures=figures, notes=notes)


def _against_python(plan: Plan, sample: int) -> tuple[float, float, int]:
    """Play the first rounds compiled and in plain Python; return both times and the game count."""
    tasks = [plan.task(number) for number in range(len(plan.matches) * sample)]
    deque(map(play_pair, tasks), maxlen=0)
    records: list[PairRecord] = []
    compiled = seconds_of(lambda: records.extend(map(play_pair, tasks)))
    moves: list[list[str]] = []
    python = seconds_of(lambda: moves.extend(course_game(t, g) for t in tasks for g in (0, 1)))
    for record, pair in zip(records, zip(moves[::2], moves[1::2], strict=True), strict=True):
        start = Position.from_fen(record.task.opening)
        ours = [list(game.moves(start)) for game in record.games]
        if ours != list(pair):
            raise AssertionError(f"{record.task}: compiled {ours}, plain Python {list(pair)}")
    return python, compiled, 2 * len(tasks)


def _not_search(plan: Plan, rounds: int) -> tuple[float, int]:
    """Return the smallest measured share of a worker's time outside of searches, and the number of
    moves.
    """
    tasks = list(plan.tasks())
    deque(map(play_pair, tasks), maxlen=0)
    best, moves = 1.0, 0
    for _ in range(rounds):
        records: list[PairRecord] = []
        whole = seconds_of(lambda records=records: records.extend(map(play_pair, tasks)))
        spent = sum(int(g.column("microseconds").sum()) for r in records for g in r.games) / 1e6
        moves = sum(game.plies for record in records for game in record.games)
        best = min(best, 1 - spent / whole)
    return best, moves


def _runners(plan: Plan, rounds: int) -> dict[str, float]:
    """Return each runner's seconds for all pairs of a plan, with warm workers."""
    agents = [entrant.agent for entrant in plan.entrants]
    sides: dict[str, Runner] = {"one worker": Pool(1, agents), "two workers": Pool(2, agents)}
    cluster = _cluster(agents)
    if cluster:
        sides["Dask"] = cluster[0]
    try:
        return fastest(
            {name: lambda runner=runner: _all(runner, plan) for name, runner in sides.items()},
            rounds,
        )
    finally:
        for runner in sides.values():
            runner.close()
        if cluster:
            cluster[1].close()


def _cluster(agents: list[str]):
    try:
        from distributed import LocalCluster
    except ImportError:
        return None
    from knightfall.arena.runner import RemoteRunner

    local = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    return RemoteRunner(local.scheduler_address, agents), local


def _all(runner: Runner, plan: Plan) -> None:
    played: Iterable[PairRecord] = runner.play(plan.tasks())
    if sum(1 for _ in played) != plan.total:
        raise AssertionError("pairs are missing")


def _whole(plan: Plan, rounds: int) -> float:
    """Return the seconds to play a whole tournament into a store, with warm workers."""
    agents = [entrant.agent for entrant in plan.entrants]
    best = float("inf")
    with Pool(2, agents) as pool:
        _all(pool, plan)
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                with Store.open(Path(folder) / "arena.sqlite") as store:
                    play_to_end(store.begin(plan, "benchmark", {}), pool)
                best = min(best, time.perf_counter() - start)
    return best
