"""The server: the port is opened first, and then all that takes time to import."""

from __future__ import annotations

import socket
from contextlib import suppress
from importlib.util import find_spec

from knightfall.errors import KnightfallError
from knightfall.web.lab.address import Address

NEEDED = ("starlette", "uvicorn")
ENDING = 3
"""Seconds that requests have to end when the server does."""


def check_installed() -> None:
    """Refuse to begin without what the lab is served by; nothing is imported for that."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise KnightfallError(
            f"the lab needs {' and '.join(missing)}: pip install 'knightfall[web]'"
        )


def serve(listening: socket.socket, address: Address, files: list[str], store: str) -> int:
    """Serve until Ctrl-C; how many runs that stopped."""
    import uvicorn

    from knightfall.web.lab.application import application
    from knightfall.web.lab.lab import Lab

    lab = Lab(files, store)

    class Server(uvicorn.Server):
        """Ends the streams of news, too, which have no end of their own."""

        def handle_exit(self, sig: int, frame: object) -> None:
            lab.news.end()
            super().handle_exit(sig, frame)  # type: ignore[arg-type]

    config = uvicorn.Config(
        application(lab, address),
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=ENDING,
    )
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once everything has ended
        Server(config).run(sockets=[listening])
    return lab.stopped
