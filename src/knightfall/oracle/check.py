"""Check a heuristic: which properties it has, what it costs, and how well it predicts the winner.

This is the first command to run on a new heuristic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from knightfall.board import Board
from knightfall.display.numbers import duration, for_json
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.heuristics.registry import ready_for_python
from knightfall.heuristics.user_heuristic import plain_board, same, to_float
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.compile import quiet
from knightfall.kernel.rules import geometry
from knightfall.oracle.batch_evaluation import (
    Batch,
    EvaluationFailed,
    SecondProcess,
    Values,
    Viewpoint,
    both_viewpoints,
    evaluate,
    mirrored,
    sample,
)
from knightfall.position import Position
from knightfall.solver.solve import Solver
from knightfall.statistics.rates import Auc, Scored, Z, auc
from knightfall.untrusted_input import Between, Whole
from knightfall.untrusted_input import check as check_shape

BASELINE = "improved"
"""The heuristic that every other one is compared with."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `wrong` if the heuristic failed it, at the position `example`."""

    about: str
    text: str
    wrong: bool = False
    example: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds per evaluation of a heuristic and of the baseline, timed alternately."""

    nanoseconds: float
    baseline: float

    @property
    def ratio(self) -> float:
        """The cost as a multiple of the baseline's."""
        return self.nanoseconds / self.baseline


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a heuristic's values separate positions that the mover wins from those it loses."""

    positions: int
    auc: Auc
    baseline: Auc


@dataclass(frozen=True, repr=False)
class Check(Displayable):
    """The results (`findings`) of all checks of one `heuristic` in `positions` on a `board`.

    `cost` and `truth` are None if the heuristic raised an error or did not return; `truth` is also
    None if the same side wins all positions.
    """

    heuristic: str
    board: Board
    positions: int
    findings: tuple[CheckResult, ...]
    cost: Cost | None = None
    truth: Agreement | None = None

    @property
    def wrong(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.wrong)

    def parts(self) -> Iterator[Part]:
        """Yield the title, the table of results, and the list of failed checks."""
        board = f"{self.board.width}×{self.board.height}"
        yield Heading(f"{self.heuristic} on {board}, {self.positions} positions from random games")
        yield ""
        table = Table(("promise", "what was found"), labels=2)
        for finding in self.findings:
            table.add(finding.about, f"{'WRONG: ' if finding.wrong else ''}{finding.text}")
        yield table
        yield ""
        if self.wrong:
            yield f"wrong: {', '.join(finding.about for finding in self.wrong)}"
        else:
            yield "no promise is broken"

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        values: dict[str, Any] = {
            "heuristic": self.heuristic,
            "board": self.board.text,
            "positions": self.positions,
            "ok": not self.wrong,
            "findings": {
                f.about: {"ok": not f.wrong, "text": f.text, "example": f.example}
                for f in self.findings
            },
            "cost": None,
            "truth": None,
        }
        if self.cost is not None:
            values["cost"] = {
                "nanoseconds": self.cost.nanoseconds,
                BASELINE: self.cost.baseline,
                "ratio": self.cost.ratio,
            }
        if self.truth is not None:
            mine, usual = self.truth.auc, self.truth.baseline
            values["truth"] = {
                "positions": self.truth.positions,
                "auc": mine.value,
                "error": mine.error,
                BASELINE: {"auc": usual.value, "error": usual.error},
                "null": {"auc": 0.5, "error": 0.0},
            }
        return values


# -- finding it out ----------------------------------------------------------------------------


POSITIONS, FEWEST = 600, 60
"""Number of positions to evaluate, and the minimum if an evaluation is slow."""

SECONDS = 2.0
"""Target for the total time of all evaluations, in seconds."""

SOLVABLE = 42
"""Largest number of open cells that the solver decides in milliseconds, on any board."""

EXAMINING = 600.0
"""Time limit of a check in another process, in seconds."""

ROUNDS, TIMING = 3, 0.3
"""Minimum number of timings, and their minimum total in seconds; the fastest one counts."""


def check(heuristic: str | Callable[..., float], *, board: str | Board = "7x7") -> Check:
    """Check a heuristic on positions from random games: its promises, its cost, its truth.

    Args:
        heuristic: An id such as "mine.py:score", or a function.
        board: Width and height of the board, in cells.

    Example:
        >>> found = kf.check("improved", board="5x5")
        >>> found.wrong, found.truth.auc.value > 0.5
        ((), True)
    """
    board = Board.named(board) if isinstance(board, str) else board
    ready = evaluator(heuristic)
    if not ready.compiled and ready.available_elsewhere and not is_expendable():
        return _checked_elsewhere(ready, board)
    positions = sample(board, POSITIONS)
    try:
        positions = positions[: _affordable(ready, positions)]
        return _examine(ready, positions)
    except EvaluationFailed as failure:
        asked = failure.viewpoint
        example = {"fen": asked.position.fen, "for": asked.side, "error": str(failure)}
        about = "returns" if failure.endless else "raises"
        found = CheckResult(about, f"{failure} (at {asked})", True, example)
        return Check(ready.name, board, len(positions), (found, _compiled(ready, [], np.zeros(0))))


def _checked_elsewhere(ready: Evaluator, board: Board) -> Check:
    """Check a heuristic in another process, because its Python code could harm this one."""
    name, size = ready.id, board.text
    try:
        reply = run_isolated(_checked, name, size, seconds=EXAMINING)
    except ChildExited as exited:
        raise KnightfallError(f"heuristic {name} {exited}") from None
    if isinstance(reply, dict) and isinstance(reply.get("error"), str):
        raise KnightfallError(reply["error"])
    try:
        check_shape(_REPLY, reply)
    except KnightfallError as wrong:
        raise KnightfallError(f"heuristic {name}: malformed check result: {wrong}") from None
    cost, truth = reply["cost"], reply["truth"]
    return Check(
        name,
        board,
        reply["positions"],
        tuple(CheckResult(**one) for one in reply["findings"]),
        cost and Cost(**cost),
        truth and Agreement(truth["positions"], Auc(**truth["auc"]), Auc(**truth["baseline"])),
    )


_AUC = {"value": float, "error": (None, float)}
_REPLY = {
    "positions": Whole(0, POSITIONS),
    "findings": [{"about": str, "text": str, "wrong": bool, "example": (None, {str: object})}],
    "cost": (None, {"nanoseconds": Between(0, 1e18), "baseline": Between(0, 1e18)}),
    "truth": (None, {"positions": Whole(), "auc": _AUC, "baseline": _AUC}),
}
"""Expected shape of the reply from the other process, which user code may have forged."""


def _checked(heuristic: str, board: str) -> dict[str, Any]:
    """Check a heuristic in an expendable process, and return the result as JSON values."""
    try:
        found = check(heuristic, board=board)
    except KnightfallError as error:
        return {"error": str(error)}
    except KeyboardInterrupt:
        return {"error": f"heuristic {heuristic} raises KeyboardInterrupt"}
    return {
        "positions": found.positions,
        "findings": [asdict(one) for one in found.findings],
        "cost": found.cost and asdict(found.cost),
        "truth": found.truth and asdict(found.truth),
    }


def _affordable(ready: Evaluator, positions: Sequence[Position]) -> int:
    """Return how many positions can be evaluated within `SECONDS`, at least `FEWEST`."""
    batch = Batch(both_viewpoints(positions[:20]))
    batch.evaluate(ready)
    start = time.perf_counter()
    batch.run(ready)
    each = (time.perf_counter() - start) / len(positions[:20])
    times = 2 + len(positions[0].board.symmetries) + ROUNDS
    return max(FEWEST, int(SECONDS / (each * times)))


def _examine(ready: Evaluator, positions: Sequence[Position]) -> Check:
    board, viewpoints = positions[0].board, both_viewpoints(positions)
    elsewhere = SecondProcess(ready, board, len(positions))
    try:
        values = evaluate(ready, viewpoints)
        again = evaluate(ready, viewpoints[::-1])[::-1]
        findings = [
            CheckResult("raises", "nothing"),
            _finite(viewpoints, values),
            _symmetric(ready, positions, values),
            _zero_sum(viewpoints, values),
            _compiled(ready, viewpoints if all(map(same, values, again)) else [], values),
        ]
        cost, truth = _cost(ready, viewpoints), _agreement(board, viewpoints, values)
        others = {"asked again in another order": again, "in another process": elsewhere.values()}
    finally:
        elsewhere.end()
    findings.insert(0, _deterministic(viewpoints, values, others))
    findings += [_cost_result(cost), _truth_result(truth)]
    return Check(ready.name, board, len(positions), tuple(findings), cost, truth)


# -- promises --------------------------------------------------------------------------------


def _deterministic(
    viewpoints: Sequence[Viewpoint], values: Values, others: dict[str, Values | None]
) -> CheckResult:
    for how, again in others.items():
        pairs = [] if again is None else list(zip(viewpoints, values, again, strict=True))
        differing = [pair for pair in pairs if not same(pair[1], pair[2])]
        if differing:
            viewpoint, one, two = differing[0]
            return CheckResult(
                "deterministic",
                f"no: {_number(one)} and, {how}, {_number(two)} at {viewpoint}; "
                f"{len(differing)} of {len(values)} values differ",
                True,
                _example(viewpoint, one, again=two),
            )
    known = [how for how, again in others.items() if again is not None]
    return CheckResult("deterministic", f"yes: the same when {' and '.join(known)}")


def _finite(viewpoints: Sequence[Viewpoint], values: Values) -> CheckResult:
    for kind, wrong, means in (
        (np.isnan, True, "counts as the worst value"),
        (np.isinf, False, "ranks below every proven result"),
    ):
        found = np.flatnonzero(kind(values))
        if len(found):
            viewpoint, value = viewpoints[found[0]], values[found[0]]
            return CheckResult(
                "finite",
                f"no: {_number(value)}, which {means}, at {viewpoint}; "
                f"{len(found)} of {len(values)} values",
                wrong,
                _example(viewpoint, value),
            )
    return CheckResult("finite", "yes")


def _symmetric(ready: Evaluator, positions: Sequence[Position], values: Values) -> CheckResult:
    viewpoints, symmetries = both_viewpoints(positions), positions[0].board.symmetries[1:]
    for symmetry in symmetries:
        images = both_viewpoints(mirrored(position, symmetry) for position in positions)
        seen = evaluate(ready, images)
        for viewpoint, value, there, other in zip(viewpoints, values, images, seen, strict=True):
            if not same(value, other):
                return CheckResult(
                    "symmetric",
                    f"no{', though it is declared to be' if ready.symmetric else ''}: "
                    f"{_number(value)} at {viewpoint}, {_number(other)} at its image "
                    f"{there}",
                    ready.symmetric,
                    _example(viewpoint, value, image=there.position.fen, image_value=other),
                )
    hint = "" if ready.symmetric else "; say so with @heuristic(symmetric=True)"
    return CheckResult("symmetric", f"yes: {len(symmetries)} images of each position{hint}")


def _zero_sum(viewpoints: Sequence[Viewpoint], values: Values) -> CheckResult:
    for viewpoint, mine, theirs in zip(viewpoints[::2], values[::2], values[1::2], strict=True):
        if not same(mine, -theirs):
            return CheckResult(
                "zero-sum",
                f"no, and it need not be: {_number(mine)} at {viewpoint}, {_number(theirs)} "
                "for the other side",
                example=_example(viewpoint, mine, other=theirs),
            )
    return CheckResult("zero-sum", "yes: the values of the two sides add up to 0")


def _compiled(ready: Evaluator, viewpoints: Sequence[Viewpoint], values: Values) -> CheckResult:
    """Check whether the heuristic is compiled and, if so, gives the same values as in Python."""
    if not ready.compiled:
        reason = next(term.why_plain for term in ready.terms if term.why_plain)
        return CheckResult("compiled", f"no, it runs as plain Python: {reason}")
    first = ready.terms[0]
    if viewpoints and first.users and ready.id in (f"{first.atom}", f"./{first.atom}"):
        with quiet():
            ready_for_python()
        board = plain_board(geometry(viewpoints[0].position.board))
        for viewpoint, value in zip(viewpoints[:FEWEST], values, strict=False):
            try:
                python = to_float(first.python(board, *viewpoint.words))
            except Exception:  # some functions work only when compiled
                break
            if not same(value, python):
                return CheckResult(
                    "compiled",
                    f"differs from Python, where integers never overflow: "
                    f"{_number(value)} instead of {_number(python)} at {viewpoint}",
                    True,
                    _example(viewpoint, value, python=python),
                )
    return CheckResult("compiled", "yes")


# -- cost and truth --------------------------------------------------------------------------


def _cost(ready: Evaluator, viewpoints: Sequence[Viewpoint]) -> Cost:
    both, batch = (ready, evaluator(BASELINE)), Batch(viewpoints)
    times: tuple[list[int], list[int]] = [], []
    begun = time.perf_counter()
    while len(times[0]) < ROUNDS or time.perf_counter() - begun < TIMING:
        # In turn and briefly, so that other load on the machine slows both alike.
        for taken, one in zip(times, both, strict=True):
            start = time.perf_counter_ns()
            batch.run(one)
            taken.append(time.perf_counter_ns() - start)
    return Cost(*(min(taken) / len(viewpoints) for taken in times))


def _cost_result(cost: Cost) -> CheckResult:
    return CheckResult(
        "cost",
        f"{cost.ratio:.2g} times {BASELINE}: {duration(cost.nanoseconds / 1e9)} an evaluation, "
        f"{duration(cost.baseline / 1e9)} for {BASELINE}",
    )


def _agreement(board: Board, viewpoints: Sequence[Viewpoint], values: Values) -> Agreement | None:
    judge, usual = Solver.of(board), evaluate(evaluator(BASELINE), viewpoints)
    found: tuple[list[Scored], list[Scored]] = [], []
    for at in range(0, len(viewpoints), 2):
        position = viewpoints[at].position
        if len(position.open) <= SOLVABLE:
            won = judge.wins(position)
            for scored, all_values in zip(found, (values, usual), strict=True):
                worst = np.isnan(all_values[at])
                scored.append(Scored(-np.inf if worst else float(all_values[at]), won, at))
    mine, baseline = auc(found[0]), auc(found[1])
    if mine is None or baseline is None:
        return None
    return Agreement(len(found[0]), mine, baseline)


def _truth_result(truth: Agreement | None) -> CheckResult:
    if truth is None:
        return CheckResult("truth", "unknown: the same side wins in all of the positions")
    low, high = truth.auc.interval
    finding = "no better than null, within the error"
    if low > 0.5:
        finding = "tells won positions from lost ones better than null"
    elif high < 0.5:
        finding = "prefers lost positions (wrong sign?)"
    shown = [f"{a.value:.3f} ± {Z * (a.error or 0):.3f}" for a in (truth.auc, truth.baseline)]
    return CheckResult("truth", f"{finding}: AUC {shown[0]}, {BASELINE} {shown[1]}, null 0.5")


# -- in words --------------------------------------------------------------------------------


def _example(viewpoint: Viewpoint, value: float, **more: float | str) -> dict[str, Any]:
    values = {"fen": viewpoint.position.fen, "for": viewpoint.side, "value": value, **more}
    return {
        key: what if isinstance(what, str) else for_json(float(what))
        for key, what in values.items()
    }


def _number(value: float) -> str:
    return f"{value:.9g}".replace("-", "−")
