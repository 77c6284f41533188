"""The forms in which values are stored: ours is canonical JSON with a place for the resourceVersion; kube-apiserver
writes protobuf for built-in kinds, and for custom resources JSON in another order, without that place.

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
"""Makes of an object that another program stored what this one would have stored: its version, its defaults. May change
it. Raises `DecodeError` for what it does not know, as kube-apiserver does not either."""


def as_it_is(obj: Object) -> Object:
    """The `Upgrade` that changes nothing."""
    return obj


def is_canonical(value: bytes) -> bool:
    """Whether a value has our form already, or at least its place for the resourceVersion where it belongs.

    Takes a microsecond or two: what is not certain (braces in a name) is denied.
    """
    head = value[: value.find(_PLACE)]
    return value.startswith(b"{") and _METADATA in head and head.count(b"{") == 2 and b"}" not in head


def canonical(value: bytes, upgrade: Upgrade = as_it_is) -> bytes:
    """A stored value in our form, whatever form it has; what is no object in a known form is given back as it is.

    An object that has our form is neither decoded nor upgraded. One of Kubernetes' that nobody can read any more is
    an `UnreadableValue`: to pass over it would tell that it is not there.
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
    """A value in our form as kube-apiserver would store it: protobuf where the kind has that form.

    What is no object, and custom resources, are given back as they are: kube-apiserver reads them so.
    """
    try:
        obj = decode(value)
        if not protobuf.supports(obj["apiVersion"], obj["kind"]):
            return value
        return protobuf.encode(obj)
    except (*UNREADABLE, KeyError, TypeError):
        return value
