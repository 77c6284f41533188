"""Objects of an operator, as a project has them, and calls of the engine."""

from typing import Any

from sampan.client import Client
from sampan.project.deploying.applying import apply_plan
from sampan.project.deploying.inventory import Inventory
from sampan.project.deploying.plan import DeployPlan, make_plan
from sampan.project.deploying.removal import UndeployOptions, find_removals, undeploy
from sampan.resource import Object

GROUP = "boats.example.com"
FINALIZER = f"{GROUP}/crew"
INVENTORY = Inventory("boats", "harbour")
_RBAC = "rbac.authorization.k8s.io"
_PLACE = {"name": "boats", "namespace": "harbour"}


def operator(*, image: str = "boats:1", replicas: int = 1, more: tuple[Object, ...] = ()) -> list[Object]:
    """Return a small operator. `more`: further objects."""
    subject = {"kind": "ServiceAccount", **_PLACE}
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "boats"}
    rules = [
        {"apiGroups": [GROUP], "resources": ["boats"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]},
    ]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour"}},
        crd(),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(_PLACE)},
        {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "boats"}, "rules": rules},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "boats"},
            "roleRef": reference,
            "subjects": [subject],
        },
        deployment(image, replicas),
        webhooks(),
        *more,
    ]


def crd() -> Object:
    """Return the CRD of boats."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Boat", "listKind": "BoatList", "plural": "boats", "singular": "boat"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"boats.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def deployment(image: str, replicas: int) -> Object:
    """Return the Deployment of the operator."""
    labels = {"app": "boats"}
    container = {"name": "operator", "image": image}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec: dict[str, Any] = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": dict(_PLACE), "spec": spec}


def webhooks() -> Object:
    """Return a configuration of a webhook."""
    hook = {
        "name": "boats.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/check"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [
            {"apiGroups": ["ships.test"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["ships"]}
        ],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "boats"},
        "webhooks": [hook],
    }


def config_map(name: str, namespace: str = "harbour") -> Object:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}


def boat(name: str, *finalizers: str) -> Object:
    """Return a custom resource."""
    metadata = {"name": name, "namespace": "default", "finalizers": list(finalizers)}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Boat", "metadata": metadata}


async def deploy(client: Client, objects: list[Object], *, take_over: bool = False, timeout_s: float = 60) -> list[str]:
    """Deploy, and return the lines of the progress."""
    lines = list[str]()
    plan = await planned(client, objects, take_over=take_over)
    await apply_plan(client, plan, lines.append, timeout_s=timeout_s)
    return lines


async def planned(client: Client, objects: list[Object], *, take_over: bool = False) -> DeployPlan:
    """Return the plan."""
    client.mapper.invalidate()
    return await make_plan(client, INVENTORY, objects, take_over=take_over)


async def removed(
    client: Client, *, keep_resources: bool = False, orphan_resources: bool = False, lines: list[str] | None = None
) -> list[str]:
    """Undeploy, and return the lines of the progress. Fails if nothing is deployed."""
    lines = [] if lines is None else lines
    client.mapper.invalidate()
    options = UndeployOptions(GROUP, 30, keep_resources=keep_resources, orphan_resources=orphan_resources)
    found = await find_removals(client, INVENTORY, options)
    assert found is not None
    await undeploy(client, found, options, lines.append)
    return lines


async def get(client: Client, kind: str, name: str, namespace: str = "") -> Object:
    """Return an object."""
    resource = await client.resource_for(kind, namespace=namespace)
    return await resource.get(name)
