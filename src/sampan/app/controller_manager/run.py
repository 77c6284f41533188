"""`run_loops`: runs a process of control loops.

Concurrency: one manager owns all tasks. The first SIGTERM or SIGINT ends it gracefully, the second one at once. As the
child of a server it ends when its standard input closes, also if the server was killed.
"""

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Final

import uvloop

from sampan.app.controller_manager.channel import serve_channel
from sampan.app.controller_manager.context import loop_context
from sampan.app.controller_manager.settings import LoopSettings, NodeSettings
from sampan.app.controller_manager.shared_settings import bundled
from sampan.app.controller_manager.storage_driver import connected_driver
from sampan.app.errors import StartError
from sampan.app.free_memory import FreeMemory, limit_fragmentation, start_collector
from sampan.app.listen import own_address
from sampan.client import Client, Config, ConfigError, load_config
from sampan.client.identity import user_agent
from sampan.client.transports.warnings import ignore_warnings
from sampan.component_base.context import ControllerContext
from sampan.component_base.field_managers import LOOPS_MANAGER, NODE_MANAGER
from sampan.component_base.informers import FROM_THE_NEWEST_STATE, NEXT_TO_THE_SERVER
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.telemetry.log import configure_logging
from sampan.dns.set_up import set_up as set_up_dns
from sampan.informer.settings import InformerSettings
from sampan.node.eviction.thresholds import HARD, EvictionPolicy
from sampan.node.joining.rotation import CertificateRotation
from sampan.node.node_object.claim import NodeTaken
from sampan.node.node_object.content import KubeletAddress
from sampan.node.node_object.other_address import second_address
from sampan.node.nodes import CriNode, ProcessNode, SimulatedNodes
from sampan.node.runtime_socket import NoRuntime, runtime_socket
from sampan.node.set_up import set_up as set_up_nodes
from sampan.node.shutdown.inhibitor import has_systemd
from sampan.node.shutdown.node_shutdown import STATUS_S
from sampan.node.shutdown.policy import ShutdownPolicy
from sampan.operator.controller import CacheSyncTimeout
from sampan.operator.leader_election import LeaderElectionConfig, LeaderElectionLost
from sampan.operator.manager import Manager, ManagerOptions, ShutdownTimeout
from sampan.operator.manager.signals import stop_on_signals
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.set_up import set_up as set_up_proxy

_CATALOGUE: Final = "sampan.controllers.catalogue"
_SCHEDULER: Final = "sampan.scheduler.set_up"
_IPAM: Final = "node-ipam-controller"
LEASE_NAMESPACE: Final = "kube-system"
ORPHAN_GRACE_S: Final = 2.0
"""Time in seconds for a graceful end after the parent process has died."""
_GRACE_S: Final = 10.0
_NICENESS: Final = 10
"""Niceness of a process next to a server: on a busy machine, requests have priority over control loops."""
_EXPECTED: Final = (
    ConfigError,
    OSError,
    LeaderElectionLost,
    CacheSyncTimeout,
    ShutdownTimeout,
    NodeTaken,
    ServiceProxyError,
)

Nodes = SimulatedNodes | ProcessNode | CriNode

_log = logging.getLogger("sampan.app")


def run_loops(settings: LoopSettings) -> None:
    """Run the process until a signal arrives. Raises `StartError` with the error that prevented or ended the run."""
    limit_fragmentation()
    configure_logging(settings.process.log.level, settings.process.log.format)
    if settings.ends_with_stdin:
        os.nice(_NICENESS)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(settings))
    except _EXPECTED as error:
        raise StartError(" ".join(str(error).split()) or type(error).__name__) from error


async def _run(settings: LoopSettings) -> None:
    name = _program(settings)
    config = replace(load_config(settings.process.kubeconfig), user_agent=user_agent(name))
    # Warnings are for people: the loops use deprecated fields on purpose, for the clients that still need them.
    async with Client.from_config(config, field_manager=name, warnings=ignore_warnings) as client:
        if settings.csi is None:
            await _run_manager(client, config, settings)
            return
        async with connected_driver(settings.csi) as driver:
            await driver.look_for_snapshots(client)
            await _run_manager(client, config, driver.with_lease(settings), driver.set_up)


def _program(settings: LoopSettings) -> str:
    """Return the name of the process in managed fields and user agents. The dashboard distinguishes it from users."""
    return NODE_MANAGER if settings.nodes and not (settings.controllers or settings.scheduler) else LOOPS_MANAGER


async def _run_manager(
    client: Client, config: Config, settings: LoopSettings, *more: Callable[[ControllerContext], None]
) -> None:
    """Run the loops of the settings, and those that the functions in `more` add."""
    manager = Manager(client, _options(settings))
    manager.reports.name = "control loops"
    context = loop_context(manager, config, settings)
    nodes = set_up(context, settings, config if settings.tunnel else None)
    for add in more:
        add(context)
    manager.add(FreeMemory())
    _freeze_heap()
    async with _ends_with_stdin(manager) if settings.ends_with_stdin else nullcontext():
        await _run_until_signal(manager, nodes)


async def _run_until_signal(manager: Manager, nodes: Nodes | None) -> None:
    """Run the controllers and agents until SIGTERM or SIGINT.

    Without systemd, the signal first ends the Pods of a node with a grace period for its shutdown.
    """
    if not isinstance(nodes, CriNode) or not nodes.shutdown.stages or has_systemd():
        await manager.run(handle_signals=True)
        return
    limit_s = nodes.shutdown.total_s + STATUS_S + 1.0

    async def end() -> None:
        await nodes.shutdown_signal.request(limit_s)
        manager.stop()

    async with TaskScope() as tasks:
        with stop_on_signals(lambda: tasks.begin(end(), "shutdown of the node")):
            await manager.run()


def set_up(context: ControllerContext, settings: LoopSettings, tunnel: Config | None = None) -> Nodes | None:
    """Add the loops of the settings to the manager. Returns the nodes, if there are any.

    `tunnel`: configuration for the tunnels of a single node; None for none.
    Raises `KeyError` for an unknown controller.
    """
    _set_up_controllers(context, settings)
    if settings.dns is not None:
        set_up_dns(context, settings.dns, own_address(), keeps_running=settings.ends_with_stdin)
    nodes = None
    if settings.nodes:
        shared = settings.scheduler or bool(settings.controllers)
        nodes = _nodes(settings, shared)
        if tunnel is not None and len(settings.nodes) == 1:
            nodes = replace(nodes, tunnel=tunnel)
        set_up_nodes(context, nodes)
    if settings.joined is not None:
        [name] = settings.nodes
        context.manager.add(CertificateRotation(settings.joined, context.manager.client.direct, name, context.clock))
    if settings.proxy is not None:
        rules = settings.proxy.rules
        name, address = settings.proxy.node_name, rules.healthz_bind_address
        keeps_running = settings.ends_with_stdin
        set_up_proxy(
            context.manager,
            name,
            options=rules.options,
            healthz_address=address,
            keeps_running=keeps_running,
            reads_nodes=settings.joined is None,
        )
    return nodes


def _set_up_controllers(context: ControllerContext, settings: LoopSettings) -> None:
    """Add controllers and the scheduler.

    Imported by name and only here: they take time and memory, which nodes and DNS servers save.
    """
    if settings.controllers:
        catalogue: Mapping[str, Callable[[ControllerContext], None]] = import_module(_CATALOGUE).CONTROLLERS
        for name in settings.controllers:
            if name != _IPAM or settings.node_cidrs.allocate_node_cidrs:
                catalogue[name](context)
    if settings.scheduler:
        import_module(_SCHEDULER).set_up(context)


def _nodes(settings: LoopSettings, shared: bool) -> Nodes:
    """Return the nodes of the settings. `shared`: other loops watch all Pods too."""
    node = settings.node
    serve = _serve(node)
    if node.runtime == "simulated":
        elected = bool(settings.lease)
        return SimulatedNodes(
            settings.nodes,
            shared_informer=shared,
            serve=serve,
            range_wait_s=node.range_wait_s,
            elected=elected,
            events=True,
            credentials=settings.joined,
            unsafe_sysctls=node.cri.allowed_unsafe_sysctls,
        )
    # gRPC would log a line for each program that the agent starts.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    if node.runtime == "cri":
        return _cri_node(settings, serve, shared)
    images = dict(node.images)
    return ProcessNode(
        settings.nodes[0],
        node.root,
        images=images,
        image_directory=node.image_directory,
        shared_informer=shared,
        serve=serve,
        pod_address=node.pod_address or own_address(),
        credentials=settings.joined,
        eviction=_eviction(node),
        unsafe_sysctls=node.cri.allowed_unsafe_sysctls,
    )


def _serve(node: NodeSettings) -> KubeletAddress:
    """Return the addresses of the node. Only a node with containers has addresses of both IP families."""
    if node.runtime != "cri":
        return KubeletAddress(node.address or "127.0.0.1", node.port)
    if node.cri.node_ip:
        return KubeletAddress(node.cri.node_ip[0], node.port, "".join(node.cri.node_ip[1:]))
    first = node.address or own_address()
    return KubeletAddress(first, node.port, second_address(first))


def _eviction(node: NodeSettings) -> EvictionPolicy:
    """Return the thresholds of a node that runs processes: no defaults, only the given ones. Raises `StartError`."""
    given = node.cri.eviction
    hard = given.eviction_hard if given.eviction_hard != HARD else ""
    try:
        return replace(given, eviction_hard=hard).policy()
    except ValueError as error:
        raise StartError(str(error)) from error


def _cri_node(settings: LoopSettings, serve: KubeletAddress, shared: bool) -> CriNode:
    """Return the node of these settings. Raises `StartError` without a container runtime."""
    node, cri = settings.node, settings.node.cri
    try:
        endpoint = runtime_socket(cri.container_runtime_endpoint)
    except NoRuntime as error:
        raise StartError(str(error)) from error
    try:
        images, eviction, shutdown = cri.garbage.policy(), cri.eviction.policy(), cri.shutdown.policy()
    except ValueError as error:
        raise StartError(str(error)) from error
    assigned = settings.node_cidrs.allocate_node_cidrs and _IPAM in settings.controllers
    return CriNode(
        settings.nodes[0],
        node.root,
        endpoint,
        serve,
        shared_informer=shared,
        logs=cri.pod_logs_dir,
        cgroup_root=cri.cgroup_root,
        cni_configurations=cri.cni_conf_dir,
        cluster_dns=cri.cluster_dns,
        cluster_domain=cri.cluster_domain,
        images=images,
        eviction=eviction,
        # The end of `sampan up` does not end Pods: its restart is no shutdown of the machine.
        shutdown=ShutdownPolicy() if settings.ends_with_stdin and not has_systemd() else shutdown,
        range_wait_s=None if assigned else node.range_wait_s,
        credentials=settings.joined,
        unsafe_sysctls=cri.allowed_unsafe_sysctls,
        registries=cri.registries,
        network_policy=bundled(cri.network_policy, "cri"),
    )


def _options(settings: LoopSettings) -> ManagerOptions:
    election = None
    if settings.lease:
        election = LeaderElectionConfig(settings.lease, LEASE_NAMESPACE)
        if settings.ends_with_stdin:
            # Failover takes at most 10 s: the last renewal is seen up to 2.2 periods late, and then the Lease must
            # expire.
            election = replace(election, lease_duration_s=8.0, renew_deadline_s=5.5, retry_period_s=0.9)
    grace_s = ORPHAN_GRACE_S / 2 if settings.ends_with_stdin else _GRACE_S
    return ManagerOptions(
        leader_election=election,
        probe_address=settings.process.probe_address,
        graceful_shutdown_timeout_s=grace_s,
        informer_settings=informers_of(settings),
        pausable=False,
    )


def informers_of(settings: LoopSettings) -> InformerSettings | None:
    """Return the settings of the informers; None for the defaults."""
    if not settings.controllers and not settings.scheduler:
        return None  # Nodes are many: they list from a cache, as kubelets do.
    return NEXT_TO_THE_SERVER if settings.ends_with_stdin else FROM_THE_NEWEST_STATE


def _freeze_heap() -> None:
    """Exclude all loaded objects from garbage collection: they stay until the end."""
    gc.collect()
    start_collector()


@asynccontextmanager
async def _ends_with_stdin(manager: Manager) -> AsyncIterator[None]:
    """Stop the manager when standard input closes during the block. If the end takes too long, exit at once."""

    def closed() -> None:
        _log.debug("standard input closed: ending the control loops")
        manager.stop()
        asyncio.get_running_loop().call_later(ORPHAN_GRACE_S, os._exit, 1)

    async with TaskScope() as tasks:
        tasks.begin(serve_channel(manager.reports, closed), "channel to the server")
        yield
