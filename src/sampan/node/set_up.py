"""`set_up`: adds nodes to a manager.

Concurrency: the manager runs the agent of all nodes' Pods (a controller), the nodes' heartbeats and their server. For
nodes with processes it also runs the runtime, the agent's tasks, and the broadcaster of events.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import SERVICES
from sampan.component_base.views import NODE_VIEW, POD_VIEW
from sampan.core.extras import import_extra
from sampan.informer.factory import Scope
from sampan.informer.shared_informer import SharedInformer
from sampan.node.admission.checks import LabelsAndTaints, NodeAdmission
from sampan.node.admission.node_state import NodeState
from sampan.node.admission.sysctls import AllowedSysctls
from sampan.node.containers.process_support import ProcessSupport
from sampan.node.containers.support import NoSupport
from sampan.node.csi.lazy import LazyCsi
from sampan.node.csi.parts import CsiParts
from sampan.node.environment.services import SERVICE_VIEW, Service, at
from sampan.node.eviction.manager import EvictionManager
from sampan.node.eviction.meter import MachineMeter
from sampan.node.garbage.images import ImageInStore
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.joining.serving import ServingCertificate
from sampan.node.local_path.deleter import LocalDeleter
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.node_object.claim import NodeClaim
from sampan.node.node_object.content import KubeletAddress, NodeShape, host_ip
from sampan.node.node_object.extended_resources import ExtendedResources
from sampan.node.node_object.heartbeats import HealthSource, HeartbeatNode, Heartbeats
from sampan.node.node_object.host import host_shape
from sampan.node.node_object.pod_addresses import PodAddresses, pod_cidr
from sampan.node.node_object.pod_cidrs import NodePodCidrs
from sampan.node.nodes import CriNode, ProcessNode, SimulatedNodes
from sampan.node.pods.agent import PodAgent
from sampan.node.pods.images import ImageManager
from sampan.node.pods.worker import PodWorker
from sampan.node.process import Images as ProcessImages
from sampan.node.process import ProcessRuntime
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.references import References
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.server import NodeServer
from sampan.node.server.usage import ReadVolumeStats, no_volume_stats
from sampan.node.simulated.events import FewPodsEvents, SimulatedSupport
from sampan.node.simulated.runtime import SimulatedRuntime
from sampan.node.tasks import Tasks
from sampan.node.tmpfs import TmpfsMounts
from sampan.node.tunnel.agent import is_loopback
from sampan.node.tunnel.set_up import NO_TUNNELS, TunnelSettings, add_tunnels
from sampan.node.volumes.volumes import Volumes
from sampan.operator.events import CoreEventSink, EventBroadcaster
from sampan.operator.manager import Group
from sampan.resource import ObjectType


@dataclass(slots=True)
class CsiNode:
    """Node that has CSI drivers. Its parts are set one after the other."""

    name: str
    stats: ReadVolumeStats = no_volume_stats
    heartbeats: Heartbeats | None = None

    async def registered(self) -> None:
        """Wait until the Node exists."""
        assert self.heartbeats is not None
        await self.heartbeats.registered()


def node_names(count: int, name: str) -> list[str]:
    """Return the names of `count` nodes: `name` for one, `name-1`, `name-2` … for more."""
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def set_up(context: ControllerContext, nodes: SimulatedNodes | ProcessNode | CriNode) -> Heartbeats:
    """Add nodes to a manager. The returned heartbeats report when the nodes are registered."""
    match nodes:
        case SimulatedNodes():
            return _set_up_simulated(context, nodes)
        case ProcessNode():
            return _set_up_process(context, nodes)
        case CriNode():
            module = import_extra("sampan.node.cri.set_up", extra="cri", feature="the runtime cri")
            heartbeats: Heartbeats = module.set_up_cri(context, nodes)
            return heartbeats


def _set_up_simulated(context: ControllerContext, nodes: SimulatedNodes) -> Heartbeats:
    homes: dict[str, NodeHome] = {}
    group = Group.LEADER_ELECTED if nodes.elected else Group.OTHERS
    agent = add_agent(
        context,
        homes,
        nodes.names,
        nodes.shared_informer,
        partial(_simulation_worker, context, with_events=nodes.events),
        elected=nodes.elected,
        sysctls=AllowedSysctls(nodes.unsafe_sysctls),
    )
    members = [HeartbeatNode(name, number, host_ip(number)) for number, name in enumerate(nodes.names)]
    has_ranges = nodes.range_wait_s == 0
    addresses = {member: PodAddresses(pod_cidr(member.number) if has_ranges else "") for member in members}
    allocatable = nodes.shape.allocatable()
    for member in members:
        runtime = SimulatedRuntime(addresses[member], context.clock, agent.changed, host_address=member.host_ip)
        labels = nodes.shape.labels(member.name)
        # As in the Node's status. No Pod has this address: it may be that of another program.
        host_ips = nodes.serve.addresses if nodes.serve is not None else (member.host_ip,)
        homes[member.name] = NodeHome(host_ips, runtime, allocatable, labels)
    ranges = NodePodCidrs(context.manager.client.direct, addresses, wait_s=None if has_ranges else nodes.range_wait_s)
    ranges.follow(nodes_of(context, nodes.names, nodes.shared_informer))
    context.manager.add(ranges, group=group)
    shape = replace(nodes.shape, has_pod_cidr=has_ranges)
    parts = NodeParts(credentials=nodes.credentials, tunnel=TunnelSettings(nodes.tunnel))
    heartbeats = add_heartbeats(context, members, shape, agent, nodes.serve, parts)
    heartbeats.renewed, heartbeats.renew_s = nodes.renewed, nodes.renew_s
    context.manager.add(heartbeats, group=group)
    return heartbeats


def _simulation_worker(context: ControllerContext, changed: Callable[[str], None], *, with_events: bool) -> PodWorker:
    """Return a worker that records the events of few Pods, or only failures of images."""
    broadcaster = EventBroadcaster(CoreEventSink(context.manager.client.direct))
    context.manager.add(broadcaster)
    if with_events:
        events = FewPodsEvents(broadcaster, context.clock)
        images = ImageManager(events, context.clock)
        return PodWorker(SimulatedSupport(events), images, events=events, clock=context.clock)
    images = ImageManager(NodeEvents(broadcaster, context.clock), context.clock, failures_only=True)
    return PodWorker(NoSupport(), images, events=None, clock=context.clock)


def _set_up_process(context: ControllerContext, node: ProcessNode) -> Heartbeats:
    homes: dict[str, NodeHome] = {}
    memory = TmpfsMounts(node.root)
    csi, state = CsiNode(node.name), NodeState()
    state.set_policy_problem("the Pods of the node share its network")
    make_worker = partial(container_worker, context, node.root, memory, node=csi)
    sysctls = AllowedSysctls(node.unsafe_sysctls, kernel=os.uname().release)
    agent = add_agent(context, homes, [node.name], node.shared_informer, make_worker, state=state, sysctls=sysctls)
    address = node.serve.address
    images = ProcessImages(node.images, directory=node.image_directory)
    pod_ip = node.pod_address or address
    runtime = ProcessRuntime(
        node.root, images=images, host_ip=pod_ip, clock=context.clock, changed=agent.changed, memory=memory
    )
    context.manager.add(runtime.run, group=Group.OTHERS)
    shape = host_shape("process", runtime.version, node.root)
    home = NodeHome((address,), runtime, shape.allocatable(), shape.labels(node.name))
    claim = NodeClaim(
        context.manager.client.direct,
        node.name,
        instance_of(node.root),
        clock=context.clock,
        won=partial(agent.add_node, node.name, home),
        lock_file=node.root / INSTANCE_FILE,
    )
    tunnel = TunnelSettings(node.tunnel, shares_network=True)
    parts = NodeParts(claim, csi=csi, state=state, credentials=node.credentials, tunnel=tunnel)
    heartbeats = add_heartbeats(context, [HeartbeatNode(node.name, 0, address)], shape, agent, node.serve, parts)
    context.manager.add(heartbeats)
    _add_eviction(context, node, agent, state)
    LocalDeleter(context, nodes_of(context, [node.name], node.shared_informer), node.name, node.root)
    return heartbeats


def _add_eviction(context: ControllerContext, node: ProcessNode, agent: PodAgent, state: NodeState) -> None:
    broadcaster = EventBroadcaster(CoreEventSink(context.manager.client.direct))
    context.manager.add(broadcaster)
    meter, events = MachineMeter(node.root), NodeEvents(broadcaster, context.clock)
    manager = EvictionManager(
        node.name, node.eviction, pods=agent, state=state, meter=meter, reports=events, clock=context.clock
    )
    context.manager.add(manager)


def container_worker(
    context: ControllerContext,
    root: Path,
    memory: TmpfsMounts,
    changed: Callable[[str], None],
    *,
    on_host_network: bool = True,
    node: CsiNode | None = None,
) -> PodWorker:
    """Return a worker for Pods with real containers; `root` is the directory for their volumes.

    `on_host_network`: they are processes on the machine's network, which cannot reach the Services' addresses.
    `node`: node that has CSI drivers.
    """
    client, clock = context.manager.client.direct, context.clock
    tasks = Tasks()
    broadcaster = EventBroadcaster(CoreEventSink(client))
    events = NodeEvents(broadcaster, clock)
    references = References(client)
    csi = None
    if node is not None:
        parts = CsiParts(node.name, root.absolute(), client, clock, events, tasks, changed)
        csi = _add_csi(context, node, parts)
    volumes = Volumes(
        root,
        references,
        tasks=tasks,
        clock=clock,
        memory=memory,
        changed=changed,
        csi=csi,
        has_devices=not on_host_network,
        binds=not on_host_network,
    )
    support = ProcessSupport(
        references,
        volumes,
        _read_services(context, context.api_server if on_host_network else ""),
        tasks=tasks,
        events=events,
        clock=clock,
        changed=changed,
        images_have_users=not on_host_network,
    )
    context.manager.add(tasks)
    context.manager.add(broadcaster)
    return PodWorker(support, ImageManager(events, clock), events=events, clock=clock)


def _read_services(context: ControllerContext, api_server: str) -> Callable[[], Awaitable[Sequence[Service]]]:
    services = context.informer(SERVICES)

    async def current_services() -> Sequence[Service]:
        await services.synced()
        return at((SERVICE_VIEW.decode(ref.raw) for ref in services.indexer.refs()), api_server)

    return current_services


def _add_csi(context: ControllerContext, node: CsiNode, parts: CsiParts) -> LazyCsi:
    csi = LazyCsi(parts, node.registered)
    node.stats = csi.stats
    context.manager.add(csi, group=Group.OTHERS)
    return csi


def add_agent(
    context: ControllerContext,
    homes: dict[str, NodeHome],
    names: Sequence[str],
    shared: bool,
    make_worker: Callable[[Callable[[str], None]], PodWorker],
    *,
    elected: bool = False,
    state: NodeState | None = None,
    sysctls: AllowedSysctls | None = None,
) -> PodAgent:
    """Return the agent of some nodes. It admits Pods by the labels and taints of their Node objects.

    `sysctls`: None to allow only the safe ones.
    """
    single = names[0] if len(names) == 1 and not shared else ""
    pods = _informer(context, POD_VIEW, f"spec.nodeName={single}" if single else "")
    nodes = nodes_of(context, names, shared)
    known: dict[str, tuple[str, LabelsAndTaints]] = {}

    def facts(name: str) -> LabelsAndTaints | None:
        ref = nodes.indexer.get(name)
        if ref is None:
            return None
        found = known.get(name)
        if found is None or found[0] != ref.resource_version:
            node = NODE_VIEW.decode(ref.raw)
            found = known[name] = ref.resource_version, LabelsAndTaints(node.metadata.labels, tuple(node.spec.taints))
        return found[1]

    ExtendedResources(context, nodes, names, elected=elected)
    admission = NodeAdmission(homes, facts)
    return PodAgent(
        context,
        pods,
        make_worker,
        admission=admission,
        state=state,
        nodes=homes,
        elected=elected,
        sysctls=sysctls or AllowedSysctls(),
    )


def nodes_of(context: ControllerContext, names: Sequence[str], shared: bool) -> SharedInformer[Any]:
    """Return an informer of Nodes; for a single node, only its own Node, unless other control loops watch all Nodes."""
    return _informer(context, NODE_VIEW, f"metadata.name={names[0]}" if len(names) == 1 and not shared else "")


@dataclass(frozen=True, slots=True)
class NodeParts:
    """Parts of a node that its heartbeats and its server use. Simulated nodes have none."""

    claim: NodeClaim | None = None
    health: HealthSource | None = None
    csi: CsiNode | None = None
    images: Callable[[], Awaitable[Sequence[ImageInStore]]] | None = None
    state: NodeState | None = None
    credentials: NodeCredentials | None = None
    """Files of a node that has joined: its server gets a signed certificate."""
    tunnel: TunnelSettings = NO_TUNNELS


NO_PARTS: Final = NodeParts()


def add_heartbeats(
    context: ControllerContext,
    members: Sequence[HeartbeatNode],
    shape: NodeShape,
    agent: PodAgent,
    serve: KubeletAddress | None,
    parts: NodeParts = NO_PARTS,
) -> Heartbeats:
    """Return the nodes' heartbeats, and add the nodes' server to the manager. Only a single node has `parts`."""
    client = context.manager.client.direct
    server = None if serve is None else _server(context, members, agent, serve, parts)

    async def serving() -> KubeletAddress:
        assert serve is not None
        assert server is not None
        await server.ready()
        return replace(serve, port=server.port)

    heartbeats = Heartbeats(
        client,
        members,
        shape=shape,
        clock=context.clock,
        serving=None if server is None else serving,
        claim=parts.claim,
        health=parts.health,
        images=parts.images,
        state=parts.state,
    )
    # No machine but this one reaches a loopback address, and the controller approves none.
    if server is not None and serve is not None and parts.credentials is not None and not is_loopback(serve.address):
        certificate = ServingCertificate(
            parts.credentials,
            client,
            members[0].name,
            _server_names(members, serve),
            use=server.use_certificate,
            registered=heartbeats.registered,
            clock=context.clock,
        )
        context.manager.add(certificate)
    if server is not None and serve is not None:
        add_tunnels(context, parts.tunnel, members[0].name, (server, serve.address), agent, heartbeats.registered)
    if parts.csi is not None:
        parts.csi.heartbeats = heartbeats
    return heartbeats


def _server(
    context: ControllerContext, nodes: Sequence[HeartbeatNode], agent: PodAgent, serve: KubeletAddress, parts: NodeParts
) -> NodeServer:
    options = NodeServerOptions(
        host=serve.address,
        port=serve.port,
        node_name=nodes[0].name if len(nodes) == 1 else "",
        addresses=_server_names(nodes, serve),
        client_ca=context.root_ca,
    )
    server = NodeServer(
        agent.pod,
        options,
        listing=agent.hosted,
        client=context.manager.client.direct,
        clock=context.clock,
        volume_stats=no_volume_stats if parts.csi is None else parts.csi.stats,
    )
    context.manager.add(server)
    return server


def _server_names(members: Sequence[HeartbeatNode], serve: KubeletAddress) -> tuple[str, ...]:
    return (serve.address, *(member.name for member in members[:1]))


def _informer(context: ControllerContext, view: ObjectType[Any], field_selector: str) -> SharedInformer[Any]:
    if not field_selector:
        return context.informer(view)
    return context.manager.informers.informer_for(view, Scope(field_selector=field_selector))
