"""Fits as JSON: those on record, which are part of the program, and those of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.heuristics.published import STUDIES
from knightfall.reading import decoded, parse_json
from knightfall.shape import Between, OneOf, Whole, check
from knightfall.studies.conditions.condition import Condition
from knightfall.studies.conditions.fit import Half, StudyFit, TimeTried, Tried

FILE = "fitted.json"


def as_json(fits: Mapping[str, StudyFit]) -> str:
    """What `read_fits` reads."""
    rows = {id: asdict(one) for id, one in fits.items()}
    return json.dumps(_rounded(rows), indent=1, ensure_ascii=False) + "\n"


def _rounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _rounded(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [_rounded(item) for item in data]
    return round(data, 4) if isinstance(data, float) else data


@cache
def recorded_fits() -> dict[str, StudyFit]:
    """The conditions as they were fitted once; ``knightfall reproduce --fit`` fits them anew."""
    there = resources.files("knightfall.studies.conditions").joinpath(FILE)
    return read_fits(decoded(there.read_bytes(), FILE))


def read_fits(text: str) -> dict[str, StudyFit]:
    """The fits that `as_json` wrote; an error says what is wrong."""
    try:
        rows = parse_json(text)
        check({str: _FIT}, rows)
    except KnightfallError as error:
        raise KnightfallError(f"the studies' conditions cannot be read: {error}") from None
    return {
        id: StudyFit(
            row["study"],
            Condition(**row["condition"]),
            row["told"],
            row["choices"],
            tuple(Tried(**one) for one in row["tried"]),
            tuple(TimeTried(**one) for one in row["times"]),
            tuple(Half(**one) for one in row["halves"]),
        )
        for id, row in rows.items()
    }


_TIME, _REAL = Whole(1, 10**9), Between(-1e12, 1e12)
_CONDITION = {
    "lost": OneOf(("forfeits", "legal", "keeps")),
    "ties": OneOf(("first", "last")),
    "leaves": OneOf(("call", "loop")),
    "board": OneOf(("later", "early")),
    "time": _TIME,
}
_HALF = {"variant": str, "time": _TIME, "chi_square": _REAL, "cells": Whole()}
_FIT = {
    "study": OneOf(STUDIES),
    "condition": _CONDITION,
    "told": str,
    "choices": Whole(1),
    "tried": [{**_HALF, "loglikelihood": _REAL, "plausible": bool}],
    "times": [{"time": _TIME, "loglikelihood": _REAL, "chi_square": _REAL}],
    "halves": [_HALF],
}
