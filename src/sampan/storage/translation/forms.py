"""Encodings of stored values.

Our encoding is canonical JSON with a placeholder for the resourceVersion. kube-apiserver writes protobuf for built-in
kinds. For custom resources it writes JSON in another order, without the placeholder.

Source: apiserver pkg/storage/etcd3/store.go, pkg/server/storage (1.36).
"""

from collections.abc import Callable

from sampan.core.object import Object
from sampan.storage.encoding import MARKER, decode, encode
from sampan.storage.store import UnreadableValue
from sampan.wire import protobuf
from sampan.wire.json import UNREADABLE, DecodeError
from sampan.wire.protobuf.envelope import MAGIC

_PLACE = MARKER + b'"'
_METADATA = b'"metadata":{'

Upgrade = Callable[[Object], Object]
"""Converts an object that another program stored to our version and defaults. May change the given object.

Raises `DecodeError` for an unknown version, as kube-apiserver does.
"""


def as_it_is(obj: Object) -> Object:
    """Return the object unchanged, as an `Upgrade`."""
    return obj


def is_canonical(value: bytes) -> bool:
    """Return True if a value is in our encoding: the placeholder for the resourceVersion is at its position.

    Takes a microsecond or two. Doubtful cases (braces in a name) return False.
    """
    head = value[: value.find(_PLACE)]
    return value.startswith(b"{") and _METADATA in head and head.count(b"{") == 2 and b"}" not in head


def canonical(value: bytes, upgrade: Upgrade = as_it_is) -> bytes:
    """Return a stored value in our encoding. A value that is not an object in a known encoding is returned unchanged.

    An object in our encoding is neither decoded nor upgraded. An unreadable object of Kubernetes becomes an
    `UnreadableValue`. Skipping it would make it look deleted.
    """
    if value.startswith(MAGIC):
        try:
            return encode(upgrade(protobuf.decode(value)))
        except DecodeError as error:
            return UnreadableValue(str(error).encode())
    if not value.startswith(b"{") or is_canonical(value):
        return value
    try:
        return encode(upgrade(decode(value)))
    except DecodeError as error:
        return UnreadableValue(str(error).encode())
    except (*UNREADABLE, KeyError, TypeError, AttributeError):
        return value


def protobuf_form(value: bytes) -> bytes:
    """Return a value in our encoding as kube-apiserver would store it: protobuf where the kind supports it.

    Custom resources, and values that are not objects, are returned unchanged: kube-apiserver can read our encoding of
    them.
    """
    try:
        obj = decode(value)
        if not protobuf.supports(obj["apiVersion"], obj["kind"]):
            return value
        return protobuf.encode(obj)
    except (*UNREADABLE, KeyError, TypeError):
        return value
