"""Invalid objects: a server refuses each one, with exactly the field and the reason that the object names."""

import pytest

from sampan.client import Invalid
from sampan.testing import Cluster
from sampan.testing.generated import invalid_objects, subject_of
from sampan.testing.generated.repair import smallest_object
from tests.resource.kinds import Boat
from tests.testing.generated.crds import CRDS

NOT_CHECKED = "<nil>"
BUILT_IN = {
    "ConfigMap": 4,
    "CronJob": 40,
    "DaemonSet": 30,
    "Deployment": 25,
    "HorizontalPodAutoscaler": 15,
    "Ingress": 15,
    "Job": 30,
    "NetworkPolicy": 10,
    "PersistentVolume": 10,
    "PersistentVolumeClaim": 8,
    "Pod": 35,
    "PodDisruptionBudget": 3,
    "Role": 5,
    "RoleBinding": 5,
    "Secret": 3,
    "Service": 20,
    "ServiceAccount": 2,
    "StatefulSet": 25,
    "StorageClass": 10,
}
"""Least number of invalid objects of each kind."""


@pytest.mark.parametrize("name", CRDS)
async def test_a_server_refuses_each_object_for_its_field_alone(cluster: Cluster, name: str) -> None:
    await cluster.crds(CRDS[name])
    for case in invalid_objects(CRDS[name]):
        with pytest.raises(Invalid) as caught:
            await cluster.create(case.obj)
        causes = {(each["field"], each["reason"]) for each in caught.value.causes if each["field"] != NOT_CHECKED}
        assert causes == {(case.field, case.reason)}, case


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("numbers", "spec.small: more than 5"),
        ("texts", "spec.quantity: does not match the pattern"),
        ("texts", "spec.size: not in the enum"),
        ("lists", "spec.ports[0].name: missing"),
        ("lists", "spec.ports[1]: an item that is there"),
        ("lists", "spec.labels: more than 3 entries"),
        ("open", "spec.percent: neither integer nor string"),
        ("formats", "spec.f25: not a date-time"),
        ("alternatives", "spec.file.path: missing"),
        ("rules", "spec: a needs kind A"),
    ],
)
def test_there_is_an_object_for_each_kind_of_rule(name: str, expected: str) -> None:
    assert expected in [str(each) for each in invalid_objects(CRDS[name])]


def test_there_are_many_and_always_the_same() -> None:
    found = invalid_objects(Boat)
    assert len(found) >= 15
    assert found == invalid_objects(Boat)


@pytest.mark.parametrize("kind", BUILT_IN)
async def test_a_server_refuses_each_object_of_a_built_in_kind_for_its_field_alone(cluster: Cluster, kind: str) -> None:
    found = invalid_objects(kind)
    assert len(found) >= BUILT_IN[kind]
    for case in found:
        with pytest.raises(Invalid) as caught:
            await cluster.create(case.obj)
        assert [(each["field"], each["reason"]) for each in caught.value.causes] == [(case.field, case.reason)], case


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ConfigMap", "data[not a key!]: the key 'not a key!'"),
        ("Deployment", "spec.replicas: negative"),
        ("Ingress", "spec.defaultBackend.service.name: missing"),
        ("Job", "spec.completionMode: the text 'Not valid!'"),
        ("Pod", "spec.containers: missing"),
        ("Pod", "spec.containers[1].name: an item that is there"),
        ("Role", "rules[0].verbs: missing"),
        ("Service", "spec.ports[0].nodePort: the number 70000"),
        ("StorageClass", "reclaimPolicy: the text 'Not valid!'"),
    ],
)
def test_probes_find_the_rules_of_a_built_in_kind(kind: str, expected: str) -> None:
    assert expected in [str(each) for each in invalid_objects(kind)]


def test_objects_of_a_built_in_kind_are_always_the_same() -> None:
    assert invalid_objects("Pod") == invalid_objects("Pod")


def test_only_the_probed_field_differs_from_the_base() -> None:
    base = smallest_object(subject_of("Service"))
    case = next(each for each in invalid_objects("Service", base=base) if each.field == "spec.sessionAffinity")
    assert {**case.obj["spec"], "sessionAffinity": None} == {**base["spec"], "sessionAffinity": None}
