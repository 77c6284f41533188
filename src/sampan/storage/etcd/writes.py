"""`Writes`: one transaction of etcd for each write, which compares the row's revision and changes it.

When it is not known whether an attempt wrote, the same transaction is tried again: its compare lets it write only once,
as a mod revision never comes back. If the compare then fails, and the row is what the write would have made it, that
attempt did write. If it is anything else, nobody can say any more: `OutcomeUnknown`. A create is not tried again but
looked for: what it made may have been deleted meanwhile, and would be made twice.

Each transaction also compares that this store's row among those that write is there (`Entry`). When it is not, nothing
was written, and no attempt before it can come to write any more: the write begins anew with another row.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import Attempts, EtcdClient
from sampan.storage.etcd.entry import Entry
from sampan.storage.etcd.faults import Fault, fault_of, text_of
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.messages import Compare, PutRequest, RangeRequest, RequestOp, TxnRequest
from sampan.storage.store import (
    Conflict,
    KeyExists,
    KeyValue,
    OutcomeUnknown,
    Revision,
    StoreEvent,
    StoreFull,
    StoreUnavailable,
    StoreUnreachable,
    ValueTooLarge,
)

_NEVER = -1
_CREATE = 0
_ENTRIES_MAX = 3


class Writes:
    """`expected` is a mod revision; those that no row has conflict with whatever is there.

    `wrote(event)` is told of each write of which etcd's answer tells everything, before the writer is.
    """

    def __init__(
        self,
        client: EtcdClient,
        keys: Keys,
        leases: Leases,
        entry: Entry,
        wrote: Callable[[StoreEvent], Awaitable[None]],
    ) -> None:
        self._client = client
        self._keys = keys
        self._leases = leases
        self._entry = entry
        self._wrote = wrote

    async def create(self, key: str, value: bytes, ttl_s: int) -> Revision:
        """See `Store.create`."""
        return await self._put(key, value, _CREATE, ttl_s)

    async def update(self, key: str, value: bytes, expected: int, ttl_s: int) -> Revision:
        """See `Store.update`."""
        return await self._put(key, value, expected if expected > 0 else _NEVER, ttl_s)

    async def delete(self, key: str, expected: int) -> Revision:
        """See `Store.delete`."""
        name = self._keys.stored(key)
        change = RequestOp(request_delete_range=messages.DeleteRangeRequest(key=name, prev_kv=True))
        return await self._write(key, change, expected if expected > 0 else _NEVER, None)

    async def _put(self, key: str, value: bytes, expected: int, ttl_s: int) -> Revision:
        name = self._keys.stored(key)
        while True:
            lease = await self._leases.take(ttl_s) if ttl_s > 0 else 0
            put = PutRequest(key=name, value=value, lease=lease, prev_kv=expected != _CREATE)
            try:
                return await self._write(key, RequestOp(request_put=put), expected, value)
            except _NoLease:
                self._leases.forget(lease)

    async def _write(self, key: str, change: Any, expected: int, value: bytes | None) -> Revision:
        for _ in range(_ENTRIES_MAX):
            if not self._entry.present:
                await self._entry.ensure()
            entry = self._entry.key
            try:
                return await self._write_once(key, change, expected, value)
            except _NoEntry:
                self._entry.lost(entry)
        raise StoreUnavailable(f"the row of this server in etcd vanished {_ENTRIES_MAX} times")

    async def _write_once(self, key: str, change: Any, expected: int, value: bytes | None) -> Revision:
        name = self._keys.stored(key)
        request = TxnRequest(
            compare=[Compare(target=messages.TARGET_MOD, key=name, mod_revision=expected), self._entry.compare],
            success=[change],
            failure=[RequestOp(request_range=RangeRequest(key=name)), self._entry.look],
        )
        try:
            answer, perhaps = await self._commit(request, again=expected != _CREATE)
        except OutcomeUnknown:
            if expected != _CREATE or value is None:
                raise
            return await self._found(key, value)
        if answer.succeeded:
            revision = Revision(answer.header.revision)
            previous = self._previous(answer.responses)
            if previous is not None or expected == _CREATE:
                await self._wrote(StoreEvent(revision, key, value, previous))
            return revision
        await self._client.told.tell(answer.header.revision)
        found, looked = (response.response_range for response in answer.responses)
        current = self._keys.row(found.kvs[0]) if found.kvs else None
        if self._entry.missing(looked) and (not perhaps or _revision(current) == expected):
            raise _NoEntry
        if not perhaps:
            raise KeyExists(key) if expected == _CREATE else Conflict(key, current)
        if current is None or current.value != value or current.mod_revision <= expected:
            raise OutcomeUnknown(f"etcd did not say whether {key} was written")
        return Revision(current.mod_revision)

    def _previous(self, responses: Any) -> KeyValue | None:
        """The row before a write, of which these are the responses."""
        for response in responses:
            if response.HasField("response_put"):
                put = response.response_put
                return self._keys.row(put.prev_kv) if put.HasField("prev_kv") else None
            for row in response.response_delete_range.prev_kvs:
                return self._keys.row(row)
        return None

    async def _found(self, key: str, value: bytes) -> Revision:
        """The revision of a row that has this value, as a create of unknown outcome would have made it."""
        try:
            answer = await self._client.ask(messages.RANGE, RangeRequest(key=self._keys.stored(key)))
        except StoreUnavailable as error:
            raise OutcomeUnknown(str(error)) from error
        await self._client.told.tell(answer.header.revision)
        if not answer.kvs or answer.kvs[0].value != value:
            raise OutcomeUnknown(f"etcd did not say whether {key} was written")
        return Revision(answer.kvs[0].mod_revision)

    async def _commit(self, request: Any, *, again: bool) -> tuple[Any, bool]:
        """etcd's answer, and whether an attempt before it may have written. `again`: it may be tried after one."""
        if self._client.reach.away:
            # A read finds out whether it still is: of a write that fails nobody could say whether it was made.
            await self._client.ask(messages.RANGE, RangeRequest(key=self._keys.barrier, keys_only=True))
        self._client.history.check()
        perhaps = False
        with Attempts(self._client) as attempts:
            while True:
                try:
                    return await attempts.call(messages.TXN, request), perhaps
                except StoreUnreachable as error:  # another etcd answered
                    raise OutcomeUnknown(str(error)) from error
                except AioRpcError as error:
                    fault = fault_of(error)
                    perhaps = perhaps or fault is Fault.UNKNOWN
                    repeated = fault is Fault.NOT_DONE or (again and fault is Fault.UNKNOWN)
                    if not repeated or not await attempts.another():
                        raise _failure(error, fault, perhaps) from error


class _NoEntry(Exception):
    """The row of this store is gone."""


class _NoLease(Exception):
    """The lease of the write has expired."""


def _revision(row: KeyValue | None) -> int:
    return 0 if row is None else row.mod_revision


def _failure(error: AioRpcError, fault: Fault, perhaps: bool) -> Exception:
    if perhaps:
        return OutcomeUnknown(text_of(error))
    if fault is Fault.NO_LEASE:
        return _NoLease()
    if fault is Fault.TOO_LARGE:
        return ValueTooLarge(f"{text_of(error)} (--max-request-bytes of etcd)")
    return StoreFull(text_of(error)) if fault is Fault.FULL else StoreUnavailable(text_of(error))
