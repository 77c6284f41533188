"""Table rows of the built-in types, except pods."""

import datetime as dt
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.columns import DEFAULT_COLUMNS
from tests.registry.kinds.columns.tables import tables_at

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC).timestamp()
TABLES = tables_at(NOW)
LATER = tables_at(NOW + 86400 * 500)
CREATED = "2026-01-01T00:00:00Z"
TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}}
SELECTOR = {
    "matchLabels": {"b": "1"},
    "matchExpressions": [
        {"key": "a", "operator": "In", "values": ["y", "x"]},
        {"key": "c", "operator": "DoesNotExist"},
        {"key": "d", "operator": "Exists"},
        {"key": "e", "operator": "NotIn", "values": ["z"]},
    ],
}
SELECTED = "a in (x,y),b=1,!c,d,e notin (z)"

ROWS: list[tuple[str, str, Object, list[Any]]] = [
    ("", "configmaps", {"data": {"a": "1"}, "binaryData": {"b": ""}}, ["x", 2, "24h"]),
    ("", "secrets", {"type": "Opaque", "data": {"a": ""}}, ["x", "Opaque", 1, "24h"]),
    ("", "serviceaccounts", {}, ["x", "24h"]),
    ("", "namespaces", {"status": {"phase": "Active"}}, ["x", "Active", "24h"]),
    ("", "limitranges", {}, ["x", CREATED]),
    ("storage.k8s.io", "csistoragecapacities", {"capacity": "1Gi"}, ["x", CREATED]),
    (
        "",
        "services",
        {
            "spec": {
                "type": "LoadBalancer",
                "clusterIPs": ["10.0.0.1"],
                "ports": [
                    {"port": 80, "protocol": "TCP", "nodePort": 30080},
                    {"port": 53, "protocol": "UDP"},
                ],
                "selector": {"b": "2", "a": "1"},
            },
            "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "a.example"}]}},
        },
        ["x", "LoadBalancer", "10.0.0.1", "1.2.3.4,a.example", "80:30080/TCP,53/UDP", "24h", "a=1,b=2"],
    ),
    (
        "",
        "services",
        {"spec": {"type": "LoadBalancer"}},
        ["x", "LoadBalancer", "<none>", "<pending>", "<none>", "24h", "<none>"],
    ),
    (
        "",
        "services",
        {"spec": {"type": "ClusterIP", "externalIPs": ["1.1.1.1", "2.2.2.2"]}},
        ["x", "ClusterIP", "<none>", "1.1.1.1,2.2.2.2", "<none>", "24h", "<none>"],
    ),
    (
        "",
        "services",
        {"spec": {"type": "ExternalName", "externalName": "a.example"}},
        ["x", "ExternalName", "<none>", "a.example", "<none>", "24h", "<none>"],
    ),
    (
        "",
        "nodes",
        {
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.36.0", "kernelVersion": "6.1", "architecture": "arm64"},
            },
        },
        [
            *("x", "Ready,SchedulingDisabled", "<none>", "24h", "v1.36.0", "10.0.0.1", "<none>", "<unknown>"),
            *("6.1 (arm64)", "<unknown>"),
        ],
    ),
    (
        "",
        "endpoints",
        {"subsets": [{"addresses": [{"ip": f"10.0.0.{i}"} for i in range(4)], "ports": [{"port": 80}]}]},
        ["x", "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 1 more...", "24h"],
    ),
    (
        "",
        "resourcequotas",
        {"status": {"hard": {"pods": "4", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "1"}}},
        ["x", "cpu: 0/1, pods: 1/4", "limits.cpu: 0/2", "24h"],
    ),
    (
        "",
        "persistentvolumes",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": "d", "name": "c"},
                "storageClassName": "fast",
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Bound"},
        },
        ["x", "1Gi", "RWO,RWX", "Retain", "Bound", "d/c", "fast", "<unset>", "", "24h", "Filesystem"],
    ),
    (
        "",
        "persistentvolumeclaims",
        {
            "spec": {"volumeName": "pv", "storageClassName": "fast"},
            "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
        },
        ["x", "Bound", "pv", "1Gi", "RWO", "fast", "<unset>", "24h", "<unset>"],
    ),
    (
        "",
        "events",
        {
            "type": "Normal",
            "reason": "Created",
            "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
            "source": {"component": "kubelet", "host": "n"},
            "message": " hi\n",
            "firstTimestamp": "2026-01-01T23:00:00Z",
            "lastTimestamp": "2026-01-01T23:59:00Z",
            "count": 3,
        },
        ["60s", "Normal", "Created", "pod/p", "spec", "kubelet, n", "hi", "60m", 3, "x"],
    ),
    (
        "events.k8s.io",
        "events",
        {
            "type": "Normal",
            "reason": "Created",
            "regarding": {"kind": "Pod"},
            "reportingController": "c",
            "note": "hi",
            "eventTime": "2026-01-01T23:59:00.000000Z",
        },
        ["60s", "Normal", "Created", "pod", "", "c", "hi", "60s", 1, "x"],
    ),
    (
        "apps",
        "deployments",
        {
            "spec": {"replicas": 3, "template": TEMPLATE, "selector": SELECTOR},
            "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
        },
        ["x", "1/3", 2, 1, "24h", "a,b", "x,y", SELECTED],
    ),
    (
        "apps",
        "replicasets",
        {"spec": {"replicas": 3, "template": TEMPLATE}, "status": {"replicas": 2, "readyReplicas": 1}},
        ["x", 3, 2, 1, "24h", "a,b", "x,y", "<none>"],
    ),
    (
        "apps",
        "statefulsets",
        {"spec": {"replicas": 3, "template": TEMPLATE}, "status": {"readyReplicas": 1}},
        ["x", "1/3", "24h", "a,b", "x,y"],
    ),
    (
        "apps",
        "controllerrevisions",
        {"revision": 4},
        ["x", "<none>", 4, "24h"],
    ),
    (
        "batch",
        "jobs",
        {
            "spec": {"completions": 3, "template": TEMPLATE},
            "status": {
                "succeeded": 3,
                "startTime": "2026-01-01T00:00:00Z",
                "completionTime": "2026-01-01T00:01:30Z",
                "conditions": [{"type": "Complete", "status": "True"}],
            },
        },
        ["x", "Complete", "3/3", "90s", "24h", "a,b", "x,y", "<none>"],
    ),
    (
        "batch",
        "jobs",
        {"spec": {"parallelism": 2, "template": TEMPLATE}},
        ["x", "Running", "0/1 of 2", "", "24h", "a,b", "x,y", "<none>"],
    ),
    (
        "batch",
        "cronjobs",
        {
            "spec": {"schedule": "@daily", "suspend": True, "jobTemplate": {"spec": {"template": TEMPLATE}}},
            "status": {"active": [{}], "lastScheduleTime": "2026-01-01T23:00:00Z"},
        },
        ["x", "@daily", "<none>", "True", 1, "60m", "24h", "a,b", "x,y", "<none>"],
    ),
    (
        "networking.k8s.io",
        "ingresses",
        {
            "spec": {
                "ingressClassName": "c",
                "rules": [{"host": h} for h in "abcd"],
                "tls": [{}],
            },
            "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
        },
        ["x", "c", "a,b,c + 1 more...", "1.2.3.4", "80, 443", "24h"],
    ),
    ("networking.k8s.io", "networkpolicies", {"spec": {"podSelector": {}}}, ["x", "<none>", "24h"]),
    (
        "networking.k8s.io",
        "ipaddresses",
        {"spec": {"parentRef": {"resource": "services", "namespace": "d", "name": "s"}}},
        ["x", "services/d/s", "24h"],
    ),
    (
        "discovery.k8s.io",
        "endpointslices",
        {"addressType": "IPv4", "ports": [{"port": 80}, {"name": "b"}], "endpoints": []},
        ["x", "IPv4", "80,b", "<unset>", "24h"],
    ),
    (
        "autoscaling",
        "horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                "maxReplicas": 5,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
                    {"type": "Pods", "pods": {"target": {"averageValue": "10"}}},
                    {"type": "Pods", "pods": {"target": {"averageValue": "10"}}},
                ],
            },
            "status": {
                "currentReplicas": 2,
                "currentMetrics": [{"type": "Resource", "resource": {"current": {"averageUtilization": 40}}}],
            },
        },
        ["x", "Deployment/web", "cpu: 40%/80%, <unknown>/10 + 1 more...", "<unset>", 5, 2, "24h"],
    ),
    (
        "policy",
        "poddisruptionbudgets",
        {"spec": {"maxUnavailable": "10%"}, "status": {"disruptionsAllowed": 2}},
        ["x", "N/A", "10%", 2, "24h"],
    ),
    (
        "rbac.authorization.k8s.io",
        "rolebindings",
        {
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [
                {"kind": "User", "name": "u"},
                {"kind": "Group", "name": "g"},
                {"kind": "ServiceAccount", "name": "s", "namespace": "d"},
                {"kind": "User", "name": "v"},
            ],
        },
        ["x", "Role/r", "24h", "u, v", "g", "d/s"],
    ),
    ("rbac.authorization.k8s.io", "roles", {}, ["x", CREATED]),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        {
            "spec": {"signerName": "a/b", "username": "u", "expirationSeconds": 3600},
            "status": {"conditions": [{"type": "Approved"}], "certificate": "eA=="},
        },
        ["x", "24h", "a/b", "u", "60m", "Approved,Issued"],
    ),
    (
        "storage.k8s.io",
        "storageclasses",
        {"provisioner": "p"},
        ["x", "p", "Delete", "Immediate", False, "24h"],
    ),
    (
        "storage.k8s.io",
        "csidrivers",
        {"spec": {"tokenRequests": [{"audience": "a"}]}},
        ["x", True, False, False, "a", False, "<none>", "24h"],
    ),
    ("scheduling.k8s.io", "priorityclasses", {"value": 5}, ["x", 5, False, "24h", ""]),
    ("coordination.k8s.io", "leases", {"spec": {"holderIdentity": "h"}}, ["x", "h", "24h"]),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "paramRef": {"selector": {"matchLabels": {"a": "b"}}}}},
        [
            "x",
            "p",
            "a=b",
            "24h",
        ],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
        {"spec": {"type": "Exempt"}},
        ["x", "Exempt", "<none>", "<none>", "<none>", "<none>", "24h"],
    ),
    (
        "apiregistration.k8s.io",
        "apiservices",
        {"status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]}},
        ["x", "Local", "False (MissingEndpoints)", "24h"],
    ),
    (
        "resource.k8s.io",
        "resourceclaims",
        {"status": {"allocation": {}, "reservedFor": [{}]}},
        ["x", "allocated,reserved", "24h"],
    ),
]


def table(group: str, resource: str) -> Any:
    return TABLES.get((group, resource, "v2")) or TABLES[group, resource, "v1"]


@pytest.mark.parametrize(
    ("group", "resource", "obj", "row"), ROWS, ids=[f"{r}-{i}" for i, (_, r, *_) in enumerate(ROWS)]
)
def test_cells_are_what_kubectl_shows(group: str, resource: str, obj: Object, row: list[Any]) -> None:
    obj = {"metadata": {"name": "x", "creationTimestamp": CREATED}, **obj}
    assert [column.cell(obj) for column in table(group, resource)] == row


@pytest.mark.parametrize("key", TABLES, ids="/".join)
def test_the_name_is_marked_as_name(key: tuple[str, str, str]) -> None:
    assert next(column.name for column in TABLES[key] if column.format == "name") == "Name"


def test_nodes_show_their_roles() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "", "kubernetes.io/role": "edge"}
    roles = next(column for column in TABLES["", "nodes", "v1"] if column.name == "Roles")
    assert roles.cell({"metadata": {"labels": labels}}) == "edge,worker"


def test_default_classes_are_marked() -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    name = TABLES["storage.k8s.io", "storageclasses", "v1"][0]
    assert name.cell({"metadata": {"name": "fast", "annotations": annotations}}) == "fast (default)"


def test_controller_revisions_name_their_controller() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}
    controller = TABLES["apps", "controllerrevisions", "v1"][1]
    assert controller.cell({"metadata": {"ownerReferences": [owner]}}) == "daemonset.apps/d"


def test_autoscalers_in_v1_show_their_percentage() -> None:
    obj = {"metadata": {}, "spec": {"maxReplicas": 2, "targetCPUUtilizationPercentage": 50}}
    targets = TABLES["autoscaling", "horizontalpodautoscalers", "v1"][2]
    assert targets.cell(obj) == "cpu: <unknown>/50%"
    assert obj["spec"] == {"maxReplicas": 2, "targetCPUUtilizationPercentage": 50}


def test_an_object_without_creation_time_has_an_unknown_age() -> None:
    age = TABLES["", "serviceaccounts", "v1"][1]
    assert age.cell({"metadata": {"name": "x"}}) == "<unknown>"


def test_the_default_table_has_name_and_creation_time() -> None:
    assert [(column.name, column.type) for column in DEFAULT_COLUMNS] == [("Name", "string"), ("Created At", "date")]
