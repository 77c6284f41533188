"""`Reads`: linearizable reads of rows, and of etcd's revision."""

import asyncio
from typing import Any

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.faults import Fault, fault_of, text_of
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.messages import RangeRequest
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.store import Compacted, FutureRevision, KeyValue, RangeResult, StoreUnreachable

_PAGE_FIRST = 1_000
_PAGE_MAX = 10_000
_PAGE_BYTES = 8 << 20
_CHUNK = 1_000


class Reads:
    """Linearizable reads. All methods raise `StoreUnreachable` when no endpoint answers in time."""

    def __init__(self, client: EtcdClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys

    async def revision(self) -> int:
        """Return etcd's newest revision, including those of writes outside the prefix."""
        response = await self._client.call(messages.RANGE, RangeRequest(key=self._keys.barrier, keys_only=True))
        revision: int = response.header.revision
        return revision

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        response = await self._client.call(messages.RANGE, RangeRequest(key=self._keys.stored(key)))
        return self._keys.row(response.kvs[0]) if response.kvs else None

    async def range(self, start: str, end: str, limit: int, revision: int) -> RangeResult:
        """See `Store.range`. Reads pages of one revision, and yields to the event loop between them."""
        key, range_end = self._keys.span(start, end)
        items: list[KeyValue] = []
        total = -1
        size = _PAGE_FIRST
        while True:
            size = min(size, limit - len(items)) if limit else size
            response = await self._page(RangeRequest(key=key, range_end=range_end, limit=size, revision=revision))
            revision = revision or response.header.revision
            total = response.count if total < 0 else total
            await self._add(items, response.kvs)
            if not response.more or len(items) == limit:
                return RangeResult(items, revision, response.more, total)
            key = response.kvs[-1].key + b"\0"
            size = _next_size(response)

    async def check(self, revision: int) -> None:
        """Raise `Compacted` if etcd no longer has all events after a revision."""
        await self._page(RangeRequest(key=self._keys.barrier, keys_only=True, revision=max(revision, 1)))

    async def compact(self, revision: int) -> None:
        """See `Store.compact`."""
        if revision <= 0:
            raise await self.compacted()
        try:
            await self._client.call(messages.COMPACT, messages.CompactionRequest(revision=revision))
        except AioRpcError as error:
            raise await self._translated(error, revision) from error

    async def compacted(self) -> Compacted:
        """Return the error with the compacted revision. Only a watch that starts at revision 1 receives it."""
        current = await self.revision()
        try:
            async with self._client.watch(self._keys.barrier, b"", 1) as stream:
                await stream.next_within(self._client.settings.attempt_s)
        except CompactedInEtcd as error:
            return Compacted(error.revision, current)
        except (AioRpcError, TimeoutError, WatchEndedByEtcd) as error:
            raise StoreUnreachable(str(error)) from error
        return Compacted(0, current)

    async def _page(self, request: Any) -> Any:
        try:
            return await self._client.call(messages.RANGE, request)
        except AioRpcError as error:
            raise await self._translated(error, request.revision) from error

    async def _add(self, items: list[KeyValue], rows: Any) -> None:
        row = self._keys.row
        for start in range(0, len(rows), _CHUNK):
            items += [row(stored) for stored in rows[start : start + _CHUNK]]
            if start + _CHUNK < len(rows):
                await asyncio.sleep(0)

    async def _translated(self, error: AioRpcError, revision: int) -> Exception:
        fault = fault_of(error)
        if fault is Fault.COMPACTED:
            return await self.compacted()
        if fault is Fault.FUTURE:
            return FutureRevision(revision, await self.revision())
        return StoreUnreachable(text_of(error))


def _next_size(response: Any) -> int:
    """Return the number of rows of the next page, from the average row size of the last one."""
    row_bytes = max(sum(len(row.value) for row in response.kvs) // len(response.kvs), 1)
    return max(min(_PAGE_BYTES // row_bytes, _PAGE_MAX), 1)
