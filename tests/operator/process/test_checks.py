"""Checks before the start name each missing part of the cluster."""

import pytest

from sampan.client import Client
from sampan.client.errors import TransportError
from sampan.core.gvk import GroupVersionResource
from sampan.operator import CacheOptions, ManagerOptions, NamespaceSelector
from sampan.operator.process.checks import NoConnection, missing_parts
from sampan.operator.rights import Right
from sampan.resource import ResourceInfo
from sampan.testing import Cluster
from tests.client.scripted_transport import ScriptedTransport, reply
from tests.operator.cluster import CONFIG_MAPS
from tests.operator.manager.frame import manager

BOATS = ResourceInfo(GroupVersionResource("harbour.example.com", "v1", "boats"), "Boat", namespaced=True)


async def test_nothing_is_missing_for_a_kind_that_is_served_and_allowed(cluster: Cluster) -> None:
    assert await missing_parts(cluster.admin(), [CONFIG_MAPS], [Right("list", "", "configmaps", "")]) == []


async def test_a_kind_without_crd_is_named(cluster: Cluster) -> None:
    [line] = await missing_parts(cluster.admin(), [CONFIG_MAPS, BOATS], [])
    assert line == "the server does not serve boats.harbour.example.com in v1: apply its CRD"


async def test_all_missing_rights_are_one_line(cluster: Cluster) -> None:
    rights = [
        *(Right(verb, "", "configmaps", "") for verb in ("list", "watch")),
        Right("update", "coordination.k8s.io", "leases", "prod"),
        Right("create", "authentication.k8s.io", "tokenreviews", None),
    ]
    [line] = await missing_parts(cluster.client("eve", groups=("system:authenticated",)), [], rights)
    assert line == (
        "this operator may not list, watch configmaps in all namespaces; update leases.coordination.k8s.io in "
        "namespace prod; create tokenreviews.authentication.k8s.io: bind a role with these rights"
    )


async def test_refused_credentials_end_the_start() -> None:
    status = {"kind": "Status", "reason": "Unauthorized", "code": 401, "message": "Unauthorized"}
    with pytest.raises(NoConnection, match="refuses the credentials"):
        await missing_parts(Client(ScriptedTransport(by=lambda request: reply(status, 401))), [BOATS], [])


async def test_a_server_that_cannot_be_reached_ends_the_start() -> None:
    error = TransportError("connection refused", sent=False)
    transport = ScriptedTransport([error, error])
    with pytest.raises(NoConnection, match="cannot reach the server; is the kubeconfig right"):
        await missing_parts(Client(transport), [BOATS], [])


@pytest.mark.parametrize(
    ("options", "namespaces"),
    [
        (ManagerOptions(), [""]),
        (ManagerOptions(namespace="prod"), ["prod"]),
        (ManagerOptions(namespaces=["prod", "test"]), ["prod", "test"]),
        (ManagerOptions(namespaces=["prod"], caches={CONFIG_MAPS: CacheOptions(namespaces=["test"])}), ["test"]),
        (ManagerOptions(namespaces=NamespaceSelector("boats=yes")), []),
    ],
    ids=["all", "one", "several", "of the kind", "selected"],
)
async def test_rights_are_checked_where_the_kind_is_watched(options: ManagerOptions, namespaces: list[str]) -> None:
    made = manager(options)
    made.informer_for(CONFIG_MAPS)
    found = made.rights(selected=False)
    rights = [right for right in found if right.resource == "configmaps"]
    assert rights == [Right(verb, "", "configmaps", each) for each in namespaces for verb in ("list", "watch")]
