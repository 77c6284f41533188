"""`mark_of`: the row that says that what is under the prefix is a part of a copy (see `copy_target.py`)."""

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.messages import RangeRequest


async def mark_of(client: EtcdClient, keys: Keys) -> str | None:
    """Which copy has begun and not ended; None: none. Raises `StoreUnreachable`."""
    found = await client.ask(messages.RANGE, RangeRequest(key=keys.copying))
    return found.kvs[0].value.decode(errors="replace") if found.kvs else None
