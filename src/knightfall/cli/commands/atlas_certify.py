"""``knightfall atlas certify``: write a proof that the second player wins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from knightfall.cli.options.common import BoardName, Json, Threads, board_named
from knightfall.cli.screen.output import print_json, print_line
from knightfall.display.numbers import duration

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write there, not to certificate-BOARD.txt in this folder."
    ),
]


def certify(board: BoardName, out: Out = None, threads: Threads = 1, json: Json = False) -> None:
    """Write a proof that the second player wins from free placement.

    It holds an answer to every first placement and to every move from then on, down to positions
    that are quickly searched; knightfall verify checks it.  7x7 takes half a minute on one
    processor.  Where a side is even the proof is one line: the second player mirrors each move in
    the board's centre.

    \b
    Examples:
      knightfall atlas certify 7x7 --threads 2
      knightfall atlas certify 8x8 --out proof.txt
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.files import check_output
    from knightfall.solver.certificate import certify as prove

    there = board_named(board)
    name = f"{there.width}x{there.height}"
    file = Path(f"certificate-{name}.txt") if out is None else out
    check_output(file)
    start = time.perf_counter()
    with progress() as shown:

        def told(share: float) -> None:
            shown.say(
                f"{share:.0%} of the first moves answered · {time.perf_counter() - start:.0f} s"
            )

        certificate = prove(there, threads=threads, on_progress=told)
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
