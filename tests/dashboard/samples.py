"""Objects for the tests of the page."""

from typing import Any, Final

Json = dict[str, Any]

LONG: Final = "a-name-that-is-as-long-as-kubernetes-permits-" + "x" * 150
HOSTILE: Final = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202e{{1+1}}${1+1}'
"""Text that must show as text, wherever it comes from."""


def deployment(name: str, image: str = "registry.example/web:1", replicas: int = 2) -> Json:
    """Return a Deployment."""
    labels = {"app": name}
    pod = {"containers": [{"name": "main", "image": image}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def config_map(name: str, **fields: Any) -> Json:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **fields}, "data": {"key": "value"}}


def crd(plural: str = "boats", kind: str = "Boat", group: str = "harbour.example.com", **column: str) -> Json:
    """Return a CRD with two columns and a conditions list."""
    text = {"type": "string"}
    condition = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {
        "type": "object",
        "description": HOSTILE,
        "properties": {
            "spec": {
                "type": "object",
                "description": "What the boat is to be.",
                "properties": {
                    "size": {"type": "integer", "description": "Length in metres."},
                    "captain": {**text, "description": HOSTILE},
                    "crewRef": {"type": "object", "properties": {"kind": text, "name": text}},
                },
            },
            "status": {
                "type": "object",
                "properties": {"conditions": {"type": "array", "items": condition}, "phase": text},
            },
        },
    }
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        *([{"name": column["name"], "type": "string", "jsonPath": column["path"]}] if column else []),
    ]
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": columns,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "shortNames": [kind.lower()[:2]]},
            "versions": [version],
        },
    }
