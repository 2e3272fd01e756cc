"""Where the browser's engine keeps what it works on: one stretch of memory, known by its base.

::

    base   BOARD     SEARCH     PROOF      SUM        PROOFS         TABLE
           the       one        one        the terms  the solver's   a search's
           geometry  search's   solver's   of a sum   table, 16 MB   table, 8 MB
           record    state      state
"""

from __future__ import annotations

import numpy as np

from knightfall.kernel.geometry import FIELDS
from knightfall.search.search_state import DTYPE as SEARCH_DTYPE
from knightfall.search.table import ENTRY_DTYPE
from knightfall.solver.proof_table import BUCKET
from knightfall.solver.proof_table import DTYPE as PROOF_DTYPE
from knightfall.solver.proof_table import ENTRY_DTYPE as PROOF_ENTRY

LINE = 64
"""Everything begins at a multiple of this: a line of the processor's cache."""

MOST_PARTS = 64
"""Heuristics that a sum may ask, those inside its stages included."""

_each = (MOST_PARTS,)
SUM_DTYPE = np.dtype(
    [
        ("terms", "i8"),
        ("term_weight", "f8", _each),
        ("term_open", "i8", _each),  # powers of the phase and of 1 − phase
        ("term_filled", "i8", _each),
        ("term_end", "i8", _each),  # its parts end before this one
        ("parts", "i8"),  # one for a term that is a heuristic, else those of all its stages
        ("address", "u8", _each),
        ("parameter", "f8", _each),
        ("weight", "f8", _each),
        ("open", "i8", _each),
        ("filled", "i8", _each),
        ("least", "f8", _each),  # the phases at which the part counts: least ≤ phase < below
        ("below", "f8", _each),
        ("current", "f8"),  # the parameter of the part that is being asked
        ("clock", "u8"),  # the address of the page's clock
    ],
    align=True,
)

PROOFS = 1 << 20
"""Entries of the solver's table, as many as the native engine has by default."""

ENTRIES = 1 << 18
"""Entries that a search's table has room for: what the native engine gives four million nodes."""


def _line(size: int) -> int:
    return -(-size // LINE) * LINE


BOARD_AT = 0
SEARCH_AT = BOARD_AT + _line(FIELDS.itemsize)
PROOF_AT = SEARCH_AT + _line(SEARCH_DTYPE.itemsize)
SUM_AT = PROOF_AT + _line(PROOF_DTYPE.itemsize)
PROOFS_AT = SUM_AT + _line(SUM_DTYPE.itemsize)
TABLE_AT = PROOFS_AT + PROOFS * PROOF_ENTRY.itemsize
READING_AT = BOARD_AT + int(FIELDS.fields["reading"][1])  # type: ignore[index]
ENTRY_SIZE = ENTRY_DTYPE.itemsize
BUCKETS = PROOFS // BUCKET
SIZE = TABLE_AT + ENTRIES * ENTRY_SIZE
"""Bytes of it all."""
