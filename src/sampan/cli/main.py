"""The `sampan` command."""

import sys
from collections.abc import Sequence

import click

from sampan.app.errors import StartError
from sampan.cli.up import up_command
from sampan.cli.version import version_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Kubernetes' declarative API in Python."""


cli.add_command(up_command)
cli.add_command(version_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; an error is one line on stderr and exit code 1."""
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="sampan", standalone_mode=False)
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
