"""The shipped WebAssembly engine, called from Python through wasmtime as the page calls it."""

from __future__ import annotations

import json
import math
import time
from functools import cache
from typing import Any

import wasmtime

from knightfall.board import Board
from knightfall.heuristics.expression import (
    Expression,
    Id,
    Phased,
    Stages,
    Term,
    parse_heuristic,
)
from knightfall.kernel.rules import NO_LIMIT, words
from knightfall.position import Position
from knightfall.search.transposition_table import size_for
from knightfall.web.engine import ABOUT, ENGINE

PAGE = 1 << 16


Terms = list[dict[str, Any]]
"""A sum of heuristics as the page's `parseHeuristic` hands it to the engine."""


def terms_of(heuristic: str | Expression) -> Terms:
    """Return the terms of a heuristic in the form of the page's `parseHeuristic`."""
    if isinstance(heuristic, str):
        heuristic = parse_heuristic(heuristic)
    return [_term(float(weight), term) for weight, term in heuristic.terms]


def _term(weight: float, term: Term) -> dict[str, Any]:
    factor = {"weight": weight, "open": 0, "filled": 0}
    inner = term
    if isinstance(term, Phased):
        factor |= {"open": term.open, "filled": term.filled}
        inner = term.inner
    if isinstance(inner, Stages):
        leasts = [float(least) for least, _ in inner.stages]
        bounds = zip([*leasts, 0.0], [math.inf, *leasts], strict=True)
        parts = [
            {**one["parts"][0], **_factor(one), "least": least, "below": below}
            for sum, (least, below) in zip(inner.parts, bounds, strict=True)
            for one in terms_of(sum)
        ]
        return {**factor, "parts": parts}
    assert isinstance(inner, Id)
    asked = {"id": inner.name, "parameter": float(inner.parameter or 0)}
    whole = {"weight": 1.0, "open": 0, "filled": 0, "least": 0.0, "below": math.inf}
    return {**factor, "parts": [{**asked, **whole}]}


def _factor(term: dict[str, Any]) -> dict[str, Any]:
    return {name: term[name] for name in ("weight", "open", "filled")}


@cache
def _module() -> tuple[Any, Any]:
    engine = wasmtime.Engine()
    return engine, wasmtime.Module(engine, ENGINE.read_bytes())


class WasmEngine:
    """An instance of the browser's engine, laid out for one board."""

    def __init__(self, board: Board) -> None:
        engine, module = _module()
        self.board = board
        self.store = wasmtime.Store(engine)
        now = wasmtime.Func(
            self.store,
            wasmtime.FuncType([], [wasmtime.ValType.f64()]),
            lambda: 1000.0 * time.perf_counter(),
        )
        self.about = json.loads(ABOUT.read_text(encoding="utf-8"))
        self._exports = wasmtime.Instance(self.store, module, [now]).exports(self.store)
        self.memory = self._exports["memory"]
        base = self._exports["__heap_base"].value(self.store)
        self.base = -(-base // 64) * 64
        wanted = self.base + self.about["memory"]
        self.memory.grow(self.store, -(-wanted // PAGE) - self.memory.size(self.store))
        self.call("begin", board.width, board.height)
        ids = [row["id"] for row in self.about["heuristics"]]
        self.addresses = {id: self.bare("heuristic_address", at) for at, id in enumerate(ids)}
        self.symmetric = {
            row["id"]: row.get("symmetric", False) for row in self.about["heuristics"]
        }
        self.call("set_clock", self.bare("clock_address"))

    def bare(self, name: str, *args: Any) -> Any:
        """Call an export that does not take the memory's base address."""
        return self._exports[name](self.store, *args)

    def call(self, name: str, *args: Any) -> Any:
        """Call an export with the base address, unsigned 64-bit integers and floats."""
        given = [_signed(arg) if isinstance(arg, int) else arg for arg in args]
        return self._exports[name](self.store, self.base, *given)

    def set(self, name: str, *args: Any) -> int:
        """Call an export that returns a set of cells; return the set as an unsigned integer."""
        return int(self.call(name, *args)) & (1 << 64) - 1

    # -- as the page uses it ---------------------------------------------------------------

    def heuristic(self, heuristic: str | Expression) -> int:
        """Return the address of a heuristic; a sum is written into the memory first."""
        if heuristic in self.addresses and heuristic != "static_reach":
            return int(self.addresses[str(heuristic)])
        self.call("clear_sum")
        for term in terms_of(heuristic):
            assert self.call("add_term", *_factor(term).values()) >= 0
            for part in term["parts"]:
                options = part["parameter"], *_factor(part).values(), part["least"], part["below"]
                assert self.call("add_part", self.addresses[part["id"]], *options) >= 0
        return int(self.addresses["sum"])

    def search(
        self, position: Position, method: str, address: int, *, symmetric: bool,
        depth: int = 64, nodes: int | None = None, seed: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the result of a search with the native engine's size of transposition table."""
        entries = size_for((nodes or 1_000_000) if method == "deepening" else 0)
        self.call("ask_search", address, int(symmetric), depth, seed, entries)
        number = self.about["methods"].index(method)
        self.call("search", number, NO_LIMIT if nodes is None else nodes, 0, *words(position))
        move, score, depth_reached, spent, length = (self.call("answer", at) for at in range(5))
        name = self.board.name
        return {
            "move": name(int(move)),
            "score": math.copysign(math.inf, score) if abs(score) >= 2**51 else score,
            "depth": int(depth_reached),
            "nodes": int(spent),
            "pv": tuple(name(int(self.call("line", ply))) for ply in range(int(length))),
        }


def _signed(word: int) -> int:
    return word - (1 << 64) if word >= 1 << 63 else word
