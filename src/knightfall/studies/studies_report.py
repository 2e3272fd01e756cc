"""The report as data: everything that the pages and the charts show, and nothing they compute.

Same plans, same seed, same engine: the same report, but for `timings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from knightfall.display.report import Displayable, Part
from knightfall.display.table import Table
from knightfall.statistics.rates import Z
from knightfall.studies.claims import ONCE, TableOrder
from knightfall.studies.comparisons import MARKS, Judgement
from knightfall.studies.condition_fit import Half, TimeTried, Tried, rounded_json
from knightfall.studies.findings import Finding
from knightfall.studies.measured import Correlation, Gap, NeededGames, Rate, Rating, Sweep
from knightfall.studies.oracle_grades import HeuristicGrade
from knightfall.studies.plans import BUDGETS, TITLES, BudgetName
from knightfall.studies.published import Erratum

DIGITS = 6
"""Behind the point, of every number."""


@dataclass(frozen=True)
class PublishedResult:
    """What a study printed of a heuristic; what it did not print is None or empty."""

    figure: str
    """The win rate in % it goes by."""
    rate: Rate
    """The same with the interval of as many games."""
    wins: tuple[int, ...]
    """Games won against each opponent in all tournaments whose cells are known,"""
    games_against: int
    """of so many games,"""
    against: tuple[Rate, ...]
    """and what rate that is."""
    total: str | None
    average: str | None
    tournaments: tuple[str | None, ...]
    """The win rate in % in each distinct tournament of the study."""


@dataclass(frozen=True)
class MeasuredResult:
    """What was measured of a heuristic at one budget."""

    nodes: int
    """A move: given, or searched on average where the agents have time."""
    total: Rate
    against: tuple[Rate, ...]
    ahead: Gap
    forfeits: tuple[float, ...]
    """Games that were given up against each opponent, in %,"""
    conceded: tuple[float, ...]
    """and games that each opponent gave up."""


@dataclass(frozen=True)
class HeuristicReport:
    """A heuristic of a study.  `measured` is empty where `not_reproducible` says why."""

    heuristic: str
    entrant: str
    published: PublishedResult
    measured: dict[str, MeasuredResult]
    not_reproducible: str


@dataclass(frozen=True)
class ClaimReport:
    """A claim, its place in the study's document, what it is taken to mean, and its verdicts.

    They are by budget, those of budgets that do not matter left out; there is one, under `ONCE`,
    where none does, and none at all where what it takes was not measured.
    """

    sentence: str
    where: str
    form: str
    meaning: str
    verdicts: dict[str, Judgement]

    @property
    def once(self) -> Judgement | None:
        """The verdict that does not depend on a budget."""
        return self.verdicts.get(ONCE)

    def mark(self, budget: str) -> str:
        """The verdict at a budget, or nothing."""
        return self.verdicts[budget].mark if budget in self.verdicts else ""

    def difference(self, budget: str) -> str:
        """The difference that decided, with its interval; nothing where there is no verdict."""
        if budget not in self.verdicts:
            return ""
        return self.verdicts[budget].measured(digits=2 if self.form == "steadier" else 1)


@dataclass(frozen=True)
class WishComparisonReport:
    """A wished heuristic against one that it was meant to be better than, by budget."""

    who: str
    than: str
    found_by: str
    """The command that found its weights; empty where none were tuned."""
    gaps: dict[str, Gap]
    """How many points more it scores in the study's tournament, on the same openings."""
    rates: dict[str, Rate]
    """The games it wins there,"""
    given_up: dict[str, float]
    """and those it gives up, in %."""


@dataclass(frozen=True)
class WishReport:
    """What an author wished for, how to run it, and what it brought."""

    wish: str
    where: str
    commands: tuple[str, ...]
    comparisons: tuple[WishComparisonReport, ...]
    finding: Finding | None

    @property
    def measured(self) -> bool:
        """Whether anything was played or computed that says what it brought."""
        played = bool(self.comparisons) and all(one.gaps for one in self.comparisons)
        return played or (self.finding is not None and not self.comparisons)


@dataclass(frozen=True)
class CellFit:
    """A published number and what the faithful games predict, in %.

    `error` is one standard deviation of their difference, `z` the difference in such.  The opponent
    is empty where it is a total.
    """

    heuristic: str
    opponent: str
    tournament: int
    """The study's distinct tournament, counted from 1; 0 where it is a total."""
    published: float
    games: int
    predicted: float
    error: float
    z: float


@dataclass(frozen=True)
class FitReport:
    """How a study's agents were played, and how well that explains what it published."""

    condition: str
    time: int
    """Of a move, in microseconds."""
    told: str
    """What is known of the condition, and from where."""
    choices: int
    """Conditions it was chosen among."""
    tried: tuple[Tried, ...]
    times: tuple[TimeTried, ...]
    halves: tuple[Half, ...]
    cells: tuple[CellFit, ...]
    totals: tuple[CellFit, ...]
    chi_square: float
    p_value: float
    """The chance of a larger chi-square if the condition is right and all games are independent."""
    loglikelihood: float
    """Of the cells."""
    expected: float
    """Chi-square per cell to be expected, as the two games from one opening are not independent."""
    opponents_p: float
    """The chance that the deviations, added up by opponent, are as large."""
    totals_p: float
    """The same of the totals."""

    @property
    def likely_times(self) -> tuple[int, int]:
        """The least and the most time that could be the right one, at 95 %."""
        best = max(one.loglikelihood for one in self.times)
        near = [one.time for one in self.times if one.loglikelihood > best - Z**2 / 2]
        return min(near), max(near)

    @property
    def outside(self) -> tuple[CellFit, ...]:
        """The totals outside their 95 % band."""
        return tuple(cell for cell in self.totals if abs(cell.z) > Z)


@dataclass(frozen=True)
class PrintedTableReport:
    """A table as a study printed it: cells "won|lost" and win rates in %, by heuristic.

    A "?" is an illegible number; a number alone is games won, where no losses are printed.
    """

    name: str
    place: str
    tournament: int
    """The distinct tournament it shows, counted from 1."""
    heuristics: tuple[str, ...]
    cells: dict[str, tuple[str, ...]]
    rates: dict[str, str]
    sums: dict[str, str]
    """Win rates that the cells make where no printed one is legible."""
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
    """One study: published against measured, its claims, its errata."""

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
    """By budget: how much of the order of its table is borne out."""
    errata: tuple[Erratum, ...]
    fit: FitReport | None


@dataclass(frozen=True)
class StudiesLeague:
    """Ratings at each budget, the best first; grades at equal nodes."""

    pairs: int
    ratings: dict[str, tuple[Rating, ...]]
    grades: tuple[HeuristicGrade, ...]
    openings: int
    """Games of each heuristic against itself that were graded."""
    correlations: dict[str, Correlation]
    resigning: Correlation | None
    """How well the order of students that resign agrees with that of students that do not."""


@dataclass(frozen=True)
class Timings:
    """What differs from run to run: the day, and how long everything took."""

    date: str
    games: int
    seconds: float
    games_per_second: float | None
    grading_seconds: float


@dataclass(frozen=True)
class StudiesReport(Displayable):
    """All of it."""

    version: str
    command: str
    pairs: int
    seed: int
    budgets: tuple[str, ...]
    microseconds: float | None
    """What 2,500 nodes of `improved` take, compiled."""
    studies: tuple[StudyReport, ...]
    league: StudiesLeague | None
    sweep: Sweep | None
    needed: NeededGames
    timings: Timings

    @property
    def headline(self) -> BudgetName:
        """The budget whose verdicts are told first: the course's conditions if they were played."""
        return next(budget for budget in BUDGETS if budget in self.budgets)

    def verdicts(self, budget: str) -> dict[str, int]:
        """How many claims get which verdict at a budget, or `ONCE` for all."""
        found: dict[str, int] = dict.fromkeys(MARKS, 0)
        for study in self.studies:
            for claim in study.claims:
                if budget in claim.verdicts:
                    found[claim.verdicts[budget].verdict] += 1
        return found

    @property
    def fits(self) -> list[FitReport]:
        """Those of all studies, where they were played."""
        return [study.fit for study in self.studies if study.fit]

    @property
    def widest(self) -> float:
        """How far the widest interval of a total reaches, in points."""
        return max(
            measured.total.reach
            for study in self.studies
            for row in study.rows
            for measured in row.measured.values()
        )

    def parts(self) -> Iterator[Part]:
        """The verdicts, and what they come to."""
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
        timings = self.timings
        rate = f", {timings.games_per_second:,.0f} a second" if timings.games_per_second else ""
        yield f"{timings.games:,} games in {timings.seconds:,.0f} s{rate}"

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> StudiesReport:
        """The report that `to_dict` gave."""
        report: StudiesReport = _loaded(StudiesReport, data)
        return report

    def rounded(self) -> StudiesReport:
        """The same without digits that depend on how a processor adds numbers up."""
        return self.from_dict(rounded_json(self.to_dict(), DIGITS))


# -- as JSON -------------------------------------------------------------------------------


def _loaded(kind: Any, data: Any) -> Any:
    if data is None:
        return None
    origin = get_origin(kind)
    if origin in (UnionType, Union):
        return _loaded(next(one for one in get_args(kind) if one is not type(None)), data)
    if origin is tuple:
        return tuple(_loaded(get_args(kind)[0], item) for item in data)
    if origin is dict:
        return {key: _loaded(get_args(kind)[1], item) for key, item in data.items()}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        made: Any = kind
        return made(**{one.name: _loaded(hints[one.name], data[one.name]) for one in fields(kind)})
    return float(data) if kind is float else data
