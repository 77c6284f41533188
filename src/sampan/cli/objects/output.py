"""Output of objects in the formats yaml, json and name."""

from collections.abc import Sequence
from typing import Any

import click
import orjson

from sampan.cli.objects.targets import display_name
from sampan.core.gvk import GroupVersion, GroupVersionResource
from sampan.resource import Object, ResourceInfo
from sampan.wire import yaml

FORMATS = ("yaml", "json", "name", "wide")


def without_managed_fields(obj: Object) -> Object:
    """Remove managedFields from the object in place, and return it."""
    (obj.get("metadata") or {}).pop("managedFields", None)
    return obj


def as_list(objects: Sequence[Object]) -> Object:
    """Return several objects as one `List`, as kubectl prints and reads it."""
    return {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {"resourceVersion": ""}}


def print_object(obj: Any, form: str, *, document: bool = False) -> None:
    """Print one object; with `document` as one of several YAML documents."""
    if form == "name":
        click.echo(object_name(obj))
    elif form == "json":
        click.echo(_four_spaces(obj))
    else:
        click.echo(("---\n" if document else "") + yaml.encode(obj).decode(), nl=False)


def object_name(obj: Object) -> str:
    """Return `deployment.apps/a`."""
    group, version = GroupVersion.parse(obj["apiVersion"])
    info = ResourceInfo(GroupVersionResource(group, version, ""), obj["kind"], True)
    return display_name(info, obj["metadata"]["name"])


def _four_spaces(obj: Any) -> str:
    """Return JSON as kubectl prints it: sorted keys, four spaces a level."""
    text = orjson.dumps(obj, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()
    lines = []
    for line in text.split("\n"):
        inside = line.lstrip(" ")
        lines.append(" " * (2 * (len(line) - len(inside))) + inside)
    return "\n".join(lines)
