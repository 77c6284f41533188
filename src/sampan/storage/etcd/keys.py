"""`PrefixedKeys`: maps keys, rows and events of the store to etcd's keys under the configured prefix, and back."""

from typing import Any

from sampan.storage.etcd.connection.messages import DELETE
from sampan.storage.etcd.connection.stream import CompactedInEtcd
from sampan.storage.etcd.settings import PREFIX
from sampan.storage.store import KeyValue, StoreEvent

_HEAD = PREFIX + "/"


class PrefixedKeys:
    """Keys under one prefix of etcd.

    The `barrier` is the prefix with a slash and nothing after it. It is no key of the store and in none of its ranges,
    but the watch of the prefix includes it.
    """

    def __init__(self, prefix: str) -> None:
        self._head = prefix.encode()
        self._is_default = prefix == PREFIX
        self.barrier = self._head + b"/"
        self.end = self._head + b"0"
        self._first = self.barrier + b"\0"
        self.incomplete = self._head + b".sampan/copying"
        """Key that marks an unfinished copy. It is outside all ranges and watches of the store."""
        self.copy_running = self._head + b".sampan/copy-running"
        """Key with a lease that exists while a copy runs."""

    def etcd_key(self, key: str) -> bytes:
        """Return the key in etcd. Raises `ValueError` if `key` is not under `/registry/`."""
        if len(key) <= len(_HEAD) or not key.startswith(_HEAD):
            raise ValueError(f"{key!r} is not a key under {_HEAD}")
        return key.encode() if self._is_default else self._head + key[len(PREFIX) :].encode()

    def store_key(self, key: bytes) -> str:
        """Return the store's name of a key in etcd."""
        return key.decode() if self._is_default else PREFIX + key[len(self._head) :].decode()

    def span(self, start: str, end: str) -> tuple[bytes, bytes]:
        """Return a range in etcd, limited to the prefix."""
        return self._bound(start), self._bound(end)

    def row(self, stored: Any) -> KeyValue:
        """Return a row of etcd's response as a row of the store."""
        return KeyValue(self.store_key(stored.key), stored.value, stored.create_revision, stored.mod_revision)

    def events(self, sent: Any, after: int) -> list[StoreEvent]:
        """Return the events that etcd sent with a revision above `after`, without those of the barrier.

        Raises `CompactedInEtcd` if the row before an event is missing, because etcd has compacted it meanwhile.
        """
        found: list[StoreEvent] = []
        for event in sent:
            row = event.kv
            revision = row.mod_revision
            if revision <= after or row.key == self.barrier:
                continue
            previous = self.row(event.prev_kv) if event.HasField("prev_kv") else None
            if previous is None and row.create_revision != revision:
                raise CompactedInEtcd(revision)
            value = None if event.type == DELETE else row.value
            found.append(StoreEvent(revision, self.store_key(row.key), value, previous))
        return found

    def _bound(self, bound: str) -> bytes:
        if bound <= _HEAD:
            return self._first
        return self.etcd_key(bound) if bound.startswith(_HEAD) else self.end
