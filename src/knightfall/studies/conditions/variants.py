"""The ways in which a study's agents may have been written, and what speaks for each.

Three authors' programs are public and say what they did; of the other two only the numbers can
tell.  All variants stay in the report, whatever the numbers prefer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from knightfall.studies.conditions.condition import Condition
from knightfall.studies.published.published import Study

TIMES = (8_000, 10_000, 12_500, 16_000, 20_000, 25_000, 32_000, 40_000)
"""Of a move, in microseconds of the machine whose prices are recorded: steps of a quarter."""

_BEHAVIOURS = (
    Condition(lost="forfeits"),
    Condition(lost="legal"),
    Condition(lost="keeps"),
    Condition(ties="last"),
)

KNOWN: Mapping[str, tuple[Condition, str]] = MappingProxyType(
    {
        "directional": (
            Condition(lost="legal"),
            "its author says that forfeits were prevented, and the program answers the first of "
            "the shuffled legal moves",
        ),
        "reachability": (
            Condition(board="early"),
            "the author's program is of the early course and gives up when every line is lost",
        ),
        "staged": (
            Condition(board="early", ties="last", leaves="loop"),
            "the author's program is of the early course, takes the last of equal moves and "
            "scores leaves in their parent's loop",
        ),
    }
)
"""What an author's text or program tells, without the time, and where it is told."""

UNKNOWN_TEXT = "its text does not tell: chosen by the numbers alone"


def variants(study: Study) -> tuple[Condition, ...]:
    """Every plausible variant of a study, without a time.

    The earlier course had two boards, and leaves scored in the loop are known of one program.
    """
    if study.protocol != "2017a":
        return _BEHAVIOURS
    both = [replace(one, board=board) for board in ("early", "later") for one in _BEHAVIOURS]
    return (*both, Condition(board="early", ties="last", leaves="loop"))


def plausible(study: Study) -> tuple[Condition, ...]:
    """The variants to choose among: the one that is known, or all of them."""
    return (KNOWN[study.id][0],) if study.id in KNOWN else variants(study)


def told(study: Study) -> str:
    """What is known of a study's agents, and from where."""
    return KNOWN[study.id][1] if study.id in KNOWN else UNKNOWN_TEXT
