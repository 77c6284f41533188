"""`sampan scheduler`: the scheduler of a cluster as a process of its own."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings
from sampan.cli.loop_options import leader_elect_option, loop_options
from sampan.server.verbs.components import SCHEDULER_LEASE


@click.command("scheduler")
@leader_elect_option
@loop_options
def scheduler_command(leader_elect: bool, kubeconfig: Path | None, **options: Any) -> None:
    """Run a scheduler: Pods get nodes."""
    run_loops(LoopSettings(kubeconfig, scheduler=True, lease=SCHEDULER_LEASE if leader_elect else "", **options))
