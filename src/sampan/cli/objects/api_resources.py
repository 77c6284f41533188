"""`sampan api-resources`."""

import sys

import click

from sampan.cli.objects.session import on_server
from sampan.cli.objects.table import TablePrinter
from sampan.client import Client
from sampan.client.discovery.rest_mapper import preferred
from sampan.core.operating_system.terminal import uses_colours
from sampan.resource import ResourceInfo

_HEADER = ("NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND")
_WIDE = (*_HEADER, "VERBS", "CATEGORIES")


@click.command("api-resources")
@click.option("--api-group", help='Only resources of this group; "" is the core group.')
@click.option("--namespaced", type=bool, help="true: only namespaced resources; false: only cluster-scoped ones.")
@click.option("--verbs", default="", help="Only resources with all of these verbs, separated by commas.")
@click.option("--categories", default="", help="Only resources in all of these categories, separated by commas.")
@click.option("--sort-by", type=click.Choice(["name", "kind"]), help="Order of the lines.")
@click.option("--no-headers", is_flag=True, help="Do not print headers.")
@click.option("-o", "--output", type=click.Choice(["wide", "name"]), help="Format; by default a table.")
@on_server
async def api_resources_command(
    client: Client,
    *,
    api_group: str | None,
    namespaced: bool | None,
    verbs: str,
    categories: str,
    sort_by: str | None,
    no_headers: bool,
    output: str | None,
) -> int:
    """List the types of resources of the server."""
    discovered = await client.mapper.discovered()
    desired = [
        info
        for info in preferred(discovered)
        if (api_group is None or info.gvr.group == api_group)
        and (namespaced is None or info.namespaced == namespaced)
        and set(filter(None, verbs.split(","))) <= info.verbs
        and set(filter(None, categories.split(","))) <= set(info.categories)
    ]
    if sort_by:
        desired.sort(key=lambda info: info.gvr.resource if sort_by == "name" else info.kind)
    if output == "name":
        for info in desired:
            click.echo(str(info.gvr.group_resource))
    else:
        wide = output == "wide"
        printer = TablePrinter(headers=not no_headers, colours=uses_colours(sys.stdout))
        printer.print(_WIDE if wide else _HEADER, [_row(info, wide) for info in desired])
    for group_version in discovered.failed:
        click.echo(f"error: the resources of {group_version} could not be read", err=True)
    return 1 if discovered.failed else 0


def _row(info: ResourceInfo, wide: bool) -> list[str]:
    cells = [
        info.gvr.resource,
        ",".join(info.short_names),
        info.api_version,
        str(info.namespaced).lower(),
        info.kind,
    ]
    return [*cells, ",".join(sorted(info.verbs)), ",".join(info.categories)] if wide else cells
