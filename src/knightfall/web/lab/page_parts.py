"""Views that extensions add to the page (`knightfall.extensions.PagePart`).

A part that cannot be loaded is left out with a warning of one line.  A part that fails when it is
shown reports the error in its own view.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

from knightfall.display.printable import one_line
from knightfall.errors import KnightfallError, NotFound
from knightfall.extensions import PagePart, added, load_added

NAME = "^[a-z]{1,20}$"
"""Pattern of a part's name, which becomes a word in the page's address."""

TAKEN = ("play", "puzzles", "atlas", "games", "lab", "api", "model", "views")
"""Names that parts may not have: the page's own views and the server's folders."""


@cache
def page_parts() -> dict[str, PagePart]:
    """Return the parts that can be shown, by name."""
    found: dict[str, PagePart] = {}
    for name, (extension, path) in added("pages").items():
        try:
            part = load_added("pages", name)
            if not re.fullmatch(NAME, name) or name in TAKEN:
                raise KnightfallError(
                    f"its name must be 1 to 20 lower-case letters, and none of {', '.join(TAKEN)}"
                )
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
    """Return a part by its name; raise `NotFound` if it does not exist."""
    found = page_parts().get(name)
    if found is None:
        known = ", ".join(page_parts()) or "none"
        raise NotFound(f"there is no page part {name!r}; known: {known}")
    return found


def fragment_of(name: str) -> str:
    """Return the HTML of a part; raise a `KnightfallError` of one line if it fails."""
    part = page_part(name)
    try:
        html = part.fragment()
        if not isinstance(html, str):
            raise TypeError(f"its fragment is {html!r:.60}, not a string")
    except Exception as error:
        extension, _ = added("pages")[name]
        raise KnightfallError(
            f"the page part {name!r} of the extension {extension!r} cannot be shown: "
            f"{type(error).__name__}: {one_line(str(error))[:200]}"
        ) from None
    return html
