"""The role of an operator is what the operator uses: with all of it, it works; without any rule, it lacks a right."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sampan.client import MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.http.client.request import HttpResponse
from sampan.http.server import Request
from sampan.operator import Manager
from sampan.operator.process.metrics_server import MetricsServer
from sampan.project.bundle.declared import differences
from sampan.project.bundle.objects import OperatorObjects
from sampan.project.pyproject import project_at
from sampan.project.running.rights import rights_of
from sampan.resource import Object, ResourceInfo
from sampan.testing import Cluster, Interceptor, SentRequest, field, has_condition
from sampan.testing.requests import Proceed
from sampan.testing.rights.privileges import Privileges
from tests.project.bundle.conftest import edit
from tests.project.bundle.installed import found_in, installed, today

ACCOUNTS = ResourceInfo(GroupVersionResource("", "v1", "serviceaccounts"), "ServiceAccount", namespaced=True)
BOATS_2 = ResourceInfo(GroupVersionResource("boats.example.com", "v2", "boats"), "Boat", namespaced=True)
PLUGIN = "OwnerReferencesPermissionEnforcement"


async def life(found: OperatorObjects, objects: Sequence[Object], monkeypatch: pytest.MonkeyPatch) -> Privileges:
    """Run the operator as its account, through all that it does; return what it used and what it lacked."""
    async with installed(found, objects, monkeypatch, PLUGIN) as (cluster, manager):
        if not cluster.privileges().refused:
            await use(cluster, manager)
            await cluster.advance(seconds=20)
        return cluster.privileges()


async def use(cluster: Cluster, manager: Manager) -> None:
    """Do what needs each right of the operator."""
    boat = {"apiVersion": "boats.example.com/v1", "kind": "Boat", "metadata": {"name": "ada"}, "spec": {"length": 7}}
    await cluster.apply(boat)
    await cluster.settled()
    if cluster.privileges().refused:
        return
    await cluster.eventually("boats/ada", has_condition("Ready"))
    await cluster.patch("boats/ada", {"status": {"conditions": []}}, subresource="status")
    # A conflict makes the operator read the object from the server; the second sight of an Event patches the first.
    cluster.interceptors.append(conflict_once(cluster))
    await cluster.admin().resource(BOATS_2).patch("ada", MergePatch({"spec": {"length": 8}}))
    await cluster.settled()
    if cluster.privileges().refused:
        return
    await cluster.eventually("configmaps/ada", field(".data.length") == "8")
    [metrics] = [each for each in manager.runnables if isinstance(each, MetricsServer)]
    tokens = cluster.admin().resource(ACCOUNTS, namespace="boats-system").subresource("token")
    review = await tokens.create(
        "boats", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    )
    headers = {"authorization": f"Bearer {review['status']['token']}"}
    await metrics.respond(Request("GET", "/metrics", headers))


def conflict_once(cluster: Cluster) -> Interceptor:
    """Return an interceptor that changes the boat right before the operator writes its status, once."""
    changed: list[bool] = []

    async def intercept(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        if sent.actor == "operator" and sent.info.subresource == "status" and not changed:
            changed.append(True)
            await cluster.patch("boats/ada", {"metadata": {"annotations": {"note": "changed"}}})
        return await proceed()

    return intercept


@today
async def test_the_role_has_exactly_the_rights_that_the_operator_needs(
    harbour: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = found_in(harbour)
    privileges = await life(found, found.objects, monkeypatch)
    assert not privileges.refused
    declared = rights_of(found.operator.manager, found.operator.code.kinds)
    assert {(right.group, right.resource, right.verb) for right in declared} == privileges.needed


@today
async def test_without_any_rule_of_the_role_the_operator_lacks_a_right(
    harbour: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = found_in(harbour)
    superfluous = []
    for index, role in enumerate(found.objects):
        if role["kind"] not in ("Role", "ClusterRole") or role["metadata"]["name"] != "boats":
            continue
        for rule in role["rules"]:
            reduced = {**role, "rules": [each for each in role["rules"] if each is not rule]}
            privileges = await life(found, [*found.objects[:index], reduced, *found.objects[index + 1 :]], monkeypatch)
            lacked = {(group, resource) for group, resource, _ in privileges.refused}
            if (rule["apiGroups"][0], rule["resources"][0]) not in lacked:
                superfluous.append(rule)
    assert not superfluous


def test_no_rule_has_a_wildcard(harbour: Path) -> None:
    roles = [each for each in found_in(harbour).objects if each["kind"] in ("Role", "ClusterRole")]
    assert len(roles) > 4
    assert not [role for role in roles for rule in role["rules"] if "*" in str(rule)]


def needed_by_tests(*more: tuple[str, str, str]) -> Privileges:
    group = "boats.example.com"
    used = {(group, "boats", "watch"), (group, "boats/status", "patch"), ("events.k8s.io", "events", "create"), *more}
    return Privileges(frozenset(used), frozenset())


def test_declared_rights_are_compared_with_those_that_tests_needed(harbour: Path) -> None:
    owned = [("", "configmaps", verb) for verb in ("create", "patch", "watch")]
    owned.append(("boats.example.com", "boats/finalizers", "update"))
    assert differences(project_at(harbour), [needed_by_tests(), needed_by_tests(*owned)]) == []
    found = differences(project_at(harbour), [needed_by_tests(("", "pods", "delete"), *owned[1:])])
    assert found == ["+ delete pods", "- create configmaps"]


def test_a_rule_of_the_settings_counts_as_declared(fleet: Path) -> None:
    rule = 'rbac = [{apiGroups = [""], resources = ["pods"], verbs = ["delete"]}]\n'
    edit(fleet / "pyproject.toml", ("[tool.sampan]\n", f"[tool.sampan]\n{rule}"))
    assert differences(project_at(fleet), [needed_by_tests(("", "pods", "delete"))]) == []
