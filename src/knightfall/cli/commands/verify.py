"""``knightfall verify``: check a proof that the second player wins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.screen.output import print_json
from knightfall.display.numbers import duration
from knightfall.errors import KnightfallError

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
        line = f"{share:.0%} checked · {time.perf_counter() - start:.0f} s"
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
        print(
            f"verified: the second player wins on {verdict.board} from free placement ({checked})"
        )
