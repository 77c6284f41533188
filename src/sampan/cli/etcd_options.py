"""The options of `sampan up` about etcd."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from sampan.app.settings import UpSettings

_DEFAULTS = UpSettings()
_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])


def _urls(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(url.strip() for url in text.split(",") if url.strip())


_OPTIONS = (
    click.option(
        "--etcd-servers",
        default=",".join(_DEFAULTS.etcd_servers),
        show_default=True,
        callback=_urls,
        metavar="URLS",
        help="With --storage etcd: its endpoints, with commas between them.",
    ),
    click.option("--etcd-cafile", type=_FILE, help="Who signs the certificates of etcd's servers."),
    click.option("--etcd-certfile", type=_FILE, help="What etcd is shown."),
    click.option("--etcd-keyfile", type=_FILE, help="The key of --etcd-certfile."),
    click.option(
        "--etcd-prefix",
        default=_DEFAULTS.etcd_prefix,
        show_default=True,
        help="What the keys in etcd begin with. Servers of one cluster have the same.",
    ),
)


def etcd_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_etcd_options(storage: str) -> None:
    """Raises `click.UsageError` for options about etcd of a server that keeps nothing there: whoever
    gave them would believe that it does.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if given and name.startswith("etcd_") and storage != "etcd":
            raise click.UsageError(f"{option.opts[0]} needs --storage etcd: with {storage} nothing is kept in etcd")
