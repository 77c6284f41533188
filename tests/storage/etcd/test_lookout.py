"""What is wrong with an endpoint is told while another one serves, once, and that it is mended."""

import pytest

from sampan.storage.etcd import EtcdSettings, look_after_endpoints
from tests.storage.etcd.server import Member, free_ports


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
