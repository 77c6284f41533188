"""`sampan node`: nodes as a process of their own."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings
from sampan.cli.loop_options import loop_options
from sampan.node.set_up import node_names


@click.command("node")
@click.option(
    "--simulated",
    type=click.IntRange(1, 32768),
    required=True,
    help="How many nodes to simulate: nothing really runs on them.",
)
@click.option(
    "--node-name", default="node", show_default=True, help="The name; of several nodes what their names begin with."
)
@loop_options
def node_command(simulated: int, node_name: str, kubeconfig: Path | None, **options: Any) -> None:
    """Run nodes: Pods that are bound to them become ready, complete or fail as their annotations say.

    \b
    sampan.dev/ready-after: 2s      ready so long after the start
    sampan.dev/complete-after: 5s   ended so long after the start, with exit code 0
    sampan.dev/fail-after: 5s       the same with exit code 1
    sampan.dev/exit-code: "3"       another exit code
    sampan.dev/stop-after: 1s       how long containers take to end when they are stopped
    """
    run_loops(LoopSettings(kubeconfig, nodes=tuple(node_names(simulated, node_name)), **options))
