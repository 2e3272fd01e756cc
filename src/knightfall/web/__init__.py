"""The web page: the engine compiled for browsers, the page itself and the server behind it."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    commands={
        "serve": "knightfall.web.commands:serve",
        "site": "knightfall.web.commands:site",
    },
    panels={"serve": "Build and learn", "site": "Build and learn"},
)
