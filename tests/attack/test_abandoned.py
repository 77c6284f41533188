"""Abandoned requests free their memory at once, without the collector."""

import asyncio
import gc
import struct
import time
import tracemalloc

import pytest

from sampan.server.connections.settings import HttpSettings
from tests.attack.floods import PREFACE, frame, literal
from tests.attack.test_memory import collected_by_hand, large_values
from tests.server.cluster import served
from tests.server.connections.test_unread import unreading
from tests.server.http2_client import Running, running
from tests.server.tls_files import make_files

MAPS = "/api/v1/namespaces/default/configmaps"
LARGE_BYTES = 900_000
MAPS_COUNT = 4
REPEATS = 12
GROWTH_BYTES_MAX = 10_000_000
"""Less than the responses of all repeats. Caches of rows and of lists are allowed to grow."""
SETTLE_S = 5.0
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
TARGETS = {
    "get": (f"{MAPS}/large-0", {}),
    "list": (f"{MAPS}?labelSelector=a%21%3Db", {}),
    "list with gzip": (f"{MAPS}?labelSelector=a%21%3Dc", {"accept-encoding": "gzip"}),
    "table": (f"{MAPS}?includeObject=Object", {"accept": TABLE}),
    "protobuf": (MAPS, {"accept": "application/vnd.kubernetes.protobuf"}),
    "yaml": (MAPS, {"accept": "application/yaml"}),
    "watch": (f"{MAPS}?watch=1", {}),
    "document": ("/openapi/v2", {}),
}
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
CASES = {f"{name} by HTTP/{version}": (version, *target) for name, target in TARGETS.items() for version in (1, 2)}
CASES["watch by WebSocket"] = (1, f"{MAPS}?watch=1", UPGRADE)


def request_1(target: str, headers: dict[str, str]) -> bytes:
    fields = {"host": "a", "authorization": "Bearer master-token", **headers}
    return "\r\n".join([f"GET {target} HTTP/1.1", *(f"{n}: {v}" for n, v in fields.items()), "", ""]).encode()


def request_2(target: str, headers: dict[str, str]) -> bytes:
    fields = {":method": "GET", ":scheme": "https", ":path": target, ":authority": "a"}
    fields |= {"authorization": "Bearer master-token", **headers}
    block = b"".join(literal(name, value) for name, value in fields.items())
    return PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 0)) + frame(1, 5, 1, block)


def abandon(port: int, version: int, sent: bytes, wait_s: float) -> None:
    """Send a request, read a few bytes or none, and disconnect."""
    sock = unreading(port, *(("h2",) if version == 2 else ()))
    sock.send(sent)
    if wait_s:
        sock.recv(10)
        time.sleep(wait_s)
    sock.close()


async def abandoned(server: Running, version: int, sent: bytes, wait_s: float) -> None:
    await asyncio.to_thread(abandon, server.port, version, sent, wait_s)
    async with asyncio.timeout(10):
        while server.server.connection_count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.02)  # not `len(tasks)`: it would remove the ended tasks, which must hold nothing themselves


async def settled(before: int) -> int:
    """Return the growth in bytes when threads have noticed that their requests are gone."""
    until = time.monotonic() + SETTLE_S
    while (  # noqa: ASYNC110  # threads notify nothing
        growth := tracemalloc.get_traced_memory()[0] - before
    ) >= GROWTH_BYTES_MAX and time.monotonic() < until:
        await asyncio.sleep(0.05)
    return growth


@pytest.mark.parametrize("wait_s", [0.0, 0.05], ids=["at once", "after the first bytes"])
@pytest.mark.parametrize(("version", "target", "headers"), CASES.values(), ids=CASES)
async def test_an_abandoned_request_leaves_nothing(
    tmp_path_factory: pytest.TempPathFactory, version: int, target: str, headers: dict[str, str], wait_s: float
) -> None:
    sent = (request_1 if version == 1 else request_2)(target, headers)
    files = make_files(tmp_path_factory.mktemp("tls"))
    async with served() as api, running(files, api.client.handler, HttpSettings(linger_s=0.0)) as server:
        for index in range(MAPS_COUNT):
            made = {"metadata": {"name": f"large-{index}"}, "data": {"a": "x" * LARGE_BYTES}}
            assert (await api.post(MAPS, made)).code == 201
        await api.get(target, **{name.replace("-", "_"): value for name, value in headers.items() if name == "accept"})
        for _ in range(3):
            await abandoned(server, version, sent, wait_s)  # fills caches
        with collected_by_hand() as garbage:
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(REPEATS):
                await abandoned(server, version, sent, wait_s)
            growth = await settled(before)
            tracemalloc.stop()
            gc.collect()
            retained = [f"{type(value).__name__} of {len(value)}" for value in large_values(garbage)]  # type: ignore[arg-type]
            shown = sorted({type(each).__name__ for each in garbage})
    assert retained == [], shown
    assert growth < GROWTH_BYTES_MAX
