"""Contract of every place that verifies a server: any certificate of the bundle is trusted, as by Go's x509."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from sampan.client.transport import HttpRequest
from sampan.http.client.address import ServerAddress
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import TlsOptions
from sampan.http.client.transport import HttpTransport
from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.services import ServiceAddress
from sampan.registry.webhook.target import target_of
from sampan.server.aggregation.api_service import api_service_of
from sampan.server.aggregation.backend import Backends
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.authentication.jwt.https import HttpsGet
from sampan.server.proxy.exchange import Outgoing
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.kubelet import KubeletConnection, KubeletSettings
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import UserInfo
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.diagnosis import findings
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.wire import json
from tests.trust.chains import HOST, REFUSED, REFUSED_SERVERS, TRUSTED, Case

Reach = Callable[[Case, Path], Awaitable[None]]
"""Connects to a server that shows the case's certificate, trusting its bundle. Raises when the server is refused."""

_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
_TIMEOUT_S = 30.0


@asynccontextmanager
async def https(case: Case, folder: Path) -> AsyncIterator[int]:
    """A server of HTTP/1.1 that answers everything with `{}`; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*case.files(folder))

    async def response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await reader.read(1 << 16):
                writer.write(_OK)
            await reader.read()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(response, HOST, 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def grpcs(case: Case) -> AsyncIterator[int]:
    """A server of gRPC without methods; gives its port."""
    server = grpc.aio.server()
    credentials = grpc.ssl_server_credentials([(case.shown.key_pem(), case.chain_pem)])
    port = server.add_secure_port(f"{HOST}:0", credentials)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


def _bundle(case: Case) -> str:
    return base64.b64encode(case.bundle_pem.encode()).decode()


async def webhook_of_an_object(case: Case, folder: Path) -> None:
    """clientConfig of admission webhooks, and of the conversion of CRDs."""
    async with https(case, folder) as port:
        target = target_of({"url": f"https://{HOST}:{port}/", "caBundle": _bundle(case)})
        await _post(HttpsWebhook(target, _no_services))


async def webhook_of_a_service(case: Case, folder: Path) -> None:
    """clientConfig of the same that names a service."""
    async with https(case, folder) as port:
        target = target_of({"service": {"namespace": "n", "name": "s"}, "caBundle": _bundle(case)})
        await _post(HttpsWebhook(target, lambda *_: [ServiceAddress(HOST, port)]))


async def webhook_of_a_kubeconfig(case: Case, folder: Path) -> None:
    """Authentication, authorization, audit, image policy."""
    async with https(case, folder) as port:
        file = folder / "kubeconfig"
        cluster = {"server": f"https://{HOST}:{port}", "certificate-authority-data": _bundle(case)}
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": cluster}],
        }
        file.write_bytes(json.encode(config))
        target, credentials = read_webhook_kubeconfig(file)
        await _post(HttpsWebhook(target, _no_services, credentials))


async def api_service(case: Case, folder: Path) -> None:
    """caBundle of an APIService."""
    async with https(case, folder) as port:
        spec = {"version": "v1", "service": {"namespace": "n", "name": "s"}, "caBundle": _bundle(case)}
        service = api_service_of({"metadata": {"name": "v1.example.com"}, "spec": spec})
        backends = Backends(lambda *_: [ServiceAddress(HOST, port)], AggregationSettings())
        await _handshake(backends.target(service, UserInfo("u"), "/"))


async def kubelet(case: Case, folder: Path) -> None:
    """--kubelet-certificate-authority."""
    async with https(case, folder) as port:
        node = {"status": {"addresses": [{"type": "InternalIP", "address": HOST}]}}
        connection = KubeletConnection(_Node(node), KubeletSettings(certificate_authority=case.bundle_file(folder)))
        await _handshake(ProxyTarget(HOST, port, "/", tls=connection.of("n").tls))


async def issuer(case: Case, folder: Path) -> None:
    """certificateAuthority of a JWT issuer: discovery document, keys, distributed claims."""
    async with https(case, folder) as port:
        await HttpsGet(case.bundle_pem)(f"https://{HOST}:{port}/jwks")


async def client_with_data(case: Case, folder: Path) -> None:
    """certificate-authority-data of a kubeconfig."""
    await _client(case, folder, TlsOptions(ca_data=case.bundle_pem.encode()))


async def client_with_a_file(case: Case, folder: Path) -> None:
    """certificate-authority of a kubeconfig; the CA of a service account."""
    await _client(case, folder, TlsOptions(ca_file=str(case.bundle_file(folder))))


async def etcd(case: Case, folder: Path) -> None:
    """--etcd-cafile, as gRPC reads it."""
    async with grpcs(case) as port:
        endpoint = EtcdEndpoint(f"https://{HOST}:{port}", _etcd(case, folder, port))
        try:
            await endpoint.call(messages.STATUS, messages.StatusRequest(), _TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
        finally:
            await endpoint.close()


async def etcd_diagnosis(case: Case, folder: Path) -> None:
    """--etcd-cafile, as the diagnosis reads it."""
    async with grpcs(case) as port:
        if found := await findings(_etcd(case, folder, port)):
            raise ValueError(str(found))


SETTINGS = (
    webhook_of_an_object, webhook_of_a_service, webhook_of_a_kubeconfig, api_service, kubelet, issuer,
    client_with_data, client_with_a_file, etcd, etcd_diagnosis,
)  # fmt: skip


@pytest.mark.parametrize("case", TRUSTED.values(), ids=TRUSTED)
@pytest.mark.parametrize("reach", SETTINGS)
async def test_any_certificate_of_the_bundle_is_trusted(reach: Reach, case: Case, tmp_path: Path) -> None:
    await reach(case, tmp_path)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("reach", SETTINGS)
async def test_a_server_that_the_bundle_does_not_vouch_for_is_refused(reach: Reach, case: Case, tmp_path: Path) -> None:
    if reach is etcd and case is REFUSED["a leaf signed by a leaf"]:
        pytest.skip("BoringSSL, which is part of gRPC, lets a trusted certificate sign others though it is no CA")
    with pytest.raises(Exception, match=r"(?i)certificate|tls|handshake|connect|unavailable|does not match"):
        await reach(case, tmp_path)


@pytest.mark.parametrize("case", REFUSED_SERVERS.values(), ids=REFUSED_SERVERS)
@pytest.mark.parametrize("reach", SETTINGS)
async def test_a_server_with_another_name_is_refused_though_the_bundle_holds_its_certificate(
    reach: Reach, case: Case, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"(?i)certificate|tls|handshake|connect|unavailable|does not match"):
        await reach(case, tmp_path)


class _Node:
    def __init__(self, node: Any) -> None:
        self._node = node

    def get(self, group: str, resource: str, namespace: str, name: str) -> Any:
        return self._node


def _etcd(case: Case, folder: Path, port: int) -> EtcdSettings:
    return EtcdSettings((f"https://{HOST}:{port}",), "/registry", case.bundle_file(folder), None, None)


def _no_services(namespace: str, name: str, port: int) -> list[ServiceAddress]:
    raise AssertionError("there is no service")


async def _post(webhook: HttpsWebhook) -> None:
    try:
        await webhook.post(b"{}", _TIMEOUT_S)
    finally:
        webhook.close()


async def _handshake(target: ProxyTarget) -> None:
    exchange = await Proxy(connect_timeout_s=_TIMEOUT_S).send(target, Outgoing("GET", {"host": HOST}))
    exchange.abandon()


async def _client(case: Case, folder: Path, tls: TlsOptions) -> None:
    async with https(case, folder) as port:
        transport = HttpTransport(ServerAddress("https", HOST, port), tls=tls, settings=HttpClientSettings())
        try:
            await (await transport.send(HttpRequest("GET", "/"))).read()
        finally:
            await transport.aclose()
