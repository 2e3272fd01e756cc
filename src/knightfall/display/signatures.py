"""Signatures as `help` shows them: types without quotes, names of modules and aliases."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from inspect import Signature, formatannotation, signature
from typing import Any


class _TypeText(str):
    """A type as `help` shows it."""

    def __new__(cls, annotation: Any) -> _TypeText:
        return super().__new__(cls, re.sub(r"(?:\w+\.)+(?=\w)", "", formatannotation(annotation)))

    __repr__ = str.__str__


def readable(given: Signature) -> Signature:
    """Return a signature with each type replaced by its text.  The types are not strings."""
    return given.replace(
        parameters=[
            one.replace(annotation=_TypeText(one.annotation)) for one in given.parameters.values()
        ],
        return_annotation=_TypeText(given.return_annotation),
    )


def show_types(function: Callable[..., Any]) -> None:
    """Give a function a readable signature, unless it has one or its types cannot be evaluated."""
    if not hasattr(function, "__signature__"):
        with suppress(Exception):  # an extension's function may name types that do not exist
            shown = readable(signature(function, eval_str=True))
            function.__signature__ = shown  # type: ignore[attr-defined]
