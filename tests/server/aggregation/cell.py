"""A server, and another one behind an APIService of it: HTTPS on a real socket, with the proxy's client certificate."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from sampan.server.aggregation.settings import AggregationSettings, Intervals
from tests.server.cluster import Api, served
from tests.server.proxy.upstream import ReceivedRequest, Respond, Upstream, upstream
from tests.server.tls_files import Files, make_files

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
GROUP = "metrics.example.com"
PATH = f"/apis/{GROUP}/v1"
ITEM = f"{API_SERVICES}/v1.{GROUP}"
FAST = Intervals(resync_s=30, documents_s=60, retry_s=0.02, documents_retry_s=0.02)
RESOURCES = {
    "kind": "APIResourceList",
    "groupVersion": f"{GROUP}/v1",
    "resources": [
        {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get", "list"]},
        {"name": "things/status", "singularName": "", "namespaced": True, "kind": "Thing", "verbs": ["get"]},
    ],
}

Json = dict[str, Any]


async def send_json(requested: ReceivedRequest, value: Any, head: str = "HTTP/1.1 200 OK\r\n") -> None:
    """Answer with JSON."""
    await requested.response(orjson.dumps(value), f"{head}Content-Type: application/json\r\n")


async def legacy(requested: ReceivedRequest) -> None:
    """A backend that serves legacy discovery only, and answers all else with `{}`."""
    if requested.target == "/apis":
        await requested.response(b"404 page not found\n", "HTTP/1.1 404 Not Found\r\n")
    elif requested.target == PATH:
        await send_json(requested, RESOURCES)
    else:
        await requested.body()
        await send_json(requested, {"seen": requested.target})


async def moment() -> None:
    """Let the server work."""
    await asyncio.sleep(0.01)


@dataclass
class Cell:
    """The server, the other one, and what signs their certificates."""

    api: Api
    backend: Upstream
    files: Files

    async def service(self, name: str = "metrics", **spec: Any) -> None:
        """A service; without a spec one that leads to this machine."""
        spec = spec or {"type": "ExternalName", "externalName": "localhost"}
        await self.api.create("/api/v1/namespaces/default/services", {"metadata": {"name": name}, "spec": spec})

    async def api_service(self, *, group: str = GROUP, version: str = "v1", port: int = 0, **spec: Any) -> Any:
        """An APIService with a service."""
        if not spec.get("insecureSkipTLSVerify") and "caBundle" not in spec:
            spec["caBundle"] = base64.b64encode(self.files.ca_file.read_bytes()).decode()
        service = {"namespace": "default", "name": "metrics", "port": port or self.backend.port}
        desired = {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 100,
            "versionPriority": 10,
            "service": service,
            **spec,
        }
        return await self.api.create(API_SERVICES, {"metadata": {"name": f"{version}.{group}"}, "spec": desired})

    async def condition(self, reason: str, name: str = f"v1.{GROUP}") -> Json:
        """The condition Available, as soon as it has this reason."""
        async with (
            asyncio.timeout(60),
            self.api.watch(f"{API_SERVICES}?watch=1&fieldSelector=metadata.name={name}") as watch,
        ):
            while True:
                event = await watch.event(10)
                for condition in event["object"].get("status", {}).get("conditions", ()):
                    if condition["reason"] == reason:
                        found: Json = condition
                        return found

    async def available(self) -> None:
        """The other server is reached by a service, and found available."""
        await self.service()
        await self.api_service()
        await self.condition("Passed")

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what the server does by itself."""
        async with asyncio.timeout(60):
            while not condition():
                await moment()

    def requests(self, target: str) -> list[ReceivedRequest]:
        """Return the requests of the backend at a path."""
        return [requested for requested in self.backend.requested if requested.target == target]


@asynccontextmanager
async def cell(
    folder: Path, response: Respond = legacy, *, intervals: Intervals = FAST, **settings: Any
) -> AsyncIterator[Cell]:
    """See the module. The backend wants to see a client certificate."""
    files = make_files(folder)
    serving, client = files.serving("metrics", "metrics.default.svc"), files.client("front-proxy-client")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(serving.certificate, serving.key)
    tls.load_verify_locations(files.ca_file)
    tls.verify_mode = ssl.CERT_REQUIRED
    aggregation = AggregationSettings(client.certificate, client.key, intervals=intervals, **settings)
    async with upstream(response, tls) as backend, served(aggregation=aggregation) as api:
        yield Cell(api, backend, files)
