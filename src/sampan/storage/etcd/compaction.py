"""`CompactionCoordinator`: lets one of the servers on one etcd compact in each interval, and tracks the result.

The servers coordinate through the version of one key outside every prefix, which kube-apiserver uses too. The server
that replaces the version it has read may compact. The value is the compacted revision.

Source: apiserver storage/etcd3/compact.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from grpc.aio import AioRpcError

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.faults import text_of
from sampan.storage.etcd.connection.messages import Compare, PutRequest, RangeRequest, RequestOp, TxnRequest
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.store import StoreUnavailable

COMPACT_REV_KEY = b"compact_rev_key"
_BACKOFF_S: Final = (1.0, 60.0)
"""First and longest pause before the watch is retried. The etcd user may lack permission to read the key."""
_log = logging.getLogger(__name__)


class CompactionCoordinator:
    """Coordinator of one server. The first `claim` only reads the key's version."""

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self._version = 0
        self.compacted = 0
        """Newest compacted revision that this server has read, compacted by any server."""

    async def claim(self, revision: int) -> bool:
        """Return True if this server is the one to compact to `revision`. Raises `StoreUnavailable`."""
        request = TxnRequest(
            compare=[Compare(target=messages.TARGET_VERSION, key=COMPACT_REV_KEY, version=self._version)],
            success=[RequestOp(request_put=PutRequest(key=COMPACT_REV_KEY, value=b"%d" % revision))],
            failure=[RequestOp(request_range=RangeRequest(key=COMPACT_REV_KEY))],
        )
        response = await self._client.call(messages.TXN, request)
        if response.succeeded:
            self._version += 1
            return True
        rows = response.responses[0].response_range.kvs
        self._version = rows[0].version if rows else 0
        return False

    async def follow(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Keep `compacted` up to date until cancelled."""
        pause_s = _BACKOFF_S[0]
        while True:
            try:
                async with self._client.watch(COMPACT_REV_KEY, b"", 0) as stream:
                    found = await self._client.call(messages.RANGE, RangeRequest(key=COMPACT_REV_KEY))
                    self._record(found.kvs)
                    pause_s = _BACKOFF_S[0]
                    while True:
                        self._record([event.kv for event in (await stream.next()).events])
            except (AioRpcError, TimeoutError, CompactedInEtcd, WatchEndedByEtcd, StoreUnavailable) as error:
                why = text_of(error)
                _log.debug("the watch of %s ended, retrying in %g s: %s", COMPACT_REV_KEY.decode(), pause_s, why)
            await sleep(pause_s)
            pause_s = min(2 * pause_s, _BACKOFF_S[1])

    def _record(self, rows: Any) -> None:
        # The newest value counts, not the greatest: etcd may have been restored to an older revision.
        for row in rows:
            if row.value.isdigit():
                self.compacted = int(row.value)
