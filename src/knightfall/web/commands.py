"""Commands ``knightfall site`` (write the page as files) and ``serve`` (run it with the lab)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options import Json, StorePath, store_path
from knightfall.cli.terminal import INTERRUPTED, print_json, print_line, say

Out = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="The folder to write to; with --single-file, the HTML file.",
        show_default=False,
    ),
]


def site(
    out: Out,
    single: Annotated[
        bool,
        typer.Option("--single-file", help="Write one HTML file, which can be opened from disk."),
    ] = False,
    json: Json = False,
) -> None:
    """Write the web page for playing and exact analysis in a browser.

    Readers need only a browser: the engine is WebAssembly, compiled from the same kernels.  Any web
    host can serve the folder; a single file can be mailed and opened from disk.  The page loads
    nothing from other sites.

    \b
    Examples:
      knightfall site public/
      knightfall site knightfall.html --single-file
    """
    from knightfall.errors import KnightfallError
    from knightfall.user_folders import atomic_write, check_output
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
        print_line(f"to view it: python -m http.server --directory {out}")


# -- serve ------------------------------------------------------------------------------------


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="Python files with your heuristics or agents; the page can load only these.",
        show_default=False,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="NAME",
        help="Address to listen on; any but the default lets other machines connect.",
    ),
]


def _port(given: str | int | None) -> int | None:
    text = str(given)
    if given is None or (text.isascii() and text.isdigit() and int(text) < 65536):
        return None if given is None else int(text)
    raise typer.BadParameter(f"{text!r} is not a port; expected a whole number from 0 to 65535")


Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="N",
        parser=_port,
        help="Port to listen on; by default 8747, or any free port if 8747 is in use.",
        show_default=False,
    ),
]


def serve(
    files: Files = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    store: StorePath = None,
    key: Annotated[
        bool,
        typer.Option(
            "--key",
            help="Put a random key into the page's address, so that other users of this machine "
            "cannot use the lab.",
        ),
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    json: Json = False,
) -> None:
    """Serve the page with the lab, to start runs in a browser.

    This is the page of knightfall site, plus everything that needs Python: matches, tournaments,
    leagues, gradings, all stored runs, and your own heuristics and agents, reloaded whenever you
    edit their file.  Ctrl-C stops the server; unfinished runs are kept and can be resumed.

    \b
    Examples:
      knightfall serve
      knightfall serve mine.py
      knightfall serve mine.py --port 9000 --no-browser
    """
    import secrets

    from knightfall.arena.store_file import user_store
    from knightfall.web.lab.server import listen

    if files:
        from knightfall.web.lab.watched_files import checked_path

        files = [checked_path(file) for file in files]
    listening, address = listen(host, port)
    secret = secrets.token_urlsafe(32) if key else ""
    url = f"{address.url}?key={secret}" if key else address.url
    if not address.loopback and not key:
        say(
            f"warning: everyone who can reach {host} can use this lab: start games, read your runs "
            "and call the functions in your files; the connection is not encrypted"
        )
    # The port is open already: requests that arrive now wait until the slow imports are done.
    if json:
        print_json({"url": url, "host": address.host, "port": address.port})
    else:
        print_line(f"the lab is at {url} (Ctrl-C ends it)")
    sys.stdout.flush()
    from knightfall.isolation.sigint import enable_keyboard_interrupt
    from knightfall.web.lab.server import serve as serve_lab

    where = os.path.abspath(os.path.expanduser(store_path(store) or user_store()))
    if not no_browser and _has_display():
        import webbrowser

        webbrowser.open(url)
    enable_keyboard_interrupt()
    try:
        stopped = serve_lab(listening, address, files or [], where, secret)
    except KeyboardInterrupt:
        stopped = 0
    if not json:
        kept = f"; unfinished runs stopped and kept: {stopped}" if stopped else ""
        say(f"knightfall: the lab is closed{kept}")
    raise typer.Exit(INTERRUPTED)


def _has_display() -> bool:
    """Return whether a desktop is available on which a browser can open."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
