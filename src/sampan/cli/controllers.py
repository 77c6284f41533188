"""`sampan controllers`: the control loops of a cluster as a process of their own."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.choice import chosen_controllers
from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings
from sampan.cli.loop_options import controllers_option, leader_elect_option, loop_options
from sampan.controllers.catalogue import CONTROLLERS

LEASE = "kube-controller-manager"


@click.command("controllers")
@controllers_option(lambda text: chosen_controllers(text, tuple(CONTROLLERS)))
@leader_elect_option
@loop_options
def controllers_command(
    controllers: tuple[str, ...],
    leader_elect: bool,
    kubeconfig: Path | None,
    **options: Any,
) -> None:
    """Run control loops: Deployments get ReplicaSets, these get Pods, and so on.

    It works on any cluster; one that has a kube-controller-manager needs none of these loops.
    """
    lease = LEASE if leader_elect else ""
    run_loops(LoopSettings(kubeconfig, controllers, lease=lease, **options))
