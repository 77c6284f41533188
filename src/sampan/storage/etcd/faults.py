"""What a failed call of etcd means: whether a write may have been made, and whether another endpoint may know better.

Source: etcd api/v3rpc/rpctypes/error.go (3.5, 3.6).
"""

from enum import Enum

import grpc
from grpc.aio import AioRpcError


class Fault(Enum):
    """Kinds of failures, as the caller has to act on them."""

    NOT_DONE = "not done"
    """It surely did nothing; it may be tried again, elsewhere or later."""
    UNKNOWN = "unknown"
    """It may have been done, or may still be."""
    FULL = "full"
    """It did nothing: etcd has no room."""
    COMPACTED = "compacted"
    FUTURE = "future"
    """The asked revision is not there any more, or not yet."""
    NO_LEASE = "no lease"
    """It did nothing: the lease is not there any more."""
    TOO_LARGE = "too large"
    """It did nothing, and never will: etcd takes no request of this size."""
    REFUSED = "refused"
    """It did nothing, and never will."""


_BY_TEXT = (
    ("database space exceeded", Fault.FULL),
    ("required revision has been compacted", Fault.COMPACTED),
    ("required revision is a future revision", Fault.FUTURE),
    ("requested lease not found", Fault.NO_LEASE),
    ("request is too large", Fault.TOO_LARGE),
    ("message larger than max", Fault.TOO_LARGE),
    ("too many requests", Fault.NOT_DONE),
    ("etcdserver: no leader", Fault.NOT_DONE),
    ("rpc not supported for learner", Fault.NOT_DONE),
    ("etcdserver: not capable", Fault.NOT_DONE),
    ("revision of auth store is old", Fault.NOT_DONE),
    ("failed to connect to all addresses", Fault.NOT_DONE),
)
_UNKNOWN = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.ABORTED,
    }
)


def fault_of(error: AioRpcError) -> Fault:
    """The kind of a failure; by its text where etcd has one code for several."""
    details = error.details() or ""
    for text, fault in _BY_TEXT:
        if text in details:
            return fault
    return Fault.UNKNOWN if error.code() in _UNKNOWN else Fault.REFUSED


def text_of(error: AioRpcError) -> str:
    """The failure in one line."""
    details = error.details() or error.code().name
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return f"what answers in etcd's place is no etcd: {details}"
    return f"etcd: {details}"
