"""Play matches, tournaments and leagues, measure heuristics (`worth`), and return the reports.

Agents are strings, or `Agent` values.  Nothing is written unless `store` names a file; then a call
that was interrupted continues where it stopped, and a finished one returns its report at once.
Ctrl-C ends a call with a report on the games played so far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import wraps
from inspect import cleandoc, signature
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, Unpack, cast

from knightfall.agents import cached_agent
from knightfall.agents.parse import AnAgent, agent_text, agent_texts, borrowed
from knightfall.arena import engine_version
from knightfall.arena.plan import Entrant, Openings, Plan, league_plan, match_plan
from knightfall.arena.reports import KINDS, RunList, report_on
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.reports.match import MatchReport
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.results import RunReport
from knightfall.arena.run_loop import OnPairs, Scoreboard, play_to_end
from knightfall.arena.run_options import (
    ARGUMENTS,
    AStore,
    Notice,
    RunKeywords,
    RunOptions,
    ignore_notice,
    with_run_options,
)
from knightfall.arena.snapshot import as_played, run_snapshot
from knightfall.arena.store import Run, Store
from knightfall.arena.store_file import IN_MEMORY, user_store
from knightfall.arena.stored_games import LAST, find_run
from knightfall.arena.tournament_plan import mixture, tournament_plan
from knightfall.arena.worth import NODES, TIMES, WorthReport, worth_plan
from knightfall.board import Board
from knightfall.display.numbers import count
from knightfall.display.progress import progress
from knightfall.display.report import Part, rendered
from knightfall.display.signatures import readable
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.openings import checked_book, read_book
from knightfall.processor_cores import cores
from knightfall.search.budget import Budget, read_budget
from knightfall.statistics.sprt import Sprt
from knightfall.user_files import original_paths

if TYPE_CHECKING:
    from knightfall.arena.runner import Runner

ABudget = str | Budget | None

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_run_options(function: Function) -> Function:
    """Decorate a function with ``**options``, so that its signature lists all `RunOptions`.

    So does its docstring in the place of the line ``**options``.  The function is called with a
    snapshot of the users' files.

    A call with another keyword raises a TypeError that names the function, as Python does.
    """
    shown = readable(with_run_options(signature(function, eval_str=True)))

    @wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        try:
            shown.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        pairs = keywords.get("pairs")
        if pairs is not None and not (isinstance(pairs, SupportsIndex) and int(pairs) > 0):
            raise KnightfallError(f"pairs={pairs!r} must be a whole number from 1 on")
        notice = keywords.get("notice")
        # Before the plan is made, which loads the users' files.
        with run_snapshot(notice or ignore_notice):
            return function(*args, **keywords)

    checked.__signature__ = shown  # type: ignore[attr-defined]
    checked.__doc__ = cleandoc(function.__doc__ or "").replace("    **options\n", ARGUMENTS)
    return cast(Function, checked)


@takes_run_options
def match(
    a: AnAgent,
    b: AnAgent,
    *,
    pairs: int | None = None,
    sprt: Sprt | tuple[float, float] | None = None,
    budget: ABudget = None,
    in_process: bool = False,
    **options: Unpack[RunKeywords],
) -> MatchReport:
    """Play a match of two agents, each opening once with either agent as first player.

    Args:
        a: The agent whose results are shown: a string, an `Agent`, or a function or class (see
            `agent`).
        b: Its opponent.
        pairs: Number of pairs of games; by default 100, with `sprt` as many as there are openings.
        sprt: Two hypotheses about A's normalized Elo, as in (0, 20): play until a sequential test
            accepts one of them.
        budget: Budget per move of every agent that deepens, as in "nodes=2500" or "time=150ms".
        in_process: Call agents written in Python directly, without the protection of a process of
            their own; this is much faster.
        **options

    Example:
        >>> result = kf.match("greedy(improved)", "random", pairs=10, workers=0)
        >>> result.pairs  # lost both games, won one, won both
        (0, 3, 7)
        >>> result.games[0].moves[:3]
        ('d5', 'f3', 'c3')
    """
    how = RunOptions(**options)
    plan = match_plan(
        *agent_texts([a, b], in_process),
        pairs=pairs,
        test=Sprt(*sprt) if isinstance(sprt, tuple) else sprt,
        budget=read_budget(budget),
        **_openings(how),
    )
    return _play_or_load(plan, MatchReport, how)


@takes_run_options
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
    in_process: bool = False,
    **options: Unpack[RunKeywords],
) -> TournamentReport:
    """Play the course's tournament: each test agent meets each opponent from the same openings.

    After the course's own games the tournament goes on until each comparison with the first test
    agent is decided or known to within two percentage points.  Course names, for example
    ``AB_Open``, are those of the protocol.

    Args:
        tests: Agents to test; by default the baseline and the heuristics that the five studies
            recommend.
        against: Their opponents; by default the course's seven.
        protocol: Version of the tournament's rules: "2017b" or "2017a".
        pairs: Number of pairs of games against each opponent, instead of playing until decided.
        course_only: Play only the course's own games.
        budget: Budget per move of every agent that deepens, as in "nodes=2500" or "time=150ms".
        num_matches: The course's NUM_MATCHES, instead of `pairs`: a match is two games in 2017b
            and four in 2017a.
        time_limit: The course's TIME_LIMIT, the time for a move, as in "150ms".
        timer_threshold: The course's TIMER_THRESHOLD: a search stops when so much of the time
            limit is left; by default "10ms".
        in_process: Call agents written in Python directly (see `match`).
        **options

    Example:
        >>> agents = ["AB_Improved", "greedy(improved)"], ["MM_Open"]
        >>> result = kf.tournament(*agents, pairs=5, workers=0)
        >>> [match.pairs for match in result.results.matches]
        [(0, 1, 4), (0, 5, 0)]
    """
    how = RunOptions(**options)
    tested, opponents = _as_list(tests), _as_list(against)
    texts = agent_texts([*tested, *opponents], in_process)
    plan = tournament_plan(
        texts[: len(tested)],
        texts[len(tested) :],
        protocol=protocol,
        pairs=pairs,
        course_only=course_only,
        budget=read_budget(budget),
        num_matches=num_matches,
        time_limit=time_limit,
        timer_threshold=timer_threshold,
        **_openings(how),
    )
    return _play_or_load(plan, TournamentReport, how)


@takes_run_options
def league(
    agents: Sequence[AnAgent],
    *,
    pairs: int = 50,
    gauntlet: int | None = None,
    until: float | None = None,
    budget: ABudget = None,
    in_process: bool = False,
    **options: Unpack[RunKeywords],
) -> LeagueReport:
    """Rate many agents by letting each play each other.

    Args:
        agents: Two or more agents (see `agent`).
        pairs: Number of pairs of games of each two agents.
        gauntlet: Only the first so many agents play the others.
        until: Stop as soon as each agent is significantly better than the next one in the ranking,
            or the difference of the two is known to within so many Elo.
        budget: Budget per move of every agent that deepens, as in "nodes=2500" or "time=150ms".
        in_process: Call agents written in Python directly (see `match`).
        **options

    Example:
        >>> result = kf.league(["random", "greedy(open)", "greedy(improved)"], pairs=5, workers=0)
        >>> [result.names[number] for number in result.order]
        ['open', 'improved', 'random']
    """
    how = RunOptions(**options)
    plan = league_plan(
        agent_texts(_as_list(agents), in_process),
        pairs=pairs,
        gauntlet_of=gauntlet,
        until=until,
        budget=read_budget(budget),
        **_openings(how),
    )
    return _play_or_load(plan, LeagueReport, how)


@takes_run_options
def worth(
    a: AnAgent,
    b: AnAgent = "improved",
    *,
    nodes: Sequence[str | int] = NODES,
    times: Sequence[str] = TIMES,
    pairs: int = 100,
    **options: Unpack[RunKeywords],
) -> WorthReport:
    """Measure a heuristic against another one at equal nodes, and at equal time.

    Args:
        a: The heuristic, or an agent that deepens, such as "id(main, plain)".
        b: What it is compared with.
        nodes: Nodes per move; a match is played for each.
        times: Times per move, as in "0.1ms", which are converted into nodes; () leaves equal time
            out.
        pairs: Number of pairs of games for each budget.
        **options

    Example:
        >>> result = kf.worth("bfs_reach", "open", nodes=[50], times=(), pairs=10, workers=0)
        >>> result.results.matches[0].pairs
        (1, 6, 3)
    """
    how = RunOptions(**options)
    with _open_store(how.store) as known:
        plan = worth_plan(
            agent_text(a),
            agent_text(b),
            nodes=[str(amount) for amount in nodes],
            times=times,
            known=None if how.again else known,
            pairs=pairs,
            **_openings(how),
        )
    return _play_or_load(plan, WorthReport, how)


def runs(*, store: AStore = None) -> RunList:
    """Return summaries of the runs in a store.

    Args:
        store: File of the store; None is the user's own, in which commands store their runs.

    Example:
        >>> _ = kf.match("greedy(open)", "random", pairs=1, workers=0, store="runs.sqlite")
        >>> [(run.id, run.kind, run.names) for run in kf.runs(store="runs.sqlite")]
        [(1, 'match', ('greedy(open)', 'random'))]
    """
    with Store.open(store, read_only=True) as opened:
        refused: list[tuple[int, str]] = []
        found = opened.runs(lambda id, error: refused.append((id, str(error))))
        return RunList(found, refused)


def run(number: int | str = LAST, *, store: AStore = None) -> RunReport:
    """Return the report of a run in a store.

    Args:
        number: Number of the run; "last" is the one that was begun last.
        store: File of the store; None is the user's own, in which commands store their runs.

    Example:
        >>> _ = kf.match("greedy(open)", "random", pairs=1, workers=0, store="runs.sqlite")
        >>> kf.run(1, store="runs.sqlite").pairs
        (0, 0, 1)
    """
    opened = Store.open(store, read_only=True)  # stays open as long as the report exists
    try:
        return report_on(find_run(opened, str(number)))
    except BaseException:
        opened.close()
        raise


# -- shared by the four functions --------------------------------------------------------------

Kind = TypeVar("Kind", bound=RunReport)


def _as_list(agents: Any) -> list[AnAgent]:
    """Return the agents of a list, or a list of one agent: a string is not a list of letters."""
    many = isinstance(agents, Iterable) and not isinstance(agents, str)
    return list(agents) if many else [agents]


def _openings(how: RunOptions) -> Openings:
    """Read and check the opening book; return the options for openings as fields of `Plan`."""
    if how.book is None:
        fens: tuple[str, ...] = ()
    elif isinstance(how.book, str | os.PathLike):
        fens = tuple(read_book(os.fspath(how.book)))
    else:
        fens = tuple(checked_book(how.book))
    return Openings(
        seed=how.seed, board=Board.named(how.board).text, book=fens, stratify=how.stratify
    )


def _open_store(store: AStore) -> Store:
    """Open the store in a file, or a store in memory if `store` is None."""
    return Store.open(IN_MEMORY if store is None else store)


def _play_or_load(plan: Plan, kind: type[Kind], how: RunOptions) -> Kind:
    """Play a plan unless the store has it, and return its report."""
    assert KINDS[plan.kind] is kind
    runner_options = RunnerOptions(how.workers, how.dask, how.executor)
    if how.again or not _is_finished(plan, how.store):
        check(plan, runner_options, how.tell)
        for entrant in plan.entrants:  # notes such as a submission's course generation
            for note in cached_agent(as_played(entrant.agent)).notes():
                how.tell(original_paths(f"{entrant.name}: {note}"))
    # The report reads from the store later, so the store stays open as long as the report exists.
    store = _open_store(how.store)
    try:
        run, interrupted = play(
            plan,
            store,
            runner_options,
            again=how.again,
            notice=how.tell,
            show_progress=how.progress,
        )
    except BaseException:
        store.close()
        raise
    return kind(run, interrupted=interrupted)


def _is_finished(plan: Plan, store: AStore) -> bool:
    """Return whether a store has the whole run; a file that does not exist is not created."""
    if store is None:
        return False
    with suppress(KnightfallError), Store.open(store, read_only=True) as known:
        run = known.find(plan, engine_version.engine())
        return run is not None and run.finished is not None
    return False


# -- playing plans ------------------------------------------------------------------------------


def check(plan: Plan, options: RunnerOptions, notice: Notice = ignore_notice) -> None:
    """Raise a `KnightfallError` if a plan cannot be played, for example because a file is missing.

    A submission is imported once; a notice names the player that was chosen if it has several.
    """
    from knightfall.arena.play import check_agents  # needs the compiler

    check_runner(options, plan)
    loaded: set[tuple[str, ...]] = set()
    with run_snapshot() as taken:
        played = taken.plan(plan)
        check_agents(entrant.agent for entrant in played.entrants)
        for entrant in played.entrants:
            agent = cached_agent(entrant.agent)
            if agent.files not in loaded:
                loaded.add(agent.files)
                for line in agent.trial_load():
                    notice(original_paths(line))


def check_runner(options: RunnerOptions, plan: Plan) -> None:
    """Raise a `KnightfallError` if a plan cannot be played with these options.

    Games by the wall clock need one core per worker, or they would disturb one another.  A
    heuristic that was declared in this process, for example in a notebook, cannot be played in
    another one.
    """
    options.check()
    agents = [cached_agent(entrant.agent) for entrant in plan.entrants]
    here = [agent for agent in agents if agent.is_process_local]
    if here and (options.workers or options.leaves):
        raise KnightfallError(
            f"{here[0].name} uses a function of this process, which worker processes cannot load: "
            "set workers=0, or move the function into a file"
        )
    timed = [agent for agent in agents if agent.timed]
    if timed and (options.workers or 0) > cores():
        raise KnightfallError(
            f"workers={options.workers}: games by the wall clock need one core per worker, and "
            f"this machine has {cores()} ({timed[0].name} plays by the wall clock)"
        )


def play(
    plan: Plan,
    store: Store,
    options: RunnerOptions,
    *,
    again: bool = False,
    notice: Notice = ignore_notice,
    show_progress: bool = True,
) -> tuple[Run, bool]:
    """Play a checked plan to its end; return its run, and whether Ctrl-C ended it early.

    The pairs played before Ctrl-C are stored, and the same plan continues after them.  With `again`
    the plan is played anew even if it is in the store.
    """
    notices = [borrowed(one.name, cached_agent(one.agent)) for one in plan.entrants]
    if plan.kind == "tournament":
        notices += mixture(plan)
    if not store.file.in_memory:
        notices += [_not_resumable(one) for one in plan.entrants]
    for text in filter(None, dict.fromkeys(notices)):
        notice(text)
    if plan.exhausted:
        notice(_too_few_openings(plan))
    engine = engine_version.engine()
    known = None if again else store.find(plan, engine)
    if known is not None and known.finished:
        notice(f"run {known.id} was played before; --again plays it anew")
        return known, False
    # The runner starts before the run is stored, because a cluster may not answer.
    with from_snapshot(options, plan, notice) as runner:
        run = store.begin(plan, engine, engine_version.versions(), again=again)
        if run.played:
            notice(f"continuing run {run.id} after {plan.so_far(run.played)}")
        try:
            with _progress_of([run], show_progress) as on_pairs:
                play_to_end(run, runner, on_pairs)
        except KeyboardInterrupt:
            return run, True
    return run, False


@contextmanager
def from_snapshot(options: RunnerOptions, plan: Plan, notice: Notice) -> Iterator[Runner]:
    """Yield a runner that plays a plan from copies of the users' files."""
    from knightfall.arena.runner import SnapshotRunner, choose_runner  # needs the compiler

    def tell(text: str) -> None:
        notice(original_paths(text))

    with run_snapshot(notice) as taken, choose_runner(options, taken.plan(plan), tell) as runner:
        yield SnapshotRunner(runner, taken)


def play_all(
    plans: Sequence[Plan],
    store: Store,
    options: RunnerOptions,
    *,
    again: bool = False,
    notice: Notice = ignore_notice,
) -> tuple[list[Run], bool]:
    """Play some plans one after the other; return their runs, and whether Ctrl-C ended them early.

    One runner plays them all, so its processes start once.
    """
    combined = combined_plan(plans)
    check_runner(options, combined)
    engine, versions = engine_version.engine(), engine_version.versions()
    found = [None if again else store.find(plan, engine) for plan in plans]
    notice(_stored_and_new(plans, found))
    runs: list[Run] = []
    with ExitStack() as stack:
        try:
            if not all(run is not None and run.finished for run in found):
                runner = stack.enter_context(from_snapshot(options, combined, notice))
                watched = [run or plan for run, plan in zip(found, plans, strict=True)]
                on_pairs = stack.enter_context(_progress_of(watched, show=True))
            for plan, known in zip(plans, found, strict=True):
                # A run is begun only now, so that the store knows how long it took.
                run = known or store.begin(plan, engine, versions, again=again)
                if not run.finished:
                    play_to_end(run, runner, on_pairs)
                runs.append(run)
        except KeyboardInterrupt:
            return runs, True
    return runs, False


def _stored_and_new(plans: Sequence[Plan], found: Sequence[Run | None]) -> str:
    """Return a sentence on how many games of some plans are stored and how many must be played."""
    stored = sum(run.played for run in found if run is not None)
    wanted = sum(
        plan.total - (0 if run is None else run.played)
        for plan, run in zip(plans, found, strict=True)
        if run is None or not run.finished
    )
    again = " (--again plays all of them anew)" if stored else ""
    return f"from the store: {count(2 * stored, 'game')}{again}; to play now: {2 * wanted:,}"


def combined_plan(plans: Sequence[Plan]) -> Plan:
    """Return the longest plan, with the entrants of all; it decides which runner is chosen."""
    entrants: dict[str, Entrant] = {}
    for plan in plans:
        for entrant in plan.entrants:
            entrants.setdefault(entrant.agent, entrant)
    most = max(plans, key=lambda plan: plan.total)
    return replace(most, entrants=tuple(entrants.values()))


def _not_resumable(entrant: Entrant) -> str:
    """Return a notice if a run with this entrant can only be continued by this process; else ""."""
    if not cached_agent(entrant.agent).is_process_local:
        return ""
    return (
        f"{entrant.name} is a function of this process: its games are stored, but no other process "
        "can continue the run; a function in a file can be named in any process"
    )


def _too_few_openings(plan: Plan) -> str:
    """Return a sentence on how many pairs are played, because there are too few openings."""
    where = "the book has" if plan.book else f"{plan.board.replace('x', '×')} has"
    return (
        f"{where} {count(len(plan.starts), 'opening')}: each match gets "
        f"{count(plan.rounds, 'pair')}, not {plan.pairs:,}; none is repeated to make up the number"
    )


@contextmanager
def _progress_of(runs: Sequence[Run | Plan], show: bool) -> Iterator[OnPairs]:
    """Show the progress of runs during the block; show results so far if it is one run."""
    if not show:
        yield lambda board: None
        return
    played = [run.played if isinstance(run, Run) else 0 for run in runs]
    total = sum(run.total for run in runs)
    boards: list[Scoreboard] = []
    with progress("games", 2 * total, done=2 * sum(played), after=0.0) as shown:

        def on_pairs(board: Scoreboard) -> None:
            if board not in boards[-1:]:
                boards.append(board)
            shown.total = 2 * (total - board.plan.total + (board.rule.expected or board.plan.total))
            shown(2 * (sum(played) + sum(each.fresh for each in boards)))

        if len(runs) == 1:
            shown.view = lambda: rendered(_so_far(boards), below=2)
        yield on_pairs


def _so_far(boards: Sequence[Scoreboard]) -> Iterable[Part]:
    """Return the live report of the first run, or a placeholder before the first pair."""
    return KINDS[boards[0].plan.kind].live(boards[0]) if boards else ["preparing …"]


__all__ = ["league", "match", "run", "runs", "tournament", "user_store", "worth"]
