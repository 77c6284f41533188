"""Decode built-in objects like Go's decoder and encoder."""

import copy
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from sampan.core.gvk import GroupVersionKind
from sampan.schema.builtin import Definitions
from sampan.schema.compile import CompiledSchema, DecodeError, SchemaCompiler
from sampan.schema.structural import Schema

DEFINITIONS = Definitions()
COMPILER = SchemaCompiler(DEFINITIONS)


def compiled(kind: str, group: str = "", version: str = "v1") -> CompiledSchema:
    schema = DEFINITIONS.schema_for_kind(GroupVersionKind(group, version, kind))
    assert schema is not None
    return COMPILER.compile(schema)


def decode(obj: dict[str, Any], kind: str = "Pod", group: str = "", unknown: list[str] | None = None) -> dict[str, Any]:
    read = copy.deepcopy(obj)
    compiled(kind, group).decode(read, unknown=unknown)
    return read


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}], **spec}}


def container(**fields: Any) -> dict[str, Any]:
    read: dict[str, Any] = decode({"spec": {"containers": [{"name": "c", **fields}]}})["spec"]["containers"][0]
    return read


def test_unknown_fields_are_dropped_and_reported() -> None:
    unknown: list[str] = []
    obj = {"metadata": {"foo": 1}, "spec": {"bar": 1, "containers": [{"name": "a"}, {"name": "b", "baz": {}}]}}
    read = decode(obj, unknown=unknown)
    assert unknown == ["metadata.foo", "spec.bar", "spec.containers[1].baz"]
    assert read["spec"]["containers"][1] == {"name": "b", "resources": {}}


def test_field_names_are_case_sensitive() -> None:
    unknown: list[str] = []
    assert "nodeName" not in decode(pod(nodename="n"), unknown=unknown)["spec"]
    assert unknown == ["spec.nodename"]


@pytest.mark.parametrize(
    "value",
    [{"labels": {}}, {"labels": None}, {"finalizers": []}, {"creationTimestamp": None}, {"generateName": ""}],
    ids=str,
)
def test_values_that_omitempty_omits_are_dropped(value: dict[str, Any]) -> None:
    assert decode({"metadata": {"name": "a", **value}})["metadata"] == {"name": "a"}


def test_pointers_keep_their_zero_values() -> None:
    spec = decode(pod(priority=0, enableServiceLinks=False, runtimeClassName=""))["spec"]
    assert (spec["priority"], spec["enableServiceLinks"], spec["runtimeClassName"]) == (0, False, "")


def test_empty_structs_behind_pointers_are_kept() -> None:
    assert decode(pod(securityContext={}))["spec"]["securityContext"] == {}


def test_structs_that_are_not_pointers_are_always_written() -> None:
    assert container()["resources"] == {}
    assert decode({})["status"] == {}


def test_counts_that_go_always_writes_are_zero() -> None:
    status = decode({}, "DaemonSet", "apps")["status"]
    assert status["desiredNumberScheduled"] == 0
    assert "observedGeneration" not in status


def test_quantities_that_are_not_pointers_are_always_written() -> None:
    env = container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}])["env"][0]
    assert env["valueFrom"]["resourceFieldRef"] == {"resource": "limits.cpu", "divisor": "0"}


def test_empty_raw_value_is_kept() -> None:
    assert decode({"data": {}, "revision": 1}, "ControllerRevision", "apps")["data"] == {}


def test_schema_defaults_are_set() -> None:
    assert container(ports=[{"containerPort": 80}])["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_defaults_that_are_zero_are_set_for_pointers() -> None:
    probe = container(livenessProbe={"grpc": {"port": 1}})["livenessProbe"]
    assert probe["grpc"] == {"port": 1, "service": ""}


@pytest.mark.parametrize(("text", "canonical"), [("1000m", "1"), (0.5, "500m"), (2, "2"), ("1Gi", "1Gi")], ids=str)
def test_quantities_are_canonical(text: Any, canonical: str) -> None:
    assert container(resources={"limits": {"cpu": text}})["resources"] == {"limits": {"cpu": canonical}}


def test_times_are_in_seconds_and_utc() -> None:
    read = decode({"metadata": {"creationTimestamp": "2024-01-02T03:04:05.678+01:00"}})
    assert read["metadata"]["creationTimestamp"] == "2024-01-02T02:04:05Z"


@pytest.mark.parametrize("offset", ["Z", "+00:00"])
def test_the_zero_time_of_go_is_not_set(offset: str) -> None:
    lease = decode({"spec": {"renewTime": f"0001-01-01T00:00:00.000000{offset}"}}, "Lease", "coordination.k8s.io")
    assert "renewTime" not in lease["spec"]
    assert (
        "creationTimestamp"
        not in decode({"metadata": {"creationTimestamp": f"0001-01-01T00:00:00{offset}"}})["metadata"]
    )


def test_the_first_second_after_the_zero_time_is_kept() -> None:
    read = decode({"metadata": {"creationTimestamp": "0001-01-01T00:00:01Z"}})
    assert read["metadata"]["creationTimestamp"] == "0001-01-01T00:00:01Z"


@pytest.mark.parametrize("port", [80, "http"])
def test_int_or_string_keeps_its_type(port: Any) -> None:
    read = decode({"spec": {"ports": [{"port": 1, "targetPort": port}]}}, "Service")
    assert read["spec"]["ports"][0]["targetPort"] == port


def test_nulls_in_maps_become_zero_values() -> None:
    assert decode({"metadata": {"labels": {"a": None}}})["metadata"]["labels"] == {"a": ""}
    assert container(resources={"limits": {"cpu": None}})["resources"]["limits"] == {"cpu": "0"}


def test_bytes_may_be_a_list_of_numbers() -> None:
    assert decode({"data": {"a": [1, 2, None, 255]}}, "Secret")["data"] == {"a": "AQIA/w=="}


def test_raw_extensions_are_unchanged() -> None:
    data = {"any": [1, None, {"deep": ""}]}
    assert decode({"data": data, "revision": 1}, "ControllerRevision", "apps")["data"] == data


def test_managed_fields_keep_their_sets() -> None:
    entry = {"fieldsV1": {"f:metadata": {"f:labels": {}}}, "manager": "m", "operation": "Apply"}
    assert decode({"metadata": {"managedFields": [entry]}})["metadata"]["managedFields"] == [entry]


def test_json_schemas_in_crds_are_pruned_but_their_defaults_are_not() -> None:
    schema = {"type": "object", "foo": 1, "default": {"bar": None}, "additionalProperties": False}
    schema["properties"] = {"a": {"additionalProperties": {"type": "string", "foo": 2}}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]
    crd = decode({"spec": {"versions": versions}}, "CustomResourceDefinition", "apiextensions.k8s.io")
    assert crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "default": {"bar": None},
        "additionalProperties": False,
        "properties": {"a": {"additionalProperties": {"type": "string"}}},
    }


@pytest.mark.parametrize(
    ("kind", "group", "obj", "text"),
    [
        ("Pod", "", {"spec": "x"}, "string into Go struct field Pod.spec of type v1.PodSpec"),
        (
            "Pod",
            "",
            {"spec": {"containers": "x"}},
            "string into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            "Pod",
            "",
            {"spec": {"containers": [1]}},
            "number into Go struct field PodSpec.spec.containers of type v1.Container",
        ),
        (
            "Pod",
            "",
            {"spec": {"containers": [{"env": [{"value": True}]}]}},
            "bool into Go struct field EnvVar.spec.containers.env.value of type string",
        ),
        (
            "Pod",
            "",
            {"spec": {"containers": [{"imagePullPolicy": 1}]}},
            "number into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy",
        ),
        (
            "Pod",
            "",
            {"metadata": {"labels": {"a": 1}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "Pod",
            "",
            {"metadata": {"labels": []}},
            "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            "Deployment",
            "apps",
            {"spec": {"replicas": "3"}},
            "string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Deployment",
            "apps",
            {"spec": {"replicas": 1.5}},
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Deployment",
            "apps",
            {"spec": {"replicas": 2**31}},
            "number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Service",
            "",
            {"spec": {"ports": [{"targetPort": True}]}},
            "bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            "Pod",
            "",
            {"metadata": {"creationTimestamp": 5}},
            "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            "Pod",
            "",
            {"spec": {"volumes": [{"projected": {"sources": [{"secret": {"name": 5}}]}}]}},
            "number into Go struct field SecretProjection.spec.volumes.VolumeSource.projected.sources.secret."
            "LocalObjectReference.name of type string",
        ),
        (
            "Pod",
            "",
            {"spec": {"containers": [{"livenessProbe": {"exec": {"command": "x"}}}]}},
            "string into Go struct field ExecAction.spec.containers.livenessProbe.ProbeHandler.exec.command "
            "of type []string",
        ),
        (
            "ValidatingAdmissionPolicy",
            "admissionregistration.k8s.io",
            {"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": 5}]}}},
            "number into Go struct field NamedRuleWithOperations.spec.matchConstraints.resourceRules."
            "RuleWithOperations.Rule.apiGroups of type []string",
        ),
        ("Secret", "", {"data": []}, "array into Go struct field Secret.data of type map[string][]uint8"),
        ("Secret", "", {"data": {"a": [1, "2"]}}, "string into Go struct field Secret.data of type uint8"),
        ("Secret", "", {"data": {"a": [256]}}, "number 256 into Go struct field Secret.data of type uint8"),
    ],
    ids=str,
)
def test_wrong_types_are_rejected_with_the_messages_of_go(
    kind: str, group: str, obj: dict[str, Any], text: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(obj, kind, group)
    assert str(caught.value) == f"json: cannot unmarshal {text}"


@pytest.mark.parametrize(
    ("kind", "obj", "text"),
    [
        ("Secret", {"data": {"a": "!!"}}, "illegal base64 data at input byte 0"),
        ("Secret", {"data": {"a": "YWI"}}, "illegal base64 data at input byte 0"),
        ("Secret", {"data": {"a": "YQ==z"}}, "illegal base64 data at input byte 4"),
        ("Secret", {"data": {"a": "YQ=z"}}, "illegal base64 data at input byte 2"),
        ("Secret", {"data": {"a": "YQ="}}, "illegal base64 data at input byte 3"),
        (
            "ResourceQuota",
            {"spec": {"hard": {"cpu": "x"}}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            "Pod",
            {"metadata": {"creationTimestamp": "x"}},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
    ],
    ids=["base64", "base64 too short", "after padding", "half padding", "padding cut off", "quantity", "time"],
)
def test_malformed_texts_are_rejected(kind: str, obj: dict[str, Any], text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(obj, kind)
    assert str(caught.value).startswith(text if kind == "Secret" else text[:25])


def test_object_must_be_a_json_object() -> None:
    with pytest.raises(DecodeError, match="cannot unmarshal array into Go value"):
        compiled("Pod").decode([])  # type: ignore[arg-type]  # what a client may send


@given(st.sampled_from(DEFINITIONS.names()))
def test_decoding_is_idempotent(name: str) -> None:
    schema = DEFINITIONS.schema(name)
    if schema.type != "object" or schema.scalar:
        return
    once: dict[str, Any] = {}
    COMPILER.compile(schema).decode(once)
    twice = copy.deepcopy(once)
    COMPILER.compile(schema).decode(twice)
    assert once == twice


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def resembling(schema: Schema, depth: int) -> st.SearchStrategy[Any]:
    """Generate values with the fields of a type, some of them of a wrong type."""
    if schema.properties and depth:
        fields = {name: resembling(child, depth - 1) for name, child in schema.properties.items()}
        return st.fixed_dictionaries({}, optional=fields) | JSON
    if schema.items is not None and depth:
        return st.lists(resembling(schema.items, depth - 1), max_size=2) | JSON
    return JSON


@given(st.sampled_from(DEFINITIONS.names()), st.data())
def test_any_value_is_decoded_or_rejected(name: str, data: st.DataObject) -> None:
    schema = DEFINITIONS.schema(name)
    if schema.type != "object" or schema.scalar:
        return
    obj = data.draw(resembling(schema, 3))
    try:
        COMPILER.compile(schema).decode(obj)
    except DecodeError as error:
        event(str(error)[:30])
        return
    again = copy.deepcopy(obj)
    unknown: list[str] = []
    COMPILER.compile(schema).decode(again, unknown=unknown)
    assert again == obj
    assert unknown == []


def test_missing_required_fields_are_reported() -> None:
    obj = decode({"metadata": {"name": "a"}}, "PriorityClass", "scheduling.k8s.io")
    assert compiled("PriorityClass", "scheduling.k8s.io").validate(obj) == []
    errors = compiled("StorageClass", "storage.k8s.io").validate({"metadata": {"name": "a"}, "provisioner": ""})
    assert [str(error) for error in errors] == ["provisioner: Required value"]
