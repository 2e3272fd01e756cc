"""Untrusted files: reading them never hangs or exhausts memory, and raises one error type."""

from __future__ import annotations

import json
import math
import os
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import strategies  # noqa: F401 (lifts the time limit for examples)
from hypothesis import given
from hypothesis import strategies as st

from knightfall.arena.import_run import import_run
from knightfall.arena.store import Store
from knightfall.cli.interactive_game import load
from knightfall.errors import KnightfallError
from knightfall.notation import read_game_file
from knightfall.openings import read_book
from knightfall.solver.atlas import read_atlas
from knightfall.solver.verify import Refused, verify
from knightfall.untrusted_input import (
    MOST_BYTES,
    Between,
    Items,
    OneOf,
    Real,
    Text,
    Whole,
    check,
    check_format,
    parse_json,
    parse_toml,
    read_bytes,
    read_text,
)


def _import(path: Path) -> None:
    with Store.open(":memory:") as store:
        import_run(store, path)


READERS = {
    "read_bytes": read_bytes,
    "book": lambda path: read_book(str(path)),
    "game": read_game_file,
    "run": _import,
    "atlas": read_atlas,
    "certificate": verify,
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # no process ever writes to it
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), Path("/dev/full")):
        with pytest.raises((KnightfallError, Refused), match="not a file"):
            READERS[name](path)
    with pytest.raises((KnightfallError, OSError), match="No such file"):
        READERS[name](tmp_path / "nothing")


@pytest.mark.parametrize("name", READERS)
def test_huge_files_are_not_read_to_their_end(name: str, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(2**40)  # a sparse file of a terabyte
    with pytest.raises((KnightfallError, Refused), match="bytes"):
        READERS[name](huge)


def test_a_resumed_game_is_read_with_the_same_care(tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(KnightfallError, match="bytes"):
        load(str(huge))


def test_the_bound_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10)
    assert read_bytes(path, 10) == b"x" * 10
    with pytest.raises(KnightfallError, match="more than 9 bytes"):
        read_bytes(path, 9)
    assert MOST_BYTES > 10**7
    path.write_bytes(b"\xff")
    with pytest.raises(KnightfallError, match="not a text file"):
        read_text(path)
    for bad in ("a\0b", "~nobody-of-that-name/x"):
        with pytest.raises(KnightfallError, match="cannot read"):
            read_bytes(bad)


BAD_JSON = {
    "twice": '{"a": 1, "b": {"c": 1, "c": 2}}',
    "no number": "[NaN]",
    "infinite": "[-Infinity]",
    "long number": "9" * 5000,
    "deep": "[" * 100_000,
    "half a character": '{"a": ["\\ud800"]}',
    "half a name": '{"\\udfff": 1}',
    "cut off": '{"a": ',
    "empty": "",
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json_is_told_in_a_line(name: str) -> None:
    with pytest.raises(KnightfallError, match="not JSON") as told:
        parse_json(BAD_JSON[name])
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 200


def test_whole_characters_written_in_halves_are_fine() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "\U0001f600"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_good_json_is_read_as_python_reads_it(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["a = ", "b = 1\nb = 2", "b = 1979-99-99", "c = " + "[" * 50_000])
def test_bad_toml_is_told_in_a_line(text: str) -> None:
    with pytest.raises(KnightfallError, match="not TOML"):
        parse_toml(text)
    with pytest.raises(KnightfallError, match="not TOML"):
        parse_toml("x = 1e5\n" + text, parse_float=Decimal)


SHAPE = {
    "name": str, "kind": OneOf(("a", "b")), "wins": [Whole(0, 9)], "rates?": {str: Between(0, 1)},
    "end": (str, None), "more?": {"deep": [{"x": float}]}, "cells?": Items(Whole(0, 48), 2, 2),
    "size?": Text(5, pattern="[0-9]x[0-9]", example="7x7"), "note?": Text(4, 1), "score?": Real,
    "open?": {"a": int, ...: bool},
}  # fmt: skip
GOOD = {
    "name": "n", "kind": "a", "wins": [0, 9], "rates": {"x": 0.5, "y": 1}, "end": None,
    "more": {"deep": [{"x": 2}]}, "cells": [0, 48], "size": "5x5", "note": "four",
    "score": float("-inf"), "open": {"a": 1, "b": True},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": 1}, '"name" must be a text, not 1'),
        ({"kind": "c"}, '"kind" must be one of a, b, not'),
        ({"wins": [0, 10]}, r'"wins\[1\]" must be a whole number from 0 to 9, not 10'),
        ({"wins": [True]}, "not True"),
        ({"wins": {}}, '"wins" must be a list, not an object'),
        ({"rates": {"x": float("nan")}}, r'"rates.x" must be a number from 0 to 1'),
        ({"rates": {"x": True}}, "rates.x"),
        ({"end": 5}, "a text or null"),
        ({"more": {}}, '"deep" is missing in more'),
        ({"more": {"deep": [{"x": "y"}]}}, r'"more.deep\[0\].x" must be a number'),
        ({"x": 1}, "unknown name 'x'; known: name, kind, wins, rates, end, more, cells"),
        ({"name": 10**5000}, "a number too long to show"),
        ({"cells": [1]}, '"cells" must be a list of 2 items, not 1'),
        ({"cells": [1, 2, 3]}, '"cells" must be a list of 2 items, not 3'),
        ({"cells": [1, 49]}, r'"cells\[1\]" must be a whole number from 0 to 48, not 49'),
        ({"cells": "ab"}, "\"cells\" must be a list of 2 items, not 'ab'"),
        ({"size": "7x7\n"}, '"size" must be a text as in 7x7, not'),
        ({"size": 7}, '"size" must be a text as in 7x7, not 7'),
        ({"note": ""}, '"note" must be a text of 1 to 4 characters, not'),
        ({"note": "fives"}, '"note" must be a text of 1 to 4 characters, not'),
        ({"score": "1"}, '"score" must be a number, not'),
        ({"score": 2**70}, '"score" must be a number, not'),
        ({"open": {"a": 1, "b": 2}}, '"open.b" must be true or false, not 2'),
        ({"open": {"b": True}}, '"a" is missing in open'),
    ],
)
def test_a_wrong_shape_is_named(change: dict[str, Any], told: str) -> None:
    check(SHAPE, GOOD)
    with pytest.raises(KnightfallError, match=told):
        check(SHAPE, GOOD | change)


def test_a_format_is_named() -> None:
    assert check_format({"format": "f 1", "x": 2}, "f 1") == {"format": "f 1", "x": 2}
    for wrong, told in (
        ({"format": "f 0"}, "the format is 'f 0', not 'f 1': make it anew"),
        ({}, "the format is None, not 'f 1': make it anew"),
        ([], "it must be an object, not a list"),
    ):
        with pytest.raises(KnightfallError, match=re.escape(told)):
            check_format(wrong, "f 1", ": make it anew")


def test_json_of_python_may_hold_what_that_writes() -> None:
    written = json.dumps([math.inf, -math.inf, "\ud800"])
    assert parse_json(written, from_python=True) == [math.inf, -math.inf, "\ud800"]
    assert math.isnan(parse_json("NaN", from_python=True))
    with pytest.raises(KnightfallError, match="'a' is in the object twice"):
        parse_json('{"a": 1, "a": 1}', from_python=True)


@given(VALUES)
def test_no_value_breaks_the_checker(value: Any) -> None:
    for shape in (SHAPE, str, [Whole()], {str: float}, (SHAPE, None), OneOf(("a",)), Between(0, 1)):
        with suppress(KnightfallError):
            check(shape, value)


def test_a_number_too_long_for_python_is_named_in_plain_words() -> None:
    with pytest.raises(KnightfallError, match=r"^this is not JSON: a number has too many digits$"):
        parse_json("[" + "9" * 5000 + "]")
