"""What stands between the store and etcd: etcd's own gateway passes everything on, its gRPC proxy is refused."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.stream import WatchedThroughProxy
from sampan.storage.store import StoreMisconfigured
from tests.storage.etcd.server import START_TIMEOUT_S, Member, etcd_binary, free_ports

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
        with pytest.raises(StoreMisconfigured, match=rf"it may leave out events of watches.*\({url}\)"):
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
        store = EtcdStore(EtcdSettings((url,), entry_wait_s=0.02))
        await store.open()
        revision = await store.create(KEY, b"1")
        async with store.watch("/registry/", "/registry0", revision - 1) as watch:
            batch = await anext(aiter(watch))
        assert [(event.revision, event.value) for event in batch.events] == [(revision, b"1")]
        await store.close()
