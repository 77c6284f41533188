"""Read the published schema of a version field by field, in a form that two versions can be compared in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from scripts.kinds.defaults import published_defaults
from scripts.kinds.go_fields import declared_fields
from scripts.kinds.resources import rows
from scripts.kinds.sources import Json, Sources

LIST_KEYS: Final = {
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-strategy": "patch",
    "x-kubernetes-patch-merge-key": "merge key",
}
"""Extensions that decide how lists and maps are merged, and their names in the report."""

ResourceKey = tuple[str, str, str]
"""Group, version, resource."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a definition. `gates` are the feature gates that guard it."""

    type: str
    required: bool
    default: Any
    merge: str
    gates: tuple[str, ...]


def served_resources(sources: Sources) -> dict[ResourceKey, Json]:
    """Return the rows of `resources.json` by group, version and resource."""
    return {(row["group"], row["version"], row["resource"]): row for row in rows(sources)}


def fields_of(sources: Sources) -> dict[str, dict[str, Field]]:
    """Return the fields of every definition."""
    defaults = published_defaults(sources)
    gates = {
        name: {member.json_name: member.gates for _, member in members}
        for name, members in declared_fields(sources).items()
    }
    return {
        name: {
            field: Field(
                type=type_of(child),
                required=field in node.get("required", ()),
                default=defaults.get(name, {}).get(field),
                merge=merge_of(child),
                gates=gates.get(name, {}).get(field, ()),
            )
            for field, child in node.get("properties", {}).items()
        }
        for name, node in sources.definitions.items()
    }


def type_of(node: Mapping[str, Any]) -> str:
    """Return a type in short: `string`, `[]core.v1.Container`, `{}string` (a map)."""
    if "$ref" in node:
        return short(node["$ref"].rpartition("/")[2])
    if "items" in node:
        return "[]" + type_of(node["items"])
    if isinstance(node.get("additionalProperties"), dict):
        return "{}" + type_of(node["additionalProperties"])
    return str(node.get("format") or node.get("type", "any"))


def merge_of(node: Mapping[str, Any]) -> str:
    """Return how a list or map is merged: `list=map keys=["name"]`."""
    return " ".join(f"{short_key}={_plain(node[key])}" for key, short_key in LIST_KEYS.items() if key in node)


def short(definition: str) -> str:
    """Return a definition's name without what most of them share: `core.v1.Pod`."""
    return definition.removeprefix("io.k8s.api.").removeprefix("io.k8s.apimachinery.pkg.apis.")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
