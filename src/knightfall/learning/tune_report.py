"""The report of a tuning: the weights found, and whether they beat the given ones.

A sequential test decides, on openings that tuning never used, at the tuned budget and at a second
one: weights may suit one search depth only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightfall.arena.api import match
from knightfall.display.numbers import NOTHING as UNKNOWN
from knightfall.display.numbers import (
    count,
    duration,
    for_json,
    interval,
    percent,
    plus_minus,
    signed,
)
from knightfall.display.report import Displayable, Heading, Part, legend
from knightfall.display.table import Table
from knightfall.heuristics.expression import Expression
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions
from knightfall.learning.tune_settings import (
    Sum,
    TuneSettings,
    agent_of,
    decimal,
    numbers,
    written,
)
from knightfall.statistics.pairs import MatchEstimate
from knightfall.statistics.sprt import Sprt

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# -- the confirmation -------------------------------------------------------------------------


FILE = "confirmation.sqlite"

GAINED, NOTHING, UNDECIDED = "gained", "nothing was gained", "cannot tell"
_WORDS = {"H1": GAINED, "H0": NOTHING, None: UNDECIDED}


@dataclass(frozen=True)
class Confirmation:
    """A match of the tuned against the given weights at one budget, seen from the tuned side."""

    nodes: int
    pairs: tuple[int, int, int]
    """How many pairs ended LL, WL and WW."""
    statistics: MatchEstimate
    llr: float
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Return the confirmation as JSON values."""
        names = ("score", "low", "high", "elo", "elo_error", "nelo", "nelo_error")
        return {
            "nodes": self.nodes,
            "pairs": list(self.pairs),
            **{name: for_json(getattr(self.statistics, name)) for name in names},
            "llr": for_json(self.llr),
            "verdict": self.verdict,
        }


def confirmed(
    folder: Path,
    settings: TuneSettings,
    tuned: Expression,
    nodes: int,
    options: RunnerOptions,
    progress: bool,
) -> Confirmation:
    """Play the sequential test at one budget, or read it from the folder if it is finished."""
    test = Sprt(*settings.sprt)
    report = match(
        agent_of(tuned, nodes),
        agent_of(settings.given, nodes),
        sprt=test,
        seed=settings.seed,
        book=settings.starts.confirmation,
        workers=0 if options == DEFAULT else options.workers,
        dask=options.dask,
        executor=options.executor,
        store=folder / FILE,
        progress=progress,
    )
    if report.interrupted:
        raise KeyboardInterrupt
    assert report.llr is not None
    verdict = _WORDS[report.accepted]
    found = Confirmation(nodes, report.pairs, report.statistics, report.llr, verdict)
    report.run.file.close()  # so that the folder then holds no temporary files of SQLite
    return found


def overall(verdicts: Sequence[str]) -> str:
    """Combine the budgets' verdicts: a gain counts only if every budget shows it."""
    if not verdicts or NOTHING in verdicts:  # without verdicts the weights are those given
        return NOTHING
    return GAINED if set(verdicts) == {GAINED} else UNDECIDED


# -- the report -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A generation of a tuning: the optimiser's mean, the mean score, and the best candidate."""

    mean: Expression
    score: float
    best: float
    candidate: Expression


@dataclass(repr=False)
class TuneReport(Displayable):
    """The weights that were found, and whether they are better than those given."""

    settings: TuneSettings
    sum: Sum
    tuned: Expression
    steps: Sequence[Step]
    confirmations: Sequence[Confirmation]
    folder: str
    seconds: float

    @property
    def verdict(self) -> str:
        """Return "gained", "nothing was gained" or "cannot tell"."""
        return overall([one.verdict for one in self.confirmations])

    @property
    def kept(self) -> Expression:
        """Return the sum to play: the given one, unless a gain was confirmed."""
        return self.tuned if self.verdict == GAINED else self.settings.given

    def parts(self) -> Iterator[Part]:
        """Yield the weights, the confirmation and the verdict."""
        settings = self.settings
        games = 2 * settings.generations * settings.population * settings.pairs
        yield (
            f"{count(settings.generations, 'generation')} of {settings.population} on "
            f"{settings.board.replace('x', '×')} at nodes={settings.nodes}, "
            f"{count(games * len(settings.against), 'game')} · seed {settings.seed}"
        )
        yield ""
        yield Heading("Weights")
        table = Table(["term", "given", "tuned", "size"], labels=1)
        before, after = numbers(settings.given), numbers(self.tuned)
        for given, tuned, size in zip(before, after, (1.0, *self._sizes()), strict=True):
            unknown = given.term is None or given.name in self.sum.still
            shown = UNKNOWN if unknown else f"{size:.2f}"
            table.add(given.name, decimal(given.value), decimal(tuned.value), shown)
        yield table
        yield (
            "The first term keeps its weight: only ratios matter to a search. Size is how much the "
            "tuned term varies from position to position, compared with the first."
        )
        for name in self.sum.still:
            yield f"The spread of {name} is unknown: if it never varies, its weight has no effect."
        yield ""
        yield Heading("Tuned against given, on openings that the tuning never saw")
        if self.confirmations:
            yield self._confirmed()
            yield ""
            yield legend("pair", "LLR")
        else:
            yield "No games were needed: the tuned weights are those given."
        yield ""
        yield self.words
        yield f"Play it: id({written(self.kept)}, nodes={settings.nodes})"
        yield f"Written to {self.folder} in {duration(self.seconds)}."

    def _confirmed(self) -> Table:
        titles = ["budget", "LL, WL, WW", "won", "95 %", "Elo", "LLR", "verdict"]
        table = Table(titles, labels=1)
        for one in self.confirmations:
            table.add(
                f"nodes={one.nodes}",
                ", ".join(f"{number:,}" for number in one.pairs),
                percent(one.statistics.score),
                interval(one.statistics.low, one.statistics.high),
                plus_minus(one.statistics.elo, one.statistics.elo_error),
                signed(one.llr, 2),
                one.verdict,
            )
        return table

    @property
    def words(self) -> str:
        """Return the verdict in one or two sentences."""
        kept = "The weights as given are kept."
        elo0, elo1 = self.settings.sprt
        by_verdict: dict[str, list[str]] = {}
        for one in self.confirmations:
            by_verdict.setdefault(one.verdict, []).append(f"nodes={one.nodes}")
        budgets = {verdict: " and ".join(where) for verdict, where in by_verdict.items()}
        if self.verdict == GAINED:
            return f"Gained: the tuned weights are better than those given at {budgets[GAINED]}."
        if not budgets:
            return f"Nothing was gained: no other weights were found. {kept}"
        if self.verdict == NOTHING:
            text = (
                f"Nothing was gained: at {budgets[NOTHING]} the given weights are as good; a gain "
                f"of {elo0:g} normalized Elo explains the results better than a gain of {elo1:g}."
            )
            if GAINED in budgets:
                text += f" The tuned weights are better only at {budgets[GAINED]}."
            return f"{text} {kept}"
        number = count(len(self.settings.starts.confirmation), "position")
        return (
            f"Cannot tell: all {number} were played at {budgets[UNDECIDED]} without a decision "
            f"between {elo0:g} and {elo1:g} normalized Elo. {kept}"
        )

    def _sizes(self) -> list[float]:
        return [*self.sum.sizes_of(self.tuned)]

    def to_dict(self) -> dict[str, Any]:
        """Return all results, by generation."""
        return {
            "settings": self.settings.to_json(),
            "given": written(self.settings.given),
            "tuned": written(self.tuned),
            "units": list(self.sum.units),
            "sizes": self._sizes(),
            "generations": [
                {
                    "mean": written(step.mean),
                    "score": step.score,
                    "best": step.best,
                    "candidate": written(step.candidate),
                }
                for step in self.steps
            ],
            "confirmations": [one.to_dict() for one in self.confirmations],
            "verdict": self.verdict,
            "words": self.words,
            "expression": written(self.kept),
        }

    def plot(self) -> Figure:
        """Draw weights and scores by generation."""
        from knightfall.arena.chart_style import styled  # loads matplotlib

        return styled(_draw)(self)


_DASHES = ("-", "--", ":", "-.")


def _draw(report: TuneReport) -> Figure:
    """Draw two panels: the free weights, and the candidates' scores by generation."""
    from knightfall.arena.chart_style import BLUE, INK, RED, even_line, page, remark

    settings = report.settings
    below = f"{settings.board.replace('x', '×')} · nodes={settings.nodes} · seed {settings.seed}"
    figure = page(below, f"{written(report.settings.given)}: {report.verdict}", 9, 4.2)
    left, right = figure.subplots(1, 2)
    generations = range(len(report.steps) + 1)
    means = [settings.given, *(step.mean for step in report.steps)]
    sizes = [report.sum.sizes_of(mean) for mean in means]
    for number, one in enumerate(numbers(settings.given)[1:]):
        left.plot(
            generations,
            [at[number] for at in sizes],
            _DASHES[number // 2 % len(_DASHES)],
            color=(BLUE, RED)[number % 2],
            label=one.name,
        )
    left.axhline(0, color=INK, linewidth=0.6)
    left.set_xlabel("generation")
    left.set_ylabel("size of the weight, in those of the first term")
    left.legend()
    done = range(1, len(report.steps) + 1)
    right.plot(done, [100 * step.best for step in report.steps], ":", color=INK, label="best")
    right.plot(done, [100 * step.score for step in report.steps], color=BLUE, label="all")
    even_line(right, 50)
    right.set_xlabel("generation")
    right.set_ylabel("candidates won, %")
    right.legend()
    remark(
        figure,
        "best: the luckiest of many candidates, not an estimate",
        *(
            f"confirmed at nodes={one.nodes}: {percent(one.statistics.score)} "
            f"({interval(one.statistics.low, one.statistics.high)})"
            for one in report.confirmations
        ),
    )
    return figure
