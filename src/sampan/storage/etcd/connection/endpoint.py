"""`EtcdEndpoint`: one server of etcd, and the connection to it.

An open connection stays in use. A new one is made with the certificates that are on disk at that time.
"""

import logging
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio

from sampan.core.operating_system.file_stamps import Stamps, stamps
from sampan.rpc.proto_table import Method
from sampan.storage.etcd.files import check_files
from sampan.storage.etcd.settings import EtcdSettings

_log = logging.getLogger(__name__)

_WITH_LEADER = (("hasleader", "true"),)
"""Makes a member refuse the call, or end the watch, while it has no leader."""


class EtcdEndpoint:
    """One server of etcd."""

    def __init__(self, server: str, settings: EtcdSettings) -> None:
        self.server = server
        self._settings = settings
        self._refused: Stamps = ()
        self._connect()

    async def call(self, method: Method, request: Any, timeout_s: float) -> Any:
        """Make one attempt. Raises `AioRpcError`."""
        call = self._calls.get(method.path)
        if call is None:
            call = self._channel.unary_unary(method.path, method.request.SerializeToString, method.response.FromString)
            self._calls[method.path] = call
        return await call(request, timeout=timeout_s)

    def stream(self, method: Method) -> Any:
        """Open a call with streams in both directions."""
        call = self._channel.stream_stream(method.path, method.request.SerializeToString, method.response.FromString)
        return call(metadata=_WITH_LEADER)

    def renew(self) -> None:
        """Reconnect if the certificates on disk differ from those in use."""
        if self._on_disk() not in (self._stamps, self._refused):
            self.reconnect()

    def reconnect(self) -> None:
        """Reconnect with the certificates on disk. If they cannot be used, log that once and keep the connection.

        Calls in progress continue on the old connection, which closes after the last of them.
        """
        settings, found = self._settings, self._on_disk()
        try:
            check_files(settings.ca_file, settings.cert_file, settings.key_file)
            self._connect()
        except (ValueError, OSError) as error:
            if found != self._refused:
                _log.warning("cannot reload the client certificates for etcd: %s; keeping the old ones", error)
            self._refused = found

    async def close(self) -> None:
        """Close the connection; calls in progress fail."""
        await self._channel.close()

    def _connect(self) -> None:
        found = self._on_disk()
        self._channel = _channel(self.server, self._settings)
        self._calls: dict[str, Any] = {}
        self._stamps = found

    def _on_disk(self) -> Stamps:
        files = self._settings.ca_file, self._settings.cert_file, self._settings.key_file
        return stamps(*(file for file in files if file is not None))


def _channel(server: str, settings: EtcdSettings) -> grpc.aio.Channel:
    parts = urlsplit(server)
    options = (
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", int(settings.keepalive_s * 1000)),
        ("grpc.keepalive_timeout_ms", int(settings.keepalive_timeout_s * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 1000),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.enable_retries", 0),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    )
    if parts.scheme == "http":
        return grpc.aio.insecure_channel(parts.netloc, options)
    credentials = grpc.ssl_channel_credentials(
        root_certificates=None if settings.ca_file is None else settings.ca_file.read_bytes(),
        private_key=None if settings.key_file is None else settings.key_file.read_bytes(),
        certificate_chain=None if settings.cert_file is None else settings.cert_file.read_bytes(),
    )
    return grpc.aio.secure_channel(parts.netloc, credentials, options)
