"""`GraphNode`: an object in the graph."""

from collections.abc import Collection

from sampan.controllers.garbage_collector.identity import ObjectIdentity, ObservedObject, OwnerRef


class GraphNode:
    """An object with its owners and dependents. Only the `Graph` changes nodes. Nodes are compared by identity."""

    __slots__ = (
        "_dependents",
        "has_foreground",
        "has_orphan",
        "identity",
        "is_deleting",
        "is_virtual",
        "owners",
        "resource_version",
    )

    def __init__(self, identity: ObjectIdentity, *, is_virtual: bool) -> None:
        self.identity = identity
        self.is_virtual = is_virtual
        """True for an owner that was never observed, only referenced by its dependents."""
        self.owners: tuple[OwnerRef, ...] = ()
        self.resource_version = ""
        self.is_deleting = False
        self.has_orphan = False
        self.has_foreground = False
        self._dependents: set[GraphNode] | None = None

    @property
    def dependents(self) -> Collection["GraphNode"]:
        """Nodes that reference this one as an owner."""
        return self._dependents or ()

    @property
    def is_orphaning(self) -> bool:
        """True if the object waits until its dependents are orphaned."""
        return self.is_deleting and self.has_orphan

    @property
    def is_deleting_dependents(self) -> bool:
        """True if the object waits for the deletion of its dependents (foreground deletion). Orphaning comes first."""
        return self.is_deleting and self.has_foreground and not self.has_orphan

    @property
    def state(self) -> ObservedObject:
        """State as last observed."""
        return ObservedObject(
            self.identity, self.owners, self.resource_version, self.is_deleting, self.has_orphan, self.has_foreground
        )

    def blocking_dependents(self) -> list["GraphNode"]:
        """Return the dependents that must be deleted before this object."""
        uid = self.identity.uid
        return [
            dependent
            for dependent in self.dependents
            if any(owner.blocks and owner.uid == uid for owner in dependent.owners)
        ]

    # The graph calls the methods below.

    def add_dependent(self, dependent: "GraphNode") -> None:
        """Add a dependent. The set is created with the first one, because most objects have none."""
        if self._dependents is None:
            self._dependents = set()
        self._dependents.add(dependent)

    def remove_dependent(self, dependent: "GraphNode") -> None:
        """Remove a dependent, if present."""
        if self._dependents is not None:
            self._dependents.discard(dependent)

    def __repr__(self) -> str:
        return f"{'virtual ' if self.is_virtual else ''}node {self.identity}"
