"""`EtcdRows`: the content of a store in etcd.

etcd does not report when a row expires, so such a row gets its whole lifetime again.
"""

from typing import Final

from sampan.app.engines.contents import OBJECTS
from sampan.core.clock import unix_time
from sampan.registry.kinds.core import event
from sampan.server.post_start_hooks.api_servers import addresses
from sampan.storage.snapshot.rows import StoreRows
from sampan.storage.store import KeyValue, Store, prefix_end

_TTL_S: Final = {"/registry/events/": event.TTL_S, addresses.PREFIX: addresses.TTL_S}
"""Lifetimes of rows by prefixes of their keys. Nothing else expires in Kubernetes."""


class EtcdRows(StoreRows):
    """Rows of all objects at one revision."""

    def __init__(self, store: Store, engine: str) -> None:
        super().__init__(store, engine, expires_at=_expiry, start=OBJECTS, end=prefix_end(OBJECTS))


def _expiry(row: KeyValue) -> float:
    for prefix, ttl_s in _TTL_S.items():
        if row.key.startswith(prefix):
            return unix_time() + ttl_s
    return 0
