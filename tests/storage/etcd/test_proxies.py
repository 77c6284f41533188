"""Proxies between the store and etcd: etcd's gateway works, its gRPC proxy is refused."""

import asyncio
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.availability import PROBE_PAUSE_S
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.stream import WatchedThroughProxy
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreMisconfigured, StoreUnreachable
from tests.ports import free_ports
from tests.robustness.proxy import Proxy
from tests.storage.etcd.fake import FakeEtcd, serving
from tests.storage.etcd.server import START_TIMEOUT_S, Member, etcd_binary

KEY = "/registry/pods/ns/a"


@contextmanager
def between(kind: str, member: Member, directory: Path) -> Iterator[str]:
    """The URL of one of etcd's proxies before a member: `gateway`, or `grpc-proxy`."""
    port = free_ports(1)[0]
    line = [etcd_binary(), kind, "start", f"--endpoints=127.0.0.1:{member.port}", f"--listen-addr=127.0.0.1:{port}"]
    with (directory / "proxy.log").open("wb") as log:
        process = subprocess.Popen([str(word) for word in line], stdout=log, stderr=log)
    try:
        _await_listening(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _await_listening(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


async def test_a_grpc_proxy_is_refused_as_it_may_leave_out_events(etcd: Member, tmp_path: Path) -> None:
    with between("grpc-proxy", etcd, tmp_path) as url:
        store = EtcdStore(EtcdSettings((url,)))
        with pytest.raises(StoreMisconfigured, match=rf"which may drop events of watches.*\({url}\)"):
            await store.open()


async def test_a_watch_that_comes_to_a_grpc_proxy_goes_on_elsewhere(etcd: Member, tmp_path: Path) -> None:
    with between("grpc-proxy", etcd, tmp_path) as url:
        client = EtcdClient(EtcdSettings((url, etcd.url)))
        with pytest.raises(WatchedThroughProxy):
            async with client.watch(b"/registry/", b"/registry0", 0):
                pass
        assert client.endpoint.server == etcd.url
        await client.close()


async def test_a_gateway_passes_everything_on(etcd: Member, tmp_path: Path) -> None:
    with between("gateway", etcd, tmp_path) as url:
        store = EtcdStore(EtcdSettings((url,)))
        await store.open()
        revision = await store.create(KEY, b"1")
        async with store.watch("/registry/", "/registry0", revision - 1) as watch:
            batch = await anext(aiter(watch))
        assert [(event.revision, event.value) for event in batch.events] == [(revision, b"1")]
        await store.close()


async def never(request: Any, context: Any) -> Any:
    """Do nothing: the tests send no write."""


class CutOff(FakeEtcd):
    """A member that has lost the others."""

    async def range(self, request: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.UNAVAILABLE, "etcdserver: request timed out")


async def test_behind_a_gateway_a_member_that_is_cut_off_is_left_for_another_one(etcd: Member) -> None:
    async with serving(CutOff(never)) as cut_off:
        gateway = Proxy("127.0.0.1", int(cut_off.rpartition(":")[2]))
        await gateway.start()
        client = EtcdClient(EtcdSettings((f"http://127.0.0.1:{gateway.port}",), total_s=0.2))
        with pytest.raises(StoreUnreachable):
            await client.call(messages.RANGE, messages.RangeRequest(key=b"a"))
        gateway.target = etcd.port
        async with asyncio.timeout(START_TIMEOUT_S):
            while not await is_reachable(client):  # noqa: ASYNC110
                await asyncio.sleep(PROBE_PAUSE_S)
        await client.close()
        await gateway.close()


async def is_reachable(client: EtcdClient) -> bool:
    """Return True if etcd responds."""
    try:
        await client.call(messages.RANGE, messages.RangeRequest(key=b"a"))
    except StoreUnreachable:
        return False
    return True
