"""The lab as an ASGI application: the page's files, the API, and the guard before both."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from html import escape
from pathlib import PurePosixPath

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from knightfall import __version__
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.extensions import PagePart
from knightfall.web.lab.api import endpoint_of, json_answer
from knightfall.web.lab.guard import REPORT_POLICY, Guard, RequestRefused
from knightfall.web.lab.lab_state import Lab, page_parts
from knightfall.web.lab.openapi import ENDPOINTS, description
from knightfall.web.lab.server import Address
from knightfall.web.site import PAGE, files

# -- files of the page ------------------------------------------------------------------------


KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""Media types by file name extension; the operating system's table may lack some."""

INDEX = "index.html"


def pages(token: str) -> dict[str, bytes]:
    """Return every file of the page by its path; the index contains the token."""
    found = files()
    own = {f"lab/{path.name}": path for path in sorted((PAGE / "lab").iterdir())}
    found |= {name: path.read_bytes() for name, path in own.items() if path.suffix in KINDS}
    tag = f'<meta name="knightfall-lab" content="{escape(token)}">'
    page = found[INDEX].decode().replace("</head>", f"{tag}\n</head>", 1)
    return {**found, INDEX: page.encode()}


def kind_of(name: str) -> str:
    """Return the media type of a file name."""
    return KINDS[PurePosixPath(name).suffix]


# -- the application --------------------------------------------------------------------------


Answering = Callable[[Request], Awaitable[Response]]


def application(lab: Lab, address: Address, token: str | None = None, key: str = "") -> Guard:
    """Return the whole application; a random token is made unless one is given.

    With a `key`, see `Guard`.
    """
    token = token or secrets.token_urlsafe(32)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with lab.open():
            yield

    app = Starlette(
        routes=[
            *_api_routes(lab),
            Route("/openapi.json", _openapi, methods=["GET"]),
            *(_document_route(name, one) for name, one in page_parts().items() if one.document),
            *_file_routes(token),
        ],
        exception_handlers={
            RequestRefused: _refused,
            KnightfallError: _knightfall_error,
            HTTPException: _http_error,
        },
        lifespan=lifespan,
    )
    return Guard(app, address, token, key)


def _api_routes(lab: Lab) -> list[Route]:
    """Return one route per path, so that a wrong method is answered with the allowed ones."""
    by_path: dict[str, dict[str, Answering]] = {}
    for endpoint in ENDPOINTS:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint_of(lab, endpoint)

    def route(path: str, by_method: dict[str, Answering]) -> Route:
        async def answer(request: Request) -> Response:
            return await by_method["GET" if request.method == "HEAD" else request.method](request)

        return Route(path, answer, methods=list(by_method))

    return [route(path, by_method) for path, by_method in by_path.items()]


def _file_routes(token: str) -> list[Route]:
    """Return a route for each file of the page; no other file can be requested."""

    def route(path: str, name: str, content: bytes) -> Route:
        async def page(request: Request) -> Response:
            return Response(content, media_type=kind_of(name))

        return Route(path, page, methods=["GET"])

    found = pages(token)
    return [
        route("/", INDEX, found[INDEX]),
        *(route(f"/{name}", name, content) for name, content in found.items()),
    ]


async def _openapi(request: Request) -> Response:
    return json_answer(description(__version__))


def _document_route(name: str, part: PagePart) -> Route:
    """Return the route of an extension's own HTML document, which may not run scripts."""

    async def page(request: Request) -> Response:
        text = await asyncio.to_thread(part.document) if part.document else None
        if text is None:
            raise NotFound(f"the page part {name!r} has no document here")
        headers = {"content-security-policy": REPORT_POLICY}
        return Response(text, media_type=kind_of(INDEX), headers=headers)

    return Route(f"/{name}", page, methods=["GET"])


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)
    return json_answer({"error": str(error)}, error.status)


async def _knightfall_error(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, NotFound) else 422
    return json_answer({"error": printable(str(error))}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path[:100]}"
    answer = json_answer({"error": f"{what}: {error.detail}"}, error.status_code)
    answer.headers.update(error.headers or {})
    return answer
