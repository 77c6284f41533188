"""`DeletionWorker`: checks an object that may be garbage, and deletes it if it is.

| owners | action |
|---|---|
| none | the object stays |
| some exist and keep the object | the object stays; references to the other owners are removed |
| some wait for its deletion; it has dependents | the object is deleted in the foreground, after its own dependents |
| otherwise | the object is deleted with the policy that its finalizers request |

Source: pkg/controller/garbagecollector/garbagecollector.go `attemptToDeleteItem` (1.36).

Unlike in Kubernetes, the first attempt trusts the graph and does not read the object. The deletion has the
resourceVersion as a precondition, so a changed object causes a conflict and is then read.
"""

import logging
from typing import Final

from sampan.client import ClientError, Conflict, NoMatch, TransportError
from sampan.client.options import Propagation
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import FOREGROUND, ObjectIdentity, ObservedObject
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone
from sampan.controllers.garbage_collector.owners import OwnerLookup
from sampan.operator.queue import WorkQueue

_log: Final = logging.getLogger("sampan.controller.garbage-collector")


class DeletionWorker:
    """Processes the queue of nodes that may be garbage."""

    def __init__(self, graph: Graph, objects: LiveObjects, queue: WorkQueue[GraphNode]) -> None:
        self._graph = graph
        self._objects = objects
        self._queue = queue
        self._owners = OwnerLookup(graph, objects)

    async def attempt(self, node: GraphNode) -> bool:
        """Process a node; return False if it must be retried."""
        if self._graph.node(node.identity.uid) is not node:
            return True
        identity = node.identity
        try:
            await self._process(node)
        except ObjectGone:
            self._graph.found_absent(identity)
            # The references of its dependents may mean another object with this UID. A retry with backoff checks it.
            return not node.is_virtual or self._graph.node(identity.uid) is not node
        except NamespacedOwnerOfClusterObject as error:
            _log.info("object is not collected: %s", error)
            return True
        except NoMatch as error:
            _log.debug("object %s is not collected: its kind is not discovered yet: %s", identity, error)
            return False
        except Conflict as error:
            _log.debug("object %s has changed; retrying: %s", identity, error)
            return False
        except TransportError as error:
            # The monitors log lost connections. Here they would be logged for every object.
            _log.debug("garbage collection of object %s failed; retrying: %s", identity, error)
            return False
        except ClientError as error:
            _log.warning("garbage collection of object %s failed; retrying: %s", identity, error)
            return False
        # A virtual node is retried until its object is observed or found absent: it may have been created and deleted
        # unnoticed.
        return not node.is_virtual

    async def _process(self, node: GraphNode) -> None:
        if node.is_deleting_dependents:
            await self._wait_for_dependents(node)
        elif not node.is_deleting:
            trusted = not node.is_virtual and not self._queue.num_requeues(node)
            state = node.state if trusted else await self._objects.get(node.identity)
            if state.owners:
                await self._collect(node, state)

    async def _wait_for_dependents(self, node: GraphNode) -> None:
        blocking = node.blocking_dependents()
        if not blocking:
            await self._objects.remove_finalizer(node.identity, FOREGROUND)
        for dependent in blocking:
            if not dependent.is_deleting:
                self._queue.add(dependent)

    async def _collect(self, node: GraphNode, state: ObservedObject) -> None:
        identity = node.identity
        owners = await self._owners.classify(identity.namespace, state.owners)
        if owners.solid:
            if owners.dangling or owners.waiting:
                await self._objects.remove_owners(identity, owners.dangling + owners.waiting)
        elif owners.waiting and node.dependents:
            if any(dependent.is_deleting_dependents for dependent in node.dependents):
                # The dependents may wait for each other in a cycle.
                blocked = [reference.uid for reference in state.owners if reference.blocks]
                state = await self._unblocked(identity, state, blocked)
            await self._delete(identity, state, "Foreground")
        else:
            await self._delete(identity, state, _policy(state))

    async def _unblocked(self, identity: ObjectIdentity, state: ObservedObject, blocked: list[str]) -> ObservedObject:
        if not blocked:
            return state
        await self._objects.unblock_owners(identity, blocked)
        return await self._objects.get(identity)

    async def _delete(self, identity: ObjectIdentity, state: ObservedObject, policy: Propagation) -> None:
        """Delete the object if it still has the owners that the decision was based on.

        An object whose other fields change all the time would conflict forever. So the retry has no precondition.
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


def _policy(state: ObservedObject) -> Propagation:
    """Return the propagation policy that the object's finalizers request."""
    if state.has_orphan:
        return "Orphan"
    return "Foreground" if state.has_foreground else "Background"
