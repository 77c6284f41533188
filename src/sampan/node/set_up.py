"""`set_up`: nodes in a manager.

Concurrency: the manager runs the agent of all nodes' Pods (a controller), the nodes' heartbeats, their server, and for
nodes with processes the runtimes, the tasks beside the agent, and the kubelet's events.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sampan.informer.factory import Scope
from sampan.informer.shared_informer import SharedInformer
from sampan.loops.context import ControllerContext
from sampan.loops.resources import SERVICES
from sampan.loops.views import NODE_VIEW, POD_VIEW
from sampan.node.addresses import PodAddresses, pod_cidr
from sampan.node.admission import NodeAdmission, NodeFacts
from sampan.node.claim import NodeClaim
from sampan.node.environment.services import SERVICE_VIEW, Service, at
from sampan.node.extended_resources import ExtendedResources
from sampan.node.heartbeats import Heartbeats, Member
from sampan.node.host import host_shape
from sampan.node.images import Images as PulledImages
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.node_object import NodeAddress, NodeShape, host_ip
from sampan.node.pod_agent import PodAgent
from sampan.node.pod_worker import PodWorker
from sampan.node.process import Images, ProcessRuntime
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.ranges import NodeRanges
from sampan.node.references import References
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.server import NodeServer
from sampan.node.simulated import SimulatedRuntime
from sampan.node.tasks import Tasks
from sampan.node.tmpfs import TmpfsMounts
from sampan.node.volumes.volumes import Volumes
from sampan.operator.events import CoreEventSink, EventBroadcaster
from sampan.operator.manager import Group
from sampan.resource import ObjectType


@dataclass(frozen=True, slots=True)
class SimulatedNodes:
    """Which nodes to simulate."""

    names: Sequence[str]
    shape: NodeShape = field(default_factory=NodeShape)
    shared_informer: bool = True
    """Whether other loops of the process watch all Pods anyway. Otherwise a single node watches its own alone."""
    serve: NodeAddress | None = None
    """Where the nodes' server listens (port 0: any free one); None: there is none."""
    range_wait_s: float | None = 0.0
    """How long they wait for a controller to give them ranges of addresses, before they take some themselves; None:
    for ever; 0: they register with ranges of their own.
    """
    elected: bool = False
    """Whether they are where the leader is: of several processes that would all simulate the same nodes."""


@dataclass(frozen=True, slots=True)
class ProcessNode:
    """A node whose containers are processes of this machine."""

    name: str
    root: Path
    """For everything that it keeps."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Image to directory, or to `host`; others run on the host."""
    image_directory: Path | None = None
    """Where images are looked for that are not named."""
    shared_informer: bool = True
    serve: NodeAddress = field(default_factory=lambda: NodeAddress("127.0.0.1"))
    pod_address: str = ""
    """The address of all its Pods, as they share the machine's network; empty: that of `serve`."""


def node_names(count: int, name: str) -> list[str]:
    """The names of so many nodes: `name` itself for one, `name-1`, `name-2` … for more."""
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def set_up(context: ControllerContext, nodes: SimulatedNodes | ProcessNode) -> Heartbeats:
    """Have the manager run these nodes; gives what tells when they are registered."""
    if isinstance(nodes, ProcessNode):
        return _set_up_process(context, nodes)
    homes: dict[str, NodeHome] = {}
    group = Group.LEADER_ELECTED if nodes.elected else Group.OTHERS
    broadcaster = EventBroadcaster(CoreEventSink(context.manager.client.direct))
    context.manager.add(broadcaster)
    images = PulledImages(NodeEvents(broadcaster, context.clock), context.clock, quiet=True)
    agent = _agent(context, homes, nodes.names, nodes.shared_informer, images=images, elected=nodes.elected)
    members = [Member(name, number, host_ip(number)) for number, name in enumerate(nodes.names)]
    takes = nodes.range_wait_s == 0
    addresses = {member: PodAddresses(pod_cidr(member.number) if takes else "") for member in members}
    allocatable = nodes.shape.allocatable()
    for member in members:
        runtime = SimulatedRuntime(addresses[member], context.clock, agent.changed)
        labels = nodes.shape.labels(member.name)
        homes[member.name] = NodeHome(member.host_ip, runtime, allocatable, labels)
    ranges = NodeRanges(context.manager.client.direct, addresses, wait_s=None if takes else nodes.range_wait_s)
    ranges.follow(_nodes_of(context, nodes.names, nodes.shared_informer))
    context.manager.add(ranges, group=group)
    shape = replace(nodes.shape, hands_out_addresses=takes)
    heartbeats = _heartbeats(context, members, shape, agent, nodes.serve)
    context.manager.add(heartbeats, group=group)
    return heartbeats


def _set_up_process(context: ControllerContext, node: ProcessNode) -> Heartbeats:
    homes: dict[str, NodeHome] = {}
    memory = TmpfsMounts(node.root)
    worker = make_worker(context, node.root, memory)
    agent = _agent(context, homes, [node.name], node.shared_informer, worker)
    address = node.serve.address
    images = Images(node.images, directory=node.image_directory)
    pod_ip = node.pod_address or address
    runtime = ProcessRuntime(
        node.root, images=images, host_ip=pod_ip, clock=context.clock, changed=agent.changed, memory=memory
    )
    context.manager.add(runtime.run, group=Group.OTHERS)
    shape = host_shape("process", runtime.version, node.root)
    home = NodeHome(address, runtime, shape.allocatable(), shape.labels(node.name))
    claim = NodeClaim(
        context.manager.client.direct,
        node.name,
        instance_of(node.root),
        clock=context.clock,
        won=partial(agent.take_in, node.name, home),
        lock_file=node.root / INSTANCE_FILE,
    )
    heartbeats = _heartbeats(context, [Member(node.name, 0, address)], shape, agent, node.serve, claim)
    context.manager.add(heartbeats)
    return heartbeats


def make_worker(context: ControllerContext, root: Path, memory: TmpfsMounts) -> PodWorker:
    """What works for Pods on runtimes that take a config, with all that it needs; `root` is for their volumes."""
    client, clock = context.manager.client.direct, context.clock
    tasks = Tasks()
    broadcaster = EventBroadcaster(CoreEventSink(client))
    references = References(client)
    volumes = Volumes(root, references, tasks=tasks, clock=clock, memory=memory)
    worker = PodWorker(references, volumes, tasks=tasks, events=NodeEvents(broadcaster, clock), clock=clock)
    services = context.informer(SERVICES)

    async def present() -> Sequence[Service]:
        await services.synced()
        return at((SERVICE_VIEW.decode(ref.raw) for ref in services.indexer.refs()), context.api_server)

    worker.read_services_from(present)
    context.manager.add(tasks)
    context.manager.add(broadcaster)
    return worker


def _agent(
    context: ControllerContext,
    homes: dict[str, NodeHome],
    names: Sequence[str],
    shared: bool,
    worker: PodWorker | None = None,
    *,
    images: PulledImages | None = None,
    elected: bool = False,
) -> PodAgent:
    """The agent of some nodes, which admits Pods by what their Nodes say."""
    single = names[0] if len(names) == 1 and not shared else ""
    pods = _informer(context, POD_VIEW, f"spec.nodeName={single}" if single else "")
    nodes = _nodes_of(context, names, shared)
    known: dict[str, tuple[str, NodeFacts]] = {}

    def facts(name: str) -> NodeFacts | None:
        ref = nodes.indexer.get(name)
        if ref is None:
            return None
        found = known.get(name)
        if found is None or found[0] != ref.resource_version:
            node = NODE_VIEW.decode(ref.raw)
            found = known[name] = ref.resource_version, NodeFacts(node.metadata.labels, tuple(node.spec.taints))
        return found[1]

    ExtendedResources(context, nodes, names, elected=elected)
    admission = NodeAdmission(homes, facts)
    return PodAgent(context, pods, worker=worker, images=images, admission=admission, nodes=homes, elected=elected)


def _nodes_of(context: ControllerContext, names: Sequence[str], shared: bool) -> SharedInformer[Any]:
    """The Nodes, among which these are; a single one alone where nobody else watches all."""
    return _informer(context, NODE_VIEW, f"metadata.name={names[0]}" if len(names) == 1 and not shared else "")


def _heartbeats(
    context: ControllerContext,
    members: Sequence[Member],
    shape: NodeShape,
    agent: PodAgent,
    serve: NodeAddress | None,
    claim: NodeClaim | None = None,
) -> Heartbeats:
    """The nodes' heartbeats, and the server that they tell of."""
    client = context.manager.client.direct
    if serve is None:
        heartbeats = Heartbeats(client, members, shape=shape, clock=context.clock, claim=claim)
    else:
        only = members[0].name if len(members) == 1 else ""
        addresses = (serve.address, *(member.name for member in members[:1]))
        options = NodeServerOptions(
            host=serve.address, port=serve.port, node_name=only, addresses=addresses, client_ca=context.root_ca
        )
        server = NodeServer(agent.pod, options, listing=agent.hosted, client=client, clock=context.clock)
        context.manager.add(server)

        async def serving() -> NodeAddress:
            await server.ready()
            return replace(serve, port=server.port)

        heartbeats = Heartbeats(client, members, shape=shape, clock=context.clock, serving=serving, claim=claim)
    return heartbeats


def _informer(context: ControllerContext, view: ObjectType[Any], field_selector: str) -> SharedInformer[Any]:
    if not field_selector:
        return context.informer(view)
    return context.manager.informers.informer_for(view, Scope(field_selector=field_selector))
