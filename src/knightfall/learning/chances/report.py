"""How well the chances were learned: judged by other openings, and by other hunters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knightfall.display.numbers import duration
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table as Shown
from knightfall.learning.chances.decisions import Decision
from knightfall.learning.chances.fit import Floats, Table, by_game, likelihoods, probabilities
from knightfall.practical.chances import NAMES, Chances
from knightfall.practical.models import OPPONENTS

GROUPS = 8
"""Of decisions, by how likely it was that the win is let go."""


@dataclass(frozen=True)
class Judged:
    """Log-likelihoods of a reply in the mean, and what came true of errors foretold.

    `groups` are (foretold, came true, decisions), over those where the win can be let go.
    """

    hunters: str
    decisions: int
    erred: float
    any_reply: float
    winning_replies: float
    stranger: float
    opponents: float
    groups: tuple[tuple[float, float, int], ...]


def judged(
    hunters: str, decisions: Sequence[Decision], chances: Chances, error_rate: float
) -> Judged:
    """Judge by decisions; `error_rate` is how often hunters let go of a win that can be lost."""
    table = Table.of(decisions)
    ways, wrong = table.there.sum(1), table.wrong.sum(1)
    erred, possible = table.chosen(table.wrong), wrong > 0
    winning = np.where(
        possible,
        np.where(
            erred,
            np.log(error_rate / np.maximum(wrong, 1)),
            np.log((1 - error_rate) / np.maximum(ways - wrong, 1)),
        ),
        -np.log(ways),
    )
    likely = probabilities(chances.habits, table)
    logs = by_game(decisions, np.log(likelihoods(decisions, chances.habits)))
    games = np.logaddexp.reduce(logs + np.log(chances.shares), axis=1)
    return Judged(
        hunters=hunters,
        decisions=len(decisions),
        erred=float(erred[possible].mean()) if possible.any() else 0.0,
        any_reply=float(-np.log(ways).mean()),
        winning_replies=float(winning.mean()),
        stranger=float(np.log(table.chosen(likely)).mean()),
        opponents=float(games.sum() / len(decisions)),
        groups=_groups((likely * table.wrong).sum(1)[possible], erred[possible]),
    )


def _groups(foretold: Floats, came: Any) -> tuple[tuple[float, float, int], ...]:
    parts = np.array_split(np.argsort(foretold, kind="stable"), GROUPS)
    return tuple(
        (float(foretold[part].mean()), float(came[part].mean()), len(part))
        for part in parts
        if len(part)
    )


def error_rate(decisions: Sequence[Decision]) -> float:
    """How often hunters let go of a win that can be lost in one move."""
    possible = [one.erred for one in decisions if one.wrong.any()]
    return (sum(possible) + 1) / (len(possible) + 2)


@dataclass
class ChancesReport(Displayable):
    """What was learned, and how well it foretells what hunters do."""

    chances: Chances
    learned_from: int
    judged: Sequence[Judged]
    folder: str
    seed: int
    seconds: float

    def parts(self) -> Iterator[Part]:
        """Likelihoods, errors foretold, weights and shares."""
        yield Heading("Log-likelihood of a reply, from openings that were not learned from")
        table = Shown(["", *(one.hunters for one in self.judged)])
        for name, field in (
            ("any reply alike", "any_reply"),
            ("winning replies alike, with a rate of errors", "winning_replies"),
            ("the stranger", "stranger"),
            ("all opponents, by Bayes' rule", "opponents"),
        ):
            table.add(name, *(f"{getattr(one, field):.3f}" for one in self.judged))
        table.add("decisions", *(f"{one.decisions:,}" for one in self.judged))
        yield table
        yield ""
        yield Heading("The win is let go: foretold by the stranger, and what came true")
        errors = Shown(["", *(one.hunters for one in self.judged)])
        for number in range(max((len(one.groups) for one in self.judged), default=0)):
            errors.add(f"group {number + 1}", *(_group(one, number) for one in self.judged))
        yield errors
        yield ""
        weights = Shown(["of a reply", "weight"])
        for name, weight in zip(NAMES, self.chances.habits, strict=True):
            weights.add(name, f"{weight:+.2f}")
        yield weights
        yield ""
        shares = Shown(["opponent", "share"])
        for name, share in zip(OPPONENTS, self.chances.shares, strict=True):
            shares.add(name, f"{share:.1%}")
        yield shares
        yield ""
        yield (
            f"Learned from {self.learned_from:,} decisions; written to {self.folder} in "
            f"{duration(self.seconds)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return {
            "learned_from": self.learned_from,
            "seed": self.seed,
            "habits": dict(zip(NAMES, map(float, self.chances.habits), strict=True)),
            "shares": dict(zip(OPPONENTS, self.chances.shares, strict=True)),
            "judged": [vars(one) for one in self.judged],
            "seconds": self.seconds,
        }


def _group(one: Judged, number: int) -> str:
    if number >= len(one.groups):
        return ""
    foretold, came, size = one.groups[number]
    return f"{foretold:.1%} → {came:.1%} of {size}"
