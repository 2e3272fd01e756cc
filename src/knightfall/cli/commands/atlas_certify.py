"""``knightfall atlas certify``: write a proof that the second player wins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import BoardName, Json, Threads, board_named
from knightfall.cli.screen.output import duration, print_json
from knightfall.errors import KnightfallError

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write there, not to certificate-BOARD.txt in this folder.",
        show_default=False,
    ),
]


def certify(board: BoardName, out: Out = None, threads: Threads = 1, json: Json = False) -> None:
    """Write a proof that the second player wins from free placement.

    It holds an answer to every first placement and to every move from then on, down to positions
    that are quickly searched; knightfall verify checks it.  7x7 takes half a minute on one
    processor, a board of more than 50 cells much longer.

    \b
    Examples:
      knightfall atlas certify 7x7 --threads 2
      knightfall atlas certify 5x6 --out proof.txt
    """
    import time

    from knightfall.cli.screen.progress import ticker
    from knightfall.solver.certificate import certify as prove

    there = board_named(board)
    name = f"{there.width}x{there.height}"
    file = Path(f"certificate-{name}.txt") if out is None else out
    if file.is_dir() or not file.parent.is_dir():  # better said now than after the work
        raise KnightfallError(f"cannot write {str(file)!r}: it must name a file in a folder")
    start = time.perf_counter()
    with ticker() as tick:

        def told(share: float) -> None:
            tick(f"{share:.0%} of the first moves answered · {time.perf_counter() - start:.0f} s")

        certificate = prove(there, threads=threads, listener=told)
    certificate.write(file)
    seconds = time.perf_counter() - start
    size, answers = file.stat().st_size, len(certificate.lines)
    if json:
        facts = {"board": name, "winner": "second", "placements": len(certificate.answers)}
        facts |= {"answers": answers, "bytes": size, "seconds": seconds, "file": str(file)}
        print_json(facts)
    else:
        print(
            f"{name}: the second player wins; {answers:,} answers, {size:,} bytes, "
            f"{duration(seconds)}; written to {file}"
        )
