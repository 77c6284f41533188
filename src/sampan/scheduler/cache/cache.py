"""`Cache`: Nodes and Pods as the API server tells of them, and the Pods that the scheduler has just given a Node.

A Pod is assumed to be on its Node from the moment of the decision; the informer confirms it. An assumption that is
bound but not confirmed ends after a while, lest a lost event blocks a Node for ever.
Source: pkg/scheduler/backend/cache/cache.go (1.36).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels, Node

ASSUMED_S: Final = 900.0
"""How long a bound Pod is believed in without the informer's word."""


class Cache:
    """One writer at a time: event handlers and the scheduling task, both on the event loop."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` in seconds of a clock that only goes forward."""
        self.nodes = NodeTable()
        self.namespaces: dict[str, Labels] = {}
        self._now = now
        self._pods: dict[str, PodInfo] = {}
        self._assumed: dict[str, float | None] = {}

    # Pods

    def get(self, uid: str) -> PodInfo | None:
        """A Pod that is on a Node."""
        return self._pods.get(uid)

    def sizes(self) -> dict[str, int]:
        """How much is known: of nodes, of Pods on them, and of those among these that nobody has confirmed."""
        return {"nodes": self.nodes.count, "pods": len(self._pods), "assumed_pods": len(self._assumed)}

    def is_assumed(self, uid: str) -> bool:
        """Whether nobody but the scheduler says that the Pod is on its Node."""
        return uid in self._assumed

    def assume(self, pod: PodInfo) -> None:
        """Act as if the Pod were on its Node."""
        assert pod.uid not in self._pods
        self._add(pod)
        self._assumed[pod.uid] = None

    def finish_binding(self, uid: str) -> None:
        """It is bound: from now on the informer must tell of it in time."""
        if uid in self._assumed:
            self._assumed[uid] = self._now() + ASSUMED_S

    def forget(self, uid: str) -> PodInfo | None:
        """It was not bound after all; gives the Pod that was assumed."""
        if uid not in self._assumed:
            return None
        del self._assumed[uid]
        return self._remove(uid)

    def confirm(self, uid: str, node_name: str) -> bool:
        """The informer tells of a Pod on a Node; True when that is what was assumed, so that nothing changes."""
        pod = self._pods.get(uid)
        if uid not in self._assumed or pod is None or pod.node_name != node_name:
            return False
        del self._assumed[uid]
        return True

    def set_pod(self, pod: PodInfo) -> PodInfo | None:
        """The informer tells of a Pod on a Node; gives what was known before."""
        old = self._remove(pod.uid)
        self._assumed.pop(pod.uid, None)
        self._add(pod)
        return old

    def note_start(self, uid: str, started: str) -> None:
        """A Pod has been started by its Node; nothing else about it has changed."""
        pod = self._pods[uid] = replace(self._pods[uid], started=started)
        self.nodes.replace_pod(pod)

    def remove_pod(self, uid: str) -> PodInfo | None:
        """A Pod is gone, or has ended; gives what was known of it."""
        self._assumed.pop(uid, None)
        return self._remove(uid)

    def expire(self) -> list[PodInfo]:
        """Forget the bound Pods that were not heard of in time."""
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
        """A Node is there, or has changed."""
        self.nodes.set_node(node)

    def remove_node(self, name: str) -> None:
        """A Node is gone."""
        self.nodes.remove_node(name)

    def set_namespace(self, name: str, labels: Labels) -> bool:
        """The labels of a namespace; whether they have changed."""
        if self.namespaces.get(name) == labels:
            return False
        self.namespaces[name] = labels
        self.nodes.topology.forget_counts()
        return True

    def remove_namespace(self, name: str) -> None:
        """A namespace is gone."""
        self.namespaces.pop(name, None)
