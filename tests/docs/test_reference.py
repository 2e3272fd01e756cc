"""Every public name of the Python API is documented, with all parameters and fields."""

from __future__ import annotations

import inspect
import pydoc
import re
from typing import Any

import pytest
from test_docs import generator

import knightfall as kf
from knightfall.display.signatures import show_types

FUNCTIONS = [name for name in dir(kf) if not isinstance(getattr(kf, name), type)]
CLASSES = [getattr(kf, name) for name in dir(kf) if isinstance(getattr(kf, name), type)]


def documented(function: Any) -> dict[str, str]:
    """Return the arguments that a docstring describes, each with the beginning of its text."""
    return dict(re.findall(r"^    (\w+): (\S.*)$", inspect.getdoc(function) or "", re.MULTILINE))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_describes_its_parameters_and_has_an_example(name: str) -> None:
    function = getattr(kf, name)
    assert set(documented(function)) == set(inspect.signature(function).parameters)
    assert "Example:\n    >>> " in inspect.getdoc(function)
    assert function.__name__ == name


@pytest.mark.parametrize("kind", [*CLASSES, *generator().result_classes()])
def test_every_member_of_a_class_is_described(kind: type) -> None:
    made = generator()
    assert inspect.getdoc(kind)
    for written, about in made.members(kind):
        assert about, f"{kind.__name__}.{written} has no docstring"
        if "(" in written:
            method = getattr(kind, written.partition("(")[0])
            text = inspect.getdoc(method) or ""
            for parameter in set(inspect.signature(method).parameters) - {"self"}:
                inherited = text.startswith("See `")
                assert inherited or re.search(rf"\b{parameter}\b", text), (written, parameter)
    fields = made.fields_of(kind) if hasattr(kind, "__dataclass_fields__") else ()
    for written, about in fields:
        field = written.partition(":")[0]
        assert about or f"`{field}`" in (inspect.getdoc(kind) or ""), f"{kind.__name__}.{field}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_shows_readable_types_and_defaults(name: str) -> None:
    """Types have neither quotes nor names of modules nor aliases that only knightfall knows."""
    shown = inspect.signature(getattr(kf, name))
    for kind in (shown.return_annotation, *(one.annotation for one in shown.parameters.values())):
        assert re.fullmatch(r"[\w|\[\], .]+", repr(kind))
        assert not re.search(r"\w\.\w", repr(kind))
        assert not re.search(r"\b(AnAgent|ABook|AStore|ABudget|Notice|OnProgress|Score)\b", kind)
    assert not re.search(r"\*\*|<function|object at|: '|-> '", str(shown))


def test_the_signatures_of_functions_are_whole() -> None:
    grade, match = (str(inspect.signature(function)) for function in (kf.grade, kf.match))
    assert grade.startswith("(player: str | Agent | Chooser | Callable[..., Any] | Analyst, *, ")
    assert "store: str | PathLike[str] | None = None" in match
    assert match.endswith(") -> MatchReport")
    shown = pydoc.render_doc(kf.tune, renderer=pydoc.plaintext)
    words = "expression: str, folder: str | PathLike[str], *, nodes: int = 2500, "
    assert words in " ".join(
        shown.split()
    )  # from Python 3.13 on, a long one has a line a parameter


def test_a_type_that_does_not_exist_is_shown_as_it_is_written() -> None:
    def function(one: Missing, two: int) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass

    show_types(function)
    assert str(inspect.signature(function)) == "(one: 'Missing', two: 'int') -> 'None'"
