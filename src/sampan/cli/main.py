"""The `sampan` command."""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from sampan.app.errors import StartError
from sampan.cli.plain_error import PlainError

_COMMANDS = {
    "api-resources": "sampan.cli.objects.api_resources",
    "apply": "sampan.cli.objects.apply",
    "completion": "sampan.cli.completion",
    "controllers": "sampan.cli.controllers",
    "delete": "sampan.cli.objects.delete",
    "describe": "sampan.cli.objects.describe",
    "generate": "sampan.cli.generate",
    "get": "sampan.cli.objects.get",
    "loops": "sampan.cli.loops",
    "node": "sampan.cli.node",
    "scheduler": "sampan.cli.scheduler",
    "up": "sampan.cli.up",
    "version": "sampan.cli.version",
    "wait": "sampan.cli.objects.wait",
}
"""The module of each command; it calls the command `<name>_command`."""


class CommandGroup(click.Group):
    """Loads a command when it is asked for: `sampan version` needs no server."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, for --help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(import_module(module), f"{cmd_name.replace('-', '_')}_command")
        return command


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Kubernetes' declarative API in Python."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; an error is one line on stderr and exit code 1."""
    # What is made while modules are loaded stays; to look for garbage in it is a tenth of the start.
    gc.disable()
    try:
        code = _run(arguments)
    finally:
        gc.enable()
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="sampan", standalone_mode=False)
    except PlainError as error:
        click.echo(error.message, err=True)
        return 1
    except click.ClickException as error:
        return _fail(error.format_message())
    except StartError as error:
        return _fail(str(error))
    except click.Abort:
        return _fail("aborted")
    return result if isinstance(result, int) else 0


def _fail(message: str) -> int:
    click.echo(f"sampan: error: {' '.join(message.split())}", err=True)
    return 1
