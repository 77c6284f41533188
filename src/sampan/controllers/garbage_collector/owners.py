"""`OwnerLookup`: which owners of an object hold it.

Source: pkg/controller/garbagecollector/garbagecollector.go `isDangling`, `classifyReferences` (1.36). Otherwise than
there, the server is not asked for an owner that the graph has seen: should that one go, its dependents are looked at
again, and what says that an owner is *not* there is always the server.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import Identity, OwnerRef
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone


@dataclass(slots=True)
class Owners:
    """The owners of an object by what they mean for it; uids."""

    solid: list[str] = field(default_factory=list)
    """They are there, and hold it."""
    dangling: list[str] = field(default_factory=list)
    """They are not there."""
    waiting: list[str] = field(default_factory=list)
    """They are there, and wait for it to go."""


class OwnerLookup:
    """Finds out how it stands with the owners of objects."""

    def __init__(self, graph: Graph, objects: LiveObjects) -> None:
        self._graph = graph
        self._objects = objects

    async def classify(self, namespace: str, references: Iterable[OwnerRef]) -> Owners:
        """The owners that an object in a namespace (or of the cluster) names.

        Raises `NamespacedOwnerOfClusterObject`, `NoMatch`, `ApiError`, `TransportError`.
        """
        owners = Owners()
        for reference in references:
            waits = self._seen(namespace, reference)
            if waits is None:
                waits = await self._asked(namespace, reference)
            found = owners.dangling if waits is None else owners.waiting if waits else owners.solid
            found.append(reference.uid)
        return owners

    def _seen(self, namespace: str, reference: OwnerRef) -> bool | None:
        """Whether the owner waits, as far as the graph knows it by what the reference says; None: it does not."""
        node = self._graph.node(reference.uid)
        if node is None or node.is_virtual or not node.identity.is_named_by(reference):
            return None
        if node.identity.namespace not in ("", namespace):
            return None
        return node.is_deleting_dependents

    async def _asked(self, namespace: str, reference: OwnerRef) -> bool | None:
        """The same from the server; None: it is not there."""
        if self._graph.absent.has(reference, namespace):
            return None
        identity = Identity(*reference[:4], namespace)
        info = await self._objects.resource_of(identity)
        if not info.namespaced:
            identity = identity._replace(namespace="")
        elif not namespace:
            raise NamespacedOwnerOfClusterObject(f"an object of the cluster names the owner {identity}")
        try:
            state = await self._objects.get(identity)
        except ObjectGone:
            self._graph.absent.add(identity)
            return None
        return state.is_deleting and state.has_foreground
