"""What is wrong with an endpoint is told while another one serves, once, and that it is mended."""

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore, look_after_endpoints
from sampan.storage.store import StoreMisconfigured
from tests.storage.etcd.server import EtcdPool, Member, free_ports


class Enough(Exception):
    """Ends a loop."""


async def test_an_endpoint_that_cannot_be_used_is_told_of_once_and_when_it_can_again(
    etcd: Member, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="sampan.storage.etcd.lookout")
    absent = f"http://127.0.0.1:{free_ports(1)[0]}"
    wrong = etcd.url.replace("http:", "https:")
    looks: list[list[str]] = []

    async def sleep(seconds: float) -> None:
        looks.append([record.getMessage() for record in caplog.records])
        caplog.clear()
        if len(looks) == 2:
            etcd.kill()
        if len(looks) == 3:
            etcd.start([etcd])
            etcd.wait()
        if len(looks) == 4:
            raise Enough

    with pytest.raises(Enough):
        await look_after_endpoints(EtcdSettings((etcd.url, absent, wrong)), sleep)
    refuses = "cannot be used: it refuses connections: nobody listens there"
    speaks = f"the etcd at {wrong} cannot be used: it speaks without TLS: its URL begins with http://"
    assert looks[0] == [f"the etcd at {absent} {refuses}", speaks]
    assert looks[1] == []
    assert looks[2] == [f"the etcd at {etcd.url} {refuses}", f"the etcd at {wrong} {refuses}"]
    assert looks[3] == [speaks, f"the etcd at {etcd.url} can be used again"]


async def test_an_endpoint_of_another_cluster_that_comes_later_is_told_of(
    etcd: Member, etcd_pool: EtcdPool, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = etcd_pool.take()

    async def sleep(seconds: float) -> None:
        raise Enough

    try:
        with pytest.raises(Enough):
            await look_after_endpoints(EtcdSettings((etcd.url, stranger.url)), sleep)
    finally:
        stranger.discard()
    assert f"the etcd at {stranger.url} cannot be used: it is a member of another cluster (" in caplog.text


async def test_members_of_different_clusters_are_refused(etcd: Member, etcd_pool: EtcdPool) -> None:
    stranger = etcd_pool.take()
    store = EtcdStore(EtcdSettings((etcd.url, f"http://127.0.0.1:{free_ports(1)[0]}", stranger.url)))
    try:
        with pytest.raises(StoreMisconfigured) as refused:
            await store.open()
    finally:
        stranger.discard()
    said = str(refused.value)
    assert said.startswith(f"etcd cannot be used: {stranger.url} is a member of another cluster (")
    assert said.endswith("): --etcd-servers names the members of one cluster")
    assert f"than {etcd.url} (" in said
