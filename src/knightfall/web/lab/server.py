"""The server: the port is opened first, and then all that takes time to import."""

from __future__ import annotations

import socket
from contextlib import suppress

from knightfall.web.lab.address import Address

ENDING = 3
"""Seconds that requests have to end when the server does."""


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
