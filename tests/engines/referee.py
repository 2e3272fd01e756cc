"""The rules of `pyffish`, the library of Fairy-Stockfish, as a referee of UCI moves."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from knightfall.board import Board
from knightfall.engines.joust import uci_fen, variant_ini, variant_of
from knightfall.position import Position

SIZES = ((7, 7), (8, 8), (10, 6), (3, 10))


@cache
def pyffish() -> Any:
    """Load the library, and the variants that knightfall defines for Fairy-Stockfish."""
    found = import_module("pyffish")
    for width, height in SIZES:
        found.load_variant_config(variant_ini(Board.of(width, height)))
    return found


def legal(position: Position, moves: list[str] | None = None) -> list[str]:
    """Return the legal moves after some moves from a position."""
    found: list[str] = pyffish().legal_moves(
        variant_of(position.board), uci_fen(position), moves or []
    )
    return found


def after(position: Position, moves: list[str]) -> Position:
    """Return the position after some moves, which must be legal."""
    fen = pyffish().get_fen(variant_of(position.board), uci_fen(position), moves)
    return Position.from_fen(fen)
