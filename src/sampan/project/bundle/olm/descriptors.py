"""Descriptors of a kind's fields, from the schema of its CRD: how consoles show and edit them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sampan.resource import Object

DESCRIPTORS_MAX: Final = 200
"""Descriptors of one version. Consoles show them as a form, which is of no use beyond that."""
_DEPTH_MAX: Final = 3
_UI: Final = "urn:alm:descriptor:com.tectonic.ui"
_BY_TYPE: Final = {"boolean": "booleanSwitch", "integer": "number", "number": "number", "string": "text"}
_CONDITIONS: Final = "urn:alm:descriptor:io.kubernetes.conditions"
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def descriptors(schema: Mapping[str, Any], part: str) -> list[Object]:
    """Return the descriptors of `spec` or `status`. `schema`: that of a version of a CRD."""
    root = schema.get("properties", {}).get(part, {})
    return [each for _, each in zip(range(DESCRIPTORS_MAX), _below(root, "", _DEPTH_MAX), strict=False)]


def title_of(name: str) -> str:
    """Return the words of a name in camel case: `maxLoad` is `Max load`."""
    words = _WORDS.findall(name)
    text = " ".join(each if each.isupper() and len(each) > 1 else each.lower() for each in words) or name
    return text[0].upper() + text[1:]


def _below(schema: Mapping[str, Any], path: str, depth: int) -> Iterator[Object]:
    for name, field in schema.get("properties", {}).items():
        where = f"{path}.{name}" if path else name
        if field.get("type") == "object" and field.get("properties") and depth > 1:
            yield from _below(field, where, depth - 1)
            continue
        found: Object = {"path": where, "displayName": title_of(name)}
        if text := field.get("description"):
            found["description"] = text
        if hints := _hints(name, field):
            found["x-descriptors"] = hints
        yield found


def _hints(name: str, field: Mapping[str, Any]) -> list[str]:
    if name == "conditions" and field.get("type") == "array":
        return [_CONDITIONS]
    if choices := field.get("enum"):
        return [f"{_UI}:select:{each}" for each in choices]
    known = _BY_TYPE.get(str(field.get("type")))
    return [f"{_UI}:{known}"] if known else []
