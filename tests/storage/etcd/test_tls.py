"""etcd behind TLS, with client certificates."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.server.pki.certificates import make_ca
from sampan.server.tls.sni import CertKey
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.storage.etcd.connection.stream import WatchStream
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreMisconfigured, StoreUnreachable
from tests.server.tls_files import NOW, Files, make_files
from tests.storage.etcd.server import START_TIMEOUT_S, Member, behind_tls

KEY = "/registry/pods/ns/a"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return make_files(tmp_path)


@pytest.fixture
def server(files: Files) -> Iterator[Member]:
    with behind_tls(files, files.serving("etcd", "localhost", "127.0.0.1")) as member:
        yield member


def settings(server: Member, ca_file: Path, pair: CertKey | None) -> EtcdSettings:
    certificate, key = (pair.certificate, pair.key) if pair else (None, None)
    return EtcdSettings((server.url,), "/registry", ca_file, certificate, key, attempt_s=0.5, total_s=0.5)


async def test_a_store_behind_tls_is_written_read_and_watched(server: Member, files: Files) -> None:
    store = EtcdStore(settings(server, files.ca_file, files.client("sampan")))
    await store.open()
    async with store.watch("/registry/pods/", "/registry/pods0", 1) as watch:
        revision = await store.create(KEY, b"1")
        assert [event.revision for event in (await anext(watch)).events] == [revision]
    row = await store.get(KEY)
    assert row is not None
    assert row.value == b"1"
    await store.close()


@pytest.mark.parametrize("wrong", ["no certificate", "another CA's certificate", "another CA's server"])
async def test_a_client_that_is_not_known_does_not_get_in(
    server: Member, files: Files, tmp_path: Path, wrong: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    outsiders = make_files(other)
    ca_file, pair = {
        "no certificate": (files.ca_file, None),
        "another CA's certificate": (files.ca_file, outsiders.client("stranger")),
        "another CA's server": (outsiders.ca_file, files.client("sampan")),
    }[wrong]
    store = EtcdStore(settings(server, ca_file, pair))
    with pytest.raises(StoreMisconfigured):
        await store.open()
    await store.close()


async def test_certificates_that_are_renewed_on_disk_are_used_without_a_restart(server: Member, files: Files) -> None:
    store = EtcdStore(settings(server, files.ca_file, files.client("sampan")))
    await store.open()
    server.stop()
    renewed = Files(files.folder, make_ca("the next CA", NOW))
    renewed.write("ca", renewed.ca)
    renewed.serving("etcd", "localhost", "127.0.0.1")
    renewed.client("sampan")
    server.start([server])
    server.wait()
    async with asyncio.timeout(START_TIMEOUT_S):
        while not await read(store):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await store.close()


async def read(store: EtcdStore) -> bool:
    """Return True if etcd responds."""
    try:
        await store.get(KEY)
    except StoreUnreachable:
        return False
    return True


async def test_renewed_certificates_are_used_when_their_key_is_there_too(
    server: Member, files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    own = files.client("sampan")
    endpoint = EtcdEndpoint(server.url, settings(server, files.ca_file, own))
    before = own.key.read_bytes()
    files.client("sampan")
    after, _ = own.key.read_bytes(), own.key.write_bytes(before)
    endpoint.renew()
    endpoint.renew()
    assert await endpoint.call(messages.STATUS, messages.StatusRequest(), 2.0)
    assert [record.message for record in caplog.records if "is not the key of the certificate" in record.message]
    own.key.write_bytes(after)
    endpoint.renew()
    assert await endpoint.call(messages.STATUS, messages.StatusRequest(), 2.0)
    assert len([record for record in caplog.records if record.name.startswith("sampan")]) == 1
    await endpoint.close()


async def test_calls_under_way_go_on_when_certificates_are_renewed(server: Member, files: Files) -> None:
    endpoint = EtcdEndpoint(server.url, settings(server, files.ca_file, files.client("sampan")))
    stream = WatchStream(endpoint.stream(messages.WATCH))
    await stream.begin(KEY.encode(), b"", 0)
    files.client("sampan")
    endpoint.renew()
    await endpoint.call(messages.PUT, messages.PutRequest(key=KEY.encode(), value=b"1"), 2.0)
    assert [event.kv.value for event in (await stream.next()).events] == [b"1"]
    stream.close()
    await endpoint.close()
