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


def storage_notes(options: dict[str, Any]) -> tuple[str, ...]:
    """Return a note for the log if options about etcd are given and etcd is not the storage: they have no effect.

    Programs that start kube-apiserver, such as envtest, always pass --etcd-servers. Other options about etcd without
    --etcd-servers and --storage are a mistake: raises `click.UsageError`.
    """
    given = [option for option in click.get_current_context().command.params if _is_given(option)]
    about_etcd = [option.opts[0] for option in given if (option.name or "").startswith("etcd_")]
    if not about_etcd or options["storage"] == "etcd":
        return ()
    if "--etcd-servers" not in about_etcd and all(option.name != "storage" for option in given):
        text = f"{about_etcd[0]} needs --storage etcd: with {options['storage']} nothing is kept in etcd"
        raise click.UsageError(text)
    names = ", ".join(about_etcd)
    return (f"options without effect, as the storage is {options['storage']} (--storage etcd uses them): {names}",)


def _is_given(option: click.Parameter) -> bool:
    source = click.get_current_context().get_parameter_source(option.name or "")
    return source is not ParameterSource.DEFAULT
