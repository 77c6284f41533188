"""`sampan node`: nodes as a process of their own."""

import click

from sampan.app.configuration import Configuration
from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings, NodesSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.node.set_up import node_names


@click.command("node", cls=SettingsCommand, root=NodesSettings())
def node_command(configuration: Configuration) -> None:
    """Run nodes. On simulated ones Pods become ready, complete or fail as their annotations say.

    \b
    sampan.dev/ready-after: 2s      ready so long after the start
    sampan.dev/complete-after: 5s   ended so long after the start, with exit code 0
    sampan.dev/fail-after: 5s       the same with exit code 1
    sampan.dev/exit-code: "3"       another exit code
    sampan.dev/stop-after: 1s       how long containers take to end when they are stopped
    sampan.dev/cpu: 250m            what each uses while it runs, for metrics; else nothing
    sampan.dev/memory: 64Mi         the same of memory

    With --runtime process there is one node: the containers of its Pods are processes of this machine.
    """
    settings: NodesSettings = configuration.settings
    if settings.node.runtime == "process" and settings.simulated != 1:
        raise click.UsageError("--simulated is for simulated nodes: of processes there is one")
    names = tuple(node_names(settings.simulated, settings.node_name))
    run_loops(LoopSettings(settings.process, nodes=names, node=settings.node))
