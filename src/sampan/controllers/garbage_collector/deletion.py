"""`Deletion`: looks at an object that may be garbage, and deletes it if it is.

| its owners | what happens |
|---|---|
| none | it stays |
| some hold it | it stays; references to others go, so that nobody waits for it |
| some wait for it, and it has dependents | it is deleted, its own dependents first |
| all others | it is deleted, in the manner that its finalizers say |

Source: pkg/controller/garbagecollector/garbagecollector.go `attemptToDeleteItem` (1.36). Otherwise than there, the
first look trusts the graph: the resourceVersion is a precondition of the deletion, so a state that has changed is
noticed, and read.
"""

import logging
from typing import Final

from sampan.client import ClientError, Conflict, NoMatch, TransportError
from sampan.client.options import Propagation
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import FOREGROUND, Identity, State
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone
from sampan.controllers.garbage_collector.node import Node
from sampan.controllers.garbage_collector.owners import OwnerLookup
from sampan.operator.queue import WorkQueue

_log: Final = logging.getLogger("sampan.controller.garbage-collector")


class Deletion:
    """Works on the queue of nodes that may be garbage."""

    def __init__(self, graph: Graph, objects: LiveObjects, queue: WorkQueue[Node]) -> None:
        self._graph = graph
        self._objects = objects
        self._queue = queue
        self._owners = OwnerLookup(graph, objects)

    async def attempt(self, node: Node) -> bool:
        """Look at a node; False when it is to be tried again."""
        if self._graph.node(node.identity.uid) is not node:
            return True
        identity = node.identity
        try:
            await self._look_at(node)
        except ObjectGone:
            self._graph.found_absent(identity)
            # It may be something else that its dependents mean: that is looked at later, and its failures count.
            return not node.is_virtual or self._graph.node(identity.uid) is not node
        except NamespacedOwnerOfClusterObject as error:
            _log.info("not collected: %s", error)
            return True
        except NoMatch as error:
            _log.debug("not collected (yet): %s: %s", identity, error)
            return False
        except Conflict as error:
            _log.debug("has changed: %s: %s", identity, error)
            return False
        except TransportError as error:
            # The monitors tell of lost connections; here it would be told for every object.
            _log.debug("%s cannot be looked at: %s", identity, error)
            return False
        except ClientError as error:
            _log.warning("%s cannot be looked at: %s", identity, error)
            return False
        # A virtual node must be looked at until it is seen or known to be absent: it may have come and gone unseen.
        return not node.is_virtual

    async def _look_at(self, node: Node) -> None:
        if node.is_deleting_dependents:
            await self._wait_for_dependents(node)
        elif not node.is_deleting:
            trusted = not node.is_virtual and not self._queue.num_requeues(node)
            state = node.state if trusted else await self._objects.get(node.identity)
            if state.owners:
                await self._collect(node, state)

    async def _wait_for_dependents(self, node: Node) -> None:
        blocking = node.blocking_dependents()
        if not blocking:
            await self._objects.remove_finalizer(node.identity, FOREGROUND)
        for dependent in blocking:
            if not dependent.is_deleting:
                self._queue.add(dependent)

    async def _collect(self, node: Node, state: State) -> None:
        identity = node.identity
        owners = await self._owners.classify(identity.namespace, state.owners)
        if owners.solid:
            if owners.dangling or owners.waiting:
                await self._objects.remove_owners(identity, owners.dangling + owners.waiting)
        elif owners.waiting and node.dependents:
            if any(dependent.is_deleting_dependents for dependent in node.dependents):
                # Perhaps they wait for each other in a circle.
                blocked = [reference.uid for reference in state.owners if reference.blocks]
                state = await self._unblocked(identity, state, blocked)
            await self._delete(identity, state, "Foreground")
        else:
            await self._delete(identity, state, _policy(state))

    async def _unblocked(self, identity: Identity, state: State, blocked: list[str]) -> State:
        if not blocked:
            return state
        await self._objects.unblock_owners(identity, blocked)
        return await self._objects.get(identity)

    async def _delete(self, identity: Identity, state: State, policy: Propagation) -> None:
        """Delete the object if it still has the owners that it was judged by.

        An object that changes all the time in other ways must not escape: then its state is no precondition.
        """
        try:
            await self._objects.delete(identity, policy, state.resource_version)
        except Conflict:
            now = await self._objects.get(identity)
            if now.is_deleting:
                return
            if now.owners != state.owners:
                raise
            await self._objects.delete(identity, policy if policy == "Foreground" else _policy(now), "")


def _policy(state: State) -> Propagation:
    """What the object's finalizers ask for."""
    if state.has_orphan:
        return "Orphan"
    return "Foreground" if state.has_foreground else "Background"
