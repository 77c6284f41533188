"""Lessons: rules of a built-in kind that its schema does not have, learned from its validation."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.schema.structural import Schema

ITEM: Final = "[]"
"""Stands for the items of a list, in place of the name of a field."""


Key = tuple[Schema, str]
"""Field: the node of its object, and its name; or the node of a list, and `ITEM`."""
_REFUSED_LATER: Final = {
    "Pod": ("preemptionPolicy", "priorityClassName", "priority", "runtimeClassName", "overhead"),
    "Service": ("clusterIP", "clusterIPs", "healthCheckNodePort", "nodePort"),
}
"""Fields of the spec, by kind, that admission or the allocation of addresses may refuse. Both are no part of the judge.
"""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Rules of fields."""

    values: Mapping[Key, Sequence[Any]] = field(default_factory=dict)
    """Supported values."""
    never: Set[Key] = frozenset()
    """Fields that are never accepted."""
    required: Mapping[Schema, Sequence[str]] = field(default_factory=dict)
    """Fields that an object needs, and that must not be empty."""
    unions: Set[Schema] = frozenset()
    """Objects that have exactly one of their optional fields."""


NO_LESSONS: Final = Lessons()


def refused_later(kind: str, schema: Schema) -> Iterator[Key]:
    """Yield the fields of `_REFUSED_LATER` in the schema of a kind."""
    spec = schema.properties.get("spec")
    if spec is None:
        return
    for name in _REFUSED_LATER.get(kind, ()):
        for node in (spec, *(child.items for child in spec.properties.values())):
            if node is not None and name in node.properties:
                yield node, name
