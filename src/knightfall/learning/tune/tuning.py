"""``knightfall learn tune``: look for better weights by play, and see whether they are better."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from knightfall.arena.runners.hire import Crew
from knightfall.arena.runners.workers import MOST_WORKERS
from knightfall.arena.runs import check
from knightfall.display.progress import Progress
from knightfall.display.progress import progress as shown
from knightfall.errors import KnightfallError
from knightfall.files import atomic_write
from knightfall.heuristics.expression import Expression
from knightfall.learning.tune.confirmation import confirmed
from knightfall.learning.tune.games import generation_plan, hired, played, score
from knightfall.learning.tune.journal import FILE, Generation, Journal, damaged, opened
from knightfall.learning.tune.optimiser import Optimiser
from knightfall.learning.tune.report import Step, TuneReport
from knightfall.learning.tune.settings import Settings, agent_of
from knightfall.learning.tune.starts import sample
from knightfall.learning.tune.weights import Sum, measured, written
from knightfall.sigint import raise_from_here

if TYPE_CHECKING:
    from knightfall.arena.runners.runner import Runner

RESULT, EXPRESSION = "result.json", "expression.txt"


def tune(
    folder: Path, settings: Settings, *, workers: int = 1, progress: bool = True
) -> TuneReport:
    """Tune the weights of a sum, confirm what was found, and write it down.

    What was interrupted goes on when the same is asked again, and ends with the same result; what
    is finished is shown again.
    """
    start = time.monotonic()
    if not 1 <= workers <= MOST_WORKERS:
        raise KnightfallError(f"workers={workers} must be from 1 to {MOST_WORKERS}")
    plan = generation_plan(settings, 0, [settings.given])
    check(plan, Crew(0 if workers == 1 else workers))
    raise_from_here()
    found = measured(settings.given, sample(settings.starts.tuning, settings.seed))
    journal = opened(folder, settings)
    steps: list[Step] = []
    tuned = _looked_for(journal, found, workers, steps, progress)
    verdicts = []
    if tuned != settings.given:
        for nodes in (settings.nodes, settings.second):
            verdicts.append(confirmed(folder, settings, tuned, nodes, workers, progress))
    report = TuneReport(
        settings, found, tuned, steps, verdicts, str(folder), time.monotonic() - start
    )
    result = json.dumps(report.to_dict(), indent=2, ensure_ascii=False)
    atomic_write(folder / RESULT, result + "\n")
    atomic_write(folder / EXPRESSION, written(report.kept) + "\n")
    return report


def _looked_for(
    journal: Journal, found: Sum, workers: int, steps: list[Step], progress: bool
) -> Expression:
    """The weights that the optimiser believes in after all generations."""
    settings = journal.settings
    optimiser = Optimiser(found.sizes, settings.step, settings.population, settings.seed)
    told = journal.generations
    if len(told) > settings.generations:
        raise damaged(journal.folder / FILE, f"it has {len(told)} generations")
    with ExitStack() as stack:
        runner: Runner | None = None
        state: Progress | None = None
        for number in range(settings.generations):
            points = optimiser.ask()
            candidates = [found.at(point.tolist()) for point in points]
            names = tuple(written(one) for one in candidates)
            if number < len(told):
                _must_be_same(journal, number, names)
            else:
                if runner is None:
                    agents = [agent_of(settings.given, settings.nodes), *settings.opponents]
                    runner = stack.enter_context(hired(workers, agents))
                    if progress:
                        state = stack.enter_context(
                            shown("generations", settings.generations, done=number)
                        )
                        _show(state, steps, settings)
                plan = generation_plan(settings, number, candidates)
                counts = played(plan, len(candidates), runner)
                journal.add(Generation(names, tuple(counts)))
            scores = [score(one) for one in told[number].counts]
            optimiser.tell(points, scores)
            mean = found.at(optimiser.mean.tolist())
            best = max(range(len(scores)), key=lambda at: scores[at])
            steps.append(Step(mean, sum(scores) / len(scores), scores[best], candidates[best]))
            if state is not None:
                state(number + 1)
                _show(state, steps, settings)
    return found.at(optimiser.mean.tolist())


def _must_be_same(journal: Journal, number: int, candidates: Sequence[str]) -> None:
    """Refuse a journal that tells of other candidates than the optimiser asks for."""
    there = journal.generations[number]
    file = journal.folder / FILE
    if there.candidates != tuple(candidates):
        differing = next(
            (one for one, two in zip(there.candidates, candidates, strict=False) if one != two), ""
        )
        raise damaged(
            file, f"generation {number + 1} has {differing!r:.80}, which was not asked for"
        )
    pairs = journal.settings.pairs * len(journal.settings.against)
    if any(sum(one) != pairs for one in there.counts) or len(there.counts) != len(candidates):
        raise damaged(file, f"generation {number + 1} has other numbers of pairs")


def _show(state: Progress, steps: list[Step], settings: Settings) -> None:
    """What a person sees while it goes on."""
    from rich.text import Text

    lines = [f"generation {len(steps) + 1} of {settings.generations}"]
    if steps:
        best = max(steps, key=lambda step: step.best)
        lines += [
            f"best so far {100 * best.best:.1f} %: {written(best.candidate)}",
            f"now at {written(steps[-1].mean)}",
        ]
        state.what = f"generations · now at {written(steps[-1].mean)}"
    text = "\n".join(lines)
    state.view = lambda: Text(text)
