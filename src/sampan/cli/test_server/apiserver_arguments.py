"""`read_settings`: settings of a test server from options of kube-apiserver."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click

from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings, check
from sampan.cli.apiserver_options import REFUSED
from sampan.cli.processes.up_settings import UP_OPTIONS
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration


@click.command("kube-apiserver", cls=SettingsCommand, **UP_OPTIONS)
def _command(configuration: Configuration) -> Configuration:
    """Read the options. The return value is the result of `main`."""
    return configuration


_KNOWN: Final = frozenset(
    name for parameter in _command.params for name in parameter.opts + parameter.secondary_opts
).difference(f"--{name}" for name in REFUSED)


def read_settings(arguments: Sequence[str]) -> UpSettings:
    """Return the settings. Unknown options are reported on stderr and have no effect. Raises `StartError`."""
    try:
        configuration: Configuration = _command.main(list(_known(arguments)), standalone_mode=False)
        settings: UpSettings = configuration.settings
        check(settings)
    except click.ClickException as error:
        raise StartError(f"kube-apiserver: {error.format_message()}") from error
    except ValueError as error:
        raise StartError(f"kube-apiserver: {error}") from error
    return settings


def _known(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without unknown options and their values."""
    skips_value = False
    for argument in arguments:
        if not argument.startswith("--"):
            if not skips_value:
                yield argument
            skips_value = False
            continue
        name, equals, _ = argument.partition("=")
        known = name in _KNOWN
        skips_value = not known and not equals
        if known:
            yield argument
        else:
            print(f"kube-apiserver: the option {name} has no effect here", file=sys.stderr)
