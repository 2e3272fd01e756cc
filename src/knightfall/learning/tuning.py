"""``knightfall learn tune``: search better weights with CMA-ES, then test whether they are better.

CMA-ES proposes a generation of candidates and gets their scores. It adapts its learning rates to
the noise of the scores, which is large after a hundred games. Its state is not stored: it follows
from the seed and the scores, so replaying the stored scores restores it. The journal is one file
with all candidates and their results, rewritten after every generation.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.arena.api import check as check_plan
from knightfall.arena.plan import Plan, check_files, enter, tournament_matches
from knightfall.display.numbers import percent
from knightfall.display.progress import Progress
from knightfall.display.progress import progress as shown
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Expression
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.learning.data import refuse_other_settings
from knightfall.learning.tune_report import Step, TuneReport, confirmed
from knightfall.learning.tune_settings import (
    GAIN,
    GENERATIONS,
    NODES,
    PAIRS,
    POPULATION,
    START,
    STEP,
    Sum,
    TuneSettings,
    agent_of,
    measured,
    sample,
    written,
)
from knightfall.openings import seed_of
from knightfall.untrusted_input import Whole, check, check_format, parse_json, read_text
from knightfall.user_folders import atomic_write, make_empty_folder

if TYPE_CHECKING:
    from knightfall.arena.runner import Runner


# -- the journal ------------------------------------------------------------------------------


FORMAT = "knightfall tuning 1"
FILE = "tuning.json"

_SHAPE: dict[Any, Any] = {
    "format": str,
    "settings": {
        "expression": str, "nodes": int, "second": int, "generations": int, "population": int,
        "pairs": int, "against": [str], "board": str, "seed": int, "step": float, "sprt": [float],
        "files": {str: str}, "version": str,
    },
    "generations": [{"candidates": [str], "counts": [[Whole(0)]]}],
    "checksum": str,
}  # fmt: skip

Counts = tuple[int, int, int]
"""How many pairs a candidate lost, split and won."""


@dataclass(frozen=True)
class CandidateGeneration:
    """The candidates of one generation of the optimiser, as expressions, with their results."""

    candidates: tuple[str, ...]
    counts: tuple[Counts, ...]


@dataclass
class Journal:
    """The stored generations of a tuning."""

    folder: Path
    settings: TuneSettings
    generations: list[CandidateGeneration] = field(default_factory=list)

    def add(self, generation: CandidateGeneration) -> None:
        """Append a generation and write the file."""
        self.generations.append(generation)
        self.write()

    def write(self) -> None:
        """Write the file, all of it or nothing."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "settings": self.settings.to_json(),
            "generations": [
                {"candidates": list(one.candidates), "counts": [list(c) for c in one.counts]}
                for one in self.generations
            ],
        }
        text = json.dumps({**content, "checksum": _checksum(content)}, ensure_ascii=False)
        atomic_write(self.folder / FILE, text + "\n", sync=True)


def opened(folder: Path, settings: TuneSettings) -> Journal:
    """Read the journal of a folder, or create it.

    Raise a KnightfallError if it is damaged or belongs to other settings.
    """
    file = folder / FILE
    if file.exists():
        return _read(folder, settings)
    make_empty_folder(folder)
    journal = Journal(folder, settings)
    journal.write()
    return journal


def _read(folder: Path, settings: TuneSettings) -> Journal:
    file = folder / FILE
    try:
        content = check_format(parse_json(read_text(file)), FORMAT)
        check(_SHAPE, content)
        if content.pop("checksum") != _checksum(content):
            raise KnightfallError("the checksum is wrong")
    except KnightfallError as error:
        raise damaged(file, str(error)) from None
    refuse_other_settings(folder, content["settings"], settings.to_json())
    found = [
        CandidateGeneration(tuple(one["candidates"]), tuple((a, b, c) for a, b, c in one["counts"]))
        for one in content["generations"]
    ]
    return Journal(folder, settings, found)


def damaged(file: Path, why: str) -> KnightfallError:
    """Return the error for a damaged file."""
    return KnightfallError(f"{str(file)!r} is damaged ({why}): delete it to start again")


def generations_kept(folder: Path, settings: TuneSettings) -> int:
    """Return how many generations a folder has stored."""
    return len(_read(folder, settings).generations) if (folder / FILE).exists() else 0


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


# -- the search for weights -------------------------------------------------------------------


Point = npt.NDArray[np.float64]

FARTHEST = 100.0
"""Bound of a relative weight: beyond it the other terms have no influence."""


class Optimiser:
    """CMA-ES, maximising a score from a start point with a first step size."""

    def __init__(self, start: Sequence[float], step: float, population: int, seed: int) -> None:
        mean = np.array(start, np.float64)
        far = np.maximum(FARTHEST, 2 * np.abs(mean))
        from cmaes import CMA

        self._inner: Any = CMA(
            mean=mean,
            sigma=step,
            bounds=np.stack([-far, far], axis=1),
            population_size=population,
            seed=seed_of(f"tune {seed}"),
            lr_adapt=True,
        )

    @property
    def mean(self) -> Point:
        """Return the mean of the search distribution; the best candidate may just be lucky."""
        found: Point = self._inner.mean.copy()
        return found

    def ask(self) -> list[Point]:
        """Return the points that CMA-ES proposes for the next generation."""
        return [self._inner.ask() for _ in range(self._inner.population_size)]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Report the score of each point of a generation to CMA-ES."""
        self._inner.tell([(x, -score) for x, score in zip(points, scores, strict=True)])


# -- the games of a generation ----------------------------------------------------------------


def generation_plan(settings: TuneSettings, number: int, candidates: Sequence[Expression]) -> Plan:
    """Return the games of a generation: each candidate against each opponent.

    All candidates play the same openings with the same tie-breaking seeds.
    """
    playing = enter([agent_of(one, settings.nodes) for one in candidates])
    opponents = enter(settings.opponents)
    return Plan(
        kind="tournament",
        entrants=playing + opponents,
        matches=tournament_matches(len(playing), len(opponents)),
        pairs=settings.pairs,
        seed=seed_of(f"generation {settings.seed}/{number}"),
        book=tuple(settings.starts.of_generation(number, settings.pairs, settings.seed)),
        files=settings.files,
    )


def played(plan: Plan, candidates: int, runner: Runner) -> list[Counts]:
    """Play a generation's games; return each candidate's results against all opponents."""
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
    check_files(plan.files)  # an edited file would give some games another heuristic
    return [(lost, split, won) for lost, split, won in counts]


def score(counts: Counts) -> float:
    """Return the mean points per game, from 0 to 1."""
    lost, split, won = counts
    return (won + split / 2) / (lost + split + won)


# -- a whole tuning ---------------------------------------------------------------------------


RESULT, EXPRESSION = "result.json", "expression.txt"


def tune(
    expression: str,
    folder: str | os.PathLike[str],
    *,
    nodes: int = NODES,
    second: int | None = None,
    generations: int = GENERATIONS,
    population: int = POPULATION,
    pairs: int = PAIRS,
    against: Sequence[str] = (START,),
    board: str = "7x7",
    seed: int = 0,
    step: float = STEP,
    sprt: tuple[float, float] = GAIN,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> TuneReport:
    """Tune the weights of a sum of heuristics by play, and test the result against the given ones.

    The first term keeps its weight.  A repeated call continues an interrupted tuning, and reports a
    finished one again.  The package cmaes proposes the weights.

    Args:
        expression: The sum with the weights to begin from.
        folder: Folder for the journal and the result; it is created.
        nodes: Nodes a move while tuning and in the first test.
        second: Nodes a move in the second test; by default four times `nodes`.
        generations: Number of generations of candidates.
        population: Candidates in a generation.
        pairs: Pairs of games of a candidate against each opponent.
        against: Opponents, as agent strings; "start" is the sum with the given weights.
        board: Width and height of the board.
        seed: Determines the candidates and the openings.
        step: First step size of the search, relative to the size of the terms.
        sprt: The hypotheses of the tests, in normalized Elo.
        workers: Number of worker processes; None and 0 play in this process.
        dask: Address of a Dask cluster that plays instead of workers.
        executor: Executor that plays instead of workers.
        progress: Whether to show the progress.

    Example:
        >>> small = {"nodes": 20, "generations": 1, "population": 4, "pairs": 2, "board": "5x5"}
        >>> tuned = kf.tune("improved+0.5*open", "tuned", progress=False, **small)
        >>> tuned.verdict in ("gained", "nothing was gained", "cannot tell")
        True
    """
    settings = TuneSettings.of(
        expression,
        nodes=nodes,
        second=second,
        generations=generations,
        population=population,
        pairs=pairs,
        against=against,
        board=board,
        seed=seed,
        step=step,
        sprt=sprt,
    )
    return run_tuning(
        Path(folder), settings, workers=workers, dask=dask, executor=executor, progress=progress
    )


def run_tuning(
    folder: Path,
    settings: TuneSettings,
    *,
    workers: int | None = None,
    dask: str | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> TuneReport:
    """Tune the weights of a sum, confirm the result, and write it into a folder.

    A repeated call continues an interrupted tuning, with the same result; a finished one is
    reported again.
    """
    start = time.monotonic()
    options = RunnerOptions(workers, dask, executor)
    options.check()
    plan = generation_plan(settings, 0, [settings.given])
    check_plan(plan, options)
    enable_keyboard_interrupt()
    found = measured(settings.given, sample(settings.starts.tuning, settings.seed))
    journal = opened(folder, settings)
    steps: list[Step] = []
    tuned = _looked_for(journal, found, options, steps, progress)
    verdicts = []
    if tuned != settings.given:
        for nodes in (settings.nodes, settings.second):
            verdicts.append(confirmed(folder, settings, tuned, nodes, options, progress))
    report = TuneReport(
        settings, found, tuned, steps, verdicts, str(folder), time.monotonic() - start
    )
    result = json.dumps(report.to_dict(), indent=2, ensure_ascii=False)
    atomic_write(folder / RESULT, result + "\n")
    atomic_write(folder / EXPRESSION, written(report.kept) + "\n")
    return report


def _looked_for(
    journal: Journal, found: Sum, options: RunnerOptions, steps: list[Step], progress: bool
) -> Expression:
    """Play all generations that are not stored; return the sum with the final weights."""
    settings = journal.settings
    optimiser = Optimiser(found.sizes, settings.step, settings.population, settings.seed)
    stored = journal.generations
    if len(stored) > settings.generations:
        raise damaged(journal.folder / FILE, f"it has {len(stored)} generations")
    with ExitStack() as stack:
        runner: Runner | None = None
        state: Progress | None = None
        for number in range(settings.generations):
            points = optimiser.ask()
            candidates = [found.at(point.tolist()) for point in points]
            names = tuple(written(one) for one in candidates)
            if number < len(stored):
                _must_be_same(journal, number, names)
            else:
                if runner is None:
                    from knightfall.arena.runner import runner_for  # loads the compiler

                    agents = [agent_of(settings.given, settings.nodes), *settings.opponents]
                    runner = stack.enter_context(runner_for(options, agents))
                    if progress:
                        state = stack.enter_context(
                            shown("generations", settings.generations, done=number)
                        )
                        _show(state, steps, settings)
                plan = generation_plan(settings, number, candidates)
                counts = played(plan, len(candidates), runner)
                journal.add(CandidateGeneration(names, tuple(counts)))
            scores = [score(one) for one in stored[number].counts]
            optimiser.tell(points, scores)
            mean = found.at(optimiser.mean.tolist())
            best = max(range(len(scores)), key=lambda at: scores[at])
            steps.append(Step(mean, sum(scores) / len(scores), scores[best], candidates[best]))
            if state is not None:
                state(number + 1)
                _show(state, steps, settings)
    return found.at(optimiser.mean.tolist())


def _must_be_same(journal: Journal, number: int, candidates: Sequence[str]) -> None:
    """Raise an error if the journal's candidates differ from those of the optimiser."""
    there = journal.generations[number]
    file = journal.folder / FILE
    if there.candidates != tuple(candidates):
        differing = next(
            (one for one, two in zip(there.candidates, candidates, strict=False) if one != two), ""
        )
        raise damaged(
            file, f"generation {number + 1} has the candidate {differing!r:.80}, not the seed's"
        )
    pairs = journal.settings.pairs * len(journal.settings.against)
    if any(sum(one) != pairs for one in there.counts) or len(there.counts) != len(candidates):
        raise damaged(file, f"generation {number + 1} has the wrong number of pairs")


def _show(state: Progress, steps: list[Step], settings: TuneSettings) -> None:
    """Update the live display."""
    from rich.text import Text

    lines = [f"generation {len(steps) + 1} of {settings.generations}"]
    if steps:
        best = max(steps, key=lambda step: step.best)
        lines += [
            f"best so far {percent(best.best)}: {written(best.candidate)}",
            f"now at {written(steps[-1].mean)}",
        ]
        state.what = f"generations · now at {written(steps[-1].mean)}"
    text = "\n".join(lines)
    state.view = lambda: Text(text)
