"""Sections of the fields of a CRD: its schema has no names for types, so their paths are the headings."""

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.site.reference.fields import HEAD, short, type_of
from scripts.site.reference.markdown import anchor, code, filled, plain

Json = Mapping[str, Any]


def inline_sections(schema: Json) -> Iterator[str]:
    """Yield a section for each object of a structural schema, with the table of its fields."""
    for path, node in _objects("", schema):
        yield from (f"## {code(path) or 'Fields'}", "")
        if path and node.get("description"):
            yield from (plain(short(node["description"])), "")
        yield from (*filled(HEAD, [_row(path, name, node) for name in node["properties"]]), "")


def _row(path: str, name: str, node: Json) -> tuple[str, ...]:
    field = node["properties"][name]
    required = "yes" if name in node.get("required", ()) else ""
    default = code(str(field["default"])) if "default" in field else ""
    return code(name), _type(f"{path}.{name}".lstrip("."), field), required, default, plain(short(_text(field)))


def _text(field: Json) -> str:
    return str(field.get("description", ""))


def _type(path: str, field: Json) -> str:
    below = next((place for place, _ in _objects(path, field)), "")
    text = type_of(field, str)
    return f"[{text}](#{anchor(below)})" if below else text


def _objects(path: str, node: Json) -> Iterator[tuple[str, Json]]:
    """Yield each object with its path. A list is `path[]`."""
    if node.get("properties"):
        yield path, node
        for name, child in node["properties"].items():
            yield from _objects(f"{path}.{name}".lstrip("."), child)
    if isinstance(node.get("items"), dict):
        yield from _objects(f"{path}[]", node["items"])
