"""`Entry`: this store's row among those of all stores that write under one prefix.

A store writes only while its row is there: each of its transactions compares that. And it begins to write only a while
after it has made the row. So whoever has seen that no other row is there knows for that while that nobody else writes.
No clock is compared with another one's; but they have to run at about the same speed.

Concurrency: while the row is there one task renews its lease; the store ends it by `leave`.
"""

import asyncio
import logging
import uuid
from collections.abc import Container
from contextlib import suppress
from typing import Any, Final

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.messages import Compare, PutRequest, RangeRequest, RequestOp
from sampan.storage.etcd.stream import WatchEndedByEtcd
from sampan.storage.store import StoreUnavailable

TTL_S: Final = 10
"""How long the row of a store that died stays."""
_RENEW_S = 3.0
_LEAVE_S = 0.5
_log = logging.getLogger(__name__)


class Entry:
    """See the module. `wait_s`: how long after making the row it may write."""

    def __init__(self, client: EtcdClient, keys: Keys, wait_s: float) -> None:
        self._client = client
        self._keys = keys
        self._wait_s = wait_s
        self._lease = 0
        self._entering: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None
        self.value = b""
        """What the row tells others."""
        self.present = False
        """Whether the store may write, as far as it knows."""
        self.key = b""
        self.compare: Any = None
        """What each write compares: that the row is there."""
        self.look: Any = None
        """What a write asks when a comparison failed: how many rows of this key there are."""

    async def ensure(self) -> None:
        """Return when the store may write. Raises `StoreUnavailable`."""
        if self.present:
            return
        if self._entering is None or self._entering.done():
            self.enter()
        entering = self._entering
        assert entering is not None
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            if entering.cancelled():
                raise StoreUnavailable("the store closes") from None
            raise

    def enter(self) -> None:
        """Begin to make the row, so that the first write need not wait as long."""
        self._entering = asyncio.create_task(self._enter(), name="etcd entry")
        self._entering.add_done_callback(_looked_at)

    def enter_as(self, key: bytes) -> None:
        """The row of this key is there, and has been for long enough."""
        self.key = key
        self.compare = Compare(result=messages.GREATER, target=messages.TARGET_VERSION, key=key, version=0)
        self.look = RequestOp(request_range=RangeRequest(key=key, count_only=True))
        self.present = True

    def missing(self, looked: Any) -> bool:
        """Whether the row is not there, by the answer to `look`."""
        return not looked.count

    def check(self, key: bytes, found: Container[bytes]) -> None:
        """`found` are the rows that are there, as asked for while the store thought that it had the row of this key."""
        if key not in found:
            self.lost(key)
            self.enter()

    def lost(self, key: bytes) -> None:
        """The row of this key was not there. The next write makes another one."""
        if key == self.key:
            self.present = False
            _log.warning("this server's row among those that write to etcd is gone: it makes another one")

    async def leave(self) -> None:
        """Take the row away, if etcd answers soon; else it expires. Idempotent."""
        self.present = False
        tasks = [task for task in (self._entering, self._renewing) if task is not None]
        self._entering = self._renewing = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        lease, self._lease = self._lease, 0
        if lease:
            with suppress(AioRpcError):
                request = messages.LeaseRevokeRequest(ID=lease)
                await self._client.endpoint.call(messages.LEASE_REVOKE, request, _LEAVE_S)

    async def _enter(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        answer = await self._client.ask(messages.LEASE_GRANT, messages.LeaseGrantRequest(TTL=TTL_S))
        self._lease = answer.ID
        key = self._keys.writers + uuid.uuid4().hex.encode()
        self.key = key
        await self._client.ask(messages.PUT, PutRequest(key=key, value=self.value, lease=self._lease))
        await asyncio.sleep(self._wait_s)
        self.enter_as(key)
        self._renewing = asyncio.create_task(self._renew(self._lease, key), name="etcd entry")

    async def _renew(self, lease: int, key: bytes) -> None:
        while True:
            await asyncio.sleep(_RENEW_S)
            try:
                if not await self._client.keep_alive(lease):
                    self.lost(key)
                    return
            except (AioRpcError, TimeoutError, WatchEndedByEtcd, StoreUnavailable) as error:
                _log.debug("the lease of this server's row in etcd is not renewed: %s", error)


def _looked_at(task: "asyncio.Task[None]") -> None:
    if not task.cancelled():
        task.exception()
