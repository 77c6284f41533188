"""Event handlers that pass changes from the informers to the cache and the queue.

Source: pkg/scheduler/eventhandlers.go (1.36).
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec

from sampan.informer.ref import Deletion, Ref
from sampan.resource.view import view_decoder
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


class _PodSummary(msgspec.Struct, gc=False):
    """Fields of a Pod whose changes affect scheduling."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_summary = view_decoder(_PodSummary)


class PodHandler:
    """Handles Pods: those on Nodes go to the cache, those without a Node that have a known profile go to the queue."""

    def __init__(self, cache: Cache, queue: SchedulingQueue, profiles: Collection[str]) -> None:
        self._cache = cache
        self._queue = queue
        self._profiles = profiles
        self.pending: dict[str, PodInfo] = {}
        """Pods of the profiles without a Node, by UID."""

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Handle a new Pod."""
        self._set(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Handle a changed Pod."""
        if old.uid != new.uid:
            self._remove(old.uid)
        self._set(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Handle a deleted Pod."""
        self._remove(obj.uid)

    def _set(self, ref: Ref[Any]) -> None:
        cached = self._cache.get(ref.uid)
        if cached is not None and self._is_up_to_date(cached, ref):
            return
        pod = read_pod(ref.raw)
        if pod.has_ended:
            self._remove(pod.uid)
        elif pod.node_name:
            self._set_assigned(pod)
        elif pod.constraints.scheduler_name in self._profiles:
            self._set_pending(pod)

    def _is_up_to_date(self, cached: PodInfo, ref: Ref[Any]) -> bool:
        """Return True if the cache needs no update: most changes of a Pod on its Node only concern its status."""
        new = _summary(ref.raw)
        if not new.spec.node_name or new.status.phase in ENDED or ref.labels != cached.labels:
            return False
        if new.spec.node_name != cached.node_name or (new.metadata.deletion_timestamp and not cached.is_terminating):
            return False
        if self._cache.confirm(ref.uid, new.spec.node_name):
            self._has_node(cached)
            return True
        if new.status.start_time and new.status.start_time != cached.started:
            self._cache.note_start(ref.uid, new.status.start_time)
        # The Pod may have been resized in place, which changes its generation.
        return bool(ref.generation) and ref.generation == cached.generation

    def _set_assigned(self, pod: PodInfo) -> None:
        old = self._cache.set_pod(pod)
        self._has_node(pod)
        if old is None:
            self._queue.on_event(ClusterEvent.POD_ADDED, None, pod)
        elif old.labels != pod.labels or old.constraints.requests != pod.constraints.requests:
            self._queue.on_event(ClusterEvent.POD_UPDATED, old, pod)

    def _has_node(self, pod: PodInfo) -> None:
        if self.pending.pop(pod.uid, None) is not None:
            self._queue.delete(pod.uid)

    def _set_pending(self, pod: PodInfo) -> None:
        is_new = pod.uid not in self.pending
        self.pending[pod.uid] = pod
        if self._cache.is_assumed(pod.uid) and not self._queue.is_in_flight(pod.uid):
            return  # The Pod is bound already; this event is older.
        if is_new:
            self._queue.add(pod)
        else:
            self._queue.update(pod)

    def _remove(self, uid: str) -> None:
        self.pending.pop(uid, None)
        self._queue.delete(uid)
        pod = self._cache.remove_pod(uid)
        if pod is not None:
            self._queue.on_event(ClusterEvent.POD_DELETED, pod)


class NodeHandler:
    """Updates the cache from events of Nodes, and requeues Pods that a change may help."""

    def __init__(self, cache: Cache, queue: SchedulingQueue) -> None:
        self._cache = cache
        self._queue = queue

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Handle a new Node."""
        node = decode_node(obj.raw)
        self._cache.set_node(node)
        self._queue.on_event(ClusterEvent.NODE_ADDED, None, node)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Handle a changed Node; heartbeats and other irrelevant changes are ignored."""
        before, now = decode_node(old.raw), decode_node(new.raw)
        if before == now:
            return
        self._cache.set_node(now)
        for event in node_events(before, now):
            self._queue.on_event(event, before, now)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Remove a Node from the cache, and check Pods that wait for such an event again."""
        self._cache.remove_node(obj.name)
        self._queue.on_event(ClusterEvent.NODE_DELETED)


def node_events(old: Node, new: Node) -> Iterator[ClusterEvent]:
    """Yield the events that a change of a Node causes for waiting Pods."""
    if old.status.allocatable != new.status.allocatable:
        yield ClusterEvent.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        yield ClusterEvent.NODE_LABELS
    if old.spec != new.spec:
        yield ClusterEvent.NODE_TAINTS


class NamespaceHandler:
    """Handles namespaces, for their labels."""

    def __init__(self, cache: Cache, queue: SchedulingQueue) -> None:
        self._cache = cache
        self._queue = queue

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Handle a new namespace."""
        if self._cache.set_namespace(obj.name, dict(obj.labels)):
            self._queue.on_event(ClusterEvent.NAMESPACE_LABELS)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Handle a changed namespace."""
        self.on_add(new, False)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Remove the labels of a namespace from the cache."""
        self._cache.remove_namespace(obj.name)


class OtherHandler:
    """Handles kinds whose objects are not cached: each change only causes an event."""

    def __init__(
        self, queue: SchedulingQueue, event: ClusterEvent, helps: Callable[[Ref[Any], Ref[Any]], bool] | None = None
    ) -> None:
        """`helps` returns True if a change may help a Pod. None: every change may."""
        self._queue = queue
        self._event = event
        self._helps = helps

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Report a new object."""
        self._queue.on_event(self._event)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Report a changed object."""
        if self._helps is None or self._helps(old, new):
            self._queue.on_event(self._event)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Do nothing: the deletion of an object helps no Pod."""
