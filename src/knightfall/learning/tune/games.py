"""The games of a generation: every candidate meets the same opponents from the same positions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing

from knightfall.arena.plan.entrants import check_files, enter
from knightfall.arena.plan.plan import Plan, tournament
from knightfall.arena.runners.runner import InProcess, Runner
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression
from knightfall.learning.tune.settings import Settings, agent_of

Counts = tuple[int, int, int]
"""How many pairs a candidate lost, split and won."""


def generation_plan(settings: Settings, number: int, candidates: Sequence[Expression]) -> Plan:
    """What is played to tell the candidates of a generation apart.

    Luck with openings and broken ties is the same for all of them.
    """
    playing = enter([agent_of(one, settings.nodes) for one in candidates])
    opponents = enter(settings.opponents)
    digest = hashlib.sha256(f"generation {settings.seed}/{number}".encode()).digest()
    return Plan(
        kind="tournament",
        entrants=playing + opponents,
        matches=tournament(len(playing), len(opponents)),
        pairs=settings.pairs,
        seed=int.from_bytes(digest[:4], "big"),
        book=tuple(settings.starts.of_generation(number, settings.pairs, settings.seed)),
        files=settings.files,
    )


def played(plan: Plan, candidates: int, runner: Runner) -> list[Counts]:
    """What each candidate came to, against all opponents together."""
    counts = [[0, 0, 0] for _ in range(candidates)]
    with closing(runner.play(plan.tasks())) as records:
        for record in records:
            for game in record.games:
                if game.reason == "crash":
                    raise KnightfallError(
                        f"a game of {record.task.a} against {record.task.b} crashed: {game.detail}"
                    )
            match = plan.matches[record.task.number % len(plan.matches)]
            counts[match.a][record.score] += 1
    check_files(plan)  # or some would have played with another file than the others
    return [(lost, split, won) for lost, split, won in counts]


def score(counts: Counts) -> float:
    """Points a game."""
    lost, split, won = counts
    return (won + split / 2) / (lost + split + won)


def hired(workers: int, agents: Sequence[str]) -> Runner:
    """So many processes that play, or this one."""
    if workers == 1:
        return InProcess(agents)
    from knightfall.arena.runners.pool import Pool

    return Pool(workers, agents)
