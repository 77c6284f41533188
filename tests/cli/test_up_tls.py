"""`sampan up` with its options for TLS, HTTP/2 and profiling."""

import gzip
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509

from sampan.core.time import SystemClock
from sampan.server.pki.certificates import KeyPair, make_ca, make_serving
from sampan.server.tls.sni import names_in
from tests.cli.server import Server, failing, running

NOW = SystemClock().now()


def write(pair: KeyPair, stem: Path) -> str:
    """Certificate and key as files, named as the flags want them."""
    stem.with_suffix(".crt").write_bytes(pair.certificate_pem())
    stem.with_suffix(".key").write_bytes(pair.key_pem())
    return f"{stem}.crt,{stem}.key"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("tls")
    ca = make_ca("public-ca", NOW)
    write(ca, folder / "ca")
    named = write(make_serving(ca, ("api.example.com",), NOW), folder / "named")
    wild = write(make_serving(ca, ("certificate.test",), NOW), folder / "wild")
    flags = ("--tls-sni-cert-key", named, "--tls-sni-cert-key", f"{wild}:*.wild.test")
    more = ("--tls-min-version", "VersionTLS13", "--http2", "prefer", "--http2-max-streams-per-connection", "7")
    with running(folder / "data", "--storage", "memory", *flags, *more, "--profiling=false") as found:
        yield found


def handshake(server: Server, name: str, **more: ssl.TLSVersion) -> tuple[list[str], str | None]:
    """Return the names in the certificate for the server name `name`, and the protocol of the connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1", "h2"])
    if more:
        context.maximum_version = more["maximum"]
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock,
        context.wrap_socket(sock, server_hostname=name) as tls,
    ):
        certificate = x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"")
        return names_in(certificate), tls.selected_alpn_protocol()


@pytest.mark.parametrize(
    ("requested", "shown"),
    [("api.example.com", "api.example.com"), ("a.wild.test", "certificate.test"), ("localhost", "localhost")],
)
def test_the_certificate_follows_the_server_name(server: Server, requested: str, shown: str) -> None:
    assert shown in handshake(server, requested)[0]


def test_http_2_is_used_where_it_is_preferred(server: Server) -> None:
    assert handshake(server, "localhost")[1] == "h2"
    context = ssl.create_default_context(cafile=str(server.data / "pki" / "ca.crt"))
    context.load_cert_chain(server.admin["certificate"], server.admin["key"])
    url = f"https://127.0.0.1:{server.port}"
    with httpx.Client(http2=True, verify=context, base_url=url, trust_env=False) as client:
        responses = [client.get(path) for path in ("/readyz", "/api/v1/namespaces", "/openapi/v2")]
    assert [(response.http_version, response.status_code) for response in responses] == [("HTTP/2", 200)] * 3
    assert responses[1].json()["kind"] == "NamespaceList"


def test_a_client_with_only_http_1_is_served(server: Server) -> None:
    assert server.get("/readyz") == (200, b"ok")


def test_older_tls_than_requested_is_refused(server: Server) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        handshake(server, "localhost", maximum=ssl.TLSVersion.TLSv1_2)


def test_profiling_can_be_off(server: Server) -> None:
    assert server.get("/debug/pprof/", server.token)[0] == 404


def test_flagz_reports_what_was_requested(server: Server) -> None:
    text = server.get("/flagz", server.token)[1].decode()
    assert "http2=prefer\n" in text
    assert "profiling=false\n" in text


def test_administrators_can_profile_by_default(tmp_path: Path) -> None:
    with running(tmp_path / "data", "--storage", "memory") as plain:
        assert handshake(plain, "localhost")[1] == "http/1.1"
        assert plain.get("/debug/pprof/")[0] == 403
        status, profile = plain.get("/debug/pprof/profile?seconds=0.05", plain.token)
    assert (status, b"nanoseconds" in gzip.decompress(profile)) == (200, True)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--tls-sni-cert-key", "one"), "expected comma separated certificate and key file paths"),
        (("--tls-sni-cert-key", "a,b:"), "empty names list is not allowed"),
        (("--tls-sni-cert-key", "/none.crt,/none.key"), "cannot read /none.crt"),
        (("--tls-cipher-suites", "TLS_NONE"), "'TLS_NONE' is no cipher suite: the suites are"),
        (("--tls-min-version", "VersionTLS10"), "VersionTLS10"),
    ],
    ids=["no-key", "no-names", "no-file", "suite", "version"],
)
def test_wrong_options_are_an_error_in_one_line(tmp_path: Path, flags: tuple[str, ...], text: str) -> None:
    code, _, stderr = failing(tmp_path / "data", "--storage", "memory", *flags)
    assert code == (1 if "cannot read" in text else 2)
    assert text in stderr
    assert "Traceback" not in stderr
