"""`kubectl sampan trace`: the steps of a write in the server, as a dry run."""

import sys
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

import click
from click import UsageError

from sampan.cli.objects.output import print_object
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import ObjectTarget, TargetError, display_name, target_for
from sampan.client import ApiError, Client
from sampan.client.objects.manifests import read_manifests
from sampan.core.operating_system.terminal import uses_colours
from sampan.resource import Object, meta
from sampan.wire import json

_TRACE: Final = "sampan.dev/trace"
_METHODS: Final = {"apply": "PATCH", "create": "POST", "replace": "PUT"}
_MARKS: Final = {"add": "+", "remove": "-", "replace": "~"}
_COLOURS: Final = {"+": "green", "-": "red", "~": "yellow", "!": "red"}
_WIDTH_MAX: Final = 120
_FOR_MACHINES: Final = "/metadata/managedFields"


@click.command("trace")
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(),
    multiple=True,
    help="Files or folders of manifests; - for standard input.",
)
@click.option("-R", "--recursive", is_flag=True, help="Include subfolders of the folders of -f.")
@click.option(
    "--operation", type=click.Choice(tuple(_METHODS)), default="apply", show_default=True, help="Write to trace."
)
@click.option("--field-manager", default="kubectl", show_default=True, help="Field manager of the write.")
@click.option("--force-conflicts", is_flag=True, help="Apply: take over fields that other managers own.")
@click.option("--all-steps", is_flag=True, help="Also show steps without changes, and managed fields.")
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), help="Print the server's traces as data.")
@on_server
async def trace_command(
    client: Client,
    *,
    files: tuple[str, ...],
    recursive: bool,
    operation: str,
    field_manager: str,
    force_conflicts: bool,
    all_steps: bool,
    output: str | None,
) -> int:
    """Show the steps of a write in the server, with their changes and durations. Nothing is stored.

    You need the right to the write and the verb `trace` for the resource. Exit code 1: the server would refuse it.

    \b
    kubectl sampan trace -f pod.yaml
    kubectl sampan trace -f pod.yaml --operation create --all-steps
    """
    if not files:
        raise UsageError("missing manifests: give -f FILE")
    query = {"dryRun": "All", _TRACE: "true", "fieldManager": field_manager}
    if force_conflicts:
        query["force"] = "true"
    code, colours = 0, uses_colours(sys.stdout)
    for obj in read_manifests(files, recursive=recursive):
        target = await target_for(client, obj, nameless=operation == "create")
        try:
            trace = await _traced(client, target, obj, operation, query=query)
        except ApiError as error:
            click.echo(explain(error), err=True)
            code = 1
            continue
        code = max(code, int(trace["code"] >= HTTPStatus.BAD_REQUEST))
        if output:
            print_object(trace, output, document=True)
            continue
        name = target.names[0] if target.names else f"{meta(obj).generate_name}…"
        for line in _lines(display_name(target.info, name), trace, all_steps=all_steps):
            mark = line.strip()[:1] if line.startswith("    ") else ""
            click.echo(click.style(line, fg=_COLOURS.get(mark)) if colours else line)
    return code


async def _traced(
    client: Client, target: ObjectTarget, obj: Object, operation: str, *, query: dict[str, str]
) -> Object:
    """Return the server's trace of one write. Raises `TargetError` if the server does not support traces."""
    path = target.path(client) if operation == "create" else target.path(client, target.names[0])
    headers = {"content-type": "application/apply-patch+yaml"} if operation == "apply" else {}
    body = await client.rest.call(_METHODS[operation], path, query=query, body=json.encode(obj), headers=headers)
    response: Object = json.decode(body)
    if response.get("kind") != "RequestTrace":
        raise TargetError("the server does not support traces; only Sampan's does")
    return response


def _lines(name: str, trace: Object, *, all_steps: bool) -> Iterator[str]:
    request, user = trace["request"], trace["user"]
    outcome = f"{trace['code']} {HTTPStatus(trace['code']).phrase}"
    yield f"{name}: {request['method']} {request['path']} as {user['username']}: {outcome}, {_time(trace)}"
    quiet: list[Object] = []
    for step in trace["steps"]:
        changes = _shown_changes(step, all_steps)
        if not (all_steps or step.get("changes") or step.get("error") or step["name"] in ("read", "store")):
            quiet.append(step)
            continue
        yield from _summary(quiet)
        quiet = []
        yield f"  {step['name']:<28}{_time(step):>10}  {_detail(step, changes)}".rstrip()
        yield from changes
        if step.get("error"):
            yield "    ! " + step["error"].replace("\n", "\n      ")
    yield from _summary(quiet)


def _summary(quiet: Sequence[Object]) -> Iterator[str]:
    """Yield a summary of consecutive steps without changes."""
    if quiet:
        took = {"tookMicroseconds": sum(step["tookMicroseconds"] for step in quiet)}
        names = list(dict.fromkeys(step["name"] for step in quiet))
        what = f"{len(quiet)} step{'s' if len(quiet) > 1 else ''} without a change"
        yield _short(f"  ({what}){_time(took):>{36 - len(what)}}  {', '.join(names)}")


def _detail(step: Object, shown: Sequence[str]) -> str:
    hidden = len(step.get("changes", ())) > len(shown)
    return step.get("detail") or ("metadata.managedFields" if hidden else "")


def _shown_changes(step: Object, all_steps: bool) -> list[str]:
    found = [change for change in step.get("changes", ()) if all_steps or not change["path"].startswith(_FOR_MACHINES)]
    return [_short(f"    {_MARKS[change['op']]} {change['path']}{_value(change)}") for change in found]


def _value(change: Any) -> str:
    return "" if change["op"] == "remove" else f": {json.encode(change['value']).decode()}"


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH_MAX else f"{text[: _WIDTH_MAX - 1]}…"


def _time(timed: Object) -> str:
    took: float = timed["tookMicroseconds"]
    return f"{took:.0f} µs" if took < 1000 else f"{took / 1000:.1f} ms"
