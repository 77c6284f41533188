"""The options about ranges of addresses for Nodes. Names and meanings are kube-controller-manager's."""

import ipaddress
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

_CLUSTER_CIDR: Final = "10.128.0.0/9"
"""`loops.context.CLUSTER_CIDR`, which takes long to import."""
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--allocate-node-cidrs",
        type=click.BOOL,
        is_flag=False,
        flag_value="true",
        default=False,
        show_default=True,
        help="Give each Node a part of --cluster-cidr (node-ipam-controller).",
    ),
    click.option(
        "--cluster-cidr",
        default="",
        metavar="CIDR",
        help=f"Network for the addresses of Pods, with --allocate-node-cidrs. [default: {_CLUSTER_CIDR}]",
    ),
    click.option(
        "--node-cidr-mask-size",
        type=int,
        help="Prefix length of the part of a Node. [default: 24, IPv6: 64]",
    ),
)


def node_cidr_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_node_cidrs(options: dict[str, Any]) -> None:
    """Fill in the defaults of the network and the size of its parts. Raises `click.UsageError`."""
    cidr: str = options["cluster_cidr"] or _CLUSTER_CIDR
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError as error:
        raise click.UsageError(f"--cluster-cidr: {error}") from error
    size = options["node_cidr_mask_size"] or (64 if network.version == 6 else 24)
    if not network.prefixlen <= size <= network.max_prefixlen:
        raise click.UsageError(f"--cluster-cidr: {cidr} has no parts of the size /{size} (--node-cidr-mask-size)")
    options["cluster_cidr"], options["node_cidr_mask_size"] = cidr, size
