"""Program `kubectl-sampan`, which kubectl runs as `kubectl sampan`."""

import sys
from collections.abc import Sequence

import click
from click.exceptions import NoArgsIsHelpError

from sampan.cli.command_group import CommandGroup
from sampan.cli.mistyped import error_message

_COMMANDS = {
    "diff": "sampan.cli.kubectl.diff",
    "history": "sampan.cli.kubectl.history",
    "restore": "sampan.cli.kubectl.restore",
    "trace": "sampan.cli.kubectl.trace",
    "tree": "sampan.cli.kubectl.tree",
}


@click.group(cls=CommandGroup, modules=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Inspect objects: the objects they own, their history, and the server's processing of writes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command. An error is printed on stderr, with exit code 1 or that of the command."""
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="kubectl sampan", standalone_mode=False)
    except NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "kubectl sampan"
        click.echo(f"error: {error_message(error)}\nSee '{command} --help' for usage.", err=True)
        return error.exit_code
    except click.ClickException as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.Abort:
        return 1
    return result if isinstance(result, int) else 0
