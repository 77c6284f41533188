"""No address that an object names is dialled if it is link-local: each way to make the server connect is tried."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.response import WebhookError
from sampan.registry.webhook.services import ServiceAddress
from sampan.registry.webhook.target import WebhookTarget, target_of
from sampan.server.proxy.exchange import Outgoing
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.target import ProxyTarget
from tests.dialling import FORBIDDEN, SPELLINGS, loopback_only
from tests.registry.webhook.tls import bundle, listening, requests
from tests.server.admission.webhook.hooks import MAPS, config_map, configure, hook
from tests.server.aggregation import cell as aggregation
from tests.server.cluster import Api, served
from tests.server.proxy import kubelet
from tests.server.proxy.upstream import ReceivedRequest

__all__ = ["loopback_only"]
pytestmark = pytest.mark.usefixtures("loopback_only")

NAMES = ("169.254.169.254", *SPELLINGS[:1])
"""Spellings of an address that objects may hold as DNS names, even in fields where an address is refused."""
URLS = [f"[{host}]" if ":" in host else host for host in FORBIDDEN + SPELLINGS if "%" not in host]
UPGRADE = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}
REFUSED = "address not allowed"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as found:
        yield found


async def hello(requested: ReceivedRequest) -> None:
    await requested.response(b"hello")


@pytest.mark.parametrize("host", URLS)
async def test_a_webhook_url(host: str) -> None:
    webhook = HttpsWebhook(target_of({"url": f"https://{host}/hook"}), _no_services)
    with pytest.raises(WebhookError, match="(?i)" + re.escape(f"{host}/hook") + f".*: {REFUSED}$"):
        await webhook.post(b"{}", 30)


@pytest.mark.parametrize("host", FORBIDDEN + SPELLINGS)
async def test_an_endpoint_of_a_webhook_service(host: str) -> None:
    target = target_of({"service": {"namespace": "n", "name": "s"}})
    with pytest.raises(WebhookError, match=f"https://s.n.svc:443.*: {REFUSED}$"):
        await HttpsWebhook(target, lambda *_: [ServiceAddress(host, 443)]).post(b"{}", 30)


async def test_a_redirect_of_a_webhook(tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader):
            writer.write(b"HTTP/1.1 307 T\r\nLocation: https://169.254.169.254/x\r\nContent-Length: 0\r\n\r\n")

    async with listening(tmp_path, handle) as port:
        webhook = HttpsWebhook(target_of({"url": f"https://127.0.0.1:{port}/", "caBundle": bundle()}), _no_services)
        with pytest.raises(WebhookError, match=f": {REFUSED}$"):
            await webhook.post(b"{}", 30)
        webhook.close()


async def test_the_host_of_a_setting_may_be_any(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[str] = []

    async def create_connection(make: Any, host: str, port: int, **_: Any) -> Any:
        dialled.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", create_connection)
    webhook = HttpsWebhook(WebhookTarget("169.254.1.1", 80, "/", secure=False, is_setting=True), _no_services)
    with pytest.raises(WebhookError, match="connection refused"):
        await webhook.post(b"{}", 30)
    assert dialled == ["169.254.1.1"]


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
async def test_an_admission_webhook(api: Api, kind: str) -> None:
    await configure(api, kind, hook(clientConfig={"url": "https://169.254.169.254/hook"}, failurePolicy="Fail"))
    response = await api.post(MAPS, config_map())
    assert (response.code, response.message.endswith(f": {REFUSED}")) == (500, True), response.message


@pytest.mark.parametrize("name", NAMES)
async def test_a_service_with_an_external_name_behind_a_webhook(api: Api, name: str) -> None:
    service = {"metadata": {"name": "s"}, "spec": {"type": "ExternalName", "externalName": name}}
    await api.create("/api/v1/namespaces/default/services", service)
    config = {"service": {"namespace": "default", "name": "s"}}
    await configure(api, "Validating", hook(clientConfig=config, failurePolicy="Fail"))
    response = await api.post(MAPS, config_map())
    assert (response.code, response.message.endswith(f": {REFUSED}")) == (500, True), response.message


@pytest.mark.parametrize("name", NAMES)
async def test_a_service_with_an_external_name_behind_an_api_service(tmp_path: Path, name: str) -> None:
    async with aggregation.cell(tmp_path) as here:
        await here.service(type="ExternalName", externalName=name)
        await here.api_service()
        assert REFUSED in (await here.condition("FailedDiscoveryCheck"))["message"]
        response = await here.api.get(f"{aggregation.PATH}/things")
        assert response.code == 503


@pytest.mark.parametrize("host", FORBIDDEN + SPELLINGS)
async def test_an_upstream_of_the_proxy(host: str) -> None:
    for target in (ProxyTarget(host, 80, "/"), ProxyTarget("n1", 80, "/", address=host)):
        with pytest.raises(StatusError, match=f": {REFUSED}$"):
            await Proxy().send(target, Outgoing("GET", {}))


@pytest.mark.parametrize("path", ["pods/p/log", "pods/p/exec?command=ls&stdout=1", "pods/p/portforward"])
@pytest.mark.parametrize(("kind", "address"), [("InternalIP", "169.254.169.254"), ("Hostname", "2852039166")])
async def test_the_address_of_a_node(tmp_path: Path, kind: str, address: str, path: str) -> None:
    async with kubelet.cell(tmp_path, hello) as here:
        await here.add_node("n2", addresses=[{"type": kind, "address": address}])
        await here.add_pod(node="n2")
        upgrade = {} if path.endswith("log") else UPGRADE
        response = await here.api.get(f"/api/v1/namespaces/default/{path}", **upgrade)
        assert REFUSED in response.message


@pytest.mark.parametrize(("kind", "address"), [("InternalIP", "169.254.169.254"), ("Hostname", "2852039166")])
@pytest.mark.parametrize("name", ["n2", "n2:80"])
async def test_the_address_of_a_node_through_its_proxy(tmp_path: Path, kind: str, address: str, name: str) -> None:
    async with kubelet.cell(tmp_path, hello) as here:
        await here.add_node("n2", addresses=[{"type": kind, "address": address}])
        response = await here.api.get(f"/api/v1/nodes/{name}/proxy/")
        assert (response.code, response.message) == (400, REFUSED)


def _no_services(namespace: str, name: str, port: int) -> list[ServiceAddress]:
    raise AssertionError("there is no service")
