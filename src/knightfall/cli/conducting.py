"""Playing a run for a person: progress while it goes on, then the report; Ctrl-C at any time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from knightfall.cli.screen.bar import line_of
from knightfall.cli.screen.guard import INTERRUPTED, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from knightfall.arena.conduct import Standing
    from knightfall.arena.plan.plan import Plan
    from knightfall.arena.runners.runner import Runner
    from knightfall.arena.store.store import Run, Store

View = Callable[["Standing"], "RenderableType"]
"""What a person sees beside the progress line while a run goes on."""


def carry_out(
    plan: Plan,
    *,
    store: str | None,
    workers: int | None,
    dask: str | None,
    again: bool,
    json: bool,
    view: View | None = None,
) -> None:
    """Play a plan to its end, or take it up where it was left, and print what came of it."""
    from knightfall.arena.runners.backlog import check_agents
    from knightfall.arena.store.store import Store
    from knightfall.cli.options.arena import check_runner, runner_for
    from knightfall.cli.options.store import store_path
    from knightfall.cli.reports.report import print_report

    check_runner(plan, workers, dask)
    # A file that is missing is said before anything is stored.
    check_agents(entrant.agent for entrant in plan.entrants)
    with Store.open(store_path(store)) as opened:
        if plan.exhausted:
            _say(json, _exhausted(plan))

        def hire() -> Runner:
            return runner_for(plan, workers, dask)

        run, interrupted = _play(opened, plan, hire, again=again, json=json, view=view)
        if not interrupted or run.played:
            print_report(run, json=json)
        if interrupted:
            say(
                f"knightfall: interrupted after {run.played:,} of {plan.total:,} pairs; "
                f"the same command goes on with run {run.id}"
            )
            raise typer.Exit(INTERRUPTED)


def _play(
    store: Store,
    plan: Plan,
    hire: Callable[[], Runner],
    *,
    again: bool,
    json: bool,
    view: View | None,
) -> tuple[Run, bool]:
    """The run of a plan, played as far as it gets, and whether it was interrupted."""
    from knightfall.arena.conduct import conduct
    from knightfall.arena.plan import version

    engine = version.engine()
    known = None if again else store.latest(plan.key(engine))[1]
    if known is not None and (run := store.run(known)).finished:
        _say(json, f"run {run.id} was played before; --again plays it anew")
        return run, False
    # Whoever plays must be there before the run is stored: a cluster may not answer.
    with hire() as runner:
        run = store.begin(plan, engine, version.versions(), again=again)
        if run.played:
            _say(json, f"going on with run {run.id} after {run.played:,} of {plan.total:,} pairs")
        try:
            with watching(run, view) as told:
                conduct(run, runner, told)
        except KeyboardInterrupt:
            return run, True
    return run, False


def _say(json: bool, text: str) -> None:
    if not json:
        say(text)


def _exhausted(plan: Plan) -> str:
    where = "the book has" if plan.book else f"{plan.board.replace('x', '×')} has"
    number = len(plan.starts)
    return (
        f"{where} {number:,} {'opening' if number == 1 else 'openings'}: each match gets "
        f"{plan.rounds:,} pairs, not {plan.pairs:,}; none is repeated to make up the number"
    )


@contextmanager
def watching(run: Run, view: View | None) -> Iterator[Callable[[Standing], None]]:
    """While the block runs, show how far it has got; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda standing: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    latest: list[Standing] = []
    start = time.monotonic()

    def picture() -> RenderableType:
        seconds = time.monotonic() - start
        if not latest:
            return Text("getting ready …")
        standing = latest[0]
        games = 2 * standing.played, 2 * standing.plan.total, 2 * standing.fresh
        line = Text(line_of("games", *games, seconds))
        return Group(view(latest[0]), line) if view else line

    def told(standing: Standing) -> None:
        latest[:] = [standing]

    screen = Console(stderr=True, markup=False, highlight=False, emoji=False)
    with Live(
        get_renderable=picture, console=screen, refresh_per_second=5, transient=True, screen=False
    ):
        yield told
