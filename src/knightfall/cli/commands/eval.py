"""``knightfall eval``: values of positions by heuristics, and the parts of these values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from knightfall.cli.options import Json, SvgChart, check_svg, position_named
from knightfall.cli.terminal import print_json, say
from knightfall.display.numbers import for_json
from knightfall.display.report import print_parts
from knightfall.display.table import facts
from knightfall.errors import KnightfallError
from knightfall.picture import player as player_of
from knightfall.user_folders import atomic_write

if TYPE_CHECKING:
    from knightfall.agents.remote_player import RemotePlayer
    from knightfall.heuristics.evaluator import Evaluator
    from knightfall.position import Position, Side

STEP_LIMIT = 20_000_000
"""Steps that a slow heuristic may spend on one position: some tenths of a second."""


LONGEST_LINE = 1000
"""The most bytes in a line of a file of FENs."""


LEARNED = "learned_linear"
"""The heuristic that --explain explains by default."""

Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--heuristic",
        metavar="ID",
        help="A heuristic or a sum of heuristics, or all for every published one; may be repeated. "
        f"With --explain {LEARNED} by default.",
        show_default=False,
    ),
]
Fens = Annotated[
    list[str] | None,
    typer.Argument(metavar="FEN...", help="Positions, each in quotes.", show_default=False),
]
FensFile = Annotated[
    str | None,
    typer.Option(
        "--fens",
        metavar="FILE",
        help="Read positions from this file, one FEN per line; - reads stdin.",
    ),
]
For = Annotated[
    Literal["w", "b"] | None,
    typer.Option(
        "--for", help="The player to evaluate for; by default the side to move.", show_default=False
    ),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Also show what each feature or term adds to the value."),
]


def evaluate(
    fens: Fens = None,
    heuristic: Ids = None,
    file: FensFile = None,
    player: For = None,
    explain: Explain = False,
    chart: SvgChart = None,
    json: Json = False,
) -> None:
    """Evaluate positions with heuristics.

    It prints a table on a terminal or with --explain; into a pipe, or with --json, a line of JSON
    for each position.

    --explain lists, for learned_linear, each feature with its count, its weight in this role and
    phase, and its share as a bar; bars to the right favour the side to move.  For a sum of
    heuristics it lists each term at the position's phase.  For open_cluster it also marks the
    window with most open cells, on the board and in the picture that --chart draws.

    \b
    Examples:
      knightfall eval --heuristic improved "7/7/1N5/7/7/4n2/7 w"
      knightfall eval --heuristic all --for b "7/7/1N5/7/7/4n2/7 w"
      knightfall eval --heuristic mine.py:cosy --heuristic "2*open-improved" --fens games.txt
      knightfall eval --explain "7/7/1N5/7/7/4n2/7 w"
      knightfall eval --explain "7/7/1N5/7/7/4n2/7 w" --heuristic open_cluster --chart cluster.svg
    """
    from knightfall.heuristics.explain import explain as shares_of

    if bool(fens) == (file is not None):
        raise KnightfallError(
            "give either FENs or --fens FILE, not both" if fens else "give a FEN, or --fens FILE"
        )
    if chart is not None and not explain:
        raise KnightfallError(f"--chart {chart} needs --explain")
    if not heuristic and not explain:
        raise KnightfallError("name a heuristic, as in --heuristic improved; all means all of them")
    check_svg(chart)
    evaluators = _ready(heuristic or [LEARNED])
    if chart is not None and (len(evaluators) > 1 or len(fens or ()) != 1):
        raise KnightfallError(f"--chart {chart} takes one FEN and one heuristic")
    given = [("", position_named(fen)) for fen in fens or ()]
    positions = given if file is None else _from_file(file)
    as_json = json or not (explain or sys.stdout.isatty())
    for where, position in positions:
        side = player or position.to_move
        with _named(where):
            values, cut = _measure(evaluators, position, side)
            explained = [shares_of(position, one, side) for one in evaluators if explain]
        if chart is not None:
            atomic_write(chart, explained[0].svg())
        if as_json:
            row: dict[str, Any] = {"fen": position.fen, "for": side, "values": values}
            if explain:
                row["explained"] = [one.to_dict() for one in explained]
            print_json({**row, "cut": cut} if cut else row)
        else:
            _print_table(position, side, values, cut)
            for one in explained:
                print_parts(["", *one.parts()])
        for name in cut:
            say(
                f"note: {name} used up its {STEP_LIMIT:,} steps on {position.fen!r}: "
                "its value is the best found, not exact"
            )


def _ready(ids: Iterable[str]) -> dict[str, Evaluator | RemotePlayer]:
    """Return an evaluator for each id; users' heuristics are evaluated in another process."""
    from knightfall.agents import Agent, GreedyAgent
    from knightfall.agents.remote_player import players
    from knightfall.heuristics.registry import published_ids

    names: list[str] = []
    for name in ids:
        names += published_ids() if name.strip() == "all" else [name.strip()]
    asking = {name: GreedyAgent(str(GreedyAgent.read_argument(name))) for name in names}
    return {
        name: agent.evaluator if isinstance(agent, Agent) else agent
        for name, agent in zip(asking, players(asking.values()), strict=True)
    }


def _measure(
    evaluators: dict[str, Evaluator | RemotePlayer], position: Position, side: Side
) -> tuple[dict[str, float | str], list[str]]:
    """Return the values by id, and the ids of values that are not exact."""
    values, cut = {}, []
    for name, one in evaluators.items():
        value, exact = one.measure(position, side, step_limit=STEP_LIMIT)
        values[name] = for_json(value)
        if not exact:
            cut.append(name)
    return values, cut


# -- where positions come from -----------------------------------------------------------------


def _from_file(name: str) -> Iterator[tuple[str, Position]]:
    """Yield the positions of a file, each with its file and line for error messages."""
    from knightfall.position import Position
    from knightfall.untrusted_input import opened

    with nullcontext(sys.stdin.buffer) if name == "-" else opened(name) as file:
        # By lines, because a program that writes to stdin may wait for each answer; with a limit,
        # because a file without line ends would fill the memory.
        lines = iter(lambda: file.readline(LONGEST_LINE + 1), b"")
        for number, line in enumerate(lines, start=1):
            where = f"{'standard input' if name == '-' else name}, line {number}: "
            if len(line) > LONGEST_LINE:
                raise KnightfallError(
                    f"{where}longer than {LONGEST_LINE:,} bytes: expected one FEN per line"
                )
            text = line.decode("utf-8", "replace").strip()
            if text and not text.startswith("#"):
                with _named(where):
                    position = Position.from_fen(text)
                yield where, position


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Prefix the errors of the block with `where`, a file and a line."""
    try:
        yield
    except KnightfallError as error:
        raise KnightfallError(f"{where}{error}") from None


# -- for a person --------------------------------------------------------------------------------


def _print_table(
    position: Position, side: Side, values: dict[str, float | str], cut: list[str]
) -> None:
    print(f"{position.fen}, for the {player_of(side)}")
    rows = {}
    for name, value in values.items():
        shown = f"{value:.6g}" if isinstance(value, float) else value
        rows[f"  {name}"] = f"{shown}{' (not exact)' if name in cut else ''}"
    print_parts([facts(rows)])
