"""`kubectl sampan history`: available revisions of an object, with their changes and managers."""

import datetime as dt
import sys
from collections.abc import Iterator
from typing import Any, Final

import click

from sampan.cli.kubectl.deleted import author, described, print_deleted
from sampan.cli.kubectl.field_changes import ABSENT, FieldChange, field_changes
from sampan.cli.kubectl.revisions import Revision, revisions
from sampan.cli.kubectl.single import single_target
from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.output import print_object
from sampan.cli.objects.session import on_server
from sampan.client import Client
from sampan.core.clock import utc_now
from sampan.core.operating_system.terminal import uses_colours
from sampan.core.time import age
from sampan.resource import Object
from sampan.wire import json

_WIDTH_MAX: Final = 100
_SIDE_WIDTH_MIN: Final = 24
_COLOURS = {"+": "green", "-": "red", "~": "yellow"}
_NOBODY = "<unknown>"


@click.command("history")
@click.argument("resources", nargs=-1, metavar="TYPE/NAME", shell_complete=complete_type)
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number of revisions, newest first; by default all.")
@click.option("--deleted", is_flag=True, help="List deleted objects of a TYPE instead, if the server is Sampan's.")
@click.option("-A", "--all-namespaces", is_flag=True, help="With --deleted: in all namespaces.")
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), help="Format for programs.")
@on_server
async def history_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    limit: int | None,
    deleted: bool,
    all_namespaces: bool,
    output: str | None,
) -> int:
    """Show the revisions of an object that the server still has, newest first, with changed fields and managers.

    The managers come from metadata.managedFields. The server decides how long it keeps revisions: Kubernetes removes
    them after five to ten minutes. Each revision is valid for `kubectl sampan diff`.

    With --deleted, show the deleted objects of a type: `kubectl sampan restore` creates them again.

    \b
    kubectl sampan history deployment/web
    kubectl sampan diff deployment/web@1234
    kubectl sampan history --deleted deployments
    """
    if deleted:
        return await print_deleted(client, resources, limit, output, namespace="" if all_namespaces else None)
    target = await single_target(client, resources)
    colours, shown = uses_colours(sys.stdout), 0
    items: list[Object] = []
    async for revision in revisions(client, target):
        shown += 1
        if output:
            items.append(_item(revision))
        for line in () if output else _lines(revision, utc_now()):
            mark = line.strip()[:1] if line.startswith("    ") else ""
            click.echo(click.style(line, fg=_COLOURS.get(mark)) if colours else line)
        if shown == limit:
            break
    if output:
        print_object({"apiVersion": "sampan.dev/v1alpha1", "kind": "ObjectHistory", "items": items}, output)
    return 0


def _item(revision: Revision) -> Object:
    """Return a revision for `-o json`. Fields that were added have no `before`, removed ones no `after`."""
    metadata = revision.obj["metadata"]
    if revision.deletion is not None:
        return {"revision": revision.number, "deleted": True} | described(revision.deletion)
    item = {"revision": revision.number, "generation": metadata.get("generation"), "time": _time(revision)}
    if revision.before is None:
        item |= {"created": not revision.forgotten, "managers": _managers(revision.obj)}
    else:
        changes = field_changes(revision.before, revision.obj)
        item["changes"] = [
            {"path": each.path, "managers": list(each.managers)}
            | {key: value for key, value in (("before", each.before), ("after", each.after)) if value is not ABSENT}
            for each in changes
        ]
    return {key: value for key, value in item.items() if value is not None}


def _managers(obj: Object) -> list[str]:
    return list(dict.fromkeys(entry.get("manager", "") for entry in obj["metadata"].get("managedFields") or ()))


def _lines(revision: Revision, now: dt.datetime) -> Iterator[str]:
    metadata, deletion = revision.obj["metadata"], revision.deletion
    if deletion is not None:
        yield f"revision {revision.number}{_ago(deletion['time'], now)}"
        yield f"  deleted by {author(deletion) or _NOBODY}"
        return
    generation = f"  generation {metadata['generation']}" if metadata.get("generation") else ""
    yield f"revision {revision.number}{generation}{_when(revision, now)}"
    if revision.forgotten:
        yield "  the oldest that the server keeps: what it changed is not known"
    elif revision.before is None:
        yield f"  created by {', '.join(_managers(revision.obj)) or _NOBODY}"
    else:
        yield from _changes(field_changes(revision.before, revision.obj))


def _changes(changes: list[FieldChange]) -> Iterator[str]:
    """Yield the changed fields, grouped by manager."""
    by_manager: dict[str, list[FieldChange]] = {}
    for change in changes:
        by_manager.setdefault(", ".join(change.managers) or _NOBODY, []).append(change)
    for manager, their in by_manager.items():
        yield f"  {manager}"
        yield from (f"    {_shown(change)}" for change in their)
    if not by_manager:
        yield "  nothing but what the server keeps for itself"


def _shown(change: FieldChange) -> str:
    if change.before is ABSENT:
        return _short(f"+ {change.path}: {_text(change.after)}")
    if change.after is ABSENT:
        return _short(f"- {change.path}: {_text(change.before)}")
    room = max((_WIDTH_MAX - len(change.path) - len("~ :  -> ")) // 2, _SIDE_WIDTH_MIN)
    return f"~ {change.path}: {_short(_text(change.before), room)} -> {_short(_text(change.after), room)}"


def _text(value: Any) -> str:
    return json.encode(value).decode()


def _short(text: str, width: int = _WIDTH_MAX) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _when(revision: Revision, now: dt.datetime) -> str:
    """Return the age of the revision; empty if no manager recorded a time."""
    return _ago(_time(revision), now)


def _ago(time: str | None, now: dt.datetime) -> str:
    return f"  {age(time, now)} ago" if time else ""


def _time(revision: Revision) -> str | None:
    time: str | None = _newest_time(revision.obj)
    if revision.before is None and not revision.forgotten:
        time = revision.obj["metadata"].get("creationTimestamp") or time
    return time or None


def _newest_time(obj: Object) -> str:
    entries = obj["metadata"].get("managedFields") or ()
    return max((entry.get("time") or "" for entry in entries), default="")
