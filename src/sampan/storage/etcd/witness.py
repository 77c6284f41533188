"""`Witness`: the last event of which etcd told, by which it is known again.

After a backup was restored etcd's revision may soon be beyond what was seen before, since somebody else writes: then no
number tells that it is not the etcd that it was. But at the revision of the last event it has something else.
"""

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.faults import Fault, fault_of
from sampan.storage.etcd.keys import Keys
from sampan.storage.store import KeyValue, StoreEvent


class Witness:
    """One for each watch of everything."""

    def __init__(self, client: EtcdClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._last: StoreEvent | None = None

    def saw(self, event: StoreEvent) -> None:
        """It happened after all that were seen before."""
        self._last = event

    async def check(self) -> None:
        """Raises `StoreUnreachable` when the last event did not happen, as far as etcd knows; or when it does not say.

        What etcd has forgotten cannot be checked. Who has seen less than that has missed something anyway.
        """
        last = self._last
        if last is None:
            return
        try:
            happened = await self._happened(last)
        except AioRpcError as error:
            if fault_of(error) is not Fault.COMPACTED:
                raise
        else:
            if not happened:
                self._client.history.differs(last.revision)

    async def _happened(self, event: StoreEvent) -> bool:
        row = await self._row(event.key, event.revision)
        if event.value is not None:
            return row is not None and (row.mod_revision, row.value) == (event.revision, event.value)
        return row is None and await self._row(event.key, event.revision - 1) is not None

    async def _row(self, key: str, revision: int) -> KeyValue | None:
        request = messages.RangeRequest(key=self._keys.stored(key), revision=revision)
        answer = await self._client.ask(messages.RANGE, request)
        return self._keys.row(answer.kvs[0]) if answer.kvs else None
