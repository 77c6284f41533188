"""Options of `sampan up` that other programs pass to kube-apiserver: envtest, kubeadm, kubectl's own test suite.

Those with a meaning here have the meaning of kube-apiserver. The others are accepted, hidden in --help and logged.
"""

import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from sampan.cli.durations import positive_seconds

Command = TypeVar("Command", bound=Callable[..., Any])

_NO_EFFECT: Final = (
    "--apiserver-count",
    "--cloud-config",
    "--cloud-provider",
    "--contention-profiling",
    "--default-watch-cache-size",
    "--delete-collection-workers",
    "--emulated-version",
    "--enable-aggregator-routing",
    "--enable-garbage-collector",
    "--endpoint-reconciler-type",
    "--etcd-compaction-interval",
    "--etcd-count-metric-poll-period",
    "--etcd-db-metric-poll-interval",
    "--etcd-healthcheck-timeout",
    "--etcd-readycheck-timeout",
    "--event-ttl",
    "--external-hostname",
    "--feature-gates",
    "--goaway-chance",
    "--lease-reuse-duration-seconds",
    "--livez-grace-period",
    "--logging-format",
    "--max-connection-bytes-per-sec",
    "--min-request-timeout",
    "--runtime-config",
    "--service-account-lookup",
    "--shutdown-send-retry-after",
    "--storage-backend",
    "--storage-initialization-timeout",
    "--v",
    "--vmodule",
    "--watch-cache",
    "--watch-cache-sizes",
)
"""Flags about things that work in another way here. None of them restricts what a client may do."""


def _parameter(name: str) -> str:
    return f"ignored_{name.strip('-').replace('-', '_')}"


def _without_effect(name: str) -> Callable[[Command], Command]:
    short = ("-v",) if name == "--v" else ()
    return click.option(*short, name, _parameter(name), multiple=True, is_flag=False, flag_value="", hidden=True)


def _cidrs(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    try:
        networks = [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    if len(networks) > 2:
        raise click.BadParameter("must not contain more than two entries", ctx, param)
    if len({network.version for network in networks}) < len(networks):
        raise click.BadParameter("two entries must be of different IP families", ctx, param)
    for network in networks:
        if network.num_addresses < 8:
            raise click.BadParameter(f"{network} is too small: it must have at least 8 addresses", ctx, param)
    return tuple(map(str, networks))


def _ports(ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, int] | None:
    if not text:
        return None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(text) <= 11 and 0 < int(first) <= int(last) < 65536):
        raise click.BadParameter(f"{text!r} is not FIRST-LAST, as in 30000-32767", ctx, param)
    return int(first), int(last)


def _address(ctx: click.Context, param: click.Parameter, text: str) -> str:
    try:
        return str(ipaddress.ip_address(text)) if text else ""
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _allowed(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value:
        text = "false is not supported: label namespaces with pod-security.kubernetes.io/enforce instead"
        raise click.BadParameter(text, ctx, param)


def _no_port(ctx: click.Context, param: click.Parameter, port: int) -> None:
    if port:
        raise click.BadParameter("there is no port without TLS: only 0 is accepted", ctx, param)


_OPTIONS = (
    click.option(
        "--advertise-address",
        default="",
        metavar="IP",
        callback=_address,
        help="Address in the endpoints of the Service kubernetes, by default that of --bind.",
    ),
    click.option(
        "--service-cluster-ip-range",
        "service_cluster_ip_ranges",
        default="",
        metavar="CIDR[,CIDR]",
        callback=_cidrs,
        help="Network of a new cluster's Services, or one of each family, the primary first. [default: 10.96.0.0/16]",
    ),
    click.option(
        "--service-node-port-range",
        default="",
        metavar="FIRST-LAST",
        callback=_ports,
        help="Node ports of a new cluster's Services. [default: 30000-32767]",
    ),
    click.option(
        "--cert-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Directory of apiserver.crt and apiserver.key, which are made if they do not exist. Without effect if "
        "--tls-cert-file is given. [default: pki in --data]",
    ),
    click.option(
        "--request-timeout",
        "request_timeout_s",
        default="60s",
        show_default=True,
        metavar="DURATION",
        callback=positive_seconds,
        help="How long a request may take that is not a watch or another stream.",
    ),
    click.option(
        "--allow-privileged",
        type=click.BOOL,
        is_flag=False,
        flag_value="true",
        default=True,
        callback=_allowed,
        expose_value=False,
        help="Only true is accepted: privileged containers are refused by Pod Security admission.",
    ),
    click.option("--insecure-port", type=int, default=0, hidden=True, callback=_no_port, expose_value=False),
    *map(_without_effect, _NO_EFFECT),
)


def apiserver_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_ignored(options: dict[str, Any]) -> tuple[str, ...]:
    """Remove the options without effect. Returns a note for the log, if any is given."""
    given = [name for name in _NO_EFFECT if options.pop(_parameter(name))]
    return (f"options of kube-apiserver without effect here: {', '.join(given)}",) if given else ()
