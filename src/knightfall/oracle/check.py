"""Does a heuristic keep its promises, what does it cost, and does it know anything?

The first thing to ask about a heuristic one has written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
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
from knightfall.kernel.geometry import geometry
from knightfall.oracle.measures import Auc, Scored, auc
from knightfall.oracle.questions import (
    Question,
    SecondProcess,
    Sheet,
    Unanswered,
    Values,
    answers,
    image,
    questions_about,
    sample,
)
from knightfall.position import Position
from knightfall.reading import Between, Whole
from knightfall.reading import check as check_shape
from knightfall.solver.solve import Solver
from knightfall.statistics.rates import Z

BASELINE = "improved"
"""What a heuristic is compared with."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer to one question; `wrong` if a promise is broken, `example` shows where."""

    about: str
    text: str
    wrong: bool = False
    example: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds an evaluation takes, and one of the baseline's in the same moments."""

    nanoseconds: float
    baseline: float

    @property
    def ratio(self) -> float:
        """How many times as long."""
        return self.nanoseconds / self.baseline


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well values tell positions that are won for the mover from lost ones."""

    positions: int
    auc: Auc
    baseline: Auc


@dataclass(frozen=True)
class Check(Displayable):
    """What was found out about a heuristic.

    `cost` and `truth` are None if it raised an error or did not return, `truth` also where all
    positions have the same winner.
    """

    heuristic: str
    board: Board
    positions: int
    findings: tuple[CheckResult, ...]
    cost: Cost | None = None
    truth: Agreement | None = None

    @property
    def wrong(self) -> tuple[CheckResult, ...]:
        """The promises that are broken."""
        return tuple(finding for finding in self.findings if finding.wrong)

    def parts(self) -> Iterator[Part]:
        """What was examined, the findings, and what is wrong, if anything is."""
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
            yield "nothing is wrong with it"

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        told: dict[str, Any] = {
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
            told["cost"] = {
                "nanoseconds": self.cost.nanoseconds,
                BASELINE: self.cost.baseline,
                "ratio": self.cost.ratio,
            }
        if self.truth is not None:
            mine, usual = self.truth.auc, self.truth.baseline
            told["truth"] = {
                "positions": self.truth.positions,
                "auc": mine.value,
                "error": mine.error,
                BASELINE: {"auc": usual.value, "error": usual.error},
                "null": {"auc": 0.5, "error": 0.0},
            }
        return told


# -- finding it out ----------------------------------------------------------------------------


POSITIONS, FEWEST = 600, 60
"""Positions to ask about, and how many at least if an evaluation takes long."""

SECONDS = 2.0
"""What the evaluations together should take."""

SOLVABLE = 42
"""Open cells up to which the solver needs some milliseconds, on any board."""

EXAMINING = 600.0
"""Seconds that all this may take in another process."""

ROUNDS, TIMING = 3, 0.3
"""A heuristic is timed so often at least, for so many seconds in all; the shortest time counts."""


def check(heuristic: str, *, board: str | Board = "7x7") -> Check:
    """Examine a heuristic, given by its id."""
    board = Board.named(board) if isinstance(board, str) else board
    ready = evaluator(heuristic)
    if not ready.compiled and ready.available_elsewhere and not is_expendable():
        return _checked_elsewhere(ready, board)
    positions = sample(board, POSITIONS)
    try:
        positions = positions[: _affordable(ready, positions)]
        return _examine(ready, positions)
    except Unanswered as failure:
        asked = failure.question
        example = {"fen": asked.position.fen, "for": asked.side, "error": str(failure)}
        about = "returns" if failure.endless else "raises"
        found = CheckResult(about, f"{failure} (at {asked.place})", True, example)
        return Check(ready.id, board, len(positions), (found, _compiled(ready, [], np.zeros(0))))


def _checked_elsewhere(ready: Evaluator, board: Board) -> Check:
    """As plain Python it may do anything to its process: let that be another one."""
    name, size = ready.id, board.text
    try:
        said = run_isolated(_checked, name, size, seconds=EXAMINING)
    except ChildExited as exited:
        raise KnightfallError(f"heuristic {name} {exited}") from None
    if isinstance(said, dict) and isinstance(said.get("error"), str):
        raise KnightfallError(said["error"])
    try:
        check_shape(_SAID, said)
    except KnightfallError as wrong:
        raise KnightfallError(f"heuristic {name} says something strange: {wrong}") from None
    cost, truth = said["cost"], said["truth"]
    if len(cost or (0, 0)) != 2 or len(truth or (0,) * 5) != 5 or None in (truth or [0])[:2]:
        raise KnightfallError(f"heuristic {name} says something strange of itself")
    return Check(
        name,
        board,
        said["positions"],
        tuple(CheckResult(**one) for one in said["findings"]),
        Cost(*cost) if cost else None,
        Agreement(truth[0], Auc(*truth[1:3]), Auc(*truth[3:])) if truth else None,
    )


_SAID = {
    "positions": Whole(0, POSITIONS),
    "findings": [{"about": str, "text": str, "wrong": bool, "example": (None, {str: object})}],
    "cost": (None, [Between(0, 1e18)]),
    "truth": (None, [(None, float)]),
}
"""What is said of a heuristic in another process, where that may say what it likes."""


def _checked(heuristic: str, board: str) -> dict[str, Any]:
    """Examine a heuristic in an expendable process."""
    try:
        found = check(heuristic, board=board)
    except KnightfallError as error:
        return {"error": str(error)}
    except KeyboardInterrupt:
        return {"error": f"heuristic {heuristic} raises KeyboardInterrupt"}
    cost, truth = found.cost, found.truth
    return {
        "positions": found.positions,
        "findings": [asdict(one) for one in found.findings],
        "cost": cost and [cost.nanoseconds, cost.baseline],
        "truth": truth and [truth.positions, *astuple(truth.auc), *astuple(truth.baseline)],
    }


def _affordable(ready: Evaluator, positions: Sequence[Position]) -> int:
    """How many positions a heuristic can be asked about in reasonable time."""
    sheet = Sheet(questions_about(positions[:20]))
    sheet.answers(ready)
    start = time.perf_counter()
    sheet.run(ready)
    each = (time.perf_counter() - start) / len(positions[:20])
    times = 2 + len(positions[0].board.symmetries) + ROUNDS
    return max(FEWEST, int(SECONDS / (each * times)))


def _examine(ready: Evaluator, positions: Sequence[Position]) -> Check:
    board, questions = positions[0].board, questions_about(positions)
    elsewhere = SecondProcess(ready, board, len(positions))
    try:
        values = answers(ready, questions)
        again = answers(ready, questions[::-1])[::-1]
        findings = [
            CheckResult("raises", "nothing"),
            _finite(questions, values),
            _symmetric(ready, positions, values),
            _zero_sum(questions, values),
            _compiled(ready, questions if _equal(values, again) else [], values),
        ]
        cost, truth = _cost(ready, questions), _agreement(board, questions, values)
        others = {"asked again in another order": again, "in another process": elsewhere.answers()}
    finally:
        elsewhere.end()
    findings.insert(0, _deterministic(questions, values, others))
    findings += [_told_cost(cost), _told_agreement(truth)]
    return Check(ready.id, board, len(positions), tuple(findings), cost, truth)


# -- promises --------------------------------------------------------------------------------


def _deterministic(
    questions: Sequence[Question], values: Values, others: dict[str, Values | None]
) -> CheckResult:
    for how, again in others.items():
        pairs = [] if again is None else list(zip(questions, values, again, strict=True))
        differing = [pair for pair in pairs if not same(pair[1], pair[2])]
        if differing:
            question, one, two = differing[0]
            return CheckResult(
                "deterministic",
                f"no: {_number(one)} and, {how}, {_number(two)} at {question.place}; "
                f"{len(differing)} of {len(values)} values differ",
                True,
                _example(question, one, again=two),
            )
    known = [how for how, again in others.items() if again is not None]
    return CheckResult("deterministic", f"yes: the same when {' and '.join(known)}")


def _finite(questions: Sequence[Question], values: Values) -> CheckResult:
    for kind, wrong, means in (
        (np.isnan, True, "counts as the worst of all"),
        (np.isinf, False, "ranks behind all that is proven"),
    ):
        found = np.flatnonzero(kind(values))
        if len(found):
            question, value = questions[found[0]], values[found[0]]
            return CheckResult(
                "finite",
                f"no: {_number(value)}, which {means}, at {question.place}; "
                f"{len(found)} of {len(values)} values",
                wrong,
                _example(question, value),
            )
    return CheckResult("finite", "yes")


def _symmetric(ready: Evaluator, positions: Sequence[Position], values: Values) -> CheckResult:
    questions, images = questions_about(positions), positions[0].board.symmetries[1:]
    for symmetry in images:
        mirrored = questions_about(image(position, symmetry) for position in positions)
        seen = answers(ready, mirrored)
        for question, value, there, other in zip(questions, values, mirrored, seen, strict=True):
            if not same(value, other):
                return CheckResult(
                    "symmetric",
                    f"no{', though it is declared to be' if ready.symmetric else ''}: "
                    f"{_number(value)} at {question.place}, {_number(other)} at its image "
                    f"{there.place}",
                    ready.symmetric,
                    _example(question, value, image=there.position.fen, image_value=other),
                )
    hint = "" if ready.symmetric else "; say so with @heuristic(symmetric=True)"
    return CheckResult("symmetric", f"yes: {len(images)} images of each position{hint}")


def _zero_sum(questions: Sequence[Question], values: Values) -> CheckResult:
    for question, mine, theirs in zip(questions[::2], values[::2], values[1::2], strict=True):
        if not same(mine, -theirs):
            return CheckResult(
                "zero-sum",
                f"no, and it need not be: {_number(mine)} at {question.place}, {_number(theirs)} "
                "for the other",
                example=_example(question, mine, other=theirs),
            )
    return CheckResult("zero-sum", "yes: what one gains, the other loses")


def _compiled(ready: Evaluator, questions: Sequence[Question], values: Values) -> CheckResult:
    """Whether it is compiled, and then says what Python would say."""
    if not ready.compiled:
        reason = next(term.why_plain for term in ready.terms if term.why_plain)
        return CheckResult("compiled", f"no, it runs as plain Python: {reason}")
    first = ready.terms[0]
    if questions and first.users and ready.id in (f"{first.atom}", f"./{first.atom}"):
        with quiet():
            ready_for_python()
        board = plain_board(geometry(questions[0].position.board))
        for question, value in zip(questions[:FEWEST], values, strict=False):
            try:
                python = to_float(first.python(board, *question.words))
            except Exception:  # then it works only if it is compiled
                break
            if not same(value, python):
                return CheckResult(
                    "compiled",
                    f"not as Python means it, where whole numbers are of any size: "
                    f"{_number(value)} instead of {_number(python)} at {question.place}",
                    True,
                    _example(question, value, python=python),
                )
    return CheckResult("compiled", "yes")


# -- cost and truth --------------------------------------------------------------------------


def _cost(ready: Evaluator, questions: Sequence[Question]) -> Cost:
    both, sheet = (ready, evaluator(BASELINE)), Sheet(questions)
    times: tuple[list[int], list[int]] = [], []
    begun = time.perf_counter()
    while len(times[0]) < ROUNDS or time.perf_counter() - begun < TIMING:
        # In turn and only for a moment: the machine may be busy with something else.
        for taken, one in zip(times, both, strict=True):
            start = time.perf_counter_ns()
            sheet.run(one)
            taken.append(time.perf_counter_ns() - start)
    return Cost(*(min(taken) / len(questions) for taken in times))


def _told_cost(cost: Cost) -> CheckResult:
    return CheckResult(
        "cost",
        f"{cost.ratio:.2g} times {BASELINE}: {duration(cost.nanoseconds / 1e9)} an evaluation, "
        f"{duration(cost.baseline / 1e9)} for {BASELINE}",
    )


def _agreement(board: Board, questions: Sequence[Question], values: Values) -> Agreement | None:
    judge, usual = Solver.of(board), answers(evaluator(BASELINE), questions)
    found: tuple[list[Scored], list[Scored]] = [], []
    for at in range(0, len(questions), 2):
        position = questions[at].position
        if len(position.open) <= SOLVABLE:
            won = judge.wins(position)
            for scored, all_values in zip(found, (values, usual), strict=True):
                worst = np.isnan(all_values[at])
                scored.append(Scored(-np.inf if worst else float(all_values[at]), won, at))
    mine, baseline = auc(found[0]), auc(found[1])
    if mine is None or baseline is None:
        return None
    return Agreement(len(found[0]), mine, baseline)


def _told_agreement(truth: Agreement | None) -> CheckResult:
    if truth is None:
        return CheckResult("truth", "unknown: the same side wins in all of the positions")
    low, high = truth.auc.interval
    said = "cannot be told from null"
    if low > 0.5:
        said = "tells won positions from lost ones better than null"
    elif high < 0.5:
        said = "prefers lost positions: has it the wrong sign?"
    shown = [f"{a.value:.3f} ± {Z * (a.error or 0):.3f}" for a in (truth.auc, truth.baseline)]
    return CheckResult("truth", f"{said}: AUC {shown[0]}, {BASELINE} {shown[1]}, null 0.5")


def _equal(values: Values, again: Values) -> bool:
    return all(map(same, values, again))


# -- in words --------------------------------------------------------------------------------


def _example(question: Question, value: float, **more: float | str) -> dict[str, Any]:
    told = {"fen": question.position.fen, "for": question.side, "value": value, **more}
    return {
        key: what if isinstance(what, str) else for_json(float(what)) for key, what in told.items()
    }


def _number(value: float) -> str:
    return f"{value:.9g}".replace("-", "−")
