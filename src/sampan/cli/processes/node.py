"""`sampan node`: nodes in a separate process."""

import click

from sampan.app.controller_manager.proxy_settings import NodeProxy, ProxyRuleSettings
from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import LoopSettings, NodesSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration
from sampan.node.set_up import node_names


@click.command("node", cls=SettingsCommand, root=NodesSettings())
def node_command(configuration: Configuration) -> None:
    """Run nodes. On simulated nodes, annotations decide when Pods become ready, complete or fail.

    \b
    sampan.dev/ready-after: 2s      time from start to readiness
    sampan.dev/complete-after: 5s   time from start to end with exit code 0
    sampan.dev/fail-after: 5s       time from start to end with exit code 1
    sampan.dev/fail-times: "3"      starts to which fail-after applies
    sampan.dev/exit-code: "3"       exit code instead of 0 or 1
    sampan.dev/stop-after: 1s       time that containers take to stop
    sampan.dev/cpu: 250m            CPU use of each container for metrics; by default none
    sampan.dev/memory: 64Mi         memory use of each container for metrics; by default none

    With --runtime process there is one node. Its containers are processes of this machine. With --runtime cri its
    containers are those of a container runtime such as containerd.
    """
    settings: NodesSettings = configuration.settings
    if settings.node.runtime != "simulated" and settings.simulated != 1:
        runtime = settings.node.runtime
        raise click.UsageError(f"--simulated cannot be combined with --runtime {runtime}, which has one node")
    names = tuple(node_names(settings.simulated, settings.node_name))
    proxy = NodeProxy(names[0], ProxyRuleSettings()) if settings.service_proxy else None
    tunnel = settings.tunnel
    run_loops(LoopSettings(settings.process, nodes=names, node=settings.node, proxy=proxy, tunnel=tunnel))
