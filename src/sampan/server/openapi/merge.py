"""Merging of OpenAPI v2 documents of several servers.

Source: kube-openapi pkg/aggregator (1.36): paths filtered, definitions that clash renamed.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from sampan.server.openapi.shared_parameters import inline_parameters

Json = dict[str, Any]

_REFERENCE = "#/definitions/"


def below(document: Json, path: str) -> Json:
    """Return the part of a document for `path` and the paths below, with the required definitions."""
    paths = {name: item for name, item in inline_parameters(document).items() if is_below(name, path)}
    definitions = document.get("definitions") or {}
    desired: dict[str, Any] = {}
    open_ = list(_references(paths))
    while open_:
        name = open_.pop()
        if name not in desired and name in definitions:
            desired[name] = definitions[name]
            open_ += _references(definitions[name])
    return {"paths": paths, "definitions": desired}


def is_below(path: str, root: str) -> bool:
    """Return True if a path is `root` or below it."""
    return path == root or path.startswith(f"{root}/")


def merged(document: Json, parts: Mapping[str, Sequence[Json]]) -> Json:
    """Return a copy of `document` with the parts of backends. `parts` has them by path.

    A part replaces the local operations below its path. A definition gets a new name if a different definition already
    has its name (`Name_v2`, `Name_v3`, …).
    """
    own = {name: item for name, item in document["paths"].items() if not any(is_below(name, root) for root in parts)}
    paths, definitions = dict(own), dict(document["definitions"])
    for each in parts.values():
        for part in each:
            names = _new_names(part["definitions"], definitions)
            for name, schema in part["definitions"].items():
                definitions[names.get(name, name)] = _renamed(schema, names)
            for path, item in part["paths"].items():
                paths.setdefault(path, _renamed(item, names))
    return {**document, "paths": dict(sorted(paths.items())), "definitions": dict(sorted(definitions.items()))}


def _new_names(part: Json, taken: Json) -> dict[str, str]:
    """Return new names for definitions that differ from those of the same name, or refer to such a definition."""
    clashing = {name for name, schema in part.items() if name in taken and taken[name] != schema}
    found = len(clashing) - 1
    while found < len(clashing):
        found = len(clashing)
        shared = [name for name in part if name in taken and name not in clashing]
        clashing |= {name for name in shared if not clashing.isdisjoint(_references(part[name]))}
    return {name: _free_name(name, taken, part) for name in sorted(clashing)}


def _free_name(name: str, taken: Container[str], part: Container[str]) -> str:
    """Return the first unused name."""
    number = 2
    while (candidate := f"{name}_v{number}") in part or candidate in taken:
        number += 1
    return candidate


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return node
    if isinstance(node, dict):
        return {
            key: _renamed_reference(value, names) if key == "$ref" else _renamed(value, names)
            for key, value in node.items()
        }
    return [_renamed(each, names) for each in node] if isinstance(node, list) else node


def _renamed_reference(value: Any, names: Mapping[str, str]) -> Any:
    name = _target(value)
    return f"{_REFERENCE}{names[name]}" if name in names else _renamed(value, names)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        name = _target(node.get("$ref"))
        if name:
            yield name
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _references(each)


def _target(value: Any) -> str:
    return value.removeprefix(_REFERENCE) if isinstance(value, str) and value.startswith(_REFERENCE) else ""
