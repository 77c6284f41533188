"""`ComputedResource`: a resource whose objects are not stored but made for each request. It is read only."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns import DEFAULT_COLUMNS
from sampan.registry.definition import Column, ResourceDefinition, VersionDefinition
from sampan.registry.strategy import Strategy
from sampan.schema.structural import Schema

ListObjects = Callable[[str], Awaitable[Sequence[Object]]]
"""Gives the objects of a namespace ("": of all of them, or cluster-scoped ones) in order. They need neither kind nor
apiVersion. Raises `StatusError`.
"""


@dataclass(frozen=True, slots=True)
class ComputedResource:
    """What clients see of it, and where its objects come from."""

    resource: str
    kind: str
    list: ListObjects
    namespaced: bool = True
    singular: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """OpenAPI v3 of an object, for `kubectl explain`."""
    columns: tuple[Column, ...] = DEFAULT_COLUMNS
    """What `kubectl get` shows."""

    def definition(self, group: str, version: str) -> ResourceDefinition:
        """The same for discovery and OpenAPI."""
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
