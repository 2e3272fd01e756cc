"""What the page and the lab add to knightfall."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    commands={
        "serve": "knightfall.web.commands:serve",
        "site": "knightfall.web.commands:site",
    }
)
