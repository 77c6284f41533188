"""`sampan loops`: what `sampan up` starts beside the server. It ends when its standard input does."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.choice import UnknownController, chosen_controllers
from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import USAGE_ERROR, LoopSettings, NodeSettings
from sampan.app.settings import RUNTIMES
from sampan.cli.loop_options import loop_options, signing_options
from sampan.cli.node_cidr_options import check_node_cidrs, node_cidr_options
from sampan.controllers.catalogue import CONTROLLERS
from sampan.node.set_up import node_names
from sampan.server.verbs.components import CONTROLLER_MANAGER_LEASE


@click.command("loops", hidden=True)
@click.option("--controllers", default="*")
@click.option("--scheduler/--no-scheduler", default=True)
@click.option("--nodes", type=int, default=1)
@click.option("--node-runtime", type=click.Choice(RUNTIMES), default="simulated")
@click.option("--node-root", type=click.Path(path_type=Path), default=Path("sampan-node"))
@click.option("--leader-elect", is_flag=True, help="Other servers on the same store have loops beside them, too.")
@node_cidr_options
@signing_options
@loop_options
def loops_command(controllers: str, scheduler: bool, nodes: int, kubeconfig: Path | None, **options: Any) -> int:
    """Run controllers, scheduler and nodes in one process, which share all they know of the cluster."""
    try:
        chosen = chosen_controllers(controllers, tuple(CONTROLLERS))
    except UnknownController as error:
        click.echo(f"sampan: error: --controllers: {error}", err=True)
        return USAGE_ERROR
    check_node_cidrs(options)
    # Without a node-ipam-controller next to them, nodes need not wait for ranges.
    node = NodeSettings(options.pop("node_runtime"), options.pop("node_root"), range_wait_s=0.0)
    options["lease"] = CONTROLLER_MANAGER_LEASE if options.pop("leader_elect") else ""
    nodes = min(nodes, 1) if node.runtime == "process" else nodes
    names = tuple(node_names(nodes, "node-1" if nodes == 1 else "node")) if nodes else ()
    run_loops(LoopSettings(kubeconfig, chosen, scheduler, names, node, ends_with_stdin=True, **options))
    return 0
