"""`CompactionTurns`: of the servers on one etcd, one compacts in each interval, and all know how far.

They agree by the version of one key, outside every prefix, that kube-apiserver uses for the same: whoever replaces the
version that it has seen may compact, and the value says how far. Source: apiserver storage/etcd3/compact.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.messages import Compare, PutRequest, RangeRequest, RequestOp, TxnRequest
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.store import StoreUnavailable

COMPACT_REV_KEY = b"compact_rev_key"
_PAUSE_S: Final = (1.0, 60.0)
"""The first and the longest pause before the watch is tried again. A user of etcd may not be allowed to see the key."""
_log = logging.getLogger(__name__)


class CompactionTurns:
    """The turns of one server. The first one is nobody's: then only the key's version is learnt."""

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self._version = 0
        self.compacted = 0
        """How far it was compacted, by whichever server, as far as this one has heard."""

    async def take(self, revision: int) -> bool:
        """Whether this server is to compact to the revision now. Raises `StoreUnavailable`."""
        request = TxnRequest(
            compare=[Compare(target=messages.TARGET_VERSION, key=COMPACT_REV_KEY, version=self._version)],
            success=[RequestOp(request_put=PutRequest(key=COMPACT_REV_KEY, value=b"%d" % revision))],
            failure=[RequestOp(request_range=RangeRequest(key=COMPACT_REV_KEY))],
        )
        answer = await self._client.ask(messages.TXN, request)
        if answer.succeeded:
            self._version += 1
            return True
        rows = answer.responses[0].response_range.kvs
        self._version = rows[0].version if rows else 0
        return False

    async def heed(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Hear how far others compact, until cancelled."""
        pause_s = _PAUSE_S[0]
        while True:
            try:
                async with self._client.watch(COMPACT_REV_KEY, b"", 0) as stream:
                    found = await self._client.ask(messages.RANGE, RangeRequest(key=COMPACT_REV_KEY))
                    self._note(found.kvs)
                    pause_s = _PAUSE_S[0]
                    while True:
                        self._note([event.kv for event in (await stream.next()).events])
            except (AioRpcError, TimeoutError, CompactedInEtcd, WatchEndedByEtcd, StoreUnavailable) as error:
                _log.debug("how far etcd is compacted is watched anew: %s", error)
            await sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_S[1])

    def _note(self, rows: Any) -> None:
        """The newest value counts, not the greatest: etcd may have gone back."""
        for row in rows:
            if row.value.isdigit():
                self.compacted = int(row.value)
