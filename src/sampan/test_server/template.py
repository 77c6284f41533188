"""Template of a cluster: the objects of every new cluster. A test server starts with them.

A process for each range of Services starts a server and takes the objects from its store. It sends them to the warm
parent through a pipe. The parent itself runs no event loop and no threads, because it forks.
"""

import pickle
import re
from dataclasses import dataclass
from typing import Final

from sampan.core.clock import utc_now
from sampan.core.time import format_time
from sampan.registry.rest.metadata import new_uid
from sampan.storage.memory import MemoryStore

_OF_ONE_SERVER: Final = ("/endpoints/", "/endpointslices/", "/leases/", "/masterleases/")
_UID: Final = re.compile(rb'(?<="uid":")[0-9a-f-]{36}(?=")')
_TIME: Final = re.compile(rb'(?<="creationTimestamp":")[^"]+(?=")')


@dataclass(frozen=True, slots=True)
class ClusterTemplate:
    """Rows of a new cluster."""

    rows: tuple[tuple[str, bytes], ...]

    def store(self) -> MemoryStore:
        """Return a store with these objects.

        They get new UIDs and the current creation time, so that clusters are not confused.
        """
        now = format_time(utc_now()).encode()
        return MemoryStore.holding((key, _TIME.sub(now, _UID.sub(_new_uid, value))) for key, value in self.rows)

    def encode(self) -> bytes:
        """Return the bytes for the parent."""
        return pickle.dumps(self.rows)


def decode_template(content: bytes) -> ClusterTemplate:
    """Return the template that a process of this parent has sent."""
    return ClusterTemplate(pickle.loads(content))  # the parent has forked the sender


async def taken_from(store: MemoryStore) -> ClusterTemplate:
    """Return the rows of a store, without those that describe its server."""
    found = await store.range("", "\U0010ffff")
    return ClusterTemplate(tuple((row.key, row.value) for row in found.items if not _describes_server(row.key)))


def _describes_server(key: str) -> bool:
    return any(part in key for part in _OF_ONE_SERVER)


def _new_uid(match: "re.Match[bytes]") -> bytes:
    return new_uid().encode()
