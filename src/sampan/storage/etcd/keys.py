"""`Keys`: how the store's keys, which begin with `/registry/`, are called in etcd; and rows and events under them."""

from typing import Any

from sampan.storage.etcd.messages import DELETE
from sampan.storage.etcd.settings import PREFIX
from sampan.storage.etcd.stream import CompactedInEtcd
from sampan.storage.store import KeyValue, StoreEvent

_HEAD = PREFIX + "/"


class Keys:
    """The keys under one prefix of etcd.

    The prefix with a slash and nothing behind it is the `barrier`: no key of the store and in none of its ranges, but
    its watch sees it.
    """

    def __init__(self, prefix: str) -> None:
        self._head = prefix.encode()
        self._same = prefix == PREFIX
        self.barrier = self._head + b"/"
        self.end = self._head + b"0"
        self._first = self.barrier + b"\0"
        self.writers = self._head + b".sampan/writers/"
        """What the rows of those who write begin with: beside the prefix, in no range or watch of the store."""
        self.copying = self._head + b".sampan/copying"
        """The row that says that what is under the prefix is a part of a copy; it is beside the prefix too."""
        self.writers_span = self.writers, self.writers[:-1] + b"0"

    def stored(self, key: str) -> bytes:
        """A key in etcd. Raises `ValueError` for one that is not under `/registry/`."""
        if len(key) <= len(_HEAD) or not key.startswith(_HEAD):
            raise ValueError(f"{key!r} is not a key under {_HEAD}")
        return key.encode() if self._same else self._head + key[len(PREFIX) :].encode()

    def shown(self, key: bytes) -> str:
        """The store's name of a key in etcd."""
        return key.decode() if self._same else PREFIX + key[len(self._head) :].decode()

    def span(self, start: str, end: str) -> tuple[bytes, bytes]:
        """A range in etcd: the part of it that is under the prefix."""
        return self._bound(start), self._bound(end)

    def row(self, stored: Any) -> KeyValue:
        """A row of an answer."""
        return KeyValue(self.shown(stored.key), stored.value, stored.create_revision, stored.mod_revision)

    def events(self, sent: Any, after: int) -> list[StoreEvent]:
        """The events that etcd sent, those of later revisions than `after`, without the barrier's.

        Raises `CompactedInEtcd` when etcd has forgotten meanwhile what was before one of them: it then leaves that out.
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
            found.append(StoreEvent(revision, self.shown(row.key), value, previous))
        return found

    def _bound(self, bound: str) -> bytes:
        if bound <= _HEAD:
            return self._first
        return self.stored(bound) if bound.startswith(_HEAD) else self.end
