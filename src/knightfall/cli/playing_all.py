"""Playing many plans one after the other for a person: one bar over all of them, no reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from knightfall.cli.screen.guard import INTERRUPTED, say

if TYPE_CHECKING:
    from knightfall.arena.conduct import Standing
    from knightfall.arena.plan.plan import Entrant, Plan
    from knightfall.arena.store.store import Run, Store

EVERY = 0.2
"""Seconds between two looks at the clock."""


def play_all(
    plans: Sequence[Plan],
    store: Store,
    *,
    workers: int | None,
    dask: str | None,
    again: bool = False,
) -> list[Run]:
    """Play all plans to their ends, or take them up where they were left; their runs.

    One runner plays them all, so its processes start once.  Ctrl-C keeps what was played.
    """
    from knightfall.arena.conduct import conduct
    from knightfall.arena.plan import version
    from knightfall.cli.options.arena import check_runner, runner_for

    everybody = _together(plans)
    check_runner(everybody, workers, dask)
    engine, versions = version.engine(), version.versions()
    found = [None if again else _begun(store, plan, engine) for plan in plans]
    played = [0 if run is None else run.played for run in found]
    left = [plan.total - done for plan, done in zip(plans, played, strict=True)]
    runs: list[Run] = []
    with ExitStack() as stack:
        try:
            if any(left):
                runner = stack.enter_context(runner_for(everybody, workers, dask))
                told = stack.enter_context(_progress(2 * sum(left)))
            for plan, run in zip(plans, found, strict=True):
                # A run is begun when its turn comes: the store then knows how long each took.
                run = run or store.begin(plan, engine, versions, again=again)
                if not run.finished:
                    conduct(run, runner, told)
                runs.append(run)
        except KeyboardInterrupt:
            stack.close()
            say(
                f"knightfall: interrupted after {len(runs)} of {len(plans)} runs; every game "
                "played so far is stored, and the same command goes on from there"
            )
            raise typer.Exit(INTERRUPTED) from None
    return runs


def _begun(store: Store, plan: Plan, engine: str) -> Run | None:
    _, id = store.latest(plan.key(engine))
    return None if id is None else store.run(id)


def _together(plans: Sequence[Plan]) -> Plan:
    """All entrants in one plan: whom a runner has to get ready."""
    entrants: dict[str, Entrant] = {}
    for plan in plans:
        for entrant in plan.entrants:
            entrants.setdefault(entrant.agent, entrant)
    most = max(plans, key=lambda plan: plan.total)
    return replace(most, entrants=tuple(entrants.values()))


@contextmanager
def _progress(games: int) -> Iterator[Callable[[Standing], None]]:
    """A bar over the games that are left, with the time they will take; nothing in a pipe."""
    from knightfall.cli.screen.bar import line_of
    from knightfall.cli.screen.progress import ticker

    shown, before = 0.0, 0
    start: float | None = None  # the first games over: getting ready is no measure of what is left
    current: Standing | None = None

    with ticker() as tick:

        def told(standing: Standing) -> None:
            nonlocal start, shown, before, current
            if current is not None and standing is not current:
                before += current.fresh
            current = standing
            now = time.monotonic()
            done = 2 * (before + standing.fresh)
            if start is None and done:
                start = now
            if now - shown >= EVERY:
                shown = now
                tick(line_of("games", done, games, done, now - (start or now)))

        yield told
