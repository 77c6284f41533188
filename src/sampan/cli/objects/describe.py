"""`sampan describe`: everything of an object, for people, and its events.

One form suits every kind: the fields with their names in words.
"""

import datetime as dt
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

import click

from sampan.cli.objects.completion import complete_type
from sampan.cli.objects.session import explain, on_server
from sampan.cli.objects.targets import Target, targets_in, targets_of
from sampan.client import ApiError, Client, ListOptions, NoMatch
from sampan.core.time import age
from sampan.resource import Object

_HIDDEN = ("managedFields", "name", "namespace", "labels", "annotations", "selfLink")
_UPPER = {"api": "API", "uid": "UID", "url": "URL", "ip": "IP", "ips": "IPs", "id": "ID", "ca": "CA", "tls": "TLS"}
_words = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_EVENTS_MAX = 500
_HIDDEN_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration",)
_OF_USERS = frozenset(
    (
        "allocatable", "annotations", "binaryData", "capacity", "data", "hard", "labels", "limits", "matchLabels",
        "nodeSelector", "requests", "selector", "stringData", "used",
    )
)  # fmt: skip
"""Fields whose keys are names that users gave, or units: they are shown as they are."""


@click.command("describe")
@click.argument("resources", nargs=-1, metavar="[TYPE [NAME…] | TYPE/NAME…]", shell_complete=complete_type)
@click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(),
    multiple=True,
    help="Files or folders of manifests; - for standard input.",
)
@click.option("-R", "--recursive", is_flag=True, help="Folders below the folders of -f too.")
@click.option("-l", "--selector", default="", help="Those that the label selector takes.")
@click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
@click.option("--show-events/--no-events", default=True, help="The object's events.")
@on_server
async def describe_command(
    client: Client,
    *,
    resources: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    selector: str,
    all_namespaces: bool,
    show_events: bool,
) -> int:
    """Show all of an object, and what happened to it.

    \b
    sampan describe network example-network
    sampan describe pods -l app=web
    """
    if files:
        targets = await targets_in(client, files, recursive=recursive)
    else:
        targets = await targets_of(client, resources, namespace="" if all_namespaces else None)
    code, shown = 0, 0
    for target in targets:
        try:
            objects = await _objects(client, target, selector)
        except ApiError as error:
            click.echo(explain(error), err=True)
            code = 1
            continue
        for obj in objects:
            events = await _events(client, obj) if show_events else None
            click.echo("\n\n" if shown else "", nl=False)
            click.echo("\n".join(description(obj, events)))
            shown += 1
    if not shown and not code:
        click.echo("No resources found", err=True)
    return code


async def _objects(client: Client, target: Target, selector: str) -> list[Object]:
    resource = target.client(client)
    if target.names:
        return [await resource.get(name) for name in target.names]
    found = await resource.list_all(ListOptions(label_selector=selector))
    return [{"apiVersion": target.info.api_version, "kind": target.info.kind, **obj} for obj in found]


async def _events(client: Client, obj: Object) -> list[Object]:
    """The object's events, the oldest first; none where there are no events, or where they may not be read."""
    metadata = obj["metadata"]
    chosen = [f"involvedObject.name={metadata['name']}", f"involvedObject.uid={metadata.get('uid', '')}"]
    try:
        events = await client.resource_for("events.v1.", namespace=metadata.get("namespace", ""))
        found = await events.list(ListOptions(field_selector=",".join(chosen), limit=_EVENTS_MAX))
    except (ApiError, NoMatch):
        return []
    return sorted(found, key=_when)


def description(obj: Object, events: Sequence[Object] | None) -> Iterator[str]:
    """The lines. `events` None: nothing is said of them."""
    metadata = obj.get("metadata") or {}
    top: dict[str, Any] = {"Name": metadata.get("name", "")}
    if metadata.get("namespace"):
        top["Namespace"] = metadata["namespace"]
    top["Labels"] = _pairs(metadata.get("labels"), "=")
    annotations = metadata.get("annotations") or {}
    top["Annotations"] = _pairs({k: v for k, v in annotations.items() if k not in _HIDDEN_ANNOTATIONS}, ": ")
    top["API Version"] = obj.get("apiVersion", "")
    top["Kind"] = obj.get("kind", "")
    width = max(map(len, top)) + 3
    for name, value in top.items():
        first, *more = value if isinstance(value, list) else [str(value)]
        yield f"{name + ':':<{width}}{first}".rstrip()
        yield from (" " * width + line for line in more)
    yield "Metadata:"
    yield from _fields({name: value for name, value in metadata.items() if name not in _HIDDEN}, 1)
    yield from _fields(_shown(obj), 0)
    if events is not None:
        yield from _event_lines(events)


def _shown(obj: Object) -> dict[str, Any]:
    """Fields besides the metadata. Of a Secret only the sizes of its values, as in kubectl."""
    fields = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata")}
    if obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1":
        data = fields.get("data") or {}
        fields["data"] = {name: f"{len(b64decode(value))} bytes" for name, value in data.items()}
    return fields


def in_words(name: str) -> str:
    """A field's name for people: `creationTimestamp` is `Creation Timestamp`. What is no such name stays as it is."""
    if not name.isalnum():
        return name
    return " ".join(_UPPER.get(word.lower(), word[:1].upper() + word[1:]) for word in _words.findall(name))


def _pairs(mapping: dict[str, str] | None, sign: str) -> list[str]:
    return [f"{key}{sign}{value}" for key, value in sorted((mapping or {}).items())] or ["<none>"]


def _fields(mapping: dict[str, Any], level: int, *, verbatim: bool = False) -> Iterator[str]:
    """Simple fields stand in a column of their own; lists and maps are indented below their names.

    `verbatim`: the names are shown as they are.
    """
    indent = "  " * level
    labels = {name: name if verbatim else in_words(name) for name in mapping}
    width = max((len(labels[name]) for name, value in mapping.items() if not _is_deep(value)), default=0) + 3
    for name, value in sorted(mapping.items()):
        label = f"{indent}{labels[name]}:"
        if not _is_deep(value):
            lines = _simple(value).split("\n")
            yield f"{label:<{len(indent) + width}}{lines[0]}".rstrip()
            yield from (" " * (len(indent) + width) + line for line in lines[1:])
        else:
            yield label
            yield from _below(value, level + 1, verbatim=name in _OF_USERS and not _has_deep(value))


def _below(value: Any, level: int, *, verbatim: bool = False) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _fields(value, level, verbatim=verbatim)
        return
    for item in value:
        if _is_deep(item):
            yield from _below(item, level)
        else:
            yield "  " * level + _simple(item)


def _has_deep(value: Any) -> bool:
    """Whether it holds maps or lists: then it is no map of a user's names to texts."""
    return not isinstance(value, dict) or any(map(_is_deep, value.values()))


def _is_deep(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _simple(value: Any) -> str:
    if value is None or value in ({}, []):
        return "<none>" if value is None else ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _event_lines(events: Sequence[Object]) -> Iterator[str]:
    if not events:
        yield "Events:  <none>"
        return
    now = dt.datetime.now(dt.UTC)
    rows = [["Type", "Reason", "Age", "From", "Message"], ["----", "------", "----", "----", "-------"]]
    for event in events:
        source = event.get("reportingComponent") or (event.get("source") or {}).get("component") or ""
        rows.append([event.get("type", ""), event.get("reason", ""), _age(event, now), source, _message(event)])
    widths = [max(len(row[index]) for row in rows) + 2 for index in range(len(rows[0]))]
    yield "Events:"
    for row in rows:
        yield "  " + "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _message(event: Object) -> str:
    return (event.get("message") or "").strip()


def _when(event: Object) -> str:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((time for time in times if time), (event.get("metadata") or {}).get("creationTimestamp") or "")


def _age(event: Object, now: dt.datetime) -> str:
    last = age(_seconds(_when(event)), now)
    count = (event.get("series") or {}).get("count") or event.get("count") or 1
    if count <= 1:
        return last
    first = (
        event.get("firstTimestamp") or event.get("eventTime") or (event.get("metadata") or {}).get("creationTimestamp")
    )
    return f"{last} (x{count} over {age(_seconds(first or ''), now)})"


def _seconds(timestamp: str) -> str | None:
    """A timestamp without its fraction of a second; None for none."""
    if not timestamp:
        return None
    return timestamp.partition(".")[0].removesuffix("Z") + "Z"
