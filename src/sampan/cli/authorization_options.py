"""The options of `sampan up` about who may do what. Names and meanings are kube-apiserver's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sampan.app.settings import UpSettings
from sampan.cli.durations import seconds

_DEFAULTS = UpSettings()
_FILE = click.Path(dir_okay=False, path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])


def _modes(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _ttl(which: str, default: str, text: str) -> Any:
    return click.option(
        f"--authorization-webhook-cache-{which}-ttl",
        f"authorization_webhook_cache_{which}_ttl_s",
        default=default,
        show_default=True,
        callback=seconds,
        metavar="DURATION",
        help=text,
    )


_OPTIONS = (
    click.option(
        "--authorization-mode",
        default=",".join(_DEFAULTS.authorization_mode),
        show_default=True,
        callback=_modes,
        help="Who is asked whether a request may be, with commas between them: Node, RBAC, ABAC, Webhook, "
        "AlwaysAllow, AlwaysDeny.",
    ),
    click.option(
        "--authorization-config",
        type=_FILE,
        help="AuthorizationConfiguration in the place of the modes; read again when it changes.",
    ),
    click.option("--authorization-policy-file", type=_FILE, help="Policies of mode ABAC: JSON, one a line."),
    click.option("--authorization-webhook-config-file", type=_FILE, help="Kubeconfig of the webhook of mode Webhook."),
    click.option(
        "--authorization-webhook-version",
        type=click.Choice(("v1", "v1beta1")),
        default=_DEFAULTS.authorization_webhook_version,
        show_default=True,
        help="Version of the SubjectAccessReviews that it is sent.",
    ),
    _ttl("authorized", "5m0s", "How long what it allows is remembered."),
    _ttl("unauthorized", "30s", "How long what it does not allow is remembered."),
)


def authorization_options(command: Command) -> Command:
    """Adds them to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
