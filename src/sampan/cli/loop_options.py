"""The options that all commands have which run control loops."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

T = TypeVar("T")

_OPTIONS = (
    click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Which cluster, and as whom; by default as kubectl would choose.",
    ),
    click.option(
        "--probe-address",
        default="",
        metavar="HOST:PORT",
        callback=lambda ctx, param, text: host_and_port(ctx, param, text),
        help="Where to answer /healthz, /readyz and /metrics; by default nowhere.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(("debug", "info", "warning", "error")),
        default="info",
        show_default=True,
    ),
    click.option("--log-format", type=click.Choice(("text", "json")), default="text", show_default=True),
)

_FILE = click.Path(dir_okay=False, path_type=Path)
_SIGNING = (
    click.option(
        "--service-account-private-key-file",
        type=_FILE,
        help="The key that signs the tokens of Secrets; without it no Secret gets one.",
    ),
    click.option(
        "--cluster-signing-cert-file",
        type=_FILE,
        help="The authority that signs approved CertificateSigningRequests; without it they wait.",
    ),
    click.option("--cluster-signing-key-file", type=_FILE, help="Its key."),
)


def loop_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command --kubeconfig, --probe-address, --log-level and --log-format."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def signing_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command the files of keys with which its loops sign."""
    for option in reversed(_SIGNING):
        command = option(command)
    return command


leader_elect_option = click.option(
    "--leader-elect/--no-leader-elect",
    default=True,
    show_default=True,
    help="Work only while this process holds the Lease: of several one works.",
)


def host_and_port(ctx: click.Context, param: click.Parameter, text: str) -> str:
    """Checks an option `HOST:PORT`, which may be empty."""
    host, _, port = text.rpartition(":")
    if text and not (host and port.isdecimal() and int(port) < 65536):
        raise click.BadParameter(f"{text!r} is not host:port", ctx, param)
    return text


def controllers_option(known: Callable[[str], Any]) -> Callable[..., Any]:
    """Give a command --controllers, read by `known`, which raises `ValueError`."""

    def read(ctx: click.Context, param: click.Parameter, text: str) -> Any:
        try:
            return known(text)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return click.option(
        "--controllers",
        default="*",
        show_default=True,
        callback=read,
        help="Names with commas between them; * means all, -name leaves one out.",
    )
