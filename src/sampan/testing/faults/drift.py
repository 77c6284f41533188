"""Drift: another actor changes an object that the operator manages.

    other = cluster.client(actor="drift")
    await change_a_field(other, SECRETS, "web")

To delete an object, use `cluster.delete`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sampan.client import ApiError, Client, MergePatch, NotFound
from sampan.resource import Object, ResourceInfo

DRIFTED: Final = "drifted"
_PARTS: Final = ("data", "stringData", "spec", "rules", "labels")


async def change_a_field(client: Client, kind: ResourceInfo, name: str, written: Mapping[str, Any]) -> str:
    """Change the first field of an object that the server lets change, and return its path; "" if there is none.

    `written` is the object as the operator wrote it: only its fields are changed. Texts become `drifted`; numbers are
    increased.
    """
    objects = client.resource(kind)
    for path, value in _fields(written):
        try:
            await objects.patch(name, MergePatch(_nested(path, value)))
        except NotFound:
            return ""
        except ApiError:  # the field is immutable, or the value is invalid
            continue
        return ".".join(path)
    return ""


def _fields(written: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the fields that may be changed, with other values."""
    metadata = written.get("metadata") or {}
    for part in _PARTS:
        top = ("metadata", part) if part == "labels" else (part,)
        yield from _leaves(top, metadata.get(part) if part == "labels" else written.get(part))


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _leaves((*path, key), value[key])
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int):
        yield path, value + 1
    elif isinstance(value, str):
        yield path, "ZHJpZnRlZA==" if path[0] == "data" and value.endswith("=") else DRIFTED


def _nested(path: tuple[str, ...], value: Any) -> Object:
    found: Any = value
    for part in reversed(path):
        found = {part: found}
    return dict(found)
