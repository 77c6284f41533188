"""`Cache`: Nodes and Pods from the informers, and Pods that the scheduler has just assigned to a Node.

A Pod is assumed to be on its Node from the moment of the decision until the informer confirms it. If a bound Pod is
never confirmed, the assumption expires, so that a lost event cannot block a Node forever.
Source: pkg/scheduler/backend/cache/cache.go (1.36).
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels, Node

ASSUMED_S: Final = 900.0
"""Seconds after which the assumption of a bound but unconfirmed Pod expires."""


class Cache:
    """Nodes and Pods. Event handlers and the scheduling task change them, all on one event loop."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Create the cache; `now` returns seconds of a monotonic clock."""
        self.nodes = NodeTable()
        self.namespaces: dict[str, Labels] = {}
        self._now = now
        self._pods: dict[str, PodInfo] = {}
        self._assumed: dict[str, float | None] = {}
        self.has_assumed = asyncio.Event()
        """Set while a Pod is assumed to be bound."""

    # Pods

    def get(self, uid: str) -> PodInfo | None:
        """Return a Pod that is on a Node, or None."""
        return self._pods.get(uid)

    def sizes(self) -> dict[str, int]:
        """Return the numbers of Nodes, of Pods on them, and of assumed Pods among those."""
        return {"nodes": self.nodes.count, "pods": len(self._pods), "assumed_pods": len(self._assumed)}

    def is_assumed(self, uid: str) -> bool:
        """Return True if the Pod is assumed and the informer has not confirmed it yet."""
        return uid in self._assumed

    def assume(self, pod: PodInfo) -> None:
        """Add a Pod to its Node before the informer reports it."""
        assert pod.uid not in self._pods
        self._add(pod)
        # No expiry before the binding has finished: a plugin may wait for a volume for many minutes.
        self._assumed[pod.uid] = None
        self.has_assumed.set()

    def finish_binding(self, uid: str) -> None:
        """Start the expiry of an assumed Pod that has been bound."""
        if uid in self._assumed:
            self._assumed[uid] = self._now() + ASSUMED_S

    def forget(self, uid: str) -> PodInfo | None:
        """Remove an assumed Pod that was not bound; return it."""
        if uid not in self._assumed:
            return None
        del self._assumed[uid]
        return self._remove(uid)

    def confirm(self, uid: str, node_name: str) -> bool:
        """Confirm an assumed Pod; return True if the Node is the assumed one, so that nothing changes."""
        pod = self._pods.get(uid)
        # Another scheduler may have bound the Pod to another Node. The caller then replaces the Pod.
        if uid not in self._assumed or pod is None or pod.node_name != node_name:
            return False
        del self._assumed[uid]
        return True

    def set_pod(self, pod: PodInfo) -> PodInfo | None:
        """Add or replace a Pod that the informer reports on a Node; return its earlier state."""
        old = self._remove(pod.uid)
        # The informer's state is the truth, so a later failure of the binding must not remove it.
        self._assumed.pop(pod.uid, None)
        self._add(pod)
        return old

    def note_start(self, uid: str, started: str) -> None:
        """Record that the Node has started a Pod. No other property of the Pod has changed."""
        pod = self._pods[uid] = replace(self._pods[uid], started=started)
        self.nodes.replace_pod(pod)

    def remove_pod(self, uid: str) -> PodInfo | None:
        """Remove a Pod that is deleted or has ended; return it, if it was present."""
        self._assumed.pop(uid, None)
        return self._remove(uid)

    def expire(self) -> list[PodInfo]:
        """Remove and return the bound Pods that were not confirmed in time."""
        if not self._assumed:
            self.has_assumed.clear()
        now = self._now()
        late = [uid for uid, deadline in self._assumed.items() if deadline is not None and deadline <= now]
        return [pod for uid in late if (pod := self.forget(uid)) is not None]

    def _add(self, pod: PodInfo) -> None:
        self._pods[pod.uid] = pod
        row = self.nodes.add_pod(pod)
        self.nodes.topology.pod_changed(row, pod, 1)

    def _remove(self, uid: str) -> PodInfo | None:
        pod = self._pods.pop(uid, None)
        if pod is not None:
            row = self.nodes.remove_pod(pod)
            self.nodes.topology.pod_changed(row, pod, -1)
        return pod

    # Nodes and namespaces

    def set_node(self, node: Node) -> None:
        """Add or update a Node."""
        self.nodes.set_node(node)

    def remove_node(self, name: str) -> None:
        """Forget a deleted Node."""
        self.nodes.remove_node(name)

    def set_namespace(self, name: str, labels: Labels) -> bool:
        """Set the labels of a namespace; return True if they have changed."""
        if self.namespaces.get(name) == labels:
            return False
        self.namespaces[name] = labels
        self.nodes.topology.forget_counts()
        return True

    def remove_namespace(self, name: str) -> None:
        """Forget the labels of a deleted namespace."""
        self.namespaces.pop(name, None)
