"""`set_up_cri`: adds a node with a CRI runtime to a manager."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path, PurePosixPath

from sampan.component_base.context import ControllerContext
from sampan.component_base.defaults import CLUSTER_CIDR
from sampan.component_base.pod_networks import NETWORK_NODE_VIEW
from sampan.component_base.resources import SERVICES
from sampan.informer.factory import Scope
from sampan.informer.shared_informer import SharedInformer
from sampan.node.admission.node_state import NodeState
from sampan.node.admission.sysctls import AllowedSysctls
from sampan.node.cri.cgroups import missing_controllers
from sampan.node.cri.client import CriClient
from sampan.node.cri.errors import CriError
from sampan.node.cri.garbage import CriGarbage
from sampan.node.cri.network.guard import NO_GUARD, NetworkGuard
from sampan.node.cri.network.pod_network import FollowNodes, PodNetwork
from sampan.node.cri.network.published import PublishedNetworks
from sampan.node.cri.network.resolver import ClusterDns
from sampan.node.cri.registries.pull_secrets import PullSecrets
from sampan.node.cri.registries.registry_file import DEFAULT, RegistryFile
from sampan.node.cri.runtime import CriRuntime
from sampan.node.cri.settings import CriSettings
from sampan.node.environment.services import SERVICE_VIEW
from sampan.node.eviction.manager import EvictionManager
from sampan.node.eviction.meter import MachineMeter
from sampan.node.garbage.collector import GarbageCollector
from sampan.node.local_path.deleter import LocalDeleter
from sampan.node.network_policy.enforcer import PolicyEnforcer, remove_rules
from sampan.node.network_policy.set_up import set_up_policies
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.node_object.claim import NodeClaim
from sampan.node.node_object.content import NodeShape
from sampan.node.node_object.heartbeats import HeartbeatNode, Heartbeats
from sampan.node.node_object.host import host_shape
from sampan.node.node_object.pod_cidrs import NodePodCidrs
from sampan.node.nodes import CriNode
from sampan.node.pods.agent import PodAgent
from sampan.node.pods.worker import PodWorker
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.references import References
from sampan.node.set_up import (
    CsiNode,
    NodeParts,
    add_agent,
    add_heartbeats,
    container_worker,
    nodes_of,
)
from sampan.node.shutdown.inhibitor import Inhibitor, has_systemd
from sampan.node.shutdown.node_shutdown import NodeShutdown
from sampan.node.tmpfs import TmpfsMounts
from sampan.node.tunnel.set_up import TunnelSettings
from sampan.operator.events import CoreEventSink, EventBroadcaster
from sampan.operator.manager import Group

_DNS: str = "kube-system/kube-dns"
"""Service of the cluster's DNS."""


def set_up_cri(context: ControllerContext, node: CriNode) -> Heartbeats:
    """Add the node. The returned heartbeats report when the node is registered."""
    homes: dict[str, NodeHome] = {}
    memory, state = TmpfsMounts(node.root), NodeState(machine_problem=missing_controllers())
    csi = CsiNode(node.name)

    def make_worker(changed: Callable[[str], None]) -> PodWorker:
        return container_worker(context, node.root, memory, changed, on_host_network=False, node=csi)

    sysctls = AllowedSysctls(node.unsafe_sysctls, kernel=os.uname().release)
    agent = add_agent(context, homes, [node.name], node.shared_informer, make_worker, state=state, sysctls=sysctls)
    instance = instance_of(node.root)
    shape = host_shape("cri", "cri://unknown", node.root)
    client, address = context.manager.client.direct, node.serve.address
    broadcaster = EventBroadcaster(CoreEventSink(client))
    context.manager.add(broadcaster)
    events = NodeEvents(broadcaster, context.clock)
    cri = CriClient(node.endpoint)
    policies = _policies(context, node, state)
    settings = _settings(node, shape, instance)
    runtime = _runtime(context, node, cri, settings, agent.changed, events, guard=policies or NO_GUARD)
    context.manager.add(runtime.run, group=Group.OTHERS)
    garbage = CriGarbage(cri, runtime, desired=agent.uids, ended=agent.has_ended)
    _add_health(context, node, garbage, runtime, agent=agent, state=state, events=events)
    member = HeartbeatNode(node.name, 0, address)
    _add_network(context, node, member, state, cri, policies)
    home = NodeHome(node.serve.addresses, runtime, shape.allocatable(), shape.labels(node.name))
    claim = NodeClaim(
        client,
        node.name,
        instance,
        clock=context.clock,
        won=partial(agent.add_node, node.name, home),
        lock_file=node.root / INSTANCE_FILE,
    )
    tunnel = TunnelSettings(node.tunnel)
    parts = NodeParts(claim, runtime.health, csi, garbage.images, state, node.credentials, tunnel)
    heartbeats = add_heartbeats(context, [member], shape, agent, node.serve, parts)
    context.manager.add(heartbeats)
    LocalDeleter(context, nodes_of(context, [node.name], node.shared_informer), node.name, node.root)
    return heartbeats


def _runtime(
    context: ControllerContext,
    node: CriNode,
    cri: CriClient,
    settings: CriSettings,
    changed: Callable[[str], None],
    events: NodeEvents,
    *,
    guard: NetworkGuard,
) -> CriRuntime:
    references = References(context.manager.client.direct)
    registries = RegistryFile(node.registries or DEFAULT, cri)
    context.manager.add(registries.run, group=Group.OTHERS)
    return CriRuntime(
        cri,
        settings,
        clock=context.clock,
        changed=changed,
        dns=partial(_dns, node, context.informer(SERVICES)),
        credentials=PullSecrets(references),
        registries=registries.current,
        handler_of=references.runtime_handler,
        report=events.warning,
        guard=guard,
    )


def _policies(context: ControllerContext, node: CriNode, state: NodeState) -> PolicyEnforcer | None:
    """Add the enforcement of NetworkPolicies, or the removal of its rules."""
    if node.network_policy:
        return set_up_policies(context, node.name, shared=node.shared_informer, report=state.set_policy_problem)
    state.set_policy_problem("the node runs with --network-policy=false")
    context.manager.add(remove_rules, group=Group.OTHERS)
    return None


def _settings(node: CriNode, shape: NodeShape, instance: str) -> CriSettings:
    return CriSettings(
        node.root,
        node.serve.addresses,
        PurePosixPath(node.logs),
        instance,
        cgroup_root=node.cgroup_root,
        memory_bytes=int(shape.memory.removesuffix("Ki")) * 1024,
    )


def _add_health(
    context: ControllerContext,
    node: CriNode,
    garbage: CriGarbage,
    runtime: CriRuntime,
    *,
    agent: PodAgent,
    state: NodeState,
    events: NodeEvents,
) -> None:
    """Add garbage collection, eviction and graceful shutdown."""
    report = partial(events.node_warning, node.name)
    collector = GarbageCollector(garbage, node.images, clock=context.clock, report=report)
    context.manager.add(collector)
    meter = MachineMeter(node.root, image_disk=garbage.image_disk, log_directory=runtime.log_directory_of)
    context.manager.add(
        EvictionManager(
            node.name,
            node.eviction,
            pods=agent,
            state=state,
            meter=meter,
            reports=events,
            clock=context.clock,
            collector=collector,
        )
    )
    if node.shutdown.stages:
        inhibitor = Inhibitor() if has_systemd() else None
        signal = node.shutdown_signal
        shutdown = NodeShutdown(node.shutdown, pods=agent, state=state, signal=signal, inhibitor=inhibitor)
        context.manager.add(shutdown)


def _add_network(
    context: ControllerContext,
    node: CriNode,
    member: HeartbeatNode,
    state: NodeState,
    cri: CriClient,
    policies: PolicyEnforcer | None,
) -> None:
    async def plugin_directories() -> Sequence[Path]:
        try:
            return await cri.cni_directories()
        except CriError:
            return ()  # The node is not ready anyway.

    network = PodNetwork(
        node.name,
        configurations=node.cni_configurations,
        leases=node.root.absolute() / "addresses",
        report=state.set_network_problem,
        plugin_directories=plugin_directories,
        use_bridge=policies.set_bridge if policies is not None else lambda bridge: None,
    )
    whole = IPv4Network(CLUSTER_CIDR)
    cidrs = NodePodCidrs(context.manager.client.direct, {member: network}, wait_s=node.range_wait_s, whole=whole)
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
    """Return the cluster's DNS: the configured servers, or the address of the DNS Service in the cluster."""
    servers = tuple(node.cluster_dns)
    ref = services.indexer.get(_DNS) if not servers else None
    if ref is not None:
        address = SERVICE_VIEW.decode(ref.raw).spec.cluster_ip
        servers = (address,) if address not in ("", "None") else ()
    return replace(ClusterDns(domain=node.cluster_domain), servers=servers)
