"""`sampan leave`: removes the node from this machine."""

import click

from sampan.app.controller_manager.join_settings import LeaveSettings
from sampan.app.nodes.leave import leave
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration


@click.command("leave", cls=SettingsCommand, root=LeaveSettings())
def leave_command(configuration: Configuration) -> None:
    """Remove the node from this machine, after its agent was stopped.

    Deletes the containers and logs of its Pods, its network, routes and rules of Services, and --root with its
    certificates and volumes. Drain the node first, and delete its Node object with kubectl.
    """
    leave(configuration.settings)
    click.echo("node removed")
