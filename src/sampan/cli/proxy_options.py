"""The options of `sampan up` about kubelets, and about whom requests may be passed on to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sampan.app.settings import UpSettings

_DEFAULTS = UpSettings()
_FILE = click.Path(dir_okay=False, path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])


def _types(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


_OPTIONS = (
    click.option(
        "--kubelet-client-certificate",
        type=_FILE,
        help="What kubelets are shown; by default pki/apiserver-kubelet-client.crt of the data directory.",
    ),
    click.option("--kubelet-client-key", type=_FILE, help="The key of --kubelet-client-certificate."),
    click.option(
        "--kubelet-certificate-authority",
        type=_FILE,
        help="Who signs the serving certificates of kubelets; without it they are not verified.",
    ),
    click.option(
        "--kubelet-preferred-address-types",
        default=",".join(_DEFAULTS.kubelet_preferred_address_types),
        show_default=True,
        callback=_types,
        help="Which addresses of Nodes are used, in this order.",
    ),
    click.option(
        "--kubelet-timeout",
        "kubelet_timeout_s",
        type=click.FloatRange(min=0, min_open=True),
        default=_DEFAULTS.kubelet_timeout_s,
        show_default=True,
        help="Seconds that a connection to a kubelet may take.",
    ),
    click.option(
        "--proxy-client-cert-file",
        type=_FILE,
        help="What servers behind APIServices are shown; by default pki/front-proxy-client.crt of the data directory.",
    ),
    click.option("--proxy-client-key-file", type=_FILE, help="The key of --proxy-client-cert-file."),
    click.option(
        "--aggregator-reject-forwarding-redirect",
        type=click.BOOL,
        default=_DEFAULTS.aggregator_reject_forwarding_redirect,
        show_default=True,
        help="Answer redirects of the servers behind APIServices with 502.",
    ),
    click.option(
        "--proxy-allow-loopback",
        type=click.BOOL,
        default=None,
        help="Let proxy subresources lead to Pods and nodes on loopback addresses; by default if --bind is one.",
    ),
)


def proxy_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_proxy_options(settings: UpSettings) -> None:
    """Raises `click.UsageError` for a certificate without its key."""
    if (settings.kubelet_client_certificate is None) != (settings.kubelet_client_key is None):
        raise click.UsageError("--kubelet-client-certificate and --kubelet-client-key belong together")
    if (settings.proxy_client_cert_file is None) != (settings.proxy_client_key_file is None):
        raise click.UsageError("--proxy-client-cert-file and --proxy-client-key-file belong together")
