"""The transports that a configuration selects, against servers on loopback."""

import json
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from sampan.client.config import Config, ExecConfig, load_config
from sampan.client.errors import ConfigError
from sampan.client.identity import Impersonation
from sampan.client.stack import connect_transport, credential_source
from sampan.client.transport import HttpRequest
from sampan.client.transports.warnings import Warning
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import TlsOptions
from tests.http.client.certificates import Authority
from tests.http.client.scripted import Peer, ReceivedRequest, recording, scripted

AUTHORITY = Authority()
TLS = TlsOptions(ca_data=AUTHORITY.certificate)
GET = HttpRequest("GET", "/x")
PLUGIN = ExecConfig("client.authentication.k8s.io/v1", "login", interactive_mode="Never")


async def test_a_client_that_requests_is_reported_with_every_request() -> None:
    requested: list[ReceivedRequest] = []
    async with scripted(recording(requested)) as server:
        config = Config(str(server.address), token="t", impersonation=Impersonation("jane", groups=("a", "b")))
        transport = connect_transport(config)
        await (await transport.send(GET)).read()
        await transport.aclose()
    headers = requested[0].headers
    assert headers["authorization"] == ["Bearer t"]
    assert (headers["impersonate-user"], headers["impersonate-group"]) == (["jane"], ["a", "b"])
    assert headers["user-agent"][0].endswith(" sampan")
    assert headers["accept-encoding"] == ["gzip"]


async def test_compression_can_be_left_off() -> None:
    requested: list[ReceivedRequest] = []
    async with scripted(recording(requested)) as server:
        transport = connect_transport(Config(str(server.address), compression=False), settings=HttpClientSettings())
        await (await transport.send(GET)).read()
        await transport.aclose()
    assert "accept-encoding" not in requested[0].headers


async def test_warnings_are_handed_on_and_retries_are_made() -> None:
    responses = [
        b"HTTP/1.1 429 X\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nwarning: 299 - "old"\r\ncontent-length: 0\r\n\r\n',
    ]

    async def script(peer: Peer) -> None:
        for response in responses:
            await peer.requested()
            await peer.send(response)

    warnings: list[Warning] = []
    async with scripted(script) as server:
        transport = connect_transport(Config(str(server.address)), warnings=warnings.append)
        assert (await transport.send(HttpRequest("POST", "/x"))).status == 200
        await transport.aclose()
        assert server.connections == 1
    assert [warning.text for warning in warnings] == ["old"]


async def test_a_certificate_that_a_program_prints_is_shown_and_renewed_when_it_is_refused(tmp_path: Path) -> None:
    clients = Authority("clients")
    for run in (1, 2):
        issued = clients.issue(f"client-{run}", hosts=())
        pair = {"clientCertificateData": issued.certificate.decode(), "clientKeyData": issued.key.decode()}
        response = {"apiVersion": PLUGIN.api_version, "kind": "ExecCredential", "status": pair}
        (tmp_path / f"answer-{run}").write_text(json.dumps(response))
    (tmp_path / "plugin.py").write_text(
        "import pathlib\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "first = folder / 'answer-1'\n"
        "print((first if first.exists() else folder / 'answer-2').read_text())\n"
        "first.unlink(missing_ok=True)\n"
    )

    async def refuses_the_first(peer: Peer) -> None:
        while True:
            await peer.requested()
            name = peer.writer.get_extra_info("peercert")["subject"][0][0][1]
            status = 401 if name == "client-1" else 200
            await peer.send(f"HTTP/1.1 {status} X\r\ncontent-length: {len(name)}\r\n\r\n{name}".encode())

    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=clients)
    async with scripted(refuses_the_first, context=context) as server:
        plugin = ExecConfig(PLUGIN.api_version, sys.executable, ("-S", str(tmp_path / "plugin.py")))
        transport = connect_transport(Config(str(server.address), tls=TLS, exec=plugin))
        assert await (await transport.send(GET)).read() == b"client-2"
        await transport.aclose()


async def test_certificate_files_are_read_again_when_they_are_refused(tmp_path: Path) -> None:
    clients = Authority("clients")
    certificate, key = clients.issue("old", hosts=()).files(tmp_path, "client")

    async def refuses_the_old(peer: Peer) -> None:
        while True:
            await peer.requested()
            name = peer.writer.get_extra_info("peercert")["subject"][0][0][1]
            status = 401 if name == "old" else 200
            await peer.send(f"HTTP/1.1 {status} X\r\ncontent-length: {len(name)}\r\n\r\n{name}".encode())

    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path, clients=clients)
    async with scripted(refuses_the_old, context=context) as server:
        files = replace(TLS, certificate_file=str(certificate), key_file=str(key))
        transport = connect_transport(Config(str(server.address), tls=files))
        assert (await transport.send(GET)).status == 401
        clients.issue("new", hosts=()).files(tmp_path, "client")
        assert (await transport.send(GET)).status == 200
        await transport.aclose()


async def test_a_kubeconfig_is_enough(tmp_path: Path) -> None:
    requested: list[ReceivedRequest] = []
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    async with scripted(recording(requested), context=context) as server:
        (tmp_path / "config").write_text(
            f"clusters: [{{name: c, cluster: {{server: '{server.address}/below', "
            f"certificate-authority-data: {b64encode(AUTHORITY.certificate).decode()}}}}}]\n"
            "users: [{name: u, user: {username: me, password: secret}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
        )
        transport = connect_transport(load_config(tmp_path / "config", environ={}))
        assert (await transport.send(GET)).status == 200
        await transport.aclose()
    assert requested[0].line == "GET /below/x HTTP/1.1"
    assert requested[0].headers["authorization"] == ["Basic " + b64encode(b"me:secret").decode()]


SOURCES = {
    "nothing": (Config("https://h"), "NoneType"),
    "token": (Config("https://h", token="t"), "StaticCredentials"),
    "token file": (Config("https://h", token="t", token_file="f"), "TokenFile"),
    "password": (Config("https://h", username="u", token="t"), "StaticCredentials"),
    "program": (Config("https://h", exec=PLUGIN), "ExecPlugin"),
    "program and token": (Config("https://h", token="t", exec=PLUGIN), "StaticCredentials"),
    "program and certificate": (Config("https://h", exec=PLUGIN, tls=TlsOptions(certificate_data=b"c")), "NoneType"),
    "certificate files": (
        Config("https://h", token="t", tls=TlsOptions(certificate_file="c", key_file="k")),
        "ClientCertificateFiles",
    ),
}


@pytest.mark.parametrize(("config", "kind"), SOURCES.values(), ids=SOURCES)
def test_where_credentials_come_from(config: Config, kind: str) -> None:
    assert type(credential_source(config)).__name__ == kind


@pytest.mark.parametrize("config", [Config("h:80"), Config("https://h", proxy_url="ftp://p")], ids=["server", "proxy"])
def test_an_address_that_is_none_is_an_error_of_the_configuration(config: Config) -> None:
    with pytest.raises(ConfigError):
        connect_transport(config)
