"""Objects with relations of every type, for the tests of the relations of an object."""

from collections.abc import Iterator
from typing import Any, Final

from tests.dashboard.samples import Json, config_map, deployment
from tests.dashboard.server import DashboardServer

PORT: Final = "port"
RBAC: Final = "rbac.authorization.k8s.io"
_PATHS: Final = {
    "apps/v1": "/apis/apps/v1",
    "v1": "/api/v1",
    "networking.k8s.io/v1": "/apis/networking.k8s.io/v1",
    "autoscaling/v2": "/apis/autoscaling/v2",
    f"{RBAC}/v1": f"/apis/{RBAC}/v1",
    "policy/v1": "/apis/policy/v1",
}


def pod_spec() -> Json:
    """Return the spec of a Pod that refers to five objects; one does not exist."""
    main = {
        "name": "main",
        "image": "registry.example/quay:1",
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k", "optional": False}}}],
    }
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "store"}},
        {"name": "password", "secret": {"secretName": "password", "optional": True}},
    ]
    return {"serviceAccountName": "quay", "containers": [main], "volumes": volumes}


def objects(replicas: int = 3) -> Iterator[tuple[str, str, Json]]:
    """Yield the API version, the resource and the object of a Deployment and of everything around it."""
    quay = deployment("quay", replicas=replicas)
    quay["spec"]["template"]["spec"] = pod_spec()
    yield "v1", "configmaps", config_map("settings")
    yield "v1", "secrets", {"metadata": {"name": "password"}, "data": {"key": "aHVudGVyMg=="}}
    yield "v1", "serviceaccounts", {"metadata": {"name": "quay"}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "disk"}
    yield "v1", "persistentvolumeclaims", {"metadata": {"name": "store"}, "spec": claim}
    ports = [{"port": 80}]
    yield "v1", "services", {"metadata": {"name": "quay"}, "spec": {"selector": {"app": "quay"}, "ports": ports}}
    backend = {"service": {"name": "quay", "port": {"number": 80}}}
    rule = {"host": "quay.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    yield "networking.k8s.io/v1", "ingresses", {"metadata": {"name": "quay"}, "spec": {"rules": [rule]}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "quay"}
    scaler = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 5}
    yield "autoscaling/v2", "horizontalpodautoscalers", {"metadata": {"name": "quay"}, "spec": scaler}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    yield f"{RBAC}/v1", "roles", {"metadata": {"name": "reader"}, "rules": rules}
    role = {"apiGroup": RBAC, "kind": "Role", "name": "reader"}
    subjects = [
        {"kind": "ServiceAccount", "name": "quay", "namespace": PORT},
        {"kind": "User", "name": "jane", "apiGroup": RBAC},
    ]
    yield f"{RBAC}/v1", "rolebindings", {"metadata": {"name": "readers"}, "roleRef": role, "subjects": subjects}
    yield "apps/v1", "deployments", quay


def create_port(server: DashboardServer, replicas: int = 3) -> None:
    """Create a namespace with a Deployment and everything around it."""
    server.create("/api/v1/namespaces", {"metadata": {"name": PORT}})
    disk: dict[str, Any] = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}}
    claim = {"kind": "PersistentVolumeClaim", "name": "store", "namespace": PORT}
    disk["claimRef"] = claim
    server.create("/api/v1/persistentvolumes", {"metadata": {"name": "disk"}, "spec": disk})
    for version, plural, each in objects(replicas):
        server.create(f"{_PATHS[version]}/namespaces/{PORT}/{plural}", each)


def owned_by(owner: Json) -> Json:
    """Return the reference to an owner that is its controller."""
    metadata = owner["metadata"]
    named = {"name": metadata["name"], "uid": metadata["uid"], "controller": True}
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **named}


def create_owned(server: DashboardServer, namespace: str, bad: str = "") -> list[str]:
    """Create a Deployment `pier`, its ReplicaSet and three Pods without control loops. Return the names of the Pods.

    `bad`: the name of a Pod that has failed.
    """
    server.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    apps = f"/apis/apps/v1/namespaces/{namespace}"
    made = deployment("pier", replicas=3)
    [owner] = server.create(f"{apps}/deployments", made)
    copy = {"replicas": 3, "selector": made["spec"]["selector"], "template": made["spec"]["template"]}
    metadata = {"name": "pier-1", "ownerReferences": [owned_by(owner)]}
    [replica_set] = server.create(f"{apps}/replicasets", {"metadata": metadata, "spec": copy})
    names = ["pier-a", "pier-b", "pier-c"]
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for name in names:
        about = {"name": name, "labels": {"app": "pier"}, "ownerReferences": [owned_by(replica_set)]}
        server.create(pods, {"metadata": about, "spec": made["spec"]["template"]["spec"]})
        server.patch(f"{pods}/{name}/status", {"status": {"phase": "Failed" if name == bad else "Running"}})
    return names
