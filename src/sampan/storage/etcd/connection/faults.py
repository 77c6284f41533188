"""Meaning of a failed etcd call: whether it may have written, and whether another endpoint may succeed.

Source: etcd api/v3rpc/rpctypes/error.go (3.5, 3.6).
"""

from enum import Enum

import grpc
from grpc.aio import AioRpcError


class FailureKind(Enum):
    """Kinds of failures, by what the caller must do."""

    NOT_DONE = "not done"
    """The call certainly did nothing. It can be retried, at another endpoint or later."""
    UNKNOWN = "unknown"
    """The call may have been executed, or may still be."""
    FULL = "full"
    """The call did nothing: etcd has no space."""
    COMPACTED = "compacted"
    FUTURE = "future"
    """The requested revision is compacted, or does not exist yet."""
    NO_LEASE = "no lease"
    """The call did nothing: the lease no longer exists."""
    TOO_LARGE = "too large"
    """The call did nothing and never will: the request is too large for etcd."""
    REFUSED = "refused"
    """The call did nothing and never will."""


_BY_TEXT = (
    ("database space exceeded", FailureKind.FULL),
    ("required revision has been compacted", FailureKind.COMPACTED),
    ("required revision is a future revision", FailureKind.FUTURE),
    ("requested lease not found", FailureKind.NO_LEASE),
    ("request is too large", FailureKind.TOO_LARGE),
    ("message larger than max", FailureKind.TOO_LARGE),
    ("too many requests", FailureKind.NOT_DONE),
    ("etcdserver: no leader", FailureKind.NOT_DONE),
    ("rpc not supported for learner", FailureKind.NOT_DONE),
    ("etcdserver: not capable", FailureKind.NOT_DONE),
    ("revision of auth store is old", FailureKind.NOT_DONE),
    ("failed to connect to all addresses", FailureKind.NOT_DONE),
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


def fault_of(error: AioRpcError) -> FailureKind:
    """Return the kind of a failure. Where etcd uses one code for several kinds, the text of the error decides."""
    details = error.details() or ""
    for text, fault in _BY_TEXT:
        if text in details:
            return fault
    return FailureKind.UNKNOWN if error.code() in _UNKNOWN else FailureKind.REFUSED


def text_of(error: Exception) -> str:
    """Return the failure in one line."""
    if not isinstance(error, AioRpcError):
        return str(error)
    details = error.details() or error.code().name
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return f"what answers in etcd's place is no etcd: {details}"
    return f"etcd: {details}"
