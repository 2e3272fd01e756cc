"""Parts of the page that extensions add (`knightfall.extensions.PagePart`), each a view of its own.

One that cannot be loaded is left out, and a warning of one line says so; one that fails when it is
shown says so in its own view.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

from knightfall.display.printable import one_line
from knightfall.errors import KnightfallError, NotFound
from knightfall.extensions import PagePart, added, load_added

NAME = "^[a-z]{1,20}$"
"""What a part may be called: the page's addresses have such words."""

TAKEN = ("play", "puzzles", "atlas", "games", "lab", "api", "model", "views")
"""Views of the page itself, and folders of the server."""


@cache
def page_parts() -> dict[str, PagePart]:
    """Return the parts that can be shown, by name."""
    found: dict[str, PagePart] = {}
    for name, (extension, path) in added("pages").items():
        try:
            part = load_added("pages", name)
            if not re.fullmatch(NAME, name) or name in TAKEN:
                raise KnightfallError("its name must be up to 20 small letters, and not taken")
            if not isinstance(part, PagePart):
                raise KnightfallError(f"{path} is {part!r:.60}, not a PagePart")
        except KnightfallError as error:
            text = one_line(str(error))
            warnings.warn(
                f"the page part {name!r} of the extension {extension!r} is left out: {text}",
                stacklevel=2,
            )
        else:
            found[name] = part
    return found


def page_part(name: str) -> PagePart:
    """Return a part by its name; raise `NotFound` if there is none."""
    found = page_parts().get(name)
    if found is None:
        known = ", ".join(page_parts()) or "none at all"
        raise NotFound(f"there is no page part {name!r}: there are {known}")
    return found


def fragment_of(name: str) -> str:
    """Return the HTML of a part; raise a `KnightfallError` of one line if it fails."""
    part = page_part(name)
    try:
        html = part.fragment()
        if not isinstance(html, str):
            raise TypeError(f"its fragment is {html!r:.60}, not a text")
    except Exception as error:
        extension, _ = added("pages")[name]
        raise KnightfallError(
            f"the page part {name!r} of the extension {extension!r} cannot be shown: "
            f"{type(error).__name__}: {one_line(str(error))[:200]}"
        ) from None
    return html
