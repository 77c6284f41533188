"""The options of `sampan up` about encryption at rest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sampan.app.settings import UpSettings

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--encryption-provider-config",
        type=click.Path(dir_okay=False, path_type=Path),
        help="EncryptionConfiguration: what is encrypted in the store, and with which keys.",
    ),
    click.option(
        "--encryption-provider-config-automatic-reload",
        type=click.BOOL,
        default=False,
        is_flag=False,
        flag_value=True,
        show_default=True,
        help="Read it again when it changes.",
    ),
)


def encryption_options(command: Command) -> Command:
    """Add them to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_encryption_options(settings: UpSettings) -> None:
    """Raises `click.UsageError` for one without the other."""
    if settings.encryption_provider_config_automatic_reload and settings.encryption_provider_config is None:
        raise click.UsageError(
            "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"
        )
