"""Matches, tournaments, leagues and worths in one call each.

Agents are strings, or `Agent` values.  Nothing is written unless `store` names a file; then an
interrupted call goes on where it was, and a finished one is shown again at once.  Ctrl-C ends a
call with what was played by then.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from knightfall.agents import Agent
from knightfall.arena.plan.matches import Openings, league_plan, match_plan
from knightfall.arena.plan.plan import Plan
from knightfall.arena.plan.protocols import tournament_plan
from knightfall.arena.plan.version import engine
from knightfall.arena.reports.kinds import KINDS
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.reports.match import MatchReport
from knightfall.arena.reports.report import RunReport
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.reports.worth import WorthReport
from knightfall.arena.runners.hire import Crew, Notice
from knightfall.arena.runs import check, play, tell_generations
from knightfall.arena.store.file import IN_MEMORY, user_store
from knightfall.arena.store.store import Store
from knightfall.arena.worth.worth import NODES, TIMES, worth_plan
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.openings import checked_book, read_book
from knightfall.search.budget import Budget, read_budget
from knightfall.statistics.sprt import Sprt

AnAgent = str | Agent
ABudget = str | Budget | None
ABook = str | os.PathLike[str] | Sequence[str] | None
AStore = str | os.PathLike[str] | None


def match(
    a: AnAgent,
    b: AnAgent,
    *,
    pairs: int | None = None,
    sprt: Sprt | tuple[float, float] | None = None,
    budget: ABudget = None,
    seed: int = 0,
    board: str = "7x7",
    book: ABook = None,
    stratify: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    store: AStore = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> MatchReport:
    """Let two agents meet, each opening from both seats.

    100 pairs, or `pairs`, or with ``sprt=(0, 20)`` until one of the two hypotheses about A's
    normalized Elo is accepted.
    """
    plan = match_plan(
        str(a),
        str(b),
        pairs=pairs,
        test=Sprt(*sprt) if isinstance(sprt, tuple) else sprt,
        budget=read_budget(budget),
        **_openings(seed, board, book, stratify),
    )
    return _played(plan, MatchReport, Crew(workers, dask), store, again, progress, notice)


def tournament(
    tests: Sequence[AnAgent] = (),
    against: Sequence[AnAgent] = (),
    *,
    protocol: str = "2017b",
    pairs: int | None = None,
    course_only: bool = False,
    budget: ABudget = None,
    num_matches: int | None = None,
    time_limit: str | None = None,
    timer_threshold: str | None = None,
    seed: int = 0,
    board: str = "7x7",
    book: ABook = None,
    stratify: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    store: AStore = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> TournamentReport:
    """Play the course's tournament: each test agent meets each opponent from the same openings.

    By default the baseline and what the five studies recommend meet the course's seven.  After the
    course's own games (`course_only` stops there) it goes on until each comparison with the first
    test agent is decided or known to within two points; `pairs` fixes the length instead.  Course
    names such as ``AB_Open`` are those of the protocol.

    The course's own settings: `num_matches` (NUM_MATCHES) fixes the length in matches, of two games
    each in 2017b and of four in 2017a; `time_limit` (TIME_LIMIT) is the time for a move, as in
    ``"150ms"``, of which a search leaves `timer_threshold` (TIMER_THRESHOLD), 10 ms.
    """
    plan = tournament_plan(
        [str(agent) for agent in tests],
        [str(agent) for agent in against],
        protocol=protocol,
        pairs=pairs,
        course_only=course_only,
        budget=read_budget(budget),
        num_matches=num_matches,
        time_limit=time_limit,
        timer_threshold=timer_threshold,
        **_openings(seed, board, book, stratify),
    )
    return _played(plan, TournamentReport, Crew(workers, dask), store, again, progress, notice)


def league(
    agents: Sequence[AnAgent],
    *,
    pairs: int = 50,
    gauntlet: int | None = None,
    until: float | None = None,
    budget: ABudget = None,
    seed: int = 0,
    board: str = "7x7",
    book: ABook = None,
    stratify: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    store: AStore = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> LeagueReport:
    """Rate many agents: everyone meets everyone, or the first `gauntlet` all the others.

    With `until` it ends as soon as each neighbour in the ranking is told apart, or known to within
    so many Elo.
    """
    plan = league_plan(
        [str(agent) for agent in agents],
        pairs=pairs,
        gauntlet_of=gauntlet,
        until=until,
        budget=read_budget(budget),
        **_openings(seed, board, book, stratify),
    )
    return _played(plan, LeagueReport, Crew(workers, dask), store, again, progress, notice)


def worth(
    a: AnAgent,
    b: AnAgent = "improved",
    *,
    nodes: Sequence[str | int] = NODES,
    times: Sequence[str] = TIMES,
    pairs: int = 100,
    seed: int = 0,
    board: str = "7x7",
    book: ABook = None,
    stratify: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    store: AStore = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> WorthReport:
    """What a heuristic is worth: against another one at equal nodes, and at equal time.

    ``times=()`` leaves equal time out.
    """
    with Store.open(IN_MEMORY if store is None else store) as known:
        plan = worth_plan(
            str(a),
            str(b),
            nodes=[str(amount) for amount in nodes],
            times=times,
            known=None if again else known,
            pairs=pairs,
            **_openings(seed, board, book, stratify),
        )
    return _played(plan, WorthReport, Crew(workers, dask), store, again, progress, notice)


# -- what they have in common ----------------------------------------------------------------

Kind = TypeVar("Kind", bound=RunReport)


def _openings(seed: int, board: str, book: ABook, stratify: bool) -> Openings:
    if book is None:
        fens: tuple[str, ...] = ()
    elif isinstance(book, str | os.PathLike):
        fens = tuple(read_book(os.fspath(book)))
    else:
        fens = tuple(checked_book(book))
    return Openings(seed=seed, board=Board.named(board).text, book=fens, stratify=stratify)


def _played(
    plan: Plan,
    kind: type[Kind],
    crew: Crew,
    store: AStore,
    again: bool,
    progress: bool,
    notice: Notice,
) -> Kind:
    assert KINDS[plan.kind] is kind
    if again or not _is_finished(plan, store):  # or there is nobody to be made ready
        check(plan, crew, notice)
        tell_generations(plan, notice)
    # The report reads what it needs when it is asked: the store stays open as long as it lives.
    opened = Store.open(IN_MEMORY if store is None else store)
    try:
        run, interrupted = play(
            plan, opened, crew, again=again, notice=notice, show_progress=progress
        )
    except BaseException:
        opened.close()
        raise
    return kind(run, interrupted=interrupted)


def _is_finished(plan: Plan, store: AStore) -> bool:
    """Whether a store has the whole run already; it is not made if it is not there."""
    if store is None:
        return False
    with suppress(KnightfallError), Store.open(store, read_only=True) as known:
        run = known.find(plan, engine())
        return run is not None and run.finished is not None
    return False


__all__ = ["league", "match", "tournament", "user_store", "worth"]
