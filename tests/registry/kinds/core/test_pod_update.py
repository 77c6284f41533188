"""Updates of a pod: main endpoint, status, ephemeral containers, resize, deletion."""

import copy
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.kinds.core.pod_subresources import (
    prepare_ephemeral_containers,
    prepare_resize,
    validate_ephemeral_containers_update,
    validate_resize,
)
from tests.registry.kinds.core.objects import (
    CONTEXT,
    Mutation,
    container,
    created,
    drop,
    pod,
    put,
    status_faults,
    strategy,
    update_faults,
)

UPDATABLE = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
GATED = {"schedulingGates": [{"name": "wait"}], "nodeSelector": {"a": "b"}}


@pytest.mark.parametrize(
    ("old", "change"),
    [
        (pod(), put("spec.containers.0.image", "nginx:2")),
        (pod(), put("metadata.labels", {"a": "b"})),
        (pod(), put("spec.activeDeadlineSeconds", 5)),
        (pod(), put("spec.tolerations", [{"key": "a", "operator": "Exists"}])),
        (pod(terminationGracePeriodSeconds=-3), put("spec.terminationGracePeriodSeconds", 1)),
        (pod(**GATED), put("spec.schedulingGates", [])),
        (pod(**GATED), put("spec.nodeSelector.c", "d")),
        (pod(), drop("spec.enableServiceLinks")),
    ],
    ids=["image", "labels", "deadline", "toleration", "grace period", "gate removed", "narrower", "defaulted again"],
)
def test_some_fields_of_a_pod_may_change(old: Object, change: Mutation) -> None:
    assert update_faults("pods", old, change) == []


def test_other_fields_of_a_pod_are_fixed() -> None:
    (text,) = update_faults("pods", pod(), put("spec.hostname", "other"))
    assert text.startswith(UPDATABLE)
    assert '\n+ "hostname": "other",\n' in text


@pytest.mark.parametrize(
    ("old", "change", "texts"),
    [
        (
            pod(),
            put("spec.containers", [container(), container(name="b")]),
            ["spec.containers: Forbidden: pod updates may not add or remove containers"],
        ),
        (
            pod(activeDeadlineSeconds=5),
            put("spec.activeDeadlineSeconds", 6),
            ["spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"],
        ),
        (
            pod(activeDeadlineSeconds=5),
            drop("spec.activeDeadlineSeconds"),
            ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
        ),
        (
            pod(tolerations=[{"key": "a", "operator": "Exists"}]),
            put("spec.tolerations", []),
            ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
        ),
        (
            pod(**GATED),
            put("spec.schedulingGates", [{"name": "more"}]),
            ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'more'"],
        ),
        (
            pod(**GATED),
            put("spec.nodeSelector", {}),
            [
                "spec.nodeSelector: Invalid value: {}: "
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            ],
        ),
    ],
    ids=["containers", "deadline", "no deadline", "tolerations", "new gate", "wider"],
)
def test_faults_of_a_changed_pod_are_reported(old: Object, change: Mutation, texts: list[str]) -> None:
    assert update_faults("pods", old, change) == texts


@pytest.mark.parametrize(
    ("path", "value", "texts"),
    [
        ("status.phase", "Running", []),
        ("status.qosClass", "Guaranteed", ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        (
            "status.podIPs",
            [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
            [
                'status.podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: '
                "may specify no more than one IP for each IP family"
            ],
        ),
        (
            "status.hostIPs",
            [{"ip": "1.2.3.4"}],
            ['status.hostIPs[0].ip: Invalid value: "1.2.3.4": must be equal to `hostIP`'],
        ),
    ],
    ids=["phase", "qos class", "two addresses of a family", "host address"],
)
def test_faults_of_a_new_status_are_reported(path: str, value: Any, texts: list[str]) -> None:
    assert status_faults("pods", pod(), put(path, value)) == texts


def test_a_terminated_container_does_not_run_again() -> None:
    old = created("pods", pod(restartPolicy="Never"))
    old["status"]["containerStatuses"] = [{"name": "app", "state": {"terminated": {"exitCode": 0}}}]
    new = copy.deepcopy(old)
    new["status"]["containerStatuses"][0]["state"] = {"running": {}}
    errors = strategy("pods").validate_status_update(CONTEXT, new, old)
    assert [str(e) for e in errors] == [
        "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
    ]


def test_pod_ip_and_pod_ips_are_consistent() -> None:
    old = created("pods", pod())
    new = copy.deepcopy(old)
    new["status"]["podIP"] = "10.0.0.1"
    strategy("pods").prepare_for_status_update(CONTEXT, new, old)
    assert new["status"]["podIPs"] == [{"ip": "10.0.0.1"}]


def test_ephemeral_containers_are_added_and_nothing_else_changes() -> None:
    old = created("pods", pod())
    old["metadata"]["generation"] = 1
    new = copy.deepcopy(old)
    new["spec"]["ephemeralContainers"] = [container(name="debug")]
    new["spec"]["hostname"] = "ignored"
    strategy("pods").default(new)
    prepare_ephemeral_containers(new, old)
    assert "hostname" not in new["spec"]
    assert new["metadata"]["generation"] == 2
    assert validate_ephemeral_containers_update(new, old) == []


def test_ephemeral_containers_are_never_removed() -> None:
    old = created("pods", pod())
    old["spec"]["ephemeralContainers"] = [container(name="debug")]
    strategy("pods").default(old)
    new = copy.deepcopy(old)
    del new["spec"]["ephemeralContainers"]
    prepare_ephemeral_containers(new, old)
    (error,) = validate_ephemeral_containers_update(new, old)
    assert error.detail == 'existing ephemeral containers "debug" may not be removed\n'


def resized(change: Mutation) -> tuple[Object, list[str]]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    old = created("pods", pod(containers=[container(resources=resources)]))
    old["metadata"]["generation"] = 4
    new = copy.deepcopy(old)
    change(new)
    prepare_resize(new, old)
    return new, [str(e) for e in validate_resize(new, old)]


def test_cpu_may_be_resized() -> None:
    new, texts = resized(put("spec.containers.0.resources.requests.cpu", "2"))
    assert texts == []
    assert new["metadata"]["generation"] == 5


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (
            put("spec.containers.0.resources.requests.ephemeral-storage", "1Gi"),
            ["spec: Forbidden: only cpu and memory resources are mutable"],
        ),
        (
            drop("spec.containers.0.resources.requests.memory"),
            ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
        ),
        (
            put("spec.containers.0.resources.limits", {"cpu": "1", "memory": "1Gi"}),
            ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
        ),
    ],
    ids=["other resource", "removed", "qos class"],
)
def test_faults_of_a_resize_are_reported(change: Mutation, texts: list[str]) -> None:
    assert resized(change)[1] == texts


@pytest.mark.parametrize(
    ("spec", "phase", "requested", "period"),
    [
        ({"nodeName": "n"}, "Running", None, 30),
        ({"nodeName": "n"}, "Running", 5, 5),
        ({"nodeName": "n"}, "Running", 0, 0),
        ({"nodeName": "n"}, "Running", -1, 1),
        ({"nodeName": "n", "terminationGracePeriodSeconds": -7}, "Running", None, 1),
        ({"nodeName": "n"}, "Succeeded", None, 0),
        ({"nodeName": "n"}, "Failed", 9, 0),
        ({}, "Pending", None, 0),
    ],
)
def test_the_grace_period_of_a_deletion(spec: Object, phase: str, requested: int | None, period: int) -> None:
    obj = created("pods", pod(**spec))
    obj["status"]["phase"] = phase
    assert strategy("pods").grace_period_s(obj, requested) == period


def test_selectable_fields_of_a_pod() -> None:
    obj = created("pods", pod(nodeName="n1", hostNetwork=True))
    obj["status"]["podIPs"] = [{"ip": "10.0.0.1"}]
    assert strategy("pods").selectable_fields(obj) == {
        "spec.nodeName": "n1",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "default",
        "spec.hostNetwork": "true",
        "status.phase": "Pending",
        "status.podIP": "10.0.0.1",
        "status.nominatedNodeName": "",
    }
