"""A transport with metrics APIs whose values tests set. Other requests go to the server."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson

from sampan.client.transport import Headers, HttpRequest, HttpResponse, Transport
from sampan.core.time import format_time

_GROUPS = ("/apis/metrics.k8s.io/", "/apis/custom.metrics.k8s.io/", "/apis/external.metrics.k8s.io/")


@dataclass(slots=True)
class Published:
    """A response."""

    status: int
    body: bytes
    headers: Headers = field(default_factory=dict)

    async def read(self) -> bytes:
        return self.body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self.body

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


class MetricsApis:
    """Answers requests to metrics APIs, and passes all others on."""

    def __init__(self, server: Transport) -> None:
        self._server = server
        self._items: dict[str, list[Any]] = {}

    def publish(self, path: str, items: list[Any]) -> None:
        """Set the response for a path under /apis/."""
        self._items[f"/apis/{path}"] = items

    def use(self, usage: dict[str, str], *, resource: str = "cpu", namespace: str = "default") -> None:
        """Set the usage of a resource by the Pods' names."""
        self.publish(
            f"metrics.k8s.io/v1beta1/namespaces/{namespace}/pods",
            [
                {
                    "metadata": {"name": name},
                    "timestamp": now(),
                    "window": "30s",
                    "containers": [{"name": "main", "usage": {resource: amount}}],
                }
                for name, amount in usage.items()
            ],
        )

    async def send(self, request: HttpRequest) -> HttpResponse:
        path = unquote(urlsplit(request.target).path)
        if not path.startswith(_GROUPS):
            return await self._server.send(request)
        items = self._items.get(path)
        if items is None:
            return Published(404, b'{"kind":"Status","code":404,"reason":"NotFound","message":"not served"}')
        return Published(200, orjson.dumps({"kind": "List", "items": items}))

    async def aclose(self) -> None:
        await self._server.aclose()


def now() -> str:
    """Return a timestamp in the format of the APIs."""
    return format_time(dt.datetime.now(dt.UTC))
