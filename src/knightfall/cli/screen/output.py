"""Ways to print: JSON for scripts, rich for people, never a colour into a pipe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from knightfall.display.numbers import count, duration, for_json
from knightfall.display.printable import console as console
from knightfall.display.printable import print_line as print_line

if TYPE_CHECKING:
    from knightfall.display.report import Displayable
    from knightfall.search.budget import Report


def print_json(thing: Any) -> None:
    """One line of JSON, at once."""
    print(json.dumps(thing, allow_nan=False), flush=True)


def print_report(report: Displayable, *, json: bool) -> None:
    """A report for a person, or the same as JSON."""
    from knightfall.display.report import print_parts

    if json:
        print_json(report.to_dict())
    else:
        print_parts(report.parts())


# -- what a search has to say ----------------------------------------------------------------


def report_json(report: Report) -> dict[str, Any]:
    """A report as JSON."""
    return {
        "move": report.move,
        "score": for_json(report.score),
        "proven": report.proven,
        "plies": report.plies,
        "depth": report.depth,
        "nodes": report.nodes,
        "seconds": report.seconds,
        "pv": list(report.pv),
        "cut": report.cut,
        "note": report.note,
    }


def verdict(report: Report) -> str:
    """The score in words where it is certain, as a number where it is not."""
    if report.proven:
        end = "win" if report.score > 0 else "loss"
        if report.plies is None:
            return end
        # Beyond the depth searched, a shorter way may exist.
        exact = report.plies <= report.depth
        return f"{end} {'in' if exact else 'within'} {count(report.plies, 'ply', 'plies')}"
    if report.score == 0:
        return "0"
    return f"{report.score:+.4g}".replace("-", "−").replace("inf", "∞")


def effort(report: Report) -> str:
    """Return how deep a search looked and what that cost; an empty string if it did not look.

    A time of 0 was too short for the clock or not measured, and is left out.
    """
    if report.depth == 0:
        return ""
    took = f", {duration(report.seconds)}" if report.seconds else ""
    return f"depth {report.depth}, {count(report.nodes, 'node')}{took}"
