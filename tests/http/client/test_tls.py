"""TLS: the servers that the client trusts, the certificates it shows, and its error messages."""

import asyncio
import ssl
from pathlib import Path

import pytest

from sampan.client.errors import TransportError
from sampan.client.transport import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import ClientCertificate, TlsOptions
from tests.http.client.certificates import Authority
from tests.http.client.scripted import GET, OK, Peer, responds, scripted

AUTHORITY = Authority()
OTHER = Authority("others")


def trusting(authority: Authority = AUTHORITY) -> TlsOptions:
    return TlsOptions(ca_data=authority.certificate)


async def names_the_client(peer: Peer) -> None:
    """Answers with the common name of the client's certificate."""
    while True:
        await peer.requested()
        shown = peer.writer.get_extra_info("peercert")
        name = shown["subject"][0][0][1].encode() if shown else b"nobody"
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(name), name))


async def test_a_certificate_of_the_given_authority_is_trusted(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    async with scripted(responds(OK), context=context) as server, server.transport(tls=trusting()) as transport:
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
        assert server.connections == 1


FAULTS = {
    "other authority": (trusting(OTHER), False, ("127.0.0.1",), "its certificate is not trusted: .*(issuer|self)"),
    "system's authorities": (TlsOptions(), False, ("127.0.0.1",), "its certificate is not trusted: .*(issuer|self)"),
    "other name": (trusting(), False, ("example.org",), "its certificate is not trusted: .*127.0.0.1"),
    "expired": (trusting(), True, ("127.0.0.1",), "its certificate is not trusted: .*expired"),
}


@pytest.mark.parametrize(("tls", "expired", "hosts", "message"), FAULTS.values(), ids=FAULTS)
async def test_an_untrusted_server_is_named_and_gets_no_request(
    tmp_path: Path, tls: TlsOptions, expired: bool, hosts: tuple[str, ...], message: str
) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(hosts=hosts, expired=expired), tmp_path)
    async with scripted(responds(OK), context=context) as server, server.transport(tls=tls) as transport:
        with pytest.raises(TransportError, match=message) as caught:
            await transport.send(GET)
        assert not caught.value.sent
        assert str(caught.value).startswith(str(server.address))


async def test_insecure_means_that_anything_is_trusted(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(hosts=("example.org",), expired=True), tmp_path)
    tls = TlsOptions(insecure=True)
    async with scripted(responds(OK), context=context) as server, server.transport(tls=tls) as transport:
        assert await (await transport.send(GET)).read() == b"ok"


async def test_the_name_to_expect_can_be_given(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(hosts=("example.org",)), tmp_path)
    tls = TlsOptions(ca_data=AUTHORITY.certificate, server_name="example.org")
    async with scripted(responds(OK), context=context) as server, server.transport(tls=tls) as transport:
        assert await (await transport.send(GET)).read() == b"ok"


async def test_a_server_without_tls_is_named_in_the_error() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.reader.read(1)
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with scripted(refuses) as plain:
        secure = type(plain)(type(plain.address)("https", plain.address.host, plain.address.port))
        async with secure.transport(tls=trusting()) as transport:
            with pytest.raises(TransportError, match="does not speak TLS") as caught:
                await transport.send(GET)
            assert not caught.value.sent


@pytest.mark.parametrize("as_files", [False, True], ids=["data", "files"])
async def test_a_client_certificate_is_shown(tmp_path: Path, as_files: bool) -> None:
    issued = OTHER.issue("jane", hosts=())
    certificate, key = issued.files(tmp_path, "client")
    tls = (
        TlsOptions(ca_data=AUTHORITY.certificate, certificate_file=str(certificate), key_file=str(key))
        if as_files
        else TlsOptions(ca_data=AUTHORITY.certificate, certificate_data=issued.certificate, key_data=issued.key)
    )
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=OTHER)
    async with scripted(names_the_client, context=context) as server, server.transport(tls=tls) as transport:
        assert await (await transport.send(GET)).read() == b"jane"


async def test_a_server_that_requires_another_certificate_is_understood(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=OTHER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    async with scripted(responds(OK), context=context) as server, server.transport(tls=trusting()) as transport:
        with pytest.raises(TransportError, match=r"(?i)certificate.required|before it answered"):
            await transport.send(GET)


async def test_files_that_change_are_used_for_the_next_connection(tmp_path: Path) -> None:
    OTHER.issue("jane", hosts=()).files(tmp_path, "client")
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.certificate)
    tls = TlsOptions(
        ca_file=str(tmp_path / "ca.crt"),
        certificate_file=str(tmp_path / "client.crt"),
        key_file=str(tmp_path / "client.key"),
    )
    close = HttpRequest("GET", "/x", {"connection": "close"})

    async def once(peer: Peer) -> None:
        await peer.requested()
        name = peer.writer.get_extra_info("peercert")["subject"][0][0][1].encode()
        await peer.send(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(name), name))

    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=OTHER)
    async with scripted(once, context=context) as server, server.transport(tls=tls) as transport:
        assert await (await transport.send(close)).read() == b"jane"
        OTHER.issue("john", hosts=()).files(tmp_path, "client")
        assert await (await transport.send(close)).read() == b"john"
        (tmp_path / "ca.crt").write_bytes(OTHER.certificate)
        with pytest.raises(TransportError, match="not trusted"):
            await transport.send(close)
        (tmp_path / "ca.crt").unlink()
        with pytest.raises(TransportError, match=r"ca\.crt"):
            await transport.send(close)


async def test_another_certificate_is_shown_on_new_connections_at_once(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=OTHER)
    async with scripted(names_the_client, context=context) as server, server.transport(tls=trusting()) as transport:
        for name in (b"jane", b"john"):
            issued = OTHER.issue(name.decode(), hosts=())
            transport.use_certificate(ClientCertificate(issued.certificate, issued.key))
            assert await (await transport.send(GET)).read() == name


async def test_a_connection_at_work_takes_no_further_request_after_another_certificate(tmp_path: Path) -> None:
    first, second = OTHER.issue("jane", hosts=()), OTHER.issue("john", hosts=())
    requested, go = asyncio.Event(), asyncio.Event()

    async def waits(peer: Peer) -> None:
        while True:
            await peer.requested()
            requested.set()
            await go.wait()
            name = peer.writer.get_extra_info("peercert")["subject"][0][0][1].encode()
            await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(name), name))

    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=OTHER)
    settings = HttpClientSettings(connections_max=1)
    async with (
        scripted(waits, context=context) as server,
        server.transport(tls=trusting(), settings=settings) as transport,
    ):
        transport.use_certificate(ClientCertificate(first.certificate, first.key))
        old = asyncio.create_task(transport.send(GET))
        await requested.wait()
        new = asyncio.create_task(transport.send(GET))
        transport.use_certificate(ClientCertificate(second.certificate, second.key))
        go.set()
        assert await (await old).read() == b"jane"
        assert await (await new).read() == b"john"


BAD = {
    "authority": TlsOptions(ca_data=b"no certificate"),
    "client certificate": TlsOptions(certificate_data=b"no certificate", key_data=b"no key"),
}


@pytest.mark.parametrize("tls", BAD.values(), ids=BAD)
async def test_certificates_that_cannot_be_read_fail_the_request(tmp_path: Path, tls: TlsOptions) -> None:
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    async with scripted(responds(OK), context=context) as server, server.transport(tls=tls) as transport:
        with pytest.raises(TransportError) as caught:
            await transport.send(GET)
        assert not caught.value.sent


def test_keys_do_not_show() -> None:
    assert "secret" not in repr(TlsOptions(key_data=b"secret")) + repr(ClientCertificate(b"", b"secret"))
