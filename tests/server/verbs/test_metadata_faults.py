"""Faults of an updated object's metadata, and what /status may change of it."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    WIDGET_CRD,
    WIDGETS,
    config_map,
    deployment,
    pod,
    widget,
)

_NAMESPACED = "/namespaces/default/"
_SELECTOR = {"matchLabels": {"app": "d"}}
_TEMPLATE: dict[str, Any] = deployment()["spec"]["template"]
_WORKLOAD = {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}
_JOB = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": _TEMPLATE["spec"]["containers"]}}}}
_ROLE = {"rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["get"]}]}
_LEVEL = {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}}
_VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_API = {"group": "a.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
_ATTACHMENT = {"attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}

# Causes of a refused update, and of one through /status: g for generateName, o for finalizers that exclude each other,
# F for a finalizer without a domain, u for a changed grace period. A dash: the update is accepted.
KINDS: list[tuple[str, dict[str, Any], str, str]] = [
    ("/api/v1/nodes", {}, "gouF", "gouF"),
    ("/api/v1/namespaces", {}, "gouF", "gouF"),
    ("/api/v1/persistentvolumes", {"spec": _VOLUME}, "gouF", "gouF"),
    (f"/api/v1{_NAMESPACED}persistentvolumeclaims", {"spec": _CLAIM}, "gouF", "gouF"),
    (PODS, {"spec": pod()["spec"]}, "gouF", "gouF"),
    (f"/api/v1{_NAMESPACED}podtemplates", {"template": _TEMPLATE}, "gouF", ""),
    (f"/api/v1{_NAMESPACED}services", {"spec": {"ports": [{"port": 80}]}}, "gouF", "gouF"),
    (f"/api/v1{_NAMESPACED}limitranges", {"spec": {"limits": []}}, "gouF", ""),
    (f"/api/v1{_NAMESPACED}events", {"involvedObject": {"namespace": "default"}}, "gou", ""),
    (CONFIG_MAPS, {}, "gouF", ""),
    (DEPLOYMENTS, _WORKLOAD, "gouF", "gouF"),
    (f"/apis/batch/v1{_NAMESPACED}jobs", _JOB, "gouF", "gouF"),
    (
        f"/apis/batch/v1{_NAMESPACED}cronjobs",
        {"spec": {"schedule": "* * * * *", "jobTemplate": _JOB}},
        "gouF",
        "gouF",
    ),
    (f"/apis/policy/v1{_NAMESPACED}poddisruptionbudgets", {"spec": {}}, "gou", "gou"),
    (f"/apis/rbac.authorization.k8s.io/v1{_NAMESPACED}roles", _ROLE, "gouF", ""),
    ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "h"}, "gou", ""),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 1}, "gouF", ""),
    (f"/apis/coordination.k8s.io/v1{_NAMESPACED}leases", {}, "gou", ""),
    ("/apis/resource.k8s.io/v1/deviceclasses", {"spec": {}}, "gouF", ""),
    ("/apis/storage.k8s.io/v1/volumeattachments", {"spec": _ATTACHMENT}, "gouF", "gu"),
    ("/apis/networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.97.0.0/16"]}}, "gouF", "gu"),
    ("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", _LEVEL, "gouF", "-"),
    ("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {}, "gou", ""),
    (
        "/apis/apiregistration.k8s.io/v1/apiservices",
        {"metadata": {"name": "v1.a.example.com"}, "spec": _API},
        "gou",
        "gu",
    ),
]


def _faulty(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {
        **obj["metadata"],
        "generateName": "Bad Prefix/",
        "finalizers": ["orphan", "foregroundDeletion", "no-domain"],
        "deletionGracePeriodSeconds": 5,
    }
    return {**obj, "metadata": metadata}


def _letter(cause: dict[str, Any]) -> str:
    by_field = {"metadata.generateName": "g", "metadata.deletionGracePeriodSeconds": "u", "metadata.finalizers": "o"}
    return by_field.get(cause["field"], "F")


@pytest.mark.parametrize(("path", "body", "main", "status"), [pytest.param(*row, id=row[0]) for row in KINDS])
async def test_an_update_reports_each_fault_of_its_metadata(
    api: Api, path: str, body: dict[str, Any], main: str, status: str
) -> None:
    made = await api.create(path, {"metadata": {"name": "m"}, **body})
    place = f"{path}/{made['metadata']['name']}"
    for target, expected in ((place, main), (f"{place}/status", status)):
        if expected == "-":
            assert (await api.put(f"{target}?dryRun=All", _faulty(made))).code == 200
        elif expected:
            response = await api.put(f"{target}?dryRun=All", _faulty(made))
            assert (response.code, response.reason) == (422, "Invalid")
            assert set(map(_letter, response.causes)) == set(expected)


async def test_a_fault_is_reported_once(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("m"))
    response = await api.patch(f"{CONFIG_MAPS}/m", {"metadata": {"uid": "x"}}, "merge")
    assert (response.code, [cause["field"] for cause in response.causes]) == (422, ["metadata.uid"])
    assert response.message == 'ConfigMap "m" is invalid: metadata.uid: Invalid value: "x": field is immutable'


async def test_a_prefix_of_names_keeps_to_the_rule_of_all_and_to_that_of_its_kind(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map("m"))
    response = await api.put(f"{CONFIG_MAPS}/m", _faulty(made))
    of_prefix = [cause["message"] for cause in response.causes if cause["field"] == "metadata.generateName"]
    assert [message.split(": ")[2][:20] for message in of_prefix] == ["may not contain '/'", "a lowercase RFC 1123"]


_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u"}


@pytest.mark.parametrize(
    ("path", "body", "changed"),
    [
        pytest.param(DEPLOYMENTS, _WORKLOAD, True, id="most"),
        pytest.param(PODS, {"spec": pod()["spec"]}, False, id="pods"),
        pytest.param("/apis/storage.k8s.io/v1/volumeattachments", {"spec": _ATTACHMENT}, False, id="attachments"),
    ],
)
async def test_owners_are_written_through_the_status_of_most_kinds(
    api: Api, path: str, body: dict[str, Any], changed: bool
) -> None:
    made = await api.create(path, {"metadata": {"name": "m"}, **body})
    made["metadata"]["ownerReferences"] = [_OWNER]
    response = await api.put(f"{path}/m/status", made)
    assert (response.code, response.metadata.get("ownerReferences")) == (200, [_OWNER] if changed else None)


async def test_a_status_that_brings_no_count_of_templates_leaves_it_as_it_is(api: Api) -> None:
    path, count = "/apis/apps/v1/namespaces/default/daemonsets", "deprecated.daemonset.template.generation"
    made = await api.create(path, {"metadata": {"name": "m"}, **_WORKLOAD})
    made["metadata"]["annotations"] = {"a": "b"}
    response = await api.put(f"{path}/m/status", made)
    assert response.metadata["annotations"] == {"a": "b", count: "1"}


async def test_the_name_of_an_api_service_is_made_from_nothing_else(api: Api) -> None:
    path = "/apis/apiregistration.k8s.io/v1/apiservices"
    made = await api.create(path, {"metadata": {"name": "v1.a.example.com"}, "spec": _API})
    made["metadata"]["generateName"] = "v1-"
    response = await api.put(f"{path}/v1.a.example.com", made)
    shown = 'metadata.generateName: Invalid value: "v1-": must be `spec.version+"."+spec.group`: "v1.a.example.com"'
    assert response.message == f'APIService.apiregistration.k8s.io "v1.a.example.com" is invalid: {shown}'


async def test_a_faulty_owner_of_a_custom_kind_is_shown(api: Api) -> None:
    await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGET_CRD)
    made = await api.create(WIDGETS, widget("m"))
    made["metadata"]["ownerReferences"] = [{**_OWNER, "controller": True, "kind": "Event"}]
    response = await api.put(f"{WIDGETS}/m", made)
    shown = '{"apiVersion":"v1","controller":true,"kind":"Event","name":"owner","uid":"u"}'
    assert f"metadata.ownerReferences: Invalid value: {shown}: " in response.message
