"""`Store`, the custom resource of all bugs, and parts that their operators share."""

from collections.abc import Awaitable, Callable
from typing import Any

from sampan.client import Client, MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Result
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import Object, ResourceInfo

FINALIZER = "bugs.example.com/cleanup"
STORES = ResourceInfo(GroupVersionResource("bugs.example.com", "v1", "stores"), "Store", namespaced=True)
SETS = ResourceInfo(GroupVersionResource("apps", "v1", "statefulsets"), "StatefulSet", namespaced=True)
CLAIMS = ResourceInfo(
    GroupVersionResource("", "v1", "persistentvolumeclaims"), "PersistentVolumeClaim", namespaced=True
)
SECRETS = ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", namespaced=True)
MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "stores.bugs.example.com"},
    "spec": {
        "group": "bugs.example.com",
        "scope": "Namespaced",
        "names": {"plural": "stores", "singular": "store", "kind": "Store"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}

Reconcile = Callable[[Client, Object | None, Request], Awaitable[Result | None]]
"""Gets the store, or None if there is none."""


def store(**spec: Any) -> Object:
    """Return a store with the name `s`."""
    return {"apiVersion": "bugs.example.com/v1", "kind": "Store", "metadata": {"name": "s"}, "spec": spec}


def operator(reconcile: Reconcile, *owned: ResourceInfo) -> Callable[[Manager], None]:
    """Return a function that adds the controller of stores to a manager."""

    def set_up(manager: Manager) -> None:
        async def run(request: Request) -> Result:
            found = await manager.client.resource(STORES).find(request)
            return await reconcile(manager.client, found, request) or Result()  # type: ignore[arg-type]

        builder = Builder(manager).for_(STORES)
        for kind in owned:
            builder = builder.owns(kind)
        builder.complete(run)

    return set_up


def owner_of(owner: Object) -> list[Object]:
    """Return the `ownerReferences` of what a store owns."""
    metadata = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
    return [{**reference, "name": metadata["name"], "uid": metadata["uid"]}]


def is_ending(obj: Object) -> bool:
    """Return True if the object has been deleted and waits for its finalizers."""
    return "deletionTimestamp" in obj["metadata"]


async def with_finalizer(client: Client, obj: Object) -> None:
    """Add the finalizer."""
    if FINALIZER not in obj["metadata"].get("finalizers", []):
        await client.resource(STORES).patch(
            obj["metadata"]["name"], MergePatch({"metadata": {"finalizers": [FINALIZER]}})
        )


async def without_finalizer(client: Client, obj: Object) -> None:
    """Remove the finalizer."""
    patch = {"metadata": {"finalizers": None, "resourceVersion": obj["metadata"]["resourceVersion"]}}
    await client.resource(STORES).patch(obj["metadata"]["name"], MergePatch(patch))


def stateful_set(name: str, replicas: int = 1, size: str = "10Gi", **metadata: Any) -> Object:
    """Return a StatefulSet with one claim template."""
    labels = {"app": name}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, **metadata},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            "volumeClaimTemplates": [claim],
        },
    }


def claim(name: str, size: str = "10Gi", **metadata: Any) -> Object:
    """Return a PersistentVolumeClaim."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, **metadata},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }


def secret(name: str, **metadata: Any) -> Object:
    """Return a Secret."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, **metadata}, "stringData": {"k": "v"}}


def config_map(name: str, data: dict[str, str] | None = None, **metadata: Any) -> Object:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


async def exists(client: Client, kind: ResourceInfo, name: str) -> bool:
    """Return True if the object exists in the cache, or on the server if the kind is not cached."""
    return await client.resource(kind).find(Request("default", name)) is not None  # type: ignore[attr-defined]
