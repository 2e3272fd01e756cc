"""``knightfall atlas certify`` and ``knightfall verify``: proofs that the second player wins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from knightfall.cli.options import (
    BoardName,
    Dask,
    Json,
    Threads,
    Workers,
    board_named,
    threads_or_map,
)
from knightfall.cli.terminal import print_json, print_line
from knightfall.display.numbers import duration, percent
from knightfall.errors import KnightfallError

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write there, not to certificate-BOARD.txt in this folder."
    ),
]


def certify(
    board: BoardName,
    out: Out = None,
    threads: Threads = 1,
    workers: Workers = None,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Write a proof that the second player wins from free placement.

    It holds an answer to every first placement and to every move from then on, down to positions
    that are quickly searched; knightfall verify checks it.  7x7 takes half a minute on one
    processor.  Where a side is even the proof is one line: the second player mirrors each move in
    the board's centre.

    \b
    Examples:
      knightfall atlas certify 7x7 --threads 2
      knightfall atlas certify 7x7 --dask tcp://host:8786
      knightfall atlas certify 8x8 --out proof.txt
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.files import check_output
    from knightfall.solver.certificate import certify as prove

    there = board_named(board)
    map_calls = threads_or_map(
        threads, workers, dask, lambda cell: f"the answers to {there.name(cell)}"
    )
    name = f"{there.width}x{there.height}"
    file = Path(f"certificate-{name}.txt") if out is None else out
    check_output(file)
    start = time.perf_counter()
    with progress() as shown:

        def told(share: float) -> None:
            shown.say(
                f"{percent(share, 0)} of the first moves answered · "
                f"{time.perf_counter() - start:.0f} s"
            )

        certificate = prove(there, threads=threads, on_progress=told, map_calls=map_calls)
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


File = Annotated[Path, typer.Argument(metavar="FILE", help="The certificate.")]


def verify(file: File, json: Json = False) -> None:
    """Check a certificate that the second player wins on some board.

    Every line is checked by a program of one page that shares nothing with the solver:
    knightfall/solver/verify.py, which runs without knightfall, too.  The exit code is 0 if the
    file is a proof and 2 if it is not; then one line says where it fails.

    \b
    Examples:
      knightfall verify certificate-7x7.txt
      knightfall verify --json certificate-7x7.txt
    """
    import time

    from knightfall.display.progress import progress
    from knightfall.solver.verify import Refused
    from knightfall.solver.verify import verify as check

    start = time.perf_counter()
    told = ""

    def tell(share: float) -> None:
        nonlocal told
        line = f"{percent(share, 0)} checked · {time.perf_counter() - start:.0f} s"
        if line != told:  # thousands of times a second it is the same
            shown.say(line)
            told = line

    with progress() as shown:
        try:
            verdict = check(file, tell)
        except Refused as refused:
            raise KnightfallError(f"{file} is no proof: {refused}") from None
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
