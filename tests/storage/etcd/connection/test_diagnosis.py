"""Diagnosis of an etcd that cannot be used: the error explains the fault, and permanent faults fail at once."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from sampan.server.tls.sni import CertKey
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreMisconfigured, StoreUnreachable
from tests.ports import free_ports
from tests.server.tls_files import YEARS_AGO, Files, make_files
from tests.storage.etcd.fake import FakeEtcd, serving
from tests.storage.etcd.server import Member, behind_tls


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def other_ca(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("other_ca"))


@pytest.fixture(scope="module")
def secured(files: Files) -> Iterator[Member]:
    with behind_tls(files, files.serving("etcd", "localhost", "127.0.0.1")) as member:
        yield member


@pytest.fixture(scope="module")
def misnamed(files: Files) -> Iterator[Member]:
    with behind_tls(files, files.serving("misnamed", "etcd-a", "10.0.0.9")) as member:
        yield member


@contextmanager
def listening(sent: bytes) -> Iterator[int]:
    """Listen on a port that sends `sent` to every client; empty: it sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as sock:

        def serve() -> None:
            with ExitStack() as retained, suppress(OSError):
                while True:
                    connection = retained.enter_context(sock.accept()[0])
                    if sent:
                        connection.sendall(sent)

        thread = threading.Thread(target=serve)
        thread.start()
        yield sock.getsockname()[1]
        sock.shutdown(socket.SHUT_RDWR)
        thread.join()


async def start_error(server: str, ca: Path | None = None, pair: CertKey | None = None) -> str:
    """Return the error of opening a store that cannot be used."""
    certificate, key = (pair.certificate, pair.key) if pair else (None, None)
    settings = EtcdSettings((server,), "/registry", ca, certificate, key, attempt_s=0.3, total_s=0.3)
    store = EtcdStore(settings)
    with pytest.raises(StoreMisconfigured) as raised:
        async with asyncio.timeout(10):
            await store.open()
    return str(raised.value)


async def test_an_etcd_without_tls_needs_an_http_url(etcd: Member, files: Files) -> None:
    url = etcd.url.replace("http:", "https:")
    assert f"{url} does not use TLS: its URL must begin with http://" in await start_error(url, files.ca_file)


async def test_an_etcd_with_tls_needs_an_https_url(secured: Member) -> None:
    url = secured.url.replace("https:", "http:")
    assert f"{url} uses TLS: its URL must begin with https://" in await start_error(url)


async def test_an_unknown_authority_is_named_with_the_file(secured: Member, files: Files, other_ca: Files) -> None:
    text = await start_error(secured.url, other_ca.ca_file, files.client("sampan"))
    assert f"of a CA ('test-ca') that is not in --etcd-cafile {other_ca.ca_file}" in text


async def test_without_an_authority_the_option_is_named(secured: Member, files: Files) -> None:
    assert "that this system does not trust: set --etcd-cafile" in await start_error(
        secured.url, None, files.client("sampan")
    )


async def test_names_that_do_not_fit_are_listed(misnamed: Member, files: Files) -> None:
    text = await start_error(misnamed.url, files.ca_file, files.client("sampan"))
    assert "has a certificate for etcd-a, 10.0.0.9, not for 127.0.0.1" in text


async def test_a_missing_client_certificate_is_reported(secured: Member, files: Files) -> None:
    assert "requires a client certificate" in await start_error(secured.url, files.ca_file)


async def test_a_client_certificate_of_another_ca_is_reported(secured: Member, files: Files, other_ca: Files) -> None:
    pair = other_ca.client("other")
    text = await start_error(secured.url, files.ca_file, pair)
    assert f"refuses the certificate in {pair.certificate}" in text
    assert "--trusted-ca-file" in text


async def test_an_expired_client_certificate_is_reported(secured: Member, files: Files) -> None:
    text = await start_error(secured.url, files.ca_file, files.client("old", made=YEARS_AGO))
    assert "it has expired (at " in text


async def test_a_serving_certificate_as_client_certificate_is_reported(secured: Member, files: Files) -> None:
    text = await start_error(secured.url, files.ca_file, files.serving("other", "localhost"))
    assert "that the certificate is for clients (clientAuth)" in text


class Refusing(FakeEtcd):
    """Denies all reads."""

    def __init__(self, refusal: str) -> None:
        super().__init__(self.range)
        self.refusal = refusal

    async def range(self, request: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, self.refusal)


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        ("etcdserver: user name is empty", "etcd takes the user from"),
        ("etcdserver: permission denied", "needs the role root"),
    ],
    ids=["nobody", "another user"],
)
async def test_a_denied_request_explains_the_user_of_etcd(refusal: str, advice: str) -> None:
    async with serving(Refusing(refusal)) as url:
        text = await start_error(url)
    assert text.startswith(f"etcd: {refusal} ({url}): ")
    assert advice in text
    assert "the common name of the certificate in --etcd-certfile" in text


class RefusingBeside(Refusing):
    """Allows reads under the prefix and denies reads next to it."""

    async def range(self, request: Any, context: Any) -> Any:
        if request.key.startswith(b"/registry.sampan/"):
            return await super().range(request, context)
        return await FakeEtcd.range(self, request, context)


async def test_a_denied_read_next_to_the_prefix_names_the_permissions() -> None:
    async with serving(RefusingBeside("etcdserver: permission denied")) as url:
        text = await start_error(url)
    assert text.endswith("a read-only server needs permission to read --etcd-prefix followed by / and by .sampan/")


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is not etcd: it answers 'SSH-2.0-OpenSSH_9.2'"),
        (b"HTTP/1.1 400 Bad\r\n\r\n", "'HTTP/1.1 400 Bad'"),
    ],
    ids=["ssh", "http"],
)
async def test_the_response_of_another_protocol_is_quoted(files: Files, response: bytes, text: str) -> None:
    with listening(response) as port:
        assert text in await start_error(f"http://127.0.0.1:{port}")
        assert text in await start_error(f"https://127.0.0.1:{port}", files.ca_file)


async def test_an_endpoint_that_closes_the_connection_in_the_tls_handshake_is_reported(files: Files) -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        error = await start_error(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", files.ca_file)
    assert error.endswith("fails the TLS handshake: it closes the connection")


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ("http://127.0.0.1:{port}", "refuses connections: no process listens there"),
        ("http://etcd.invalid:{port}", "has a name that does not resolve"),
    ],
    ids=["nobody", "name"],
)
async def test_an_absent_etcd_is_reported_and_may_be_retried(server: str, text: str) -> None:
    store = EtcdStore(EtcdSettings((server.format(port=free_ports(1)[0]),), attempt_s=0.3, total_s=0.3))
    with pytest.raises(StoreUnreachable, match=text):
        await store.open()


async def test_a_silent_endpoint_may_be_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.etcd.connection.diagnosis._TIMEOUT_S", 0.2)
    with listening(b"") as port:
        store = EtcdStore(EtcdSettings((f"http://127.0.0.1:{port}",), attempt_s=0.3, total_s=0.3))
        with pytest.raises(StoreUnreachable, match="accepts connections but does not answer"):
            await store.open()


async def test_each_endpoint_is_reported_and_one_that_may_recover_is_retried(secured: Member) -> None:
    wrong, absent = secured.url.replace("https:", "http:"), f"http://127.0.0.1:{free_ports(1)[0]}"
    store = EtcdStore(EtcdSettings((wrong, absent), attempt_s=0.3, total_s=0.3))
    with pytest.raises(StoreUnreachable) as raised:
        await store.open()
    assert f"{wrong} uses TLS" in str(raised.value)
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
            "contains no valid certificate in PEM",
        ),
        (b"rubbish", "contains no valid certificate in PEM"),
    ],
    ids=["empty", "damaged", "rubbish"],
)
def test_an_invalid_ca_file_is_reported(tmp_path: Path, content: bytes, text: str) -> None:
    path = written(tmp_path / "ca.crt", content)
    with pytest.raises(ValueError, match=f"--etcd-cafile: {path} {text}"):
        EtcdSettings(ca_file=path)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--etcd-cafile: cannot read .*absent: No such file or directory"):
        EtcdSettings(ca_file=tmp_path / "absent")


def test_a_key_of_another_certificate_is_reported(files: Files) -> None:
    one, other = files.client("one"), files.client("two")
    with pytest.raises(ValueError, match="is not the key of the certificate in --etcd-certfile"):
        EtcdSettings(cert_file=one.certificate, key_file=other.key)


def test_an_invalid_key_is_reported(files: Files) -> None:
    one = files.client("one")
    with pytest.raises(ValueError, match=r"--etcd-keyfile: .* contains no valid private key in PEM"):
        EtcdSettings(cert_file=one.certificate, key_file=one.certificate)
