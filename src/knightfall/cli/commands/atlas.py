"""``knightfall atlas``: exact values of whole boards, and their proofs.

It builds and shows the stored value of every opening.  It writes and verifies certificates, which
prove that the second player wins.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.board import Board
from knightfall.cli.help_format import command_group
from knightfall.cli.options import BoardName, Dask, Json, Workers, chosen_map
from knightfall.cli.terminal import print_json, print_line, say
from knightfall.display.numbers import clock, duration, percent
from knightfall.display.report import legend
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.solver.atlas import Survey

atlas = command_group(
    "atlas",
    """Show, build and prove the exact value of every opening.

    The atlas stores who wins each opening of a board.  All boards with sides from 3 to 7 come with
    knightfall; others can be built.

    \b
    Examples:
      knightfall atlas show 7x7
      knightfall atlas build 5x8
      knightfall atlas certify 7x7
      knightfall atlas verify certificate-7x7.txt
    """,
)


Placement = Annotated[
    str | None, typer.Argument(metavar="CELL", help="A first placement; show the replies to it.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", metavar="FILE", help="Write to this file; by default into your data folder."
    ),
]
CertificateOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write to this file; by default certificate-BOARD.txt in the current folder.",
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="Solve the board again if it is in the atlas.")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The certificate to check.")]
SHOWN = 12
"""Number of exceptions that are listed; small boards have hundreds."""


@atlas.command()
def show(board: BoardName, cell: Placement = None, json: Json = False) -> None:
    """Show the stored values of a board, or of one first placement.

    The picture shows, for each first placement, the number of the second player's winning replies.
    With a CELL it shows each reply to it: + if it wins and - if it loses, with the plies that the
    game lasts, in bold if the second player is then the hunter.  The hunter can take escape cells
    from the other knight, the runner cannot.

    \b
    Examples:
      knightfall atlas show 7x7
      knightfall atlas show 7x7 d4
    """
    from knightfall.solver.atlas import survey

    seen = survey(Board.named(board))
    if cell is not None:
        at = seen.board.cell(cell)
        _show_replies(seen, at, json)
    elif json:
        print_json(survey_json(seen))
    else:
        _show(seen)


def survey_json(seen: Survey) -> dict[str, Any]:
    """Return the counts of a board's openings and their winners as JSON-compatible values."""
    name = seen.board.name
    return {
        "board": f"{seen.board.width}x{seen.board.height}",
        "openings": len(seen.openings),
        "classes": seen.classes,
        "first_wins": seen.first_wins,
        "second_wins": seen.second_wins,
        "hunter_wins": seen.hunter_wins,
        "winning_replies": {
            name(cell): seen.winning_replies(cell) for cell in range(seen.board.cells)
        },
        "exceptions": [
            {"first": name(one.mover), "second": name(one.waiter), "plies": one.entry.plies}
            for one in seen.exceptions()
        ],
    }


def _show(seen: Survey) -> None:
    from knightfall.cli.terminal import console

    board, screen = seen.board, console()
    total = len(seen.openings)
    winner = "second" if seen.second_wins_from_the_empty_board else "first"
    print_line(f"{board.width}x{board.height}: {total:,} openings in {seen.classes} classes")
    print_line(f"  first player wins {seen.first_wins:,}, second player wins {seen.second_wins:,}")
    print_line(f"  the hunter wins {seen.hunter_wins:,}, the runner {total - seen.hunter_wins:,}")
    print_line(f"  from the empty board the {winner} player wins")
    print_line(f"({legend('hunter', 'runner')})", "")
    print_line("winning replies to each first placement:", "")
    counts = [seen.winning_replies(cell) for cell in range(board.cells)]
    few = min(counts) if min(counts) < max(counts) else None  # the fewest stand out
    _grid(screen, board, [(f"{one}", "bold red" if one == few else "") for one in counts])
    exceptions = seen.exceptions()
    if not exceptions:
        print_line("", "The hunter wins every opening.")
        return
    print_line("", f"the runner wins {len(exceptions)} of the classes, against the colour law:")
    for one in exceptions[:SHOWN]:
        names = f"N {board.name(one.mover)}, n {board.name(one.waiter)}"
        runner = "first" if one.entry.mover_wins else "second"
        print_line(f"  {names}: the {runner} player runs and wins in {one.entry.plies} plies")
    if len(exceptions) > SHOWN:
        print_line(f"  and {len(exceptions) - SHOWN} more (--json lists them all)")


def _show_replies(seen: Survey, cell: int, json: bool) -> None:
    from knightfall.cli.terminal import console

    board = seen.board
    replies = {one.waiter: one for one in seen.replies(cell)}
    if json:
        told = [
            {
                "reply": board.name(at),
                "wins": not one.entry.mover_wins,
                "plies": one.entry.plies,
                "hunts": one.hunter_wins != one.entry.mover_wins,
            }
            for at, one in replies.items()
        ]
        print_json({"first": board.name(cell), "replies": told})
        return
    cells = []
    for at in range(board.cells):
        if at == cell:
            cells.append(("N", "bold"))
            continue
        one = replies[at]
        wins, hunts = not one.entry.mover_wins, one.hunter_wins != one.entry.mover_wins
        style = f"{'bold ' if hunts else ''}{'green' if wins else 'red'}"
        cells.append((f"{'+' if wins else '-'}{one.entry.plies}", style))
    winning = seen.winning_replies(cell)
    print_line(f"{winning} of {len(replies)} replies to {board.name(cell)} win:", "")
    _grid(console(), board, cells)


def _grid(screen: Any, board: Board, cells: list[tuple[str, str]]) -> None:
    """Print a board with a short text in each cell; `cells` holds texts and styles."""
    from rich.text import Text

    wide = max(len(text) for text, _ in cells) + 2
    for row in range(board.height):
        line = Text(f"{board.height - row:3} ")
        for column in range(board.width):
            text, style = cells[board.at(row, column)]
            line.append(text.rjust(wide), style)
        screen.print(line)
    names = "".join(board.name(board.at(0, c))[0].rjust(wide) for c in range(board.width))
    screen.print(Text(f"    {names}"))


@atlas.command()
def build(
    board: BoardName,
    workers: Workers = None,
    dask: Dask = None,
    output: Output = None,
    again: Again = False,
    json: Json = False,
) -> None:
    """Solve every opening of a board and keep the answers.

    A build that was stopped, by Ctrl-C or otherwise, continues where it was.  7x7 takes minutes,
    7x8 hours, 8x8 days.  A board that is in the atlas is not solved again; with --output its
    entries are copied.

    \b
    Examples:
      knightfall atlas build 7x7 --workers 2
      knightfall atlas build 5x8
      knightfall atlas build 7x8 --dask tcp://host:8786
      knightfall atlas build 7x7 --again --workers 2
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.solver.atlas import entries_of, forget, upright_board
    from knightfall.solver.atlas_build import Builder, name_of, save, user_file
    from knightfall.user_folders import check_output

    there = upright_board(Board.named(board))
    map_calls = chosen_map(workers, dask, lambda cells: f"the openings like {cells}")
    file = user_file() if output is None else output
    check_output(file)
    start = time.perf_counter()
    builder = Builder(there)
    known = None if again else entries_of(there)
    if known is not None:
        if output is not None:
            save(output, name_of(there), known)
        _tell_known(name_of(there), len(builder.classes), output, json)
        return
    with progress() as shown:

        def told(done: int, of: int) -> None:
            spent = clock(time.perf_counter() - start)
            shown.say(f"{done} of {of} classes · {builder.nodes:,} nodes · {spent}")

        resumed = len(builder.resumed())
        try:
            entries = builder.build(told, map_calls)
        except KeyboardInterrupt:
            done, of = len(builder.resumed()), len(builder.classes)
            say(f"{done} of {of} classes are solved and kept; repeat the command to continue")
            raise
    save(file, name_of(there), entries)
    builder.journal.unlink(missing_ok=True)
    forget()
    seconds = time.perf_counter() - start
    if json:
        facts = {"board": name_of(there), "classes": len(builder.classes), "resumed": resumed}
        print_json({**facts, "nodes": builder.nodes, "seconds": seconds, "file": str(file)})
    else:
        print_line(
            f"{name_of(there)}: {len(builder.classes)} classes of openings, {resumed} of them "
            f"solved before, {builder.nodes:,} nodes, {duration(seconds)}; written to {file}"
        )


def _tell_known(name: str, classes: int, output: Path | None, json: bool) -> None:
    if json:
        facts = {"board": name, "classes": classes, "resumed": classes, "nodes": 0}
        print_json({**facts, "seconds": 0.0, "file": None if output is None else str(output)})
    else:
        written = "" if output is None else f"; written to {output}"
        print_line(f"{name} is in the atlas already (--again solves it anew){written}")


@atlas.command()
def certify(
    board: BoardName,
    output: CertificateOutput = None,
    workers: Workers = None,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Write a proof that the second player wins from the empty board.

    The certificate holds an answer to every first placement and to every later move, down to
    positions that are quickly searched; knightfall atlas verify checks it.  7x7 takes half a minute
    on one processor.  If a side is even the proof is one line: the second player mirrors each move
    in the board's centre.

    \b
    Examples:
      knightfall atlas certify 7x7 --workers 2
      knightfall atlas certify 7x7 --dask tcp://host:8786
      knightfall atlas certify 8x8 --output proof.txt
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.solver.certificate import certify as prove
    from knightfall.user_folders import check_output

    there = Board.named(board)
    map_calls = chosen_map(workers, dask, lambda cell: f"the answers to {there.name(cell)}")
    name = f"{there.width}x{there.height}"
    file = Path(f"certificate-{name}.txt") if output is None else output
    check_output(file)
    start = time.perf_counter()
    with progress() as shown:

        def told(share: float) -> None:
            spent = clock(time.perf_counter() - start)
            shown.say(f"{percent(share, 0)} of the first moves answered · {spent}")

        certificate = prove(there, on_progress=told, map_calls=map_calls)
    certificate.write(file)
    seconds = time.perf_counter() - start
    size, answers = file.stat().st_size, certificate.answers
    lines = 0 if answers is None else len(certificate.lines)
    if json:
        facts: dict[str, Any] = {"board": name, "winner": "second", "method": certificate.method}
        facts |= {"placements": len(answers or ()), "answers": lines, "bytes": size}
        print_json({**facts, "seconds": seconds, "file": str(file)})
    else:
        proof = "by reflection" if answers is None else f"{lines:,} answers"
        print_line(
            f"{name}: the second player wins; {proof}, {size:,} bytes, {duration(seconds)}; "
            f"written to {file}"
        )


# -- verify -----------------------------------------------------------------------------------


@atlas.command()
def verify(file: File, json: Json = False) -> None:
    """Check a certificate: a proof that the second player wins.

    The checker is a short program that shares no code with the solver: knightfall/solver/verify.py,
    which also runs without knightfall.  The exit code is 0 if the file is a proof and 2 if it is
    not; then one line says where it fails.

    \b
    Examples:
      knightfall atlas verify certificate-7x7.txt
      knightfall atlas verify --json certificate-7x7.txt
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.solver.verify import Refused
    from knightfall.solver.verify import verify as check

    start = time.perf_counter()
    told = ""

    def tell(share: float) -> None:
        nonlocal told
        line = f"{percent(share, 0)} checked · {clock(time.perf_counter() - start)}"
        if line != told:  # the line changes only once a second or so
            shown.say(line)
            told = line

    with progress() as shown:
        try:
            verdict = check(file, tell)
        except Refused as refused:
            raise KnightfallError(f"{file} is not a proof: {refused}") from None
        except OSError as error:
            raise KnightfallError(f"cannot read {str(file)!r}: {error.strerror}") from None
    seconds = time.perf_counter() - start
    if json:
        counts = verdict._asdict()
        print_json({"verified": True, "winner": "second", **counts, "seconds": seconds})
    else:
        checked = (
            f"{verdict.placements} placements up to mirror images, {verdict.answers:,} answers, "
            f"{verdict.searched:,} positions searched, {duration(seconds)}"
        )
        if verdict.method == "mirror":
            checked = "by reflection in the centre, where no cell is its own image"
        print_line(
            f"verified: the second player wins on {verdict.board} from free placement ({checked})"
        )
