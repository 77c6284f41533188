"""`CsiError`: failed call of a storage driver. Source: kubernetes pkg/volume/csi/csi_attacher.go (1.36)."""

from typing import Final

import grpc

from sampan.rpc.errors import RpcError

UNCERTAIN: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)
"""Codes after which the sidecars repeat a call, because the driver may still be working on it."""


class CsiError(RpcError):
    """A call of the driver has failed."""

    @property
    def is_final(self) -> bool:
        """True if the driver has certainly not done the work.

        If False, it may have done it, and the caller must undo it.
        """
        return self.code not in UNCERTAIN and self.code is not grpc.StatusCode.UNKNOWN
