"""`sampan scheduler`: the scheduler of a cluster in a separate process."""

import click

from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import LoopSettings, SchedulerSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration
from sampan.server.verbs.components import SCHEDULER_LEASE


@click.command("scheduler", cls=SettingsCommand, root=SchedulerSettings())
def scheduler_command(configuration: Configuration) -> None:
    """Run a scheduler, which assigns Pods to nodes."""
    settings: SchedulerSettings = configuration.settings
    lease = SCHEDULER_LEASE if settings.leader_elect else ""
    run_loops(LoopSettings(settings.process, scheduler=True, lease=lease))
