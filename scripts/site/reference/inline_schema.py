"""Sections of the fields of a CRD: its schema has no names for types, so their paths are the headings."""

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.site.reference.fields import HEAD, field_row, short, type_of
from scripts.site.reference.markdown import anchor, code, plain, table

Json = Mapping[str, Any]


def inline_sections(schema: Json) -> Iterator[str]:
    """Yield a section for each object of a structural schema, with the table of its fields."""
    for path, node in _objects("", schema):
        yield from (f"## {code(path) or 'Fields'}", "")
        if path and node.get("description"):
            yield from (plain(short(node["description"])), "")
        required = node.get("required", ())
        rows = [
            field_row(name, field, _type(f"{path}.{name}".lstrip("."), field), name in required)
            for name, field in node["properties"].items()
        ]
        yield from (*table(HEAD, rows), "")


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
