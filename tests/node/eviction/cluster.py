"""Server in this process with one simulated node whose resources the test sets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sampan.component_base.context import ControllerContext
from sampan.node.admission.node_state import NodeState
from sampan.node.containers.support import NoSupport
from sampan.node.eviction.manager import EvictionManager
from sampan.node.eviction.meter import MachineMeter
from sampan.node.eviction.pressure import Signals, SignalValue
from sampan.node.eviction.thresholds import EvictionPolicy, eviction_thresholds
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.node_object.content import NodeShape
from sampan.node.node_object.heartbeats import HeartbeatNode
from sampan.node.node_object.pod_addresses import PodAddresses, pod_cidr
from sampan.node.pods.agent import PodAgent
from sampan.node.pods.images import ImageManager
from sampan.node.pods.worker import PodWorker
from sampan.node.set_up import NodeParts, add_agent, add_heartbeats
from sampan.node.simulated.runtime import SimulatedRuntime
from sampan.operator.events import CoreEventSink, EventBroadcaster
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.node.cluster import NODE

PLENTY = {"memory.available": SignalValue(2**30, 2**34)}
LITTLE = {"memory.available": SignalValue(20 * 2**20, 2**34)}


class SetMeter(MachineMeter):
    """Meter with signals that the test sets. The use of Pods is that of their annotations and directories."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.now: Signals = PLENTY

    async def signals(self) -> Signals:
        return self.now


@dataclass
class Node:
    """Parts of the node."""

    meter: SetMeter
    policy: EvictionPolicy
    state: NodeState = field(default_factory=NodeState)
    agent: PodAgent | None = None

    def set_up(self, context: ControllerContext) -> None:
        """Add the node to a manager."""
        homes: dict[str, NodeHome] = {}
        broadcaster = EventBroadcaster(CoreEventSink(context.manager.client.direct))
        context.manager.add(broadcaster)
        events = NodeEvents(broadcaster, context.clock)
        worker = PodWorker(NoSupport(), ImageManager(events, context.clock), events=None, clock=context.clock)
        agent = self.agent = add_agent(context, homes, [NODE], True, lambda changed: worker, state=self.state)
        runtime = SimulatedRuntime(PodAddresses(pod_cidr(0)), context.clock, agent.changed)
        homes[NODE] = NodeHome(("172.16.0.1",), runtime)
        members = [HeartbeatNode(NODE, 0, "172.16.0.1")]
        context.manager.add(add_heartbeats(context, members, NodeShape(), agent, None, NodeParts(state=self.state)))
        context.manager.add(
            EvictionManager(
                NODE,
                self.policy,
                pods=agent,
                state=self.state,
                meter=self.meter,
                reports=events,
                clock=context.clock,
            )
        )


def policy(hard: str = "memory.available<100Mi", soft: str = "", grace: str = "") -> EvictionPolicy:
    """Return a policy of thresholds; Pods get up to 20 s to end."""
    return EvictionPolicy(eviction_thresholds(hard, soft, grace), pod_grace_s_max=20.0)


@asynccontextmanager
async def pressed(root: Path, evictions: EvictionPolicy | None = None) -> AsyncIterator[tuple[Working, Node]]:
    """Run a cluster with the node."""
    node = Node(SetMeter(root), evictions or policy())
    async with connected() as (client, _), working(client, node.set_up) as cluster:
        yield cluster, node
