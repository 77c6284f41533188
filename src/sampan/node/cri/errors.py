"""`CriError`: failed call of a container runtime."""

import grpc

from sampan.rpc.errors import RpcError


class CriError(RpcError):
    """A call of the runtime has failed."""


class RuntimeUnavailable(CriError):
    """The runtime does not respond. The call may be repeated when it is back."""


_UNAVAILABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def cri_error(method: str, code: grpc.StatusCode, details: str) -> CriError:
    """Return the error of a failed call."""
    kind = RuntimeUnavailable if code in _UNAVAILABLE else CriError
    return kind(method, code, details)
