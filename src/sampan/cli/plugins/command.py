"""`sampan plugin list`."""

import os
from typing import cast

import click

from sampan.cli.plain_error import PlainError
from sampan.cli.plugins.find import list_plugins


@click.group("plugin")
def plugin_command() -> None:
    """Run plugins: `sampan NAME …` runs the executable `sampan-NAME` on PATH, unless NAME is built in."""


@plugin_command.command("list")
@click.option("--name-only", is_flag=True, help="Print names without their folders.")
@click.pass_context
def list_command(context: click.Context, *, name_only: bool) -> int:
    """List all plugins on PATH. Exit code 1: there are none, or there are warnings."""
    root = context.find_root()
    commands = cast(click.Group, root.command).list_commands(root)
    found = list(list_plugins(os.environ.get("PATH", ""), commands))
    if not found:
        raise PlainError("error: unable to find any sampan plugins in your PATH")
    click.echo("The following compatible plugins are available:\n")
    for listed in found:
        click.echo(listed.path.name if name_only else str(listed.path))
        for text in listed.warnings:
            click.echo(f"  - warning: {text}", err=True)
    count = sum(len(listed.warnings) for listed in found)
    if count:
        raise PlainError(f"error: {'one plugin warning was' if count == 1 else f'{count} plugin warnings were'} found")
    return 0
