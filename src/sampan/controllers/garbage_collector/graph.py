"""`Graph`: who owns whom, and which objects are to be looked at after a change.

Concurrency: everything happens on one event loop and nothing here waits, so each change is whole before anybody looks.
Source: pkg/controller/garbagecollector/graph_builder.go (1.36). Otherwise than there, a dependent that comes when its
owner already waits for its dependents to go is looked at at once, and a virtual node goes with its last dependent.
"""

from collections.abc import Callable, Iterable
from typing import Final

from sampan.controllers.garbage_collector.absent_owners import AbsentOwners
from sampan.controllers.garbage_collector.alternatives import alternative_identity, partition
from sampan.controllers.garbage_collector.identity import Identity, OwnerRef, State
from sampan.controllers.garbage_collector.node import Node
from sampan.informer.version import older
from sampan.operator.queue import WorkQueue

FOREGROUND_DELAY_S: Final = 0.1
"""How long an object without dependents that is deleted in the foreground waits: other watches may be behind."""

Report = Callable[[Identity, OwnerRef], None]
"""Is told of an object that names an owner which is in another namespace."""


class Graph:
    """All objects by uid, with owners that were named and never seen as virtual nodes.

    Nodes that may be garbage go to the queue `to_delete`, nodes that wait for their dependents to be let go to
    `to_orphan`.
    """

    def __init__(self, to_delete: WorkQueue[Node], to_orphan: WorkQueue[Node], report: Report) -> None:
        self.absent = AbsentOwners()
        self._to_delete = to_delete
        self._to_orphan = to_orphan
        self._report = report
        self._nodes: dict[str, Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, uid: str) -> Node | None:
        """The node of an object."""
        return self._nodes.get(uid)

    def observe(self, seen: State, *, listed: bool = False) -> Node:
        """An object is there, or has changed. What is older than what is known changes nothing, unless it is listed."""
        uid = seen.identity.uid
        node = self._nodes.get(uid)
        if node is None:
            node = self._nodes[uid] = Node(seen.identity, is_virtual=False)
        elif node.is_virtual:
            self._find(node, seen.identity)
        elif not listed and older(seen.resource_version, node.resource_version):
            return node
        if node.identity != seen.identity:
            node.identity = seen.identity  # It is watched in another version now.
        if node.owners != seen.owners:
            self._change_owners(node, seen.owners)
        self._change_state(node, seen)
        return node

    def remove(self, identity: Identity) -> None:
        """An object has gone."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        if node.is_virtual:
            self._find(node, identity)
        self._remove(node, identity)

    def found_absent(self, identity: Identity) -> None:
        """The server does not have this object, though somebody names it, or nobody has told of its end."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        matching, others = partition(node.dependents, identity)
        if node.is_virtual and others:
            self._give_up(matching, identity)
            if node.identity == identity:
                self._try_alternative(node, others)
        elif not node.is_virtual and node.identity != identity:
            self._give_up(matching, identity)
        else:
            self._remove(node, identity)

    def lose(self, uid: str) -> None:
        """An object's resource is not watched any more. Nothing is known of the object; it blocks nobody."""
        node = self._nodes.get(uid)
        if node is None:
            return
        self._unlink(node, node.owners)
        self._look_at_waiting(node.owners)
        node.owners = ()
        if not node.dependents:
            del self._nodes[uid]
            return
        node.is_virtual = True
        node.is_deleting = node.has_orphan = node.has_foreground = False
        self._to_delete.add(node)

    # ---- an object changes

    def _find(self, node: Node, identity: Identity) -> None:
        """A virtual node turns out to be there. Those that say something else of it may be wrong about it."""
        node.is_virtual = False
        if node.identity == identity:
            return
        for dependent in partition(node.dependents, identity)[1]:
            if identity.namespace and dependent.identity.namespace != identity.namespace:
                self._tell_of_wrong_namespace(dependent, identity.uid)
            self._to_delete.add(dependent)
        node.identity = identity

    def _change_state(self, node: Node, seen: State) -> None:
        was_orphaning, was_deleting_dependents = node.is_orphaning, node.is_deleting_dependents
        _, _, node.resource_version, node.is_deleting, node.has_orphan, node.has_foreground = seen
        if node.is_orphaning and not was_orphaning:
            self._to_orphan.add(node)
        if node.is_deleting_dependents and not was_deleting_dependents:
            for dependent in node.dependents:
                self._to_delete.add(dependent)
            # With dependents it is looked at when they go; without, perhaps they are just not known yet.
            self._to_delete.add_after(node, FOREGROUND_DELAY_S)

    def _change_owners(self, node: Node, owners: tuple[OwnerRef, ...]) -> None:
        before = {reference.uid: reference for reference in node.owners}
        now = {reference.uid: reference for reference in owners}
        node.owners = owners
        for uid, reference in before.items():
            if reference.blocks and not (uid in now and now[uid].blocks):
                self._look_at(uid)  # It may have waited for this one.
        self._link(node, [reference for uid, reference in now.items() if uid not in before])
        self._unlink(node, [reference for uid, reference in before.items() if uid not in now])

    def _remove(self, node: Node, identity: Identity) -> None:
        del self._nodes[identity.uid]
        self._unlink(node, node.owners)
        if node.dependents:
            self._give_up(node.dependents, identity)
        self._look_at_waiting(node.owners)

    # ---- owners and dependents

    def _link(self, node: Node, owners: Iterable[OwnerRef]) -> None:
        is_doubtful = False
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is None:
                identity = Identity(*reference[:4], node.identity.namespace)
                owner = self._nodes[reference.uid] = Node(identity, is_virtual=True)
                owner.add_dependent(node)
                self._to_delete.add(owner)  # Whether it is there must be asked.
                continue
            owner.add_dependent(node)
            is_doubtful = is_doubtful or owner.is_deleting_dependents or self._is_doubtful(node, reference, owner)
        if is_doubtful:
            self._to_delete.add(node)

    def _is_doubtful(self, node: Node, reference: OwnerRef, owner: Node) -> bool:
        """Whether a reference may be wrong: another owner is known, or guessed, under its uid."""
        namespace = owner.identity.namespace
        if namespace and namespace != node.identity.namespace:
            if not owner.is_virtual:
                self._tell_of_wrong_namespace(node, reference.uid)
            return True
        if not owner.identity.is_named_by(reference):
            return True
        # Guessed by an object of the cluster, it may be a kind with namespaces that is missing in this one.
        return owner.is_virtual and namespace != node.identity.namespace

    def _unlink(self, node: Node, owners: Iterable[OwnerRef]) -> None:
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is None:
                continue
            owner.remove_dependent(node)
            if owner.is_virtual and not owner.dependents:
                del self._nodes[reference.uid]

    def _give_up(self, dependents: Iterable[Node], absent: Identity) -> None:
        """An owner is not there: its dependents may be garbage."""
        for index, dependent in enumerate(dependents):
            if not index:
                self.absent.add(absent)
            self._to_delete.add(dependent)

    def _try_alternative(self, node: Node, dependents: Iterable[Node]) -> None:
        alternative = alternative_identity(dependents, node.identity)
        if alternative is not None:
            node.identity = alternative
            self._to_delete.add_rate_limited(node)

    def _look_at(self, uid: str) -> None:
        node = self._nodes.get(uid)
        if node is not None:
            self._to_delete.add(node)

    def _look_at_waiting(self, owners: Iterable[OwnerRef]) -> None:
        """Owners that wait for their dependents to go, one of which has gone."""
        for reference in owners:
            owner = self._nodes.get(reference.uid)
            if owner is not None and owner.is_deleting_dependents:
                self._to_delete.add(owner)

    def _tell_of_wrong_namespace(self, dependent: Node, owner_uid: str) -> None:
        for reference in dependent.owners:
            if reference.uid == owner_uid:
                self._report(dependent.identity, reference)
                return
