"""Objects that the tests of several clients create."""

from typing import Any

Json = dict[str, Any]

GROUP = "clients.example.com"
WIDGETS = f"widgets.{GROUP}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

WIDGET_SCHEMA: Json = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "colour": {"type": "string", "default": "blue"},
                "replicas": {"type": "integer", "default": 1},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": {"type": "string"},
                "replicas": {"type": "integer"},
                "selector": {"type": "string"},
                "conditions": {
                    "type": "array",
                    "items": {"type": "object", "properties": {n: {"type": "string"} for n in ("type", "status")}},
                },
            },
        },
    },
}


def custom_resource_definition(plural: str, kind: str, schema: Json) -> Json:
    """A namespaced CRD with one version and both subresources."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                            "labelSelectorPath": ".status.selector",
                        },
                    },
                }
            ],
        },
    }


def widget(name: str, **spec: Any) -> Json:
    """A custom resource of that CRD."""
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def config_map(name: str, data: dict[str, str] | None = None, **labels: str) -> Json:
    """A ConfigMap."""
    metadata = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {}}


def pod(name: str, node: str | None = None) -> Json:
    """A Pod with one container, bound or not."""
    spec: Json = {"containers": [{"name": "main", "image": "nginx:1.27"}]}
    if node is not None:
        spec["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def deployment(name: str, replicas: int = 1) -> Json:
    """A Deployment of one container."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]},
            },
        },
    }


GADGET_ANNOTATION = "clients.example.com/observed"
"""Annotation that the operator of the gadgets sets on a ConfigMap that it has seen."""

GADGET_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"colour": {"type": "string"}, "fails": {"type": "string"}, "replicas": {"type": "integer"}},
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def gadget(name: str, labels: dict[str, str] | None = None, **spec: Any) -> Json:
    """A custom resource for the operator."""
    metadata: Json = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": metadata, "spec": spec}
