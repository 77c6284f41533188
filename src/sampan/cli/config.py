"""`sampan config`: print the effective settings of `sampan up`."""

from pathlib import Path

import click

from sampan.app.settings.config_text import config_text
from sampan.cli.processes.up_settings import UP_OPTIONS, server_settings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration


class _ConfigCommand(SettingsCommand):
    """Refuses subcommands, which `kubectl config` has."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raise `click.UsageError` for a subcommand."""
        if args and not args[0].startswith("-"):
            ctx.fail(
                f"sampan config takes only the options of sampan up. For kubeconfigs, use kubectl config {args[0]}."
            )
        return super().parse_args(ctx, args)


@click.command("config", cls=_ConfigCommand, **UP_OPTIONS)
def config_command(configuration: Configuration) -> None:
    """Print the settings of `sampan up` with the same options and --config, and where each one comes from.

    The output is a file for --config. Its paths are absolute. It has no secrets: these are in the files that it names.
    """
    settings = server_settings(configuration)
    for note in settings.notes:
        click.echo(f"Warning: {note}", err=True)
    click.echo(config_text(configuration, settings, Path.cwd()), nl=False)
