"""`Reads`: linearizable reads of rows and of etcd's revision, and reads of older events."""

import asyncio
from typing import Any

from grpc.aio import AioRpcError

from sampan.rpc.proto_table import Method
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.faults import FailureKind, fault_of, text_of
from sampan.storage.etcd.connection.messages import RangeRequest
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.etcd.history_reader import HistoryReader
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.store import Compacted, FutureRevision, KeyValue, RangeResult, StoreUnreachable

_PAGE_FIRST = 1_000
_PAGE_MAX = 10_000
_PAGE_BYTES = 8 << 20
_CHUNK = 1_000


class Reads:
    """Linearizable reads. All methods raise `StoreUnreachable` when no endpoint responds in time."""

    def __init__(self, client: EtcdClient, keys: PrefixedKeys) -> None:
        self._client = client
        self._keys = keys

    async def revision(self) -> int:
        """Return etcd's newest revision, including those of writes outside the prefix."""
        response = await self._client.call(messages.RANGE, RangeRequest(key=self._keys.barrier, keys_only=True))
        revision: int = response.header.revision
        return revision

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        response = await self._client.call(messages.RANGE, RangeRequest(key=self._keys.etcd_key(key)))
        return self._keys.row(response.kvs[0]) if response.kvs else None

    async def range(self, start: str, end: str, limit: int, revision: int) -> RangeResult:
        """Return rows in key order. Reads pages of one revision, and yields to the event loop between them."""
        key, range_end = self._keys.span(start, end)
        items: list[KeyValue] = []
        total = -1
        size = _PAGE_FIRST
        while True:
            size = min(size, limit - len(items)) if limit else size
            request = RangeRequest(key=key, range_end=range_end, limit=size, revision=revision)
            response = await self._call(messages.RANGE, request)
            revision = revision or response.header.revision
            total = response.count if total < 0 else total
            await self._add(items, response.kvs)
            if not response.more or len(items) == limit:
                return RangeResult(items, revision, response.more, total)
            key = response.kvs[-1].key + b"\0"
            size = _next_size(response)

    async def check(self, revision: int) -> None:
        """Raise `Compacted` if etcd no longer has all events after a revision, `FutureRevision` if it has none yet."""
        request = RangeRequest(key=self._keys.barrier, keys_only=True, revision=max(revision, 1))
        await self._call(messages.RANGE, request)

    def history(self, start: str, end: str, after: int) -> HistoryReader:
        """Return a reader of the events of a range after a revision."""
        return HistoryReader(self._client, self._keys, (start, end), after)

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay."""
        if revision <= 0:
            raise await self._compacted()
        await self._call(messages.COMPACT, messages.CompactionRequest(revision=revision))

    async def _compacted(self) -> Compacted:
        """Return the error with the compacted revision. Only a watch that starts at revision 1 receives it."""
        current = await self.revision()
        try:
            async with self._client.watch(self._keys.barrier, b"", 1) as stream:
                await stream.next_within(self._client.settings.attempt_s)
        except CompactedInEtcd as error:
            return Compacted(error.revision, current)
        except (AioRpcError, TimeoutError, WatchEndedByEtcd) as error:
            raise StoreUnreachable(text_of(error)) from error
        return Compacted(0, current)

    async def _call(self, method: Method, request: Any) -> Any:
        """Make a call at the request's revision. Raises `Compacted`, `FutureRevision`."""
        try:
            return await self._client.call(method, request)
        except AioRpcError as error:
            if fault_of(error) is FailureKind.COMPACTED:
                raise await self._compacted() from error
            raise FutureRevision(request.revision, await self.revision()) from error

    async def _add(self, items: list[KeyValue], rows: Any) -> None:
        row = self._keys.row
        for start in range(0, len(rows), _CHUNK):
            items += [row(stored) for stored in rows[start : start + _CHUNK]]
            if start + _CHUNK < len(rows):
                await asyncio.sleep(0)


def _next_size(response: Any) -> int:
    """Return the number of rows of the next page, from the average row size of the last one."""
    row_bytes = max(sum(len(row.value) for row in response.kvs) // len(response.kvs), 1)
    return max(min(_PAGE_BYTES // row_bytes, _PAGE_MAX), 1)
