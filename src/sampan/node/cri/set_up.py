"""`set_up_cri`: adds a node with a CRI runtime to a manager."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from sampan.informer.factory import Scope
from sampan.informer.shared_informer import SharedInformer
from sampan.loops.context import ControllerContext
from sampan.loops.pod_networks import NETWORK_NODE_VIEW
from sampan.loops.resources import SERVICES
from sampan.node.claim import NodeClaim
from sampan.node.cri.client import CriClient
from sampan.node.cri.network import FollowNodes, PodNetwork
from sampan.node.cri.observer import CriSettings
from sampan.node.cri.published import PublishedNetworks
from sampan.node.cri.pull import PullSecrets
from sampan.node.cri.resolver import ClusterDns
from sampan.node.cri.runtime import CriRuntime
from sampan.node.environment.services import SERVICE_VIEW
from sampan.node.heartbeats import Heartbeats, Member
from sampan.node.host import host_shape
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.nodes import CriNode
from sampan.node.pod_cidrs import NodePodCidrs
from sampan.node.pod_worker import PodWorker
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.references import References
from sampan.node.set_up import add_agent, add_heartbeats, container_worker, nodes_of
from sampan.node.tmpfs import TmpfsMounts
from sampan.operator.events import CoreEventSink, EventBroadcaster
from sampan.operator.manager import Group

_DNS: str = "kube-system/kube-dns"
"""Service of the cluster's DNS."""


def set_up_cri(context: ControllerContext, node: CriNode) -> Heartbeats:
    """Add the node. The returned heartbeats know when it is registered."""
    homes: dict[str, NodeHome] = {}
    memory = TmpfsMounts(node.root)

    def make_worker(changed: Callable[[str], None]) -> PodWorker:
        return container_worker(context, node.root, memory, changed, on_host_network=False)

    agent = add_agent(context, homes, [node.name], node.shared_informer, make_worker)
    instance = instance_of(node.root)
    shape = host_shape("cri", "cri://unknown", node.root)
    client, address = context.manager.client.direct, node.serve.address
    settings = CriSettings(
        node.root,
        address,
        PurePosixPath(node.logs),
        instance,
        cgroup_root=node.cgroup_root,
        memory_bytes=int(shape.memory.removesuffix("Ki")) * 1024,
    )
    broadcaster = EventBroadcaster(CoreEventSink(client))
    context.manager.add(broadcaster)
    runtime = CriRuntime(
        CriClient(node.endpoint),
        settings,
        clock=context.clock,
        changed=agent.changed,
        dns=partial(_dns, node, context.informer(SERVICES)),
        credentials=PullSecrets(References(client)),
        report=NodeEvents(broadcaster, context.clock).warning,
    )
    context.manager.add(runtime.run, group=Group.OTHERS)
    member = Member(node.name, 0, address)
    _add_network(context, node, member)
    home = NodeHome(address, runtime, shape.allocatable(), shape.labels(node.name))
    claim = NodeClaim(
        client,
        node.name,
        instance,
        clock=context.clock,
        won=partial(agent.add_node, node.name, home),
        lock_file=node.root / INSTANCE_FILE,
    )
    heartbeats = add_heartbeats(context, [member], shape, agent, node.serve, claim, runtime.health, node.credentials)
    context.manager.add(heartbeats)
    return heartbeats


def _add_network(context: ControllerContext, node: CriNode, member: Member) -> None:
    network = PodNetwork(node.name, configurations=node.cni_configurations, leases=node.root.absolute() / "addresses")
    cidrs = NodePodCidrs(context.manager.client.direct, {member: network}, wait_s=node.range_wait_s)
    cidrs.follow(nodes_of(context, [node.name], node.shared_informer))
    if node.credentials is not None:
        informers = context.manager.informers
        own = Scope(field_selector=f"metadata.name={node.name}")
        informers.informer_for(NETWORK_NODE_VIEW, own).add_handler(FollowNodes(network))
        published = PublishedNetworks(context.manager.client.direct, network.replace_others)
        context.manager.add(published)
    else:
        context.informer(NETWORK_NODE_VIEW).add_handler(FollowNodes(network))
    context.manager.add(cidrs)
    context.manager.add(network)


def _dns(node: CriNode, services: "SharedInformer[object]") -> ClusterDns:
    """Return the cluster's DNS: the configured servers, or the Service that clusters have for it."""
    servers = tuple(node.cluster_dns)
    ref = services.indexer.get(_DNS) if not servers else None
    if ref is not None:
        address = SERVICE_VIEW.decode(ref.raw).spec.cluster_ip
        servers = (address,) if address not in ("", "None") else ()
    return replace(ClusterDns(domain=node.cluster_domain), servers=servers)
