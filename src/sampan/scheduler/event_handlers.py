"""What the informers tell, told to the cache and to the queue.

Source: pkg/scheduler/eventhandlers.go (1.36).
"""

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from sampan.informer.ref import Deletion, Ref
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.framework.plugin import ClusterEvent
from sampan.scheduler.pod_info import ENDED, PodInfo, read_pod
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.scheduler.views import Node, decode_node


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""


class _Status(msgspec.Struct, rename="camel", gc=False):
    phase: str = ""
    start_time: str | None = None


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    deletion_timestamp: str | None = None


class _Glance(msgspec.Struct, gc=False):
    """What tells whether a change of a Pod matters."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_glance = msgspec.json.Decoder(_Glance).decode


class PodHandler:
    """Pods: those on Nodes go into the cache, those of our profiles without a Node into the queue."""

    def __init__(self, cache: Cache, queue: SchedulingQueue, profiles: Collection[str]) -> None:
        self._cache = cache
        self._queue = queue
        self._profiles = profiles
        self.pending: dict[str, PodInfo] = {}
        """The Pods of our profiles that have no Node, by uid."""

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """A Pod is there."""
        self._set(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """A Pod has changed."""
        if old.uid != new.uid:
            self._gone(old.uid)
        self._set(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """A Pod is gone."""
        self._gone(obj.uid)

    def _set(self, ref: Ref[Any]) -> None:
        known = self._cache.get(ref.uid)
        if known is not None and self._is_known(known, ref):
            return
        pod = read_pod(ref.raw)
        if pod.has_ended:
            self._gone(pod.uid)
        elif pod.node_name:
            self._assigned(pod)
        elif pod.constraints.scheduler_name in self._profiles:
            self._waits(pod)

    def _is_known(self, known: PodInfo, ref: Ref[Any]) -> bool:
        """Whether the cache need not be told: most changes of a Pod on its Node are of its status."""
        seen = _glance(ref.raw)
        if not seen.spec.node_name or seen.status.phase in ENDED or ref.labels != known.labels:
            return False
        if seen.spec.node_name != known.node_name or (seen.metadata.deletion_timestamp and not known.is_terminating):
            return False
        if self._cache.confirm(ref.uid, seen.spec.node_name):
            self._has_node(known)
            return True
        if seen.status.start_time and seen.status.start_time != known.started:
            self._cache.note_start(ref.uid, seen.status.start_time)
        # Its requests may have been changed in place; that makes a new generation.
        return bool(ref.generation) and ref.generation == known.generation

    def _assigned(self, pod: PodInfo) -> None:
        old = self._cache.set_pod(pod)
        self._has_node(pod)
        if old is None:
            self._queue.happened(ClusterEvent.POD_ADDED, None, pod)
        elif old.labels != pod.labels or old.constraints.requests != pod.constraints.requests:
            self._queue.happened(ClusterEvent.POD_UPDATED, old, pod)

    def _has_node(self, pod: PodInfo) -> None:
        if self.pending.pop(pod.uid, None) is not None:
            self._queue.delete(pod.uid)

    def _waits(self, pod: PodInfo) -> None:
        is_new = pod.uid not in self.pending
        self.pending[pod.uid] = pod
        if self._cache.is_assumed(pod.uid) and not self._queue.is_in_flight(pod.uid):
            return  # It is bound; this is what was before.
        if is_new:
            self._queue.add(pod)
        else:
            self._queue.update(pod)

    def _gone(self, uid: str) -> None:
        self.pending.pop(uid, None)
        self._queue.delete(uid)
        pod = self._cache.remove_pod(uid)
        if pod is not None:
            self._queue.happened(ClusterEvent.POD_DELETED, pod)


class NodeHandler:
    """Nodes."""

    def __init__(self, cache: Cache, queue: SchedulingQueue) -> None:
        self._cache = cache
        self._queue = queue

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """A Node is there."""
        node = decode_node(obj.raw)
        self._cache.set_node(node)
        self._queue.happened(ClusterEvent.NODE_ADDED, None, node)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """A Node has changed; heartbeats and the like do not matter."""
        before, now = decode_node(old.raw), decode_node(new.raw)
        if before == now:
            return
        self._cache.set_node(now)
        for event in node_events(before, now):
            self._queue.happened(event, before, now)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """A Node is gone."""
        self._cache.remove_node(obj.name)
        self._queue.happened(ClusterEvent.NODE_DELETED)


def node_events(old: Node, new: Node) -> Iterator[ClusterEvent]:
    """What a change of a Node means for Pods that wait."""
    if old.status.allocatable != new.status.allocatable:
        yield ClusterEvent.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        yield ClusterEvent.NODE_LABELS
    if old.spec != new.spec:
        yield ClusterEvent.NODE_TAINTS


class NamespaceHandler:
    """Namespaces, for their labels."""

    def __init__(self, cache: Cache, queue: SchedulingQueue) -> None:
        self._cache = cache
        self._queue = queue

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """A namespace is there."""
        if self._cache.set_namespace(obj.name, dict(obj.labels)):
            self._queue.happened(ClusterEvent.NAMESPACE_LABELS)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """A namespace has changed."""
        self.on_add(new, False)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """A namespace is gone."""
        self._cache.remove_namespace(obj.name)


class OtherHandler:
    """Kinds of which it matters only that something has changed."""

    def __init__(self, queue: SchedulingQueue, event: ClusterEvent) -> None:
        self._queue = queue
        self._event = event

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """An object is there."""
        self._queue.happened(self._event)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """An object has changed."""
        self._queue.happened(self._event)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """An object is gone: that helps nobody."""
