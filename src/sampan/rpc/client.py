"""`RpcClient`: calls the gRPC services on one Unix socket.

Base of the clients of container runtimes and storage drivers.
Concurrency: any number of tasks may call. Calls of one client share one connection, which reconnects by itself.
Cancelling a task cancels its call in the server.
"""

import types
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self

import grpc
import grpc.aio

from sampan.rpc.errors import RpcError
from sampan.rpc.proto_files import AnyMessage, ProtoFiles

TIMEOUT_S: Final = 120.0
"""Time limit of a call in seconds, unless its method has another one."""
_MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024


class RpcClient:
    """Client of the services of one proto file on one Unix socket. Subclasses name the proto file and its services."""

    FILES: ClassVar[ProtoFiles]
    SERVICES: ClassVar[Sequence[str]]
    STREAMS: ClassVar[frozenset[str]] = frozenset()
    """Methods with a stream of responses."""

    def __init__(self, socket: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """`socket`: path of the Unix socket."""
        self.socket = socket
        self._timeout_s = timeout_s
        self._options = (
            ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
            # Servers in Go refuse the default authority, which has the escaped path of the socket.
            ("grpc.default_authority", "localhost"),
            # The other program restarts in about a second; gRPC's backoff would grow to two minutes.
            ("grpc.max_reconnect_backoff_ms", 2000),
        )
        self._channel: grpc.aio.Channel | None = None
        self._calls: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        self._channel = grpc.aio.insecure_channel(f"unix:{self.socket}", options=self._options)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        """Close the connection. Calls in progress are cancelled."""
        channel, self._channel = self._channel, None
        self._calls.clear()
        if channel is not None:
            await channel.close()

    def error(self, method: str, code: grpc.StatusCode, details: str) -> RpcError:
        """Return the error of a failed call."""
        return RpcError(method, code, details)

    async def _call(
        self, name: str, /, *, timeout_s: float | None = -1.0, wait_for_ready: bool = False, **fields: Any
    ) -> AnyMessage:
        """Call a method. `timeout_s`: negative for the client's limit, None for no limit. Raises `RpcError`."""
        limit_s = self._timeout_s if timeout_s is not None and timeout_s < 0 else timeout_s
        try:
            request = self.FILES.message(self._names(name)[1])(**fields)
            return await self._method(name)(request, timeout=limit_s, wait_for_ready=wait_for_ready)
        except grpc.aio.AioRpcError as error:
            raise self.error(name, error.code(), error.details() or "") from error

    def _method(self, name: str) -> Any:
        found = self._calls.get(name)
        if found is not None:
            return found
        if self._channel is None:
            raise self.error(name, grpc.StatusCode.UNAVAILABLE, "the client is closed")
        service, request, response = self._names(name)
        make = self._channel.unary_stream if name in self.STREAMS else self._channel.unary_unary
        found = self._calls[name] = make(
            f"/{self.FILES.proto_package}.{service}/{name}",
            request_serializer=self.FILES.message(request).SerializeToString,
            response_deserializer=self.FILES.message(response).FromString,
        )
        return found

    def _names(self, method: str) -> tuple[str, str, str]:
        """Return the names of a method's service, request and response. Raises `KeyError`."""
        for service in self.SERVICES:
            found = self.FILES.methods(service).get(method)
            if found is not None:
                return service, *found
        raise KeyError(method)
