"""`RpcError`: failed gRPC call to another program on this machine."""

import grpc


class RpcError(Exception):
    """A call has failed. The text is Go's for the same error, because it appears in events and statuses."""

    def __init__(self, method: str, code: grpc.StatusCode, details: str) -> None:
        """`method`: for example `RunPodSandbox`."""
        super().__init__(f"rpc error: code = {_go_name(code)} desc = {details}")
        self.method = method
        self.code = code
        self.details = details

    @property
    def code_name(self) -> str:
        """Go's name of the code, such as `InvalidArgument`."""
        return _go_name(self.code)

    @property
    def is_not_found(self) -> bool:
        """True if the object that the call names does not exist."""
        return self.code is grpc.StatusCode.NOT_FOUND

    @property
    def is_unimplemented(self) -> bool:
        """True if the server does not implement the method."""
        return self.code is grpc.StatusCode.UNIMPLEMENTED


def _go_name(code: grpc.StatusCode) -> str:
    if code is grpc.StatusCode.CANCELLED:
        return "Canceled"
    return "OK" if code is grpc.StatusCode.OK else "".join(part.capitalize() for part in code.name.split("_"))
