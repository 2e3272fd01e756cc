"""Lines from somebody who may send anything: none is longer than it may be."""

from __future__ import annotations

MOST_BYTES = 1 << 20
"""Of a line: a report takes a few hundred, the names of an agent's files a few thousand."""

AT_ONCE = 1 << 16
"""Bytes that are read at a time."""


class TooLong(Exception):
    """A line that has no end, or none in sight."""


class Lines:
    """Whole lines out of pieces; what has no end yet is kept, if it is not too long."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._rest = bytearray()

    def fed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes, without their ends."""
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = bytes(self._rest) + whole[0]
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._most or any(len(line) > self._most for line in whole):
            raise TooLong(f"a line of more than {self._most:,} bytes")
        return whole
