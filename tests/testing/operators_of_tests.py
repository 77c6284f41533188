"""Operators that need rights of many kinds, with the story of a user for each."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from network_operator.operator import set_up as set_up_networks
from network_operator.types import Network
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Builder, LeaderElectionConfig, Manager, ManagerOptions, Request, set_controller_reference
from sampan.resource import ResourceInfo
from sampan.testing import Cluster, has_condition, is_gone
from sampan.testing import field as at
from tests.examples.network.backend import MemoryBackend
from tests.examples.network.stories import network

MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
SECRETS = ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", namespaced=True)
PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
ROLES = ResourceInfo(GroupVersionResource("rbac.authorization.k8s.io", "v1", "roles"), "Role", namespaced=True)
BINDINGS = ResourceInfo(
    GroupVersionResource("rbac.authorization.k8s.io", "v1", "rolebindings"), "RoleBinding", namespaced=True
)
BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}, "data": {"colour": "blue"}}


@dataclass(frozen=True)
class Case:
    """An operator, and a test of it."""

    operator: Callable[[Manager], Any]
    story: Callable[[Cluster], Awaitable[None]]
    options: ManagerOptions | None = None
    cluster: dict[str, Any] = field(default_factory=dict)
    crds: tuple[type[Any], ...] = ()


def applying(manager: Manager) -> None:
    """Apply a Secret for each ConfigMap, owned by it."""

    async def reconcile(request: Request) -> None:
        client = manager.client
        box = await client.resource(MAPS, namespace=request.namespace).find(request)
        if box is not None and request.name == "box":
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "box", "namespace": request.namespace}}
            set_controller_reference(box, secret)
            await client.resource(SECRETS, namespace=request.namespace).apply({**secret, "stringData": box["data"]})

    Builder(manager).for_(MAPS).complete(reconcile)


def recording(manager: Manager) -> None:
    """Lead, record an Event for each ConfigMap, and label it."""
    events = manager.event_recorder("boxes")

    async def reconcile(request: Request) -> None:
        boxes = manager.client.resource(MAPS, namespace=request.namespace)
        box = await boxes.find(request)
        if box is not None and request.name == "box" and "labels" not in box["metadata"]:
            events.normal(box, "Labelled", "it has a label now")
            box["metadata"]["labels"] = {"checked": "yes"}
            await boxes.update(box)

    Builder(manager).for_(MAPS).complete(reconcile)


def granting(manager: Manager) -> None:
    """Make a Role and a RoleBinding for each ConfigMap."""

    async def reconcile(request: Request) -> None:
        if request.name != "box":
            return
        head = {"apiVersion": ROLES.api_version, "metadata": {"name": "box"}}
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        await manager.client.resource(ROLES).apply({**head, "kind": "Role", "rules": rules})
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "box"}
        await manager.client.resource(BINDINGS).apply({**head, "kind": "RoleBinding", "roleRef": ref})

    Builder(manager).for_(MAPS).complete(reconcile)


def clearing(manager: Manager) -> None:
    """Delete all Secrets with a label when a ConfigMap comes, after a list of Pods."""

    async def reconcile(request: Request) -> None:
        if request.name == "box":
            await manager.client.direct.resource(PODS).list()
            await manager.client.direct.resource(SECRETS).delete_collection()

    Builder(manager).for_(MAPS).complete(reconcile)


async def _makes_a_secret(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    await cluster.eventually("secret/box", at(".data.colour") == "Ymx1ZQ==")
    await cluster.delete("cm/box")
    await cluster.eventually("secret/box", is_gone())


async def _labels(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    await cluster.eventually("cm/box", at(".metadata.labels.checked") == "yes")
    await cluster.eventually(lambda: len(cluster.requests.by("operator").of("events")) == 1)


async def _grants(cluster: Cluster) -> None:
    await cluster.apply(BOX)
    await cluster.eventually("rolebinding/box")


async def _clears(cluster: Cluster) -> None:
    await cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old"}})
    await cluster.apply(BOX)
    await cluster.eventually("secret/old", is_gone())


async def _has_a_network(cluster: Cluster) -> None:
    await cluster.apply(network())
    await cluster.eventually("networks/net", has_condition("Ready"))
    await cluster.delete("networks/net")
    await cluster.eventually("networks/net", is_gone())


CASES = {
    "applying": Case(applying, _makes_a_secret),
    "owner references enforced": Case(
        applying, _makes_a_secret, cluster={"admission": "OwnerReferencesPermissionEnforcement"}
    ),
    "recording": Case(
        recording,
        _labels,
        ManagerOptions(
            graceful_shutdown_timeout_s=1.0, leader_election=LeaderElectionConfig("boxes", "default", "one")
        ),
    ),
    "granting": Case(granting, _grants),
    "clearing": Case(clearing, _clears),
    "network of the examples": Case(
        lambda manager: set_up_networks(manager, MemoryBackend()), _has_a_network, crds=(Network,)
    ),
}
