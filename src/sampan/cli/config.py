"""`sampan config`: print the effective settings of `sampan up`."""

from pathlib import Path

import click

from sampan.app.config_text import config_text
from sampan.app.configuration import Configuration
from sampan.cli.settings_command import SettingsCommand
from sampan.cli.up_settings import UP_OPTIONS, server_settings


@click.command("config", cls=SettingsCommand, **UP_OPTIONS)
def config_command(configuration: Configuration) -> None:
    """Print the settings of `sampan up` with the same options and --config, and where each one comes from.

    The output is a file for --config. Its paths are absolute. It has no secrets: these are in the files that it names.
    """
    settings = server_settings(configuration)
    for note in settings.notes:
        click.echo(f"Warning: {note}", err=True)
    click.echo(config_text(configuration, settings, Path.cwd()), nl=False)
