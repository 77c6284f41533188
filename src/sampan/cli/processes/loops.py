"""`sampan loops`: the loops that `sampan up` starts next to the server. Ends when its standard input ends."""

import click

from sampan.app.controller_manager.choice import UnknownController, chosen_controllers
from sampan.app.controller_manager.proxy_settings import NodeProxy, ProxyRuleSettings
from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import AllLoopsSettings, LoopSettings, NodeSettings
from sampan.app.controller_manager.shared_settings import bundled, node_names
from sampan.cli.processes.dns import dns_at
from sampan.cli.settings_command import SettingsCommand
from sampan.controllers.names import NAMES
from sampan.core.settings.configuration import Configuration
from sampan.server.verbs.components import CONTROLLER_MANAGER_LEASE


@click.command("loops", cls=SettingsCommand, root=AllLoopsSettings(), hidden=True)
def loops_command(configuration: Configuration) -> None:
    """Run controllers, scheduler and nodes, or DNS server and Service proxy, in one process with shared caches.

    Exits with `USAGE_ERROR` for a wrong command line, so that the server does not start it again.
    """
    settings: AllLoopsSettings = configuration.settings
    try:
        chosen = chosen_controllers(settings.controllers, NAMES)
        settings.node_cidrs.resolved()
        dns_at(settings.dns_address)
    except UnknownController as error:
        raise click.UsageError(f"--controllers: {error}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    # Without a node-ipam-controller in this process, nodes need not wait for address ranges.
    node = NodeSettings(settings.node_runtime, root=settings.node_root, cri=settings.cri, range_wait_s=0.0)
    count = min(settings.nodes, 1) if node.runtime != "simulated" else settings.nodes
    proxy = NodeProxy(settings.service_proxy_node, ProxyRuleSettings(healthz_bind_address=""))
    run_loops(
        LoopSettings(
            settings.process,
            chosen,
            settings.scheduler,
            node_names(count),
            node,
            proxy=proxy if settings.service_proxy else None,
            lease=CONTROLLER_MANAGER_LEASE if settings.leader_elect else "",
            signing=settings.signing,
            node_cidrs=settings.node_cidrs,
            dns=dns_at(settings.dns_address) if settings.dns else None,
            local_path=bundled(settings.local_path, settings.node_runtime),
            load_balancer=settings.load_balancer.options(),
            ends_with_stdin=True,
        )
    )
