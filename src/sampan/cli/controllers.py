"""`sampan controllers`: the control loops of a cluster as a process of their own."""

import ipaddress
from pathlib import Path
from typing import Any

import click

from sampan.app.loops.choice import chosen_controllers
from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings
from sampan.cli.durations import positive_seconds
from sampan.cli.loop_options import controllers_option, leader_elect_option, loop_options, signing_options
from sampan.controllers.catalogue import CONTROLLERS
from sampan.controllers.node_ipam.cidr_set import CidrSet
from sampan.loops.context import CLUSTER_CIDR
from sampan.server.verbs.components import CONTROLLER_MANAGER_LEASE


@click.command("controllers")
@controllers_option(lambda text: chosen_controllers(text, tuple(CONTROLLERS)))
@leader_elect_option
@signing_options
@click.option(
    "--cluster-cidr",
    default=CLUSTER_CIDR,
    show_default=True,
    help="The range of which the node-ipam-controller gives each node a part, for the addresses of its Pods.",
)
@click.option(
    "--node-cidr-mask-size",
    type=int,
    help="How large such a part is: the length of its prefix. [default: 24, IPv6: 64]",
)
@click.option(
    "--legacy-service-account-token-clean-up-period",
    "legacy_token_clean_up_period_s",
    default="8760h",
    show_default=True,
    metavar="DURATION",
    callback=positive_seconds,
    help="How long the token of a Secret that its account names may be out of use until it is marked as invalid, and "
    "then until it goes.",
)
@loop_options
def controllers_command(
    controllers: tuple[str, ...],
    leader_elect: bool,
    kubeconfig: Path | None,
    **options: Any,
) -> None:
    """Run control loops: Deployments get ReplicaSets, these get Pods, and so on.

    It works on any cluster; one that has a kube-controller-manager needs none of these loops.
    """
    if (options["cluster_signing_cert_file"] is None) != (options["cluster_signing_key_file"] is None):
        raise click.UsageError("--cluster-signing-cert-file and --cluster-signing-key-file belong together")
    try:
        ipv6 = ipaddress.ip_network(options["cluster_cidr"]).version == 6
        options["node_cidr_mask_size"] = options["node_cidr_mask_size"] or (64 if ipv6 else 24)
        CidrSet(options["cluster_cidr"], options["node_cidr_mask_size"])
    except ValueError as error:
        raise click.UsageError(f"--cluster-cidr: {error}") from error
    lease = CONTROLLER_MANAGER_LEASE if leader_elect else ""
    run_loops(LoopSettings(kubeconfig, controllers, lease=lease, **options))
