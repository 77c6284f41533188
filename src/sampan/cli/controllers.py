"""`sampan controllers`: the control loops of a cluster as a process of their own."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.choice import chosen_controllers
from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings
from sampan.cli.durations import positive_seconds
from sampan.cli.loop_options import controllers_option, leader_elect_option, loop_options, signing_options
from sampan.cli.node_cidr_options import check_node_cidrs, node_cidr_options
from sampan.controllers.catalogue import CONTROLLERS
from sampan.server.verbs.components import CONTROLLER_MANAGER_LEASE


@click.command("controllers")
@controllers_option(lambda text: chosen_controllers(text, tuple(CONTROLLERS)))
@leader_elect_option
@signing_options
@node_cidr_options
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
    check_node_cidrs(options)
    lease = CONTROLLER_MANAGER_LEASE if leader_elect else ""
    run_loops(LoopSettings(kubeconfig, controllers, lease=lease, **options))
