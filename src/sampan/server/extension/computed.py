"""`ComputedResource`: a read-only resource whose objects are computed for each request."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns import DEFAULT_COLUMNS
from sampan.registry.definition import Column, ResourceDefinition, VersionDefinition
from sampan.registry.strategy import Strategy
from sampan.schema.structural import Schema

ListObjects = Callable[[str], Awaitable[Sequence[Object]]]
"""Returns the objects of a namespace in order; "" means all namespaces or a cluster-scoped resource. Objects need
neither kind nor apiVersion. Raises `StatusError`.
"""

GetObject = Callable[[str, str], Awaitable[Object]]
"""Returns the object of a namespace and a name. Raises `StatusError` 404 if there is none."""


@dataclass(frozen=True, slots=True)
class ComputedResource:
    """Description of a resource for clients, and the source of its objects."""

    resource: str
    kind: str
    list: ListObjects
    namespaced: bool = True
    singular: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """OpenAPI v3 schema of an object, for `kubectl explain`."""
    columns: tuple[Column, ...] = DEFAULT_COLUMNS
    """Columns of `kubectl get`."""
    get: GetObject | None = None
    """Returns one object; None: it is found in the list."""

    def definition(self, group: str, version: str) -> ResourceDefinition:
        """Return the definition for discovery and OpenAPI."""
        served = VersionDefinition(version, Schema, openapi=dict(self.schema))
        return ResourceDefinition(
            group,
            self.resource,
            self.singular,
            self.kind,
            f"{self.kind}List",
            self.namespaced,
            ("get", "list"),
            {version: served},
            version,
            Strategy(),
            builtin=False,
        )
