"""`sampan undeploy`."""

import sys

import click

from sampan.cli.project.consent import accepted
from sampan.cli.project.deploy import on_cluster
from sampan.client import Client
from sampan.project.deploying.removal import Removals, UndeployOptions
from sampan.project.deploying.session import inventory_of, undeploy_project
from sampan.project.errors import ProjectError
from sampan.project.pyproject import Settings


@click.command("undeploy")
@on_cluster
@click.option("--delete-resources", is_flag=True, help="Accept the loss of the operator's custom resources.")
@click.option("--keep-resources", is_flag=True, help="Keep the CRDs and their objects.")
@click.option(
    "--orphan-resources", is_flag=True, help="Remove the operator's finalizers instead of letting it clean up."
)
@click.option(
    "--timeout", default=120.0, show_default=True, type=click.FloatRange(1, 3600), help="Seconds to wait for the end."
)
async def undeploy_command(
    client: Client,
    project: Settings,
    *,
    namespace: str,
    yes: bool,
    delete_resources: bool,
    keep_resources: bool,
    orphan_resources: bool,
    timeout: float,
) -> int:
    """Remove the operator of this project from a cluster, with all that sampan deploy has made.

    The operator runs until its custom resources are deleted, so that it can clean up. Foreign objects stay.
    """
    if delete_resources and keep_resources:
        raise ProjectError("--delete-resources and --keep-resources exclude each other")
    options = UndeployOptions(project.group, timeout, keep_resources=keep_resources, orphan_resources=orphan_resources)

    def consent(found: Removals) -> bool:
        click.echo(found.text(), nl=False)
        return _accepts_loss(found, delete_resources) and accepted(yes, "Remove all of this?")

    done = await undeploy_project(
        client, inventory_of(project, namespace), options, consent, lambda line: click.echo(line, err=True)
    )
    return 0 if done else 1


def _accepts_loss(found: Removals, delete_resources: bool) -> bool:
    """Return True if there are no custom resources, or the user accepts their loss. --yes alone does not accept it."""
    if not found.counts or delete_resources:
        return True
    listed = ", ".join(f"{count} {name}" for name, count in found.counts.items())
    if not sys.stdin.isatty():
        raise ProjectError(
            f"nothing was removed, because custom resources exist ({listed}): --delete-resources deletes them with "
            "their CRDs, --keep-resources keeps both"
        )
    return click.confirm(f"Delete all custom resources ({listed})? They cannot be restored", default=False)
