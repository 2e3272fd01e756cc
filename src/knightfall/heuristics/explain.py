"""Explanations of a heuristic's value: the share of every feature, or of every term of a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from knightfall import picture
from knightfall.display.numbers import count
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side

BAR = 24
"""Width of the bars in letters."""


@dataclass(frozen=True)
class Contribution:
    """The share of one feature or term in the value: its count times its weight."""

    name: str
    count: float
    weight: float

    @property
    def value(self) -> float:
        """The share: count times weight."""
        return self.count * self.weight


@dataclass(frozen=True)
class Cluster:
    """The least-blocked window of a position; `open_cluster` rewards nearness to its centre."""

    cells: tuple[int, ...]
    center: int
    counts: bool
    """Whether enough of the board is blocked for the window to count."""


@dataclass(frozen=True, repr=False)
class Explanation(Displayable):
    """A heuristic's value of a position, and the shares that add up to it."""

    position: Position
    heuristic: str
    value: float
    shares: tuple[Contribution, ...]
    side: Side
    cluster: Cluster | None = None

    def parts(self) -> Iterator[Part]:
        """Yield the report: the shares as bars, the largest first."""
        moves = "who moves" if self.side == self.position.to_move else "who waits"
        yield Heading(f"{self.heuristic} of {self.position.fen}")
        yield f"{self.value:+.3f} for the {picture.player(self.side)}, {moves}"
        if self.cluster is not None:
            yield ""
            yield from picture.text(self.position, self.cluster.cells).splitlines()
            yield self._cluster_in_words(self.cluster)
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

    def _cluster_in_words(self, cluster: Cluster) -> str:
        board, cells = self.position.board, cluster.cells
        blocked = sum(cell not in self.position.open for cell in cells)
        said = (
            f"In brackets the least-blocked window, {board.name(cells[0])} to "
            f"{board.name(cells[-1])}, with {count(blocked, 'blocked cell')}; its centre cell is "
            f"{board.name(cluster.center)}."
        )
        return said if cluster.counts else f"{said} It counts once a fifth of the board is blocked."

    def svg(self, size: int = 360) -> str:
        """Return the position as an SVG image, the window of `open_cluster` tinted."""
        marked = self.cluster.cells if self.cluster else ()
        return picture.svg(self.position, marked=marked, size=size)

    def _repr_html_(self) -> str:
        return (self.svg() if self.cluster else "") + super()._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Return the value and all shares as plain values, in the order of the features."""
        name, cluster, window = self.position.board.name, self.cluster, dict[str, Any]()
        if cluster is not None:
            window["cluster"] = {
                "cells": [name(cell) for cell in cluster.cells],
                "center": name(cluster.center),
                "counts": cluster.counts,
            }
        return {
            "fen": self.position.fen,
            "heuristic": self.heuristic,
            "for": self.side,
            **window,
            "value": self.value,
            "shares": [
                {"name": one.name, "count": one.count, "weight": one.weight, "share": one.value}
                for one in self.shares
            ],
        }


def _bar(share: float) -> str:
    """Return a bar to the left of the middle for a negative share, to the right for a positive."""
    length = round(abs(share) * BAR / 2)
    half = BAR // 2
    bar = "█" * length
    return f"{bar:>{half}}│" if share < 0 else f"{'':>{half}}│{bar}"


def explain(position: Position, heuristic: str, side: Side | None = None) -> Explanation:
    """Return the shares of a position's value for a side, by default the side to move.

    Weights that depend on the phase are those of this position's phase.
    """
    if not position.placed:
        raise KnightfallError(
            f"{position.fen!r} cannot be evaluated: both knights must be on the board"
        )
    side = side or position.to_move
    if heuristic.strip() == "learned_linear":
        if side != position.to_move:
            raise KnightfallError(
                f"learned_linear can be explained only for the side to move, which is "
                f"{position.to_move} in {position.fen!r}, not for {side}"
            )
        return _learned(position)
    from knightfall.heuristics.evaluator import Evaluator, evaluator
    from knightfall.heuristics.expression import Atom, Expression, Id, parse_heuristic

    def alone(atom: Atom) -> Evaluator:
        return evaluator(Expression(((Fraction(1), atom),)))

    phase = Fraction(len(position.open), position.board.cells)
    terms = [*parse_heuristic(heuristic).at(phase)]
    shares = tuple(
        Contribution(str(atom), alone(atom).value(position, side), float(weight))
        for weight, atom in terms
    )
    drawn = any(isinstance(atom, Id) and atom.name == "open_cluster" for _, atom in terms)
    return Explanation(
        position,
        heuristic,
        evaluator(heuristic).value(position, side),
        shares,
        side,
        _cluster(position) if drawn else None,
    )


def _cluster(position: Position) -> Cluster:
    from knightfall.heuristics.aggressive import least_blocked
    from knightfall.kernel.rules import geometry, words

    board = position.board
    sheet = geometry(board)[0]
    top, left, high, wide = least_blocked(sheet, sheet.every.dtype.type(words(position)[0]))
    return Cluster(
        tuple(
            board.at(row, column)
            for row in range(top, top + high)
            for column in range(left, left + wide)
        ),
        board.at(top + high // 2, left + wide // 2),
        5 * (board.cells - len(position.open)) >= board.cells,
    )


def _learned(position: Position) -> Explanation:
    """Return the shares of the linear model's features, weighted for this role and phase."""
    import numpy as np

    from knightfall.heuristics.evaluator import evaluator
    from knightfall.heuristics.features import FEATURES, NUMBER, describe
    from knightfall.heuristics.learned import LINEAR
    from knightfall.heuristics.model_file import POWERS, read_model
    from knightfall.kernel.rules import geometry, words

    open, mover, waiter = words(position)
    board = geometry(position.board)[0]
    describe(board, board.every.dtype.type(open), mover, waiter)
    counts = board.sheet[:NUMBER]
    role = "hunter" if position.hunter == position.to_move else "runner"
    model = read_model(LINEAR, "linear", FEATURES)[role]
    phase = float(counts[NUMBER - 2] / counts[NUMBER - 1])
    powers = np.array([phase**power for power in range(POWERS)])
    weights = powers @ model["weights"].astype(np.float64)
    shares = [
        Contribution(name, float(count), float(weight))
        for name, count, weight in zip(FEATURES, counts, weights, strict=True)
    ]
    shares.append(Contribution(f"being the {role}, who moves", 1.0, float(powers @ model["bias"])))
    value = evaluator("learned_linear").value(position)
    return Explanation(position, "learned_linear", value, tuple(shares), position.to_move)
