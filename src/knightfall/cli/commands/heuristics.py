"""``knightfall heuristics`` and ``check``: the registry, and one heuristic examined."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.options import BoardSize, Json
from knightfall.cli.terminal import print_json, print_line, print_report
from knightfall.display.report import Heading, Part, print_parts
from knightfall.display.table import Lines, Table, facts

if TYPE_CHECKING:
    from knightfall.heuristics.expression import Atom
    from knightfall.heuristics.registry import Declared


One = Annotated[
    str | None, typer.Argument(metavar="ID", help="Show the details of this heuristic.")
]


def heuristics(id: One = None, json: Json = False) -> None:
    """List the heuristics, or show the details of one.

    In formulas, M is the number of a player's moves, open8 the number of open cells that touch it,
    L1 the Manhattan distance, phase the open share of the board.  "As coded" heuristics follow a
    study's program where it differs from its text: C* is half a cell off the centre C, phase* the
    share of the cells open at the root of the search that are still open.  Names printed in a study
    work as well.

    \b
    Examples:
      knightfall heuristics
      knightfall heuristics static_reach
      knightfall heuristics staged:heuristic1   (as its author called it)
      knightfall heuristics mine.py:cosy        (does it load and compile?)
    """
    if id is None:
        _list(json)
    else:
        _details(id, json)


def _list(json: bool) -> None:
    from knightfall.heuristics import REGISTRY

    if json:
        rows = [{**_row(name), "ids": _ids(name)} for name in REGISTRY]
        print_json({"heuristics": rows})
        return
    named = [(f"{r.id}({r.parameter})" if r.parameter else r.id, r) for r in REGISTRY.values()]
    if not sys.stdout.isatty():
        whole = Table(["id", "study", "formula", "what it likes"], labels=4)
        for name, row in named:
            whole.add(name, row.study, row.formula, row.summary)
        print_parts([whole])
        return
    parts: list[Part] = []
    for group, members in groupby(named, key=lambda one: _group(one[1])):
        table = Table(["", ""], labels=2)
        for name, row in members:
            table.add(f"  {name}", Lines([row.summary, row.formula]))
        parts += [Heading(group), table]
    print_parts(parts)


def _group(row: Declared) -> str:
    return "as coded" if row.coded else row.study


def _details(id: str, json: bool) -> None:
    from knightfall.heuristics import REGISTRY
    from knightfall.heuristics.expression import parse_heuristic
    from knightfall.heuristics.registry import meanings

    declared = REGISTRY.get(id.strip())
    named = meanings("_".join(id.split()))  # a study prints "Custom_heuristic 1", with a space
    if declared is not None and declared.parameter:
        rows = [{**_row(declared.id), "ids": _ids(declared.id)}]
    elif named and declared is None:
        rows = [
            {"name": name, "stands_for": meant, **_atom(atom)}
            for name, meant in named.items()
            for atom in parse_heuristic(meant).atoms()
        ]
    else:
        rows = [_atom(atom) for atom in dict.fromkeys(parse_heuristic(id).atoms())]
    if json:
        print_json({"heuristics": rows})
        return
    for number, row in enumerate(rows):
        if number:
            print_line()
        example = row["ids"][0] if "ids" in row else row["id"]
        shown = {
            key.replace("_", " "): _shown(value)
            for key, value in row.items()
            if value not in ("", [])
        }
        shown["try"] = f'knightfall play --against "id({example}, nodes=2500)"'
        print_parts([facts(shown)])


def _shown(value: str | bool | list[str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return Lines(value) if isinstance(value, list) else value


def _atom(atom: Atom) -> dict[str, Any]:
    """Return the details of one term of an expression; load the file of a user's heuristic."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.heuristics.registry import USER
    from knightfall.user_files import UserFunction

    if not isinstance(atom, UserFunction):
        return {**_row(atom.name), "id": str(atom)}

    ready = evaluator(str(atom))
    doc = ready.terms[0].python.__doc__ or ""
    return {
        "id": str(atom),
        "study": USER,
        "formula": "",
        "summary": doc.strip().split("\n")[0],
        "symmetric": ready.symmetric,
        "compiled": ready.compiled,
    }


def _row(name: str) -> dict[str, Any]:
    from knightfall.heuristics import REGISTRY
    from knightfall.heuristics.registry import CODED, printed_names

    row = REGISTRY[name]
    coded = f"{CODED}{row.id}"
    return {
        "id": row.id,
        "study": row.study,
        "formula": row.formula,
        "summary": row.summary,
        "symmetric": row.symmetric,
        "printed_as": printed_names(row.id),
        "as_coded": coded if coded in REGISTRY else "",
    }


def _ids(name: str) -> list[str]:
    """Return the ids of a heuristic; a family has one for each published parameter."""
    from knightfall.heuristics import REGISTRY

    row = REGISTRY[name]
    return [f"{name}({value})" for value in row.published] if row.parameter else [name]


# -- check ------------------------------------------------------------------------------------


BROKEN = 1
"""The exit code if the heuristic has an error."""

Checked = Annotated[
    str, typer.Argument(metavar="HEURISTIC", help="A heuristic's id, or file.py:function.")
]


def check(heuristic: Checked, board: BoardSize = "7x7", json: Json = False) -> None:
    """Examine a heuristic you have written.

    Checks that it is deterministic and finite, raises no errors and always returns, is symmetric if
    it declares so, and compiles.  Measures its cost next to improved, and whether it tells won
    positions from lost ones better than null, which is always 0.  The exit code is 1 if something
    is wrong.

    \b
    Examples:
      knightfall check mine.py:cosy
      knightfall check "mine.py:cosy+improved" --board 5x6
    """
    from knightfall.oracle.check import check as examine

    found = examine(heuristic, board=board)
    print_report(found, json=json)
    if found.wrong:
        raise typer.Exit(BROKEN)
