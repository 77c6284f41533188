"""`ProgressRequester`: makes a watch of etcd report its revision when no event does."""

from typing import Any

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.storage.etcd.connection.stream import WatchStream
from sampan.storage.etcd.keys import PrefixedKeys

_RELIABLE_SINCE: dict[tuple[int, ...], tuple[int, ...]] = {(3, 4): (3, 4, 31), (3, 5): (3, 5, 13)}
"""First patch release with reliable progress notifications, by minor version. All releases from 3.6 on are reliable."""
_WAIT_S = 0.01
_WAIT_BEFORE_WRITE_S = 0.25


def has_reliable_progress(version: str) -> bool:
    """Return True if this etcd sends a progress notification only after all events up to its revision.

    Source: apiserver storage/feature/feature_support_checker.go (1.36).
    """
    try:
        numbers = tuple(int(part) for part in version.partition("-")[0].split("."))
    except ValueError:
        return False
    return numbers >= _RELIABLE_SINCE.get(numbers[:2], (3, 6))


class ProgressRequester:
    """Requester of one watch: each has its own, because members have different versions during an upgrade.

    Where progress notifications are unreliable the requester writes the barrier key instead, and the watch receives
    that write.
    """

    def __init__(self, client: EtcdClient, keys: PrefixedKeys) -> None:
        self._client = client
        self._keys = keys
        self.by_write = True
        """True if the barrier key is written. The watch must then cover the whole prefix."""

    async def choose_endpoint(self) -> EtcdEndpoint:
        """Return the endpoint whose version decides the method: the watch must use it. Raises `StoreUnreachable`."""
        version, endpoint = await self._client.version()
        self.by_write = not has_reliable_progress(version)
        return endpoint

    @property
    def wait_s(self) -> float:
        """Time to wait for events before each request."""
        return _WAIT_BEFORE_WRITE_S if self.by_write else _WAIT_S

    async def request(self, stream: WatchStream) -> None:
        """Request progress once. Raises `AioRpcError`, `StoreUnavailable`."""
        if self.by_write:
            await self._client.call(messages.PUT, messages.PutRequest(key=self._keys.barrier))
        else:
            await stream.request_progress()

    def revision_of(self, response: Any) -> int:
        """Return the revision that a watch has reached with this response; 0 if the response does not show it."""
        if response.events:
            revision: int = response.events[-1].kv.mod_revision
            return revision
        return 0 if self.by_write or response.created else int(response.header.revision)
