"""`set_up`: simulated nodes in a manager.

Concurrency: the manager runs the agent of all nodes' Pods (a controller) and the nodes' heartbeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.informer.factory import Scope
from sampan.informer.shared_informer import SharedInformer
from sampan.loops.context import ControllerContext
from sampan.loops.views import POD_VIEW, Pod
from sampan.node.addresses import PodAddresses, pod_cidr
from sampan.node.heartbeats import Heartbeats, Member
from sampan.node.node_object import NodeShape, host_ip
from sampan.node.pod_agent import NodeHome, PodAgent
from sampan.node.simulated import SimulatedRuntime


@dataclass(frozen=True, slots=True)
class SimulatedNodes:
    """Which nodes to simulate."""

    names: Sequence[str]
    shape: NodeShape = field(default_factory=NodeShape)
    shared_informer: bool = True
    """Whether other loops of the process watch all Pods anyway. Otherwise a single node watches its own alone."""


def node_names(count: int, name: str) -> list[str]:
    """The names of so many nodes: `name` itself for one, `name-1`, `name-2` … for more."""
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def set_up(context: ControllerContext, nodes: SimulatedNodes) -> Heartbeats:
    """Have the manager run these nodes; gives what tells when they are registered."""
    agent = PodAgent(context, _informer(context, nodes))
    members = [Member(name, number, host_ip(number)) for number, name in enumerate(nodes.names)]
    version = ""
    for member in members:
        runtime = SimulatedRuntime(PodAddresses(pod_cidr(member.number)), context.clock, agent.changed)
        agent.nodes[member.name] = NodeHome(member.host_ip, runtime)
        version = runtime.version
    heartbeats = Heartbeats(
        context.manager.client.direct, members, shape=nodes.shape, runtime_version=version, clock=context.clock
    )
    context.manager.add(heartbeats)
    return heartbeats


def _informer(context: ControllerContext, nodes: SimulatedNodes) -> SharedInformer[Pod]:
    if nodes.shared_informer or len(nodes.names) != 1:
        return context.informer(POD_VIEW)
    scope = Scope(field_selector=f"spec.nodeName={nodes.names[0]}")
    return context.manager.informers.informer_for(POD_VIEW, scope)
