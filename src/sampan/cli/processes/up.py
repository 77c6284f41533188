"""`sampan up`: run an API server."""

import shlex
import sys
from functools import partial
from pathlib import Path

import click

from sampan.app.main import up
from sampan.cli.processes.up_settings import UP_OPTIONS, server_settings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration


@click.command("up", cls=SettingsCommand, **UP_OPTIONS)
def up_command(configuration: Configuration) -> int:
    """Run a Kubernetes API server.

    Prints a line when it is ready. The data directory then has a kubeconfig and admin.token, both with all rights.
    On a loopback address it also prints a link, which opens the dashboard with all rights, once within 10 minutes.
    """
    settings = server_settings(configuration)
    up(settings, partial(_announce, settings.data))
    return 0


def _announce(data: Path, line: str) -> None:
    """Print a line of a ready server, and on a terminal the next commands after the first one."""
    click.echo(line)
    if sys.stdout.isatty() and line.startswith("ready "):
        kubeconfig = shlex.quote(str((data / "kubeconfig").absolute()))
        click.echo(
            f"next, in another terminal: export KUBECONFIG={kubeconfig}; kubectl get nodes (Ctrl-C ends the server)"
        )
