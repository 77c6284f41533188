"""`sampan version`."""

import click

from sampan import __version__
from sampan.server.routes.version import GIT_VERSION


@click.command("version")
def version_command() -> None:
    """Show the version."""
    click.echo(f"sampan {__version__} (Kubernetes {GIT_VERSION})")
