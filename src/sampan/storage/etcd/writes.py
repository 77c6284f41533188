"""`Writes`: one etcd transaction for each write, which compares the row's mod revision and changes the row.

When the outcome of an attempt is unknown the same transaction is retried: its compare lets it write only once, because
a mod revision is never reused. If the compare then fails and the row has the written value, the earlier attempt did
write. If the row has any other value the outcome cannot be determined: `OutcomeUnknown`. A create is not retried but
read back: the created row may have been deleted meanwhile, and a retry would create it twice.
"""

from collections.abc import Callable
from typing import Any

from grpc.aio import AioRpcError

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import Attempts, EtcdClient
from sampan.storage.etcd.connection.faults import FailureKind, fault_of, text_of
from sampan.storage.etcd.connection.messages import Compare, PutRequest, RangeRequest, RequestOp, TxnRequest
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.reads import Reads
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


class Writes:
    """Writes of one store. `expected` is a mod revision. A revision that no row can have conflicts with every row.

    `on_write(event)` is called before a write returns, if the response contains the whole event.
    """

    def __init__(
        self,
        client: EtcdClient,
        keys: PrefixedKeys,
        reads: Reads,
        leases: Leases,
        on_write: Callable[[StoreEvent], object],
    ) -> None:
        self._client = client
        self._keys = keys
        self._reads = reads
        self._leases = leases
        self._on_write = on_write
        self.fence: Any = None
        """Compare that fails once another process has taken over. Each write includes it. None: no such compare."""

    async def create(self, key: str, value: bytes, ttl_s: int) -> Revision:
        """Write a key that must not exist."""
        return await self._put(key, value, _CREATE, ttl_s)

    async def update(self, key: str, value: bytes, expected: int, ttl_s: int) -> Revision:
        """Replace the row that is at mod revision `expected`."""
        return await self._put(key, value, expected or _NEVER, ttl_s)

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        name = self._keys.etcd_key(key)
        change = RequestOp(request_delete_range=messages.DeleteRangeRequest(key=name, prev_kv=True))
        return await self._write(key, change, expected or _NEVER, None)

    async def _put(self, key: str, value: bytes, expected: int, ttl_s: int) -> Revision:
        name = self._keys.etcd_key(key)
        while True:
            lease = await self._leases.take(ttl_s) if ttl_s > 0 else 0
            put = PutRequest(key=name, value=value, lease=lease, prev_kv=expected != _CREATE)
            try:
                return await self._write(key, RequestOp(request_put=put), expected, value)
            except _NoLease:
                self._leases.forget(lease)

    async def _write(self, key: str, change: Any, expected: int, value: bytes | None) -> Revision:
        name = self._keys.etcd_key(key)
        compare = [Compare(target=messages.TARGET_MOD, key=name, mod_revision=expected)]
        if self.fence is not None:
            compare.append(self.fence)
        failure = [RequestOp(request_range=RangeRequest(key=name))]
        request = TxnRequest(compare=compare, success=[change], failure=failure)
        try:
            reply, uncertain = await self._commit(request, repeatable=expected != _CREATE)
        except OutcomeUnknown:
            if expected != _CREATE:
                raise
            return _confirmed(await self._read_back(key), key, value, expected)
        if reply.succeeded:
            revision = Revision(reply.header.revision)
            previous = self._previous(reply.responses)
            if previous is not None or expected == _CREATE:
                self._on_write(StoreEvent(revision, key, value, previous))
            return revision
        found = reply.responses[0].response_range.kvs
        current = self._keys.row(found[0]) if found else None
        if self.fence is not None and (current.mod_revision if current else 0) == expected:
            raise StoreUnavailable("another process has taken over this prefix of etcd: nothing was written")
        if not uncertain:
            raise KeyExists(key) if expected == _CREATE else Conflict(key, current)
        return _confirmed(current, key, value, expected)

    def _previous(self, responses: Any) -> KeyValue | None:
        """Return the row before the write that has these responses."""
        for response in responses:
            if response.HasField("response_put"):
                put = response.response_put
                return self._keys.row(put.prev_kv) if put.HasField("prev_kv") else None
            for row in response.response_delete_range.prev_kvs:
                return self._keys.row(row)
        return None

    async def _read_back(self, key: str) -> KeyValue | None:
        """Return the row after a create of unknown outcome. Raises `OutcomeUnknown` if it cannot be read."""
        try:
            return await self._reads.get(key)
        except StoreUnavailable as error:
            raise OutcomeUnknown(str(error)) from error

    async def _commit(self, request: Any, *, repeatable: bool) -> tuple[Any, bool]:
        """Return etcd's response, and whether an earlier attempt may have written.

        `repeatable`: retry after an unknown outcome.
        """
        if self._client.availability.circuit_open:
            # Let a read be the probe: the outcome of a failed write would be unknown.
            await self._reads.revision()
        self._client.restores.check()
        uncertain = False
        with Attempts(self._client) as attempts:
            while True:
                try:
                    return await attempts.call(messages.TXN, request), uncertain
                except StoreUnreachable as error:  # another etcd has answered, see `RestoreDetector`
                    raise OutcomeUnknown(str(error)) from error
                except AioRpcError as error:
                    fault = fault_of(error)
                    uncertain = uncertain or fault is FailureKind.UNKNOWN
                    repeated = fault is FailureKind.NOT_DONE or (repeatable and fault is FailureKind.UNKNOWN)
                    if not repeated or not await attempts.prepare_retry(error):
                        raise _failure(error, fault, uncertain) from error


class _NoLease(Exception):
    """The lease of the write has expired."""


def _confirmed(row: KeyValue | None, key: str, value: bytes | None, expected: int) -> Revision:
    """Return the revision of the row if an attempt of unknown outcome wrote it. Raises `OutcomeUnknown` otherwise."""
    if row is None or row.value != value or row.mod_revision <= expected:
        raise OutcomeUnknown(f"etcd did not confirm the write of {key}: it may or may not have happened")
    return Revision(row.mod_revision)


def _failure(error: AioRpcError, fault: FailureKind, uncertain: bool) -> Exception:
    if uncertain:
        return OutcomeUnknown(text_of(error))
    if fault is FailureKind.NO_LEASE:
        return _NoLease()
    if fault is FailureKind.TOO_LARGE:
        return ValueTooLarge(f"{text_of(error)} (--max-request-bytes of etcd)")
    return StoreFull(text_of(error)) if fault is FailureKind.FULL else StoreUnavailable(text_of(error))
