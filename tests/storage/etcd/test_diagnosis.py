"""Why etcd cannot be used is said in words for whoever started the server, and nobody waits for what will not pass."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from sampan.server.sni import CertKey
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreMisconfigured, StoreUnreachable
from tests.server.tls_files import YEARS_AGO, Files, make_files
from tests.storage.etcd.fake import FakeEtcd, serving
from tests.storage.etcd.server import Member, behind_tls, free_ports


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("strangers"))


@pytest.fixture(scope="module")
def secured(files: Files) -> Iterator[Member]:
    with behind_tls(files, files.serving("etcd", "localhost", "127.0.0.1")) as member:
        yield member


@pytest.fixture(scope="module")
def misnamed(files: Files) -> Iterator[Member]:
    with behind_tls(files, files.serving("misnamed", "etcd-a", "10.0.0.9")) as member:
        yield member


@contextmanager
def speaking(said: bytes) -> Iterator[int]:
    """A port at which every client is told this; nothing: it is not answered."""
    with socket.create_server(("127.0.0.1", 0)) as sock:

        def serve() -> None:
            with ExitStack() as kept, suppress(OSError):
                while True:
                    connection = kept.enter_context(sock.accept()[0])
                    if said:
                        connection.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        yield sock.getsockname()[1]
        sock.shutdown(socket.SHUT_RDWR)
        thread.join()


async def said(server: str, ca: Path | None = None, pair: CertKey | None = None) -> str:
    """What is said when a store is opened, which cannot be."""
    certificate, key = (pair.certificate, pair.key) if pair else (None, None)
    settings = EtcdSettings((server,), "/registry", ca, certificate, key, attempt_s=0.3, total_s=0.3)
    store = EtcdStore(settings)
    with pytest.raises(StoreMisconfigured) as raised:
        async with asyncio.timeout(10):
            await store.open()
    return str(raised.value)


async def test_an_etcd_without_tls_is_told_of_its_url(etcd: Member, files: Files) -> None:
    url = etcd.url.replace("http:", "https:")
    assert f"{url} speaks without TLS: its URL begins with http://" in await said(url, files.ca_file)


async def test_an_etcd_with_tls_is_told_of_its_url(secured: Member) -> None:
    url = secured.url.replace("https:", "http:")
    assert f"{url} speaks TLS: its URL begins with https://" in await said(url)


async def test_an_unknown_authority_is_named_with_the_file(secured: Member, files: Files, strangers: Files) -> None:
    text = await said(secured.url, strangers.ca_file, files.client("sampan"))
    assert f"whose authority ('test-ca') is not in --etcd-cafile {strangers.ca_file}" in text


async def test_without_an_authority_the_option_is_named(secured: Member, files: Files) -> None:
    assert "this system does not know: --etcd-cafile names it" in await said(secured.url, None, files.client("sampan"))


async def test_names_that_do_not_fit_are_listed(misnamed: Member, files: Files) -> None:
    text = await said(misnamed.url, files.ca_file, files.client("sampan"))
    assert "shows a certificate for etcd-a, 10.0.0.9, not for 127.0.0.1" in text


async def test_a_client_certificate_that_is_missing_is_asked_for(secured: Member, files: Files) -> None:
    assert "asks for a client certificate" in await said(secured.url, files.ca_file)


async def test_a_client_certificate_of_another_authority_is_said_to_be_refused(
    secured: Member, files: Files, strangers: Files
) -> None:
    pair = strangers.client("stranger")
    text = await said(secured.url, files.ca_file, pair)
    assert f"refuses the certificate in {pair.certificate}" in text
    assert "--trusted-ca-file" in text


async def test_a_client_certificate_that_has_expired_is_said_to(secured: Member, files: Files) -> None:
    text = await said(secured.url, files.ca_file, files.client("old", made=YEARS_AGO))
    assert "it has expired (at " in text


async def test_a_serving_certificate_is_no_clients(secured: Member, files: Files) -> None:
    text = await said(secured.url, files.ca_file, files.serving("other", "localhost"))
    assert "is the certificate for clients (clientAuth)?" in text


class Refusing(FakeEtcd):
    """Lets nobody read."""

    def __init__(self, refusal: str) -> None:
        super().__init__(self.range)
        self.refusal = refusal

    async def range(self, request: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, self.refusal)


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        ("etcdserver: user name is empty", "it asks who we are"),
        ("etcdserver: permission denied", "needs the role root"),
    ],
    ids=["nobody", "another user"],
)
async def test_who_is_not_let_in_is_told_what_the_user_is(refusal: str, advice: str) -> None:
    async with serving(Refusing(refusal)) as url:
        text = await said(url)
    assert text.startswith(f"etcd: {refusal} ({url}): ")
    assert advice in text
    assert "the common name of the certificate in --etcd-certfile" in text


class RefusingBeside(Refusing):
    """Lets everybody read what is under the prefix, and nobody what is beside it."""

    async def range(self, request: Any, context: Any) -> Any:
        if request.key.startswith(b"/registry.sampan/"):
            return await super().range(request, context)
        return await FakeEtcd.range(self, request, context)


async def test_who_may_not_read_what_is_beside_the_prefix_is_told_what_to_allow() -> None:
    async with serving(RefusingBeside("etcdserver: permission denied")) as url:
        text = await said(url)
    assert text.endswith("who only reads, rights to --etcd-prefix with / and with .sampan/ behind it")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is no etcd: it says 'SSH-2.0-OpenSSH_9.2'"),
        (b"HTTP/1.1 400 Bad\r\n\r\n", "'HTTP/1.1 400 Bad'"),
    ],
    ids=["ssh", "http"],
)
async def test_what_is_no_etcd_is_quoted(files: Files, answer: bytes, text: str) -> None:
    with speaking(answer) as port:
        assert text in await said(f"http://127.0.0.1:{port}")
        assert text in await said(f"https://127.0.0.1:{port}", files.ca_file)


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ("http://127.0.0.1:{port}", "refuses connections: nobody listens there"),
        ("http://etcd.invalid:{port}", "has a name that does not resolve"),
    ],
    ids=["nobody", "name"],
)
async def test_what_may_come_is_said_and_waited_for(server: str, text: str) -> None:
    store = EtcdStore(EtcdSettings((server.format(port=free_ports(1)[0]),), attempt_s=0.3, total_s=0.3))
    with pytest.raises(StoreUnreachable, match=text):
        await store.open()


async def test_who_says_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.etcd.diagnosis._PATIENCE_S", 0.2)
    with speaking(b"") as port:
        store = EtcdStore(EtcdSettings((f"http://127.0.0.1:{port}",), attempt_s=0.3, total_s=0.3))
        with pytest.raises(StoreUnreachable, match="takes connections and says nothing"):
            await store.open()


async def test_of_several_endpoints_each_is_told_of_and_one_that_may_come_is_waited_for(secured: Member) -> None:
    wrong, absent = secured.url.replace("https:", "http:"), f"http://127.0.0.1:{free_ports(1)[0]}"
    store = EtcdStore(EtcdSettings((wrong, absent), attempt_s=0.3, total_s=0.3))
    with pytest.raises(StoreUnreachable) as raised:
        await store.open()
    assert f"{wrong} speaks TLS" in str(raised.value)
    assert f"{absent} refuses connections" in str(raised.value)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty"),
        (
            b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "holds no certificate in PEM that can be read",
        ),
        (b"rubbish", "holds no certificate in PEM that can be read"),
    ],
    ids=["empty", "damaged", "rubbish"],
)
def test_an_authority_that_is_none_is_said_to_be_none(tmp_path: Path, content: bytes, text: str) -> None:
    path = written(tmp_path / "ca.crt", content)
    with pytest.raises(ValueError, match=f"--etcd-cafile: {path} {text}"):
        EtcdSettings(ca_file=path)


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--etcd-cafile: cannot read .*absent: No such file or directory"):
        EtcdSettings(ca_file=tmp_path / "absent")


def test_a_key_of_another_certificate_is_said(files: Files) -> None:
    one, other = files.client("one"), files.client("two")
    with pytest.raises(ValueError, match="is not the key of the certificate in --etcd-certfile"):
        EtcdSettings(cert_file=one.certificate, key_file=other.key)


def test_a_key_that_is_none_is_said(files: Files) -> None:
    one = files.client("one")
    with pytest.raises(ValueError, match=r"--etcd-keyfile: .* holds no private key in PEM"):
        EtcdSettings(cert_file=one.certificate, key_file=one.certificate)
