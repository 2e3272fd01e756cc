"""Runs for the tests of charts and reports: real games of fast agents on small boards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from knightfall.arena.engine_version import engine, versions
from knightfall.arena.plan import (
    GameRecord,
    Match,
    PairRecord,
    PairTask,
    Plan,
    enter,
    round_robin,
    tournament_matches,
)
from knightfall.arena.play import play_pair
from knightfall.arena.results import Results, results
from knightfall.arena.store import Run, Store
from knightfall.position import Side, other

QUICK = [
    "greedy(improved)",
    "random",
    "minimax(open, depth=1)",
    "greedy(center)",
    "id(open, nodes=20)",
]
SPRT = {"rule": "sprt", "elo0": -10.0, "elo1": 40.0, "alpha": 0.1, "beta": 0.1, "model": "logistic"}


def league_plan(agents: list[str] = QUICK, pairs: int = 6, board: str = "4x4", **more: Any) -> Plan:
    entrants = enter(agents)
    return Plan("league", entrants, round_robin(entrants), pairs, board=board, **more)


def match_plan(pairs: int = 40, board: str = "4x5", **more: Any) -> Plan:
    entrants = enter(["greedy(improved)", "greedy(center)"])
    return Plan("match", entrants, (Match(0, 1),), pairs, board=board, **more)


def tournament_of(tests: list[str], against: list[str], pairs: int = 5) -> Plan:
    entrants = enter(tests) + enter(against)
    options = {"protocol": "2017b", "tests": len(tests)}
    matches = tournament_matches(len(tests), len(against))
    return Plan("tournament", entrants, matches, pairs, board="4x4", options=options)


def _won_by(winner: Side, game: GameRecord) -> GameRecord:
    """Return the game without its last move if the other side won it: who moves last has won."""
    if game.winner == winner:
        return game
    columns = ("cells", "scores", "depths", "nodes", "microseconds")
    kept = {name: getattr(game, name) for name in columns}
    kept = {name: text[: -(len(text) // game.plies)] for name, text in kept.items()}
    return replace(game, winner=winner, **kept)


def decided(score: int) -> Callable[[PairTask], PairRecord]:
    """Return a function that plays pairs and then changes the winners so that `a` wins `score` of
    the two games.
    """

    def play(task: PairTask) -> PairRecord:
        first, second = play_pair(task).games
        first = _won_by("w" if score == 2 else "b", first)
        second = _won_by("b" if score >= 1 else "w", second)
        return PairRecord(task, (first, second))

    return play


def play(
    store: Store,
    plan: Plan,
    played: int | None = None,
    how: Callable[[PairTask], PairRecord] = play_pair,
) -> Run:
    """Store the first pairs of a plan; finish the run if these are all."""
    run = store.begin(plan, engine(), versions())
    run.append(
        [how(plan.task(number)) for number in range(plan.total if played is None else played)]
    )
    if run.played == plan.total:
        run.finish({})
    return run


def found_in(path: Path, plan: Plan, **more: Any) -> Results:
    """Return the results of a plan, played into a store that stays open."""
    return results(play(Store.open(path), plan, **more))


def naive_pairs(run: Run) -> dict[tuple[int, int], list[int]]:
    """Return, for each couple of entrants, the first one's pair scores, counted from the games."""
    plan, scores = run.plan, dict[tuple[int, int], list[int]]()
    for pair in run.pairs():
        match = plan.matches[pair.task.number % len(plan.matches)]
        won = 0
        for game, record in enumerate(pair.games):
            side = "w" if game == 0 else "b"
            won += record.winner == side
            assert record.winner in (side, other(side))
        scores.setdefault((match.a, match.b), []).append(won)
    return scores


def five(scores: list[int]) -> tuple[int, int, int, int, int]:
    """Return the five counts of pairs (LL, LD, WL, WD, WW) that the statistics expect."""
    return scores.count(0), 0, scores.count(1), 0, scores.count(2)
