"""`ObjectWrite`: an object that a reconcile has written, with its revision. `ReconcileWrites`: those of a reconcile."""

from typing import Final, NamedTuple

import msgspec

from sampan.informer.key import join_key

WRITES_MAX: Final = 8
"""Limit of the writes that a record lists."""
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACES: Final = "namespaces"


class ObjectWrite(NamedTuple):
    """A successful write."""

    verb: str
    resource: str
    """Resource as `plural.group`."""
    key: str
    """`namespace/name`, or `name`."""
    resource_version: str
    """Revision of the object after the write; empty if the response has none, as for some deletions."""
    subresource: str = ""


class _Metadata(msgspec.Struct):
    name: str = ""
    resourceVersion: str = ""


class _Written(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_DECODER: Final = msgspec.json.Decoder(_Written)


class ReconcileWrites:
    """Collects the writes of a running reconcile, at most `WRITES_MAX`; further ones are counted."""

    __slots__ = ("listed", "more")

    def __init__(self) -> None:
        self.listed: tuple[ObjectWrite, ...] = ()
        self.more = 0

    def add(self, method: str, path: str, response: bytes) -> None:
        """Add a write, from its method, its path and the body of its response."""
        if len(self.listed) >= WRITES_MAX:
            self.more += 1
            return
        write = written(method, path, response)
        if write is not None:
            self.listed += (write,)


def written(method: str, path: str, response: bytes) -> ObjectWrite | None:
    """Return the write of a request; None if its path is not that of a resource."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, rest = "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == _NAMESPACES and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    try:
        metadata = _DECODER.decode(response).metadata
    except msgspec.MsgspecError:
        metadata = _Metadata()
    name = rest[1] if len(rest) > 1 else metadata.name
    if not name:
        return None
    resource = f"{rest[0]}.{group}" if group else rest[0]
    return ObjectWrite(
        _VERBS.get(method, method), resource, join_key(namespace, name), metadata.resourceVersion, "/".join(rest[2:])
    )
