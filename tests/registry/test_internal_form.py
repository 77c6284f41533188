"""What errors show of values that are structs in Go."""

import json
from typing import Any

import pytest

from sampan.core.field import FieldError, Path, invalid
from sampan.registry.cluster import Cluster
from sampan.registry.internal_form import internal_types, pretty_lines, shown_internally
from sampan.storage.memory import MemoryStore

REGISTRY = Cluster(MemoryStore()).registry


def shown(group: str, resource: str, path: str, value: Any) -> str:
    """How an error of an object shows a value."""
    definition = REGISTRY.get(group, resource)
    assert definition is not None
    (fault,) = shown_internally(definition, [invalid(Path(*path.split("/")), value, "no")])
    return fault.body().removeprefix("Invalid value: ").removesuffix(": no")


@pytest.mark.parametrize(
    ("group", "resource", "path", "value", "text"),
    [
        pytest.param(
            "rbac.authorization.k8s.io",
            "rolebindings",
            "roleRef",
            {"name": "b", "kind": "Role", "apiGroup": "rbac.authorization.k8s.io"},
            '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}',
            id="struct",
        ),
        pytest.param(
            "apps",
            "deployments",
            "spec/strategy",
            {"type": "Other"},
            '{"Type":"Other","RollingUpdate":null}',
            id="absent pointer",
        ),
        pytest.param(
            "apps",
            "deployments",
            "spec/selector",
            {"matchLabels": {"b": "c", "a": "<"}, "matchExpressions": []},
            '{"matchLabels":{"a":"\\u003c","b":"c"}}',
            id="metav1 keeps its names",
        ),
        pytest.param(
            "", "services", "spec/ports", [{"port": 80}],
            '[{"Name":"","Protocol":"","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}]',
            id="list",
        ),
        pytest.param("", "pods", "metadata/labels", {"b": "1", "a": "2"}, '{"a":"2","b":"1"}', id="map"),
        pytest.param("", "pods", "spec/nowhere", {"b": "1", "a": "2"}, '{"a":"2","b":"1"}', id="unknown path"),
        pytest.param("", "pods", "spec/os", [1], "[1]", id="does not fit"),
        pytest.param(
            "storage.k8s.io", "csinodes", "spec/drivers", {"name": "d", "nodeID": "n"},
            '{"Name":"d","NodeID":"n","TopologyKeys":null,"Allocatable":null}',
            id="element of a list",
        ),
        pytest.param("", "pods", "spec/hostname", "x", '"x"', id="scalar"),
    ],
)  # fmt: skip
def test_values_are_shown_in_their_internal_form(group: str, resource: str, path: str, value: Any, text: str) -> None:
    assert shown(group, resource, path, value) == text


def test_a_template_has_its_metadata_beside_its_spec() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}], "hostNetwork": True}}
    found = json.loads(shown("batch", "jobs", "spec/template", template))
    assert list(found) == ["labels", "Spec"]
    assert found["Spec"]["SecurityContext"]["HostNetwork"] is True
    assert found["Spec"]["Containers"][0]["Name"] == "c"
    assert found["Spec"]["Volumes"] is None


def test_paths_lead_through_lists_maps_pointers_and_embedded_structs() -> None:
    below = internal_types().below
    assert below("core.Pod", "spec.volumes[0].hostPath") == "*core.HostPathVolumeSource"
    assert below("core.Pod", "spec.containers[1].resources.limits[cpu]") == '="0"'
    assert below("core.Pod", "metadata.ownerReferences[0]") == "meta.OwnerReference"
    assert below("core.Pod", "spec.hostname[0]") is None


def test_lines_are_indented_by_one_space() -> None:
    assert pretty_lines("rbac.RoleRef", {"kind": "Role"}) == [
        "{\n",
        ' "APIGroup": "",\n',
        ' "Kind": "Role",\n',
        ' "Name": ""\n',
        "}\n",
    ]


def test_faults_of_types_that_are_not_known_stay_as_they_are() -> None:
    definition = REGISTRY.get("apiextensions.k8s.io", "customresourcedefinitions")
    assert definition is not None
    faults: list[FieldError] = [invalid(Path("spec", "names"), {"kind": "A"}, "no")]
    assert list(shown_internally(definition, faults)) == faults
