"""`EtcdClient`: calls of etcd's API, on whichever endpoint answers.

Concurrency: no tasks of its own. One connection for each endpoint, made when it is first used, kept alive by pings, and
mended by gRPC. All calls use the same endpoint until it fails them; then the next one, in turn. Every attempt has a
deadline. While etcd as a whole is known to be away calls fail at once (`Reach`). After a failure the certificates are
looked at, and loaded anew when they have changed.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit

import grpc
import grpc.aio
from grpc.aio import EOF, AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.faults import Fault, fault_of, text_of
from sampan.storage.etcd.files import Stamps, check_files, stamps
from sampan.storage.etcd.history import History
from sampan.storage.etcd.messages import Method
from sampan.storage.etcd.reach import Reach
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd, WatchStream
from sampan.storage.etcd.told import Told
from sampan.storage.store import StoreFull, StoreUnreachable

_log = logging.getLogger(__name__)

BACKOFF_S = (0.02, 0.5)
"""The first and the longest pause between attempts."""
_WITH_LEADER = (("hasleader", "true"),)
"""Asks a member to refuse, or to end the watch, while it knows no leader."""
_LINEARIZABLE = (messages.RANGE, messages.TXN)
"""Whose answers tell a revision that is no older than any that was told before they were asked."""
_REPEATED = (Fault.NOT_DONE, Fault.UNKNOWN)
_OF_REVISIONS = (Fault.COMPACTED, Fault.FUTURE)


class Endpoint:
    """One server of etcd."""

    def __init__(self, server: str, settings: EtcdSettings) -> None:
        self.server = server
        self._settings = settings
        self._refused: Stamps = ()
        self._connect()

    async def call(self, method: Method, request: Any, timeout_s: float) -> Any:
        """One attempt. Raises `AioRpcError`."""
        call = self._calls.get(method.path)
        if call is None:
            call = self._channel.unary_unary(method.path, method.request.SerializeToString, method.response.FromString)
            self._calls[method.path] = call
        return await call(request, timeout=timeout_s)

    def stream(self, method: Method) -> Any:
        """A call with streams in both directions."""
        call = self._channel.stream_stream(method.path, method.request.SerializeToString, method.response.FromString)
        return call(metadata=_WITH_LEADER)

    def renew(self) -> None:
        """Connect anew when the certificates on disk are not those in use any more, and fit together.

        Calls under way go on; the connection that they are on ends with the last of them.
        """
        settings = self._settings
        found = stamps(settings.ca_file, settings.cert_file, settings.key_file)
        if found in (self._stamps, self._refused):
            return
        try:
            check_files(settings.ca_file, settings.cert_file, settings.key_file)
        except ValueError as error:
            self._refused = found
            _log.warning("the certificates for etcd have changed, and cannot be used: %s", error)
            return
        self._connect()

    async def close(self) -> None:
        """Let go of the connection; calls under way fail."""
        await self._channel.close()

    def _connect(self) -> None:
        settings = self._settings
        self._stamps = stamps(settings.ca_file, settings.cert_file, settings.key_file)
        self._channel = _channel(self.server, settings)
        self._calls: dict[str, Any] = {}


class EtcdClient:
    """See the module."""

    def __init__(self, settings: EtcdSettings) -> None:
        self.settings = settings
        self.reach = Reach(time.monotonic)
        self.told = Told()
        """What anybody may have been told of by its answers."""
        self.history = History()
        self._endpoints = [Endpoint(server, settings) for server in settings.servers]
        self._at = 0

    @property
    def endpoint(self) -> Endpoint:
        """The one in use."""
        return self._endpoints[self._at]

    def leave(self, endpoint: Endpoint) -> None:
        """Use the next one, if this one is in use still. Its certificates may have changed: then they are loaded."""
        endpoint.renew()
        if self.endpoint is endpoint:
            self._at = (self._at + 1) % len(self._endpoints)

    async def ask(self, method: Method, request: Any) -> Any:
        """A call that may be made more than once: until an endpoint has answered it.

        Raises `StoreUnreachable` after `total_s`, at once while etcd is away, and when it does not let us; `StoreFull`;
        `AioRpcError` when the asked revision is not there.
        """
        with Attempts(self) as attempts:
            while True:
                try:
                    return await attempts.call(method, request)
                except AioRpcError as error:
                    fault = fault_of(error)
                    if fault in _OF_REVISIONS:
                        raise
                    if fault is Fault.FULL:
                        if method is messages.TXN and _only_reads(request):
                            break
                        raise StoreFull(text_of(error)) from error
                    if fault not in _REPEATED or not await attempts.another():
                        raise StoreUnreachable(text_of(error)) from error
        return await self._read_apart(request)

    async def _read_apart(self, request: Any) -> Any:
        """What a transaction asks, one after the other: etcd 3.5.1 refuses any transaction when it is full."""
        whole = messages.TXN.response(succeeded=True)
        for part in request.success:
            answer = await self.ask(messages.RANGE, part.request_range)
            if not whole.responses:  # the oldest: what is told is true of all
                whole.header.CopyFrom(answer.header)
            whole.responses.add().response_range.CopyFrom(answer)
        return whole

    async def version(self) -> tuple[str, Endpoint]:
        """The version of one endpoint, the one in use if it answers. Raises `StoreUnreachable` as `ask` does."""
        with Attempts(self) as attempts:
            while True:
                try:
                    status = await attempts.call(messages.STATUS, messages.StatusRequest())
                except AioRpcError as error:
                    if fault_of(error) not in _REPEATED or not await attempts.another():
                        raise StoreUnreachable(text_of(error)) from error
                else:
                    return status.version, attempts.endpoint

    @asynccontextmanager
    async def watch(
        self, start: bytes, end: bytes, revision: int, *, at: Endpoint | None = None
    ) -> AsyncIterator[WatchStream]:
        """A watch of [start, end) from `revision` on, confirmed by etcd. `at`: if not at the endpoint in use.

        Raises `AioRpcError`, `TimeoutError`, `CompactedInEtcd`, `WatchEndedByEtcd`. After any but `CompactedInEtcd` the
        endpoint is left.
        """
        endpoint = at or self.endpoint
        stream = WatchStream(endpoint.stream(messages.WATCH))
        try:
            async with asyncio.timeout(self.settings.attempt_s):
                await stream.begin(start, end, revision)
            yield stream
        except CompactedInEtcd:
            raise
        except Exception:
            self.leave(endpoint)
            raise
        finally:
            stream.close()

    async def keep_alive(self, lease: int) -> bool:
        """Let a lease last anew; False when it is there no more.

        Raises `AioRpcError`, `TimeoutError`, `WatchEndedByEtcd`; then the endpoint is left.
        """
        endpoint = self.endpoint
        call = endpoint.stream(messages.LEASE_KEEP_ALIVE)
        try:
            async with asyncio.timeout(self.settings.attempt_s):
                await call.write(messages.LeaseKeepAliveRequest(ID=lease))
                answer = await call.read()
            if answer is EOF:
                raise WatchEndedByEtcd("the stream ended")
        except Exception:
            self.leave(endpoint)
            raise
        finally:
            call.cancel()
        return bool(answer.TTL > 0)

    async def close(self) -> None:
        """Let go of all connections. Idempotent."""
        for endpoint in self._endpoints:
            await endpoint.close()


class Attempts:
    """The attempts at one call: each has its deadline, all together have one, and there are pauses between them.

    A context, which raises `StoreUnreachable` while etcd is known to be away; unless the call is the one that finds out
    whether it still is. That one asks each endpoint once.
    """

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self.endpoint = client.endpoint
        """Where the last attempt was made."""
        self._loop = asyncio.get_running_loop()
        self._began = client.reach.clock()
        self._deadline = self._loop.time() + client.settings.total_s
        self._pause_s = BACKOFF_S[0]
        self._left: int | None = None
        """How many endpoints a probe has still to ask; None: it is none."""

    def __enter__(self) -> Self:
        reach = self._client.reach
        if reach.away:
            if not reach.begin_probe():
                raise StoreUnreachable("etcd: no endpoint answers")
            self._left = len(self._client.settings.servers)
        return self

    def __exit__(self, *_: object) -> None:
        if self._left is not None:
            self._client.reach.end_probe()

    async def call(self, method: Method, request: Any) -> Any:
        """One attempt, on the endpoint that is in use now. Raises `AioRpcError`; `StoreUnreachable`
        when etcd is another one.
        """
        history = self._client.history
        history.check()
        before = history.revision
        self.endpoint = self._client.endpoint
        left = max(self._deadline - self._loop.time(), 0.001)
        answer = await self.endpoint.call(method, request, min(left, self._client.settings.attempt_s))
        if method is not messages.STATUS:  # which a member answers alone
            self._client.reach.answered()
        if method in _LINEARIZABLE:
            history.saw(answer.header, before)
        return answer

    async def another(self) -> bool:
        """After a failure: turn to the next endpoint and pause. False when the time is over."""
        self._client.leave(self.endpoint)
        if self._left is not None:
            self._left -= 1
            return self._left > 0 and self._loop.time() < self._deadline
        if self._loop.time() + self._pause_s >= self._deadline:
            self._client.reach.failed(self._began)
            return False
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, BACKOFF_S[1])
        return True


def _only_reads(request: Any) -> bool:
    return not request.compare and all(part.HasField("request_range") for part in request.success)


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
