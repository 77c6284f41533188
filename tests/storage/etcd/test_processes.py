"""Programs begin though gRPC is busy in this one, which crashes programs that are begun by fork."""

import asyncio
from collections import Counter

import uvloop

from sampan.core.operating_system.child_process import ChildProcess
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from tests.storage.etcd.server import Member

STARTS = 150
WRITERS = 8


def test_every_program_begins_though_grpc_is_busy(etcd: Member) -> None:
    assert uvloop.run(_exit_codes(etcd.url)) == {0: STARTS}


async def _exit_codes(etcd: str) -> Counter[int]:
    store = EtcdStore(EtcdSettings((etcd,)))
    await store.open()
    writing = [asyncio.create_task(_write(store, writer)) for writer in range(WRITERS)]
    codes: Counter[int] = Counter()
    for _ in range(STARTS):
        process = ChildProcess(["true"])
        codes[await process.wait()] += 1
        process.channel.close()
    for task in writing:
        task.cancel()
    await asyncio.gather(*writing, return_exceptions=True)
    await store.close()
    return codes


async def _write(store: EtcdStore, writer: int) -> None:
    revision = await store.create(f"/registry/pods/ns/{writer}", b"")
    while True:
        revision = await store.update(f"/registry/pods/ns/{writer}", b"", revision)
