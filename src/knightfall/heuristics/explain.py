"""Why a heuristic says what it says: the share of every feature, or of every term of a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.position import Position

BAR = 24
"""Letters of the longest bar."""


@dataclass(frozen=True)
class Share:
    """What one thing adds to the value: how often it is there, and its weight."""

    name: str
    count: float
    weight: float

    @property
    def value(self) -> float:
        """What it adds."""
        return self.count * self.weight


@dataclass(frozen=True)
class Explanation(Displayable):
    """A value and its shares, which add up to it."""

    position: Position
    heuristic: str
    value: float
    shares: tuple[Share, ...]

    def parts(self) -> Iterator[Part]:
        """The shares as bars, the largest first."""
        side = "first player (N)" if self.position.to_move == "w" else "second player (n)"
        yield Heading(f"{self.heuristic} of {self.position.fen}")
        yield f"{self.value:+.3f} for the {side}, who moves"
        yield ""
        table = Table(["", "count", "weight", "share", ""], left=(4,))
        most = max((abs(share.value) for share in self.shares), default=0.0)
        for share in sorted(self.shares, key=lambda one: -abs(one.value)):
            if share.value:
                table.add(
                    share.name,
                    f"{share.count:.4g}",
                    f"{share.weight:+.3f}",
                    f"{share.value:+.3f}",
                    _bar(share.value / most),
                )
        yield table

    def to_dict(self) -> dict[str, Any]:
        """The value and all shares, in the order of the features."""
        return {
            "fen": self.position.fen,
            "heuristic": self.heuristic,
            "value": self.value,
            "shares": [
                {"name": one.name, "count": one.count, "weight": one.weight, "share": one.value}
                for one in self.shares
            ],
        }


def _bar(share: float) -> str:
    """To the left of the middle what speaks against the mover, to the right what speaks for it."""
    length = round(abs(share) * BAR / 2)
    half = BAR // 2
    bar = "█" * length
    return f"{bar:>{half}}│" if share < 0 else f"{'':>{half}}│{bar}"


def explain(position: Position, heuristic: str) -> Explanation:
    """The shares of a position's value for the side to move."""
    if not position.placed:
        raise KnightfallError(
            f"{position.fen!r}: a heuristic is asked only once both knights stand"
        )
    if heuristic.strip() == "learned_linear":
        return _learned(position)
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.heuristics.expression import parse_heuristic

    terms = parse_heuristic(heuristic).terms
    shares = tuple(
        Share(str(atom), evaluator(str(atom)).value(position), float(weight))
        for weight, atom in terms
    )
    return Explanation(position, heuristic, evaluator(heuristic).value(position), shares)


def _learned(position: Position) -> Explanation:
    """The features of the linear model, each with its weight in this role and phase."""
    import numpy as np

    from knightfall.heuristics.evaluator import evaluator
    from knightfall.heuristics.features import FEATURES, NUMBER, describe_all
    from knightfall.heuristics.learned import LINEAR
    from knightfall.heuristics.model_file import POWERS, read_model
    from knightfall.kernel.geometry import geometry
    from knightfall.kernel.rules import words

    open, mover, waiter = words(position)
    table = np.zeros((1, NUMBER), np.float32)
    describe_all(
        geometry(position.board),
        np.array([open], np.uint64),
        np.array([mover], np.uint8),
        np.array([waiter], np.uint8),
        table,
    )
    role = "hunter" if position.hunter == position.to_move else "runner"
    model = read_model(LINEAR, "linear", FEATURES)[role]
    phase = float(table[0, NUMBER - 2] / table[0, NUMBER - 1])
    powers = np.array([phase**power for power in range(POWERS)])
    weights = powers @ model["weights"].astype(np.float64)
    shares = [
        Share(name, float(count), float(weight))
        for name, count, weight in zip(FEATURES, table[0], weights, strict=True)
    ]
    shares.append(Share(f"being the {role}, who moves", 1.0, float(powers @ model["bias"])))
    value = evaluator("learned_linear").value(position)
    return Explanation(position, "learned_linear", value, tuple(shares))
