"""The studies' report as data: everything that the pages and the charts show.

The same plans, seed and engine give the same report, except for `timings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from knightfall.display.report import Displayable, Part
from knightfall.display.table import Table
from knightfall.statistics.rates import Z
from knightfall.studies.claims import ONCE, TableOrder
from knightfall.studies.comparisons import MARKS, Judgement
from knightfall.studies.computed_facts import WishResult
from knightfall.studies.fit_conditions import (
    HalfFit,
    TriedTime,
    TriedVariant,
    from_json,
    rounded_json,
)
from knightfall.studies.oracle_grades import HeuristicGrade
from knightfall.studies.plans import TITLES
from knightfall.studies.published import BUDGETS, BudgetName, Erratum
from knightfall.studies.run_results import Correlation, Lead, NeededGames, Rating, Sweep, WinRate

DIGITS = 6
"""Decimal places of every number."""


@dataclass(frozen=True)
class PublishedResult:
    """The published results of a heuristic; None or empty where not printed."""

    figure: str
    """The win rate in % that the study uses."""
    rate: WinRate
    """The same win rate with the interval of its games."""
    wins: tuple[int, ...]
    """Games won against each opponent in all tournaments whose cells are known."""
    games_against: int
    """Games against each opponent that `wins` counts."""
    against: tuple[WinRate, ...]
    """Win rates against each opponent."""
    total: str | None
    average: str | None
    tournaments: tuple[str | None, ...]
    """The win rate in % in each distinct tournament of the study."""


@dataclass(frozen=True)
class MeasuredResult:
    """The measured results of a heuristic at one budget."""

    nodes: int
    """Nodes per move: the node budget, or the mean where the agents have a time budget."""
    total: WinRate
    against: tuple[WinRate, ...]
    ahead: Lead
    forfeits: tuple[float, ...]
    """Games that the heuristic resigned against each opponent, in %."""
    conceded: tuple[float, ...]
    """Games that each opponent resigned, in %."""


@dataclass(frozen=True)
class HeuristicReport:
    """A heuristic's published and measured results.

    If it cannot be played again, `measured` is empty and `not_reproducible` says why.
    """

    heuristic: str
    entrant: str
    published: PublishedResult
    measured: dict[str, MeasuredResult]
    not_reproducible: str


@dataclass(frozen=True)
class ClaimReport:
    """A claim, its place in the study's document, its interpretation, and its verdicts.

    Verdicts are by budget, without budgets that do not matter. There is one, under `ONCE`, if no
    budget matters, and none if the required measurement is missing.
    """

    sentence: str
    where: str
    form: str
    meaning: str
    verdicts: dict[str, Judgement]

    @property
    def once(self) -> Judgement | None:
        """Return the verdict of a claim for which budgets do not matter; None if they do."""
        return self.verdicts.get(ONCE)

    def mark(self, budget: str) -> str:
        """Return the verdict at a budget; empty if there is none."""
        return self.verdicts[budget].mark if budget in self.verdicts else ""

    def difference(self, budget: str) -> str:
        """Return the deciding difference at a budget with its interval; empty without a verdict."""
        if budget not in self.verdicts:
            return ""
        return self.verdicts[budget].measured(digits=2 if self.form == "steadier" else 1)


@dataclass(frozen=True)
class WishComparisonReport:
    """By budget, how far a heuristic that an author proposed leads one that it should beat."""

    who: str
    than: str
    found_by: str
    """The command that found its weights; empty where none were tuned."""
    gaps: dict[str, Lead]
    """By budget: the lead of `who` over `than` in the study's tournament, in points."""
    rates: dict[str, WinRate]
    """By budget: the win rate of `who` in that tournament."""
    given_up: dict[str, float]
    """By budget: the games that `who` resigns, in %."""


@dataclass(frozen=True)
class WishReport:
    """Something that an author would have tried (a wish), commands to try it, and the result."""

    wish: str
    where: str
    commands: tuple[str, ...]
    comparisons: tuple[WishComparisonReport, ...]
    finding: WishResult | None

    @property
    def measured(self) -> bool:
        """Return whether the wish was tried, by games or by a computation."""
        played = bool(self.comparisons) and all(one.gaps for one in self.comparisons)
        return played or (self.finding is not None and not self.comparisons)


@dataclass(frozen=True)
class CellFit:
    """A published win rate, and the rate predicted by games of the author's agents, in %.

    `error` is one standard deviation of their difference, `z` the difference in these. The opponent
    is empty for a total.
    """

    heuristic: str
    opponent: str
    tournament: int
    """The study's distinct tournament, counted from 1; 0 for a total."""
    published: float
    games: int
    predicted: float
    error: float
    z: float


@dataclass(frozen=True)
class ConditionReport:
    """The condition under which a study's agents played, and how well it explains its numbers."""

    condition: str
    time: int
    """Time per move in microseconds."""
    told: str
    """What is known about the condition, with its source."""
    choices: int
    """The number of conditions that it was chosen among."""
    tried: tuple[TriedVariant, ...]
    times: tuple[TriedTime, ...]
    halves: tuple[HalfFit, ...]
    cells: tuple[CellFit, ...]
    totals: tuple[CellFit, ...]
    chi_square: float
    p_value: float
    """The chance of a larger chi-square if the condition is right and all games are independent."""
    loglikelihood: float
    """Log-likelihood of the cells."""
    expected: float
    """Expected chi-square per cell if the published games were played in pairs as ours are."""
    opponents_p: float
    """The p-value of the deviations summed up by opponent."""
    totals_p: float
    """The p-value of the totals."""

    @property
    def likely_times(self) -> tuple[int, int]:
        """Return the 95 % interval of the fitted time per move: shortest and longest time."""
        best = max(one.loglikelihood for one in self.times)
        near = [one.time for one in self.times if one.loglikelihood > best - Z**2 / 2]
        return min(near), max(near)

    @property
    def outside(self) -> tuple[CellFit, ...]:
        """Return the published totals outside the 95 % interval of their prediction."""
        return tuple(cell for cell in self.totals if abs(cell.z) > Z)


@dataclass(frozen=True)
class PrintedTableReport:
    """A table as a study printed it: cells "won|lost" and win rates in %, by heuristic.

    A "?" is an illegible number; a number alone is games won, where no losses are printed.
    """

    name: str
    place: str
    tournament: int
    """The distinct tournament that it shows, counted from 1."""
    heuristics: tuple[str, ...]
    cells: dict[str, tuple[str, ...]]
    rates: dict[str, str]
    sums: dict[str, str]
    """Win rates computed from the cells where no printed one is legible."""
    same_as: tuple[str, ...]
    """Other tables that show the same tournament."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PrintedExampleReport:
    """A worked example or figure as a study printed it."""

    name: str
    place: str
    grids: dict[str, tuple[str, ...]]
    numbers: dict[str, str]
    illegible: str


@dataclass(frozen=True)
class StudyReport:
    """The report on one study: published and measured results, claims, wishes and errata."""

    id: str
    title: str
    protocol: str
    games_per_opponent: int
    stated: dict[str, int]
    """Numbers that the text gives for its tournaments."""
    opponents: tuple[str, ...]
    rows: tuple[HeuristicReport, ...]
    printed: tuple[PrintedTableReport, ...]
    examples: tuple[PrintedExampleReport, ...]
    claims: tuple[ClaimReport, ...]
    wishes: tuple[WishReport, ...]
    order: dict[str, TableOrder]
    """By budget: how much of the order of its table is confirmed."""
    errata: tuple[Erratum, ...]
    fit: ConditionReport | None


@dataclass(frozen=True)
class StudiesLeague:
    """The league of all heuristics: ratings at each budget, the best first, and their grades."""

    pairs: int
    ratings: dict[str, tuple[Rating, ...]]
    grades: tuple[HeuristicGrade, ...]
    openings: int
    """Graded games of each heuristic against itself."""
    correlations: dict[str, Correlation]
    resigning: Correlation | None
    """Rank correlation of the student leagues with and without resigning."""


@dataclass(frozen=True)
class Timings:
    """The date and the running times, which differ each time the report is made."""

    date: str
    games: int
    seconds: float
    games_per_second: float | None
    grading_seconds: float

    def __str__(self) -> str:
        rate = self.games_per_second
        speed = "" if rate is None else f", {rate:,.0f} a second"
        return f"{self.games:,} games in {self.seconds:,.0f} s{speed}"


@dataclass(frozen=True, repr=False)
class StudiesReport(Displayable):
    """The whole report on the studies."""

    version: str
    command: str
    pairs: int
    seed: int
    budgets: tuple[str, ...]
    microseconds: float | None
    """Microseconds of 2,500 compiled nodes of `improved`."""
    studies: tuple[StudyReport, ...]
    league: StudiesLeague | None
    sweep: Sweep | None
    needed: NeededGames
    timings: Timings

    @property
    def headline(self) -> BudgetName:
        """Return the budget whose verdicts the report shows first: `course` if it was played."""
        return next(budget for budget in BUDGETS if budget in self.budgets)

    def verdicts(self, budget: str) -> dict[str, int]:
        """Return how many claims have each verdict at a budget or under `ONCE`."""
        found: dict[str, int] = dict.fromkeys(MARKS, 0)
        for study in self.studies:
            for claim in study.claims:
                if budget in claim.verdicts:
                    found[claim.verdicts[budget].verdict] += 1
        return found

    @property
    def fits(self) -> list[ConditionReport]:
        """Return the condition reports of all studies that have one."""
        return [study.fit for study in self.studies if study.fit]

    @property
    def widest(self) -> float:
        """Return the largest error of any measured total: half of its 95 % interval, in points."""
        return max(
            measured.total.reach
            for study in self.studies
            for row in study.rows
            for measured in row.measured.values()
        )

    def parts(self) -> Iterator[Part]:
        """Yield the tables of verdicts and the summary."""
        from knightfall.studies.document import summary

        yield Table(
            ["study", "claim", *(TITLES[budget] for budget in self.budgets)],
            [
                (study.id, claim.sentence, *(claim.mark(name) for name in self.budgets))
                for study in self.studies
                for claim in study.claims
                if not claim.once
            ],
            labels=2,
            align="left",
        )
        yield ""
        yield Table(
            ["study", "claim that no budget matters to", "verdict"],
            [
                (study.id, claim.sentence, claim.once.mark)
                for study in self.studies
                for claim in study.claims
                if claim.once
            ],
            labels=2,
            align="left",
        )
        yield ""
        yield from summary(self)
        yield ""
        yield str(self.timings)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> StudiesReport:
        """Return the report from the values of `to_dict`."""
        report: StudiesReport = from_json(StudiesReport, data)
        return report

    def rounded(self) -> StudiesReport:
        """Return the report with numbers rounded, so that it is the same on every processor."""
        return self.from_dict(rounded_json(self.to_dict(), DIGITS))
