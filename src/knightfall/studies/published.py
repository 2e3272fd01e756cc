"""The published studies as data: printed figures, claims, errata, and untried ideas (wishes)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, get_args

from knightfall.agents import COURSE_NODES
from knightfall.arena.tournament_plan import protocol_named
from knightfall.errors import KnightfallError
from knightfall.studies.printed_tables import (
    EXAMPLE,
    TABLE,
    PlayedTournament,
    PrintedExample,
    PrintedTable,
    Rates,
    played_tournaments,
    read_example,
    read_table,
)
from knightfall.studies.student_options import CHOICES
from knightfall.studies.study_files import FIRST, HEURISTICS, every_study, read_tables
from knightfall.untrusted_input import Between, OneOf, Whole, check

Form = Literal[
    "better",
    "not_better",
    "better_by",
    "alike",
    "steadier",
    "won_tournaments",
    "fact",
    "untestable",
]
"""The form of a claim about `who` and `than`; `published.toml` explains each."""

Measure = Literal["games", "power", "ply", "board", "depth", "cost", "choices"]
"""What `who` and `than` are compared by; `published.toml` explains each."""

Phase = Literal["opening", "middle", "end"]
"""Equal to the type in `knightfall.oracle.graded_games`, which the lab's server cannot import:
that module needs Numba."""

Fact = Literal[
    "second_player_wins",
    "parity_changes",
    "parity_proves",
    "centre_term_reaches_6",
    "edges_have_fewer_moves",
    "no_timeouts",
    "prevents_forfeits",
    "doubling_presses",
    "cluster_breaks_ties",
    "depth_first_grows",
]
"""Statements that are computed instead of played; see `computed_facts.FACTS`."""

WishFinding = Literal["values_in_time", "reflections", "cluster_moves"]
"""Computations for wishes that games alone do not answer; see `computed_facts.FINDINGS`."""

BudgetName = Literal["course", "time", "nodes", "never"]
BUDGETS: tuple[BudgetName, ...] = get_args(BudgetName)
"""All budgets in the order of the report: the authors' conditions come first. A wish is played at
all of them unless it names some."""

CONDITION_PARTS = ("lost", "ties", "leaves", "board")
"""Options that all agents of a study share (`knightfall.studies.student_options`)."""

CHANCE = "chance"
"""In a comparison of choices: the share of wins that a random legal move keeps."""

ErratumSource = Literal["arithmetic", "claims", "reading"]
"""How an erratum was found: by recomputing printed numbers, by comparing a claim with the study's
figures, or by reading.
"""


@dataclass(frozen=True)
class Claim:
    """One claim of a study: every heuristic in `who` compared with every one in `than`.

    `sentence` is a paraphrase, `where` its place in the study's document. `published` holds the
    study's figure for every heuristic concerned that has one.
    """

    study: str
    sentence: str
    where: str
    form: Form
    who: tuple[str, ...]
    than: tuple[str, ...]
    games_per_opponent: int
    published: Rates
    between: tuple[float, float] | None = None
    """For `better_by` and `alike`: the range of the lead of `who`, in units of the measure."""
    tournaments: tuple[int, int] | None = None
    """For `won_tournaments`: the number won, and the number played."""
    measure: Measure = "games"
    against: tuple[int, ...] | None = None
    """For `games`: the indices of the opponents concerned; None for all of them."""
    phase: Phase | None = None
    """For `choices`: the phase of the game concerned; None for the whole game."""
    fact: Fact | None = None
    reason: str = ""
    """For `untestable`: why no measurement can settle it."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return every pair (heuristic of `who`, heuristic of `than`) that the claim compares."""
        return tuple((a, b) for a in self.who for b in self.than)


@dataclass(frozen=True)
class WishComparison:
    """A heuristic that an author wished for, and the study's heuristics that it should beat.

    `found_by` is the command that found its weights, empty where none are tuned.
    """

    who: str
    than: tuple[str, ...]
    found_by: str = ""


@dataclass(frozen=True)
class Wish:
    """Something that an author would have tried with more time, and the commands that try it.

    It is measured by games of its comparisons at each of `budgets`, by the computation `finding`,
    or by both.
    """

    wish: str
    where: str
    commands: tuple[str, ...]
    comparisons: tuple[WishComparison, ...]
    budgets: tuple[str, ...]
    finding: WishFinding | None


@dataclass(frozen=True)
class Erratum:
    """A mistake in a publication."""

    where: str
    text: str
    found_by: ErratumSource


@dataclass(frozen=True, slots=True)
class Coded:
    """A study's heuristic as its author's program computed it.

    `id` is the heuristic; `ends` is how it detected the end of the game (`student_options.py`).
    """

    id: str
    ends: str = CHOICES["ends"][0]


@dataclass(frozen=True)
class Study:
    """A published study: tables, claims, errata and wishes; what was not printed is empty."""

    id: str
    title: str
    protocol: str
    games_per_opponent: int
    entrants: Mapping[str, str]
    """The heuristic of each agent, by the agent's name in the publication."""
    tables: tuple[PrintedTable, ...]
    """Every table of results, in the order of print."""
    averages: Rates
    """Printed averages of the win rates of the tables in `average_of`, counted from 1."""
    average_of: tuple[int, ...]
    stated: Mapping[str, int]
    """Numbers that the text gives for its tournaments: tournaments, matches, games, …"""
    examples: tuple[PrintedExample, ...]
    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]
    not_reproducible: Mapping[str, str]
    """Heuristics with a result that cannot be played again, and why."""
    wishes: tuple[Wish, ...] = ()
    introduction: str = ""
    """A sentence on the idea of the study."""
    as_coded: Mapping[str, Coded] = field(default_factory=dict)
    """Heuristics whose program differed from the published formula."""
    known_condition: Mapping[str, str] = field(default_factory=dict)
    """How its agents were written, with the source under "told"; empty if unknown."""

    @property
    def heuristics(self) -> tuple[str, ...]:
        """Return the heuristics that can be played again, in the study's order."""
        return tuple(id for id in self.entrants.values() if id not in self.not_reproducible)

    def wished(self, budget: str) -> tuple[str, ...]:
        """Return the heuristics in the wishes' comparisons at a budget that are not the study's."""
        named = [
            id
            for wish in self.wishes
            if budget in wish.budgets
            for one in wish.comparisons
            for id in (one.who, *one.than)
        ]
        return tuple(dict.fromkeys(id for id in named if id not in self.heuristics))

    @property
    def opponents(self) -> tuple[str, ...]:
        """Return the agent strings of the opponents in the study's protocol."""
        return protocol_named(self.protocol).opponents

    @property
    def games_per_tournament(self) -> int:
        """Return how many games an agent plays in one tournament."""
        return self.games_per_opponent * len(self.opponents)

    @cached_property
    def played(self) -> tuple[PlayedTournament, ...]:
        """Return the distinct tournaments; one that two tables print is included once."""
        return played_tournaments(self.tables, self.games_per_opponent)

    @cached_property
    def tournaments(self) -> Mapping[str, tuple[Decimal | None, ...]]:
        """Return each heuristic's win rate in % in every distinct tournament; None if illegible.

        Where the printed rate is illegible, it is computed from the cells if they are known.
        """
        return MappingProxyType(
            {
                heuristic: tuple(one.total(heuristic) for one in self.played)
                for heuristic in self.entrants.values()
            }
        )

    @cached_property
    def totals(self) -> Rates:
        """Return the printed win rate in % of each heuristic that appears in exactly one table."""
        found = {}
        for heuristic in self.entrants.values():
            shown = [table for table in self.tables if heuristic in table.heuristics]
            if len(shown) == 1 and heuristic in shown[0].rates:
                found[heuristic] = shown[0].rates[heuristic]
        return MappingProxyType(found)

    @cached_property
    def wins(self) -> Mapping[str, tuple[int, ...]]:
        """Return the games that each heuristic won against each opponent.

        They are summed over the tournaments in which all of its cells are legible.

        `games_against` returns how many games were played against each.
        """
        return MappingProxyType(
            {
                heuristic: tuple(map(sum, zip(*rows, strict=True)))
                for heuristic in self.entrants.values()
                if (rows := self._known_rows(heuristic))
            }
        )

    def games_against(self, heuristic: str) -> int:
        """Return how many games against each single opponent the numbers of `wins` are based on."""
        return self.games_per_opponent * len(self._known_rows(heuristic))

    def _known_rows(self, heuristic: str) -> list[tuple[int, ...]]:
        """Return a row for each distinct tournament with all cells legible: wins by opponent."""
        rows = [tuple(w for w in one.wins(heuristic) if w is not None) for one in self.played]
        return [row for row in rows if len(row) == len(self.opponents)]

    def games(self, heuristic: str) -> int:
        """Return how many published games the heuristic's `figure` is computed from."""
        if heuristic in self.averages:
            return self.games_per_tournament * len(self.average_of)
        return self.overall_rate(heuristic)[1]

    def other_tournaments(self, heuristic: str) -> list[float]:
        """Return win rates (0 to 1) in the distinct tournaments without cells of the heuristic."""
        shown = [one for one in self.played if not any(w is not None for w in one.wins(heuristic))]
        return [rate for one in shown if (rate := one.rate(heuristic)) is not None]

    def overall_rate(self, heuristic: str) -> tuple[float, int]:
        """Return the win rate from 0 to 1 over all published games, and their number.

        Cells take precedence over printed totals, and a tournament printed twice counts once.
        """
        rates = [rate for one in self.played if (rate := one.rate(heuristic)) is not None]
        if not rates:
            raise KnightfallError(f"the {self.id} study has no result of {heuristic!r}")
        return sum(rates) / len(rates), len(rates) * self.games_per_tournament

    def figure(self, heuristic: str) -> Decimal:
        """Return the win rate in % that the study's claims refer to.

        It is the printed average, else the printed total, else the mean over all tournaments.
        """
        for rates in (self.averages, self.totals):
            if heuristic in rates:
                return rates[heuristic]
        return Decimal(100 * self.overall_rate(heuristic)[0]).quantize(Decimal("0.1"))


def agent_of(heuristic: str, nodes: int = COURSE_NODES) -> str:
    """Return the agent string of plain iterative deepening with a heuristic and a node budget."""
    return f"id({heuristic}, nodes={nodes}, plain)"


# -- reading -------------------------------------------------------------------------------


@cache
def studies() -> Mapping[str, Study]:
    """Return the studies by their ids, in the order of their files."""
    return every_study(read_studies)


def read_studies(text: str, file: str = FIRST) -> dict[str, Study]:
    """Parse studies from TOML. Raise a KnightfallError if the file is invalid."""
    tables = read_tables(text, file)
    try:
        check({str: _STUDY}, tables)
        return {id: _study(id, table) for id, table in tables.items()}
    except KnightfallError as error:
        raise KnightfallError(f"{file} cannot be read: {error}") from None


_RATE = Between(0, 100)
_CLAIM = {
    "sentence": str,
    "where": str,
    "form": OneOf(get_args(Form)),
    "by?": OneOf(get_args(Measure)),
    "who?": [str],
    "than?": ([str], OneOf(("others",))),
    "against?": [str],
    "phase?": OneOf(get_args(Phase)),
    "fact?": OneOf(get_args(Fact)),
    "reason?": str,
    "between?": [Between(-100, 100)],
    "about?": [_RATE],
    "within?": _RATE,
    "tournaments?": [Whole()],
}
_COMPARISON = {"who": str, "than": [str], "found_by?": str}
_WISH = {
    "wish": str,
    "where": str,
    "commands": [str],
    "compare?": [_COMPARISON],
    "budgets?": [OneOf(BUDGETS)],
    "finding?": OneOf(get_args(WishFinding)),
}
_STUDY = {
    "title": str,
    "protocol": str,
    "games_per_opponent": Whole(1, 10**6),
    "stated?": {str: Whole(0, 10**6)},
    "entrants?": {str: str},
    "tables": [TABLE],
    "averages?": {str: _RATE},
    "average_of?": [Whole(1, 1000)],
    "examples?": [EXAMPLE],
    "claims": [_CLAIM],
    "errata?": [{"where": str, "text": str, "found_by": OneOf(get_args(ErratumSource))}],
    "not_reproducible?": {str: str},
    "wishes?": [_WISH],
    "introduction?": str,
    "names?": {str: str},
    "module?": str,
    "heuristics?": HEURISTICS,
    "as_coded?": {str: {"id?": str, "ends?": OneOf(CHOICES["ends"])}},
    "known_condition?": {
        "told": str,
        **{f"{part}?": OneOf(CHOICES[part]) for part in CONDITION_PARTS},
    },
}


def _study(id: str, table: dict[str, Any]) -> Study:
    tables = tuple(read_table(one) for one in table["tables"])
    ids = dict.fromkeys(heuristic for one in tables for heuristic in one.heuristics)
    entrants = table.get("entrants") or {name: name for name in ids}
    bare = Study(
        id=id,
        title=table["title"],
        protocol=table["protocol"],
        games_per_opponent=table["games_per_opponent"],
        entrants=MappingProxyType(entrants),
        tables=tables,
        averages=MappingProxyType(table.get("averages", {})),
        average_of=tuple(table.get("average_of", ())),
        stated=MappingProxyType(table.get("stated", {})),
        examples=tuple(read_example(one) for one in table.get("examples", ())),
        claims=(),
        errata=tuple(Erratum(**erratum) for erratum in table.get("errata", ())),
        not_reproducible=MappingProxyType(table.get("not_reproducible", {})),
        wishes=tuple(_wish(id, one) for one in table.get("wishes", ())),
        introduction=table.get("introduction", table["title"]),
        as_coded=MappingProxyType(
            {one: Coded(**{"id": one, **row}) for one, row in table.get("as_coded", {}).items()}
        ),
        known_condition=MappingProxyType(table.get("known_condition", {})),
    )
    _check_tables(bare, ids)
    return replace(bare, claims=tuple(_claim(bare, claim) for claim in table["claims"]))


def _wish(study: str, table: dict[str, Any]) -> Wish:
    comparisons = tuple(
        WishComparison(one["who"], tuple(one["than"]), one.get("found_by", ""))
        for one in table.get("compare", ())
    )
    if not comparisons and "finding" not in table:
        raise KnightfallError(
            f'{study}: the author\'s wish {table["wish"]!r:.60} lacks both "compare" and "finding"'
        )
    return Wish(
        wish=table["wish"],
        where=table["where"],
        commands=tuple(table["commands"]),
        comparisons=comparisons,
        budgets=tuple(table.get("budgets", BUDGETS)),
        finding=table.get("finding"),
    )


def _check_tables(study: Study, heuristics: Iterable[str]) -> None:
    for heuristic in heuristics:
        if heuristic not in study.entrants.values():
            raise KnightfallError(
                f"{study.id}: {heuristic!r:.40} is not one of the study's entrants"
            )
    for table in study.tables:
        for heuristic, row in table.cells.items():
            if len(row) != len(study.opponents):
                raise KnightfallError(
                    f"{study.id}, {table.name:.40}: the row of {heuristic} has {len(row)} cells, "
                    f"expected {len(study.opponents)}, one per opponent"
                )
    for number in study.average_of:
        if number > len(study.tables):
            raise KnightfallError(
                f'{study.id}: "average_of" has table {number}, but there are only '
                f"{len(study.tables)} tables"
            )


def _claim(study: Study, table: dict[str, Any]) -> Claim:
    who, than = tuple(table.get("who", ())), table.get("than", ())
    if than == "others":
        than = [id for id in study.heuristics if id not in who]
    for name in ("between", "tournaments"):
        if name in table and len(table[name]) != 2:
            raise KnightfallError(
                f"{study.id}: {name!r} of a claim must be a list of two numbers, as in {FIRST}"
            )
    tournaments = table.get("tournaments")
    against = None
    if "against" in table:
        names = [name.rpartition(":")[2] for name in study.opponents]
        unknown = [name for name in table["against"] if name not in names]
        if unknown:
            raise KnightfallError(f"{study.id}: unknown opponent {unknown[0]!r}; known: {names}")
        against = tuple(names.index(name) for name in table["against"])
    return Claim(
        study=study.id,
        sentence=table["sentence"],
        where=table["where"],
        form=table["form"],
        who=who,
        than=tuple(than),
        games_per_opponent=study.games_per_opponent,
        published=MappingProxyType(
            {id: study.figure(id) for id in (*who, *than) if id in study.heuristics}
        ),
        between=_range_of(table),
        tournaments=(tournaments[0], tournaments[1]) if tournaments else None,
        measure=table.get("by", "games"),
        against=against,
        phase=table.get("phase"),
        fact=table.get("fact"),
        reason=table.get("reason", ""),
    )


def _range_of(table: dict[str, Any]) -> tuple[float, float] | None:
    """Return the range that a claim gives as `between`, `within` or `about`; None if it gives none.

    "About x" means from half of x to one and a half of it, "about a to b" from half of a to one and
    a half of b.
    """
    if "about" in table:
        return float(min(table["about"])) / 2, float(max(table["about"])) * 1.5
    if "within" in table:
        return -float(table["within"]), float(table["within"])
    if "between" in table:
        return float(table["between"][0]), float(table["between"][1])
    return None
