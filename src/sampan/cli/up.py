"""`sampan up`: run an API server."""

import click

from sampan.app.configuration import Configuration
from sampan.app.main import up
from sampan.cli.settings_command import SettingsCommand
from sampan.cli.up_settings import UP_OPTIONS, server_settings


@click.command("up", cls=SettingsCommand, **UP_OPTIONS)
def up_command(configuration: Configuration) -> int:
    """Run a Kubernetes API server.

    Prints one line when it is ready. The data directory then has a kubeconfig and admin.token, both with all rights.
    """
    up(server_settings(configuration), lambda line: click.echo(line))
    return 0
