"""Webhook servers for tests: kinds, reviews as kube-apiserver sends them, certificates in memory, HTTPS requests."""

import asyncio
import base64
import datetime
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import orjson

from sampan.operator.manager import Manager
from sampan.operator.webhook import WebhookOptions, WebhookServer
from sampan.operator.webhook.certificates import CertificateStore, Stored
from sampan.resource import CustomResource, resource
from tests.operator.manager.frame import manager

GROUP = "net.example.com"
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
LOOPBACK = WebhookOptions(host="127.0.0.1", port=0)

Json = dict[str, Any]


class NetworkSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    cidr: str
    gateway: str = ""
    replicas: int = 1
    routes: list["Route"] = msgspec.field(default_factory=list)


class Route(msgspec.Struct, rename="camel", omit_defaults=True):
    to: str
    metric: int = 0


@resource(group=GROUP, version="v1", storage=False)
class Network(CustomResource):
    spec: NetworkSpec


class NetworkSpecV2(msgspec.Struct, rename="camel", omit_defaults=True):
    address: str
    length: int
    gateway: str = ""


@resource(group=GROUP, version="v2", kind="Network")
class NetworkV2(CustomResource):
    spec: NetworkSpecV2


class FixedClock:
    """A clock that is set by hand."""

    def __init__(self, now: datetime.datetime = START) -> None:
        self._now = now

    def now(self) -> datetime.datetime:
        return self._now

    def advance(self, **by: float) -> None:
        self._now += datetime.timedelta(**by)


class MemoryCertificates:
    """A `CertificateStore` in memory, shared by replicas. `before_save` is called before each attempt to save."""

    def __init__(self) -> None:
        self.stored: Stored | None = None
        self.saves = 0
        self.before_save: Callable[[], None] = lambda: None
        self._watchers: list[Callable[[], None]] = []

    async def load(self) -> Stored | None:
        return self.stored

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        self.before_save()
        await asyncio.sleep(0)
        if self.stored is not before:
            return False
        self.saves += 1
        self.stored = Stored(dict(files), str(self.saves))
        for changed in self._watchers:
            changed()
        return True

    async def watch(self, changed: Callable[[], None]) -> None:
        self._watchers.append(changed)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._watchers.remove(changed)


def webhook_server(
    *, made: Manager | None = None, store: CertificateStore | None = None, options: WebhookOptions = LOOPBACK
) -> WebhookServer:
    return WebhookServer(made or manager(), store or MemoryCertificates(), options)


@asynccontextmanager
async def running(server: WebhookServer) -> AsyncIterator[WebhookServer]:
    """Serve as long as the block lasts."""
    task = asyncio.create_task(server.run())
    ready = asyncio.create_task(server.ready())
    try:
        async with asyncio.timeout(60):
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield server
    finally:
        ready.cancel()
        task.cancel()
        await asyncio.wait({task})


def network(*, name: str = "net", **spec: Any) -> Json:
    """A Network as it travels."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Network",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"cidr": "10.0.0.0/24", **spec},
    }


def review(operation: str, obj: Any = None, old: Any = None, *, version: str = "v1", **more: Any) -> Json:
    """An AdmissionReview with everything that kube-apiserver writes."""
    kind = {"group": GROUP, "version": "v1", "kind": "Network"}
    gvr = {"group": GROUP, "version": "v1", "resource": "networks"}
    return {
        "kind": "AdmissionReview",
        "apiVersion": f"admission.k8s.io/{version}",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind,
            "resource": gvr,
            "requestKind": kind,
            "requestResource": gvr,
            "name": "net",
            "namespace": "default",
            "operation": operation,
            "userInfo": {"username": "ann", "groups": ["system:authenticated"], "extra": {"scopes": ["a", "b"]}},
            "object": obj,
            "oldObject": old,
            "dryRun": False,
            "options": {"kind": f"{operation.title()}Options", "apiVersion": "meta.k8s.io/v1"},
            **more,
        },
    }


async def fetch(
    server: WebhookServer, path: str, body: Any, *, method: str = "POST", **headers: str
) -> tuple[int, Any]:
    """One HTTPS request, as an API server makes it: the code, and the body decoded if it is JSON."""
    context = ssl.create_default_context(cadata=server.certificates.material.ca_bundle.decode())
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context)
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    fields = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    lines = "".join(f"{name}: {text}\r\n" for name, text in fields.items())
    head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(content)}\r\n{lines}\r\n"
    writer.write(head.encode() + content)
    reply = await reader.read()
    writer.close()
    await writer.wait_closed()
    first, _, rest = reply.partition(b"\r\n\r\n")
    code = int(first.split(b" ")[1])
    return code, orjson.loads(rest) if b"application/json" in first else rest


async def reviewed(server: WebhookServer, path: str, body: Json) -> Json:
    """The response of a review that was answered."""
    code, reply = await fetch(server, path, body)
    assert code == 200, reply
    assert (reply["kind"], reply["apiVersion"]) == (body["kind"], body["apiVersion"])
    response: Json = reply["response"]
    assert response["uid"] == body["request"]["uid"]
    return response


def patch_of(response: Json) -> list[Json]:
    """The JSON patch of a response."""
    assert response["patchType"] == "JSONPatch"
    operations: list[Json] = orjson.loads(base64.b64decode(response["patch"]))
    return operations
