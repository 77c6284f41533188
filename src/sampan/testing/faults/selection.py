"""Selection of requests by `Which`: their verb, resource, name, user and objects."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
import orjson

from sampan.server.request import Request, RequestInfo
from sampan.testing.faults.plan import Which
from sampan.wire import protobuf
from sampan.wire.yaml import decode

Objects = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Returns the stored object of a group, resource, namespace and name. `CacheReader.get` is one."""
BODY_BYTES_MAX = 3 << 20
_WITH_OBJECT = ("create", "update")
_MISSING = object()


def selects_head(which: Which, request: Request) -> bool:
    """Return True if all conditions match that can be checked without an object."""
    info = request.info
    resource = f"{info.resource}.{info.group}" if info.group else info.resource
    return (
        info.is_resource
        and (not which.verbs or info.verb in which.verbs)
        and fnmatchcase(resource, which.resource)
        and (which.subresource is None or info.subresource == which.subresource)
        and fnmatchcase(info.namespace, which.namespace)
        and fnmatchcase(request.user.name if request.user else "", which.user)
        and fnmatchcase(request.headers.get("user-agent", ""), which.user_agent)
    )


def selects_object(which: Which, name: str, state: Mapping[str, Any] | None) -> bool:
    """Return True if the name and the fields of the object match."""
    return fnmatchcase(name, which.name) and all(value_at(state, path) == value for path, value in which.object.items())


def selects_change(which: Which, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    """Return True if the write has changed one of the fields."""
    return not which.changed or any(value_at(before, path) != value_at(after, path) for path in which.changed)


def needs_object(which: Which) -> bool:
    """Return True if the head of the request is not enough to decide."""
    return which.name != "*" or bool(which.object) or bool(which.changed)


def value_at(state: Mapping[str, Any] | None, path: str) -> Any:
    """Return the value of a path such as `spec.replicas`. `\\.` is a dot in a name."""
    found: Any = state
    for part in path.replace("\\.", "\0").split("."):
        found = found.get(part.replace("\0", "."), _MISSING) if isinstance(found, Mapping) else _MISSING
    return None if found is _MISSING else found


def stored(objects: Objects, info: RequestInfo, name: str) -> Mapping[str, Any] | None:
    """Return the stored object of a request."""
    return objects(info.group, info.resource, info.namespace, name) if name else None


async def sent_object(request: Request) -> Mapping[str, Any] | None:
    """Return the object in a create or an update, and keep the body for the verb. None if it cannot be read."""
    if request.info.verb not in _WITH_OBJECT:
        return None
    body = await request.wire.read_body(BODY_BYTES_MAX)

    async def again(limit: int) -> bytes:
        return body

    request.wire = msgspec.structs.replace(request.wire, read_body=again)
    try:
        found = _decoded(body, request.headers.get("content-type", ""))
    except ValueError:  # the verb refuses it
        return None
    return found if isinstance(found, dict) else None


def name_of(request: Request, sent: Mapping[str, Any] | None) -> str:
    """Return the name of the object: from the path, from the body, or the prefix of a generated name."""
    if request.info.name or not sent:
        return request.info.name
    metadata = sent.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "") if isinstance(metadata, Mapping) else ""


def _decoded(body: bytes, content_type: str) -> Any:
    if protobuf.MEDIA_TYPE in content_type:
        return protobuf.decode(body)
    return decode(body) if "yaml" in content_type else orjson.loads(body)
