"""The options of `sampan up` about what is done to the store."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from sampan.app.settings import STORAGE_MEDIA_TYPES, UpSettings

_DEFAULTS = UpSettings()
_WITHOUT_LOOPS = {"controllers": "", "scheduler": False, "nodes": 0}
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--read-only",
        is_flag=True,
        help="Serve what is stored and write nothing: every write is answered with 405, and no control loops run. For "
        "the etcd of a cluster that another API server keeps.",
    ),
    click.option(
        "--new-cluster",
        is_flag=True,
        help="Begin a new, empty cluster if the database of the data directory is missing or empty. Without it such a "
        "directory is refused.",
    ),
    click.option(
        "--storage-media-type",
        type=click.Choice(STORAGE_MEDIA_TYPES),
        default=_DEFAULTS.storage_media_type,
        show_default=True,
        help="How objects of built-in kinds are stored; custom resources are always JSON.",
    ),
)


def storage_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_storage(options: dict[str, Any]) -> None:
    """Turn off what would write all the time."""
    if options["read_only"]:
        options.update(_WITHOUT_LOOPS)
