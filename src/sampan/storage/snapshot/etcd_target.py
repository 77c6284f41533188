"""`EtcdCopyTarget`: store on etcd into which another store is copied, marked as incomplete until the copy is verified.

The marker is a key outside the prefix. It is written before the first object and deleted after the last one was
verified. So `EtcdStore` refuses to open an interrupted copy. Every write of the copy compares the marker's mod
revision: a copy whose marker was taken over by another copy can write no more. A second key, on a lease, shows that the
copy still runs.

Concurrency: from `begin` on one task renews the lease key; closing the store ends it.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Final

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.messages import (
    Compare,
    DeleteRangeRequest,
    PutRequest,
    RangeRequest,
    RequestOp,
    TxnRequest,
)
from sampan.storage.etcd.settings import PREFIX
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.snapshot.copy import refuse_taken
from sampan.storage.snapshot.format import SnapshotError
from sampan.storage.store import StoreIncomplete, StoreUnavailable, prefix_end

TTL_S = 10
"""The lease key of a copy that was killed expires after this time."""
RENEW_S = 3.0
_LOOK_S: Final = 0.25
_DELETE_PAGE: Final = 1_000
_log = logging.getLogger(__name__)


class EtcdCopyTarget(EtcdStore):
    """Store into which a copy is written.

    Between `begin` and `finish` no other store can open the prefix: `open` raises `StoreIncomplete`.
    """

    _is_marked = False

    async def begin(self, what: str, *, clear: bool) -> None:
        """Mark the target as an unfinished copy `what`. `clear`: delete the keys of an interrupted copy.

        Raises `StoreIncomplete` if there is an interrupted copy and `clear` is false, `SnapshotError` if the prefix
        has other keys or another copy runs.
        """
        left = await self.incomplete_copy()
        if left is not None and not clear:
            raise StoreIncomplete(left)
        if left is None:
            await self._refuse_taken()
        else:
            await self._refuse_running()
        await self._mark(what, taking_over=left is not None)
        if left is not None:
            await self._clear()
        else:
            await self._refuse_written_since()

    async def finish(self) -> None:
        """Remove the marker: the copy is complete. Raises `StoreIncomplete` if another copy has taken over."""
        delete = RequestOp(request_delete_range=DeleteRangeRequest(key=self._keys.incomplete))
        await self._client.call(messages.TXN, TxnRequest(compare=[self._writes.fence], success=[delete]))
        other = await self.incomplete_copy()
        if other is not None:
            raise StoreIncomplete(other)

    async def _refuse_incomplete(self) -> None:
        """Accept an incomplete copy: this store completes it."""

    async def _mark(self, what: str, *, taking_over: bool) -> None:
        """Write the marker, and fence further writes with it. Raises `StoreIncomplete` if another copy was faster."""
        key = self._keys.incomplete
        absent = [] if taking_over else [Compare(target=messages.TARGET_VERSION, key=key, version=0)]
        put = RequestOp(request_put=PutRequest(key=key, value=what.encode()))
        await self._client.call(messages.TXN, TxnRequest(compare=absent, success=[put]))
        # Read the marker back: the response is unreliable, because the client may have repeated a request that had
        # succeeded.
        found = (await self._client.call(messages.RANGE, RangeRequest(key=key))).kvs
        if not found or found[0].value != what.encode():
            raise StoreIncomplete(found[0].value.decode(errors="replace") if found else "")
        self._writes.fence = Compare(target=messages.TARGET_MOD, key=key, mod_revision=found[0].mod_revision)
        await self._show_running()
        self._is_marked = True
        self._tasks.begin(self._renew(), "etcd copy")

    async def _refuse_running(self) -> None:
        """Wait until the lease key of an earlier copy has expired. Raises `SnapshotError` if it is renewed."""
        deadline = asyncio.get_running_loop().time() + TTL_S + RENEW_S
        running = RangeRequest(key=self._keys.copy_running, count_only=True)
        while (await self._client.call(messages.RANGE, running)).count:
            if asyncio.get_running_loop().time() >= deadline:
                raise SnapshotError("another copy writes to this prefix of the target's etcd: stop it first")
            await asyncio.sleep(_LOOK_S)

    async def _show_running(self) -> None:
        lease = await self._client.call(messages.LEASE_GRANT, messages.LeaseGrantRequest(TTL=TTL_S))
        await self._client.call(messages.PUT, PutRequest(key=self._keys.copy_running, lease=lease.ID))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                await self._show_running()
            except StoreUnavailable as error:
                _log.debug("cannot renew the lease key of the copy, retrying: %s", error)

    async def _end(self) -> None:
        await self._tasks.aclose()
        if self._is_marked:
            self._is_marked = False
            with suppress(StoreUnavailable):
                await self._client.call(messages.DELETE_RANGE, DeleteRangeRequest(key=self._keys.copy_running))
        await super()._end()

    async def _refuse_written_since(self) -> None:
        """Check again: a server may have opened the empty prefix before the marker was written."""
        try:
            await self._refuse_taken()
        except SnapshotError:
            await self.finish()
            raise

    async def _refuse_taken(self) -> None:
        await refuse_taken(self, PREFIX + "/", prefix_end(PREFIX + "/"))

    async def _clear(self) -> None:
        start = self._keys.barrier
        while True:
            request = RangeRequest(key=start, range_end=self._keys.end, keys_only=True, limit=_DELETE_PAGE)
            found = await self._client.call(messages.RANGE, request)
            if not found.kvs:
                return
            end = found.kvs[-1].key + b"\0"
            await self._client.call(messages.DELETE_RANGE, DeleteRangeRequest(key=start, range_end=end))
