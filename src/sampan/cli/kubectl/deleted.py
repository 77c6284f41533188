"""Deleted objects of a type, from Sampan's history."""

import sys
from collections.abc import Sequence
from typing import Final

from sampan.cli.kubectl.server_history import Line, NoHistory, history_lines
from sampan.cli.objects.output import print_object
from sampan.cli.objects.table import TablePrinter
from sampan.cli.objects.targets import ObjectTarget, TargetError, targets_of
from sampan.client import Client
from sampan.core.clock import utc_now
from sampan.core.operating_system.terminal import uses_colours
from sampan.core.time import age
from sampan.resource import Object

_HEADER: Final = ("NAMESPACE", "NAME", "DELETED", "BY", "REVISION")
_NONE: Final = "-"


async def print_deleted(
    client: Client, resources: Sequence[str], limit: int | None, output: str | None, *, namespace: str | None
) -> int:
    """Print the deletions of a type, newest first. Raises `TargetError` if the server does not have them."""
    targets = await targets_of(client, resources, namespace=namespace)
    if len(targets) != 1 or len(targets[0].names) > 1:
        raise TargetError("--deleted needs one TYPE, or one object as TYPE/NAME")
    found = await deletions(client, targets[0], limit)
    if output:
        items = [_item(line) for line in found]
        print_object({"apiVersion": "sampan.dev/v1alpha1", "kind": "DeletedObjects", "items": items}, output)
        return 0
    now = utc_now()
    rows = [[*_name(line), age(line["time"], now) if line["time"] else _NONE, author(line) or _NONE] for line in found]
    for row, line in zip(rows, found, strict=True):
        row.append(line["resourceVersion"])
    TablePrinter(colours=uses_colours(sys.stdout)).print(_HEADER, rows)
    return 0


async def deletions(client: Client, target: ObjectTarget, limit: int | None) -> list[Line]:
    """Return the deletions of a type or of one name, newest first. Raises `TargetError` on another server."""
    try:
        lines = [line async for line in history_lines(client, target, "deleted", limit=limit)]
    except NoHistory as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise TargetError("the server does not list deleted objects; only Sampan's does") from None
    return lines[:-1]


def author(line: Line) -> str:
    """Return the user of a write and its program, else the manager; empty if the server has neither."""
    user, agent = line.get("user"), (line.get("userAgent") or "").partition("/")[0]
    if not user:
        return str(line.get("manager") or "")
    return f"{user} ({agent})" if agent else str(user)


def described(line: Line) -> Object:
    """Return time and client of a write for `-o json`, as far as they are known."""
    return {name: line[name] for name in ("time", "user", "userAgent", "manager", "traceID") if line.get(name)}


def _name(line: Line) -> list[str]:
    metadata = (line["object"] or {}).get("metadata") or {}
    return [metadata.get("namespace") or _NONE, metadata.get("name") or _NONE]


def _item(line: Line) -> Object:
    return {"revision": line["resourceVersion"], **described(line), "object": line["object"]}
