"""TLS of the server: whose certificate is taken, which one is shown, and what happens when files change."""

import asyncio
import contextlib
import datetime
import gc
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.connections.listener import HttpServer
from sampan.server.filters.authentication import with_authentication
from sampan.server.filters.error_responses import with_error_responses
from sampan.server.metrics.access import AccessMetrics
from sampan.server.pki.certificates import KeyPair, make_ca, make_client, make_serving
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.request import Request, Response
from sampan.server.tls.serving import RELOAD_INTERVAL_S, ServingTls, TlsSettings, certificate_message
from sampan.server.tls.sni import CertKey, ServerNames, names_in, parse_cert_key
from tests.server.tls_files import NOW, YEARS_AGO, Files, client_context, make_files

V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
GET = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return make_files(tmp_path)


def serving_tls(files: Files, **more: object) -> ServingTls:
    settings = TlsSettings(files.serving("default", "localhost", "a.test"), client_ca_files=(files.ca_file,))
    return ServingTls(replace(settings, **more))  # type: ignore[arg-type]  # the tests name fields


async def whoami(request: Request) -> Response:
    assert request.user is not None
    return Response(body=request.user.name.encode())


def serving(tls: ServingTls) -> HttpServer:
    """A server that answers each client with the client's identity."""
    authenticators: list[Authenticator] = [ClientCertificateAuthenticator(tls.verifier)]
    handler = with_error_responses([])(with_authentication(UnionAuthenticator(authenticators), AccessMetrics())(whoami))
    return HttpServer(handler)


@asynccontextmanager
async def listening(tls: ServingTls, server: HttpServer | None = None) -> AsyncIterator[int]:
    """`server`, or a new one; gives its port."""
    server = server or serving(tls)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, tls.context)
    try:
        yield sock.getsockname()[1]
    finally:
        server.stop_listening()
        await server.drain(5)


async def fetch(port: int, context: ssl.SSLContext, name: str = "localhost") -> tuple[str, str, bytes]:
    """Status and body of an answer, and the common name and names of the certificate that the server showed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.write(GET)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return head.decode().split(" ")[1], body.decode(), shown


@pytest.mark.parametrize("version", [V12, V13], ids=["1.2", "1.3"])
@pytest.mark.parametrize(
    ("client_name", "status"),
    [("nobody", "200"), ("known", "200"), ("stranger", "401"), ("expired", "401"), ("self-signed", "401")],
)
async def test_any_client_certificate_passes_the_handshake_and_wrong_ones_are_unauthorized(
    files: Files, client_name: str, status: str, version: ssl.TLSVersion
) -> None:
    other = make_ca("other", NOW)
    pairs = {
        "nobody": None,
        "known": files.client("known"),
        "stranger": files.client("stranger", ca=other),
        "expired": files.client("expired", made=YEARS_AGO),
        "self-signed": files.write("self", other),
    }
    context = client_context(files, pairs[client_name])
    context.minimum_version = context.maximum_version = version
    async with listening(serving_tls(files)) as port:
        for _ in range(2):
            found, body, _ = await fetch(port, context)
            assert found == status
    if status == "401":
        assert '"reason":"Unauthorized"' in body
    else:
        assert body == ("system:anonymous" if client_name == "nobody" else client_name)


def intermediate(ca: KeyPair) -> KeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "between")]))
        .issuer_name(ca.certificate.subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(NOW - datetime.timedelta(minutes=5))
        .not_valid_after(NOW + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    )
    return KeyPair(builder.sign(ca.key, hashes.SHA256()), key)


@pytest.mark.parametrize("version", [V12, V13], ids=["1.2", "1.3"])
async def test_intermediate_certificates_that_the_client_sends_are_used(files: Files, version: ssl.TLSVersion) -> None:
    between = intermediate(files.ca)
    pair = files.write("jane", make_client(between, "jane", (), NOW), between)
    context = client_context(files, pair)
    context.minimum_version = context.maximum_version = version
    async with listening(serving_tls(files)) as port:
        assert (await fetch(port, context))[:2] == ("200", "jane")


def usage(ca: KeyPair, *usages: x509.ObjectIdentifier) -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "u")]))
        .issuer_name(ca.certificate.subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(NOW)
        .not_valid_after(NOW + datetime.timedelta(days=1))
    )
    if usages:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    return builder.sign(ca.key, hashes.SHA256())


@pytest.mark.parametrize(
    ("usages", "good"),
    [
        ((), True),
        ((ExtendedKeyUsageOID.CLIENT_AUTH,), True),
        ((ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,), True),
        ((ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH), True),
        ((ExtendedKeyUsageOID.SERVER_AUTH,), False),
    ],
    ids=["none", "client", "any", "both", "server"],
)
def test_a_certificate_must_be_meant_for_clients(usages: tuple[x509.ObjectIdentifier, ...], good: bool) -> None:
    ca = make_ca("ca", NOW)
    verifier, certificate = ClientCertificateVerifier([ca.certificate]), usage(ca, *usages)
    if good:
        verifier.verify(certificate, (), NOW)
    else:
        with pytest.raises(ValueError):
            verifier.verify(certificate, (), NOW)


def test_a_certificate_without_the_right_to_sign_cannot_sign() -> None:
    ca = make_ca("ca", NOW)
    middle = make_client(ca, "middle", (), NOW)
    leaf = make_client(middle, "leaf", (), NOW)
    der = middle.certificate.public_bytes(Encoding.DER)
    with pytest.raises(ValueError):
        ClientCertificateVerifier([ca.certificate]).verify(leaf.certificate, (der,), NOW)


def test_without_a_client_ca_no_client_is_trusted() -> None:
    with pytest.raises(ValueError, match="no client CA"):
        ClientCertificateVerifier([]).verify(make_ca("ca", NOW).certificate, (), NOW)


# --- serving certificates


async def shown_names(port: int, files: Files, name: str) -> list[str]:
    context = client_context(files)
    context.check_hostname = False
    return names_in(x509.load_der_x509_certificate((await fetch(port, context, name))[2]))


@pytest.mark.parametrize(
    ("requested", "shown"),
    [
        ("localhost", "localhost"),
        ("exact.example.com", "exact.example.com"),
        ("EXACT.example.com", "exact.example.com"),
        ("other.example.com", "*.example.com"),
        ("a.b.example.com", "localhost"),
        ("given.test", "certificate.test"),
        ("certificate.test", "localhost"),
    ],
)
async def test_the_certificate_is_chosen_by_server_name(files: Files, requested: str, shown: str) -> None:
    given_names = replace(files.serving("c", "certificate.test"), names=("given.test",))
    sni = (files.serving("w", "*.example.com"), files.serving("e", "exact.example.com"), given_names)
    async with listening(serving_tls(files, sni=sni)) as port:
        assert shown in await shown_names(port, files, requested)


def test_given_names_go_before_found_ones_and_earlier_before_later() -> None:
    names = ServerNames([(1, (), ("a", "b")), (2, ("b",), ("a",)), (3, (), ("a",)), (4, ("b",), ())])
    assert [names.find(name) for name in ("a", "b", "b.", "c", "", None)] == [1, 2, 2, None, None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.crt,a.key", CertKey(Path("a.crt"), Path("a.key"))),
        (" a.crt , a.key : *.foo.com, foo.com", CertKey(Path("a.crt"), Path("a.key"), ("*.foo.com", "foo.com"))),
    ],
)
def test_a_cert_key_flag_is_read(text: str, expected: CertKey) -> None:
    assert parse_cert_key(text) == expected
    assert parse_cert_key(str(expected)) == expected


@pytest.mark.parametrize("text", ["", "a.crt", "a,b,c", "a,b:", ",b", "a,"])
def test_a_wrong_cert_key_flag_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected comma separated|empty names list"):
        parse_cert_key(text)


def test_addresses_as_common_names_are_no_server_names() -> None:
    assert names_in(make_ca("10.0.0.1", NOW).certificate) == []
    assert names_in(make_ca("some ca", NOW).certificate) == []
    assert names_in(make_ca("*.example.com", NOW).certificate) == ["*.example.com"]


@pytest.mark.parametrize(
    ("more", "client"),
    [({"min_version": V13}, V12), ({"cipher_suites": ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",)}, V12)],
    ids=["version", "suites"],
)
async def test_versions_and_suites_can_be_narrowed(
    files: Files, more: dict[str, object], client: ssl.TLSVersion
) -> None:
    context = client_context(files)
    context.maximum_version = client
    async with listening(serving_tls(files, **more)) as port:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await fetch(port, context)
        assert (await fetch(port, client_context(files)))[0] == "200"


# --- reloading


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file as a rotation of certificates does: at once, and with a later time."""
    draft = path.with_suffix(".new")
    draft.write_bytes(content)
    later = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(draft, ns=(later, later))
    draft.replace(path)


async def test_a_new_serving_certificate_is_shown_to_new_clients(files: Files) -> None:
    tls = serving_tls(files)
    async with listening(tls) as port:
        before = (await fetch(port, client_context(files)))[2]
        assert not tls.reload()
        new = make_serving(files.ca, ("localhost",), NOW)
        replace_file(files.folder / "default.crt", new.certificate_pem())
        replace_file(files.folder / "default.key", new.key_pem())
        assert tls.reload()
        after = (await fetch(port, client_context(files)))[2]
    assert before != after
    assert x509.load_der_x509_certificate(after) == new.certificate


async def test_files_that_cannot_be_used_are_logged_once_and_the_old_ones_stay(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    tls = serving_tls(files)
    async with listening(tls) as port:
        good = (files.folder / "default.crt").read_bytes()
        replace_file(files.folder / "default.crt", make_serving(files.ca, ("x",), NOW).certificate_pem())
        assert [tls.reload(), tls.reload()] == [False, False]
        expected = "cannot reload serving certificates or client CAs; keeping the old ones"
        assert [record.message for record in caplog.records] == [expected]
        assert (await fetch(port, client_context(files)))[0] == "200"
        (files.folder / "default.key").unlink()
        assert not tls.reload()
        key = make_serving(files.ca, ("x",), NOW)
        (files.folder / "default.key").write_bytes(key.key_pem())
        (files.folder / "default.crt").write_bytes(key.certificate_pem())
        assert tls.reload()
    assert good != (files.folder / "default.crt").read_bytes()


async def test_a_ca_that_is_taken_away_takes_its_clients_rights_on_open_connections(files: Files) -> None:
    tls, pair = serving_tls(files), files.client("jane")
    async with listening(tls) as port:
        context = client_context(files, pair)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
        get = GET.replace(b"close", b"keep-alive")
        writer.write(get)
        assert (await reader.readuntil(b"jane")).startswith(b"HTTP/1.1 200")
        replace_file(files.ca_file, make_ca("next", NOW).certificate_pem())
        assert tls.reload()
        writer.write(get)
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 401")
        writer.close()


async def test_files_are_looked_at_in_intervals(files: Files) -> None:
    tls = serving_tls(files)
    generation = tls.verifier.generation
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError
        replace_file(files.ca_file, make_ca("next", NOW).certificate_pem())

    with pytest.raises(asyncio.CancelledError):
        await tls.run(sleep)
    assert slept == [RELOAD_INTERVAL_S] * 3
    assert tls.verifier.generation == generation + 2


@given(st.binary(max_size=64), st.booleans())
def test_garbage_for_a_certificate_message_is_no_error(data: bytes, tls_1_3: bool) -> None:
    assert all(part in data for part in certificate_message(data, tls_1_3=tls_1_3))


async def test_a_client_that_breaks_off_its_handshake_harms_no_client(files: Files) -> None:
    async with listening(serving_tls(files)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00")
        await reader.read()
        writer.close()
        assert (await fetch(port, client_context(files)))[0] == "200"


async def test_handshakes_that_come_to_nothing_are_counted(files: Files) -> None:
    tls = serving_tls(files)
    server = serving(tls)
    async with listening(tls, server) as port:
        await fetch(port, client_context(files))
        assert server.handshakes.errors == 0
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        await reader.read()
        writer.close()
        await fetch(port, client_context(files))
    gc.collect()  # asyncio's own event loop leaves them in cycles
    assert server.handshakes.errors == 1


@pytest.mark.parametrize("version", [V12, V13])
@pytest.mark.parametrize("name", ["localhost", "b.test"], ids=["default", "sni"])
def test_the_certificate_request_names_the_client_authorities(
    tmp_path: Path, version: ssl.TLSVersion, name: str
) -> None:
    files = make_files(tmp_path)
    other = make_ca("other-ca", NOW)
    serving, sni = files.serving("default", "localhost"), (files.serving("b", "b.test"),)
    settings = TlsSettings(serving, sni=sni, client_ca_files=(files.ca_file, files.write("other", other).certificate))
    request = certificate_request(ServingTls(settings), files, name, version)
    for authority in (files.ca, other):
        assert authority.certificate.subject.public_bytes() in request


def test_without_client_authorities_no_certificate_is_requested(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    tls = ServingTls(TlsSettings(files.serving("default", "localhost")))
    assert certificate_request(tls, files, "localhost", V13) == b""


def test_authorities_that_are_reloaded_are_named(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    file = files.write("clients", make_ca("first", NOW)).certificate
    tls = ServingTls(TlsSettings(files.serving("default", "localhost"), client_ca_files=(file,)))
    later = make_ca("second one", NOW)
    files.write("clients", later)
    assert tls.reload()
    assert later.certificate.subject.public_bytes() in certificate_request(tls, files, "localhost", V13)


def certificate_request(tls: ServingTls, files: Files, name: str, version: ssl.TLSVersion) -> bytes:
    """The CertificateRequest message that a client gets in a handshake; empty if none comes."""
    observed: list[bytes] = []
    context: Any = client_context(files)
    context.maximum_version = version

    def on_message(_: object, direction: str, __: int, content: int, kind: int, data: bytes) -> None:
        if (direction, content, kind) == ("read", 22, 13):
            observed.append(data)

    context._msg_callback = on_message
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=name)
    server = tls.context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client, server):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return b"".join(observed)


@pytest.mark.parametrize(
    ("suites", "accepted"),
    [
        ("ECDHE+AESGCM", True),
        ("ECDHE-ECDSA-AES128-SHA", True),
        ("ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384", False),
        ("ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA384", False),
        ("DHE+AESGCM", False),
        ("kRSA", False),
    ],
)
async def test_without_the_option_tls_1_2_has_the_suites_of_a_go_server(
    files: Files, suites: str, accepted: bool
) -> None:
    context = client_context(files)
    context.maximum_version = V12
    context.set_ciphers(suites)
    async with listening(serving_tls(files)) as port:
        try:
            await fetch(port, context)
        except (ssl.SSLError, ConnectionError):
            assert not accepted
        else:
            assert accepted


async def test_suites_of_tls_1_3_alone_turn_tls_1_2_off(files: Files) -> None:
    context = client_context(files)
    context.maximum_version = V12
    async with listening(serving_tls(files, cipher_suites=("TLS_AES_128_GCM_SHA256",))) as port:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await fetch(port, context)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
async def test_a_plain_http_request_gets_the_response_of_go(files: Files, method: str) -> None:
    async with listening(serving_tls(files)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{method} /livez HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        found = await asyncio.wait_for(reader.read(), 30)
        writer.close()
    assert found == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
