"""The course's tournament with a submission: its plan, `trial`, which plays it, and the report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from knightfall.arena.api import check, play
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import Plan, enter, files_of, tournament_matches
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.run_options import Notice
from knightfall.arena.snapshot import run_snapshot
from knightfall.arena.store import Store
from knightfall.arena.store_file import IN_MEMORY
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.course.agent import TIME, course_agent
from knightfall.course.submission import Reference, Submission, checked, parse_reference
from knightfall.course.trial.game_judging import (
    KINDS,
    OWN_CLOCK,
    SUBSTITUTE,
    TRIES,
    Judged,
    MovedOnly,
    NeverMoved,
    judge,
)
from knightfall.course.trial.successor_games import SuccessorReport, successor_trial
from knightfall.display.numbers import count, interval, percent
from knightfall.display.progress import progress as shown_progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.processor_cores import cores, load
from knightfall.search.budget import parse_budget

# -- the plan ----------------------------------------------------------------------------------


def trial_plan(
    path: str,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int | None = None,
    counted: bool = False,
    seed: int = 0,
) -> tuple[Submission, Plan]:
    """Return a submission and the plan of its generation's tournament against the seven opponents.

    `time` is in microseconds per move, by default 150 ms.
    """
    reference = parse_reference(path).absolute()
    found = checked(reference)
    protocol = found.generation.protocol
    rules = PROTOCOLS[protocol]
    tests = tested(reference, found)
    agents = [course_agent(one, time or TIME, counted) for one in tests.values()]
    entered = enter([str(agent) for agent in agents])
    players = tuple(replace(one, name=name) for name, one in zip(tests, entered, strict=True))
    against = enter(list(opponents) or rules.opponents, protocol=protocol)
    return found, Plan(
        kind="tournament",
        entrants=players + against,
        matches=tournament_matches(len(players), len(against)),
        pairs=pairs or rules.pairs,
        repeats=rules.repeats,
        seed=seed,
        files=files_of(players + against),
        options={
            "protocol": protocol,
            "tests": len(players),
            "given_budget": "",
        },
    )


def tested(reference: Reference, found: Submission) -> dict[str, Reference]:
    """Return the test agents of the course's tournament, by their names in its table.

    The course's own score comes first, then the student's scores; all use the student's search.  If
    the reference names a class, only that class is tested.
    """
    if reference.name:
        score = f"({reference.score})" if reference.score else ""
        return {f"{reference.name}{score}": reference}
    if found.competition or "custom_score" not in {*found.scores, *found.names}:
        return {"Student": reference}
    rest = ("custom_score_2", "custom_score_3")
    customs = ["custom_score", *(score for score in rest if score in found.names)]
    return {
        label: replace(reference, name=found.default, score=score)
        for label, score in found.generation.tested(found.default, customs)
    }


# -- the tournament ----------------------------------------------------------------------------


def trial(
    path: str,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: str | None = None,
    clock: str = "ticks",
    generation: str = "",
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    again: bool = False,
    progress: bool = True,
    notice: Notice = lambda text: None,
) -> TrialReport | SuccessorReport:
    """Play the tournament of a submission's generation with it, and judge its games.

    The generation is inferred from the submission unless it is given.  With ``clock="ticks"`` each
    call of `time_left()` costs a fixed time, so results repeat; ``clock="wall"`` plays in real
    time.  An interrupted tournament continues if it is called again with the same `store`.
    """
    if clock not in ("wall", "ticks"):
        raise KnightfallError(f"clock {clock!r} must be wall or ticks")
    counted = clock == "ticks"
    limit = parse_budget({"time": time}).time if time is not None else None
    options = RunnerOptions(workers, dask, executor)
    options.check()
    reference = parse_reference(path).absolute()
    if generation:
        reference = replace(reference, generation=generation)
    found = checked(reference)
    if found.generation.on_11x9:
        return successor_trial(
            reference,
            found,
            opponents=opponents,
            pairs=pairs,
            time=limit or TIME,
            counted=counted,
            seed=seed,
            options=options,
            show=progress,
        )
    opened = Store.open(IN_MEMORY if store is None else store)
    before = load()
    try:
        with run_snapshot(notice):
            submission, plan = trial_plan(
                str(reference),
                opponents=opponents,
                pairs=pairs,
                time=limit,
                counted=counted,
                seed=seed,
            )
            known = None if again else opened.find(plan, engine())
            if known is None or known.finished is None:
                check(plan, options)
            run, interrupted = play(
                plan, opened, options, again=again, notice=notice, show_progress=progress
            )
            report = TournamentReport(run, interrupted=interrupted)
            games = 2 * run.played
            with shown_progress("games judged", games) as tell:
                judged = judge(run, report.tests, tell if progress else lambda done: None)
    except BaseException:
        opened.close()
        raise
    player = reference.name or submission.default
    return TrialReport(submission, player, report, judged, counted, (before, load()), cores())


# -- the report ------------------------------------------------------------------------------------

FORFEITS = ("resigned", "illegal answer")


@dataclass(repr=False)
class TrialReport(Displayable):
    """The report on a submission's tournament.

    `load` is the number of processes that wanted a core before and after; None if unknown.
    """

    submission: Submission
    player: str
    """The name of the class that played."""
    tournament: TournamentReport
    judged: list[Judged]
    counted: bool
    load: tuple[float | None, float | None]
    cores: int

    @property
    def interrupted(self) -> bool:
        """Return whether the tournament was interrupted by Ctrl-C."""
        return self.tournament.interrupted

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        found = self.submission
        yield Heading(f"{found.file.parent.name}/{found.file.name}")
        yield f"generation {found.generation}: {found.why}"
        yield self._clock()
        if any(judged.own_clock for judged in self.judged):
            yield f"It {OWN_CLOCK}"
        yield from found.choice(self.player)
        yield ""
        yield from self._never_moved()
        if not self.moved:
            return
        yield from self._table()
        yield ""
        yield Heading("Games lost off the board")
        yield from self._unusual()
        yield ""
        yield Heading("Won positions kept won, by the exact solver")
        yield from self._kept()
        yield from self._resigned()

    @property
    def moved(self) -> list[tuple[str, Judged]]:
        """Return name and judgement of each test agent that made a move, for the tables."""
        named = zip(self.tournament.names, self.judged, strict=True)
        return [(name, judged) for name, judged in named if judged.never_moved is None]

    @cached_property
    def _compared(self) -> MovedOnly:
        """Return the tournament's report on the test agents that made moves."""
        left_out = [at for at, judged in enumerate(self.judged) if judged.never_moved]
        return MovedOnly(self.tournament.run, left_out, interrupted=self.interrupted)

    def _never_moved(self) -> Iterator[Part]:
        names: dict[NeverMoved, list[str]] = {}
        for name, judged in zip(self.tournament.names, self.judged, strict=True):
            if judged.never_moved is not None:
                names.setdefault(judged.never_moved, []).append(name)
        for found, idle in names.items():
            each = " each" if len(idle) > 1 else ""
            yield Heading(f"{', '.join(idle)} {found.words}{each}")
            if found.line:
                yield f"The answer comes from {found.line}"
            yield "The first position in which it was asked:"
            yield from found.picture.splitlines()
            yield "It is left out of tables, ratings and comparisons."
            yield ""

    def _clock(self) -> str:
        if self.counted:
            return "each call of time_left() costs 0.06 ms, so the result repeats exactly"
        before, after = self.load
        text = "by the wall clock, one game to a core at a time"
        if before is not None and after is not None:
            text += f"; load {before:.1f} before and {after:.1f} after on {self.cores} cores"
        return text

    def _table(self) -> Iterator[Part]:
        yield from self._compared.parts()
        run = self.tournament
        against = {run.plan.entrants[number].name for number in run.opponents}
        for name in dict.fromkeys(name for name, _ in self.moved if name in against):
            yield f"{name}: the column is the student's search, the row knightfall's own agent."

    def _unusual(self) -> Iterator[Part]:
        total = Counter[str]()
        first: dict[str, str] = {}
        table = Table(["", "timeouts", "resigned", "illegal answers", "crashes"])
        for name, judged in self.moved:
            cells = []
            for kind in KINDS:
                times, detail = judged.unusual.get(kind, (0, ""))
                total[kind] += times
                if times:
                    first.setdefault(kind, detail)
                cells.append(str(times))
            table.add(name, *cells)
        yield table
        no_move = sum(total[kind] for kind in FORFEITS)
        yield (
            f"As the course counted: {count(total['timeout'], 'timeout')}, "
            f"{count(no_move, self.submission.generation.no_move)}."
        )
        for kind, detail in first.items():
            if kind == "resigned":
                yield f"first resignation: {detail.partition('resigned: ')[2] or detail}"
            else:
                yield f"first {kind}: {detail}"

    def _kept(self) -> Iterator[Part]:
        table = Table(["", "wins kept", "of", "rate", "95 %", "at random"])
        for name, judged in self.moved:
            row = judged.keeping
            table.add(
                name,
                f"{row.kept.count:,}",
                f"{row.kept.of:,}",
                percent(row.kept.rate),
                interval(*row.kept.interval, unit=" %"),
                percent(row.chance),
            )
        yield table

    def _resigned(self) -> Iterator[Part]:
        if not any(judged.resigned.games for judged in self.judged):
            return
        yield ""
        yield Heading("Resigning")
        table = Table(["", "resigned", "was lost", "was won", "saved", "cost"])
        for name, judged in self.moved:
            gone = judged.resigned
            saved = percent(gone.saved / gone.tries) if gone.tries else "–"
            cost = f"{gone.cost:.1f} games" if gone.tries else "–"
            table.add(name, *map(str, (gone.games, gone.games - gone.won, gone.won)), saved, cost)
        yield table
        yield (
            f"was lost, was won: by the solver; saved: games that {SUBSTITUTE} won, continuing "
            f"from there against the same opponent, {TRIES} tries each."
        )

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        found = self.submission
        return {
            "file": str(found.file),
            "generation": found.generation.name,
            "why": found.why,
            "player": self.player,
            "classes": [player.name for player in found.players],
            "scores": list(found.scores),
            "clock": "ticks" if self.counted else "wall",
            "load": list(self.load),
            "cores": self.cores,
            "tournament": self._compared.to_dict() if self.moved else None,
            "judged": [
                {
                    "name": name,
                    "never_moved": judged.never_moved and asdict(judged.never_moved),
                    "lost_by": {
                        kind: {"games": times, "first": detail}
                        for kind, (times, detail) in judged.unusual.items()
                    },
                    "own_clock": judged.own_clock,
                    "keeps": judged.keeping.to_dict(),
                    "resigned": {
                        "games": judged.resigned.games,
                        "won_by_the_solver": judged.resigned.won,
                        "tries": judged.resigned.tries,
                        "saved": judged.resigned.saved,
                        "cost": judged.resigned.cost,
                    },
                }
                for name, judged in zip(self.tournament.names, self.judged, strict=True)
            ],
        }
