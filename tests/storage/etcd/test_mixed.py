"""An etcd whose members are upgraded one after the other: their features differ meanwhile."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.history_reader import HistoryReader
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.prefix_watch import PrefixWatch
from sampan.storage.etcd.progress import has_reliable_progress
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.store import EtcdStore
from tests.storage.etcd.fake import FakeEtcd, serving
from tests.storage.etcd.server import Member

KEYS = PrefixedKeys("/registry")
PODS = ("/registry/pods/", "/registry/pods0")
DEADLINE_S = 10.0


class Versioned(FakeEtcd):
    """Member that other calls of the client leave while its version is read."""

    def __init__(self, version: str) -> None:
        super().__init__(self._never)
        self.client: EtcdClient
        self.watches = 0
        self._version = version

    async def status(self, request: Any, context: Any) -> Any:
        self.client.leave(self.client.endpoint)
        return messages.STATUS.response(version=self._version)

    async def watch(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        self.watches += 1
        async for response in super().watch(requests, context):
            yield response

    async def _never(self, request: Any, context: Any) -> Any:
        raise AssertionError("nothing is written")


@pytest.mark.parametrize("kind", ["live", "past"])
async def test_a_watch_uses_the_endpoint_whose_version_chose_how_it_requests_progress(kind: str) -> None:
    new, old = Versioned("3.6.0"), Versioned("3.5.1")
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(serving(fake)) for fake in (new, old)]
        client = new.client = old.client = EtcdClient(EtcdSettings(tuple(urls)))
        stack.push_async_callback(client.close)
        async with asyncio.timeout(DEADLINE_S):
            if kind == "live":
                broadcaster = WatchBroadcaster(None)
                following = PrefixWatch(client, broadcaster, KEYS, Reads(client, KEYS))
                task = asyncio.create_task(following.run())
                await following.established.wait()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            else:
                history = HistoryReader(client, KEYS, PODS, 5)
                await history.next(100)
                await history.close()
    assert (new.watches, old.watches) == (1, 0)


async def test_a_read_writes_the_barrier_only_where_progress_notifications_are_unreliable(etcd: Member) -> None:
    store = EtcdStore(EtcdSettings((etcd.url,)))
    await store.open()
    written = etcd.call("kv/put", {"key": base64.b64encode(b"outside").decode()})
    assert await store.revision() >= int(written["header"]["revision"])
    found = etcd.call("kv/range", {"key": base64.b64encode(KEYS.barrier).decode()})
    assert ("kvs" in found) == (not has_reliable_progress(etcd.call("maintenance/status")["version"]))
    await store.close()
