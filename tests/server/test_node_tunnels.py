"""The path at which nodes open tunnels. The node is the attacker."""

import asyncio

import pytest

from sampan.http.tunnel import Tunnel
from tests.server.cluster import Api, served
from tests.server.frame import JANE, MASTER
from tests.streams.linked import connecting
from tests.streams.sessions import listening, tunnels

UPGRADE = {"connection": "Upgrade", "upgrade": "sampan-tunnel"}


def user(name: str, *groups: str) -> dict[str, str]:
    """Return the headers of an administrator that impersonates a user."""
    return {**MASTER, "impersonate-user": name, **({"impersonate-group": groups[0]} if groups else {})}


def node(name: str) -> dict[str, str]:
    return user(f"system:node:{name}", "system:nodes")


async def code(api: Api, path: str, headers: dict[str, str], **more: str) -> int:
    response = await Api(api.server, headers).fetch("GET", path, **{**UPGRADE, **more})
    if response.response.finished is not None:
        response.response.finished()
    return response.code


async def add_nodes(api: Api, *names: str) -> None:
    for name in names:
        await api.create("/api/v1/nodes", {"metadata": {"name": name}})


@pytest.mark.parametrize(
    ("headers", "path", "expected"),
    [
        (node("b"), "/node-tunnels/b", 101),
        (node("b"), "/node-tunnels/c", 403),
        (node("b"), "/node-tunnels/", 403),
        (node("b"), "/node-tunnels/b/", 403),
        (node("b"), "/node-tunnels/c/../b", 403),
        (node("b"), "/node-tunnels/b%2Fc", 403),
        (node("b"), "/node-tunnels/B", 403),
        (node("gone"), "/node-tunnels/gone", 404),
        (user("b", "system:nodes"), "/node-tunnels/b", 403),
        (user("jane"), "/node-tunnels/b", 403),
        (JANE, "/node-tunnels/b", 403),
        ({}, "/node-tunnels/b", 403),
        (MASTER, "/node-tunnels/b", 101),
    ],
)
async def test_a_node_opens_only_its_own_tunnel(headers: dict[str, str], path: str, expected: int) -> None:
    async with served() as api:
        await add_nodes(api, "b", "c")
        assert await code(api, path, headers) == expected


async def test_a_role_for_all_tunnels_lets_a_node_open_only_its_own() -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    async with served() as api:
        await add_nodes(api, "b", "c")
        rules = [{"nonResourceURLs": ["/node-tunnels/*"], "verbs": ["get"]}]
        await api.create(f"{rbac}/clusterroles", {"metadata": {"name": "all"}, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "all"}
        subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}]
        binding = {"metadata": {"name": "all"}, "roleRef": role, "subjects": subjects}
        await api.create(f"{rbac}/clusterrolebindings", binding)
        assert await code(api, "/node-tunnels/b", node("b")) == 101
        assert await code(api, "/node-tunnels/c", node("b")) == 403


async def test_a_request_without_an_upgrade_is_refused() -> None:
    async with served() as api:
        await add_nodes(api, "b")
        assert await code(api, "/node-tunnels/b", node("b"), upgrade="websocket") == 400
        assert await code(api, "/node-tunnels/b", node("b"), connection="close") == 400


async def test_the_newest_tunnel_of_a_node_is_used_and_the_oldest_ends() -> None:
    async with served() as api, listening() as port, asyncio.TaskGroup() as group:
        opened = api.cluster.tunnels
        ends = [await tunnels() for _ in range(6)]
        tasks = []
        for number, (near, far, _) in enumerate(ends):
            tasks.append(group.create_task(opened.serve("b", near)))
            tasks.append(group.create_task(connecting(far, {f"10.0.0.{number}:80": int(port)}).run()))
            await asyncio.sleep(0)
        assert opened.count <= 4 + 2
        way = opened.to("b")
        assert way is not None
        async with asyncio.timeout(60):
            while opened.count > 4:  # noqa: ASYNC110 - a tunnel ends without an event
                await asyncio.sleep(0.01)
            stream = await way.connect(Tunnel, "10.0.0.5", 80, tls=None, server_name="")
            assert stream is not None
            assert await way.connect(Tunnel, "10.0.0.4", 80, tls=None, server_name="") is None
        for task in tasks:
            task.cancel()
        for _, _, server in ends:
            server.close()
