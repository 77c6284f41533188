"""`CriError`: failed call of a container runtime."""

import grpc
import grpc.aio


class CriError(Exception):
    """A call has failed. The text is Go's for the same error, because it appears in events and statuses of Pods."""

    def __init__(self, method: str, code: grpc.StatusCode, details: str) -> None:
        """`method`: for example `RunPodSandbox`."""
        super().__init__(f"rpc error: code = {_go_name(code)} desc = {details}")
        self.method = method
        self.code = code
        self.details = details

    @property
    def is_not_found(self) -> bool:
        """True if the sandbox, container or image does not exist."""
        return self.code is grpc.StatusCode.NOT_FOUND

    @property
    def is_unimplemented(self) -> bool:
        """True if the runtime does not have the method."""
        return self.code is grpc.StatusCode.UNIMPLEMENTED


class RuntimeUnavailable(CriError):
    """The runtime does not respond. The call may be repeated when it is back."""


_UNAVAILABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def cri_error(method: str, error: grpc.aio.AioRpcError) -> CriError:
    """Return the error of a failed call."""
    kind = RuntimeUnavailable if error.code() in _UNAVAILABLE else CriError
    return kind(method, error.code(), error.details() or "")


def _go_name(code: grpc.StatusCode) -> str:
    if code is grpc.StatusCode.CANCELLED:
        return "Canceled"
    return "OK" if code is grpc.StatusCode.OK else "".join(part.capitalize() for part in code.name.split("_"))
