"""Fit a study's conditions: the variant and the time per move that its numbers prefer.

The variant comes from the author's program where that is public, else from the likelihood of
everything published; a few games of each variant suffice. Then the time per move is fitted with
more games. Every variant that was tried stays in the result. As a test of its predictions, the fit
is repeated on every other heuristic and compared with the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import resources
from math import sqrt
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions
from knightfall.studies.playing_conditions import (
    TIMES,
    Cell,
    Condition,
    Prediction,
    condition_source,
    known_condition,
    plausible,
    play_trials,
    variants,
)
from knightfall.studies.published import CONDITION_PARTS, Study
from knightfall.studies.student_options import CHOICES
from knightfall.untrusted_input import Between, OneOf, Whole, check, decoded, parse_json

GAMES, LEAST_PAIRS = 2800, 30
"""Approximate number of games to try one condition, and the least number of pairs in a cell."""

OTHER_SEED = 1
"""Added to the seed, so that a condition is tested by other games than those that chose it."""

MORE = 5
"""Factor for the number of pairs when the time of the chosen variant is fitted."""


@dataclass(frozen=True)
class TriedVariant:
    """A variant of a condition at its best time, and how likely it makes the published numbers."""

    variant: str
    time: int
    loglikelihood: float
    chi_square: float
    cells: int
    plausible: bool
    """Whether it could be chosen; False if the author's program excludes it."""


@dataclass(frozen=True)
class TriedTime:
    """A time per move tried with the chosen variant, and the likelihood under it."""

    time: int
    loglikelihood: float
    chi_square: float


@dataclass(frozen=True)
class HalfFit:
    """A cross-validation: a fit to half of the heuristics, and its chi-square on the other half."""

    variant: str
    time: int
    chi_square: float
    cells: int


@dataclass(frozen=True)
class StudyFit:
    """The condition chosen for a study, and all variants and times that were tried.

    `choices` is the number of variants and times that it was chosen among.
    """

    study: str
    condition: Condition
    told: str
    choices: int
    tried: tuple[TriedVariant, ...]
    times: tuple[TriedTime, ...]
    halves: tuple[HalfFit, ...]


def pairs_for(study: Study) -> int:
    """Return how many pairs each heuristic plays against each opponent in a trial."""
    return max(LEAST_PAIRS, GAMES // (2 * len(study.opponents) * len(study.heuristics)))


def fit(
    chosen: Sequence[Study],
    *,
    seed: int = 0,
    options: RunnerOptions = DEFAULT,
    times: Sequence[int] = TIMES,
    pairs: Callable[[Study], int] = pairs_for,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, StudyFit]:
    """Return the fitted condition of each study, by its id.

    `progress` is called with the number of finished trials.
    """
    by_id, seed = {study.id: study for study in chosen}, seed + OTHER_SEED
    wanted = every_variant(chosen, times)
    found = play_trials(wanted, lambda id: pairs(by_id[id]), seed, options, progress)
    fits = {study.id: choose_condition(study, _of_study(study.id, found)) for study in chosen}
    tried: dict[tuple[str, Condition], Prediction] = {}

    def count_on(done: int) -> None:
        progress(len(wanted) + len(tried) + done)

    for between in (False, True):
        again = [
            (id, replace(one.condition, time=time))
            for id, one in fits.items()
            for time in (_times_between(times, one.condition.time) if between else times)
        ]
        tried |= play_trials(again, lambda id: MORE * pairs(by_id[id]), seed, options, count_on)
        fits = {id: choose_time(by_id[id], one, _of_study(id, tried)) for id, one in fits.items()}
    progress(number_of_trials(chosen))  # the first and the last time have only one neighbour
    return fits


def _of_study(
    id: str, found: Mapping[tuple[str, Condition], Prediction]
) -> dict[Condition, Prediction]:
    return {condition: one for (study, condition), one in found.items() if study == id}


def _times_between(times: Sequence[int], best: int) -> list[int]:
    """Return the geometric means of the best time and its neighbours in `times`."""
    at = times.index(best)
    near = {*times[max(0, at - 1) : at + 2]} - {best}
    return [round(sqrt(best * other) / 100) * 100 for other in sorted(near)]


def number_of_trials(chosen: Sequence[Study]) -> int:
    """Return how many trials a fit needs."""
    return len(every_variant(chosen)) + (len(TIMES) + 2) * len(chosen)


def every_variant(
    chosen: Sequence[Study], times: Sequence[int] = TIMES
) -> list[tuple[str, Condition]]:
    """Return every (study id, condition) to try: each variant of each study at each time."""
    return [
        (study.id, replace(variant, time=time))
        for study in chosen
        for variant in variants(study)
        for time in times
    ]


def choose_condition(study: Study, found: Mapping[Condition, Prediction]) -> StudyFit:
    """Return the most likely of the conditions in `found`, which maps each to its prediction."""
    known = plausible(study)
    cells = {condition: _evidence(study, one) for condition, one in found.items()}
    best = _best(cells, known)
    tried = []
    for variant in variants(study):
        mine = _best({one: each for one, each in cells.items() if _is(one, variant)}, (variant,))
        tables = found[mine].cells(study)
        tried.append(
            TriedVariant(
                variant.words(),
                mine.time,
                loglikelihood(cells[mine]),
                sum(cell.z**2 for cell in tables),
                len(tables),
                variant in known,
            )
        )
    times = len({condition.time for condition in found})
    return StudyFit(
        study.id,
        best,
        condition_source(study),
        times * len(known),
        tuple(sorted(tried, key=lambda one: -one.loglikelihood)),
        (),
        tuple(_half(study, found, known, part) for part in (0, 1)),
    )


def choose_time(study: Study, fit: StudyFit, found: Mapping[Condition, Prediction]) -> StudyFit:
    """Return the fit with its time per move replaced by the most likely one that was tried."""
    tried = {
        condition: TriedTime(
            condition.time,
            loglikelihood(_evidence(study, one)),
            sum(cell.z**2 for cell in one.cells(study)),
        )
        for condition, one in found.items()
    }
    best = max(tried, key=lambda condition: tried[condition].loglikelihood)
    in_order = sorted(tried.values(), key=lambda one: one.time)
    # The times in between are tried later, for the chosen variant only.
    choices = fit.choices + (len(in_order) - len(fit.times) if fit.times else 0)
    return replace(fit, condition=best, times=tuple(in_order), choices=choices)


def _evidence(study: Study, prediction: Prediction) -> list[Cell]:
    """Return all published numbers without repetition: cells, and totals printed without cells."""
    return [*prediction.cells(study), *prediction.tournaments(study)]


def loglikelihood(cells: Sequence[Cell]) -> float:
    """Return the log-likelihood of all cells together."""
    return sum(cell.loglikelihood for cell in cells)


def _is(condition: Condition, variant: Condition) -> bool:
    return replace(condition, time=variant.time) == variant


def _best(cells: Mapping[Condition, Sequence[Cell]], known: Sequence[Condition]) -> Condition:
    among = [one for one in cells if any(_is(one, variant) for variant in known)]
    return max(among, key=lambda one: loglikelihood(cells[one]))


def _half(
    study: Study,
    found: Mapping[Condition, Prediction],
    known: Sequence[Condition],
    part: int,
) -> HalfFit:
    """Fit the condition to half of the heuristics, and test it on the other half.

    The fit uses every other heuristic, beginning with number `part` (0 or 1).
    """
    shown = [id for id in study.heuristics if id in study.wins]
    mine = set(shown[part::2])
    cells = {
        condition: [cell for cell in _evidence(study, one) if cell.heuristic in mine]
        for condition, one in found.items()
    }
    best = _best(cells, known)
    others = [cell for cell in found[best].cells(study) if cell.heuristic not in mine]
    variant = next(one for one in variants(study) if _is(best, one))
    return HalfFit(variant.words(), best.time, sum(cell.z**2 for cell in others), len(others))


# -- fits as JSON --------------------------------------------------------------------------


FILE = "fitted.json"


def as_json(fits: Mapping[str, StudyFit]) -> str:
    """Return the fits as JSON text that `read_fits` reads."""
    rows = {id: asdict(one) for id, one in fits.items()}
    return json.dumps(rounded_json(rows, 4), indent=1, ensure_ascii=False) + "\n"


def rounded_json(data: Any, digits: int) -> Any:
    """Return JSON data with every float rounded to `digits` digits."""
    if isinstance(data, float):
        return round(data, digits)
    if isinstance(data, dict):
        return {key: rounded_json(item, digits) for key, item in data.items()}
    return [rounded_json(item, digits) for item in data] if isinstance(data, list | tuple) else data


@cache
def recorded_fits() -> dict[str, StudyFit]:
    """Return the recorded fits; ``knightfall reproduce --fit`` makes new ones."""
    there = resources.files("knightfall.studies") / "data" / FILE
    return read_fits(decoded(there.read_bytes(), FILE))


def fit_of(study: Study) -> StudyFit:
    """Return the recorded fit of a study, or its documented condition if it was never fitted."""
    recorded = recorded_fits()
    if study.id in recorded:
        return recorded[study.id]
    condition = known_condition(study) or Condition()
    return StudyFit(
        study.id, condition, f"{condition_source(study)}; not fitted yet", 1, (), (), ()
    )


def read_fits(text: str) -> dict[str, StudyFit]:
    """Parse fits that `as_json` wrote. Raise a KnightfallError if they are invalid."""
    try:
        rows = parse_json(text)
        check({str: _FIT}, rows)
    except KnightfallError as error:
        raise KnightfallError(f"the studies' conditions cannot be read: {error}") from None
    return {id: from_json(StudyFit, row) for id, row in rows.items()}


def from_json(kind: Any, data: Any) -> Any:
    """Return a dataclass `kind`, with all that is nested in it, from the values of `asdict`."""
    if data is None:
        return None
    origin = get_origin(kind)
    if origin in (UnionType, Union):
        return from_json(next(one for one in get_args(kind) if one is not type(None)), data)
    if origin is tuple:
        return tuple(from_json(get_args(kind)[0], item) for item in data)
    if origin is dict:
        return {key: from_json(get_args(kind)[1], item) for key, item in data.items()}
    if is_dataclass(kind):
        hints, made = get_type_hints(kind), cast(Any, kind)
        parts = {one.name: from_json(hints[one.name], data[one.name]) for one in fields(kind)}
        return made(**parts)
    return float(data) if kind is float else data


_TIME, _REAL = Whole(1, 10**9), Between(-1e12, 1e12)
_CONDITION: dict[str, Any] = {part: OneOf(CHOICES[part]) for part in CONDITION_PARTS}
_CONDITION["time"] = _TIME
_HALF = {"variant": str, "time": _TIME, "chi_square": _REAL, "cells": Whole()}
_FIT = {
    "study": str,
    "condition": _CONDITION,
    "told": str,
    "choices": Whole(1),
    "tried": [{**_HALF, "loglikelihood": _REAL, "plausible": bool}],
    "times": [{"time": _TIME, "loglikelihood": _REAL, "chi_square": _REAL}],
    "halves": [_HALF],
}
