"""What the five studies published, as values: figures as they were printed, claims, errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal, get_args

from knightfall.agents import COURSE_NODES
from knightfall.arena.plan.protocols import protocol_named
from knightfall.errors import KnightfallError
from knightfall.reading import decoded, parse_toml
from knightfall.shape import Between, OneOf, Whole, check

FILE = "published.toml"

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
"""What a claim says of `who` and `than`; `published.toml` explains each, `claims` judges them."""

Measure = Literal["games", "power", "depth", "cost", "choices"]
"""What `who` and `than` are compared by; `published.toml` explains each."""

Phase = Literal["opening", "middle", "end"]

Fact = Literal[
    "second_player_wins",
    "parity_changes",
    "parity_proves",
    "centre_term_reaches_6",
    "edges_have_fewer_moves",
    "no_timeouts",
    "no_forfeits",
    "doubling_presses",
    "cluster_breaks_ties",
    "depth_first_grows",
]
"""Statements that are computed instead of played; `facts` has a function for each."""

CHANCE = "chance"
"""In a comparison of choices: the share of wins that a random legal move keeps."""

Finding = Literal["arithmetic", "claims", "reading"]
"""How an erratum was found: by recomputing what was printed, by holding a claim against the
figures beside it, or by nothing a program could do."""

Rates = Mapping[str, Decimal]
"""Win rates in %, with the digits they were printed with, by heuristic."""


@dataclass(frozen=True)
class Claim:
    """One claim of a study, made for each of `who` against each of `than`.

    `sentence` is in our words, `where` its place in the study's document.  `published` holds the
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
    """For `better_by` and `alike`: by how much `who` is ahead, in units of the measure."""
    tournaments: tuple[int, int] | None = None
    """For `won_tournaments`: how many were won, of how many."""
    measure: Measure = "games"
    against: tuple[int, ...] | None = None
    """For `games`: the numbers of the opponents it is about; None for all of them."""
    phase: Phase | None = None
    """For `choices`: the phase of the game it is about; None for the whole game."""
    fact: Fact | None = None
    reason: str = ""
    """For `untestable`: why no measurement can settle it."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The comparisons the claim is made of."""
        return tuple((a, b) for a in self.who for b in self.than)


@dataclass(frozen=True)
class Erratum:
    """Something that is not right in a publication."""

    where: str
    text: str
    found_by: Finding


@dataclass(frozen=True)
class Study:
    """A publication; everything is told by heuristic.  What it does not print is empty."""

    id: str
    title: str
    protocol: str
    games_per_opponent: int
    entrants: Mapping[str, str]
    """The agents' names in the publication, and the heuristic of each."""
    wins: Mapping[str, tuple[int, ...]]
    """Games won against each opponent of the protocol."""
    totals: Rates
    tournaments: Mapping[str, tuple[Decimal | None, ...]]
    """The results of several tournaments; None where one cannot be read."""
    shown_whole: int | None
    """The number (from 1) of the tournament that `wins` shows."""
    averages: Rates
    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]
    not_reproducible: Mapping[str, str]
    """Heuristics with a result that nobody can play again, and why."""

    @property
    def heuristics(self) -> tuple[str, ...]:
        """The heuristics that can be played again, in the study's order."""
        return tuple(id for id in self.entrants.values() if id not in self.not_reproducible)

    @property
    def opponents(self) -> tuple[str, ...]:
        """Whom each of them met, as agents of our arena."""
        return protocol_named(self.protocol).opponents

    @property
    def games_per_tournament(self) -> int:
        """How many games an agent plays in one tournament."""
        return self.games_per_opponent * len(self.opponents)

    def games(self, heuristic: str) -> int:
        """How many games the heuristic's figure is of."""
        readable = sum(rate is not None for rate in self.tournaments.get(heuristic, ())) or 1
        return self.games_per_tournament * (1 if heuristic in self.totals else readable)

    def other_tournaments(self, heuristic: str) -> list[float]:
        """The totals, from 0 to 1, of tournaments of which no table is shown, each one once.

        Two that agree to the digit wherever both can be read are one, printed twice.
        """
        columns = [*zip(*self.tournaments.values(), strict=True)]
        rates = self.tournaments.get(heuristic, ())
        known = [self.shown_whole - 1] if self.shown_whole else []
        found = []
        for at, rate in enumerate(rates):
            if rate is None or any(_same(columns[at], columns[other]) for other in known):
                continue
            known.append(at)
            found.append(float(rate) / 100)
        return found

    def told_once(self, heuristic: str) -> tuple[float, int]:
        """The win rate from 0 to 1 over all games that are told of, and how many these are.

        Tables go before printed totals, and what was printed twice counts once.
        """
        rates = self.other_tournaments(heuristic)
        if heuristic in self.wins:
            rates.append(sum(self.wins[heuristic]) / self.games_per_tournament)
        elif not rates:
            rates.append(float(self.figure(heuristic)) / 100)
        return sum(rates) / len(rates), len(rates) * self.games_per_tournament

    def figure(self, heuristic: str) -> Decimal:
        """The win rate the study goes by: its average, else its total, else the mean of what
        tournaments can be read."""
        for rates in (self.averages, self.totals):
            if heuristic in rates:
                return rates[heuristic]
        shown = [rate for rate in self.tournaments.get(heuristic, ()) if rate is not None]
        if not shown:
            raise KnightfallError(f"the {self.id} study has no result of {heuristic!r}")
        return (sum(shown, Decimal(0)) / len(shown)).quantize(Decimal("0.1"))


def _same(one: Sequence[Decimal | None], other: Sequence[Decimal | None]) -> bool:
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return bool(both) and all(a == b for a, b in both)


def agent_of(heuristic: str, nodes: int = COURSE_NODES) -> str:
    """A study's agent as our arena plays it: deepening plainly, whatever the protocol."""
    return f"id({heuristic}, nodes={nodes}, plain)"


# -- reading -------------------------------------------------------------------------------


@cache
def studies() -> Mapping[str, Study]:
    """The five studies by their ids, in the order of the heuristics' registry."""
    there = resources.files("knightfall.studies.published").joinpath(FILE)
    return MappingProxyType(read_studies(decoded(there.read_bytes(), FILE)))


def read_studies(text: str) -> dict[str, Study]:
    """The studies that a file of TOML tells of; an error says what is wrong with it."""
    try:
        tables = parse_toml(text, parse_float=Decimal)
        check({str: _STUDY}, tables)
        return {id: _study(id, table) for id, table in tables.items()}
    except KnightfallError as error:
        raise KnightfallError(f"{FILE} cannot be read: {error}") from None


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
_STUDY = {
    "title": str,
    "protocol": str,
    "games_per_opponent": Whole(1, 10**6),
    "entrants?": {str: str},
    "wins?": {str: [Whole(0, 10**6)]},
    "totals?": {str: _RATE},
    "tournaments?": {str: [Between(-1, 100)]},
    "shown_whole?": Whole(1, 1000),
    "averages?": {str: _RATE},
    "claims": [_CLAIM],
    "errata?": [{"where": str, "text": str, "found_by": OneOf(get_args(Finding))}],
    "not_reproducible?": {str: str},
}


def _study(id: str, table: dict[str, Any]) -> Study:
    rows = table.get("wins", {}), table.get("tournaments", {}), table.get("totals", {})
    ids = list(dict.fromkeys(heuristic for row in rows for heuristic in row))
    tournaments = {
        heuristic: tuple(None if rate == -1 else rate for rate in rates)
        for heuristic, rates in table.get("tournaments", {}).items()
    }
    bare = Study(
        id=id,
        title=table["title"],
        protocol=table["protocol"],
        games_per_opponent=table["games_per_opponent"],
        entrants=MappingProxyType(table.get("entrants") or {name: name for name in ids}),
        wins=MappingProxyType({key: tuple(row) for key, row in table.get("wins", {}).items()}),
        totals=MappingProxyType(table.get("totals", {})),
        tournaments=MappingProxyType(tournaments),
        shown_whole=table.get("shown_whole"),
        averages=MappingProxyType(table.get("averages", {})),
        claims=(),
        errata=tuple(Erratum(**erratum) for erratum in table.get("errata", ())),
        not_reproducible=MappingProxyType(table.get("not_reproducible", {})),
    )
    claims = tuple(_claim(bare, claim) for claim in table["claims"])
    return Study(**{**vars(bare), "claims": claims})


def _claim(study: Study, table: dict[str, Any]) -> Claim:
    who, than = tuple(table.get("who", ())), table.get("than", ())
    if than == "others":
        than = [id for id in study.heuristics if id not in who]
    for name in ("between", "tournaments"):
        if name in table and len(table[name]) != 2:
            raise KnightfallError(f"{study.id}: {name!r} must be two numbers; see {FILE}")
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
    """Return the range a claim names: `between`, `within` or `about`.

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
