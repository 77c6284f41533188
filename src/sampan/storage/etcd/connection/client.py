"""`EtcdClient`: calls of etcd's API with deadlines, retries and failover between endpoints.

Concurrency: no tasks. One connection for each endpoint, opened on first use, kept alive by pings, and reconnected by
gRPC. All calls use one endpoint until it fails; then the next one, in turn. Every attempt has a deadline. While no
endpoint responds, calls fail at once (`Availability`). A failure also reloads certificates that have changed on disk.
When etcd becomes unavailable all endpoints are reconnected, because a gateway may then lead to another member.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from grpc.aio import AioRpcError

from sampan.core.clock import monotonic
from sampan.rpc.proto_table import Method
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.availability import Availability
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.storage.etcd.connection.faults import FailureKind, fault_of, text_of
from sampan.storage.etcd.connection.restore_detector import RestoreDetector
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchStream
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.store import StoreFull, StoreUnreachable

BACKOFF_S = (0.02, 0.5)
"""First and longest pause between attempts."""
_LINEARIZABLE = (messages.RANGE, messages.TXN)
"""Calls whose revision is at least as new as every revision that etcd had returned before the request."""
_REPEATED = (FailureKind.NOT_DONE, FailureKind.UNKNOWN)
_REVISION_FAULTS = (FailureKind.COMPACTED, FailureKind.FUTURE)
_log = logging.getLogger(__name__)


class EtcdClient:
    """Client of one etcd cluster."""

    def __init__(self, settings: EtcdSettings) -> None:
        self.settings = settings
        self.availability = Availability(monotonic)
        self.restores = RestoreDetector()
        self._endpoints = [EtcdEndpoint(server, settings) for server in settings.servers]
        self._at = 0

    @property
    def endpoint(self) -> EtcdEndpoint:
        """The endpoint in use."""
        return self._endpoints[self._at]

    def leave(self, endpoint: EtcdEndpoint) -> None:
        """Switch to the next endpoint if this one is still in use. Reloads certificates that have changed."""
        endpoint.renew()
        if self.endpoint is endpoint:
            self._at = (self._at + 1) % len(self._endpoints)

    def on_unavailable(self, cause: str) -> None:
        """Log that no endpoint responds, and reconnect to all: another member may respond at the same address."""
        _log.warning(
            "no etcd endpoint responds; requests fail with 503 until one does: endpoints=%s error=%r",
            ",".join(self.settings.servers),
            cause,
        )
        for endpoint in self._endpoints:
            endpoint.reconnect()

    async def call(self, method: Method, request: Any) -> Any:
        """Make a call that may be repeated, until an endpoint responds.

        Raises `StoreUnreachable` after `total_s`, at once while etcd is unavailable, and when etcd denies permission;
        `StoreFull`; `AioRpcError` when the requested revision does not exist (compacted, or in the future).
        """
        with Attempts(self) as attempts:
            return await attempts.repeat(method, request)

    async def version(self) -> tuple[str, EtcdEndpoint]:
        """Return the version of an endpoint, preferably the one in use. Raises `StoreUnreachable` as `call` does."""
        with Attempts(self) as attempts:
            status = await attempts.repeat(messages.STATUS, messages.StatusRequest())
            return status.version, attempts.endpoint

    @asynccontextmanager
    async def watch(
        self, start: bytes, end: bytes, revision: int, *, at: EtcdEndpoint | None = None
    ) -> AsyncIterator[WatchStream]:
        """Watch [start, end) from `revision` on. The block begins when etcd has confirmed the watch.

        `at`: an endpoint other than the current one.

        Raises `AioRpcError`, `TimeoutError`, `CompactedInEtcd`, `WatchEndedByEtcd`. All but `CompactedInEtcd` switch to
        the next endpoint.
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

    async def close(self) -> None:
        """Close all connections. Idempotent."""
        for endpoint in self._endpoints:
            await endpoint.close()


class Attempts:
    """Attempts of one call: each attempt has a deadline, and so has the whole call.

    The client backs off between attempts.

    Entering raises `StoreUnreachable` while etcd is unavailable, unless the call is the probe. The probe tries
    each endpoint once.
    """

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self.endpoint = client.endpoint
        """The endpoint of the last attempt."""
        self._loop = asyncio.get_running_loop()
        self._began = client.availability.clock()
        self._deadline = self._loop.time() + client.settings.total_s
        self._pause_s = BACKOFF_S[0]
        self._untried: int | None = None
        """Endpoints that a probe has not tried yet; None for other calls."""

    def __enter__(self) -> Self:
        availability = self._client.availability
        if availability.circuit_open:
            if not availability.begin_probe():
                raise StoreUnreachable("etcd: no endpoint answers")
            self._untried = len(self._client.settings.servers)
        return self

    def __exit__(self, *_: object) -> None:
        if self._untried is not None:
            self._client.availability.end_probe()

    async def repeat(self, method: Method, request: Any) -> Any:
        """Make attempts until an endpoint responds. See `EtcdClient.call`."""
        while True:
            try:
                return await self.call(method, request)
            except AioRpcError as error:
                fault = fault_of(error)
                if fault in _REVISION_FAULTS:
                    raise
                if fault is FailureKind.FULL:
                    raise StoreFull(text_of(error)) from error
                if fault not in _REPEATED or not await self.prepare_retry(error):
                    raise StoreUnreachable(text_of(error)) from error

    async def call(self, method: Method, request: Any) -> Any:
        """Make one attempt at the endpoint in use.

        Raises `AioRpcError`; `StoreUnreachable` if etcd was restored or replaced.
        """
        restores = self._client.restores
        restores.check()
        before = restores.revision
        self.endpoint = self._client.endpoint
        left = max(self._deadline - self._loop.time(), 0.001)
        response = await self.endpoint.call(method, request, min(left, self._client.settings.attempt_s))
        if method is not messages.STATUS:  # a member answers that without a quorum
            self._client.availability.record_response()
        if method in _LINEARIZABLE:
            restores.observe(response.header, before)
        return response

    async def prepare_retry(self, error: AioRpcError) -> bool:
        """Switch to the next endpoint after a failure, and pause. Return False if no attempt is left."""
        self._client.leave(self.endpoint)
        if self._untried is not None:
            self.endpoint.reconnect()
            self._untried -= 1
            return self._untried > 0 and self._loop.time() < self._deadline
        if self._loop.time() + self._pause_s >= self._deadline:
            if self._client.availability.failed(self._began):
                self._client.on_unavailable(text_of(error))
            return False
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, BACKOFF_S[1])
        return True
