"""`sampan delete api`."""

import asyncio
from pathlib import Path

import click

from sampan.cli.project.outcome import finish, one_line
from sampan.cli.project.unreached import hint_of
from sampan.client import ClientError, connect
from sampan.project.delete import delete_change, left_on_cluster, units_of
from sampan.project.errors import ProjectError
from sampan.project.pyproject import project_at
from sampan.project.units import Unit, read_units


@click.command("api")
@click.option("--kind", required=True, help="Kind, such as Boat.")
@click.option("--check-cluster", is_flag=True, help="Refuse if the cluster of the kubeconfig still has the kind.")
@click.option("--dry-run", is_flag=True, help="Print what would happen, and remove nothing.")
@click.option("--diff", is_flag=True, help="Print the differences too, and remove nothing.")
@click.option("--force", is_flag=True, help="Also remove files with your changes.")
def delete_api_command(kind: str, check_cluster: bool, dry_run: bool, diff: bool, force: bool) -> int:
    """Remove a kind from this project: what sampan create wrote for it.

    Files with your changes and imports in other modules are listed, and nothing is removed.
    """
    with one_line():
        settings = project_at(Path.cwd())
        change = delete_change(settings, kind, force=force)
        if check_cluster and (left := _left(units_of(read_units(settings.root), kind)[0])):
            raise ProjectError(left)
        return finish(change, dry_run=dry_run or diff, diff=diff)


def _left(unit: Unit) -> str:
    async def look() -> str:
        async with connect() as client:
            return await left_on_cluster(client, unit)

    try:
        return asyncio.run(look())
    except ClientError as error:
        raise ProjectError(f"cannot look at the cluster: {error}{hint_of(error)}") from error
