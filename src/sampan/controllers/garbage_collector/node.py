"""`Node`: an object in the graph."""

from collections.abc import Collection

from sampan.controllers.garbage_collector.identity import Identity, OwnerRef, State


class Node:
    """An object, its owners and its dependents. Written by the `Graph` alone; equal means: the same."""

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

    def __init__(self, identity: Identity, *, is_virtual: bool) -> None:
        self.identity = identity
        self.is_virtual = is_virtual
        """It was never seen: somebody says that it owns them."""
        self.owners: tuple[OwnerRef, ...] = ()
        self.resource_version = ""
        self.is_deleting = False
        self.has_orphan = False
        self.has_foreground = False
        self._dependents: set[Node] | None = None

    @property
    def dependents(self) -> Collection["Node"]:
        """Those that name it as an owner."""
        return self._dependents or ()

    @property
    def is_orphaning(self) -> bool:
        """Whether it waits for its dependents to be let go."""
        return self.is_deleting and self.has_orphan

    @property
    def is_deleting_dependents(self) -> bool:
        """Whether it waits for its dependents to go (foreground deletion). Letting go comes first."""
        return self.is_deleting and self.has_foreground and not self.has_orphan

    @property
    def state(self) -> State:
        """As it was seen last."""
        return State(
            self.identity, self.owners, self.resource_version, self.is_deleting, self.has_orphan, self.has_foreground
        )

    def blocking_dependents(self) -> list["Node"]:
        """The dependents that must go before it can."""
        uid = self.identity.uid
        return [
            dependent
            for dependent in self.dependents
            if any(owner.blocks and owner.uid == uid for owner in dependent.owners)
        ]

    # What follows is for the graph.

    def add_dependent(self, dependent: "Node") -> None:
        """One more. Most objects have none: they have no set, either."""
        if self._dependents is None:
            self._dependents = set()
        self._dependents.add(dependent)

    def remove_dependent(self, dependent: "Node") -> None:
        """One less, if it is one."""
        if self._dependents is not None:
            self._dependents.discard(dependent)

    def __repr__(self) -> str:
        return f"{'virtual ' if self.is_virtual else ''}node {self.identity}"
