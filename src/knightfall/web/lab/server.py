"""Where the lab listens, by which names a browser may call it, and the server itself.

The port is opened first, and then all that takes time to import.
"""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from dataclasses import dataclass

from knightfall.errors import KnightfallError

USUAL_PORT = 8747
LOOPBACK = ("localhost", "127.0.0.1", "::1")
WAITING = 128
"""Browsers that may wait until somebody answers them: the port is opened long before that."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port that is open."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host in LOOPBACK:
            return True
        ip = _ip(self.host)
        return ip is not None and ip.is_loopback

    @property
    def url(self) -> str:
        """What a browser on this machine opens."""
        host = "localhost" if self._everywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def _everywhere(self) -> bool:
        ip = _ip(self.host)
        return ip is not None and ip.is_unspecified

    def is_ours(self, authority: str) -> bool:
        """Whether a `Host` header means us.

        A name that somebody else's page made lead here does not: that is how a foreign page would
        get to talk to us as if it were ours.  An address that is spelt out cannot be made so.
        """
        name, port = _split(authority)
        if port != self.port and not (port is None and self.port == 80):
            return False
        if self.loopback:
            return name in LOOPBACK or name == self.host.lower()
        if self._everywhere:
            known = (*LOOPBACK, socket.gethostname().lower())
            return name in known or _ip(name) is not None
        return name == self.host.lower()

    def is_our_origin(self, origin: str) -> bool:
        """Whether an `Origin` header is that of our own page."""
        scheme, _, authority = origin.partition("://")
        return scheme == "http" and self.is_ours(authority)


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _split(authority: str) -> tuple[str, int | None]:
    """The name and the port of ``localhost:8747`` or ``[::1]:8747``; no port is None."""
    text = authority.lower()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        if not bracket:
            return "", None
    else:
        name, colon, port = text.partition(":")
        rest = colon + port
    if not rest:
        return name, None
    digits = rest.removeprefix(":")
    ascii_number = digits.isascii() and digits.isdigit() and len(digits) <= 5
    return (name, int(digits)) if rest.startswith(":") and ascii_number else ("", None)


def listen(host: str, port: int | None) -> tuple[socket.socket, Address]:
    """Open the port, or the usual one, or any that is free if that is taken."""
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            opened = socket.create_server((host, wanted), family=family, backlog=WAITING)
        except OSError as error:
            if port is None and wanted:
                continue
            raise KnightfallError(
                f"cannot listen on {host}, port {wanted}: {error.strerror or error}"
            ) from None
        except (OverflowError, UnicodeError, ValueError) as error:
            raise KnightfallError(f"cannot listen on {host!r}, port {wanted}: {error}") from None
        # Inherited by every connection: an answer in two pieces would wait 40 ms for its second.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened, Address(host, opened.getsockname()[1])
    raise AssertionError("a free port was asked for")


# -- serving ----------------------------------------------------------------------------------


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
            lab.events.end()
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
