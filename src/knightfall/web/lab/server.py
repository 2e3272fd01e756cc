"""The lab's listening socket, the host names that it accepts, and the server itself.

The port is opened first; the modules that take time to import are imported afterwards.
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
"""Most connections that wait until the server has started; the port is open before that."""


@dataclass(frozen=True, slots=True)
class Address:
    """The host and the port on which the lab listens."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host in LOOPBACK:
            return True
        ip = _ip(self.host)
        return ip is not None and ip.is_loopback

    @property
    def url(self) -> str:
        """The URL that a browser on this machine opens."""
        host = "localhost" if self._everywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def _everywhere(self) -> bool:
        ip = _ip(self.host)
        return ip is not None and ip.is_unspecified

    def is_ours(self, authority: str) -> bool:
        """Return whether a `Host` header names this server.

        A foreign domain name that resolves to this machine does not: through it, another site's
        page could send requests as if it were the lab's own page (DNS rebinding).  A numeric
        address cannot be abused in this way.
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
        """Return whether an `Origin` header is that of the lab's own page."""
        scheme, _, authority = origin.partition("://")
        return scheme == "http" and self.is_ours(authority)


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _split(authority: str) -> tuple[str, int | None]:
    """Return name and port of ``localhost:8747`` or ``[::1]:8747``; a missing port is None."""
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
    """Open a port: the given one, or by default the usual one, or any free one if that is taken."""
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
        # Connections inherit this.  Without it, the second part of a response waits 40 ms.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened, Address(host, opened.getsockname()[1])
    raise AssertionError("unreachable: port 0 opens or raises an error")


# -- serving ----------------------------------------------------------------------------------


ENDING = 3
"""Seconds that open requests have to end when the server stops."""


def serve(
    listening: socket.socket, address: Address, files: list[str], store: str, key: str = ""
) -> int:
    """Serve until Ctrl-C, then stop all jobs; return how many had not ended.

    With a `key`, only browsers that have it can use the lab.
    """
    import uvicorn

    from knightfall.web.lab.application import application
    from knightfall.web.lab.lab_state import Lab

    lab = Lab(files, store)

    class Server(uvicorn.Server):
        """A uvicorn server that closes the event streams at shutdown; else they never end."""

        def handle_exit(self, sig: int, frame: object) -> None:
            lab.events.end()
            super().handle_exit(sig, frame)  # type: ignore[arg-type]

    config = uvicorn.Config(
        application(lab, address, key=key),
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=ENDING,
    )
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after the shutdown
        Server(config).run(sockets=[listening])
    return lab.stopped
