"""`OwnerLookup`: classifies the owners of an object.

Source: pkg/controller/garbagecollector/garbagecollector.go `isDangling`, `classifyReferences` (1.36).

Unlike in Kubernetes, the server is not queried for an owner that is in the graph. If that owner is deleted later, its
dependents are queued again. Only a response of the server can classify an owner as dangling.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import ObjectIdentity, OwnerRef
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone


@dataclass(slots=True)
class ClassifiedOwners:
    """UIDs of an object's owners, by class."""

    solid: list[str] = field(default_factory=list)
    """Existing owners that keep the object."""
    dangling: list[str] = field(default_factory=list)
    """Owners that do not exist."""
    waiting: list[str] = field(default_factory=list)
    """Existing owners that wait for the object's deletion."""


class OwnerLookup:
    """Looks owners up in the graph, and on the server if they are not in the graph."""

    def __init__(self, graph: Graph, objects: LiveObjects) -> None:
        self._graph = graph
        self._objects = objects

    async def classify(self, namespace: str, references: Iterable[OwnerRef]) -> ClassifiedOwners:
        """Classify the owners of an object. `namespace` is empty for a cluster-scoped object.

        Raises `NamespacedOwnerOfClusterObject`, `NoMatch`, `ApiError`, `TransportError`.
        """
        owners = ClassifiedOwners()
        for reference in references:
            waits = self._from_graph(namespace, reference)
            if waits is None:
                waits = await self._from_server(namespace, reference)
            found = owners.dangling if waits is None else owners.waiting if waits else owners.solid
            found.append(reference.uid)
        return owners

    def _from_graph(self, namespace: str, reference: OwnerRef) -> bool | None:
        """Return True if the owner waits for the deletion of its dependents.

        Return None if the graph has no matching real node.
        """
        node = self._graph.node(reference.uid)
        if node is None or node.is_virtual or not node.identity.is_named_by(reference):
            return None
        if node.identity.namespace not in ("", namespace):
            return None
        return node.is_deleting_dependents

    async def _from_server(self, namespace: str, reference: OwnerRef) -> bool | None:
        """Return True if the owner waits for the deletion of its dependents.

        Return None if the server does not have the owner.
        """
        if self._graph.absent.has(reference, namespace):
            return None
        identity = ObjectIdentity(*reference[:4], namespace)
        info = await self._objects.resource_of(identity)
        if not info.namespaced:
            identity = identity._replace(namespace="")
        elif not namespace:
            raise NamespacedOwnerOfClusterObject(f"a cluster-scoped object has the namespaced owner {identity}")
        try:
            state = await self._objects.get(identity)
        except ObjectGone:
            self._graph.absent.add(identity)
            return None
        return state.is_deleting and state.has_foreground
