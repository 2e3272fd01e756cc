"""``knightfall site``: the page that needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.screen.output import print_json, print_line

Out = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", help="A folder, or a file with --single-file.", show_default=False
    ),
]


def site(
    out: Out,
    single: Annotated[
        bool, typer.Option("--single-file", help="One HTML file, which also works from a disk.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the page: play and see the truth in a browser.

    Nothing needs to be installed there: the engine is WebAssembly made from the same kernels.  Any
    web host can serve the folder; a single file can be sent to somebody and opened.  Nothing is
    fetched from anywhere else.

    \b
    Examples:
      knightfall site public/
      knightfall site knightfall.html --single-file
    """
    from knightfall.errors import KnightfallError
    from knightfall.files import atomic_write, check_output
    from knightfall.web.site import single_file, write_site

    if single:
        check_output(out)
        atomic_write(out, single_file())
        written = [out]
    else:
        if out.is_file():
            raise KnightfallError(f"{str(out)!r} is a file: name a folder, or add --single-file")
        written = write_site(out)
    size = sum(file.stat().st_size for file in written)
    first = out if single else out / "index.html"
    if json:
        print_json({"page": str(first), "files": [str(file) for file in written], "bytes": size})
        return
    print_line(f"wrote {first} ({size / 1000:,.0f} kB)")
    if not single:
        print_line(f"to look at it: python -m http.server --directory {out}")
