"""Make `defaults.json`: the published defaults that do not follow from the Go type of a field."""

import json
from typing import Any

import hatch_build
from scripts.kinds.schemas import definitions
from scripts.kinds.sources import Sources

Defaults = dict[str, dict[str, Any]]
"""Definition -> field -> default."""


class DefaultNotPublished(Exception):
    """A field's Go type implies a default, but the OpenAPI document states none."""


def content(sources: Sources, fields: dict[str, dict[str, str]]) -> bytes:
    """Return the content of `defaults.json`. `fields` is the content of `fields.json`. Raises `DefaultNotPublished`."""
    published = published_defaults(sources)
    nodes = definitions(sources)
    found: Defaults = {}
    for name in sorted(published):
        for field, child in nodes[name].get("properties", {}).items():
            fact = fields.get(name, {}).get(field)
            implied = None if fact is None else hatch_build.zero(child, fact, nodes)
            stated = published[name].get(field)
            if stated is None and implied is not None:
                raise DefaultNotPublished(
                    f"{name}.{field}: the Go type implies {implied!r}, but no document states it: add the case to "
                    "scripts/kinds/defaults.py"
                )
            if stated != implied:
                found.setdefault(name, {})[field] = stated
    return json.dumps(found, indent=1, sort_keys=True).encode() + b"\n"


def published_defaults(sources: Sources) -> Defaults:
    """Return the defaults of all fields that the OpenAPI v3 documents state; an entry for each definition in them."""
    found: Defaults = {}
    for path in sources.openapi_v3():
        document = json.loads(path.read_text())
        for name, node in document.get("components", {}).get("schemas", {}).items():
            properties = node.get("properties", {}).items()
            found[name] = {field: child["default"] for field, child in properties if "default" in child}
    return found
