"""`Graph`: the graph of owners and dependents. It queues the objects that a change affects.

Concurrency: all calls run on one event loop and never await, so every change is atomic.
Source: pkg/controller/garbagecollector/graph_builder.go (1.36).

Unlike in Kubernetes, a dependent is processed immediately if its owner already waits for the deletion of its
dependents. A virtual node is removed with its last dependent.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import ObjectIdentity, ObservedObject, OwnerRef
from sampan.informer.version import older
from sampan.operator.queue import WorkQueue

FOREGROUND_DELAY_S: Final = 0.1
"""Delay before an object without known dependents is deleted in the foreground: other watches may lag behind."""

Report = Callable[[ObjectIdentity, OwnerRef], None]
"""Callback for an object whose owner is in another namespace."""
ABSENT_OWNERS_MAX: Final = 500


class Graph:
    """All objects by UID. Owners that are referenced but were never observed are virtual nodes.

    Nodes that may be garbage go to the queue `to_delete`. Nodes whose dependents must be orphaned go to `to_orphan`.
    """

    def __init__(self, to_delete: WorkQueue[GraphNode], to_orphan: WorkQueue[GraphNode], report: Report) -> None:
        self.absent = AbsentOwners()
        self._to_delete = to_delete
        self._to_orphan = to_orphan
        self._report = report
        self._nodes: dict[str, GraphNode] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, uid: str) -> GraphNode | None:
        """Return the node with a UID, or None."""
        return self._nodes.get(uid)

    def observe(self, state: ObservedObject, *, listed: bool = False) -> GraphNode:
        """Add or update an object. A state older than the node's is ignored, unless it comes from a list."""
        uid = state.identity.uid
        node = self._nodes.get(uid)
        if node is None:
            node = self._nodes[uid] = GraphNode(state.identity, is_virtual=False)
        elif node.is_virtual:
            self._materialize(node, state.identity)
        elif not listed and older(state.resource_version, node.resource_version):
            return node
        if node.identity != state.identity:
            node.identity = state.identity  # Another version of its resource is watched now.
        if node.owners != state.owners:
            self._change_owners(node, state.owners)
        self._change_state(node, state)
        return node

    def remove(self, identity: ObjectIdentity) -> None:
        """Remove a deleted object."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        if node.is_virtual:
            self._materialize(node, identity)
        self._remove(node, identity)

    def found_absent(self, identity: ObjectIdentity) -> None:
        """Handle an object that the server does not have, although a node for it exists."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        matching, others = partition(node.dependents, identity)
        if node.is_virtual and others:
            self._queue_dependents(matching, identity)
            if node.identity == identity:
                self._try_alternative(node, others)
        elif not node.is_virtual and node.identity != identity:
            self._queue_dependents(matching, identity)
        else:
            self._remove(node, identity)

    def lose(self, uid: str) -> None:
        """Forget an object whose resource is no longer watched. It stops blocking the deletion of its owners."""
        node = self._nodes.get(uid)
        if node is None:
            return
        self._unlink(node, node.owners)
        # An owner may wait for the deletion of this dependent, and no other event would queue it.
        self._queue_waiting(node.owners)
        node.owners = ()
        if not node.dependents:
            del self._nodes[uid]
            return
        # Its dependents still reference it, so it becomes a virtual node. A worker checks whether the object exists.
        node.is_virtual = True
        node.is_deleting = node.has_orphan = node.has_foreground = False
        self._to_delete.add(node)

    # ---- changes of an object

    def _materialize(self, node: GraphNode, identity: ObjectIdentity) -> None:
        """Turn a virtual node into a real one. Dependents with conflicting references are queued."""
        node.is_virtual = False
        if node.identity == identity:
            return
        for dependent in partition(node.dependents, identity)[1]:
            if identity.namespace and dependent.identity.namespace != identity.namespace:
                self._report_wrong_namespace(dependent, identity.uid)
            self._to_delete.add(dependent)
        node.identity = identity

    def _change_state(self, node: GraphNode, state: ObservedObject) -> None:
        was_orphaning, was_deleting_dependents = node.is_orphaning, node.is_deleting_dependents
        _, _, node.resource_version, node.is_deleting, node.has_orphan, node.has_foreground = state
        if node.is_orphaning and not was_orphaning:
            self._to_orphan.add(node)
        if node.is_deleting_dependents and not was_deleting_dependents:
            for dependent in node.dependents:
                self._to_delete.add(dependent)
            # The deletion of its dependents queues it again. Dependents that are not in the graph yet need the delay.
            self._to_delete.add_after(node, FOREGROUND_DELAY_S)

    def _change_owners(self, node: GraphNode, owners: tuple[OwnerRef, ...]) -> None:
        before = {reference.uid: reference for reference in node.owners}
        now = {reference.uid: reference for reference in owners}
        node.owners = owners
        for uid, reference in before.items():
            if reference.blocks and not (uid in now and now[uid].blocks):
                self._queue_node(uid)  # The owner may have waited for this dependent.
        self._link(node, [reference for uid, reference in now.items() if uid not in before])
        self._unlink(node, [reference for uid, reference in before.items() if uid not in now])

    def _remove(self, node: GraphNode, identity: ObjectIdentity) -> None:
        del self._nodes[identity.uid]
        self._unlink(node, node.owners)
        if node.dependents:
            self._queue_dependents(node.dependents, identity)
        self._queue_waiting(node.owners)

    # ---- owners and dependents

    def _link(self, node: GraphNode, owners: Iterable[OwnerRef]) -> None:
        is_doubtful = False
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is None:
                identity = ObjectIdentity(*reference[:4], node.identity.namespace)
                owner = self._nodes[reference.uid] = GraphNode(identity, is_virtual=True)
                # Linked at once: the check of the owner then finds the dependent and can queue it.
                owner.add_dependent(node)
                self._to_delete.add(owner)  # A worker checks whether it exists.
                continue
            owner.add_dependent(node)
            is_doubtful = is_doubtful or owner.is_deleting_dependents or self._is_doubtful(node, reference, owner)
        if is_doubtful:
            self._to_delete.add(node)

    def _is_doubtful(self, node: GraphNode, reference: OwnerRef, owner: GraphNode) -> bool:
        """Return True if a reference may be wrong: its UID belongs to a node with another identity."""
        namespace = owner.identity.namespace
        if namespace and namespace != node.identity.namespace:
            if not owner.is_virtual:
                self._report_wrong_namespace(node, reference.uid)
            return True
        if not owner.identity.is_named_by(reference):
            return True
        # A cluster-scoped dependent guessed this identity. The kind may be namespaced, and missing in this namespace.
        return owner.is_virtual and namespace != node.identity.namespace

    def _unlink(self, node: GraphNode, owners: Iterable[OwnerRef]) -> None:
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is None:
                continue
            owner.remove_dependent(node)
            if owner.is_virtual and not owner.dependents:
                del self._nodes[reference.uid]

    def _queue_dependents(self, dependents: Iterable[GraphNode], absent: ObjectIdentity) -> None:
        """Queue the dependents of an absent owner, which may be garbage."""
        for index, dependent in enumerate(dependents):
            if not index:
                self.absent.add(absent)
            self._to_delete.add(dependent)

    def _try_alternative(self, node: GraphNode, dependents: Iterable[GraphNode]) -> None:
        alternative = alternative_identity(dependents, node.identity)
        if alternative is not None:
            node.identity = alternative
            self._to_delete.add_rate_limited(node)

    def _queue_node(self, uid: str) -> None:
        node = self._nodes.get(uid)
        if node is not None:
            self._to_delete.add(node)

    def _queue_waiting(self, owners: Iterable[OwnerRef]) -> None:
        """Queue the owners that wait for the deletion of their dependents."""
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is not None and owner.is_deleting_dependents:
                self._to_delete.add(owner)

    def _report_wrong_namespace(self, dependent: GraphNode, owner_uid: str) -> None:
        for reference in dependent.owners:
            if reference.uid == owner_uid:
                self._report(dependent.identity, reference)
                return


def partition(dependents: Iterable[GraphNode], owner: ObjectIdentity) -> tuple[list[GraphNode], list[GraphNode]]:
    """Split dependents into those whose references match the owner's identity, and those that conflict with it.

    References conflict if they have the same UID, but another kind, version, name or namespace. A dependent with
    several references to the owner's UID may be in both lists. Source: graph_builder.go `partitionDependents`.
    """
    matching: list[GraphNode] = []
    others: list[GraphNode] = []
    for dependent in dependents:
        if owner.namespace and dependent.identity.namespace != owner.namespace:
            others.append(dependent)
            continue
        matches = [owner.is_named_by(reference) for reference in dependent.owners if reference.uid == owner.uid]
        if any(matches):
            matching.append(dependent)
        if not all(matches):
            others.append(dependent)
    return matching, others


def alternative_identity(dependents: Iterable[GraphNode], absent: ObjectIdentity) -> ObjectIdentity | None:
    """Return another identity that dependents give for the absent owner's UID, or None.

    It is the next one in sort order, so repeated calls try every candidate. Source: `getAlternateOwnerIdentity`.
    """
    found = sorted(set(_identities(dependents, absent)) - {absent}, key=_order)
    return next((identity for identity in found if _order(identity) > _order(absent)), found[0] if found else None)


def _identities(dependents: Iterable[GraphNode], absent: ObjectIdentity) -> Iterator[ObjectIdentity]:
    of_cluster = not absent.namespace
    for dependent in dependents:
        for reference in dependent.owners:
            if reference.uid != absent.uid:
                continue
            # A kind that is cluster-scoped for one dependent is so for all of them.
            same_kind = (reference.api_version, reference.kind) == (absent.api_version, absent.kind)
            namespace = "" if of_cluster and same_kind else dependent.identity.namespace
            yield ObjectIdentity(*reference[:4], namespace)


def _order(identity: ObjectIdentity) -> tuple[str, ...]:
    return identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid


class AbsentOwners:
    """Bounded LRU cache of owners that the server does not have, which saves one request for each dependent.

    Source: pkg/controller/garbagecollector/uid_cache.go (1.36).
    """

    def __init__(self, size_max: int = ABSENT_OWNERS_MAX) -> None:
        self._size_max = size_max
        self._identities: OrderedDict[ObjectIdentity, None] = OrderedDict()

    def add(self, identity: ObjectIdentity) -> None:
        """Add an owner that the server does not have. The entry stays valid, because UIDs are never reused."""
        self._identities[identity] = None
        self._identities.move_to_end(identity)
        if len(self._identities) > self._size_max:
            self._identities.popitem(last=False)

    def has(self, reference: OwnerRef, namespace: str) -> bool:
        """Return True if the owner in a reference is absent, either as a cluster-scoped object or in the namespace."""
        return any(self._has(ObjectIdentity(*reference[:4], where)) for where in dict.fromkeys(("", namespace)))

    def _has(self, identity: ObjectIdentity) -> bool:
        if identity not in self._identities:
            return False
        self._identities.move_to_end(identity)
        return True
