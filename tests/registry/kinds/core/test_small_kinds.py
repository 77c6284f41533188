"""Rules of ConfigMaps, Secrets, Namespaces, Nodes, Events, Endpoints, quotas, ranges and controllers."""

import base64
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.kinds.core.namespace import validate_finalize_update
from tests.registry.kinds.cases import STRATEGIES
from tests.registry.kinds.core.objects import (
    CONTEXT,
    Mutation,
    container,
    controller,
    created,
    faults,
    named,
    put,
    status_faults,
    strategy,
    update_faults,
)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
IMMUTABLE = "Forbidden: field is immutable when `immutable` is set"


def limits(**limit: Any) -> Object:
    return named("LimitRange", spec={"limits": [limit]})


def quota(**spec: Any) -> Object:
    return named("ResourceQuota", spec=spec)


def event(**more: Any) -> Object:
    return named("Event", involvedObject={"kind": "Pod", "name": "a", "namespace": "default"}, **more)


def endpoints(**subset: Any) -> Object:
    return named("Endpoints", subsets=[subset])


def node(**more: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, **more}


TABLE: list[tuple[str, str, Object, list[str]]] = [
    ("config map", "configmaps", named("ConfigMap", data={"a": "b"}), []),
    (
        "config map key",
        "configmaps",
        named("ConfigMap", data={"a/b": "c"}),
        [f'data[a/b]: Invalid value: "a/b": {KEY}'],
    ),
    (
        "config map key twice",
        "configmaps",
        named("ConfigMap", data={"a": "b"}, binaryData={"a": "Yg=="}),
        ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ),
    (
        "config map size",
        "configmaps",
        named("ConfigMap", data={"a": "x" * (1024 * 1024 + 1)}),
        ["[]: Too long: may not be more than 1048576 bytes"],
    ),
    ("secret", "secrets", named("Secret", stringData={"a": "b"}), []),
    (
        "token secret",
        "secrets",
        named("Secret", type="kubernetes.io/service-account-token"),
        ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ),
    (
        "tls secret",
        "secrets",
        named("Secret", type="kubernetes.io/tls", data={"tls.crt": ""}),
        ["data[tls.key]: Required value"],
    ),
    (
        "docker secret",
        "secrets",
        named("Secret", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b64("x")}),
        [
            'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": '
            "invalid character 'x' looking for beginning of value"
        ],
    ),
    (
        "docker secret with a broken list",
        "secrets",
        named("Secret", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b64('{"auths":[1 2]}')}),
        [
            'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": '
            "invalid character '2' after array element"
        ],
    ),
    (
        "basic auth",
        "secrets",
        named("Secret", type="kubernetes.io/basic-auth"),
        ["data[username]: Required value", "data[password]: Required value"],
    ),
    ("ssh", "secrets", named("Secret", type="kubernetes.io/ssh-auth"), ["data[ssh-privatekey]: Required value"]),
    (
        "namespace finalizer",
        "namespaces",
        {"metadata": {"name": "a"}, "spec": {"finalizers": ["mine"]}},
        ['spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
    ),
    (
        "node taints",
        "nodes",
        node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]}),
        [
            'metadata.taints[1]: Duplicate value: {"effect":"NoSchedule","key":"a"}: '
            "taints must be unique by key and effect pair"
        ],
    ),
    (
        "node networks",
        "nodes",
        node(spec={"podCIDRs": ["10.0.0.0/24", "10.1.0.0/24"]}),
        [
            'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: '
            "may specify no more than one CIDR for each IP family"
        ],
    ),
    ("event", "events", event(), []),
    (
        "event of another namespace",
        "events",
        {**event(), "involvedObject": {"namespace": "other"}},
        ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ),
    (
        "new event without reporter",
        "events",
        event(eventTime="2026-01-01T00:00:00.000000Z"),
        [
            "reportingComponent: Required value",
            'reportingComponent: Invalid value: "": name part must be non-empty',
            'reportingComponent: Invalid value: "": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
            "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            "reportingInstance: Required value",
            "action: Required value",
            "reason: Required value",
        ],
    ),
    (
        "endpoints without addresses",
        "endpoints",
        endpoints(ports=[{"port": 80}]),
        ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
    ),
    (
        "endpoints on loopback",
        "endpoints",
        endpoints(addresses=[{"ip": "127.0.0.1"}]),
        [
            'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": '
            "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        ],
    ),
    (
        "quota resource",
        "resourcequotas",
        quota(hard={"gold": "1"}),
        [
            'spec.hard[gold]: Invalid value: "gold": must be a standard resource type or fully qualified',
            'spec.hard[gold]: Invalid value: "gold": must be a standard resource for quota',
        ],
    ),
    (
        "half a pod",
        "resourcequotas",
        quota(hard={"pods": "500m"}),
        ['spec.hard[pods]: Invalid value: "500m": must be an integer'],
    ),
    (
        "quota scopes",
        "resourcequotas",
        quota(hard={"pods": "5"}, scopes=["BestEffort", "NotBestEffort"]),
        ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ),
    (
        "range type",
        "limitranges",
        limits(type="Cluster"),
        ['spec.limits[0].type: Invalid value: "Cluster": must be a standard limit type or fully qualified'],
    ),
    (
        "range bounds",
        "limitranges",
        limits(type="Pod", max={"cpu": "1"}, min={"cpu": "2"}),
        ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
    ),
    (
        "range of claims",
        "limitranges",
        limits(type="PersistentVolumeClaim"),
        [
            "spec.limits[0].limits: Required value: "
            "either minimum or maximum storage value is required, but neither was provided"
        ],
    ),
    (
        "ratio",
        "limitranges",
        limits(type="Pod", maxLimitRequestRatio={"cpu": "500m"}),
        ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
    ),
    (
        "controller selector",
        "replicationcontrollers",
        controller(selector={"app": "other"}),
        ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
    ),
    (
        "controller replicas",
        "replicationcontrollers",
        controller(replicas=-1),
        ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
    ),
    (
        "pod template",
        "podtemplates",
        named("PodTemplate", template={"spec": {"containers": [container(image="")]}}),
        ["template.spec.containers[0].image: Required value"],
    ),
    ("account", "serviceaccounts", named("ServiceAccount"), []),
]


@pytest.mark.parametrize(("resource", "obj", "texts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_faults_of_a_new_object_are_reported(resource: str, obj: Object, texts: list[str]) -> None:
    assert faults(resource, obj) == texts


@pytest.mark.parametrize(
    ("resource", "old", "change", "texts"),
    [
        (
            "configmaps",
            named("ConfigMap", data={"a": "b"}, immutable=True),
            put("data.a", "c"),
            [f"data: {IMMUTABLE}"],
        ),
        (
            "secrets",
            named("Secret", data={"a": "Yg=="}, immutable=True),
            put("immutable", False),
            [f"immutable: {IMMUTABLE}"],
        ),
        (
            "secrets",
            named("Secret"),
            put("type", "mine"),
            ['type: Invalid value: "mine": field is immutable'],
        ),
        (
            "nodes",
            node(spec={"providerID": "a"}),
            put("spec.providerID", "b"),
            ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
        ),
        (
            "resourcequotas",
            quota(hard={"pods": "5"}, scopes=["BestEffort"]),
            put("spec.scopes", []),
            ["spec.scopes: Invalid value: null: field is immutable"],
        ),
    ],
    ids=["config map data", "secret immutable", "secret type", "provider", "quota scopes"],
)
def test_faults_of_an_update_are_reported(resource: str, old: Object, change: Mutation, texts: list[str]) -> None:
    assert update_faults(resource, old, change) == texts


@pytest.mark.parametrize(
    ("resource", "old", "change", "texts"),
    [
        (
            "namespaces",
            {"metadata": {"name": "a"}},
            put("status.phase", "Terminating"),
            ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
        ),
        (
            "replicationcontrollers",
            controller(),
            put("status", {"replicas": 1, "readyReplicas": 2}),
            ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"],
        ),
    ],
    ids=["namespace phase", "controller counts"],
)
def test_faults_of_a_new_status_are_reported(resource: str, old: Object, change: Mutation, texts: list[str]) -> None:
    assert status_faults(resource, old, change) == texts


def test_string_data_is_merged_into_data() -> None:
    obj = created("secrets", named("Secret", data={"a": b64("old"), "b": b64("b")}, stringData={"a": "new"}))
    assert "stringData" not in obj
    assert obj["data"] == {"a": b64("new"), "b": b64("b")}
    assert obj["type"] == "Opaque"


def test_a_namespace_gets_label_finalizer_and_phase() -> None:
    obj = created("namespaces", {"metadata": {"name": "a"}})
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert obj["spec"] == {"finalizers": ["kubernetes"]}
    assert obj["status"] == {"phase": "Active"}


def test_a_namespace_terminates_when_its_finalizers_are_removed() -> None:
    obj = created("namespaces", {"metadata": {"name": "a"}})
    assert strategy("namespaces").pending_finalizers(obj)
    strategy("namespaces").prepare_for_deletion(obj)
    assert obj["status"]["phase"] == "Terminating"
    obj["spec"]["finalizers"] = []
    assert not strategy("namespaces").pending_finalizers(obj)


def test_finalizers_of_a_namespace_change_by_finalize_alone() -> None:
    assert update_faults("namespaces", {"metadata": {"name": "a"}}, put("spec.finalizers", ["mine"])) == []
    (error,) = validate_finalize_update({"spec": {"finalizers": ["mine"]}}, {})
    assert str(error).startswith('spec.finalizers[0]: Invalid value: "mine"')


def test_allocatable_of_a_node_defaults_to_its_capacity() -> None:
    obj = created("nodes", node(status={"capacity": {"cpu": "4"}}))
    assert obj["status"]["allocatable"] == {"cpu": "4"}


def test_limits_of_containers_default_to_their_bounds() -> None:
    obj = created("limitranges", limits(type="Container", max={"cpu": "2"}, min={"cpu": "1", "memory": "1Gi"}))
    (limit,) = obj["spec"]["limits"]
    assert limit["default"] == {"cpu": "2"}
    assert limit["defaultRequest"] == {"cpu": "2", "memory": "1Gi"}


def test_a_controller_takes_selector_and_labels_from_its_template() -> None:
    obj = controller()
    del obj["spec"]["selector"]
    made = created("replicationcontrollers", obj)
    assert made["spec"]["selector"] == made["metadata"]["labels"] == {"app": "web"}
    assert made["spec"]["replicas"] == 1


def test_accounts_keep_only_the_names_of_their_secrets() -> None:
    obj = created("serviceaccounts", named("ServiceAccount", secrets=[{"name": "a", "namespace": "b"}]))
    assert obj["secrets"] == [{"name": "a"}]


def test_new_events_are_stricter() -> None:
    obj = event(type="Odd", count=3)
    assert [str(e) for e in STRATEGIES["events.k8s.io", "events"].validate(CONTEXT, obj)] == [
        "eventTime: Required value",
        'type: Invalid value: "": has invalid value: Odd',
        'count: Invalid value: "": needs to be unset',
    ]


def test_new_events_are_immutable() -> None:
    obj = event(reason="a")
    changed = {**obj, "reason": "b"}
    texts = [str(e) for e in STRATEGIES["events.k8s.io", "events"].validate_update(CONTEXT, changed, obj)]
    assert texts == ['reason: Invalid value: "b": field is immutable'] * 2


def test_events_expire() -> None:
    assert strategy("events").ttl_s(event()) == 3600


@pytest.mark.parametrize(
    ("resource", "obj", "expected"),
    [
        ("secrets", named("Secret"), {"type": "Opaque"}),
        ("nodes", node(spec={"unschedulable": True}), {"spec.unschedulable": "true"}),
        ("namespaces", {"metadata": {"name": "a"}}, {"status.phase": "Active", "name": "a"}),
        ("replicationcontrollers", controller(), {"status.replicas": "0"}),
    ],
)
def test_selectable_fields(resource: str, obj: Object, expected: dict[str, str]) -> None:
    assert strategy(resource).selectable_fields(created(resource, obj)) == expected


@pytest.mark.parametrize(
    ("resource", "labels"),
    [
        ("nodes", {"metadata.name", "spec.unschedulable"}),
        ("namespaces", {"metadata.name", "status.phase"}),
        ("secrets", {"metadata.name", "metadata.namespace", "type"}),
        ("configmaps", {"metadata.name", "metadata.namespace"}),
        ("services", {"metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type"}),
    ],
)
def test_fields_that_may_be_selected_on(resource: str, labels: set[str]) -> None:
    assert strategy(resource).field_labels("v1") == labels


def test_quota_requests_beyond_limits_draw_a_warning() -> None:
    obj = quota(hard={"requests.cpu": "2", "limits.cpu": "1"})
    assert strategy("resourcequotas").warnings_on_create(CONTEXT, obj) == [
        "ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"
    ]
