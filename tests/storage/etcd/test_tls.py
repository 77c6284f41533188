"""etcd behind TLS, with client certificates."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.server.sni import CertKey
from sampan.storage.etcd import EtcdSettings, EtcdStore
from sampan.storage.store import StoreMisconfigured
from tests.server.tls_files import Files, make_files
from tests.storage.etcd.server import Member, behind_tls

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
async def test_who_is_not_known_does_not_get_in(server: Member, files: Files, tmp_path: Path, wrong: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    strangers = make_files(other)
    ca_file, pair = {
        "no certificate": (files.ca_file, None),
        "another CA's certificate": (files.ca_file, strangers.client("stranger")),
        "another CA's server": (strangers.ca_file, files.client("sampan")),
    }[wrong]
    store = EtcdStore(settings(server, ca_file, pair))
    with pytest.raises(StoreMisconfigured):
        await store.open()
    await store.close()
