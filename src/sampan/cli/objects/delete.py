"""`sampan delete`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.durations import seconds
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import (
    ObjectTarget,
    TargetError,
    display_name,
    selected,
    targets_in,
    targets_of,
    type_name,
)
from sampan.client import ApiError, Client, DeleteOptions, ListOptions, NotFound, WaitTimeout, deleted, wait_for
from sampan.client.options import Propagation
from sampan.resource import meta

_CASCADE: dict[str, Propagation] = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}
_FOREVER_S = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class How:
    """Options of a deletion."""

    options: DeleteOptions
    wait: bool
    timeout_s: float
    ignore_not_found: bool
    output: str


@click.command("delete")
@click.argument("resources", nargs=-1, metavar="[TYPE [NAME…] | TYPE/NAME…]", shell_complete=complete_type)
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(),
    multiple=True,
    help="Files or folders of manifests; - for standard input.",
)
@click.option("-R", "--recursive", is_flag=True, help="Include subfolders of the folders of -f.")
@click.option("-l", "--selector", default="", help="Label selector: app=web,tier!=cache.")
@click.option("--field-selector", default="", help="Field selector: status.phase=Running.")
@click.option("--all", "everything", is_flag=True, help="All objects of the type.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces (with --all or a selector).")
@click.option("--cascade", type=click.Choice(tuple(_CASCADE)), default="background", show_default=True)
@click.option("--grace-period", default=-1, help="Grace period in seconds; 0 needs --force.")
@click.option("--now", is_flag=True, help="Same as --grace-period=1.")
@click.option("--force", is_flag=True, help="Delete immediately, without graceful shutdown.")
@click.option("--wait/--no-wait", default=True, help="Wait until the objects are gone (finalizers have run).")
@click.option("--timeout", default="0s", callback=seconds, help="Maximum wait; 0s: no limit.")
@click.option("--ignore-not-found", is_flag=True, help="Do not fail if the object does not exist.")
@click.option("--dry-run", type=click.Choice(["none", "server"]), default="none", help="server: delete nothing.")
@click.option("-o", "--output", type=click.Choice(["name"]), help="Print only names.")
@on_server
async def delete_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    selector: str,
    field_selector: str,
    everything: bool,
    all_namespaces: bool,
    cascade: str,
    grace_period: int,
    now: bool,
    force: bool,
    wait: bool,
    timeout: float,
    ignore_not_found: bool,
    dry_run: str,
    output: str | None,
) -> int:
    """Delete objects.

    \b
    sampan delete network example-network
    sampan delete -f network.yaml
    sampan delete pods -l app=web
    """
    grace = 1 if now else grace_period if grace_period >= 0 else 0 if force else None
    options = DeleteOptions(_CASCADE[cascade], grace, dry_run=dry_run == "server")
    how = How(options, wait and not force and not options.dry_run, timeout, ignore_not_found, output or "")
    chosen = ListOptions(label_selector=selector, field_selector=field_selector)
    by_name = not (everything or selector or field_selector)
    if files:
        targets = await targets_in(client, files, recursive=recursive)
    else:
        targets = await targets_of(client, resources, namespace="" if all_namespaces else None)
    if by_name and not all(target.names for target in targets):
        raise TargetError("resource(s) were provided, but no name was specified: give names, a selector or --all")
    if not by_name:
        targets = [found for target in targets for found in await selected(client, target, chosen)]
        if not targets:
            click.echo("No resources found", err=True)
    return await _delete_all(client, targets, how)


async def _delete_all(client: Client, targets: Sequence[ObjectTarget], how: How) -> int:
    """Delete the objects one by one, then wait for all of them."""
    code = 0
    waiting: list[tuple[ObjectTarget, str, str]] = []
    for target in targets:
        for name in target.names:
            try:
                uid = await _delete(client, target, name, how)
            except ApiError as error:
                if not (isinstance(error, NotFound) and how.ignore_not_found):
                    click.echo(explain(error), err=True)
                    code = 1
                continue
            if uid and how.wait:
                waiting.append((target, name, uid))
    deadline = asyncio.get_running_loop().time() + (how.timeout_s or _FOREVER_S)
    for target, name, uid in waiting:
        left = max(0.0, deadline - asyncio.get_running_loop().time())
        try:
            await wait_for(target.client(client), name, deleted(uid), timeout_s=left)
        except WaitTimeout:
            click.echo(f"error: timed out waiting for {display_name(target.info, name)} to be deleted", err=True)
            code = 1
    return code


async def _delete(client: Client, target: ObjectTarget, name: str, how: How) -> str:
    """Delete one object and print it. Returns its uid if it still exists."""
    remaining = await target.client(client).delete(name, how.options)
    if how.output == "name":
        click.echo(display_name(target.info, name))
    else:
        done = "force deleted" if how.options.grace_period_seconds == 0 else "deleted"
        namespace = target.namespace_in(client)
        where = f" from {namespace} namespace" if namespace else ""
        suffix = " (server dry run)" if how.options.dry_run else ""
        click.echo(f'{type_name(target.info)} "{name}" {done}{where}{suffix}')
    return meta(remaining).uid if remaining is not None else ""
