"""Ways to damage a file: by bits, by pieces, by tokens, and by values of its JSON."""

from __future__ import annotations

import copy
import json
import random
import re
from functools import lru_cache
from typing import Any

JUNK_BYTES = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[2J", b"\xe2\x80\xae", b"\r", b"\n", b"\n\n", b" ",
    b"[" * 3000, b"{" * 3000, b"9" * 5000, b'"', b"\\", b"#", b"%", b"\xc2\x85",
)  # fmt: skip
"""Bytes that files should not hold: zero bytes, invalid UTF-8, escapes, deep nesting."""

JUNK_TOKENS = (
    "null", "true", "false", "0", "-1", "1", "2", "1.5", "-0.0", "1e999", "NaN", "Infinity", "nan",
    "9" * 5000, "1" + "0" * 30, '""', '"x"', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', "[]", "{}",
    "[[]]", '{"":0}', "'", "w", "b", "a1", "99", "1979-05-27", "inf",
)  # fmt: skip

JUNK_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 1.5, -0.0, 2**53, 2**63, -(2**63) - 1, 10**30, 1e308, "",
    "x", "w", "b", "\0", "\x1b]0;x\x07", "\ud800", "a\nb", "no moves", "a1", "7/7/7/7/7/7/7 w",
    "x" * 5000, "9" * 5000, [], [[]], [1], ["x"], {}, {"x": 1}, {"rule": "sprt"},
    [None] * 50, [0] * 70,
)  # fmt: skip

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|-?[0-9][\w.+-]*|[^\s\w]')


def damaged(good: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a file with one to three damages."""
    data = good
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        wound = rng.choice(WOUNDS)
        data = wound(data, others, rng)
    return data


def _at(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def flip_bits(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    return data[: _at(data, rng)] if rng.random() < 0.7 else data[_at(data, rng) :]


def cut_out(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    at = _at(data, rng)
    return data[:at] + data[at + rng.randrange(1, 60) :]


def double(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    if rng.random() < 0.1:
        return data + data
    at, size = _at(data, rng), rng.randrange(1, 200)
    return data[: at + size] + data[at:]


def splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    return data[: _at(data, rng)] + other[_at(other, rng) :]


def insert_junk(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    at = _at(data, rng)
    return data[:at] + rng.choice(JUNK_BYTES) + data[at:]


def swap_lines(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    if rng.random() < 0.5:
        lines.insert(one, lines[two])
    return b"\n".join(lines)


def change_token(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Replace one token by another one of the file, or by junk."""
    tokens = _tokens(data[:200_000])
    if not tokens:
        return data
    start, end = rng.choice(tokens)
    other = slice(*rng.choice(tokens))
    new = data[other] if rng.random() < 0.4 else rng.choice(JUNK_TOKENS).encode()
    return data[:start] + new + data[end:]


@lru_cache(maxsize=8)
def _tokens(data: bytes) -> list[tuple[int, int]]:
    """Return where tokens begin and end; cached, because files are damaged repeatedly."""
    return [found.span() for found in _TOKEN.finditer(data)]


def change_value(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Parse a line, or the whole file, as JSON and change one value in it."""
    lines = data.split(b"\n")
    for at in [*rng.sample(range(len(lines)), min(4, len(lines))), None]:
        try:
            value = json.loads(data if at is None else lines[at])
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict | list) or not value:
            continue
        changed = changed_somewhere(value, rng)
        text = json.dumps(changed, allow_nan=True).encode("utf-8", "surrogatepass")
        if at is None:
            return text
        lines[at] = text
        return b"\n".join(lines)
    return change_token(data, others, rng)


def changed_somewhere(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value in which one part, at any depth, is changed, gone or twice."""
    whole = copy.deepcopy(value)
    node = whole
    while True:
        keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = rng.choice(keys)
        below = node[key]
        if isinstance(below, dict | list) and below and rng.random() < 0.8:
            node = below
            continue
        how = rng.random()
        if how < 0.15:
            del node[key]
        elif how < 0.25 and isinstance(node, list):
            node.append(below)
        elif how < 0.35 and isinstance(node, dict):
            node[rng.choice(["", "x", "kind", "moves", "\ud800"])] = below
        elif how < 0.5 and type(below) is int:
            node[key] = below + rng.choice((-1, 1, 256, 2**31))
        else:
            node[key] = copy.deepcopy(rng.choice(JUNK_VALUES))
        return whole


WOUNDS = (
    flip_bits, truncate, cut_out, double, splice, insert_junk, swap_lines, change_token,
    change_token, change_value, change_value,
)  # fmt: skip
