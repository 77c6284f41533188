"""`EtcdCopyTarget`: the store on etcd while another one is copied into it, which is marked as a part until it is whole.

The mark is a row beside the prefix, as those of who writes (`entry.py`) are. It is made before the first object and
taken away after the last one was compared, so what a killed copy leaves passes for no store: `EtcdStore` refuses it.
"""

import asyncio
from typing import Final

from sampan.storage.etcd import messages
from sampan.storage.etcd.entry import TTL_S
from sampan.storage.etcd.mark import mark_of
from sampan.storage.etcd.messages import Compare, DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, TxnRequest
from sampan.storage.etcd.settings import PREFIX
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.snapshot.copy import refuse_taken
from sampan.storage.snapshot.format import SnapshotError
from sampan.storage.store import StoreIncomplete, prefix_end

_OTHERS_LEAVE_S: Final = TTL_S + 3.0
"""The rows of writers that were killed expire in this time."""
_LOOK_S: Final = 0.25
_DELETED_AT_ONCE: Final = 1_000


class EtcdCopyTarget(EtcdStore):
    """See the module. Between `begin` and `finish` other stores of the prefix do not open, and say why."""

    async def begin(self, what: str, *, clear: bool) -> None:
        """Mark what is written from now on as a part of the copy `what`.

        `clear`: take away first what a copy has left that was cut short. Raises `StoreIncomplete` when there is such a
        part and it is not to be cleared, `SnapshotError` when there is anything else, or somebody who writes.
        """
        left = await mark_of(self._client, self._keys)
        if left is not None and not clear:
            raise StoreIncomplete(left)
        if left is None:
            await self._refuse_taken()
            await self._mark(what)
        try:
            await self._refuse_others()
            if left is None:
                await self._refuse_taken()
        except SnapshotError:
            if left is None:
                await self.finish()
            raise
        if left is not None:
            await self._clear()
            await self._client.ask(messages.PUT, PutRequest(key=self._keys.copying, value=what.encode()))

    async def finish(self) -> None:
        """What is there is whole: the mark goes."""
        await self._client.ask(messages.DELETE_RANGE, DeleteRangeRequest(key=self._keys.copying))

    async def _refuse_part(self) -> None:
        """This is who makes it whole."""

    async def _mark(self, what: str) -> None:
        """Raises `StoreIncomplete` when another copy was faster."""
        key = self._keys.copying
        absent = Compare(target=messages.TARGET_VERSION, key=key, version=0)
        put = RequestOp(request_put=PutRequest(key=key, value=what.encode()))
        await self._client.ask(messages.TXN, TxnRequest(compare=[absent], success=[put]))
        found = await mark_of(self._client, self._keys)
        if found != what:
            raise StoreIncomplete(found or "")

    async def _refuse_taken(self) -> None:
        await refuse_taken(self, PREFIX + "/", prefix_end(PREFIX + "/"))

    async def _refuse_others(self) -> None:
        """Wait until nobody else writes; who was killed is gone after a while."""
        await self._entry.ensure()
        start, end = self._keys.writers_span
        deadline = asyncio.get_running_loop().time() + _OTHERS_LEAVE_S
        while True:
            found = await self._client.ask(messages.RANGE, RangeRequest(key=start, range_end=end, keys_only=True))
            others = [row.key for row in found.kvs if row.key != self._entry.key]
            if not others:
                return
            if asyncio.get_running_loop().time() >= deadline:
                raise SnapshotError("servers or copies write to the target's etcd under this prefix: end them first")
            await asyncio.sleep(_LOOK_S)

    async def _clear(self) -> None:
        start = self._keys.barrier
        while True:
            request = RangeRequest(key=start, range_end=self._keys.end, keys_only=True, limit=_DELETED_AT_ONCE)
            found = await self._client.ask(messages.RANGE, request)
            if not found.kvs:
                return
            end = found.kvs[-1].key + b"\0"
            await self._client.ask(messages.DELETE_RANGE, DeleteRangeRequest(key=start, range_end=end))
