"""`CsiError`: failed call of a storage driver. Source: kubernetes pkg/volume/csi/csi_attacher.go (1.36)."""

from typing import Final

import grpc

from sampan.rpc.errors import RpcError

_UNCERTAIN: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.UNKNOWN,
    }
)


class CsiError(RpcError):
    """A call of the driver has failed."""

    @property
    def is_final(self) -> bool:
        """True if the driver has surely not done the work. Otherwise it may have, and it must be undone."""
        return self.code not in _UNCERTAIN
