"""Events of simulated Pods: those of a kubelet, but of few Pods a second."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PODS
from sampan.core.time import SystemClock
from sampan.node.nodes import SimulatedNodes
from sampan.node.set_up import set_up
from sampan.node.simulated.events import PODS_AT_ONCE, FewPodsEvents
from sampan.testing.time.virtual_time import virtual_time
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.node.cluster import NODE, create
from tests.node.scripted import detailed
from tests.node.test_pods import is_ready


@dataclass
class Broadcaster:
    """Holds the events that it gets."""

    events: list[Any] = field(default_factory=list)

    def put(self, event: Any) -> None:
        self.events.append(event)


def with_events(context: ControllerContext) -> None:
    set_up(context, SimulatedNodes([NODE], events=True))


async def recorded(cluster: Working, reason: str) -> tuple[str, str, str]:
    """Wait for an event. Return its message, its component and the container."""
    event = (await cluster.events(reason))[0]
    return event["message"], event["source"]["component"], event["involvedObject"]["fieldPath"]


async def test_a_simulated_pod_has_the_events_of_a_kubelet() -> None:
    async with connected() as (client, _), working(client, with_events) as cluster:
        await create(cluster, "web")
        await cluster.until(PODS, "web", is_ready)
        where = "kubelet", "spec.containers{main}"
        assert await recorded(cluster, "Pulled") == ('Container image "app:1" already present on machine', *where)
        assert await recorded(cluster, "Created") == ("Container created", *where)
        assert await recorded(cluster, "Started") == ("Container started", *where)
        await client.resource(PODS, namespace="default").delete("web")
        assert await recorded(cluster, "Killing") == ("Stopping container main", *where)


@virtual_time
async def test_of_many_pods_that_start_at_once_few_have_events_and_those_have_all() -> None:
    broadcaster = Broadcaster()
    events = FewPodsEvents(broadcaster, SystemClock())  # type: ignore[arg-type]  # a fake
    pods = [detailed() for _ in range(PODS_AT_ONCE + 10)]
    for number, pod in enumerate(pods):
        pod.metadata.uid = f"uid-{number}"
    for reason in ("Pulled", "Created", "Started"):
        for pod in pods:
            events.normal(pod, reason, "", "main")
    assert len(broadcaster.events) == 3 * PODS_AT_ONCE
    await asyncio.sleep(1.0)
    events.normal(pods[-1], "Killing", "")
    assert len(broadcaster.events) == 3 * PODS_AT_ONCE
    later = detailed()
    later.metadata.uid = "later"
    events.normal(later, "Pulled", "")
    events.warning(pods[-1], "BackOff", "")
    assert len(broadcaster.events) == 3 * PODS_AT_ONCE + 2
