"""`EtcdClient`: calls of etcd's API, on whichever endpoint answers.

Concurrency: no tasks of its own. One connection for each endpoint, made when it is first used, kept alive by pings, and
mended by gRPC. All calls use the same endpoint until it fails them; then the next one, in turn. Every attempt has a
deadline. While etcd as a whole is known to be away calls fail at once (`Reach`). After a failure the certificates are
looked at, and loaded anew when they have changed. While etcd is away endpoints are connected to anew, as a gateway may
lead to another member then.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from grpc.aio import EOF, AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.endpoint import Endpoint
from sampan.storage.etcd.faults import Fault, fault_of, text_of
from sampan.storage.etcd.history import History
from sampan.storage.etcd.messages import Method
from sampan.storage.etcd.reach import Reach
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd, WatchStream
from sampan.storage.etcd.told import Told
from sampan.storage.store import StoreFull, StoreUnreachable

BACKOFF_S = (0.02, 0.5)
"""The first and the longest pause between attempts."""
_LINEARIZABLE = (messages.RANGE, messages.TXN)
"""Whose answers tell a revision that is no older than any that was told before they were asked."""
_REPEATED = (Fault.NOT_DONE, Fault.UNKNOWN)
_OF_REVISIONS = (Fault.COMPACTED, Fault.FUTURE)


class EtcdClient:
    """See the module."""

    def __init__(self, settings: EtcdSettings) -> None:
        self.settings = settings
        self.reach = Reach(time.monotonic)
        self.told = Told()
        """What anybody may have been told of by its answers."""
        self.history = History()
        self.lost: Callable[[], object] | None = None
        """Told each time that etcd is found to be away."""
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

    def lose(self) -> None:
        """etcd is away: connect to all endpoints anew, as another member may answer at the same address."""
        for endpoint in self._endpoints:
            endpoint.reconnect()
        if self.lost is not None:
            self.lost()

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
            self.endpoint.reconnect()
            self._left -= 1
            return self._left > 0 and self._loop.time() < self._deadline
        if self._loop.time() + self._pause_s >= self._deadline:
            if self._client.reach.failed(self._began):
                self._client.lose()
            return False
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, BACKOFF_S[1])
        return True


def _only_reads(request: Any) -> bool:
    return not request.compare and all(part.HasField("request_range") for part in request.success)
