"""What a request says, held to the schema that `/openapi.json` shows: one text for both.

Of JSON Schema, that is types, enums, bounds, lengths, patterns, lists and objects without other
fields.  An error names the field, what was given and what is accepted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from knightfall.display.printable import one_line
from knightfall.errors import KnightfallError
from knightfall.reading import parse_json
from knightfall.web.lab.guard import Refused

Schema = Mapping[str, Any]
SHOWN = 80
"""Letters of a bad value that are repeated."""


def read_body(body: bytes, kind: str, schema: Schema) -> dict[str, Any]:
    """The object in a request's body; an empty body is an object without fields."""
    if not body:
        value: Any = {}
    elif kind.partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, f"the body must be application/json, not {kind[:SHOWN] or 'untold'!r}")
    else:
        try:
            value = parse_json(body.decode("utf-8"))
        except (KnightfallError, UnicodeDecodeError) as error:
            raise Refused(400, f"the body is no JSON: {one_line(str(error))[:200]}") from None
    check(schema, value, "the body")
    return {**_defaults(schema), **value}


def read_query(given: Mapping[str, list[str]], schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """The parameters of an address; those that are not there have their default, or are absent."""
    found: dict[str, Any] = {}
    for name, texts in given.items():
        if name not in schemas:
            known = ", ".join(schemas) or "none at all"
            raise KnightfallError(f"nobody knows the parameter {_shown(name)}: there are {known}")
        if len(texts) > 1:
            raise KnightfallError(f"{name} is given {len(texts)} times")
        found[name] = _converted(schemas[name], texts[0])
        check(schemas[name], found[name], name)
    for name, schema in schemas.items():
        if "default" in schema:
            found.setdefault(name, schema["default"])
    return found


def _converted(schema: Schema, text: str) -> Any:
    """A whole number where one is wanted, if that is what it is."""
    if schema.get("type") == "integer" and re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        return int(text)
    return text


def _defaults(schema: Schema) -> dict[str, Any]:
    fields: Mapping[str, Schema] = schema.get("properties", {})
    return {name: field["default"] for name, field in fields.items() if "default" in field}


# -- a value and its schema ------------------------------------------------------------------


def check(schema: Schema, value: Any, where: str) -> None:
    """Refuse a value that is not what a schema says."""
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if kinds and not any(_IS[kind](value) for kind in kinds):
        _wrong(where, value, " or ".join(_NAMES[kind] for kind in kinds))
    if "enum" in schema and value not in schema["enum"]:
        _wrong(where, value, f"one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str):
        _check_text(schema, value, where)
    elif isinstance(value, list):
        _check_list(schema, value, where)
    elif isinstance(value, dict):
        _check_object(schema, value, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not low <= value <= high:
            _wrong(where, value, f"from {low:g} to {high:g}" if high < 1e15 else f"from {low:g} on")


def _check_text(schema: Schema, value: str, where: str) -> None:
    if len(value) > schema.get("maxLength", math.inf):
        _wrong(where, value, f"a text of at most {schema['maxLength']} letters")
    if len(value) < schema.get("minLength", 0):
        _wrong(where, value, "a text that says something")
    if "pattern" in schema and not re.search(schema["pattern"], value, re.ASCII):
        _wrong(where, value, f"as in {schema.get('examples', [schema['pattern']])[0]}")


def _check_list(schema: Schema, value: list[Any], where: str) -> None:
    low, high = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not low <= len(value) <= high:
        raise KnightfallError(f"{where} has {len(value)} items, and must have from {low} to {high}")
    for number, item in enumerate(value):
        check(schema.get("items", {}), item, f"{where}[{number}]")


def _check_object(schema: Schema, value: dict[str, Any], where: str) -> None:
    fields: Mapping[str, Schema] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise KnightfallError(f"{where} lacks {name}")
    for name, item in value.items():
        if name in fields:
            check(fields[name], item, name if where == "the body" else f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            known = ", ".join(fields) or "none at all"
            raise KnightfallError(f"{where} has no field {_shown(name)}: there are {known}")


def _wrong(where: str, value: Any, wanted: str) -> None:
    raise KnightfallError(f"{where} is {_shown(value)}, and must be {wanted}")


def _shown(value: Any) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_IS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: type(value) is int,
    "number": _is_number,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_NAMES = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
