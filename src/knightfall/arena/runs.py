"""Playing plans: each is found in the store, finished, half played or not at all, and played on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from knightfall.agents import known_agent
from knightfall.agents.parse import borrowed
from knightfall.arena.conduct import OnPairs, conduct
from knightfall.arena.plan import version
from knightfall.arena.plan.plan import Entrant, Plan
from knightfall.arena.plan.protocols import mixture
from knightfall.arena.reports.kinds import KINDS
from knightfall.arena.results.scoreboard import Scoreboard
from knightfall.arena.runners.hire import Crew, Notice
from knightfall.arena.store.run import Run
from knightfall.arena.store.store import Store
from knightfall.display.numbers import count
from knightfall.display.progress import progress
from knightfall.display.report import Part, rendered


def check(plan: Plan, crew: Crew, notice: Notice = lambda text: None) -> None:
    """Refuse what cannot be played, a missing file say, before anything is stored.

    A submission is loaded once; `notice` is told which of its players plays, if it has several.
    """
    from knightfall.arena.runners.backlog import check_agents  # needs the compiler

    crew.check(plan)
    check_agents(entrant.agent for entrant in plan.entrants)
    loaded: set[tuple[str, ...]] = set()
    for entrant in plan.entrants:
        agent = known_agent(entrant.agent)
        if agent.files not in loaded:
            loaded.add(agent.files)
            for line in agent.rehearse():
                notice(line)


def tell_generations(plan: Plan, notice: Notice) -> None:
    """Give notice of what each submission of the course is taken for, and by which sign."""
    for entrant in plan.entrants:
        for note in known_agent(entrant.agent).notes():
            notice(f"{entrant.name}: {note}")


def play(
    plan: Plan,
    store: Store,
    crew: Crew,
    *,
    again: bool = False,
    notice: Notice = lambda text: None,
    show_progress: bool = True,
) -> tuple[Run, bool]:
    """The run of a checked plan, played to its end, and whether Ctrl-C came before that.

    What was played by then is stored; the same plan goes on from there.  With `again` it is played
    anew even if it is in the store.
    """
    told = [borrowed(one.name, known_agent(one.agent)) for one in plan.entrants]
    for text in dict.fromkeys(told):
        if text:
            notice(text)
    for text in mixture(plan):
        notice(text)
    if plan.exhausted:
        notice(_exhausted(plan))
    engine = version.engine()
    known = None if again else store.find(plan, engine)
    if known is not None and known.finished:
        notice(f"run {known.id} was played before; --again plays it anew")
        return known, False
    # Whoever plays must be there before the run is stored: a cluster may not answer.
    with crew.hire(plan, notice) as runner:
        run = store.begin(plan, engine, version.versions(), again=again)
        if run.played:
            notice(f"going on with run {run.id} after {plan.so_far(run.played)}")
        try:
            with _watching([run], show_progress) as on_pairs:
                conduct(run, runner, on_pairs)
        except KeyboardInterrupt:
            return run, True
    return run, False


def play_all(
    plans: Sequence[Plan],
    store: Store,
    crew: Crew,
    *,
    again: bool = False,
    notice: Notice = lambda text: None,
) -> tuple[list[Run], bool]:
    """The runs of some plans, one after the other, as far as they got, and whether Ctrl-C came.

    One runner plays them all, so its processes start once.
    """
    everybody = together(plans)
    crew.check(everybody)
    engine, versions = version.engine(), version.versions()
    found = [None if again else store.find(plan, engine) for plan in plans]
    notice(_origin(plans, found))
    runs: list[Run] = []
    with ExitStack() as stack:
        try:
            if not all(run is not None and run.finished for run in found):
                runner = stack.enter_context(crew.hire(everybody, notice))
                watched = [run or plan for run, plan in zip(found, plans, strict=True)]
                on_pairs = stack.enter_context(_watching(watched, show=True))
            for plan, known in zip(plans, found, strict=True):
                # A run is begun when its turn comes: the store then knows how long each took.
                run = known or store.begin(plan, engine, versions, again=again)
                if not run.finished:
                    conduct(run, runner, on_pairs)
                runs.append(run)
        except KeyboardInterrupt:
            return runs, True
    return runs, False


def _origin(plans: Sequence[Plan], found: Sequence[Run | None]) -> str:
    """Return how many games of some plans were played before and how many are played now."""
    stored = sum(run.played for run in found if run is not None)
    wanted = sum(
        plan.total - (0 if run is None else run.played)
        for plan, run in zip(plans, found, strict=True)
        if run is None or not run.finished
    )
    again = " (--again plays all of them anew)" if stored else ""
    return f"from the store: {count(2 * stored, 'game')}{again}; to play now: {2 * wanted:,}"


def together(plans: Sequence[Plan]) -> Plan:
    """All entrants in one plan: whom a runner has to get ready."""
    entrants: dict[str, Entrant] = {}
    for plan in plans:
        for entrant in plan.entrants:
            entrants.setdefault(entrant.agent, entrant)
    most = max(plans, key=lambda plan: plan.total)
    return replace(most, entrants=tuple(entrants.values()))


def _exhausted(plan: Plan) -> str:
    where = "the book has" if plan.book else f"{plan.board.replace('x', '×')} has"
    return (
        f"{where} {count(len(plan.starts), 'opening')}: each match gets "
        f"{count(plan.rounds, 'pair')}, not {plan.pairs:,}; none is repeated to make up the number"
    )


@contextmanager
def _watching(runs: Sequence[Run | Plan], show: bool) -> Iterator[OnPairs]:
    """While the block runs, show how far it has got; of a single run also what it says by now."""
    if not show:
        yield lambda board: None
        return
    played = [run.played if isinstance(run, Run) else 0 for run in runs]
    total = sum(run.total for run in runs)
    boards: list[Scoreboard] = []
    with progress("games", 2 * total, done=2 * sum(played), after=0.0) as tell:

        def on_pairs(board: Scoreboard) -> None:
            if board not in boards[-1:]:
                boards.append(board)
            tell.total = 2 * (total - board.plan.total + (board.rule.expected or board.plan.total))
            tell(2 * (sum(played) + sum(each.fresh for each in boards)))

        if len(runs) == 1:
            tell.view = lambda: rendered(_so_far(boards), below=2)
        yield on_pairs


def _so_far(boards: Sequence[Scoreboard]) -> Iterable[Part]:
    return KINDS[boards[0].plan.kind].live(boards[0]) if boards else ["getting ready …"]
