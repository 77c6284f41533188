"""Tests of the namespace controller: order of deletion, conditions, restarts."""

import datetime as dt
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from sampan.client import Client, DeleteOptions, MethodNotAllowed, TransportError
from sampan.client.options import Propagation
from sampan.client.transport import HttpRequest
from sampan.component_base import resources as kinds
from sampan.component_base.context import ControllerContext
from sampan.component_base.defaults import NAMESPACE_GRACE_S
from sampan.component_base.resources import CONFIG_MAPS, NAMESPACES, PODS, SECRETS
from sampan.controllers import garbage_collector
from sampan.controllers.namespace import controller as namespace_controller
from sampan.controllers.namespace.conditions import Findings, conditions_after
from sampan.core.errors import Reason
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import parse_time
from sampan.operator.request import Request, Result
from sampan.resource import ResourceInfo
from tests.client.connected import connected
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working
from tests.controllers.faulty import Fault, Faulty
from tests.server.custom_resources import GROUP, crd

CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
SHIRTS = ResourceInfo(GroupVersionResource(GROUP, "v1", "shirts"), "Shirt", namespaced=True)
ROLES = ResourceInfo(GroupVersionResource("rbac.authorization.k8s.io", "v1", "roles"), "Role", namespaced=True)
INGRESSES = ResourceInfo(GroupVersionResource("networking.k8s.io", "v1", "ingresses"), "Ingress", namespaced=True)
set_up = namespace_controller.set_up
HELD = {"finalizers": ["example.com/held"]}
CONTAINERS: Any = {"containers": [{"name": "c", "image": "i"}]}
SELECTOR: Any = {"matchLabels": {"app": "a"}}
TEMPLATE: Any = {"metadata": {"labels": {"app": "a"}}, "spec": CONTAINERS}


def named(**metadata: Any) -> Any:
    """An object with only metadata."""
    return {"metadata": {"name": "a", **metadata}}


@asynccontextmanager
async def in_namespace(*loops: Callable[..., None], name: str = "doomed") -> AsyncIterator[tuple[Working, Working]]:
    """A cluster with running loops: clients of the default namespace and of a namespace to delete."""
    async with cluster(*loops) as c:
        await c.create(NAMESPACES, named(name=name))
        yield c, Working(c.client.with_defaults(namespace=name), c.manager)


def true_conditions(namespace: Any) -> dict[str, str]:
    """Return the messages of true conditions, by type."""
    conditions = namespace.get("status", {}).get("conditions") or ()
    return {each["type"]: each["message"] for each in conditions if each["status"] == "True"}


def reasons(namespace: Any) -> list[tuple[str, str, str]]:
    """Return type, status and reason of each condition."""
    return [(each["type"], each["status"], each["reason"]) for each in namespace["status"].get("conditions") or ()]


async def test_only_the_deleted_namespace_is_removed() -> None:
    async with in_namespace(set_up) as (c, _):
        await c.create(NAMESPACES, named(name="other"))
        await c.delete(NAMESPACES, "doomed")
        await c.until_gone(NAMESPACES, "doomed")
        assert (await c.get(NAMESPACES, "other"))["status"]["phase"] == "Active"


async def test_the_content_of_a_namespace_stays_for_five_seconds() -> None:
    contexts: list[ControllerContext] = []
    async with in_namespace(contexts.append) as (c, doomed):
        await doomed.create(CONFIG_MAPS, named())
        await c.delete(NAMESPACES, "doomed")
        deleted_at = parse_time((await c.get(NAMESPACES, "doomed"))["metadata"]["deletionTimestamp"])
        clock = SetClock(deleted_at + dt.timedelta(seconds=3))
        controller = namespace_controller.NamespaceController(
            replace(contexts[0], clock=clock, namespace_grace_s=NAMESPACE_GRACE_S)
        )
        assert await controller.reconcile(Request("", "doomed")) == Result(2.0)
        assert len(await doomed.all(CONFIG_MAPS)) == 1
        clock.forward(2)
        assert await controller.reconcile(Request("", "doomed")) is None
        await c.until_gone(NAMESPACES, "doomed")


EVERYTHING: list[tuple[ResourceInfo, Any]] = [
    (CONFIG_MAPS, {}),
    (SECRETS, {}),
    (kinds.SERVICE_ACCOUNTS, {}),
    (kinds.LIMIT_RANGES, {}),
    (kinds.RESOURCE_QUOTAS, {}),
    (PODS, {"spec": CONTAINERS}),
    (kinds.SERVICES, {"spec": {"ports": [{"port": 80}], "selector": {"app": "a"}}}),
    (kinds.ENDPOINTS, {}),
    (kinds.REPLICATION_CONTROLLERS, {"spec": {"selector": {"app": "a"}, "template": TEMPLATE}}),
    (kinds.DEPLOYMENTS, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    (kinds.REPLICA_SETS, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    (kinds.STATEFUL_SETS, {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "a"}}),
    (kinds.DAEMON_SETS, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    (kinds.JOBS, {"spec": {"template": {"spec": {**CONTAINERS, "restartPolicy": "Never"}}}}),
    (
        kinds.CRON_JOBS,
        {
            "spec": {
                "schedule": "@daily",
                "jobTemplate": {"spec": {"template": {"spec": {**CONTAINERS, "restartPolicy": "Never"}}}},
            }
        },
    ),
    (kinds.LEASES, {}),
    (kinds.ENDPOINT_SLICES, {"addressType": "IPv4", "endpoints": []}),
    (kinds.POD_DISRUPTION_BUDGETS, {"spec": {"minAvailable": 1, "selector": SELECTOR}}),
    (
        kinds.PERSISTENT_VOLUME_CLAIMS,
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    ),
    (ROLES, {"rules": []}),
    (INGRESSES, {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}),
    (SHIRTS, {"spec": {"color": "blue"}}),
]


async def test_a_namespace_with_all_kinds_of_objects_is_deleted() -> None:
    async with in_namespace(set_up, garbage_collector.set_up) as (c, there):
        await c.create(CRDS, crd())
        for kind, more in EVERYTHING:
            await there.create(kind, {**named(), **more})
        await c.delete(NAMESPACES, "doomed")
        for kind in (PODS, kinds.PERSISTENT_VOLUME_CLAIMS):
            for obj in await there.all(kind):
                await there.patch(kind, obj["metadata"]["name"], {"metadata": {"finalizers": None}})
        await c.until_gone(NAMESPACES, "doomed")
        # A new namespace of the same name is empty.
        await c.create(NAMESPACES, named(name="doomed"))
        for kind, _ in EVERYTHING:
            assert await there.all(kind) == [], kind


async def test_other_objects_are_deleted_after_the_pods() -> None:
    async with in_namespace(set_up) as (c, there):
        await there.create(PODS, {**named(**HELD), "spec": CONTAINERS})
        await there.create(CONFIG_MAPS, named())
        await c.delete(NAMESPACES, "doomed")
        namespace = await c.until(NAMESPACES, "doomed", true_conditions)
        assert true_conditions(namespace) == {
            "NamespaceContentRemaining": "Some resources are remaining: pods. has 1 resource instances",
            "NamespaceFinalizersRemaining": (
                "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances"
            ),
        }
        assert "deletionTimestamp" not in (await there.get(CONFIG_MAPS, "a"))["metadata"]
        await there.patch(PODS, "a", {"metadata": {"finalizers": None}})
        await c.until_gone(NAMESPACES, "doomed")


async def test_running_pods_keep_their_grace_period() -> None:
    async with in_namespace(set_up) as (c, there):
        await c.create(kinds.NODES, named(name="node"))
        await there.create(PODS, {**named(), "spec": {**CONTAINERS, "nodeName": "node"}})
        await c.delete(NAMESPACES, "doomed")
        pod = await there.until(PODS, "a", lambda obj: "deletionTimestamp" in obj["metadata"])
        assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
        namespace = await c.until(NAMESPACES, "doomed", true_conditions)
        assert list(true_conditions(namespace)) == ["NamespaceContentRemaining"]
        await there.client.resource(PODS).delete("a", DeleteOptions(grace_period_seconds=0))
        await c.until_gone(NAMESPACES, "doomed")


async def test_other_finalizers_are_reported_and_awaited() -> None:
    async with in_namespace(set_up) as (c, there):
        await c.create(CRDS, crd())
        for kind in (CONFIG_MAPS, SHIRTS):
            await there.create(kind, named(**HELD))
        await there.create(SECRETS, named())
        await c.delete(NAMESPACES, "doomed")
        namespace = await c.until(NAMESPACES, "doomed", true_conditions)
        assert reasons(namespace) == [
            ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered"),
            ("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions"),
            ("NamespaceDeletionContentFailure", "False", "ContentDeleted"),
            ("NamespaceContentRemaining", "True", "SomeResourcesRemain"),
            ("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain"),
        ]
        assert true_conditions(namespace) == {
            "NamespaceContentRemaining": (
                "Some resources are remaining: configmaps. has 1 resource instances, "
                f"shirts.{GROUP} has 1 resource instances"
            ),
            "NamespaceFinalizersRemaining": (
                "Some content in the namespace has finalizers remaining: example.com/held in 2 resource instances"
            ),
        }
        assert await there.all(SECRETS) == []
        for kind in (CONFIG_MAPS, SHIRTS):
            await there.patch(kind, "a", {"metadata": {"finalizers": None}})
        await c.until_gone(NAMESPACES, "doomed")


async def test_other_finalizers_in_the_namespaces_spec_stay() -> None:
    async with cluster(set_up) as c:
        await c.create(NAMESPACES, {**named(), "spec": {"finalizers": ["example.com/mine"]}})
        await c.delete(NAMESPACES, "a")
        namespace = await c.until(NAMESPACES, "a", lambda obj: "kubernetes" not in obj["spec"]["finalizers"])
        assert namespace["spec"]["finalizers"] == ["example.com/mine"]
        assert [status for _, status, _ in reasons(namespace)] == ["False"] * 5
        finalize = c.client.resource(NAMESPACES).subresource("finalize")
        await finalize.update("a", {**namespace, "spec": {"finalizers": []}})
        await c.until_gone(NAMESPACES, "a")


@pytest.mark.parametrize("policy", ["Foreground", "Orphan"])
async def test_a_namespace_can_be_deleted_with_any_propagation_policy(policy: Propagation) -> None:
    async with in_namespace(set_up, garbage_collector.set_up) as (c, there):
        await there.create(CONFIG_MAPS, named())
        await c.client.resource(NAMESPACES).delete("doomed", DeleteOptions(propagation_policy=policy))
        await c.until_gone(NAMESPACES, "doomed")


def _doomed_namespace() -> Any:
    return {"apiVersion": "v1", "kind": "Namespace", **named(name="doomed")}


async def test_work_of_a_killed_controller_is_completed_by_the_next() -> None:
    async with connected() as (client, _):
        await client.resource(NAMESPACES).create(_doomed_namespace())
        there = client.with_defaults(namespace="doomed")
        async with working(there, set_up) as c:
            for index in range(20):
                await c.create(CONFIG_MAPS, named(name=f"a-{index}", **HELD))
            await c.delete(NAMESPACES, "doomed")
            await c.until(CONFIG_MAPS, "a-0", lambda obj: "deletionTimestamp" in obj["metadata"])
        for index in range(20):
            await c.patch(CONFIG_MAPS, f"a-{index}", {"metadata": {"finalizers": None}})
        async with working(there, set_up) as c:
            await c.until_gone(NAMESPACES, "doomed")


# ---- failing servers


@asynccontextmanager
async def doomed(fault: Fault) -> AsyncIterator[tuple[Working, Faulty]]:
    """A terminating namespace with a ConfigMap, and a controller for which some requests fail."""
    async with connected() as (client, _):
        faulty = Faulty(client.rest.transport, fault)
        there = Client(faulty, namespace="doomed")
        await client.resource(NAMESPACES).create(_doomed_namespace())
        c = Working(client.with_defaults(namespace="doomed"), None)  # type: ignore[arg-type]  # it has no loops
        await c.create(CONFIG_MAPS, named())
        await c.delete(NAMESPACES, "doomed")
        async with working(there, set_up):
            yield c, faulty


async def test_failed_deletions_are_reported_and_retried() -> None:
    def fault(request: HttpRequest) -> Exception | None:
        fails = request.method == "DELETE" and "configmaps" in request.target
        return TransportError("connection lost", sent=False) if fails else None

    async with doomed(fault) as (c, faulty):
        namespace = await c.until(NAMESPACES, "doomed", true_conditions)
        message = "Failed to delete all resource types, 1 remaining: connection lost"
        assert true_conditions(namespace) == {"NamespaceDeletionContentFailure": message}
        faulty.fault = None
        await c.until_gone(NAMESPACES, "doomed")


async def test_objects_are_deleted_one_by_one_without_delete_collection() -> None:
    def fault(request: HttpRequest) -> Exception | None:
        fails = request.method == "DELETE" and request.target.partition("?")[0].endswith("/configmaps")
        return MethodNotAllowed(Reason.METHOD_NOT_ALLOWED, 405, "no") if fails else None

    async with doomed(fault) as (c, _):
        await c.until_gone(NAMESPACES, "doomed")


async def test_without_discovery_nothing_is_finalized() -> None:
    def fault(request: HttpRequest) -> Exception | None:
        return TransportError("no discovery", sent=False) if request.target in ("/api", "/apis") else None

    async with doomed(fault) as (c, faulty):
        namespace = await c.until(NAMESPACES, "doomed", true_conditions)
        assert true_conditions(namespace) == {"NamespaceDeletionDiscoveryFailure": "no discovery"}
        assert namespace["spec"]["finalizers"] == ["kubernetes"]
        faulty.fault = None
        await c.until_gone(NAMESPACES, "doomed")


# ---- conditions


def test_unavailable_groups_are_named() -> None:
    stale = "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
    [condition, *_] = conditions_after([], Findings(discovery_failures=[stale]), "2026-01-01T00:00:00Z")
    assert condition == {
        "type": "NamespaceDeletionDiscoveryFailure",
        "status": "True",
        "reason": "DiscoveryFailed",
        "message": "Discovery failed for some groups, 1 failing: "
        f"unable to retrieve the complete list of server APIs: {stale}",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("findings", "changed_at"),
    [(Findings(version_failure="y"), "before"), (Findings(), "now")],
    ids=["another message", "another status"],
)
def test_the_transition_time_changes_with_the_status(findings: Findings, changed_at: str) -> None:
    before = conditions_after([], Findings(version_failure="x"), "before")
    other: Any = {"type": "Other"}
    after = conditions_after([other, *before], findings, "now")
    assert [each["type"] for each in after] == ["Other", *(each["type"] for each in before)]
    assert after[2]["type"] == "NamespaceDeletionGroupVersionParsingFailure"
    assert after[2]["lastTransitionTime"] == changed_at


def test_equal_findings_change_nothing() -> None:
    findings = Findings(content_failures=["b", "a"])
    before = conditions_after([], findings, "before")
    assert conditions_after(before, findings, "now") == before
    assert before[2]["message"] == "Failed to delete all resource types, 2 remaining: a, b"
