"""Checks that every request must pass before the application handles it.

Another site's page that is open in the same browser can send requests to this machine, too.  Such
requests are recognised by their `Origin`, by a `Host` that is not this server's (DNS rebinding),
and by the header in which the browser says where a request comes from.  Requests that change
anything also need a token, which only the lab's own page contains.  The page itself can be read by
every user of this machine, unless the lab was started with a key: then the first request must have
it in its address, and the others in the cookie that the answer to it sets.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from knightfall.display.printable import json_line
from knightfall.web.lab.server import Address
from knightfall.web.site import POLICY

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN, CLIENT = "x-knightfall-token", "x-knightfall-client"
KEY = "key"
"""The part of the page's address that has the key, if the lab was started with one."""

MOST_BYTES = 1 << 16
"""Largest body of a request, in bytes; a league of forty agents takes four thousand."""

READING = ("GET", "HEAD")

PAGE_POLICY = POLICY + (
    "script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; "
    "frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Content security policy of an extension's document: no scripts; styles are inline."""

HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every response, unless the response sets them itself."""


class RequestRefused(Exception):
    """A refused request, with its HTTP status and a sentence that says why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Guard:
    """ASGI middleware that passes only permitted requests on to the application."""

    def __init__(self, app: App, address: Address, token: str, key: str = "") -> None:
        self._app, self._address, self._token = app, address, token.encode()
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection, as ASGI defines it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # websockets are not used
            return
        guarded = _with_headers(send)
        try:
            self._check(scope)
            if self._key and self._has_key_in_address(scope):
                await self._let_in(guarded)
                return
            body = _Body(receive)
            self._check_length(scope)
            await self._app(scope, body.receive, guarded)
        except RequestRefused as refused:
            await refuse(guarded, refused)

    def _check(self, scope: Scope) -> None:
        given = _headers(scope)
        host = given.get("host", "")
        if not self._address.is_ours(host):
            raise RequestRefused(403, f"the host {host[:100]!r} is not this server's")
        origin = given.get("origin")
        if origin is not None and not self._address.is_our_origin(origin):
            raise RequestRefused(403, f"the origin {origin[:100]!r} is not this server's page")
        if scope["path"].startswith("/api/") and given.get("sec-fetch-site", "none") not in (
            "same-origin",
            "none",
        ):
            raise RequestRefused(403, "requests of another site's page are refused")
        changes = scope["method"] not in READING
        if changes and not _same(given.get(TOKEN, ""), self._token.decode()):
            raise RequestRefused(
                403, f"{scope['method']} requests need the page's token in the header {TOKEN}"
            )

    def _has_key_in_address(self, scope: Scope) -> bool:
        """Return whether a request has the key in its address, and not in a cookie.

        Raise `RequestRefused` if neither has it.
        """
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(KEY, [""])[0]
        if scope["path"] == "/" and _same(given, self._key):
            return True
        cookies = [one.strip() for one in _headers(scope).get("cookie", "").split(";")]
        name = f"{self._cookie_name()}="
        if not any(_same(one.removeprefix(name), self._key) for one in cookies):
            raise RequestRefused(403, "open the whole address that knightfall serve has printed")
        return False

    def _cookie_name(self) -> str:
        return f"knightfall-{self._address.port}"  # browsers send cookies to all ports of a host

    async def _let_in(self, send: Send) -> None:
        """Give a browser the cookie, and send it to the page's address without the key."""
        cookie = f"{self._cookie_name()}={self._key}; Path=/; SameSite=Strict; HttpOnly"
        headers = {"location": "/", "set-cookie": cookie, "content-length": "0"}
        coded = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 303, "headers": coded})
        await send({"type": "http.response.body", "body": b""})

    def _check_length(self, scope: Scope) -> None:
        length = _headers(scope).get("content-length", "0")
        if length.isascii() and length.isdigit() and len(length) < 20:
            _check_size(int(length))


class _Body:
    """The body of a request; reading it raises `RequestRefused` beyond `MOST_BYTES`."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._bytes = receive, 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            _check_size(self._bytes)
        return message


def _same(given: str, secret: str) -> bool:
    """Return whether a text is the secret, in a time that does not depend on where they differ."""
    return secrets.compare_digest(given.encode("latin-1", "replace"), secret.encode())


def _check_size(length: int) -> None:
    if length > MOST_BYTES:
        raise RequestRefused(413, f"the request is too large: at most {MOST_BYTES:,} bytes")


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; a repeated one has its values joined, so that checks fail."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {name.lower() for name, _ in message.get("headers", ())}
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in known]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sending


async def refuse(send: Send, refused: RequestRefused) -> None:
    """Send the response to a refused request: its status, and the reason as JSON."""
    body = json_line({"error": str(refused)}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # the rest of the request is not read
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
