"""`kubectl sampan tree`: the objects that an object owns, directly and indirectly, with their conditions.

Concurrency: a bounded number of tasks of one `TaskGroup` list the resources.
"""

import asyncio
import datetime as dt
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

import click

from sampan.cli.kubectl.ownership import Branch, Ownership, owned_of
from sampan.cli.kubectl.single import single_target
from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.output import print_object
from sampan.cli.objects.session import on_server
from sampan.cli.objects.table import TablePrinter
from sampan.client import Client, ClientError, Forbidden, MethodNotAllowed, NotFound
from sampan.client.discovery.rest_mapper import preferred
from sampan.core.clock import utc_now
from sampan.core.operating_system.terminal import uses_colours
from sampan.core.time import age
from sampan.resource import Object, ResourceInfo

_HEADER = ("NAMESPACE", "NAME", "READY", "REASON", "CONDITIONS", "AGE")
_LISTS_AT_A_TIME: Final = 8
_NONE = "-"


@click.command("tree")
@click.argument("resources", nargs=-1, metavar="TYPE/NAME", shell_complete=complete_type)
@click.option("-A", "--all-namespaces", is_flag=True, help="Search all namespaces, not only the object's.")
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), help="Format for programs.")
@partial(on_server, warnings=False)
async def tree_command(client: Client, *, resources: tuple[str, ...], all_namespaces: bool, output: str | None) -> int:
    """Show the objects that an object owns, directly and indirectly.

    All resources that can be listed are searched. A cluster-scoped object may own objects in all namespaces.
    Exit code 1: a resource could not be listed.

    \b
    kubectl sampan tree deployment/web
    kubectl sampan tree network/example-network -n prod
    """
    target = await single_target(client, resources)
    root = owned_of(await target.client(client).get(target.names[0]))
    namespace = "" if all_namespaces else root.namespace
    tree = Ownership()
    failures = await _list_into(tree, client, namespace)
    if output:
        items = [_item(branch) for branch in tree.below(root)]
        print_object({"apiVersion": "sampan.dev/v1alpha1", "kind": "OwnershipTree", "items": items}, output)
    else:
        now = utc_now()
        printer = TablePrinter(colours=uses_colours(sys.stdout))
        printer.print(_HEADER, [_row(branch, now) for branch in tree.below(root)])
    for text in failures:
        click.echo(text, err=True)
    return 1 if failures else 0


async def _list_into(tree: Ownership, client: Client, namespace: str) -> list[str]:
    """List resources that may be owned. Returns the errors as texts."""
    discovered = await client.mapper.discovered()
    forbidden: list[str] = []
    failures = [f"error: the resources of {each} could not be read" for each in discovered.failed]
    gate = asyncio.Semaphore(_LISTS_AT_A_TIME)

    async def take(info: ResourceInfo) -> None:
        async with gate:
            try:
                async for page in client.resource(info, namespace=namespace).pages():
                    tree.add(map(owned_of, page))
            except (MethodNotAllowed, NotFound):
                return  # Discovery lists the resource, but the server does not serve it.
            except Forbidden:
                forbidden.append(str(info.gvr.group_resource))
            except ClientError as error:
                failures.append(f"Warning: {info.gvr.group_resource} could not be listed: {error}")

    async with asyncio.TaskGroup() as group:
        for info in _listed(list(preferred(discovered)), namespace):
            group.create_task(take(info))
    if forbidden:
        failures.append(f"Warning: not looked through, for you may not list them: {', '.join(sorted(forbidden))}")
    return failures


def _listed(resources: Sequence[ResourceInfo], namespace: str) -> list[ResourceInfo]:
    """Return the resources to list. Objects of a namespace can only own objects in the same namespace."""
    return [info for info in resources if "list" in info.verbs and (info.namespaced or not namespace)]


def _row(branch: Branch, now: dt.datetime) -> list[str]:
    owned = branch.owned
    ready = next((each for each in owned.conditions if each.get("type") == "Ready"), {})
    others = [f"{each.get('type')}={each.get('status')}" for each in owned.conditions if each.get("type") != "Ready"]
    name = f"{owned.kind}/{owned.name}"
    if branch.cycle:
        name += " (owns itself)"
    elif branch.again:
        name += " (see above)"
    return [
        owned.namespace or _NONE,
        _stem(branch.last) + name,
        "Terminating" if owned.deleting else _cell(ready.get("status")),
        _cell(ready.get("reason")),
        ",".join(sorted(others)) or _NONE,
        age(owned.created, now),
    ]


def _item(branch: Branch) -> Object:
    """Return a line of the tree for `-o json`. `owner` is the uid of the line above it."""
    owned = branch.owned
    kind, _, group = owned.kind.partition(".")
    named = {"group": group, "kind": kind, "namespace": owned.namespace, "name": owned.name, "uid": owned.uid}
    found = named | {"owner": branch.owner, "creationTimestamp": owned.created, "conditions": list(owned.conditions)}
    marks = {"deleting": owned.deleting, "seeAbove": branch.again, "ownsItself": branch.cycle}
    return {key: value for key, value in (found | marks).items() if value}


def _stem(last: tuple[bool, ...]) -> str:
    if not last:
        return ""
    return "".join("  " if ended else "│ " for ended in last[:-1]) + ("└─" if last[-1] else "├─")


def _cell(value: object) -> str:
    return str(value) if value else _NONE
