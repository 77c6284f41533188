"""The official client `kubernetes`: its models accept the server's answers for every kind.

The models are strict: they refuse an unknown field, and the absence of one that Kubernetes always sends.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config
from kubernetes.client import ApiClient

from tests.e2e.python.objects import Json

SELECTOR = {"matchLabels": {"app": "web"}}
CONTAINERS = {"containers": [{"name": "main", "image": "nginx:1.27"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
WORKLOAD = {"spec": {"selector": SELECTOR, "template": TEMPLATE}}
JOB = {"template": {"spec": {"restartPolicy": "Never", **CONTAINERS}}}
SCALED = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 2}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
EVERYTHING = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
POLICY = {"matchConstraints": {"resourceRules": [EVERYTHING]}, "validations": [{"expression": "true"}]}
INVOLVED = {"kind": "Pod", "namespace": "default", "name": "web"}
SERVICE_PORT = {"service": {"name": "web", "port": {"number": 80}}}
SLICE = {
    "driver": "example.com",
    "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
    "nodeName": "node",
    "devices": [{"name": "device"}],
}
LIMITED = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
RULE = {"apiGroups": [""], "resources": ["*"], "verbs": ["get"]}
API = {"group": "clients.example.org", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}

LISTED_BY_THE_SERVER = frozenset({"flow_schema", "validating_admission_policy"})
"""Kinds whose status the server writes as soon as they are there."""

SINCE_1_37 = {("csi_node", "status")}
"""Subresources that the client has and Kubernetes 1.36 does not."""

KINDS: list[tuple[str, str, Json]] = [
    ("CoreV1Api", "namespace", {}),
    ("CoreV1Api", "node", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
    ("CoreV1Api", "persistent_volume", {"spec": VOLUME}),
    ("CoreV1Api", "namespaced_persistent_volume_claim", {"spec": CLAIM}),
    ("CoreV1Api", "namespaced_pod", {"spec": CONTAINERS}),
    ("CoreV1Api", "namespaced_pod_template", {"template": TEMPLATE}),
    ("CoreV1Api", "namespaced_replication_controller", {"spec": {"selector": {"app": "web"}, "template": TEMPLATE}}),
    ("CoreV1Api", "namespaced_resource_quota", {"spec": {"hard": {"pods": "1"}}}),
    ("CoreV1Api", "namespaced_limit_range", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}),
    ("CoreV1Api", "namespaced_service_account", {}),
    ("CoreV1Api", "namespaced_service", {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}),
    ("CoreV1Api", "namespaced_endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}),
    ("CoreV1Api", "namespaced_event", {"involvedObject": INVOLVED, "reason": "Tested", "type": "Normal"}),
    ("CoreV1Api", "namespaced_secret", {"stringData": {"key": "value"}}),
    ("CoreV1Api", "namespaced_config_map", {"binaryData": {"key": "dmFsdWU="}}),
    ("AppsV1Api", "namespaced_deployment", WORKLOAD),
    ("AppsV1Api", "namespaced_daemon_set", WORKLOAD),
    ("AppsV1Api", "namespaced_replica_set", WORKLOAD),
    ("AppsV1Api", "namespaced_stateful_set", {"spec": {**WORKLOAD["spec"], "serviceName": "web"}}),
    ("AppsV1Api", "namespaced_controller_revision", {"revision": 1, "data": {"a": "b"}}),
    ("BatchV1Api", "namespaced_job", {"spec": JOB}),
    ("BatchV1Api", "namespaced_cron_job", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}}),
    ("AutoscalingV1Api", "namespaced_horizontal_pod_autoscaler", {"spec": SCALED}),
    ("AutoscalingV2Api", "namespaced_horizontal_pod_autoscaler", {"spec": SCALED}),
    ("PolicyV1Api", "namespaced_pod_disruption_budget", {"spec": {"selector": SELECTOR, "minAvailable": "50%"}}),
    ("NetworkingV1Api", "namespaced_network_policy", {"spec": {"podSelector": {}}}),
    ("NetworkingV1Api", "namespaced_ingress", {"spec": {"defaultBackend": SERVICE_PORT}}),
    ("NetworkingV1Api", "ingress_class", {"spec": {"controller": "example.com/controller"}}),
    ("NetworkingV1Api", "service_cidr", {"spec": {"cidrs": ["10.97.0.0/16"]}}),
    ("NodeV1Api", "runtime_class", {"handler": "runc"}),
    ("SchedulingV1Api", "priority_class", {"value": 1}),
    ("StorageV1Api", "storage_class", {"provisioner": "example.com/provisioner"}),
    ("StorageV1Api", "csi_driver", {"spec": {}}),
    ("StorageV1Api", "csi_node", {"spec": {"drivers": [{"name": "example.com", "nodeID": "node"}]}}),
    ("StorageV1Api", "namespaced_csi_storage_capacity", {"storageClassName": "fast"}),
    ("StorageV1Api", "volume_attributes_class", {"driverName": "example.com", "parameters": {"iops": "1"}}),
    (
        "StorageV1Api",
        "volume_attachment",
        {"spec": {"attacher": "example.com", "nodeName": "node", "source": {"persistentVolumeName": "volume"}}},
    ),
    ("FlowcontrolApiserverV1Api", "flow_schema", {"spec": {"priorityLevelConfiguration": {"name": "level"}}}),
    ("FlowcontrolApiserverV1Api", "priority_level_configuration", {"spec": LIMITED}),
    (
        "RbacAuthorizationV1Api",
        "namespaced_role",
        {"rules": [RULE]},
    ),
    (
        "RbacAuthorizationV1Api",
        "namespaced_role_binding",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "role"}},
    ),
    ("RbacAuthorizationV1Api", "cluster_role", {"aggregationRule": {"clusterRoleSelectors": [SELECTOR]}}),
    ("CoordinationV1Api", "namespaced_lease", {"spec": {"holderIdentity": "one", "leaseDurationSeconds": 15}}),
    (
        "DiscoveryV1Api",
        "namespaced_endpoint_slice",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]},
    ),
    ("ResourceV1Api", "device_class", {"spec": {}}),
    ("ResourceV1Api", "namespaced_resource_claim", {"spec": {}}),
    ("ResourceV1Api", "namespaced_resource_claim_template", {"spec": {"spec": {}}}),
    ("ResourceV1Api", "resource_slice", {"spec": SLICE}),
    ("AdmissionregistrationV1Api", "validating_admission_policy", {"spec": POLICY}),
    (
        "AdmissionregistrationV1Api",
        "validating_admission_policy_binding",
        {"spec": {"policyName": "policy", "validationActions": ["Audit"]}},
    ),
    ("AdmissionregistrationV1Api", "validating_webhook_configuration", {"webhooks": []}),
    ("AdmissionregistrationV1Api", "mutating_webhook_configuration", {"webhooks": []}),
    ("ApiregistrationV1Api", "api_service", {"metadata": {"name": "v1.clients.example.org"}, "spec": API}),
]


@pytest.fixture(scope="module")
def connection(kubeconfig: str) -> Iterator[ApiClient]:
    """A client with the server's kubeconfig."""
    with config.new_client_from_config(config_file=kubeconfig) as connection:
        yield connection


@pytest.mark.parametrize(
    ("group", "kind", "body"), [pytest.param(*row, id=f"{row[0].removesuffix('Api')}.{row[1]}") for row in KINDS]
)
def test_a_kind_is_created_read_listed_and_deleted(
    connection: ApiClient, namespace: str, group: str, kind: str, body: Json
) -> None:
    api: Any = getattr(client, group)(connection)
    place = [namespace] if kind.startswith("namespaced_") else []
    name = body.get("metadata", {}).get("name", f"of-{namespace}")
    if kind == "namespaced_event":
        body = {**body, "involvedObject": {**body["involvedObject"], "namespace": namespace}}
    created = getattr(api, f"create_{kind}")(*place, {**body, "metadata": {"name": name}})
    found = getattr(api, f"read_{kind}")(name, *place)
    assert found.metadata.uid == created.metadata.uid
    if kind in LISTED_BY_THE_SERVER:
        found.metadata, found.status = created.metadata, created.status
    assert found == created
    listed = getattr(api, f"list_{kind}")(*place, field_selector=f"metadata.name={name}")
    assert [item.metadata.uid for item in listed.items] == [created.metadata.uid]
    for part in ("status", "scale"):
        if hasattr(api, f"read_{kind}_{part}") and (kind, part) not in SINCE_1_37:
            assert getattr(api, f"read_{kind}_{part}")(name, *place).metadata.uid == created.metadata.uid
    getattr(api, f"delete_{kind}")(name, *place)
