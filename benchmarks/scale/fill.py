"""Write very many objects into a store without a server: copies of a ConfigMap and a Pod that a server has made."""

import asyncio
import http.client
import json
import ssl
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import objects
from benchmarks.connection import Target
from sampan.storage.encoding import encode
from sampan.storage.store import Store

_WRITERS = 256
Report = Callable[[str], None]
Templates = list[tuple[str, dict[str, Any]]]


def templates(target: Target) -> Templates:
    """Return one ConfigMap and one Pod as a prepared server stores them, each with the prefix of its keys."""
    made = (
        ("/registry/configmaps/", _made(target, objects.CONFIG_MAPS, objects.config_map(0, prefix="template"))),
        ("/registry/pods/", _made(target, objects.PODS, objects.pod(0))),
    )
    return list(made)


async def fill(store: Store, of: Templates, count: int) -> None:
    """Write `count` objects into an open store: equal numbers of each template, in ten namespaces.

    Some writes are concurrent.
    """
    rows = _rows(of, count)

    async def write() -> None:
        for key, value in rows:
            await store.create(key, value)

    await asyncio.gather(*(write() for _ in range(_WRITERS)))


def _rows(of: Templates, count: int) -> Iterator[tuple[str, bytes]]:
    for number in range(count):
        prefix, template = of[number % len(of)]
        name, namespace = f"object-{number:07}", f"many-{number // len(of) % 10}"
        uid = f"{number:08x}-0000-4000-8000-000000000000"
        metadata = {**template["metadata"], "name": name, "namespace": namespace, "uid": uid}
        yield f"{prefix}{namespace}/{name}", encode({**template, "metadata": metadata})


def _made(target: Target, path: str, body: bytes) -> dict[str, Any]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(target.host, target.port, context=context, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"}
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 201:
            raise RuntimeError(f"POST {path}: {response.status} {content.decode(errors='replace')}")
        made: dict[str, Any] = json.loads(content)
        return made
    finally:
        connection.close()
