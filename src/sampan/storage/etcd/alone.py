"""`Alone`: whether this store is the only one that writes. While it is, its own watches have all there is to read.

A question to etcd finds out: whether there are rows of other stores (`entry.py`), or of kube-apiservers, which say
under `masterleases/` where they are. What it finds holds for a while from when it was asked, as nobody begins to write
sooner after coming. A read that is served meanwhile is as fresh as one for which etcd was asked: what is acknowledged
to anybody was written by this store. Whoever stood still in between finds that too much time has passed.

kube-apiserver does not wait. While one starts, until its row is there, what it writes may be read here as late as a
watch brings it: some milliseconds.
"""

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.entry import Entry
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.messages import RangeRequest, RequestOp, TxnRequest
from sampan.storage.store import prefix_end

MASTER_LEASES: Final = "/registry/masterleases/"
_log = logging.getLogger(__name__)
_LOOK_S = 0.2
"""How often is looked whether others, who were there, still are."""


def _seconds() -> float:
    """A clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Alone:
    """See the module. `hold_s`: how long it holds that nobody else was there. `clock` gives seconds."""

    def __init__(
        self, client: EtcdClient, keys: Keys, entry: Entry, hold_s: float, clock: Callable[[], float] = _seconds
    ) -> None:
        self._client = client
        self._keys = keys
        self._entry = entry
        self._hold_s = hold_s
        self._clock = clock
        self._own: set[bytes] = set()
        """Which of the rows that say where servers are this store has written."""
        self._noted: bool | None = None
        self._until = self._look_at = self._doubted_at = float("-inf")
        masters = keys.span(MASTER_LEASES, prefix_end(MASTER_LEASES))
        self._question = TxnRequest(success=[_keys_of(*keys.writers_span), _keys_of(*masters)])

    @property
    def holds(self) -> bool:
        """Whether it is known that nobody else writes now."""
        return self._clock() < self._until

    @property
    def due(self) -> bool:
        """Whether it is time to ask again, so that it goes on to hold."""
        return self._clock() > self._until - self._hold_s / 2

    def writes(self, key: str) -> None:
        """This store is about to write the key."""
        if key.startswith(MASTER_LEASES):
            self._own.add(self._keys.stored(key))

    def doubt(self, key: str) -> None:
        """Somebody has written the key, which is under `MASTER_LEASES`."""
        if self._keys.stored(key) not in self._own:
            self._until = float("-inf")
            self._doubted_at = self._clock()

    async def ask(self) -> int:
        """etcd's newest revision, and perhaps whether others are there. Raises `StoreUnreachable`."""
        asked = self._clock()
        if asked < self._look_at:
            answer = await self._client.ask(messages.RANGE, RangeRequest(key=self._keys.barrier, keys_only=True))
        else:
            answer = await self._client.ask(messages.TXN, self._question)
            others = self._others(answer)
            self._note(others=others)
            if others:
                self._until = float("-inf")
                self._look_at = asked + _LOOK_S
            elif asked > self._doubted_at:
                self._until = asked + self._hold_s
        revision: int = answer.header.revision
        return revision

    def _note(self, *, others: bool) -> None:
        if others is not self._noted:
            self._noted = others
            _log.info(
                "other servers write to this etcd too: it is asked before each read"
                if others
                else "no other server writes to this etcd: it is not asked before each read"
            )

    def _others(self, answer: Any) -> bool:
        writers, masters = (response.response_range.kvs for response in answer.responses)
        return any(row.key != self._entry.key for row in writers) or any(row.key not in self._own for row in masters)


def _keys_of(start: bytes, end: bytes) -> Any:
    return RequestOp(request_range=RangeRequest(key=start, range_end=end, keys_only=True))
