"""Objects that a Shop consists of, and the state of its rollout. Functions without I/O."""

import hashlib
import json
from typing import Any, Final, Literal, NamedTuple

from sampan.core.gvk import GroupVersionResource
from sampan.operator import Condition, find_condition
from sampan.resource import Object, ResourceInfo

from shops.shop.v1 import Shop

CONFIG_MAPS: Final = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
SERVICES: Final = ResourceInfo(GroupVersionResource("", "v1", "services"), "Service", namespaced=True)
DEPLOYMENTS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "deployments"), "Deployment", namespaced=True)
INGRESSES: Final = ResourceInfo(
    GroupVersionResource("networking.k8s.io", "v1", "ingresses"), "Ingress", namespaced=True
)
KINDS: Final = (CONFIG_MAPS, SERVICES, INGRESSES, DEPLOYMENTS)
"""In the order of writes: settings exist before the Pods that read them."""
LABEL: Final = "shops.example.com/shop"
SETTINGS_HASH: Final = "shops.example.com/settings-hash"


class Rollout(NamedTuple):
    """State of the Pods of a Shop."""

    state: Literal["Ready", "Progressing", "Degraded"]
    reason: str
    message: str = ""


def desired(shop: Shop) -> dict[ResourceInfo, Object]:
    """Return the objects that should exist, by kind."""
    found = {SERVICES: _service(shop), DEPLOYMENTS: _deployment(shop)}
    if shop.spec.settings:
        found[CONFIG_MAPS] = {"data": shop.spec.settings}
    if shop.spec.host:
        found[INGRESSES] = _ingress(shop)
    labels = {LABEL: shop.metadata.name}
    metadata = {"name": shop.metadata.name, "namespace": shop.metadata.namespace, "labels": labels}
    return {
        kind: {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**metadata}, **found[kind]}
        for kind in KINDS
        if kind in found
    }


def rollout(deployment: Object) -> Rollout:
    """Return the state of a Deployment that the server has returned."""
    status, replicas = deployment.get("status", {}), deployment["spec"]["replicas"]
    conditions: list[dict[str, Any]] = status.get("conditions", [])
    current = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if current and updated == available == replicas == status.get("replicas", 0):
        return Rollout("Ready", "RolledOut", f"{available} of {replicas} Pods are available")
    for type, bad in (("ReplicaFailure", "True"), ("Progressing", "False")):
        found = find_condition(conditions, type)
        if current and found is not None and found["status"] == bad:
            return Rollout("Degraded", found["reason"], found.get("message", ""))
    return Rollout("Progressing", "RollingOut", f"{updated} of {replicas} Pods have the present settings")


def conditions(rollout: Rollout, generation: int) -> list[Condition]:
    """Return the three conditions of a Shop. One of them is true."""
    return [
        Condition(
            type=type,
            status="True" if type == rollout.state else "False",
            reason=rollout.reason,
            message=rollout.message,
            observed_generation=generation,
        )
        for type in ("Ready", "Progressing", "Degraded")
    ]


def _service(shop: Shop) -> Object:
    ports = [{"name": "http", "port": 80, "targetPort": shop.spec.port}]
    return {"spec": {"selector": {LABEL: shop.metadata.name}, "ports": ports}}


def _ingress(shop: Shop) -> Object:
    backend = {"service": {"name": shop.metadata.name, "port": {"name": "http"}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return {"spec": {"rules": [{"host": shop.spec.host, "http": {"paths": paths}}]}}


def _deployment(shop: Shop) -> Object:
    labels, spec = {LABEL: shop.metadata.name}, shop.spec
    container: Object = {
        "name": "shop",
        "image": spec.image,
        "env": [{"name": "PORT", "value": str(spec.port)}],
        "ports": [{"name": "http", "containerPort": spec.port}],
        "readinessProbe": {"httpGet": {"path": "/", "port": spec.port}, "periodSeconds": 1},
    }
    if spec.command:
        container["command"] = spec.command
    if spec.settings:
        container["envFrom"] = [{"configMapRef": {"name": shop.metadata.name}}]
    # A container reads its environment once. Another hash makes another template, and so new Pods.
    text = json.dumps(spec.settings, sort_keys=True)
    annotations = {SETTINGS_HASH: hashlib.sha256(text.encode()).hexdigest()[:16]}
    template = {"metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": [container]}}
    return {"spec": {"replicas": spec.replicas, "selector": {"matchLabels": labels}, "template": template}}
