"""`sampan wait`."""

import asyncio
from collections.abc import Sequence

import click

from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.durations import seconds
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import ObjectTarget, TargetError, display_name, selected, targets_in, targets_of
from sampan.client import (
    Client,
    Condition,
    ListOptions,
    NotFound,
    WaitTimeout,
    condition_is,
    deleted,
    exists,
    json_path,
    wait_for,
)
from sampan.core.json.path import JsonPath
from sampan.resource import Object, meta

_WEEK_S = 7 * 24 * 3600.0


@click.command("wait")
@click.argument("resources", nargs=-1, metavar="[TYPE [NAME…] | TYPE/NAME…]", shell_complete=complete_type)
@click.option(
    "--for",
    "desired",
    required=True,
    metavar="WHAT",
    help="create, delete, condition=NAME[=STATUS], or jsonpath='{PATH}'[=VALUE].",
)
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
@click.option("--timeout", default="30s", show_default=True, callback=seconds, help="Maximum wait; negative: a week.")
@on_server
async def wait_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    desired: str,
    files: tuple[str, ...],
    recursive: bool,
    selector: str,
    field_selector: str,
    everything: bool,
    all_namespaces: bool,
    timeout: float,
) -> int:
    """Wait for a condition on objects.

    \b
    sampan wait --for=condition=Ready network/example-network
    sampan wait --for=delete pod/web --timeout=60s
    sampan wait --for=jsonpath='{.status.phase}'=Bound pvc/data
    """
    condition = parse_condition(desired)
    if files:
        targets = await targets_in(client, files, recursive=recursive)
    else:
        targets = await targets_of(client, resources, namespace="" if all_namespaces else None)
    if everything or selector or field_selector:
        chosen = ListOptions(label_selector=selector, field_selector=field_selector)
        targets = [found for target in targets for found in await selected(client, target, chosen)]
    if not any(target.names for target in targets):
        if desired == "delete":
            return 0
        raise TargetError("no matching resources found")
    return await _wait_all(client, targets, condition, _WEEK_S if timeout < 0 else timeout, desired)


def parse_condition(text: str) -> Condition:
    """Parse the condition of `--for`. Raises `TargetError`."""
    word, _, rest = text.partition("=")
    if word == "condition" and rest:
        kind, _, status = rest.partition("=")
        return condition_is(kind, status or "True")
    if word == "jsonpath" and rest:
        return _json_path(rest)
    if text.lower() == "create":
        return exists()
    if text.lower() == "delete":
        return deleted()
    raise TargetError(f"unrecognized condition: {text!r} (create, delete, condition=…, jsonpath=…)")


def _json_path(text: str) -> Condition:
    path, closed, rest = text.strip("'\"").partition("}")
    if not (closed and path.startswith("{")) or (rest and not rest.startswith("=")):
        raise TargetError(f"jsonpath wait format must be --for=jsonpath='{{.status.phase}}'=VALUE, not {text!r}")
    if not rest:
        return json_path(path + closed)
    compiled, value = JsonPath(path.removeprefix("{")), rest[1:].strip("'\"")

    def holds(obj: Object | None) -> bool:
        return obj is not None and any(_text(found) == value for found in compiled.find(obj))

    return Condition(holds, f"for {path}}}={value}")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


async def _wait_all(
    client: Client, targets: Sequence[ObjectTarget], condition: Condition, timeout_s: float, desired: str
) -> int:
    """Wait for all objects concurrently. Print each when its condition holds. Return exit code 1 after a timeout."""

    async def wait(target: ObjectTarget, name: str) -> int:
        shown = display_name(target.info, name)
        resource = target.client(client)
        condition_of = condition
        try:
            if desired != "create":
                present = await resource.get(name)
                condition_of = deleted(meta(present).uid) if desired == "delete" else condition
            await wait_for(resource, name, condition_of, timeout_s=timeout_s)
        except NotFound as error:
            if desired == "delete":
                return 0
            click.echo(explain(error), err=True)
            return 1
        except WaitTimeout:
            click.echo(f"error: timed out waiting for the condition on {shown}", err=True)
            return 1
        click.echo(f"{shown} condition met")
        return 0

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(wait(target, name)) for target in targets for name in target.names]
    return max((task.result() for task in tasks), default=0)
