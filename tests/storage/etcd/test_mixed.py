"""An etcd whose members are upgraded one after the other: what one of them can do says nothing of the next."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore, messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.follower import Follower, Nudge, tells_progress
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.past import Past
from sampan.storage.hub import WatchHub
from tests.storage.etcd.fake import FakeEtcd, serving
from tests.storage.etcd.server import Member

KEYS = Keys("/registry")
PODS = ("/registry/pods/", "/registry/pods0")
DEADLINE_S = 10.0


class Versioned(FakeEtcd):
    """Whoever learns its version finds that others have left it meanwhile."""

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
async def test_a_watch_is_where_it_was_learned_how_it_is_nudged(kind: str) -> None:
    new, old = Versioned("3.6.0"), Versioned("3.5.1")
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(serving(fake)) for fake in (new, old)]
        client = new.client = old.client = EtcdClient(EtcdSettings(tuple(urls)))
        stack.push_async_callback(client.close)
        nudge = Nudge(client, KEYS)
        async with asyncio.timeout(DEADLINE_S):
            if kind == "live":
                hub = WatchHub(None)
                following = Follower(client, hub, KEYS, nudge)
                task = asyncio.create_task(following.run())
                await following.watching.wait()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            else:
                past = Past(client, KEYS, nudge, PODS, 5)
                await past.next(100)
                await past.close()
    assert (new.watches, old.watches) == (1, 0)


async def test_only_an_etcd_that_tells_progress_too_early_is_written_to_for_a_read(etcd: Member) -> None:
    store = EtcdStore(EtcdSettings((etcd.url,), always_ask=True))
    await store.open()
    written = etcd.ask("kv/put", {"key": base64.b64encode(b"outside").decode()})
    assert await store.revision() >= int(written["header"]["revision"])
    found = etcd.ask("kv/range", {"key": base64.b64encode(KEYS.barrier).decode()})
    assert ("kvs" in found) == (not tells_progress(etcd.ask("maintenance/status")["version"]))
    await store.close()
