"""`Others`: who else writes to this etcd, and so whom to ask how far a read has to be.

A look at etcd finds out: it reads the rows of all stores that write (`entry.py`), and those by which kube-apiservers
say where they are, under `masterleases/`. What it finds holds for a while from when it was asked, as nobody begins to
write sooner after coming. Meanwhile a read has to show what this store and those others have told anybody of, and
nothing else: a store that is alone knows that by itself, and so does one to which the others have promised to tell
nothing new (`told.py`); else they are asked (`peers.py`), which is cheaper than to ask etcd. Whoever stood still in
between finds that too much time has passed. When one of them does not answer soon, or a kube-apiserver is there, etcd
is asked.

kube-apiserver does not wait. While one starts, until its row is there, what it writes may be read here as late as a
watch brings it: some milliseconds.

Concurrency: looks are tasks of this object, one at a time; `close` ends them.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

from sampan.core.seconds import seconds
from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.entry import Entry
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.messages import RangeRequest, RequestOp, TxnRequest
from sampan.storage.etcd.peers import Peers
from sampan.storage.etcd.shared import SharedAsk
from sampan.storage.store import prefix_end

MASTER_LEASES: Final = "/registry/masterleases/"
"""Here servers say where they are. kube-apiserver's keys end in an address, those of this program in a port too."""
_log = logging.getLogger(__name__)
_LOOK_S = 0.2
"""How often is looked whether kube-apiservers, who were there, still are."""


class Others:
    """See the module. `hold_s`: how long it holds who was there. `clock` gives seconds."""

    def __init__(
        self,
        client: EtcdClient,
        keys: Keys,
        entry: Entry,
        peers: Peers,
        hold_s: float,
        clock: Callable[[], float] = seconds,
    ) -> None:
        self._client = client
        self._entry = entry
        self._peers = peers
        self._hold_s = hold_s
        self._clock = clock
        self._rows: dict[bytes, bytes] = {}
        """Those of other stores, at the last look."""
        self._noted = ""
        self._until = self._look_at = self._doubted_at = float("-inf")
        self._masters = keys.stored(MASTER_LEASES)
        masters = keys.span(MASTER_LEASES, prefix_end(MASTER_LEASES))
        self._question = TxnRequest(success=[_range(*keys.writers_span), _range(*masters, keys_only=True)])
        self._barrier = RangeRequest(key=keys.barrier, keys_only=True)
        self._looks = SharedAsk(self._look)

    @property
    def known(self) -> bool:
        """Whether it is known who else writes now."""
        return self._clock() < self._until

    async def alone(self) -> bool:
        """Whether nobody else writes now. Sees to it that it goes on to be known. Raises `StoreUnreachable`."""
        if self.known:
            self._look_in_time()
        elif self._hold_s and self._clock() >= self._look_at:
            await self._looks.get()
        return self.known and not self._rows

    def doubt(self, key: str) -> None:
        """Somebody has written the key, which is under `MASTER_LEASES`."""
        if _of_kube_apiserver(key[len(MASTER_LEASES) :]):
            self._until = float("-inf")
            self._doubted_at = self._clock()

    def promised(self) -> int | None:
        """The revision of which nobody else tells a newer one now. None: that is not known, ask.

        Sees to it that it goes on to be known.
        """
        if not self.known:
            return None
        self._look_in_time()
        return self._peers.promised()

    async def ask(self) -> int:
        """A revision: what others had told anybody of before is no newer. Raises `StoreUnreachable`."""
        if self.known:
            self._look_in_time()
            newest = await self._peers.ask()
            if newest is not None:
                return newest
        elif self._hold_s and self._clock() >= self._look_at:
            return await self._looks.get()
        answer = await self._client.ask(messages.RANGE, self._barrier)
        revision: int = answer.header.revision
        return revision

    def close(self) -> None:
        """Look no more. Idempotent."""
        self._looks.close()

    def _look_in_time(self) -> None:
        if self._clock() > self._until - self._hold_s / 2 and not self._looks.asking:
            self._looks.begin()

    async def _look(self) -> int:
        """etcd's newest revision, and perhaps who is there. Raises `StoreUnreachable`."""
        asked, own = self._clock(), self._entry.key if self._entry.present else b""
        answer = await self._client.ask(messages.TXN, self._question)
        writers, masters = (response.response_range.kvs for response in answer.responses)
        found = {row.key: row.value for row in writers}
        if own:
            self._entry.check(own, found)
        rows = {key: value for key, value in found.items() if key != self._entry.key}
        if rows != self._rows or asked >= self._until:
            # Who was there before and is not any more is not asked: what it wrote counts all the same.
            self._client.told.note(answer.header.revision)
        self._rows = rows
        self._peers.keep(rows.values())
        if any(_of_kube_apiserver(row.key[len(self._masters) :].decode()) for row in masters):
            self._until = float("-inf")
            self._look_at = asked + _LOOK_S
            self._note("a kube-apiserver writes to this etcd too: it is asked before each read")
        elif asked > self._doubted_at:
            self._until = asked + self._hold_s
            self._note(_those(len(rows)))
        revision: int = answer.header.revision
        return revision

    def _note(self, found: str) -> None:
        if found != self._noted:
            self._noted = found
            _log.info(found)


def _those(number: int) -> str:
    if number:
        servers = "another server writes" if number == 1 else f"{number} other servers write"
        return f"{servers} to this etcd too: reads ask there, if anybody, and etcd where nobody answers"
    return "no other server writes to this etcd: it is not asked before each read"


def _of_kube_apiserver(name: str) -> bool:
    """Whether the name of a row under `MASTER_LEASES` has no port: an IPv4 address, or an IPv6 one without brackets."""
    host, _, port = name.rpartition(":")
    return not port.isdecimal() or (":" in host and not host.endswith("]")) or not host


def _range(start: bytes, end: bytes, *, keys_only: bool = False) -> Any:
    return RequestOp(request_range=RangeRequest(key=start, range_end=end, keys_only=keys_only))
