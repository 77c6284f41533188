"""Tests of the informers' event handlers."""

from typing import Any

import pytest

from sampan.component_base.views import POD_VIEW
from sampan.informer.ref import Ref, RefReader
from sampan.resource import Object
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.event_handlers import PodHandler, node_events
from sampan.scheduler.framework.plugin import ClusterEvent
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.wire import json
from tests.scheduler.objects import node, pod, pod_object


class Watched:
    """A handler with its cache and queue."""

    def __init__(self) -> None:
        self.cache = Cache(lambda: 0.0)
        self.cache.set_node(node("n"))
        self.queue = SchedulingQueue(lambda pod: "", lambda pod: {})
        self.handler = PodHandler(self.cache, self.queue, {"default-scheduler"})

    def notify(self, **more: Any) -> None:
        """Return a state of the Pod `p`."""
        self.handler.on_add(ref(pod_object("p", **more)), False)


def ref(obj: Object) -> Ref[Any]:
    obj["metadata"]["uid"] = obj["metadata"]["name"]
    obj["metadata"]["generation"] = 1
    return RefReader(POD_VIEW).read(json.encode(obj))


async def test_a_pod_without_a_node_waits_in_the_queue() -> None:
    watched = Watched()
    watched.notify()
    assert list(watched.handler.pending) == ["p"]
    assert len(watched.queue) == 1


async def test_a_pod_with_a_node_is_only_in_the_cache() -> None:
    watched = Watched()
    watched.notify()
    watched.notify(nodeName="n")
    assert (len(watched.queue), watched.handler.pending) == (0, {})
    assert watched.cache.get("p") is not None


async def test_an_ended_pod_uses_no_resources() -> None:
    watched = Watched()
    watched.notify(nodeName="n")
    watched.notify(nodeName="n", status={"phase": "Succeeded"})
    assert watched.cache.get("p") is None


async def test_an_assumed_pod_is_confirmed() -> None:
    watched = Watched()
    watched.notify()
    watched.cache.assume(pod("p", on="n"))
    watched.notify(nodeName="n")
    assert not watched.cache.is_assumed("p")
    assert watched.handler.pending == {}


async def test_the_start_of_a_pod_is_recorded() -> None:
    watched = Watched()
    watched.notify(nodeName="n")
    watched.notify(nodeName="n", status={"phase": "Running", "startTime": "2026-01-01T00:00:00Z"})
    known = watched.cache.get("p")
    assert known is not None
    assert known.started == "2026-01-01T00:00:00Z"
    row = watched.cache.nodes.rows["n"]
    assert watched.cache.nodes.pods[row]["p"] is known


async def test_changed_labels_are_recorded() -> None:
    watched = Watched()
    watched.notify(nodeName="n")
    watched.notify(nodeName="n", labels={"app": "web"})
    known = watched.cache.get("p")
    assert known is not None
    assert known.labels == {"app": "web"}


async def test_a_recreated_pod_is_a_different_pod() -> None:
    watched = Watched()
    old = ref(pod_object("p", nodeName="n"))
    new = pod_object("p")
    new["metadata"]["uid"] = "other"
    watched.handler.on_add(old, False)
    watched.handler.on_update(old, RefReader(POD_VIEW).read(json.encode(new)))
    assert watched.cache.get("p") is None
    assert list(watched.handler.pending) == ["other"]


CHANGES: dict[str, tuple[dict[str, Any], list[ClusterEvent]]] = {
    "nothing": ({}, []),
    "what there is": ({"cpu": "8"}, [ClusterEvent.NODE_ALLOCATABLE]),
    "labels": ({"labels": {"a": "b"}}, [ClusterEvent.NODE_LABELS]),
    "taints": ({"taints": [{"key": "k", "effect": "NoSchedule"}]}, [ClusterEvent.NODE_TAINTS]),
    "cordoned": ({"unschedulable": True}, [ClusterEvent.NODE_TAINTS]),
}


@pytest.mark.parametrize(("change", "events"), CHANGES.values(), ids=CHANGES)
def test_a_changed_node_causes_the_matching_events(change: dict[str, Any], events: list[ClusterEvent]) -> None:
    assert list(node_events(node("n"), node("n", **change))) == events
