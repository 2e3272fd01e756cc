"""The page: the engine for browsers, and what draws it."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    commands={
        "serve": "knightfall.web.commands:serve",
        "site": "knightfall.web.commands:site",
    }
)
