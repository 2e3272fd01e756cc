"""The TOML files of the studies, and the heuristics and names that they add.

Every TOML file in ``publications/`` describes one or several studies. ``published.toml``, which
explains the format, comes first and the others follow by name. No other list of studies exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar

from knightfall.errors import KnightfallError
from knightfall.heuristics.registry import CODED, Declared, HeuristicTable
from knightfall.untrusted_input import check, decoded, parse_toml

T = TypeVar("T")

FIRST = "published.toml"
WISHED = "wishes"
"""The study name of heuristics that an author wished for and knightfall implements."""

HEURISTICS = {
    str: {
        "formula": str,
        "summary": str,
        "symmetric?": bool,
        "costly?": bool,
        "wished?": bool,
    }
}
"""The shape of a study's own heuristics."""


def study_files() -> dict[str, str]:
    """Return the text of each study file by name, in order."""
    folder = resources.files("knightfall.studies") / "publications"
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    files.sort(key=lambda file: (file.name != FIRST, file.name))
    return {file.name: decoded(file.read_bytes(), file.name) for file in files}


def every_study(read: Callable[[str, str], Mapping[str, T]]) -> Mapping[str, T]:
    """Call `read(text, name)` for every study file; return all results in one mapping by study."""
    found: dict[str, T] = {}
    for name, text in study_files().items():
        for id, study in read(text, name).items():
            if id in found:
                raise KnightfallError(f"{name}: another file already describes a study {id!r}")
            found[id] = study
    return MappingProxyType(found)


@cache
def study_tables() -> Mapping[str, dict[str, Any]]:
    """Return the table of each study by its id, in order.

    Only what the core needs is checked; `knightfall.studies.published` checks the rest.
    """
    return every_study(read_tables)


def read_tables(text: str, file: str = FIRST) -> dict[str, dict[str, Any]]:
    """Parse the studies' tables in a TOML file. Raise a KnightfallError if they are invalid."""
    try:
        tables = parse_toml(text, parse_float=Decimal)
        for id, table in tables.items():
            check({str: object}, table, id)
            check(HEURISTICS, table.get("heuristics", {}), f"{id}.heuristics")
            check({str: str}, table.get("names", {}), f"{id}.names")
            if "heuristics" in table and not isinstance(table.get("module"), str):
                raise KnightfallError(
                    f'"module" is missing in {id}: the module in which its heuristics are defined'
                )
    except KnightfallError as error:
        raise KnightfallError(f"{file} cannot be read: {error}") from None
    return tables


def heuristic_table() -> HeuristicTable:
    """Return the heuristics and agent names that the studies add to the registry."""
    tables = study_tables()
    return HeuristicTable(
        rows=tuple(
            _declared(study, table["module"], id, row)
            for study, table in tables.items()
            for id, row in table.get("heuristics", {}).items()
        ),
        names={study: table["names"] for study, table in tables.items() if "names" in table},
    )


def _declared(study: str, module: str, id: str, row: Mapping[str, Any]) -> Declared:
    wished = row.get("wished", False)
    return Declared(
        id,
        WISHED if wished else study,
        row["formula"],
        row["summary"],
        symmetric=row.get("symmetric", True),
        costly=row.get("costly", False),
        module_name=module,
        listed=not wished and not id.startswith(CODED),
    )
