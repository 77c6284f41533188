"""Objects that kube-apiserver stored are read as this server would have stored them.

The values are what kube-apiserver 1.36 was seen to store.
"""

from typing import Any

import pytest

from sampan.registry.builtin_upgrade import BuiltinUpgrade
from sampan.storage.encoding import decode
from sampan.storage.translation import canonical
from sampan.wire import json, protobuf
from tests.registry.stored import builtin_upgrade, stored


@pytest.fixture(scope="module")
def upgrade() -> BuiltinUpgrade:
    return builtin_upgrade()


def test_defaults_that_were_not_stored_are_there(upgrade: BuiltinUpgrade) -> None:
    claim = stored("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"]}, status={})
    value = canonical(protobuf.encode(claim), upgrade)
    assert decode(value)["status"] == {"phase": "Pending"}
    assert decode(value)["spec"]["volumeMode"] == "Filesystem"


@pytest.mark.parametrize("kind", ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"])
def test_a_version_that_is_not_served_is_that_which_is(upgrade: BuiltinUpgrade, kind: str) -> None:
    policy = stored("admissionregistration.k8s.io/v1beta1", kind, spec={"paramRef": {"name": "p"}})
    found = upgrade(policy)
    assert found["apiVersion"] == "admissionregistration.k8s.io/v1"


def test_an_old_version_of_another_form_is_converted(upgrade: BuiltinUpgrade) -> None:
    spec = {
        "group": "example.com",
        "version": "v1",
        "versions": [{"name": "v1", "served": True, "storage": True}],
        "scope": "Cluster",
        "names": {"plural": "as", "kind": "A"},
        "validation": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}},
        "preserveUnknownFields": False,
    }
    found = upgrade(stored("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", spec=spec))
    assert found["apiVersion"] == "apiextensions.k8s.io/v1"
    assert found["spec"]["versions"] == [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object"}},
            "subresources": {"status": {}},
        }
    ]


def test_events_are_stored_as_those_of_the_core(upgrade: BuiltinUpgrade) -> None:
    found = upgrade(stored("events.k8s.io/v1", "Event", regarding={"kind": "Pod"}, note="n"))
    assert (found["apiVersion"], found["involvedObject"], found["message"]) == ("v1", {"kind": "Pod"}, "n")


def test_a_null_of_go_is_left_out(upgrade: BuiltinUpgrade) -> None:
    assert "subsets" not in upgrade(stored("v1", "Endpoints", subsets=None))


def test_times_that_are_unset_are_null(upgrade: BuiltinUpgrade) -> None:
    node = stored("v1", "Node", status={"conditions": [{"type": "Ready", "status": "True"}]})
    (condition,) = decode(canonical(protobuf.encode(node), upgrade))["status"]["conditions"]
    assert condition == {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None}


def test_the_null_of_a_field_that_is_always_shown_stays(upgrade: BuiltinUpgrade) -> None:
    slice_ = stored("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=None)
    assert upgrade(slice_)["endpoints"] is None


def custom(upgrade: BuiltinUpgrade, **metadata: Any) -> Any:
    """The metadata of a custom resource that was stored with it, as it is read."""
    obj = stored("example.com/v1", "Pod", spec={"containers": None})
    found = decode(canonical(json.encode({**obj, "metadata": {"name": "a", **metadata}}), upgrade))
    assert found["spec"] == {"containers": None}
    return found["metadata"]


@pytest.mark.parametrize(("given", "read"), [({}, 1), ({"generation": 0}, 1), ({"generation": 3}, 3)])
def test_a_custom_resource_without_generation_is_of_the_first(
    upgrade: BuiltinUpgrade, given: dict[str, int], read: int
) -> None:
    assert custom(upgrade, **given)["generation"] == read


@pytest.mark.parametrize(
    "malformed",
    [
        {"labels": {"a": 5, "b": "c"}},
        {"labels": "a"},
        {"finalizers": "a"},
        {"generation": "5"},
        {"ownerReferences": [{"name": 5}]},
        {"creationTimestamp": "yesterday"},
        {"clusterName": "a"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_metadata_of_a_custom_resource_that_is_not_of_its_type_is_left_out(
    upgrade: BuiltinUpgrade, malformed: dict[str, Any]
) -> None:
    read = custom(upgrade, annotations={"x": "y"}, **malformed)
    read.pop("resourceVersion")
    assert read == {"name": "a", "annotations": {"x": "y"}, "generation": 1}


def test_a_built_in_kind_that_is_not_served_is_left_alone(upgrade: BuiltinUpgrade) -> None:
    lease = stored("coordination.k8s.io/v1beta1", "LeaseCandidate", spec={"leaseName": "a"})
    assert upgrade(dict(lease)) == lease


def test_an_object_that_cannot_be_upgraded_is_returned_unchanged(
    upgrade: BuiltinUpgrade, caplog: pytest.LogCaptureFixture
) -> None:
    found = upgrade(stored("apiregistration.k8s.io/v1", "APIService", spec={"groupPriorityMinimum": "many"}))
    assert found["spec"]["groupPriorityMinimum"] == "many"
    assert "cannot upgrade a stored" in caplog.text
